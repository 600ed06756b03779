"""The correction file of LoCoMo: applied, reported, and refused if it does not fit."""

import json
from pathlib import Path
from typing import Any

import pytest

from agentic_rag.errors import InputError
from agentic_rag_lab.evaluation.datasets import EvalDataset, load_dataset
from agentic_rag_lab.evaluation.locomo import repair_lines

SAMPLE = {
    "sample_id": "c",
    "conversation": {"session_1": [{"speaker": "A", "dia_id": f"D1:{n}", "text": "x"} for n in (1, 2, 3)]},
    "qa": [
        {"question": "one", "answer": "a", "evidence": ["D1:1"], "category": 4},
        {"question": "two", "evidence": ["D1:2"], "category": 5},
        {"question": "three", "answer": "c", "evidence": ["D1:3"], "category": 1},
    ],
}


def corrected(folder: Path, overlay: Any) -> EvalDataset:
    (folder / "locomo.json").write_text(json.dumps([SAMPLE]), encoding="utf-8")
    (folder / "fix.json").write_text(json.dumps(overlay), encoding="utf-8")
    return load_dataset(folder / "locomo.json", corrections=folder / "fix.json")


def test_corrections_are_applied_and_each_is_reported(tmp_path: Path):
    dataset = corrected(
        tmp_path,
        {
            "c/q1": {"evidence": ["D1:2", "D1:3"], "answer": 7, "category": "temporal"},
            "c/q2": {"category": 4},
            "c/q3": {"drop": "two answers are right"},
        },
    )
    first, second = dataset.queries
    assert first.relevant == {"c/session_1#D1:2": 1, "c/session_1#D1:3": 1}
    assert (first.fields, first.category) == ({"answer": "7"}, "temporal")
    assert (second.answerable, second.relevant) == (True, {"c/session_1#D1:2": 1})
    assert repair_lines(dataset.repairs) == [
        "c/q1: '4' → 2 (category put right by a correction)",
        "c/q1: \"['D1:1']\" → ['D1:2', 'D1:3'] (evidence put right by a correction)",
        "c/q1: 'a' → 7 (answer put right by a correction)",
        "c/q2: '5' → 4 (category put right by a correction)",
        "c/q3: dropped by a correction: two answers are right",
    ]


def test_without_corrections_nothing_changes(tmp_path: Path):
    dataset = corrected(tmp_path, {})
    assert dataset == load_dataset(tmp_path / "locomo.json")


@pytest.mark.parametrize(
    ("overlay", "told"),
    [
        ({"c/q9": {"category": 1}, "d/q1": {"category": 1}}, "does not have: c/q9, d/q1"),
        ({"c/q1": {"evidence": ["D1:1", "D1:9", "D2:1"]}}, "c/q1 names no turn: D1:9, D2:1"),
        ({"c/q1": {"evidence": []}}, "c/q1: evidence is"),
        ({"c/q1": {"evidence": "D1:1"}}, "c/q1: evidence is"),
        ({"c/q1": {"evidence": [3]}}, "c/q1: evidence is"),
        ({"c/q1": {"category": "hard"}}, r"'hard'; use one of: multi-hop \(1\)"),
        ({"c/q1": {"category": 6}}, "category is 6"),
        ({"c/q1": {"category": True}}, "category is True"),
        ({"c/q1": {"category": None}}, "category is None"),
        ({"c/q1": {"answer": ["a"]}}, "answer is"),
        ({"c/q1": {"answer": None}}, "answer is None"),
        ({"c/q1": {"drop": " "}}, "drop is ' '; give the reason"),
        ({"c/q1": {"drop": True}}, "drop is True"),
        ({"c/q1": {"remove": "x"}}, "give some of answer, evidence, category, drop"),
        ({"c/q1": {}}, "give some of"),
        ({"c/q1": "drop"}, "give some of"),
        ([], "expected an object"),
    ],
)
def test_a_correction_that_does_not_fit_is_refused_by_name(tmp_path: Path, overlay: Any, told: str):
    with pytest.raises(InputError, match=told):
        corrected(tmp_path, overlay)


def test_an_overlay_needs_a_locomo_file_and_must_be_there(tmp_path: Path):
    with pytest.raises(InputError, match="corrections are for LoCoMo files"):
        load_dataset(tmp_path, corrections=tmp_path / "fix.json")
    corrected(tmp_path, {})
    with pytest.raises(InputError, match=r"nothing\.json cannot be read"):
        load_dataset(tmp_path / "locomo.json", corrections=tmp_path / "nothing.json")
