"""Terminal output of an answer."""

from __future__ import annotations

from typing import Any

import pytest

from agentic_rag.cli.render import print_answer


def answered(**cited: Any) -> dict[str, Any]:
    citation = {
        "n": 1, "chunk_id": "c", "path": "manual.pdf", "heading_path": [], "start": 90, "end": 120, "url": None,
        "page": None, "region": None,
    }  # fmt: skip
    return {
        "answer": "It holds 1.2 l [1]",
        "abstained": False,
        "citations": [citation | cited],
        "results": [],
        "outcomes": {},
        "operation": "document_retrieval",
        "fusion": {"strategy": "weighted", "operation_reason": None},
        "quality": {"reasons": ["strong"]},
        "rewrites": [],
        "selection": None,
        "seconds": 0.1,
    }


def test_what_was_left_out_is_told(capsys: pytest.CaptureFixture[str]) -> None:
    reason = "1 of 2 statements left out: 1 against its passage"
    outcomes = {"answer": {"status": "partial", "reason": reason, "method": "chat"}}
    print_answer({**answered(), "outcomes": outcomes}, explain=False)
    assert f"partial: answer: {reason}" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("cited", "told"),
    [
        ({}, "[1] manual.pdf (90–120)"),
        ({"page": 2}, "[1] manual.pdf, page 2 (90–120)"),
        (
            {"page": 2, "region": [0.1, 0.25, 0.904, 0.3]},
            "[1] manual.pdf, page 2, 25–30 % down, 10–90 % across (90–120)",
        ),
        ({"page": 2, "start": None, "end": None}, "[1] manual.pdf, page 2"),
    ],
)
def test_a_citation_names_its_page(
    capsys: pytest.CaptureFixture[str], cited: dict[str, Any], told: str
) -> None:
    print_answer(answered(**cited), explain=False)
    assert told in capsys.readouterr().out.splitlines()
