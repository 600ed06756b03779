"""The main graph is drawn as it was looked at and approved."""

from __future__ import annotations

from pathlib import Path

import pytest

from agentic_rag.drawings import drawing
from agentic_rag.errors import InputError

APPROVED = Path(__file__).with_name("agentic_rag.mmd")
RENEW = (
    "the graph is drawn differently; if that is meant, renew the file and look at the difference:\n"
    "  agentic-rag graph agentic_rag > tests/golden/agentic_rag.mmd && git diff tests/golden"
)


def test_the_graph_is_drawn_as_approved():
    assert drawing("agentic_rag").strip() == APPROVED.read_text(encoding="utf-8").strip(), RENEW


def test_an_unknown_graph_lists_the_known():
    with pytest.raises(InputError, match=r"'guess'; use one of: agentic_rag"):
        drawing("guess")
