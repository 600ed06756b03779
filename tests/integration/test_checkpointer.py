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


MEMORY_RUN = """
import asyncio, json, os, sys
from pathlib import Path
from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver
from agentic_rag.settings.config import RagConfig
from agentic_rag_lab.shared import SharedMemory

async def main(design, data, file, given, killed_after):
    memory = SharedMemory(RagConfig(data_dir=data))
    async with AsyncSqliteSaver.from_conn_string(file) as saver:
        graph = await memory.main(Path(design))
        graph.checkpointer = saver
        thread = {"configurable": {"thread_id": "a"}}
        steps = 0
        async for _ in graph.astream(json.loads(given), thread, stream_mode="updates"):
            steps += 1
            if steps == int(killed_after):
                os._exit(9)
        state = (await graph.aget_state(thread)).values
    await memory.close()
    found = [[r["question"], r["memory_data"], r["predicted_answer"]] for r in state["results"]]
    print(json.dumps([steps, state["inserts"], found]))

asyncio.run(main(*sys.argv[1:]))
"""
DESIGN = Path(__file__).parents[2] / "configs/locomo_vector_memory_pipeline.yaml"


@pytest.mark.slow
def test_a_killed_memory_run_goes_on_in_another_process(tmp_path: Path) -> None:
    said = ["I adopted a cat called Miso.", "I moved to Porto.", "I play the cello.", "I work at a bakery."]
    turns = {
        f"session_{n}": [{"speaker": "Ann", "dia_id": f"D{n}:1", "text": text}]
        for n, text in enumerate(said, start=1)
    }
    dates = {f"session_{n}_date_time": f"1:00 pm on {n} May, 2023" for n in range(1, 5)}
    asked = [
        {"question": question, "answer": "x", "evidence": [f"D{n}:1"], "category": 4}
        for n, question in (
            (1, "What is Ann's cat called?"),
            (2, "Where did Ann move?"),
            (4, "Where does Ann work?"),
        )
    ]
    inner = {"speaker_a": "Ann", "speaker_b": "Bo", **turns, **dates}
    data = tmp_path / "locomo.json"
    data.write_text(
        json.dumps([{"sample_id": "conv-1", "conversation": inner, "qa": asked}]), encoding="utf-8"
    )
    given = json.dumps({"task_id": "conv-1", "data": str(data)})

    def run(given: str, killed_after: int) -> subprocess.CompletedProcess[str]:
        arguments = [DESIGN, tmp_path / "data", tmp_path / "checkpoints.sqlite", given, killed_after]
        return subprocess.run(
            [sys.executable, "-c", MEMORY_RUN, *map(str, arguments)], capture_output=True, text=True
        )

    assert run(given, killed_after=5).returncode == 9  # the second packet is in, and asked about
    resumed = run("null", killed_after=0)
    assert resumed.returncode == 0, resumed.stderr
    steps, inserts, found = json.loads(resumed.stdout)
    assert steps < 4 * 3, "it does not begin anew"
    assert (inserts["packets"], inserts["inserted"], inserts["failed"]) == (4, 4, 0)
    assert len(found) == 3
    for (question, memories, _), known in zip(found, (1, 2, 4), strict=True):
        texts = [memory["text"] for memory in memories]
        assert len(texts) == known, question
        assert all(any(one in text for text in texts) for one in said[:known])
