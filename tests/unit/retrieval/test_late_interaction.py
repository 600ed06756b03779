"""Late interaction: tokens separate passages, and decide whether any has the asked words; without them nothing changes."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentic_rag.domain import Chunk
from agentic_rag.domain.ports import EmbeddedDocument
from agentic_rag.domain.token_vectors import QuestionTokens, similarities
from agentic_rag.errors import ModelError, StoreError
from agentic_rag.retrieval.late_interaction import (
    ACROSS,
    DOUBT,
    FAMILIAR,
    MAX_LIFT,
    NAME_RELEVANCE,
    STANDING_OUT,
    UNFAMILIAR,
    USUAL,
    WEIGHT,
    LateInteraction,
    judged_by_tokens,
)
from agentic_rag.retrieval.schemas import JudgedResults, Leg, RetrievalResult
from agentic_rag.stores.in_memory import InMemoryChunkStore
from agentic_rag.testing import TokenHashingEmbedding, fake_chunk

ABOUT_NOTHING = "what is it?"
"""Names nothing, so that no passage is lifted for what it names."""
NEAR = st.dictionaries(st.sampled_from("abcdef"), st.floats(-1.0, 1.0), min_size=1)
SCORES = st.dictionaries(st.sampled_from("abcdef"), st.floats(0.01, 0.99), min_size=1)


def result(name: str, score: float, text: str = "", **fields: Any) -> RetrievalResult:
    return RetrievalResult(fake_chunk(name, text or "leaves", **fields), score, {"dense": Leg(1, 0.8)})


def judged(
    scores: dict[str, float],
    near: dict[str, float] | None = None,
    together: float | None = 1.0,
    question: str = ABOUT_NOTHING,
) -> dict[str, float]:
    """Scores by document, in their order."""
    results = [result(name, score) for name, score in scores.items()]
    by_id = {f"{name}#0": value for name, value in (near or {}).items()}
    found = judged_by_tokens(question, results, by_id, together if near else None)
    return {one.chunk.document_id: one.score for one in found}


def named(question: str, *results: RetrievalResult) -> dict[str, float]:
    return {one.chunk.document_id: one.score for one in judged_by_tokens(question, results, {}, None)}


def odds(probability: float) -> float:
    return math.log(probability / (1 - probability))


def logistic(value: float) -> float:
    return 1 / (1 + math.exp(-value))


@pytest.mark.parametrize(
    ("question", "text", "usual"),
    [("它在哪里？", "tea leaves", 0.395), ("where is it?", "茶叶在仓库里放着", 0.45), ("where is it?", "leaves", None)],
)  # fmt: skip
@pytest.mark.parametrize("nearest", [0.55, 0.3])
def test_across_scripts_all_rise_or_fall_with_the_nearest_tokens(
    question: str, text: str, usual: float | None, nearest: float
):
    results = [result(name, 0.3, text) for name in "abc"]
    near = {"a#0": nearest, "b#0": nearest - 0.1, "c#0": nearest - 0.2}
    found = judged_by_tokens(question, results, near, 1.0)
    rise = 0.0 if usual is None else 10 * ACROSS * (nearest - usual)
    assert odds(found[0].score) == pytest.approx(odds(0.3) + rise)


def test_across_scripts_all_rise_with_what_the_nearest_by_tokens_exceeds_the_median_cosine_by():
    cosines = {"a": 0.8, "b": 0.84, "c": 0.79}
    results = [
        replace(result(name, 0.3, "茶叶在仓库里放着"), legs={"dense": Leg(rank, cosine)})
        for rank, (name, cosine) in enumerate(cosines.items(), start=1)
    ]
    unfound = replace(result("d", 0.3, "茶叶在仓库里放着"), legs={"sparse": Leg(1, 7.0)})

    def rise(nearest: str) -> float:
        near = {f"{name}#0": 0.5 if name == nearest else 0.2 for name in "abcd"}
        found = judged_by_tokens("where is it?", [*results, unfound], near, 1.0)
        return odds(found[0].score) - odds(0.3) - 10 * ACROSS * (0.5 - USUAL["latin_cjk"])

    assert rise("b") == pytest.approx(10 * STANDING_OUT * 0.04)
    assert rise("c") == pytest.approx(-10 * STANDING_OUT * 0.01)
    assert rise("d") == pytest.approx(0.0)  # found by its words alone


def test_a_passage_falls_by_how_far_its_tokens_lie_behind():
    # The best is as likely as not: a tenth of a cosine weighs .5 · (1 + 16 · .5) = 4.5
    assert (WEIGHT, DOUBT) == (0.5, 16.0)
    found = judged({"a": 0.5, "b": 0.5, "c": 0.4}, {"a": 0.7, "b": 0.6, "c": 0.65})
    assert found == pytest.approx({"a": 0.5, "c": logistic(odds(0.4) - 2.25), "b": logistic(-4.5)})
    assert list(found) == ["a", "c", "b"]


@pytest.mark.parametrize(("best", "weight"), [(0.9, 1.3), (0.5, 4.5), (0.2, 6.9)])
def test_tokens_weigh_the_more_the_less_vector_and_words_found(best: float, weight: float):
    found = judged({"a": best, "b": best}, {"a": 0.7, "b": 0.6})
    assert odds(found["a"]) - odds(found["b"]) == pytest.approx(weight)


def test_whoever_is_best_by_tokens_gets_the_level_that_the_best_had():
    # A tenth weighs .5 · (1 + 16 · .2) = 2.1; a falls by two of them, and both rise by what b lacks of a's .8
    found = judged({"a": 0.8, "b": 0.6}, {"a": 0.4, "b": 0.6})
    assert list(found) == ["b", "a"]
    assert found["b"] == pytest.approx(0.8)
    assert odds(found["a"]) == pytest.approx(odds(0.8) - 4.2 + (odds(0.8) - odds(0.6)))


@given(SCORES, NEAR, st.floats(FAMILIAR, 1.0))
def test_the_best_relevance_stays_what_it_was(
    scores: dict[str, float], near: dict[str, float], together: float
):
    found = judged(scores, {name: near[name] for name in near if name in scores}, together)
    assert max(found.values()) == pytest.approx(max(scores.values()))


@given(SCORES, NEAR, st.floats(-1.0, 1.0))
def test_each_is_judged_once_by_relevance_then_id(
    scores: dict[str, float], near: dict[str, float], together: float
):
    results = [result(name, score) for name, score in scores.items()]
    by_id = {f"{name}#0": value for name, value in near.items() if name in scores}
    found = judged_by_tokens("what are leaves?", results, by_id, together)
    assert sorted(one.id for one in found) == sorted(one.id for one in results)
    assert found == sorted(found, key=lambda one: (-one.score, one.id))
    assert all(0.0 <= one.score <= 1.0 for one in found)
    assert {one.id: one.tokens for one in found} == {one.id: by_id.get(one.id) for one in results}
    assert all(one.legs == {"dense": Leg(1, 0.8)} for one in found)


def test_one_without_tokens_counts_as_the_median():
    near = {"a": 0.7, "b": 0.6, "c": 0.5}
    found = judged({"a": 0.5, "b": 0.3, "c": 0.3, "none": 0.3}, near)
    assert found["none"] == found["b"]
    assert found["c"] < found["none"]


def test_without_tokens_the_judgement_is_as_it_was():
    assert judged({"b": 0.8, "a": 0.3}) == pytest.approx({"b": 0.8, "a": 0.3})
    assert judged_by_tokens(ABOUT_NOTHING, [result("a", 0.3)], {}, None)[0].tokens is None


def test_what_no_passage_speaks_of_makes_all_less_relevant():
    scores, near = {"a": 0.8, "b": 0.6}, {"a": 0.7, "b": 0.6}
    familiar = judged(scores, near, FAMILIAR)
    assert judged(scores, near, 1.0) == familiar
    strange = judged(scores, near, FAMILIAR - 0.15)
    fallen = {name: odds(familiar[name]) - odds(strange[name]) for name in scores}
    assert fallen == pytest.approx({"a": 1.5 * UNFAMILIAR, "b": 1.5 * UNFAMILIAR})


OOLONG, GREEN = "Oolong is half oxidised.", "Green is not."


def test_a_passage_that_names_all_that_is_asked_about_is_as_likely_as_not():
    found = named(
        "What is oolong?", result("other", 0.3, GREEN), result("oolong", 0.1, OOLONG), result("c", 0.2, GREEN)
    )
    assert list(found) == ["oolong", "other", "c"]
    assert found == pytest.approx(
        {"oolong": logistic(odds(NAME_RELEVANCE) + MAX_LIFT * 0.1), "other": 0.3, "c": 0.2}
    )


def test_one_that_has_only_some_of_the_words_is_not_lifted():
    assert named("What is oolong from Fujian?", result("a", 0.1, OOLONG)) == pytest.approx({"a": 0.1})


def test_what_is_relevant_already_stays_as_it_is():
    assert named("What is oolong?", result("a", 0.9, OOLONG)) == pytest.approx({"a": 0.9})


def test_title_and_headings_name_too():
    titled, headed = result("a", 0.1, title="Oolong"), result("b", 0.1, heading_path=("Oolong",))
    found = named("What is oolong?", titled, headed, result("c", 0.1), result("d", 0.1))
    assert min(found["a"], found["b"]) > NAME_RELEVANCE > max(found["c"], found["d"])


def test_tokens_do_not_take_back_what_a_passage_names():
    results = [result("oolong", 0.1, OOLONG), result("green", 0.6, GREEN)]
    found = judged_by_tokens("What is oolong?", results, {"oolong#0": 0.3, "green#0": 0.7}, 0.1)
    assert [one.chunk.document_id for one in found] == ["oolong", "green"]
    assert found[0].score >= NAME_RELEVANCE


@pytest.mark.parametrize(("having", "of"), [(1, 1), (1, 3), (2, 4), (3, 9)])
def test_up_to_the_square_root_of_all_may_name_it(having: int, of: int):
    results = [result(f"d{n}", 0.1, OOLONG if n < having else GREEN) for n in range(of)]
    found = named("What is oolong?", *results)
    assert sum(score > NAME_RELEVANCE for score in found.values()) == having


@pytest.mark.parametrize(("having", "of"), [(2, 2), (2, 3), (3, 8), (9, 9)])
def test_words_that_more_of_them_have_name_nothing(having: int, of: int):
    results = [result(f"d{n}", 0.1, OOLONG if n < having else GREEN) for n in range(of)]
    assert list(named("What is oolong?", *results).values()) == pytest.approx([0.1] * of)


def test_those_that_are_lifted_keep_their_order():
    results = [
        result("a", 0.1, OOLONG),
        result("b", 0.4, OOLONG),
        result("c", 0.2, GREEN),
        result("d", 0.2, GREEN),
    ]
    found = named("What is oolong?", *results)
    assert list(found) == ["b", "a", "c", "d"]
    assert logistic(odds(NAME_RELEVANCE) + MAX_LIFT) > found["b"] > found["a"] > NAME_RELEVANCE


def test_no_turn_of_a_dialogue_is_lifted_and_each_counts_among_those_that_name_it():
    note, turn = result("note", 0.1, OOLONG), result("turn", 0.1, OOLONG, kind="turn")
    others = [result(f"d{n}", 0.05, GREEN) for n in range(2)]
    assert named("What is oolong?", turn, *others)["turn"] == pytest.approx(0.1)
    assert named("What is oolong?", note, turn, *others)["note"] > NAME_RELEVANCE
    assert named("What is oolong?", note, turn, others[0])["note"] == pytest.approx(0.1)


@pytest.mark.parametrize("question", ["what is it?", "When did they roast oolong?", "什么是？", "???"])
def test_a_question_that_names_nothing_lifts_nothing(question: str):
    assert named(question, result("a", 0.1, "It is when they roast oolong.")) == pytest.approx({"a": 0.1})


TEA = [
    fake_chunk("tea", "Oolong tea comes from Fujian."),
    fake_chunk("milk", "Milk tea is sweet and cold."),
    fake_chunk("train", "The railway station closes at midnight."),
]


class Counting(InMemoryChunkStore):
    """Counts how often tokens are read, and fails where it is told to."""

    reads, error = 0, False

    async def get_token_vectors(self, dataset: str, chunk_ids: Any) -> dict[str, bytes]:
        self.reads += 1
        if self.error:
            raise StoreError("disk gone")
        return await super().get_token_vectors(dataset, chunk_ids)


async def stored(embedding: TokenHashingEmbedding, *without: Chunk) -> Counting:
    store = Counting(dimension=embedding.dimension)
    for chunk in TEA:
        made = await embedding.embed_passage_tokens([chunk.text])
        kept = () if chunk in without else made.tokens
        document = EmbeddedDocument(chunk.document_id, (chunk,), made.vectors, kept)
        await store.replace_documents("notes", [document])
    return store


FOUND = [RetrievalResult(chunk, score, {}) for chunk, score in zip(TEA, (0.3, 0.5, 0.4), strict=True)]
QUESTION = "oolong from Fujian"


async def test_results_are_judged_by_the_tokens_in_the_store():
    embedding = TokenHashingEmbedding()
    store = await stored(embedding)
    found = await LateInteraction(embedding, store).judge("notes", QUESTION, FOUND)
    packed = await store.get_token_vectors("notes", [chunk.id for chunk in TEA])
    near = similarities(await embedding.question_tokens(QUESTION), list(packed.values()))
    by_id = dict(zip(packed, near.each, strict=True))
    assert found == JudgedResults(judged_by_tokens(QUESTION, FOUND, by_id, near.together), near.together)
    assert found.results[0].id == "tea#0"
    assert {one.id: one.tokens for one in found.results} == by_id


async def test_one_whose_tokens_are_missing_is_told_so():
    embedding = TokenHashingEmbedding()
    store = await stored(embedding, TEA[1])
    found = await LateInteraction(embedding, store).judge("notes", QUESTION, FOUND)
    assert {one.id for one in found.results if one.tokens is None} == {"milk#0"}
    assert found.familiarity is not None


async def test_a_store_without_tokens_leaves_the_scores_as_they_were():
    embedding = TokenHashingEmbedding()
    store = await stored(embedding, *TEA)
    found = await LateInteraction(embedding, store).judge("notes", ABOUT_NOTHING, FOUND)
    assert found.familiarity is None
    assert [(one.id, one.tokens) for one in found.results] == [
        ("milk#0", None),
        ("train#0", None),
        ("tea#0", None),
    ]
    assert [one.score for one in found.results] == pytest.approx([0.5, 0.4, 0.3])


async def test_a_model_that_tells_no_tokens_reads_none():
    store = await stored(TokenHashingEmbedding())
    found = await LateInteraction(None, store).judge("notes", ABOUT_NOTHING, FOUND)
    assert (found.familiarity, store.reads) == (None, 0)
    assert {one.id: one.score for one in found.results} == pytest.approx({one.id: one.score for one in FOUND})


async def test_where_nothing_was_found_nothing_is_read():
    embedding = TokenHashingEmbedding()
    store = await stored(embedding)
    embedding.embedded_texts.clear()
    assert await LateInteraction(embedding, store).judge("notes", QUESTION, []) == JudgedResults([], None)
    assert (store.reads, embedding.embedded_texts) == (0, [])


async def test_what_cannot_be_read_or_made_is_told():
    class Broken(TokenHashingEmbedding):
        async def question_tokens(self, text: str) -> QuestionTokens:
            raise ModelError("model gone")

    store = await stored(TokenHashingEmbedding())
    with pytest.raises(ModelError, match="model gone"):
        await LateInteraction(Broken(), store).judge("notes", QUESTION, FOUND)
    store.error = True
    with pytest.raises(StoreError, match="disk gone"):
        await LateInteraction(TokenHashingEmbedding(), store).judge("notes", QUESTION, FOUND)
