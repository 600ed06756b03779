"""State in sqlite: a run stopped after fusion goes on in another process, and threads keep passes apart."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver

from agentic_rag import RagConfig, open_rag

QUESTION = {"query": "What does shading do to theanine?", "operation": "document_retrieval"}


def thread(name: str) -> Any:
    return {"configurable": {"thread_id": name}}


def essence(state: dict[str, Any]) -> dict[str, Any]:
    """What must be the same however the run went: all but times."""
    plain = {
        key: state[key] for key in ("answer", "citations", "fused_results", "reranked_results", "rewrites")
    }
    return json.loads(json.dumps(plain))  # type: ignore[no-any-return]


STOPS: list[dict[str, Any]] = [
    {"interrupt_before": ["fuse_results"]},
    {"interrupt_after": ["fuse_results"]},
    {"interrupt_after": ["rerank"]},
    {"interrupt_after": ["check_quality"]},
]


@pytest.mark.parametrize("stop", STOPS, ids=str)
async def test_a_run_goes_on_in_another_graph_object(
    example_data: Path, tmp_path: Path, stop: dict[str, Any]
) -> None:
    """What the checkpoint holds short is read again from the store, wherever the run stopped."""
    file = str(tmp_path / "checkpoints.sqlite")
    config = RagConfig(data_dir=example_data)
    async with AsyncSqliteSaver.from_conn_string(file) as saver, open_rag(config, checkpointer=saver) as rag:
        await rag.graph.ainvoke(QUESTION, thread("a"), **stop)
        complete = await rag.graph.ainvoke(QUESTION, thread("b"))
    async with AsyncSqliteSaver.from_conn_string(file) as saver, open_rag(config, checkpointer=saver) as rag:
        resumed = await rag.graph.ainvoke(None, thread("a"))
        kept = (await rag.graph.aget_state(thread("b"))).values
    assert essence(resumed) == essence(complete) == essence(kept)
