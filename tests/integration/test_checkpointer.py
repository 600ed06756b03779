"""State in sqlite: a run stopped after fusion goes on in another process, and threads keep passes apart."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver

from agentic_rag import RagConfig, open_rag

QUESTION = {"query": "What does shading do to theanine?", "operation": "document_retrieval"}

RESUMED = """
import asyncio, json, sys
from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver
from agentic_rag import RagConfig, open_rag

async def main(data, file):
    async with AsyncSqliteSaver.from_conn_string(file) as saver:
        async with open_rag(RagConfig(data_dir=data), checkpointer=saver) as rag:
            thread = {"configurable": {"thread_id": "a"}}
            waiting = (await rag.graph.aget_state(thread)).next
            state = await rag.graph.ainvoke(None, thread)
    print(json.dumps([waiting, state["answer"], state["citations"]]))

asyncio.run(main(sys.argv[1], sys.argv[2]))
"""


def thread(name: str) -> Any:
    return {"configurable": {"thread_id": name}}


def essence(state: dict[str, Any]) -> dict[str, Any]:
    """What must be the same however the run went: all but times."""
    plain = {
        key: state[key] for key in ("answer", "citations", "fused_results", "reranked_results", "rewrites")
    }
    return json.loads(json.dumps(plain))  # type: ignore[no-any-return]


@pytest.mark.slow
async def test_a_run_stopped_after_fusion_goes_on_in_another_process(
    example_data: Path, tmp_path: Path
) -> None:
    file = str(tmp_path / "checkpoints.sqlite")
    config = RagConfig(data_dir=example_data)
    async with AsyncSqliteSaver.from_conn_string(file) as saver, open_rag(config, checkpointer=saver) as rag:
        stopped = await rag.graph.ainvoke(QUESTION, thread("a"), interrupt_after=["fuse_results"])
        assert stopped["answer"] == ""
        assert stopped["fused_results"]
        whole = await rag.graph.ainvoke(QUESTION, thread("b"))
    done = subprocess.run(
        [sys.executable, "-c", RESUMED, str(example_data), file], check=True, capture_output=True, text=True
    )
    waiting, answer, citations = json.loads(done.stdout)
    assert waiting == ["rerank"]
    assert answer == whole["answer"]
    assert citations == whole["citations"]


async def test_a_run_goes_on_in_another_graph_object(example_data: Path, tmp_path: Path) -> None:
    file = str(tmp_path / "checkpoints.sqlite")
    config = RagConfig(data_dir=example_data)
    async with AsyncSqliteSaver.from_conn_string(file) as saver, open_rag(config, checkpointer=saver) as rag:
        await rag.graph.ainvoke(QUESTION, thread("a"), interrupt_after=["fuse_results"])
        whole = await rag.graph.ainvoke(QUESTION, thread("b"))
    async with AsyncSqliteSaver.from_conn_string(file) as saver, open_rag(config, checkpointer=saver) as rag:
        resumed = await rag.graph.ainvoke(None, thread("a"))
        kept = (await rag.graph.aget_state(thread("b"))).values
    assert essence(resumed) == essence(whole) == essence(kept)


async def test_two_questions_on_one_thread_do_not_mix(example_data: Path, tmp_path: Path) -> None:
    file = str(tmp_path / "checkpoints.sqlite")
    config = RagConfig(data_dir=example_data)
    other = {"query": "渥堆和氧化有什么不同?", "operation": "verification_canvas"}
    async with AsyncSqliteSaver.from_conn_string(file) as saver, open_rag(config, checkpointer=saver) as rag:
        first = await rag.graph.ainvoke(QUESTION, thread("one"))
        second = await rag.graph.ainvoke(other, thread("one"))
        alone = await rag.graph.ainvoke(other, thread("two"))
        cascade = await rag.graph.ainvoke(
            {**QUESTION, "operation": "concept_relation"},
            thread("one"),
            context={"fusion": {"graphiti_threshold": 1, "graphiti_min_score": 0.0}},
        )
        again = await rag.graph.ainvoke(QUESTION, thread("one"))
    assert essence(second) == essence(alone)
    assert second["rewrites"] == alone["rewrites"]
    assert cascade["outcomes"]["lancedb"] == "skipped", "what the first question found there is not taken"
    assert all("lancedb" not in result["sources"] for result in cascade["fused_results"])
    assert essence(again) == essence(first)
