from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from agentic_rag.errors import InputError
from agentic_rag_lab.designs.conversation import Conversation, Dialog, Question, Session
from agentic_rag_lab.evaluation.bench.figures import figures, latest, progress_curve, summary
from agentic_rag_lab.evaluation.bench.records import QuestionRecord, RunRecords, record_of, turns_of

TURNS = tuple(f"D1:{n}" for n in range(1, 31))
CONVERSATION = Conversation(
    "c", (Session(1, tuple(Dialog(speaker="A", text=t, date_time="") for t in TURNS), TURNS),), ()
)


def memory(start: int, length: int = 2, **more: Any) -> dict[str, Any]:
    return {"text": f"turns {start}", "entry_id": str(start), "score": None, "metadata": {"sources": [[1, start, length]]}, **more}  # fmt: skip


def question(category: str = "single-hop", evidence: tuple[str, ...] = ("D1:1", "D1:30")) -> Question:
    return Question(7, "what?", "tea", category, evidence)


def result(*memories: dict[str, Any], **more: Any) -> dict[str, Any]:
    answered = {"predicted_answer": "tea", "is_correct": True, "f1": 1.0, "exact_match": 1.0, "judge": None}
    return {"status": "ok", "reason": None, "memory_data": list(memories), **answered, **more}


def record(**keys: Any) -> QuestionRecord:
    asked = keys.pop("question", question())
    returns_all = keys.pop("returns_all", False)
    given = keys.pop("result", result(memory(0)))
    return record_of(CONVERSATION, asked, 3, given, returns_all=returns_all, tokens=5)


def test_recall_is_the_share_of_evidence_turns_in_the_memories():
    assert record(result=result(memory(0), memory(4))).recall == 1 / 2
    assert record(result=result(memory(0), memory(28))).recall == 1.0
    assert record(result=result(memory(2))).recall == 0.0


def test_only_the_first_ten_memories_count_unless_the_service_returns_all():
    many = [memory(2 * n) for n in range(15)]
    assert record(result=result(*many)).recall == 1 / 2
    assert record(result=result(*many), returns_all=True).recall == 1.0


@pytest.mark.parametrize(("category", "evidence"), [("adversarial", ("D1:1",)), ("single-hop", ())])
def test_no_recall_where_there_is_nothing_to_recall(category: str, evidence: tuple[str, ...]):
    assert record(question=question(category, evidence)).recall is None


def test_a_merged_memory_holds_the_turns_of_all_its_sources():
    merged = {"metadata": {"sources": [[1, 0, 2], [1, 1, 2], [9, 0, 2]]}}
    assert turns_of(CONVERSATION, merged) == ("D1:1", "D1:2", "D1:3")
    assert turns_of(CONVERSATION, {"metadata": None}) == ()


def test_a_failed_question_scores_nothing_and_keeps_its_reason():
    failed = record(result={"status": "failed", "reason": "ModelError: busy", "memory_data": [memory(0)]})
    assert (failed.f1, failed.exact_match, failed.is_correct, failed.recall) == (0.0, 0.0, False, 0.5)
    assert failed.reason == "ModelError: busy"
    assert failed.predicted_answer is None


def test_degraded_steps_are_noted():
    step = {"action": "rerank", "type": "semantic", "status": "degraded", "reason": "no query embedding"}
    assert record(result=result(post_retrieval=[step])).degraded == ("rerank: no query embedding",)


def test_records_come_back_as_they_were_kept(tmp_path: Path):
    kept = RunRecords(tmp_path / "c", "mark", fresh=False)
    one = record(result=result(memory(0, score=0.123456789)))
    kept.add(one, {"MemoryTest": 1.5})
    again = RunRecords(tmp_path / "c", "mark", fresh=False)
    assert again.get(7, 3) == one
    assert again.get(7, 4) is None
    assert again.times() == [{"MemoryTest": 1.5}]
    assert one.memories[0]["score"] == 0.123457


def test_no_clock_stands_in_the_records(tmp_path: Path):
    for name, milliseconds in (("a", 1.0), ("b", 2.0)):
        RunRecords(tmp_path / name, "mark", fresh=False).add(record(), {"MemoryTest": milliseconds})
    first, second = ((tmp_path / name / "records.jsonl").read_bytes() for name in ("a", "b"))
    assert first == second


def test_records_of_another_run_are_refused(tmp_path: Path):
    RunRecords(tmp_path, "mark", fresh=False).add(record(), {})
    with pytest.raises(InputError, match="--fresh"):
        RunRecords(tmp_path, "other", fresh=False)
    assert RunRecords(tmp_path, "other", fresh=True).get(7, 3) is None


def test_a_line_that_was_cut_off_is_asked_again(tmp_path: Path):
    RunRecords(tmp_path, "mark", fresh=False).add(record(), {})
    file = tmp_path / "records.jsonl"
    whole = file.read_bytes()
    file.write_bytes(whole + whole.split(b"\n")[1][:40])
    kept = RunRecords(tmp_path, "mark", fresh=False)
    assert kept.get(7, 3) is not None
    assert file.read_bytes() == whole


def test_a_line_that_is_no_record_is_refused(tmp_path: Path):
    RunRecords(tmp_path, "mark", fresh=False).add(record(), {})
    with (tmp_path / "records.jsonl").open("a") as file:
        file.write(json.dumps({"task": "c"}) + "\n")
    with pytest.raises(InputError, match="no record of the memory benchmark"):
        RunRecords(tmp_path, "mark", fresh=False)


def scored(
    number: int, category: str, f1: float, *, packet: int = 0, status: str = "ok", recall: float | None = None
):
    return QuestionRecord(
        task="c", question_id=number, tested_after=packet, category=category, question="?", answer="tea",
        evidence=(), status=status, reason=None if status == "ok" else "broken", memories=({"text": "tea"},),
        recall=recall, history_tokens=10, predicted_answer="tea", is_correct=f1 >= 0.5, f1=f1,
        exact_match=float(f1 == 1), judge=None, degraded=(),
    )  # fmt: skip


RECORDS = [
    scored(1, "single-hop", 1.0, recall=1.0),
    scored(2, "single-hop", 0.0, status="failed", recall=0.0),
    scored(3, "adversarial", 0.5, packet=4),
]


def test_a_failed_question_stays_in_the_denominator():
    assert figures(RECORDS) == {
        "questions": 3, "f1": 0.5, "f1_answerable": 0.5, "exact_match": 0.3333, "correct": 0.6667,
        "evidence_recall@10": 0.5, "evidence_questions": 2,
    }  # fmt: skip
    found = summary(RECORDS, [{"MemoryTest": 2.0}, {"MemoryTest": 4.0}])
    assert (found["questions"], found["tested"], found["failed"]) == (3, 2, 1)
    assert found["by_category"]["single-hop"]["questions"] == 2
    assert found["reasons"] == {"broken": 1}
    assert found["cost"]["milliseconds"]["p50"] == 3.0


def test_the_baselines_stand_beside():
    baselines = summary(RECORDS, [])["baselines"]
    assert baselines["not_mentioned"]["f1"] == 0.3333  # right on the adversarial question alone
    assert baselines["first_memory"]["f1"] == 0.6667  # "tea" is the answer of the other two


def test_of_a_question_asked_again_the_last_record_counts():
    again = [scored(1, "single-hop", 0.0), scored(1, "single-hop", 1.0, packet=5)]
    assert [r.f1 for r in latest(again)] == [1.0]
    assert [(p["packet"], p["f1"]) for p in progress_curve(again)] == [(0, 0.0), (5, 1.0)]
