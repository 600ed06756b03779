"""``eval`` from files to scores, on real stores: every kind of dataset, interrupted and resumed."""

from __future__ import annotations

import asyncio
import copy
import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from langchain_core.language_models import FakeListChatModel, ParrotFakeChatModel
from rich.console import Console

import agentic_rag.cli
from agentic_rag import RagConfig, open_rag
from agentic_rag.errors import InputError, ModelError
from agentic_rag.models.chats import LangChainChat
from agentic_rag.testing import HashingEmbedding
from agentic_rag_lab.cli.evaluate import tables
from agentic_rag_lab.evaluation.report import EvalReport
from agentic_rag_lab.evaluation.run import EvalOptions, evaluate

SYSTEMS = ["lancedb", "fused+rerank", "full", "full-graphiti"]
DOCUMENTS = {
    "oolong": "Oolong tea is half oxidised and rolled into balls.",
    "puer": "Puer tea is piled wet and ripens for years in caves.",
    "gyokuro": "Gyokuro is shaded for three weeks before harvest.",
    "kettle": "An iron kettle keeps water hot for a long time.",
}
QUERIES = [
    {"_id": "q1", "text": "which tea is half oxidised", "category": "one hop"},
    {"_id": "q2", "text": "which tea is piled wet", "category": "one hop", "operation": "concept_relation"},
    {"_id": "q6", "text": "shaded before harvest, and what keeps water hot", "category": "多跳"},
    {"_id": "q4", "text": "who won the chess match", "answerable": False},
]
QRELS = "q1\toolong\t1\nq2\tpuer\t2\nq6\tgyokuro\t1\nq6\tkettle\t1\n"


def beir(folder: Path) -> Path:
    folder.mkdir()
    documents = [{"_id": name, "title": name, "text": text} for name, text in DOCUMENTS.items()]
    for file, records in (("corpus", documents), ("queries", QUERIES)):
        lines = [json.dumps(record, ensure_ascii=False) for record in records]
        (folder / f"{file}.jsonl").write_text("\n".join(lines), encoding="utf-8")
    (folder / "qrels.tsv").write_text(QRELS, encoding="utf-8")
    return folder


def locomo(folder: Path) -> Path:
    said = {
        1: ["I bought a red bicycle in Lisbon.", "Lovely! My dog Pepper would chase it."],
        2: ["Pepper learned to swim last week.", "", "We should ride to the lake together."],
    }
    conversation: dict[str, Any] = {"speaker_a": "Ann", "speaker_b": "Ben", "session_3_date_time": "never"}
    for number, texts in said.items():
        conversation[f"session_{number}_date_time"] = f"1:56 pm on {number} May, 2023"
        conversation[f"session_{number}"] = [
            {"speaker": ("Ann", "Ben")[turn % 2], "dia_id": f"D{number}:{turn + 1}", "text": text}
            for turn, text in enumerate(texts)
        ]
    questions = [
        ("Where did Ann buy a bicycle?", ["D1:01"], 4, "Lisbon"),
        ("What did Ben's dog learn?", ["D1:2; D2:1"], 1, "to swim"),
        ("What did they say in silence?", ["D2:2"], 2, "nothing"),
        ("Where did Ben buy a boat?", ["D1:1"], 5, None),
    ]
    qa = [
        {"question": text, "evidence": evidence, "category": category, "answer": answer}
        for text, evidence, category, answer in questions
    ]
    path = folder / "tiny-locomo.json"
    path.write_text(
        json.dumps([{"sample_id": "conv-1", "conversation": conversation, "qa": qa}]), encoding="utf-8"
    )
    return path


async def evaluated(data: Path, source: Path, systems: Sequence[str] = SYSTEMS, **options: Any) -> EvalReport:
    progress = options.pop("progress", None)
    async with open_rag(RagConfig(data_dir=data), embedding=HashingEmbedding()) as rag:
        return await evaluate(rag, source, EvalOptions(systems=systems, **options), progress)


def timeless(report: EvalReport) -> str:
    """The JSON's bytes but for what depends on the machine's speed."""
    said = copy.deepcopy(report.to_dict())
    for figures in said["systems"].values():
        del figures["latency_ms"]
    return json.dumps(said, ensure_ascii=False, indent=2)


async def test_a_beir_directory_gives_the_same_bytes_twice(tmp_path: Path) -> None:
    source = beir(tmp_path / "tea")
    report = await evaluated(tmp_path / "one", source)
    assert (report.dataset, report.queries, report.baseline, report.reused_answers) == (
        "tea",
        3,
        "lancedb",
        0,
    )
    full = report.systems["full"]
    assert full["recall@10"]["value"] == 1.0
    assert set(full["by_category"]) == {"one hop", "多跳"}
    assert full["by_category"]["one hop"]["queries"] == 2
    assert full["latency_ms"]["p50"] > 0
    assert full["model_calls"] == {"mean": 0.0, "total": 0}
    assert set(report.abstention["systems"]) == {"full", "full-graphiti"}
    assert (report.abstention["answerable"], report.abstention["unanswerable"]) == (3, 1)
    assert list(report.degenerate) == ["abstention"]
    assert report.settings["embedding"]["name"] == "hashing-64"
    assert report.settings["retrieval"]["timeout_seconds"] == 86_400.0, "as it was run"
    assert report.settings["chat"] is None
    elsewhere = await evaluated(tmp_path / "two", source)
    assert timeless(elsewhere) == timeless(report)
    again = await evaluated(tmp_path / "one", source)
    assert again.reused_answers == 3 * len(SYSTEMS) + 2
    assert again.to_dict() == report.to_dict(), "kept answers have kept their latencies"
    anew = await evaluated(tmp_path / "one", source, fresh=True)
    assert (anew.reused_answers, timeless(anew)) == (0, timeless(report))


async def test_an_interrupted_run_goes_on(tmp_path: Path) -> None:
    source, data = beir(tmp_path / "tea"), tmp_path / "data"
    whole = await evaluated(tmp_path / "whole", source)

    def interrupted(stage: str, done: int, total: int) -> None:
        if stage == "ask" and done == 5:
            raise asyncio.CancelledError

    with pytest.raises(asyncio.CancelledError):
        await evaluated(data, source, progress=interrupted)
    (records,) = (data / "evaluation").iterdir()
    lines = records.read_bytes()
    assert lines.count(b"\n") == 1 + 5
    records.write_bytes(lines[:-20])  # the power failed while the fifth was written
    seen: list[int] = []
    report = await evaluated(data, source, progress=lambda stage, done, total: seen.append(done))
    assert report.reused_answers == 4
    assert report.records == records
    assert timeless(report) == timeless(whole)
    assert records.read_bytes().count(b"\n") == 1 + 3 * len(SYSTEMS) + 2


async def test_fewer_queries_and_other_systems_share_the_records(tmp_path: Path) -> None:
    source, data = beir(tmp_path / "tea"), tmp_path / "data"
    assert (await evaluated(data, source, ["dense"], limit=2)).queries == 2
    halves = [await evaluated(data, source, ["dense", "sparse"], half=half) for half in ("first", "second")]
    assert sum(report.queries for report in halves) == 3
    assert sum(report.reused_answers for report in halves) == 2
    assert len(list((data / "evaluation").iterdir())) == 1
    other = await evaluated(data, source, ["dense"], operation="concept_relation")
    assert other.reused_answers == 0, "another operation is another question"
    mine = tmp_path / "mine.jsonl"
    assert (await evaluated(data, source, ["dense"], records=mine)).records == mine
    with pytest.raises(InputError, match="--fresh"):
        await evaluated(data, source, ["dense"], records=mine, operation="concept_relation")


async def test_a_locomo_file(tmp_path: Path) -> None:
    report = await evaluated(tmp_path / "data", locomo(tmp_path), ["lancedb", "full"])
    assert (report.dataset, report.queries) == ("tiny-locomo", 3)
    assert set(report.systems["full"]["by_category"]) == {"single-hop", "multi-hop", "temporal"}
    assert report.systems["full"]["by_category"]["single-hop"]["recall@10"]["value"] == 1.0
    assert report.repairs == (
        "conv-1: 'session_3_date_time' → - (a date without a session: left out)",
        "conv-1/q1: 'D1:01' → conv-1/session_1#D1:1 (mistyped id: mended)",
        "conv-1/q2: 'D1:2; D2:1' → conv-1/session_1#D1:2, conv-1/session_2#D2:1 "
        "(several ids in one string: taken apart)",
        "conv-1: 1 adversarial questions have no answer: judged by abstention",
        "conv-1/q3: 'conv-1/session_2#D2:2' → - (relevant, but nothing of it was ingested)",
    )
    ranking = report.degenerate["ranking"]
    assert list(ranking) == ["last_session", "full_context", "random"]
    # the last session newest first: D2:3, D2:2, D2:1; all turns in order: D1:1, D1:2, D2:1, D2:2, D2:3
    assert ranking["last_session"]["mrr@10"]["value"] == pytest.approx((0 + 1 / 3 + 1 / 2) / 3, abs=1e-6)
    assert ranking["full_context"]["mrr@10"]["value"] == pytest.approx((1 + 1 / 2 + 1 / 4) / 3, abs=1e-6)
    assert report.degenerate["abstention"]["not_mentioned"]["right"] == 0.25


async def test_a_vault_named_by_a_dataset_json(tmp_path: Path) -> None:
    (tmp_path / "vault" / "tea").mkdir(parents=True)
    for name, text in DOCUMENTS.items():
        (tmp_path / "vault" / "tea" / f"{name}.md").write_text(f"# {name}\n\n{text}\n", encoding="utf-8")
    source = tmp_path / "notes"
    source.mkdir()
    (source / "dataset.json").write_text('{"corpus": "../vault", "kind": "vault"}', encoding="utf-8")
    lines = [json.dumps({"_id": "q1", "text": "half oxidised"}), json.dumps({"_id": "q2", "text": "wet"})]
    (source / "queries.jsonl").write_text("\n".join(lines), encoding="utf-8")
    (source / "qrels.tsv").write_text("q1\ttea/oolong.md\t1\nq2\ttea/moved.md\t1\n", encoding="utf-8")
    report = await evaluated(tmp_path / "data", source, ["lancedb"])
    assert (report.dataset, report.queries) == ("notes", 2)
    assert report.systems["lancedb"]["mrr@10"]["value"] == 0.5
    assert report.repairs == ("q2: 'tea/moved.md' → - (relevant, but nothing of it was ingested)",)
    assert report.abstention == report.degenerate == {}


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ({"systems": ["psychic"]}, "psychic"),
        ({"systems": []}, "no system"),
        ({"baseline": "dense"}, "'dense' is not among the systems: lancedb"),
        ({"half": "third"}, "first, second"),
        ({"operation": "dance"}, "dance"),
        ({"corrections": Path("x.json")}, "corrections are for LoCoMo"),
        ({"split": "dev"}, "no qrels/dev.tsv; it has qrels.tsv, which has no splits"),
        ({"limit": 0}, "limit is 0"),
    ],
)
async def test_what_cannot_be_evaluated(tmp_path: Path, options: dict[str, Any], told: str) -> None:
    with pytest.raises(InputError, match=told):
        await evaluated(tmp_path / "data", beir(tmp_path / "tea"), **{"systems": ["lancedb"], **options})


async def test_what_has_nothing_relevant_cannot_be_evaluated(tmp_path: Path) -> None:
    source = beir(tmp_path / "tea")
    (source / "qrels.tsv").write_text("q1\toolong\t0\n", encoding="utf-8")
    with pytest.raises(
        InputError, match=r"no query with a relevant document .*; 3 repairs were needed: q1: nothing"
    ):
        await evaluated(tmp_path / "data", source, ["lancedb"])


async def test_judgements_of_other_ids_are_told_where_nothing_is_left(tmp_path: Path) -> None:
    source = beir(tmp_path / "tea")
    (source / "qrels.tsv").write_text(QRELS.replace("q", "query-"), encoding="utf-8")
    with pytest.raises(
        InputError, match=r"no query .* 6 repairs .* q1: no judgement.* query-1: judged, but not"
    ):
        await evaluated(tmp_path / "data", source)


async def test_a_corpus_without_documents_is_told(tmp_path: Path) -> None:
    source = beir(tmp_path / "tea")
    (source / "corpus.jsonl").write_text("\n", encoding="utf-8")
    with pytest.raises(InputError, match="tea holds no document"):
        await evaluated(tmp_path / "data", source)


async def test_judgements_of_documents_that_are_not_there_are_no_figures(tmp_path: Path) -> None:
    source = beir(tmp_path / "tea")
    (source / "qrels.tsv").write_text("q1\tOolong.md\t1\nq2\tPuer.md\t1\n", encoding="utf-8")
    told = (
        r"none of the 2 judged documents is in .*, 'Oolong.md' for one; documents are called like 'gyokuro'"
    )
    with pytest.raises(InputError, match=told):
        await evaluated(tmp_path / "data", source)


async def test_a_document_given_twice_is_a_repair(tmp_path: Path) -> None:
    source = beir(tmp_path / "tea")
    with (source / "corpus.jsonl").open("a", encoding="utf-8") as corpus:
        corpus.write('\n{"_id": "puer", "title": "", "text": "Another one."}')
    (told,) = (await evaluated(tmp_path / "data", source, ["lancedb"])).repairs
    assert told.startswith("corpus.jsonl:5: not ingested: its id 'puer' is already that of")


async def test_what_was_answered_while_a_model_failed_is_asked_again(tmp_path: Path) -> None:
    source, config = beir(tmp_path / "tea"), RagConfig(data_dir=tmp_path / "data", rerank={"method": "chat"})
    model = FailingAtFirst()

    async def run() -> EvalReport:
        async with open_rag(config, embedding=HashingEmbedding(), chat=model) as rag:
            return await evaluate(rag, source, EvalOptions(systems=["full"]))

    assert (await run()).systems["full"]["degraded"] == 3
    model.fails = False
    again = await run()
    # For the question on chess nothing is found, and no model asked.
    assert (again.reused_answers, again.systems["full"]["degraded"]) == (1, 0)
    assert (await run()).reused_answers == 4


class FailingAtFirst:
    """A chat model that is down, and then rates every passage alike."""

    fails = True

    async def complete(self, system: str, user: str) -> str:
        if self.fails:
            raise ModelError("down")
        return "\n".join(["7"] * user.count("</passage>"))


class Rates:
    """A rerank model that rates every passage alike."""

    def __init__(self, name: str) -> None:
        self.name = name

    async def score(self, query: str, passages: Sequence[str]) -> list[float]:
        return [0.5 for _ in passages]


async def test_answers_of_another_model_that_was_handed_over_are_not_kept(tmp_path: Path) -> None:
    source, kept = beir(tmp_path / "tea"), []
    config = RagConfig(data_dir=tmp_path / "data", rerank={"method": "cross_encoder"})
    for name in ("one", "other", "one"):
        async with open_rag(config, embedding=HashingEmbedding(), reranker=Rates(name)) as rag:
            report = await evaluate(rag, source, EvalOptions(systems=["fused+rerank"]))
            kept.append(report.reused_answers)
            assert report.settings["reranker"] == name
    assert kept == [0, 0, 3]


async def test_answers_of_another_chat_model_that_was_handed_over_are_not_kept(tmp_path: Path) -> None:
    source, config, kept = beir(tmp_path / "tea"), RagConfig(data_dir=tmp_path / "data"), []
    for model in (FakeListChatModel(responses=["a"]), ParrotFakeChatModel()):
        async with open_rag(config, embedding=HashingEmbedding(), chat=LangChainChat(model)) as rag:
            report = await evaluate(rag, source, EvalOptions(systems=["lancedb"]))
            kept.append((report.reused_answers, report.settings["chat"]["name"]))
    assert kept == [(0, "FakeListChatModel"), (0, "ParrotFakeChatModel")]


async def test_answers_of_another_embedding_are_not_kept(tmp_path: Path) -> None:
    source = beir(tmp_path / "tea")
    kept = []
    for prefix in ("", "query: ", "query: "):
        config = RagConfig(data_dir=tmp_path / "data", embedding={"query_prefix": prefix})
        async with open_rag(config, embedding=HashingEmbedding()) as rag:
            kept.append((await evaluate(rag, source, EvalOptions(systems=["lancedb"]))).reused_answers)
    assert kept == [0, 0, 3]


async def test_each_system_embeds_the_question_itself(tmp_path: Path) -> None:
    class Counting(HashingEmbedding):
        forgotten = 0

        def clear_cache(self) -> None:
            self.forgotten += 1

    embedding = Counting()
    async with open_rag(RagConfig(data_dir=tmp_path / "data"), embedding=embedding) as rag:
        await evaluate(rag, beir(tmp_path / "tea"), EvalOptions(systems=["lancedb", "dense"]))
    assert embedding.forgotten == 6


def command() -> None:
    with pytest.raises(SystemExit) as end:
        agentic_rag.cli.main()
    assert not end.value.code


def test_the_command_writes_everything(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for name in ("disable", "enable", "freeze"):  # for a process that ends with its command
        monkeypatch.setattr(f"gc.{name}", lambda: None)
    monkeypatch.setenv("COLUMNS", "120")
    overlay = tmp_path / "fix.json"
    overlay.write_text('{"conv-1/q3": {"drop": "nobody spoke"}}', encoding="utf-8")
    arguments = [
        "eval", str(locomo(tmp_path)), "--systems", "lancedb,full", "--baseline", "full",
        "--corrections", str(overlay), "--json", str(tmp_path / "a.json"), "--markdown", str(tmp_path / "a.md"),
        "--charts", str(tmp_path / "charts"), "--records", str(tmp_path / "records.jsonl"),
        "--data-dir", str(tmp_path / "data"),
    ]  # fmt: skip
    monkeypatch.setattr(sys, "argv", ["agentic-rag", *arguments])
    command()
    shown = capsys.readouterr().out
    for told in ("tiny-locomo: 2 queries", "last_session", "always not_mentioned", "repairs of the data"):
        assert told in shown
    written = json.loads((tmp_path / "a.json").read_text(encoding="utf-8"))
    assert written["baseline"] == "full"
    assert "conv-1/q3: dropped by a correction: nobody spoke" in written["repairs"]
    assert "nobody spoke" in (tmp_path / "a.md").read_text(encoding="utf-8")
    assert len(list((tmp_path / "charts").iterdir())) == 2
    command()
    assert "5 answers were kept from an earlier run" in capsys.readouterr().out
    assert json.loads((tmp_path / "a.json").read_text(encoding="utf-8")) == written


@pytest.mark.parametrize(
    ("option", "place", "told"),
    [
        ("--json", "a-file/x.json", "cannot write"),
        ("--markdown", ".", "it is a folder; name a file"),
        ("--charts", "a-file", "cannot write"),
        ("--json", "tea/queries.jsonl", "it is what is evaluated; name another file"),
    ],
)
def test_what_cannot_be_written_is_told_before_anything_is_asked(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    option: str,
    place: str,
    told: str,
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("a-file").write_text("mine", encoding="utf-8")
    monkeypatch.setattr(sys, "argv", ["agentic-rag", "eval", str(beir(tmp_path / "tea")), option, place])
    with pytest.raises(SystemExit) as end:
        agentic_rag.cli.main()
    assert end.value.code == 2
    assert told in capsys.readouterr().err
    assert not (tmp_path / ".agentic-rag").exists()


def test_names_are_whole_in_a_narrow_terminal(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    names = ["weighted_graphiti", "weighted_graphiti+rerank"]
    report = asyncio.run(evaluated(tmp_path / "data", beir(tmp_path / "tea"), names))
    Console(highlight=False).print(tables(report)[0])
    shown = capsys.readouterr().out
    assert "…" not in shown
    assert shown.count(" weighted_graphiti ") == 2
    assert " +rerank " in shown
