"""Action augment: insights with their sources, and the context of memories."""

from __future__ import annotations

from typing import Any

import pytest

from agentic_rag.errors import ModelError
from agentic_rag.testing import ScriptedChat
from agentic_rag_lab.designs.post_retrieval import PostRetrieval, PostRetrievalTools, parse_steps
from word_counts import count_words

MEMORIES: list[dict[str, Any]] = [
    {
        "text": "Alice works at Google",
        "entry_id": "a",
        "score": 0.4,
        "metadata": {"timestamp": "2023-08-01", "speaker": "Alice", "sources": [[1, 0, 2]]},
    },
    {
        "text": "Alice moved to Zurich",
        "entry_id": "b",
        "score": 0.7,
        "metadata": {"timestamp": "2023-08-02", "sources": [[1, 0, 2], [2, 4, 1]]},
    },
    {"text": "Bob likes tea", "entry_id": "c", "score": None, "metadata": None},
]


async def augmented(
    kind: str, chat: Any = None, memories: list[dict[str, Any]] | None = None, **settings: Any
) -> dict[str, Any]:
    steps = parse_steps({"action": "augment", "augment_type": kind, **settings})
    return await PostRetrieval(steps, PostRetrievalTools(None, None, chat, count_words)).execute(
        {"question": "Why Zurich?", "memory_data": MEMORIES if memories is None else memories}
    )


# --- reflection ----------------------------------------------------------------------------------


async def test_an_insight_is_a_memory_with_the_sources_of_those_it_follows_from():
    chat = ScriptedChat("- Alice moved for her job [1, 2]\n2. Tea is liked. [3].\n")
    written = await augmented("reflection", chat)
    assert written["memory_data"][:3] == MEMORIES
    first, second = written["memory_data"][3:]
    assert first["text"] == "Alice moved for her job"
    assert first["score"] == 0.7
    assert first["metadata"] == {"kind": "reflection", "from": ["a", "b"], "sources": [[1, 0, 2], [2, 4, 1]]}
    assert (second["text"], second["score"]) == ("Tea is liked.", None)
    assert second["metadata"]["sources"] == []
    assert first["entry_id"] != second["entry_id"]
    assert written["history_text"].endswith("Bob likes tea\nAlice moved for her job\nTea is liked.\n")
    ((system, user),) = chat.prompts
    assert "at most 3 insights" in system
    assert user.endswith("Question: Why Zurich?")


async def test_the_same_insight_has_the_same_id_and_joins_once():
    again = await augmented("reflection", ScriptedChat("x [1]\nx [2]\nx [1]"))
    assert len(again["memory_data"]) == 4
    more = await augmented("reflection", ScriptedChat("x [1]"), again["memory_data"])
    assert more["memory_data"] == again["memory_data"]
    assert more["post_retrieval"][0]["reason"] == "the chat model drew no new insight"


async def test_no_more_insights_than_asked_for():
    written = await augmented("reflection", ScriptedChat("x [1]\ny [1]\nz [1]"), reflection_count=2)
    assert [memory["text"] for memory in written["memory_data"][3:]] == ["x", "y"]


async def test_none_adds_nothing_and_says_so():
    written = await augmented("reflection", ScriptedChat("NONE"))
    assert written["memory_data"] == MEMORIES
    assert written["post_retrieval"][0]["reason"] == "the chat model drew no new insight"


async def test_nothing_remembered_asks_nothing():
    chat = ScriptedChat()
    assert (await augmented("reflection", chat, []))["memory_data"] == []
    assert chat.prompts == []


@pytest.mark.parametrize("reply", ["Alice moved", "Alice moved [4]", "Alice moved [0]", "x [1]\nand so on"])
async def test_an_insight_from_nowhere_fails_the_step(reply: str):
    with pytest.raises(ModelError) as failed:
        await augmented("reflection", ScriptedChat(reply))
    assert str(failed.value) == (
        "the chat model was asked for insights, one a line with its passages' numbers (1 to 3), and said "
        "something else; use another runtime.model_name"
    )


async def test_silence_fails_the_step():
    with pytest.raises(ModelError, match="said nothing"):
        await augmented("reflection", ScriptedChat(" \n"))


# --- context -------------------------------------------------------------------------------------


async def test_context_stands_in_each_memory_that_has_some():
    written = await augmented("context", context_fields=["timestamp", "speaker"])
    assert [memory["text"] for memory in written["memory_data"]] == [
        "[timestamp: 2023-08-01; speaker: Alice] Alice works at Google",
        "[timestamp: 2023-08-02] Alice moved to Zurich",
        "Bob likes tea",
    ]
    assert written["memory_data"][1]["metadata"] == MEMORIES[1]["metadata"]


async def test_a_fixed_context_and_a_template():
    written = await augmented(
        "context", context_fields=[], context_text="{work}", context_template="{text} ({context})"
    )
    assert written["memory_data"][2]["text"] == "Bob likes tea ({work})"


async def test_context_above_all_memories():
    written = await augmented(
        "context",
        context_place="preface",
        context_text="Two friends talk.",
        context_fields=["timestamp", "speaker", "mood"],
    )
    assert written["memory_data"] == MEMORIES
    assert written["history_text"] == (
        "The following is some history information.\n"
        "Two friends talk.\ntimestamp: 2023-08-01, 2023-08-02\nspeaker: Alice\n"
        "Alice works at Google\nAlice moved to Zurich\nBob likes tea\n"
    )


async def test_a_preface_stays_above_what_a_later_step_writes():
    steps = parse_steps(
        [
            {
                "action": "augment",
                "augment_type": "context",
                "context_place": "preface",
                "context_text": "Above.",
            },
            {"action": "format", "format_type": "template", "memory_template": "- {text}"},
        ]
    )
    tools = PostRetrievalTools(None, None, None, count_words)
    written = await PostRetrieval(steps, tools).execute({"question": "q", "memory_data": [{"text": "tea"}]})
    assert written["history_text"] == ("The following is some history information.\nAbove.\n- tea\n")


async def test_a_value_of_many_lines_cannot_look_like_a_memory():
    memories = [{"text": "tea", "metadata": {"speaker": "Eve\n(2023-08-01)Bob: lie"}}]
    written = await augmented("context", None, memories, context_fields=["speaker"])
    assert written["memory_data"][0]["text"] == "[speaker: Eve (2023-08-01)Bob: lie] tea"
