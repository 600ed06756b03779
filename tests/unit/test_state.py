"""The lists of the state that are shortened beyond ``top_k``, and the channel that compresses them in a checkpoint."""

from __future__ import annotations

import copy
import json
from typing import Annotated, Any

import pytest
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import START, StateGraph
from typing_extensions import TypedDict

from agentic_rag.channels import CompressedValue, ShortenedList, in_full, shortened_hits


def hit(number: int, **fields: Any) -> Any:
    return {"id": f"h{number}", "content": "text", "rank": number, "metadata": {"document_id": "d"}, **fields}


def test_a_shortened_list_is_the_list_and_remembers_the_whole():
    hits = [hit(number) for number in range(1, 5)]
    short = shortened_hits(hits, 2)
    assert short == [*hits[:2], {"id": "h3", "rank": 3}, {"id": "h4", "rank": 4}]
    assert in_full(short) == in_full(copy.copy(short)) == hits
    assert in_full(json.loads(json.dumps(short))) == short, "without the memory it is what it holds"


class Held(TypedDict, total=False):
    found: Annotated[list[dict[str, Any]], CompressedValue]


@pytest.mark.parametrize("value", [[], [{"id": "茶\ud800", "score": 0.1}, {"id": "b", "score": None}]])
def test_a_packed_value_comes_back_from_a_checkpoint(value: list[dict[str, Any]]):
    saver, thread = InMemorySaver(), {"configurable": {"thread_id": "a"}}
    graph: Any = StateGraph(Held)
    graph.add_node("find", lambda state: {"found": ShortenedList(value, value)})
    graph.add_edge(START, "find")
    compiled = graph.compile(checkpointer=saver)
    assert compiled.invoke({}, thread)["found"] == value
    assert compiled.get_state(thread).values["found"] == value
    kept = saver.get_tuple(thread)
    assert isinstance(kept.checkpoint["channel_values"]["found"], bytes)


def test_a_checkpoint_of_before_can_be_read():
    channel = CompressedValue(list)
    assert channel.from_checkpoint([{"id": "a"}]).get() == [{"id": "a"}]
