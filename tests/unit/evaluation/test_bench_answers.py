"""The benchmark of answers on a small vault: both systems, the rows with their floors, and what is missing."""

from __future__ import annotations

import json
import sys
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

from agentic_rag import RagConfig, open_rag
from agentic_rag_lab.evaluation.answers import JudgedAnswer, read_conversations

sys.path.append(str(Path(__file__).parents[3] / "evaluation"))
bench = import_module("bench_answers")
plain_chain = import_module("plain_chain")
judged_answers = import_module("judged_answers")

NOTES = {
    "Old Well Garden.md": "# Prices\n\nThe medium roast of the Old Well Garden costs 620 yuan a pound.\n",
    "Lin Mei.md": "# Work\n\nLin Mei has led the tea circle since May 2024.\n",
}
PRICE = "What does the medium roast of the Old Well Garden cost?"
CONVERSATION = {
    "id": "t-1", "vault": "tea", "lang": "en", "kind": "fact", "turns": [
        {"ask": PRICE, "must": [["620"]], "notes": ["Old Well Garden.md"]},
        {"ask": "Tell me more.", "unjudged": True},
        {"ask": "Who has led the tea circle since May 2024?", "must": [["Lin Mei"]], "notes": ["Lin Mei.md"]},
    ],
}  # fmt: skip


def written(folder: Path) -> Path:
    """A set of one conversation with its vault, as the shared data have them."""
    (folder / "answers").mkdir()
    (folder / "answers" / "tea.jsonl").write_text(json.dumps(CONVERSATION), encoding="utf-8")
    vault = folder / "vaults" / "tea"
    vault.mkdir(parents=True)
    for name, text in NOTES.items():
        (vault / name).write_text(text, encoding="utf-8")
    return folder


async def test_both_systems_answer_every_judged_turn(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(bench, "CACHE", tmp_path / "cache")
    data = written(tmp_path)
    conversations = read_conversations(data / "answers")
    vaults = {"tea": data / "vaults" / "tea"}
    answers = await bench.answers_of(conversations, vaults, tmp_path / "stored", "right")
    assert [(one.ours.number, one.ours.kind) for one in answers] == [(1, "fact"), (3, "follow-up")]
    assert [one.ours.verdict for one in answers] == ["right", "right"]
    assert answers[0].theirs.verdict == "right"
    assert (answers[0].theirs.citations, answers[0].their_length > 0) == (1, True)
    assert f"t-1.1 [fact] {PRICE}\n  right: " in capsys.readouterr().out


async def test_the_chain_shows_the_most_similar_passage_or_refuses(tmp_path: Path):
    data = written(tmp_path)
    async with open_rag(RagConfig(data_dir=tmp_path / "stored")) as rag:
        await rag.ingest(data / "vaults" / "tea", dataset="tea")
        chain = await plain_chain.plain_chain(rag, "tea")
        shown = await chain.ainvoke([PRICE])
        nothing = await chain.ainvoke(["0 0 0 0 0 0 0"])
    assert shown.path == "Old Well Garden.md"
    assert shown.text.startswith("Old Well Garden")
    assert "620 yuan" in shown.text
    assert nothing is None


def answered(ours: str, theirs: str, kind: str = "fact", refuse: bool = False, citations: int = 1) -> Any:
    def judged(verdict: Any, citations: int) -> JudgedAnswer:
        return JudgedAnswer("t-1", 1, "example", "en", kind, refuse, verdict, citations)

    return bench.Answered(judged(ours, citations), judged(theirs, 1), 100, 300)


def test_the_rows_hold_the_figures_of_both_and_the_floors():
    answers = [
        answered("right", "right", citations=2), answered("right", "wrong", citations=4), answered("refused", "right"),
        answered("wrong", "partly"), answered("right", "wrong", refuse=True, kind="unanswerable", citations=0),
        answered("wrong", "wrong", "list"), answered("right", "wrong", "list", citations=9),
    ]  # fmt: skip
    rows = {row["what"].split(": ")[0].split(" (")[0]: row for row in bench.rows_of(answers)}
    total = rows["all"]
    assert (total["ours"], total["theirs"], total["floor"], total["ok"]) == (0.5714, 0.2857, 0.65, False)
    assert (rows["vault example"]["floor"], rows["vault example"]["ok"]) == (0.5, True)
    assert rows["kinds condition, count, tag, task, list"]["ours"] == 1 / 2
    assert rows["kind fact"]["ours"] == 1 / 2
    assert rows["unanswerable turns that are refused, of 1"]["ours"] == 1
    refused = rows["answerable turns that are refused, of 6"]
    assert (refused["ours"], refused["ok"]) == (0.1667, False)
    citations = rows["citations of a right answer where no list is asked for, mean"]
    assert (citations["ours"], citations["ok"]) == (3, False)
    assert rows["length of an answer that is no refusal, mean"]["theirs"] == 300


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        ({"answer": "a spirit"}, [["a spirit"]]),
        ({"answer": "G. Hall", "answer_aliases": ["Hall"]}, [["G. Hall", "Hall"]]),
        ({"answers": "70"}, [["70"]]),
        ({"answers": ["4 minutes", "four"]}, [["4 minutes", "four"]]),
        ({"answers": [["July 21", "21 July"], ["2017"]]}, [["July 21", "21 July"], ["2017"]]),
        ({"answer": "Yes"}, []),
        ({"answers": []}, []),
        ({}, []),
    ],
)
def test_short_answers_are_read_in_every_form(fields: dict[str, Any], expected: list[list[str]]):
    assert judged_answers.expected_answer(fields) == expected


async def test_quotes_that_contain_the_answer_are_counted(tmp_path: Path):
    folder = tmp_path / "set"
    folder.mkdir()
    corpus = [{"_id": name, "title": name.removesuffix(".md"), "text": text} for name, text in NOTES.items()]
    queries = [
        {"_id": "q1", "text": PRICE, "answer": "620"}, {"_id": "q2", "text": PRICE, "answer": "999"},
        {"_id": "q3", "text": "Is it dear?", "answer": "yes"},
    ]  # fmt: skip
    for name, records in (("corpus", corpus), ("queries", queries)):
        (folder / f"{name}.jsonl").write_text("\n".join(map(json.dumps, records)), encoding="utf-8")
    (folder / "qrels.tsv").write_text(
        "".join(f"q{n}\tOld Well Garden.md\t1\n" for n in (1, 2, 3)), encoding="utf-8"
    )
    async with open_rag(RagConfig(data_dir=tmp_path / "stored")) as rag:
        ours, theirs = await judged_answers.answers_contained(rag, folder, None, None)
    assert (ours.contained, theirs.contained) == ([1, 0], [1, 0])
    assert all(length > 0 for length in [*ours.lengths, *theirs.lengths])


@pytest.mark.parametrize(
    ("arguments", "absent"), [([], "answers"), (["--share"], "beir/multihop/hotpot_train100")]
)
def test_missing_data_are_named(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], arguments: list[str], absent: str
):
    assert bench.main([*arguments, "--data", str(tmp_path)]) == 2
    assert f"error: no {tmp_path / absent}" in capsys.readouterr().err


def test_a_missing_vault_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    data = written(tmp_path)
    assert bench.main(["--data", str(data), "--vaults", str(tmp_path / "none")]) == 2
    assert "name the folder that has it with --vaults DIR" in capsys.readouterr().err
