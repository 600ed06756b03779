"""Citations: every claim refers to a verbatim span of a document, in code points."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from agentic_rag.answering.quotes import Quote
from agentic_rag.domain import REGIONS
from agentic_rag.domain.results import Citation, Passage, rerank_score
from agentic_rag.notes.readable import readable
from agentic_rag.notes.units import Unit

_NUMBER = r"\d{1,3}(?:\s*[-–]\s*\d{1,3})?"
MARK = re.compile(
    r"(?P<space>(?<![ \t])[ \t]*+)(?P<double>\[(?=\[))?[\[［【]\s*\^?(?:passages?\s+)?"
    rf"(?P<numbers>{_NUMBER}(?:[\s,，、;；]+{_NUMBER})*)\s*[\]］】](?(double)\])(?:\(https?://[^()\s]*\))?",
    re.IGNORECASE,
)
"""Citation marks as models write them: ``[1]``, ``[1, 2]``, ``[1-3]``, ``[^1]``, ``[passage 1]``, ``【1】``, ``[[1]](url)``
as earlier answers have it; not a year."""


class CitationList:
    """Numbers quotes in the order of their first citation; the same quote keeps its number."""

    def __init__(self) -> None:
        self._numbers: dict[tuple[str, int, int], int] = {}
        self._citations: list[Citation] = []

    def cite(self, quote: Quote) -> str:
        """The mark ``[n]`` that cites a quote, n from 1."""
        key = (str(quote.result["id"]), quote.start, quote.end)
        if key not in self._numbers:
            self._numbers[key] = len(self._numbers) + 1
            self._citations.append(citation(self._numbers[key], quote))
        return f"[{self._numbers[key]}]"

    def all(self) -> list[Citation]:
        """All citations, by number."""
        return list(self._citations)


def citation(number: int, quote: Quote) -> Citation:
    """One citation; ``start`` and ``end`` are code points in the document's decoded text, half-open."""
    metadata = quote.result["metadata"]
    offset = metadata.get("start")
    start, end = (None, None) if offset is None else (offset + quote.start, offset + quote.end)
    return {
        "n": number,
        "chunk_id": quote.result["id"],
        "document_id": metadata.get("document_id"),
        "path": metadata.get("path"),
        "title": metadata.get("title"),
        "heading_path": metadata.get("heading_path", []),
        "start": start,
        "end": end,
        "quote": quote.text,
        "score": rerank_score(quote.result),
        "url": metadata.get("url"),
        "page": metadata.get("page"),
        "region": region(metadata, start, end),
    }


def region(metadata: Mapping[str, Any], start: int | None, end: int | None) -> list[float] | None:
    """Where on its page a span stands that OCR read: left, top, right and bottom in shares of width and height; None for
    other text."""
    lines = metadata.get(REGIONS)
    if not lines or start is None or end is None:
        return None
    boxes = [box for first, last, *box in lines if first < end and start < last]
    if not boxes:
        return None
    left, top, right, bottom = zip(*boxes, strict=True)
    return [min(left), min(top), max(right), max(bottom)]


def whole(result: Passage, order: int) -> Quote:
    """A result's whole text as a quote, without surrounding white space."""
    content = result["content"]
    start = len(content) - len(content.lstrip())
    text = content.strip()
    unit = Unit("sentence", start, start + len(text), readable(text), 0)
    return Quote.of(unit, result, order=order)


def only_known(text: str, known_numbers: Sequence[int]) -> str:
    """The text with its marks as ``[1, 2]``; marks without a known citation are removed."""

    def known_marks(mark: re.Match[str]) -> str:
        numbers = [str(number) for number in mark_numbers(mark) if number in known_numbers]
        return f"{mark['space']}[{', '.join(numbers)}]" if numbers else ""

    return MARK.sub(known_marks, text)


def cited_numbers(text: str, known_numbers: Sequence[int]) -> list[int]:
    """Numbers in ``[n]`` marks of a text that are known, in order of first appearance."""
    found = [number for mark in MARK.finditer(text) for number in mark_numbers(mark)]
    return [number for number in dict.fromkeys(found) if number in known_numbers]


def mark_numbers(mark: re.Match[str]) -> list[int]:
    """The numbers of a mark in order, ranges in full."""
    ranges = re.findall(r"(\d+)(?:\s*[-–]\s*(\d+))?", mark["numbers"])
    return [number for first, last in ranges for number in range(int(first), int(last or first) + 1)]
