"""One user's memories as a file: a written file can be read, any other file is refused."""

from __future__ import annotations

import asyncio
import tempfile
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agentic_rag.errors import InputError
from agentic_rag.memory.exchange import read_export
from user_memories import opened

TEXTS = st.sampled_from(
    [
        "I live in Oslo.",
        "I moved to Bergen.",
        "I prefer tea.",
        "我住在上海。",
        "Always cite.",
        "a\u2028b c\x85d e",
    ]
)


@settings(max_examples=25)
@given(st.lists(TEXTS, min_size=1, max_size=5))
def test_what_is_exported_is_imported_as_it_was(texts: list[str]):
    async def run() -> None:
        memories = opened()
        for text in texts:
            await memories.remember(text, "ada", at="2024-01-01", metadata={"n": 1})
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder) / "ada.jsonl"
            count = await memories.export("ada", file)
            for _ in range(2):  # a second time changes nothing
                assert await memories.import_("bo", file) == count
                assert await memories.list("bo", include_ended=True) == await memories.list(
                    "ada", include_ended=True
                )

    asyncio.run(run())


async def test_imported_facts_join_those_that_are_there(tmp_path: Path):
    memories = opened()
    await memories.remember("I moved to Bergen.", "ada", at="2022-01-01", metadata={"speaker": "ada"})
    await memories.export("ada", tmp_path / "x.jsonl")
    await memories.remember("I live in Oslo.", "bo", at="2020-01-01", metadata={"speaker": "ada"})
    await memories.import_("bo", tmp_path / "x.jsonl")
    held = [one.details["value"] for one in await memories.list("bo", "semantic") if one.slot]
    assert held == ["Bergen"]


@pytest.mark.parametrize(
    ("content", "told"),
    [
        (None, "cannot read"),
        (b"\xff", "cannot read"),
        (b"", "no JSON"),
        (b"{}", "is no export of memories"),
        (b'{"format": "agentic-rag-memory", "version": 2, "memories": 0}', "is no export of memories"),
        (b'{"format": "agentic-rag-memory", "version": 1, "memories": 1}', "was cut short"),
        (
            b'{"format": "agentic-rag-memory", "version": 1, "memories": 1}\n{"id": "x"}\n',
            "line 2, is no memory",
        ),
        (b'{"format": "agentic-rag-memory", "version": 1, "memories": 1}\n[\n', "line 2, is no JSON"),
        (b'{"format": "agentic-rag-memory", "version": 1, "memories": 1}\n3\n', "line 2, is no JSON object"),
    ],
)
async def test_a_file_that_cannot_be_read_imports_nothing(tmp_path: Path, content: bytes | None, told: str):
    file = tmp_path / "x.jsonl"
    if content is not None:
        file.write_bytes(content)
    with pytest.raises(InputError, match=told):
        read_export(file)
    memories = opened()
    with pytest.raises(InputError, match=told):
        await memories.import_("ada", file)
    assert await memories.list("ada") == []


async def test_a_place_that_cannot_be_written_is_told(tmp_path: Path):
    with pytest.raises(InputError, match="cannot write"):
        await opened().export("ada", tmp_path / "missing" / "x.jsonl")
