"""Questions as a text file in Anki's forms: identity, front, back and tags, separated by tabs."""

from __future__ import annotations

import re
from collections.abc import Sequence

from agentic_rag.boards.reviews import Review
from agentic_rag.domain.identity import digest

_HEAD = "#separator:tab\n#html:false\n#columns:Guid\tFront\tBack\tTags\n#guid column:1\n#tags column:4\n"
_MATH = re.compile(
    r"(?P<code>(?P<ticks>`+)[^`]+(?P=ticks))|(?<!\\)\$\$(?P<block>(?s:.+?))(?<!\\)\$\$"
    r"|(?<![\\$\w])\$(?P<inline>[^\s$](?:[^$\n]*[^\s$\\])?)\$(?![\d$])"
)
"""Obsidian's formulas: no space inside their signs, no digit behind; code is not looked into."""


def anki_text(reviews: Sequence[Review]) -> str:
    """The questions as a text file that Anki imports: formulas as ``\\(…\\)`` and ``\\[…\\]``, the dataset as one tag.

    A question keeps its identity, so that a later file brings its answer up to date, and the same question of another
    dataset is a card of its own.
    """
    return _HEAD + "".join(
        "\t".join(
            map(
                _cell,
                (
                    digest(one.dataset, one.card_id)[:16],
                    _formulas(one.asks),
                    _formulas("\n".join([*one.expected, one.source])),
                    _tag(one.dataset),
                ),
            )
        )
        + "\n"
        for one in reviews
    )


def _formulas(text: str) -> str:
    def latex(match: re.Match[str]) -> str:
        if match["code"]:
            return match["code"]
        return f"\\[{match['block'].strip()}\\]" if match["block"] else f"\\({match['inline']}\\)"

    return _MATH.sub(latex, text)


def _tag(name: str) -> str:
    """Anki separates tags by white space."""
    return re.sub(r"\s+", "_", name.strip())


def _cell(text: str) -> str:
    """The text, quoted if it contains a separator, or begins as a comment does; Anki drops a bare carriage return."""
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    if any(mark in text for mark in '\t\n"') or text.startswith("#"):
        return '"' + text.replace('"', '""') + '"'
    return text
