"""The search strategy of a target, by the words of the query."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentic_rag.memory.routing.strategies import choose_strategy
from agentic_rag.memory.schemas import MemoryType, RetrievalStrategy

CORE, EPISODIC, SEMANTIC, PROCEDURAL, WORKING = MemoryType
EMBEDDING, BM25, STRING_MATCH, FUZZY, HYBRID, SEMANTIC_GRAPH, TEMPORAL, CONTEXT_AWARE = RetrievalStrategy
ALL = (HYBRID, EMBEDDING, BM25, STRING_MATCH, FUZZY, SEMANTIC_GRAPH, TEMPORAL, CONTEXT_AWARE)


@pytest.mark.parametrize(
    ("query", "memory_type", "strategy"),
    [
        ("What did Odile plant in March 2023?", EPISODIC, TEMPORAL),
        ("2023年3月我们种了什么？", EPISODIC, TEMPORAL),
        ("What did Odile plant in March 2023?", WORKING, HYBRID),
        ("what became of INV-2041", PROCEDURAL, CONTEXT_AWARE),
        ("where is retry_count set", SEMANTIC, CONTEXT_AWARE),
        ("who wrote to ada@example.org", EPISODIC, CONTEXT_AWARE),
        ("order 8812345", EPISODIC, CONTEXT_AWARE),
        ('who said "twice weekly"', EPISODIC, CONTEXT_AWARE),
        ("谁说过“下不为例”", EPISODIC, CONTEXT_AWARE),
        ("How do Odile and Bram know each other?", SEMANTIC, SEMANTIC_GRAPH),
        ("How do Odile and Bram know each other?", EPISODIC, HYBRID),
        ("Where does Odile live?", SEMANTIC, HYBRID),
        ("Odile Bremmer", CORE, FUZZY),
        ("张伟", SEMANTIC, FUZZY),
        ("Groceries", SEMANTIC, HYBRID),
        ("the 10am meeting of 2024, 3rd floor", SEMANTIC, HYBRID),
        ("salt", CORE, HYBRID),
    ],
)
def test_what_a_query_holds_chooses(query: str, memory_type: MemoryType, strategy: RetrievalStrategy):
    assert choose_strategy(query, memory_type, ALL)[0] is strategy


@pytest.mark.parametrize(
    ("has", "strategy"),
    [
        ((EMBEDDING, STRING_MATCH, HYBRID), HYBRID),
        ((EMBEDDING, STRING_MATCH), STRING_MATCH),
        ((EMBEDDING,), EMBEDDING),
    ],
)
def test_an_agent_without_the_best_one_uses_the_next(
    has: tuple[RetrievalStrategy, ...], strategy: RetrievalStrategy
):
    assert choose_strategy("what became of INV-2041", CORE, has)[0] is strategy


def test_the_reason_tells_the_exact_text():
    assert choose_strategy("what became of INV-2041", CORE, ALL)[1] == "the query holds exact text (INV-2041)"


def test_the_default_goes_without_saying():
    assert choose_strategy("salt", CORE, (EMBEDDING, BM25)) == (EMBEDDING, None)


@given(
    st.text(min_size=1),
    st.sampled_from(MemoryType),
    st.lists(st.sampled_from(RetrievalStrategy), min_size=1, unique=True).map(tuple),
)
def test_any_text_is_searched_as_the_agent_can(
    query: str, memory_type: MemoryType, has: tuple[RetrievalStrategy, ...]
):
    assert choose_strategy(query, memory_type, has)[0] in has
