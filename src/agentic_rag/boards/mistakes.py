"""Wrong answers as notes of the vault, in the form that weak-point clustering reads.

The note is marked as ours: other operations do not read it, and it adds nothing to the graph. So a wrong answer never
becomes a source.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import Any

from agentic_rag.boards.drawing import Test
from agentic_rag.domain import OWN_NOTE
from agentic_rag.rerank.features import MISTAKES
from agentic_rag.stores.whole_file import write_whole
from agentic_rag.text import main_script

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


@dataclass(frozen=True, slots=True)
class Mistake:
    """A question that was answered wrongly, for its note."""

    test: Test
    answer: str
    """The person's."""
    source: str
    """A link to the note with the right answer."""
    day: date
    """Of the answer."""

    def to_markdown(self) -> str:
        """The note's text."""
        question, wrote, correct, tag = _WORDS[main_script(self.test.asks)]
        lines = [
            "---",
            f"tags: [{tag}]",
            f"{OWN_NOTE}: mistake",
            f"card: {self.test.response}",
            f"date: {self.day.isoformat()}",
            *(f'concept: "[[{_link_name(one)}]]"' for one in self.test.citations[:1] if one["title"]),
            "redone: false",
            "---",
            f"**{question}** {self.test.asks}",
            "",
            f"> [!failure] {wrote}",
            *_quote(self.answer),
            "",
            f"> [!success] {correct}",
            *(line for text in self.test.expected for line in _quote(text)),
            *_quote(self.source),
            "",
        ]
        return "\n".join(lines)


def write_mistake(folder: Path, mistake: Mistake, *, existing: Path | None, is_redone: bool) -> Path:
    """Write a mistake note, or update it.

    Args:
        folder: the folder of mistakes.
        mistake: what the note says.
        existing: the note of this question, if it is still there.
        is_redone: whether the latest answer was right; the note then keeps the mistake and is marked as redone.

    Raises:
        OSError: the note cannot be written.
    """
    if is_redone and existing is not None:
        text = existing.read_text("utf-8")
        write_whole(existing, re.sub(r"^redone: false$", "redone: true", text, count=1, flags=re.MULTILINE))
        return existing
    path = existing or _free(
        folder / f"{mistake.day.isoformat()} {_file_name(mistake.test.asks)}.md", mistake.test.response
    )
    write_whole(path, mistake.to_markdown())
    return path


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
