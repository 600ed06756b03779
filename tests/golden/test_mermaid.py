"""The Mermaid text of every graph equals the approved one."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from agentic_rag.cli.drawings import drawing, drawings
from agentic_rag.errors import InputError

APPROVED = Path(__file__).parent
RENEW = (
    "the graph is drawn differently; if that is meant, renew the file and look at the difference:\n"
    "  agentic-rag graph {0} > tests/golden/{0}.mmd && git diff tests/golden"
)


@pytest.mark.parametrize("name", drawings())
def test_the_graph_is_drawn_as_approved(name: str):
    approved = (APPROVED / f"{name}.mmd").read_text(encoding="utf-8")
    assert drawing(name).strip() == approved.strip(), RENEW.format(name)


def test_the_server_is_given_every_graph():
    served = json.loads((APPROVED.parents[1] / "langgraph.json").read_text(encoding="utf-8"))["graphs"]
    assert served.keys() == set(drawings())


def test_an_unknown_graph_lists_the_known():
    with pytest.raises(
        InputError, match=r"'guess'; use one of: agentic_rag, memory_retrieval, memory_insert"
    ):
        drawing("guess")
