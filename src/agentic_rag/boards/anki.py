"""Questions as a text file in Anki's forms: front, back and tags, separated by tabs."""

from __future__ import annotations

import re
from collections.abc import Sequence

from agentic_rag.boards.reviews import Review

_HEAD = "#separator:tab\n#html:false\n#columns:Front\tBack\tTags\n#tags column:3\n"
_MATH = re.compile(
    r"(?P<code>(?P<ticks>`+)[^`]+(?P=ticks))|(?<!\\)\$\$(?P<block>(?s:.+?))(?<!\\)\$\$"
    r"|(?<![\\$\w])\$(?P<inline>[^\s$](?:[^$\n]*[^\s$\\])?)\$(?![\d$])"
)
"""Obsidian's formulas: no space inside their signs, no digit behind; code is not looked into."""


def anki_text(reviews: Sequence[Review]) -> str:
    """The questions as a text file that Anki imports: formulas as ``\\(…\\)`` and ``\\[…\\]``, the dataset as one tag."""
    return _HEAD + "".join(
        "\t".join(
            map(
                _cell,
                (_formulas(one.asks), _formulas("\n".join([*one.expected, one.source])), _tag(one.dataset)),
            )
        )
        + "\n"
        for one in reviews
    )


def _formulas(text: str) -> str:
    def written(match: re.Match[str]) -> str:
        if match["code"]:
            return match["code"]
        return f"\\[{match['block'].strip()}\\]" if match["block"] else f"\\({match['inline']}\\)"

    return _MATH.sub(written, text)


def _tag(name: str) -> str:
    """Anki separates tags by white space."""
    return re.sub(r"\s+", "_", name.strip())


def _cell(text: str) -> str:
    """The text, quoted if it contains a separator, or begins as a comment does."""
    if any(mark in text for mark in '\t\n\r"') or text.startswith("#"):
        return '"' + text.replace('"', '""') + '"'
    return text
