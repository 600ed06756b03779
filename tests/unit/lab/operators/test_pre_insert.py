"""PreInsert: packets to entries, as the memory test pipeline's page shows it in both modes."""

from __future__ import annotations

import json
from copy import deepcopy
from typing import Any

import numpy as np
import pytest

from agentic_rag.domain.ports import Chat
from agentic_rag.errors import InputError
from agentic_rag.testing import HashingEmbedding, ScriptedChat
from agentic_rag.text.prompts import DATA
from agentic_rag_lab.designs.operators import NoAction, OperatorTools, parse_action
from agentic_rag_lab.designs.operators.pre_insert import PRE_INSERT, PreInsert, TriEmbed
from agentic_rag_lab.designs.triples import TRIPLE_EXTRACTION_PROMPT
from word_counts import count_words

HELLO: dict[str, Any] = {
    "task_id": "conv-26",
    "session_id": 12,
    "dialog_id": 0,
    "dialogs": [
        {"speaker": "Alice", "text": "Hello", "date_time": "2023-08-01"},
        {"speaker": "Bob", "text": "Hi", "date_time": "2023-08-01"},
    ],
}
GOOGLE: dict[str, Any] = {
    "task_id": "conv-26",
    "session_id": 12,
    "dialog_id": 0,
    "dialogs": [{"speaker": "Alice", "text": "I work at Google", "date_time": "2023-08-01"}],
}


def tri_embed(chat: Chat | None = None, **settings: Any) -> PreInsert:
    tools = OperatorTools(HashingEmbedding(), chat, count_words)
    return PreInsert(parse_action("pre_insert", PRE_INSERT, {"action": "tri_embed", **settings}), tools)


async def test_none_as_the_page_shows_it() -> None:
    before = deepcopy(HELLO)
    written = await PreInsert(
        parse_action("pre_insert", PRE_INSERT, None), OperatorTools(HashingEmbedding(), None, count_words)
    ).execute(HELLO)
    assert written == {"entries": [{"data": HELLO}], "skipped_turns": 0}
    assert before == HELLO


async def test_none_wraps_the_packet_alone() -> None:
    state = {**HELLO, "packet_idx": 3, "entries": None, "inserted": ["m1"]}
    written = await PreInsert(NoAction(), OperatorTools(HashingEmbedding(), None, count_words)).execute(state)
    assert written["entries"] == [{"data": {**HELLO, "packet_idx": 3}}]


@pytest.mark.parametrize(
    ("chat", "triple"),
    [
        (None, ["Alice", "says", "I work at Google"]),
        (ScriptedChat("\n(Alice, works at, Google)\n"), ["Alice", "works at", "Google"]),
    ],
)
async def test_tri_embed_as_the_page_shows_it(chat: Chat | None, triple: list[str]) -> None:
    written = await tri_embed(chat).execute(GOOGLE)
    (vector,) = await HashingEmbedding().embed_passages([" ".join(triple)])
    assert written == {
        "entries": [
            {
                "dialogs": GOOGLE["dialogs"],
                "triple": triple,
                "refactor": " ".join(triple),
                "embedding": [float(value) for value in vector],
                "metadata": {"timestamp": "2023-08-01", "speaker": "Alice", "sources": [[12, 0, 1]]},
            }
        ],
        "skipped_turns": 0,
        "malformed_lines": 0,
    }
    assert json.loads(json.dumps(written)) == written
    assert np.linalg.norm(written["entries"][0]["embedding"]) == pytest.approx(1.0, abs=1e-6)


@pytest.mark.parametrize("chat", [None, ScriptedChat("None")])
async def test_no_triple_is_none(chat: Chat | None) -> None:
    written = await tri_embed(chat).execute(HELLO)
    assert written == {"entries": None, "skipped_turns": 2, "malformed_lines": 0}


async def test_sources_name_the_turn() -> None:
    dialogs = [
        {"speaker": "Bob", "text": "Wow!", "date_time": ""},
        {"speaker": "Alice", "text": "I have a dog.", "date_time": ""},
    ]
    written = await tri_embed().execute({"session_id": 3, "dialog_id": 4, "dialogs": dialogs})
    assert [entry["metadata"] for entry in written["entries"]] == [
        {"speaker": "Alice", "sources": [[3, 5, 1]]}
    ]


async def test_without_ids_there_are_no_sources() -> None:
    written = await tri_embed().execute({"dialogs": GOOGLE["dialogs"]})
    assert written["entries"][0]["metadata"] == {"timestamp": "2023-08-01", "speaker": "Alice"}


async def test_the_chat_model_hears_the_prompt_and_the_turns() -> None:
    chat = ScriptedChat("(Alice, works at, Google)", "None")
    await tri_embed(chat).execute(GOOGLE)
    await tri_embed(chat, triple_extraction_prompt="Triples, please").execute(GOOGLE)
    (system, user), (second, _) = chat.prompts
    assert (system, second) == (f"{TRIPLE_EXTRACTION_PROMPT}\n{DATA}", f"Triples, please\n{DATA}")
    assert "(2023-08-01)Alice: " in user


async def test_what_the_chat_model_says() -> None:
    reply = (
        "Here you are:\n(Bob, likes, tea)\n(Alice's dog, is called, Rex)\n(Rex, is, old)\n(bob, LIKES, tea)"
    )
    written = await tri_embed(ScriptedChat(reply)).execute(HELLO)
    assert [entry["refactor"] for entry in written["entries"]] == [
        "Bob likes tea",
        "Alice's dog is called Rex",
        "Rex is old",
    ]
    assert [entry["metadata"].get("speaker") for entry in written["entries"]] == ["Bob", "Alice", None]
    assert [entry["metadata"].get("sources") for entry in written["entries"]] == [
        [[12, 1, 1]],
        [[12, 0, 1]],
        None,
    ]
    # Rex may come from either turn, so none is said to be without a triple.
    assert (written["malformed_lines"], written["skipped_turns"]) == (1, 0)


async def test_nothing_is_embedded_where_nothing_was_said() -> None:
    embedding = HashingEmbedding()
    await PreInsert(TriEmbed(), OperatorTools(embedding, None, count_words)).execute(HELLO)
    assert embedding.embedded_texts == []


@pytest.mark.parametrize("data", [{}, {"dialogs": None}, {"dialogs": "Hello"}])
async def test_data_without_dialogs(data: dict[str, Any]) -> None:
    with pytest.raises(InputError, match="'dialogs'"):
        await tri_embed().execute(data)
