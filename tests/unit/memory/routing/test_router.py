"""Routing of a query to memory types, by rules and by a chat model: invariants, and refused input."""

from __future__ import annotations

import asyncio
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentic_rag.errors import InputError, ModelError
from agentic_rag.memory.routing.decision import MIN_WEIGHTS, Strategies, weight
from agentic_rag.memory.routing.router import MAX_REASON, Router
from agentic_rag.memory.schemas import MemoryType, RetrievalRequest, RetrievalStrategy, RoutingResult
from agentic_rag.testing import ScriptedChat

CORE, EPISODIC, SEMANTIC, PROCEDURAL, WORKING = MemoryType
EMBEDDING, BM25, STRING_MATCH, FUZZY, HYBRID, SEMANTIC_GRAPH, TEMPORAL, CONTEXT_AWARE = RetrievalStrategy
AGENTS: Strategies = {
    CORE: (STRING_MATCH, EMBEDDING),
    EPISODIC: (HYBRID, TEMPORAL, BM25, CONTEXT_AWARE),
    SEMANTIC: (HYBRID, SEMANTIC_GRAPH, BM25, FUZZY),
    PROCEDURAL: (HYBRID, BM25),
    WORKING: (STRING_MATCH,),
}

agents = st.dictionaries(
    st.sampled_from(MemoryType),
    st.lists(st.sampled_from(RetrievalStrategy), min_size=1, unique=True).map(tuple),
    min_size=1,
)
queries = st.text(min_size=1).filter(str.strip)


def request(text: str, **given: object) -> RetrievalRequest:
    return replace(RetrievalRequest(text, "ada"), **given)  # type: ignore[arg-type]


def route(asked: RetrievalRequest, strategies: Strategies) -> RoutingResult:
    return asyncio.run(Router(strategies).route(asked))


def by_chat(query: str, *lines: str | Exception, **given: object) -> RoutingResult:
    return asyncio.run(Router(AGENTS, ScriptedChat(*lines)).route(request(query, **given)))


def holds(result: RoutingResult, strategies: Strategies) -> None:
    """What is so of every decision."""
    decision = result.decision
    targets, weights = decision.target_memory_types, decision.strategy_weights
    assert targets
    assert len(set(targets)) == len(targets)
    assert set(weights) == set(decision.selected_strategies) == set(targets)
    assert all(MIN_WEIGHTS[target] <= weights[target] <= 1 for target in targets) or result.method == "given"
    assert all(chosen in strategies[target] for target, chosen in decision.selected_strategies.items())
    assert decision.reasons
    assert all(reason.strip() for reason in decision.reasons)
    assert 0 <= decision.confidence <= 1


@given(queries, agents)
def test_any_text_is_routed_to_every_agent(query: str, strategies: Strategies):
    result = route(request(query), strategies)
    holds(result, strategies)
    assert set(result.decision.target_memory_types) == set(strategies)
    assert result == route(request(query), strategies)
    assert (result.method, result.fallback_reason) == ("rules", None)


@given(queries, agents, st.sampled_from(RetrievalStrategy), st.data())
def test_what_the_request_names_is_kept(
    query: str, strategies: Strategies, preferred: RetrievalStrategy, data: st.DataObject
):
    types = data.draw(st.lists(st.sampled_from(sorted(strategies)), min_size=1, unique=True).map(tuple))
    only_types = route(request(query, target_memory_types=types), strategies)
    only_strategy = route(request(query, preferred_strategy=preferred), strategies)
    both = route(request(query, target_memory_types=types, preferred_strategy=preferred), strategies)
    for result in (only_types, only_strategy, both):
        holds(result, strategies)
    assert set(only_types.decision.target_memory_types) == set(types)
    for target, chosen in only_strategy.decision.selected_strategies.items():
        assert chosen is (preferred if preferred in strategies[target] else strategies[target][0])
    assert both.decision.target_memory_types == types
    assert [only_types.method, only_strategy.method, both.method] == ["rules", "rules", "given"]


@given(queries, st.text())
def test_whatever_a_chat_model_says_is_a_decision(query: str, reply: str):
    holds(by_chat(query, reply), AGENTS)


@pytest.mark.parametrize(
    ("query", "memory_type"),
    [
        ("What is my favourite colour?", CORE),
        ("我喜歡什麼顏色", CORE),
        ("When did the roof leak?", EPISODIC),
        ("阿琳上个月跟我说了什么", EPISODIC),
        ("Where does Odile live?", SEMANTIC),
        ("什么是机会成本", SEMANTIC),
        ("How do I bleed a radiator?", PROCEDURAL),
        ("散热器怎么放气", PROCEDURAL),
        ("Where were we?", WORKING),
        ("我们刚才说到哪儿了", WORKING),
    ],
)
def test_words_put_a_type_first(query: str, memory_type: MemoryType):
    assert route(request(query), AGENTS).decision.target_memory_types[0] is memory_type


def test_a_reason_quotes_the_words_that_speak_for_a_type():
    decision = route(request("How do I bleed a radiator?"), AGENTS).decision
    assert decision.reasons[0] == 'procedural: the query asks how something is done ("How do I").'


def test_where_no_words_speak_for_a_type_each_has_its_least_weight():
    decision = route(request("salt"), AGENTS).decision
    assert decision.strategy_weights == {target: MIN_WEIGHTS[target] for target in AGENTS}
    assert decision.confidence == 0
    assert decision.reasons == (
        "No words of the query point to a memory type, so each has its least weight.",
    )


def test_a_lacking_strategy_is_replaced_by_the_default_and_the_reasons_say_so():
    decision = route(request("salt", preferred_strategy=BM25), AGENTS).decision
    assert decision.selected_strategies[EPISODIC] is BM25
    assert decision.selected_strategies[WORKING] is STRING_MATCH
    assert "Search by bm25 in semantic, episodic, procedural: the request prefers it." in decision.reasons
    lacking = "Search by string_match in working: bm25 is not among what the agent implements (string_match)."
    assert lacking in decision.reasons


def test_names_in_plain_text_are_read_as_the_types_they_name():
    decision = route(request("salt", target_memory_types=("core", "core")), AGENTS).decision
    assert decision.target_memory_types == (CORE,)


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({"query": ""}, "query is empty"),
        ({"query": " \n"}, "query is empty"),
        ({"target_memory_types": ("dreams",)}, "unknown memory type 'dreams'; use one of: core, episodic"),
        ({"target_memory_types": ()}, "target_memory_types is empty"),
        ({"preferred_strategy": "magic"}, "unknown retrieval strategy 'magic'; use one of: embedding, bm25"),
    ],
)
async def test_what_cannot_be_routed_is_refused(given: dict[str, object], told: str):
    asked = request("salt", **given)
    for router in (Router(AGENTS), Router(AGENTS, ScriptedChat())):
        with pytest.raises(InputError, match=told):
            await router.route(asked)


def test_a_type_without_an_agent_is_refused():
    with pytest.raises(InputError, match="no agent keeps working memories; there are agents for: core"):
        route(request("salt", target_memory_types=(WORKING,)), {CORE: (BM25,)})


@pytest.mark.parametrize("strategies", [{}, {CORE: ()}])
def test_without_an_agent_that_can_search_nothing_is_routed(strategies: Strategies):
    with pytest.raises(InputError, match="no memory agent to ask, or one without a strategy"):
        route(request("salt"), strategies)


def test_a_chat_model_rates_the_types():
    result = by_chat(
        "salt", "working: 3 string_match\n**Episodic**: 9/10 (temporal)\nbecause: it was said once"
    )
    decision = result.decision
    assert (result.method, result.fallback_reason) == ("chat", None)
    assert decision.target_memory_types == (EPISODIC, WORKING, SEMANTIC, CORE, PROCEDURAL)
    assert decision.strategy_weights[WORKING] == pytest.approx(weight(WORKING, 3.0))
    assert decision.selected_strategies[EPISODIC] is TEMPORAL
    assert decision.confidence == pytest.approx(9 / 12)
    assert decision.reasons == (
        "episodic: the chat model rates it 9 of 10.",
        "working: the chat model rates it 3 of 10.",
        "Search by temporal in episodic: the chat model chose it.",
        "Search by string_match in working: the chat model chose it.",
        'The chat model says: "it was said once"',
    )


def test_what_a_chat_model_says_is_checked():
    reply = "dreams: 9 hybrid\nsemantic: 11 hybrid\nworking: 5 magic\nworking: 9\nbecause: " + "x" * 1000
    decision = by_chat("salt", reply).decision
    assert decision.target_memory_types[0] is WORKING
    assert decision.strategy_weights[SEMANTIC] == MIN_WEIGHTS[SEMANTIC]
    assert decision.selected_strategies[WORKING] is STRING_MATCH
    assert any("magic is not among" in reason for reason in decision.reasons)
    assert all(len(reason) < MAX_REASON + 40 for reason in decision.reasons)


def test_a_rating_without_a_strategy_leaves_the_line_below_alone():
    decision = by_chat("salt", "working: 4\nepisodic: 9\nbecause: it was said").decision
    assert decision.target_memory_types[:2] == (EPISODIC, WORKING)
    assert decision.selected_strategies[EPISODIC] is HYBRID
    assert not any("not among" in reason for reason in decision.reasons)


def test_a_chat_model_decides_only_what_the_request_leaves_open():
    reply = "core: 9 embedding\nworking: 2 string_match"
    limited = by_chat("salt", reply, target_memory_types=(WORKING, EPISODIC)).decision
    assert limited.target_memory_types == (WORKING, EPISODIC)
    assert by_chat("salt", reply, preferred_strategy=BM25).decision.selected_strategies[PROCEDURAL] is BM25
    settled = by_chat("salt", target_memory_types=(WORKING,), preferred_strategy=BM25)
    assert (settled.method, settled.decision.strategy_weights) == ("given", {WORKING: 1.0})


@pytest.mark.parametrize(
    ("line", "told"),
    [
        (ModelError("the endpoint is gone"), "the endpoint is gone"),
        ("I cannot help with that.", "rated none of the memory types"),
        ("core: 0 string_match", "rated none of the memory types"),
        ("core: " + "9" * 5000, "rated none of the memory types"),
    ],
)
def test_the_rules_decide_where_the_chat_model_does_not(line: str | Exception, told: str):
    result = by_chat("How do I bleed a radiator?", line)
    assert result.method == "rules"
    assert told in str(result.fallback_reason)
    assert result.decision == route(request("How do I bleed a radiator?"), AGENTS).decision


async def test_the_ways_to_search_are_listed():
    chat = ScriptedChat("core: 9")
    await Router(AGENTS, chat).route(request("Who am I?", target_memory_types=(CORE,)))
    ((_, asked),) = chat.prompts
    assert asked.endswith("core: string_match, embedding")
