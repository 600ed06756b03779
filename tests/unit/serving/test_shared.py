"""Shared designs of a server: a design that fails to open leaves nothing open, however often it is requested."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from agentic_rag.errors import ConfigError, InputError
from agentic_rag.settings.config import RagConfig
from agentic_rag_lab import shared as serving
from agentic_rag_lab.shared import SharedMemory

DESIGN = Path(__file__).parents[3] / "configs/locomo_short_term_memory_pipeline.yaml"


async def test_a_design_that_cannot_be_built_is_closed_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened = closed = 0
    real = serving.open_lab

    @asynccontextmanager
    async def counted(*arguments: Any, **options: Any) -> AsyncIterator[Any]:
        nonlocal opened, closed
        async with real(*arguments, **options) as lab:
            opened += 1
            try:
                yield lab
            finally:
                closed += 1

    monkeypatch.setattr(serving, "open_lab", counted)
    wrong = tmp_path / "judged.yaml"
    text = DESIGN.read_text("utf-8").replace("runtime:\n", "runtime:\n  llm_judge: true\n", 1)
    wrong.write_text(text, encoding="utf-8")
    memory = SharedMemory(RagConfig(data_dir=tmp_path / "data"))
    for _ in range(2):
        with pytest.raises(ConfigError, match="llm_judge"):
            await memory.test(wrong)
    assert opened == closed
    assert await memory.test(DESIGN) is await memory.test(DESIGN)
    assert opened == closed + 1
    await memory.close()
    assert opened == closed


async def test_a_run_is_of_one_conversation_as_its_file_is_now(tmp_path: Path) -> None:
    said = [{"speaker": "Ann", "dia_id": "D1:1", "text": "I have a cat."}]
    inner = {"speaker_a": "Ann", "speaker_b": "Bo", "session_1": said, "session_1_date_time": "8 May, 2023"}
    asked = [{"question": "What has Ann?", "answer": "a cat", "evidence": ["D1:1"], "category": 4}]
    samples: list[dict[str, Any]] = [
        {"sample_id": n, "conversation": inner, "qa": asked} for n in ("one", "two")
    ]
    data = tmp_path / "locomo.json"
    data.write_text(json.dumps(samples), encoding="utf-8")
    memory = SharedMemory(RagConfig(data_dir=tmp_path / "data"))
    main = await memory.main(DESIGN)
    with pytest.raises(InputError, match="one conversation, not 'all'; use one of: one, two"):
        await main.ainvoke({"task_id": "all", "data": str(data)})
    assert len((await main.ainvoke({"task_id": "two", "data": str(data)}))["results"]) == 1
    samples[1]["qa"] = 3 * asked
    data.write_text(json.dumps(samples), encoding="utf-8")
    changed = await main.ainvoke({"task_id": "two", "data": str(data)})
    assert len(changed["results"]) == 3, "the file as it is now"
    await memory.close()


async def test_designs_of_one_name_have_a_memory_each_and_one_file_has_one(tmp_path: Path) -> None:
    text = DESIGN.with_name("locomo_vector_memory_pipeline.yaml").read_text(encoding="utf-8")
    first, second = tmp_path / "first" / "mine.yaml", tmp_path / "second" / "mine.yaml"
    for file in (first, second):
        file.parent.mkdir()
        file.write_text(text, encoding="utf-8")
    memory = SharedMemory(RagConfig(data_dir=tmp_path / "data"))
    for design, said in ((first, "My cat is called Miso."), (first, "I live in Porto."), (second, "I sing.")):
        dialogs = [{"speaker": "Ann", "text": said, "date_time": "2023-05-08"}]
        await (await memory.insert(design)).ainvoke({"dialogs": dialogs})
        found = await (await memory.test(design)).ainvoke({"question": "Where does Ann live?"})
    assert len(found["memory_data"]) == 1
    again = tmp_path / "second" / ".." / "first" / "mine.yaml"
    found = await (await memory.test(again)).ainvoke({"question": "Where does Ann live?"})
    assert len(found["memory_data"]) == 2
    await memory.close()
