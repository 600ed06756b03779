"""Expansion: a weak question followed by the words of its best results."""

from __future__ import annotations

from typing import Any

import pytest

from agentic_rag.nodes.rewrite_query import expand_query, rewrite_query
from agentic_rag.testing import prepared_state


def results(*contents: str, title: str = "") -> list[dict[str, Any]]:
    return [
        {"id": str(n), "content": content, "metadata": {"title": title}} for n, content in enumerate(contents)
    ]


def test_words_that_set_the_best_results_apart_are_added(monkeypatch: pytest.MonkeyPatch):
    assert (
        expand_query("oolong", results("oolong Fujian", "oolong Fujian roasting")) == "oolong fujian roasting"
    )
    monkeypatch.setattr("agentic_rag.nodes.rewrite_query.TERMS", 1)
    assert expand_query("oolong", results("oolong Fujian", "oolong Fujian roasting")) == "oolong fujian"


def test_words_of_the_question_stopwords_and_numbers_are_not_added():
    assert expand_query("Brewing oolong", results("the brewed oolongs of 2024 a x")) == "Brewing oolong"


def test_a_title_counts_as_words_too():
    assert expand_query("oolong", results("oolong", title="Wuyi")) == "oolong wuyi"


def test_han_is_added_in_pairs():
    assert expand_query("乌龙", results("武夷")) == "乌龙 武夷"


@pytest.mark.parametrize("found", [[], results(""), results("!!! 123")])
def test_where_there_is_nothing_to_add_the_question_comes_back(found: list[dict[str, Any]]):
    assert expand_query("oolong tea", found) == "oolong tea"


def test_only_the_first_five_results_give_words():
    found = results(*["oolong"] * 5, "railway")
    assert expand_query("oolong", found) == "oolong"


def test_equal_words_come_in_order_of_the_alphabet():
    assert expand_query("oolong", results("zebra apple mango")) == "oolong apple mango zebra"


async def test_the_node_appends_to_the_rewrites():
    found = {"rewrites": ["first"], "reranked_results": results("Fujian")}
    state: Any = {**prepared_state(query="oolong"), **found}
    written = await rewrite_query(state)
    assert written["rewrites"] == ["first", "oolong fujian"]
    assert written["rewrite_outcome"]["status"] == "ok"
    assert state["rewrites"] == ["first"]
