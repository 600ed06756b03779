"""Wrong answers as notes of the vault, in the form that weak-point clustering reads.

The note is marked as ours: other operations do not read it, and it adds nothing to the graph. So a wrong answer never
becomes a source.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from datetime import date
from pathlib import Path
from typing import Any

from agentic_rag.boards.drawing import Test
from agentic_rag.domain import OWN_NOTE
from agentic_rag.rerank.features import MISTAKES
from agentic_rag.stores.whole_file import write_whole
from agentic_rag.text import script

FOLDER = "mistakes"
"""Name of the new folder if the vault has no folder for mistakes."""
_DEPTH = 3
"""Depth in folders of the search for an existing one."""
_NAME = 60
"""Maximum characters of a question in a file name."""
_WORDS = {
    "latin": ("Question.", "I wrote", "Correct", "mistake"),
    "cjk": ("题目", "我写的", "正确答案", "错题"),
}


def mistakes_folder(vault: Path) -> Path:
    """The vault's folder for mistakes, found by its name; else the path of a new one."""
    for folder, inner, _ in os.walk(vault):
        inner[:] = sorted(name for name in inner if not name.startswith("."))
        named = [name for name in inner if MISTAKES.search(name)]
        if named:
            return Path(folder) / named[0]
        if len(Path(folder).relative_to(vault).parts) >= _DEPTH - 1:
            inner.clear()
    return vault / FOLDER


def write_mistake(
    folder: Path,
    test: Test,
    given_answer: str,
    source: str,
    day: date,
    *,
    existing: Path | None,
    is_redone: bool,
) -> Path:
    """Write a mistake note, or update it.

    Args:
        folder: the folder of mistakes.
        test: the question.
        given: the person's answer.
        source: a link to the note with the answer.
        day: the date of the answer.
        known: the existing note of this question, if it is still there.
        redone: whether the latest answer was right; the note then keeps the mistake and is marked as redone.

    Raises:
        OSError: the note cannot be written.
    """
    if is_redone and existing is not None:
        text = existing.read_text("utf-8")
        write_whole(existing, re.sub(r"^redone: false$", "redone: true", text, count=1, flags=re.MULTILINE))
        return existing
    path = existing or _free(folder / f"{day.isoformat()} {_file_name(test.asks)}.md", test.response)
    write_whole(path, mistake_text(test, given_answer, source, day))
    return path


def mistake_text(test: Test, given_answer: str, source: str, day: date) -> str:
    """The note's Markdown."""
    question, wrote, correct, tag = _WORDS["cjk" if script(test.asks) == "cjk" else "latin"]
    lines = [
        "---",
        f"tags: [{tag}]",
        f"{OWN_NOTE}: mistake",
        f"card: {test.response}",
        f"date: {day.isoformat()}",
        *(f'concept: "[[{_link_name(one)}]]"' for one in test.citations[:1] if one["title"]),
        "redone: false",
        "---",
        f"**{question}** {test.asks}",
        "",
        f"> [!failure] {wrote}",
        *_quote(given_answer),
        "",
        f"> [!success] {correct}",
        *(line for text in test.expected for line in _quote(text)),
        *_quote(source),
        "",
    ]
    return "\n".join(lines)


def _link_name(citation: Mapping[str, Any]) -> str:
    return re.sub(r'[\[\]|#"\\]+', " ", str(citation["title"])).strip()


def _quote(text: str) -> list[str]:
    return [f"> {line}" for line in text.strip().splitlines()]


def _file_name(asks: str) -> str:
    plain = re.sub(r"\s+", " ", re.sub(r'[\\/:*?"<>|#^\[\]_.“”]+', " ", asks)).strip()
    return plain[:_NAME].strip()


def _free(path: Path, card: str) -> Path:
    """An unused file name: another question may begin with the same words."""
    return path if not path.exists() else path.with_stem(f"{path.stem} {card[:6]}")


def source_of(citations: tuple[Mapping[str, Any], ...]) -> str:
    """Titles of the cited notes, each once."""
    return ", ".join(dict.fromkeys(str(one["title"] or one["document_id"] or "") for one in citations))
