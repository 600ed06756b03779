from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from agentic_rag.errors import InputError
from agentic_rag_lab.evaluation.bench.comparing import comparison, read_runs
from agentic_rag_lab.evaluation.bench.figures import beam_figures, summary
from agentic_rag_lab.evaluation.bench.records import QuestionRecord, RunRecords


def run(folder: Path, config: str, f1: list[float]) -> Path:
    records = RunRecords(folder / "c", "mark", fresh=False)
    made = [
        QuestionRecord(
            task="c", question_id=number, tested_after=0, category="single-hop" if number % 2 else "temporal",
            question="?", answer="tea", evidence=("D1:1",), status="ok", reason=None, memories=(), recall=value,
            history_tokens=10, predicted_answer="tea", is_correct=value >= 0.5, f1=value, exact_match=0.0,
            judge=None, degraded=(),
        )
        for number, value in enumerate(f1, start=1)
    ]  # fmt: skip
    for record in made:
        records.add(record, {"MemoryTest": 1.0})
    found: dict[str, Any] = {"task": "c", "config": config, "service": "s", "reader": "extractive", "inserts": {"c": {}}, **summary(made, records.times())}  # fmt: skip
    (folder / "summary.json").write_text(json.dumps(found), encoding="utf-8")
    return folder


def test_runs_are_tested_on_the_questions_they_share(tmp_path: Path):
    weak, strong = run(tmp_path / "a", "weak", [0.0] * 20), run(tmp_path / "b", "strong", [1.0] * 18)
    first, second = comparison(read_runs([weak, strong]))["runs"]
    assert first["against_first"] == {}
    test = second["against_first"]["f1"]
    assert (test["difference"], test["questions"]) == (1.0, 18)
    assert test["p_holm"] < 0.001
    same = comparison(read_runs([weak, run(tmp_path / "c", "same", [0.0] * 20)]))["runs"][1]
    assert same["against_first"]["f1"]["p_holm"] == 1.0


def test_runs_of_one_design_get_a_number(tmp_path: Path):
    folders = [run(tmp_path / name, "design", [0.5]) for name in "ab"]
    assert [r.name for r in read_runs(folders)] == ["design", "design (2)"]


def test_a_run_that_was_begun_and_not_ended_is_left_out_and_told(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
):
    begun, done = tmp_path / "begun", run(tmp_path / "done", "design", [0.5])
    begun.mkdir()
    assert [r.name for r in read_runs([begun, done])] == ["design"]
    assert f"{begun} holds no finished run and is left out" in caplog.text
    for folders in ([begun], [done, tmp_path / "nowhere"]):
        with pytest.raises(InputError, match="holds no finished run"):
            read_runs(folders)


def test_pictures_of_a_comparison(tmp_path: Path):
    pytest.importorskip("matplotlib")
    from agentic_rag_lab.evaluation.pictures import draw, of_runs

    runs = read_runs(
        [run(tmp_path / "a", "a", [0.0, 1.0, 0.5]), run(tmp_path / "b", "b $x$", [0.5, 0.5, 0.5])]
    )
    files = draw(of_runs(runs), tmp_path / "charts")
    assert [file.name for file in files] == ["quality.png", "cost.png"]
    assert all(file.stat().st_size > 10_000 for file in files)


@pytest.mark.parametrize("text", [None, "no json", "[]", '{"config": "x"}'])
def test_what_is_no_run_is_refused(tmp_path: Path, text: str | None):
    if text is not None:
        (tmp_path / "summary.json").write_text(text, encoding="utf-8")
    with pytest.raises(InputError, match="that bench has named"):
        read_runs([tmp_path])


def test_nothing_to_compare_is_refused():
    with pytest.raises(InputError, match="no run"):
        read_runs([])


def beam_record(number: int, kind: str, found: tuple[str, ...], **changes: Any) -> QuestionRecord:
    values: dict[str, Any] = {
        "task": "100K/1", "question_id": number, "tested_after": 9, "category": kind, "question": "?", "answer": "x",
        "evidence": ("4", "10"), "status": "ok", "reason": None,
        "memories": tuple({"text": "t", "turns": [turn]} for turn in found), "recall": None, "history_tokens": 1,
        "predicted_answer": "x", "is_correct": False, "f1": 0.0, "exact_match": 0.0, "judge": None, "degraded": (),
        "evidence_sets": (("4",), ("10",)),
    }  # fmt: skip
    return QuestionRecord(**{**values, **changes})


def test_beam_is_scored_by_what_the_records_hold():
    refused = {"predicted_answer": "Not mentioned in the conversation"}
    records = [
        beam_record(1, "knowledge_update", ("10", "10", "3"), rubric_met=0.5),
        beam_record(2, "temporal_reasoning", ("10", "4"), rubric_met=1.0),
        beam_record(3, "abstention", (), evidence=(), evidence_sets=(), **refused),
    ]
    found = beam_figures(records)
    assert found is not None
    assert found["by_kind"]["knowledge_update"]["recall@10"] == 0.5
    assert found["by_kind"]["knowledge_update"]["newer@10"] == 1.0
    assert found["six_kinds"]["both@10"] == 0.5
    assert found["abstention"] == {"unanswerable": 1, "abstained": 1.0, "answerable": 2, "refused": 0.0}
    assert found["rubric"] == {"overall": 0.75, "knowledge_update": 0.5, "temporal_reasoning": 1.0}
    assert "beam" in summary(records, [{}])
    assert beam_figures([]) is None


def test_other_records_have_no_figures_of_beam(tmp_path: Path):
    (first,) = read_runs([run(tmp_path / "a", "a", [0.5])])
    assert beam_figures(first.records) is None
    assert "beam" not in first.summary
