"""MemoryInsert: the service's input, as on the memory test pipeline's page, and its provenance."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest

from agentic_rag.domain.ports import FloatArray
from agentic_rag_lab.designs.data_parser import DataParser
from agentic_rag_lab.designs.operators.memory_insert import MemoryInsert

DIALOGS = [
    {"speaker": "Alice", "text": "Hello", "date_time": "2023-08-01"},
    {"speaker": "Bob", "text": "Hi", "date_time": "2023-08-01"},
]
PACKET: dict[str, Any] = {
    "task_id": "conv-26",
    "session_id": 12,
    "dialog_id": 4,
    "dialogs": DIALOGS,
    "dialog_len": 2,
    "packet_idx": 15,
    "total_packets": 50,
}
PROVENANCE = {
    "task_id": "conv-26",
    "session_id": 12,
    "dialog_id": 4,
    "dialog_len": 2,
    "timestamp": "2023-08-01",
    "sources": [[12, 4, 2]],
}


class Recording:
    """A memory that notes its calls; the text ``dropped`` is not kept."""

    def __init__(self, dropped: str = "") -> None:
        self.calls: list[tuple[str, FloatArray | None, Mapping[str, Any] | None]] = []
        self.dropped = dropped

    async def insert(
        self, text: str, vector: FloatArray | None = None, metadata: Mapping[str, Any] | None = None
    ) -> str | None:
        self.calls.append((text, vector, metadata))
        return None if text == self.dropped else f"m{len(self.calls):08}"


async def inserted(
    packet: Mapping[str, Any], *entries: dict[str, Any], dropped: str = "", adapter: str = "to_refactor"
) -> tuple[list[Any], dict[str, Any]]:
    """What a memory hears of the entries of a packet, and what the operator writes."""
    service = Recording(dropped)
    operator = MemoryInsert(DataParser(adapter), service)
    written = await operator.execute({**packet, "entries": list(entries)})
    return service.calls, written


async def test_short_term_memory_as_the_page_shows_it() -> None:
    calls, written = await inserted(PACKET, {"data": PACKET}, adapter="to_dialogs")
    assert calls == [("(2023-08-01)Alice: Hello\n(2023-08-01)Bob: Hi", None, PROVENANCE)]
    assert written == {"inserted": ["m00000001"], "insert_stats": {"inserted": 1, "entries": 1}}


async def test_vector_hash_memory_as_the_page_shows_it() -> None:
    entry = {
        "dialogs": [{"speaker": "Alice", "text": "I work at Google", "date_time": "2023-08-01"}],
        "triple": ("Alice", "works at", "Google"),
        "refactor": "Alice works at Google",
        "embedding": [0.12, 0.34, 0.56],
    }
    ((text, vector, metadata),), _ = await inserted({}, entry)
    assert (text, metadata) == ("Alice works at Google", None)
    assert vector is not None
    assert vector.dtype == np.float32
    np.testing.assert_allclose(vector, [0.12, 0.34, 0.56], rtol=1e-6)


@pytest.mark.parametrize("entries", [None, []])
async def test_nothing_to_remember(entries: Any) -> None:
    service = Recording()
    written = await MemoryInsert(DataParser("to_refactor"), service).execute({**PACKET, "entries": entries})
    assert service.calls == []
    assert written == {"inserted": [], "insert_stats": {"inserted": 0, "entries": 0}}


async def test_an_entrys_own_metadata_come_on_top() -> None:
    entry = {"refactor": "Bob greets", "metadata": {"speaker": "Bob", "sources": [[12, 5, 1]]}}
    calls, _ = await inserted(PACKET, entry)
    assert calls[0][2] == {**PROVENANCE, "speaker": "Bob", "sources": [[12, 5, 1]]}


@pytest.mark.parametrize("date", ["", "last May"])
async def test_no_date_no_timestamp(date: str) -> None:
    dialogs = [{"speaker": "Alice", "text": "Hello", "date_time": date}]
    packet = {"session_id": 1, "dialog_id": 0, "dialogs": dialogs}
    calls, _ = await inserted(packet, {"data": packet}, adapter="to_dialogs")
    assert calls[0][2] == {"session_id": 1, "dialog_id": 0, "sources": [[1, 0, 1]]}


async def test_what_a_memory_does_not_keep_has_no_id() -> None:
    _, written = await inserted({}, {"refactor": "a"}, {"refactor": "b"}, {"refactor": "c"}, dropped="b")
    assert written == {
        "inserted": ["m00000001", None, "m00000003"],
        "insert_stats": {"inserted": 2, "entries": 3},
    }


async def test_further_memories_get_everything_too() -> None:
    service, second = Recording(), Recording(dropped="b")
    entries = [{"refactor": "a"}, {"refactor": "b"}]
    written = await MemoryInsert(DataParser("to_refactor"), service, [second]).execute({"entries": entries})
    assert second.calls == service.calls
    assert written["inserted"] == ["m00000001", "m00000002"]


async def test_a_message_with_a_role_is_told_with_it() -> None:
    message = {"speaker": "user", "text": "Hi", "date_time": "2024-03-03", "role": "user", "dia_id": "58"}
    packet = {**PACKET, "dialogs": [message], "dialog_len": 1}
    ((text, _, metadata),), _ = await inserted(packet, {"data": packet}, adapter="to_dialogs")
    assert text == "(2024-03-03)user: Hi"
    assert metadata == {
        **PROVENANCE, "dialog_len": 1, "timestamp": "2024-03-03", "sources": [[12, 4, 1]],
        "role": "user", "speaker": "user", "dia_id": "58",
    }  # fmt: skip
