"""What one gets without searching."""

from agentic_rag.evaluation.baselines import degenerate_rankings, not_mentioned
from agentic_rag.evaluation.datasets import EvalQuery

SESSIONS = {"c": [["a1", "a2"], ["b1", "b2", "b3"], []], "empty": [[]]}


def asked(number: int, conversation: str = "c") -> EvalQuery:
    return EvalQuery(f"q{number}", "t", {"a1": 1}, dataset_key=conversation)


def test_rankings_do_not_look_at_the_question():
    found = degenerate_rankings([asked(1), asked(2, "empty")], SESSIONS)
    assert found["last_session"] == [["b3", "b2", "b1"], []]
    assert found["full_context"] == [["a1", "a2", "b1", "b2", "b3"], []]
    assert sorted(found["random"][0]) == ["a1", "a2", "b1", "b2", "b3"]
    assert found["random"][1] == []
    assert degenerate_rankings([asked(1)], SESSIONS, depth=2)["last_session"] == [["b3", "b2"]]


def test_random_is_seeded_by_question():
    queries = [asked(number) for number in range(20)]
    found = degenerate_rankings(queries, SESSIONS)["random"]
    assert found == degenerate_rankings(queries, SESSIONS)["random"]
    assert found[5:6] == degenerate_rankings(queries[5:6], SESSIONS)["random"]
    assert found != degenerate_rankings(queries, SESSIONS, seed=1)["random"]
    assert len({tuple(ranking) for ranking in found}) > 5


def test_without_sessions_there_is_nothing_to_give():
    assert degenerate_rankings([asked(1)], {}) == {}


def test_always_not_mentioned():
    assert not_mentioned(1540, 446) == {
        "unanswerable_abstained": 1.0,
        "answerable_refused": 1.0,
        "right": round(446 / 1986, 6),
    }
