"""Stored answers survive an interruption, and belong to exactly one fingerprint."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

import agentic_rag
from agentic_rag.errors import InputError, StoreError
from agentic_rag_lab.evaluation.datasets import EvalDataset
from agentic_rag_lab.evaluation.records import Record, Records, answering_files, file_name, fingerprint

FIRST = Record("full", "q1", ("d1", "茶.md"), 12.5, 2, 0.75, False, ("lancedb",))
SECOND = Record("dense", "q1", (), 1.0)


def test_what_was_added_is_there_again(tmp_path: Path):
    path = tmp_path / "evaluation" / "x.jsonl"
    records = Records(path, "f")
    assert records.get("full", "q1") is None
    assert not path.exists(), "looking makes no file"
    records.add(FIRST)
    records.add(SECOND)
    again = Records(path, "f")
    assert (again.get("full", "q1"), again.get("dense", "q1")) == (FIRST, SECOND)
    assert again.get("full", "q2") is None
    assert len(path.read_text(encoding="ascii").splitlines()) == 3


@pytest.mark.parametrize("cut", [1, 20, 400])
def test_a_torn_last_line_is_dropped(tmp_path: Path, cut: int):
    path = tmp_path / "x.jsonl"
    records = Records(path, "f")
    records.add(FIRST)
    before = path.read_bytes()
    records.add(SECOND)
    torn = path.read_bytes()[len(before) :][:cut].removesuffix(b"\n")
    path.write_bytes(before + torn)
    again = Records(path, "f")
    assert (again.get("full", "q1"), again.get("dense", "q1")) == (FIRST, None)
    again.add(SECOND)
    assert Records(path, "f").get("dense", "q1") == SECOND


def test_a_torn_head_begins_anew(tmp_path: Path):
    path = tmp_path / "x.jsonl"
    path.write_bytes(b'{"finger')
    Records(path, "f").add(FIRST)
    assert Records(path, "f").get("full", "q1") == FIRST


def test_fresh_starts_anew(tmp_path: Path):
    path = tmp_path / "x.jsonl"
    before = Records(path, "f")
    before.add(FIRST)
    before.add(SECOND)
    fresh = Records(path, "f", fresh=True)
    assert fresh.get("full", "q1") is None
    fresh.add(replace(FIRST, milliseconds=1.0))
    again = Records(path, "f")
    assert again.get("full", "q1") == replace(FIRST, milliseconds=1.0)
    assert again.get("dense", "q1") == SECOND, "what was not asked again stays"
    Records(path, "g", fresh=True).add(SECOND)
    assert Records(path, "g").get("full", "q1") is None


def test_fresh_takes_broken_records_away(tmp_path: Path):
    path = tmp_path / "x.jsonl"
    Records(path, "f").add(FIRST)
    with path.open("a", encoding="ascii") as file:
        file.write("{}\n")
    Records(path, "f", fresh=True).add(SECOND)
    assert Records(path, "f").get("dense", "q1") == SECOND


def test_records_of_something_else_are_refused(tmp_path: Path):
    path = tmp_path / "x.jsonl"
    Records(path, "f").add(FIRST)
    with pytest.raises(InputError, match="--fresh"):
        Records(path, "g")


@pytest.mark.parametrize("fresh", [False, True])
@pytest.mark.parametrize(
    "text", ['{"_id": "d1", "text": "one"}\n{"_id": "d2"', "my notes\nwithout an end", "x"]
)
def test_somebodys_own_file_stays_as_it_is(tmp_path: Path, text: str, fresh: bool):
    path = tmp_path / "mine.txt"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(InputError, match="something else; name another place"):
        Records(path, "f", fresh=fresh)
    assert path.read_text(encoding="utf-8") == text


def test_an_answer_of_a_failure_is_not_settled_and_the_last_one_counts(tmp_path: Path):
    path = tmp_path / "x.jsonl"
    records = Records(path, "f")
    assert not records.is_settled("full", "q1")
    records.add(FIRST)
    assert not records.is_settled("full", "q1"), "a source had failed"
    records.add(replace(FIRST, degraded=()))
    assert Records(path, "f").is_settled("full", "q1")


@pytest.mark.parametrize("line", ["{}", "[1]", "no json", '{"system": "a", "query": "q"}'])
def test_a_broken_line_is_told_with_its_place(tmp_path: Path, line: str):
    path = tmp_path / "x.jsonl"
    Records(path, "f").add(FIRST)
    whole = path.read_text(encoding="ascii")
    path.write_text(f"{whole}{line}\n", encoding="ascii")
    with pytest.raises(InputError, match=r"x\.jsonl:3 .*--fresh"):
        Records(path, "f")


def test_a_place_that_cannot_be_used(tmp_path: Path):
    (tmp_path / "file").write_text("", encoding="ascii")
    with pytest.raises(StoreError, match="cannot write"):
        Records(tmp_path / "file" / "x.jsonl", "f").add(FIRST)
    (tmp_path / "folder").mkdir()
    with pytest.raises(StoreError, match="cannot be used"):
        Records(tmp_path / "folder", "f", fresh=True)


def test_the_fingerprint_depends_on_questions_documents_and_settings(tmp_path: Path):
    vault = tmp_path / "vault"
    vault.mkdir()
    (vault / "a.md").write_text("tea", encoding="utf-8")
    (tmp_path / "queries.jsonl").write_text("{}", encoding="utf-8")
    dataset = EvalDataset("x", (), "document", vault, kind="vault", questions=tmp_path / "queries.jsonl")
    seen = {fingerprint(dataset, {"k": 60}), fingerprint(replace(dataset, unit="chunk"), {"k": 60})}
    assert fingerprint(replace(dataset, name="y"), {"k": 60}) in seen
    seen.add(fingerprint(dataset, {"k": 20}))
    (vault / "a.md").write_text("teas", encoding="utf-8")
    seen.add(fingerprint(dataset, {"k": 60}))
    (tmp_path / "queries.jsonl").write_text("{} ", encoding="utf-8")
    seen.add(fingerprint(dataset, {"k": 60}))
    file = tmp_path / "locomo.json"
    file.write_text(json.dumps([]), encoding="utf-8")
    seen.add(fingerprint(EvalDataset("x", (), "chunk", file, kind="locomo"), {"k": 60}))
    assert len(seen) == 6
    with pytest.raises(InputError, match="cannot be read"):
        fingerprint(replace(dataset, questions=tmp_path / "nothing"), {})


def test_the_fingerprint_depends_on_every_file_that_answers():
    files = dict(answering_files())
    assert "agentic_rag/models/multilingual-e5-small/encoder.onnx" in files
    assert {
        "agentic_rag_lab/evaluation/systems.py",
        "agentic_rag/retrieval/reference_pairs.json",
    } <= files.keys()
    assert (
        not {"agentic_rag/cli/app.py", "agentic_rag_service/app.py", "agentic_rag_lab/evaluation/report.py"}
        & files.keys()
    )
    root = Path(agentic_rag.__file__).parents[1]
    others = {
        path.relative_to(root).as_posix()
        for path in root.rglob("*")
        if path.is_file()
        and not {"__pycache__", "starter", "agentic_rag_service"} & set(path.parts)
        and path.parent.suffix != ".egg-info"  # of ``pip install .``
        and path.suffix != ".py"
    } - files.keys()
    assert {Path(name).name for name in others} <= {"LICENSE", "README.md", "py.typed"}


def test_a_file_is_named_after_its_dataset():
    assert file_name("tea notes/茶", "ab12") == "tea_notes_茶-ab12.jsonl"
    assert file_name("../x", "ab12") == ".._x-ab12.jsonl"
