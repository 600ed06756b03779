"""BEAM's scores on questions with hand-computed values."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentic_rag_lab.evaluation.beam import Question
from agentic_rag_lab.evaluation.beam_scores import both_found, newer_found, order, recall_at, score
from agentic_rag_lab.sources.beam import EVENT_ORDERING, KINDS, SUMMARIZATION


def question(kind: str, *sources: str, sets: tuple[tuple[str, ...], ...] = (), of: str = "c") -> Question:
    return Question(f"{of}/{kind}-1", of, kind, "?", None, sources, sets)


TWO = question("knowledge_update", "a", "b", "c", sets=(("a", "b"), ("c",)))
EVENTS = question(EVENT_ORDERING, "a", "b", "c")


def test_recall_looks_at_the_first_k():
    ranking = [*"123456789", "a", "b"]
    assert recall_at(TWO, ranking, 10) == 1 / 3
    assert recall_at(TWO, ranking, 20) == 2 / 3
    assert recall_at(question("abstention"), ranking, 10) is None


@pytest.mark.parametrize(
    ("ranking", "both", "newer"), [("bc", 1.0, 1.0), ("c", 0.0, 1.0), ("ab", 0.0, 0.0), ("", 0.0, 0.0)]
)
def test_a_set_is_found_by_one_of_its_messages(ranking: str, both: float, newer: float):
    assert both_found(TWO, list(ranking)) == both
    assert newer_found(TWO, list(ranking)) == newer


def test_questions_without_sets_have_no_figure_of_both():
    assert both_found(EVENTS, ["a"]) is newer_found(EVENTS, ["a"]) is None


@pytest.mark.parametrize(
    ("ranking", "tau"), [("axbc", 1.0), ("cba", -1.0), ("acb", 1 / 3), ("xa", None), ("", None)]
)
def test_order_is_that_of_what_was_found(ranking: str, tau: float | None):
    assert order(EVENTS, list(ranking)) == (None if tau is None else pytest.approx(tau))


def test_only_events_have_an_order():
    assert order(question(SUMMARIZATION, "a", "b"), ["a", "b"]) is None


def test_conversations_count_alike_whatever_their_number_of_questions():
    kind = "information_extraction"
    asked = [question(kind, "a"), question(kind, "b"), question(kind, "c", of="d"), question("abstention")]
    found = score(asked, [["a"], ["a"], [], []], [False, True, False, True])
    assert found["conversations"] == 2
    assert found["by_kind"][kind]["recall@10"] == ((1 + 0) / 2 + 0) / 2
    assert found["by_conversation"]["c"]["recall@10"] == 1 / 2
    assert found["six_kinds"]["recall@10"] == 1 / 4
    assert found["by_kind"]["abstention"]["recall@10"] is None
    assert found["abstention"] == {"unanswerable": 1, "abstained": 1.0, "answerable": 3, "refused": 0.333333}


def test_the_kinds_of_a_conversation_count_alike():
    asked = [question("information_extraction", "a"), question("preference_following", "b"), TWO, EVENTS]
    found = score(asked, [["a"], [], ["c"], ["a"]])
    assert found["six_kinds"] == {
        "recall@10": round((1 + 0 + 1 / 3) / 3, 6), "recall@20": round((1 + 0 + 1 / 3) / 3, 6),
        "both@10": 0.0, "newer@10": 1.0,
    }  # fmt: skip
    assert found["abstention"] is None


def test_a_question_without_sources_is_in_no_mean():
    kind = "preference_following"
    found = score([question(kind), question(kind, "a")], [["x"], ["a", "a"]])
    assert found["by_kind"][kind]["recall@10"] == 1.0
    assert (found["by_kind"][kind]["questions"], found["by_kind"][kind]["with_sources"]) == (2, 1)


def test_nothing_asked_gives_no_figure():
    found = score([], [])
    assert found["six_kinds"] == dict.fromkeys(("recall@10", "recall@20", "both@10", "newer@10"))


@given(st.sampled_from(KINDS), st.lists(st.sampled_from("abcdefg"), max_size=30))
def test_figures_stay_within_their_bounds(kind: str, ranking: list[str]):
    asked = question(kind, "a", "b", "c", sets=(("a",), ("b", "c")))
    found = score([asked], [ranking])["by_kind"][kind]
    assert 0 <= found["recall@10"] <= found["recall@20"] <= 1
    assert found["both@10"] <= found["newer@10"]
    assert found["tau"] is None or -1 <= found["tau"] <= 1
