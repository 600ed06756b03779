"""The command line for people and scripts: output shapes, exit codes, streams, settings."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from agentic_rag.cli.app import app
from agentic_rag.cli.drawings import drawing
from command_line import command_line
from example_vault import EXAMPLE_VAULT
from local_openai_server import LocalOpenAIServer

QUESTION = "What does shading do to theanine?"
COMMANDS = ["backup", "ingest", "remove", "ask", "search", "graph", "stats", "reindex", "doctor", "eval"]
ASK = [
    "query", "operation", "dataset", "answer", "abstained", "citations", "results", "outcomes", "fusion",
    "quality", "rewrites", "usage", "selection", "carried", "seconds",
]  # fmt: skip
CITATION = [
    "n", "chunk_id", "document_id", "path", "title", "heading_path", "start", "end", "quote", "score", "url",
    "page", "region",
]  # fmt: skip
RESULT = {
    "id", "content", "source", "type", "original_score", "rrf_score", "metadata", "fused_score", "rerank_score",
    "tier", "sources", "facts", "evidence",
}  # fmt: skip


@pytest.fixture
def cli(
    example_data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Any:
    """Runs ``main`` in this process, in an empty folder, on the example's data."""
    monkeypatch.setenv("AGENTIC_RAG_DATA_DIR", str(example_data))
    return command_line(tmp_path, 200, monkeypatch, capsys)


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_has_help(command: str) -> None:
    shown = CliRunner().invoke(app, [command, "--help"])
    assert shown.exit_code == 0
    assert "Usage" in shown.output
    listed = CliRunner().invoke(app, ["--help"])
    assert command in listed.output


@pytest.mark.parametrize("operation", ["document_retrieval", "文档检索"])
def test_ask_as_json(cli: Any, operation: str) -> None:
    found = cli("ask", QUESTION, "--operation", operation, "--top-k", "3", "--json").json
    assert found["fusion"]["operation"] == "document_retrieval"
    assert list(found) == ASK
    assert (found["query"], found["operation"], found["dataset"]) == (
        QUESTION,
        "document_retrieval",
        "default",
    )
    assert found["abstained"] is False
    assert len(found["results"]) == 3
    assert set(found["results"][0]) == RESULT
    assert list(found["citations"][0]) == CITATION
    assert set(found["outcomes"]) == {"graphiti", "lancedb"}
    assert found["rewrites"] == []
    assert found["seconds"] > 0


def test_where_nothing_is_relevant_enough_the_nearest_places_are_named(cli: Any) -> None:
    shown = cli("ask", "What is the capital of Mongolia?").out
    assert shown.startswith("Not found in your notes.")
    assert "nearest, but perhaps about something else:" in shown
    assert sum(".md" in line or ".canvas" in line for line in shown.splitlines()) == 5
    assert "nearest" not in cli("ask", QUESTION).out
    assert "nearest" not in cli("ask", QUESTION, "--as-of", "1990-01-01").out


def test_search_as_json(cli: Any) -> None:
    found = cli("search", "theanine", "--strategy", "hybrid", "--top-k", "2", "--json").json
    assert list(found) == ["query", "strategy", "reason", "results", "seconds"]
    assert len(found["results"]) == 2
    assert list(found["results"][0]) == ["id", "content", "score", "metadata", "legs"]
    assert set(found["results"][0]["legs"]["dense"]) == {"rank", "score"}
    for strategy in ("dense", "sparse"):
        legs = [
            r["legs"] for r in cli("search", "theanine", "--strategy", strategy, "--json").json["results"]
        ]
        assert all(set(leg) == {strategy} for leg in legs)
    assert cli("search", "theanine", "--threshold", "1", "--json").json["results"] == []


def test_filters_and_dates(cli: Any) -> None:
    found = cli("ask", "tea", "--filter", "lang=zh", "--filter", "date<2025-01-01", "--json").json
    assert found["results"]
    for result in found["results"]:
        assert result["metadata"]["lang"] == "zh"
        assert result["metadata"]["date"] < "2025"
    for place in ("path=places/Uji.md", "title=Uji", "document_id=places/Uji.md"):
        found = cli("search", "tea", "--filter", place, "--json").json
        assert {result["metadata"]["path"] for result in found["results"]} == {"places/Uji.md"}
    found = cli("ask", "tea", "--as-of", "2023-06-30", "--json").json
    assert all((r["metadata"].get("date") or "") < "2023-07" for r in found["results"])


def test_a_filter_on_what_no_note_has_says_so(cli: Any) -> None:
    for command in ("ask", "search"):
        shown = " ".join(cli(command, "tea", "--filter", "langauge=zh").out.split())
        assert (
            "no chunk of dataset 'default' has 'langauge', which the filter names; it can be filtered by:"
            in shown
        )
        assert " lang," in shown
    told = "no chunk of dataset 'default' passes the filter {'lang': {'$eq': 'xx'}}"
    assert told in cli("search", "tea", "--filter", "lang=xx", "--json").json["reason"]
    assert told in " ".join(cli("ask", "tea", "--filter", "lang=xx").out.split())


def test_parameters_by_call_environment_and_file(
    cli: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def best(*arguments: str) -> float:
        found = cli("ask", QUESTION, "--set", "fusion.strategy=rrf", "--json", *arguments).json
        return max(result["fused_score"] for result in found["results"])

    file = tmp_path / "mine.toml"
    file.write_text("[fusion]\nk = 9\n", encoding="utf-8")
    assert best() <= 2 / 61
    assert 2 / 61 < best("--settings", str(file)) <= 2 / 10
    monkeypatch.setenv("AGENTIC_RAG_FUSION__K", "4")
    assert 2 / 10 < best("--settings", str(file)) <= 2 / 5
    assert 2 / 5 < best("--settings", str(file), "--set", "fusion.k=1") <= 2 / 2


def test_settings_in_the_data_folder(cli: Any, example_data: Path, tmp_path: Path) -> None:
    data = tmp_path / "data"
    shutil.copytree(example_data, data)
    (data / "settings.toml").write_text("[answer]\nabstain_below = 1.0\n", encoding="utf-8")
    assert cli("ask", QUESTION, "--json").json["quality"]["grade"] == "strong"
    assert cli("ask", QUESTION, "--data-dir", str(data), "--json").json["quality"]["grade"] == "none"
    (data / "settings.toml").write_text("[answer]\nabstain_under = 1.0\n", encoding="utf-8")
    refused = cli("ask", QUESTION, "--data-dir", str(data))
    assert refused.code == 2
    assert "abstain_under" in refused.err


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["ask", "tea", "--operation", "mind_map"], "verification_canvas"),
        (["ask", "tea", "--dataset", "nothing"], "known: default"),
        (["search", "tea", "--dataset", "nothing"], "known: default"),
        (["ask", "tea", "--filter", "year"], "year"),
        (["ask", "tea", "--as-of", "yesterday"], "yesterday"),
        (["ask", "tea", "--set", "fusion.k=0"], "fusion.k"),
        (["ask", "tea", "--set", "fusion.depth=1"], "depth"),
        (["ask", "tea", "--set", "fusion"], "NAME=VALUE"),
        (["ask", "tea", "--top-k", "0"], "top-k"),
        (["ask", "tea", "--settings", "missing.toml"], "missing.toml"),
        (["ask", "  "], 'agentic-rag ask "…"'),
        (["search", ""], 'agentic-rag search "…"'),
        (["search", "tea", "--strategy", "psychic"], "hybrid"),
        (["search", "tea", "--threshold", "3"], "[0, 1]"),
        (["ingest", "/no/such/folder"], "/no/such/folder"),
        (["ingest", ".", "--kind", "tarot"], "vault"),
        (["graph", "nothing"], "agentic_rag"),
        (["stats", "--dataset", "nothing"], "known: default"),
        (["stats", "--dataset", ""], "needs a name"),
        (["stats", "nothing"], "nothing"),
        (["stats", "--data-dir", "no-such", "--dataset", "default"], "none yet"),
        (["reindex", "--dataset", "nothing"], "known: default"),
        (["reindex", "--data-dir", "no-such"], "none yet"),
        (["reindex", "--settings", "missing.toml"], "missing.toml"),
        (["eval", "/no/such/folder"], "/no/such/folder"),
        (["eval", ".", "--systems", "psychic"], "psychic"),
        (["dance"], "dance"),
    ],
)
def test_bad_input_is_told_on_stderr(cli: Any, arguments: list[str], told: str) -> None:
    ended = cli(*arguments)
    assert ended.code == 2
    assert ended.out == ""
    assert told in ended.err
    assert "Traceback" not in ended.err


@pytest.mark.parametrize(
    "command", [["ask", "tea"], ["search", "tea"], ["stats"], ["reindex"], ["remove", "--all"]]
)
def test_an_unknown_dataset_is_told_with_the_folder_it_was_looked_for_in(
    cli: Any, example_data: Path, tmp_path: Path, command: list[str]
) -> None:
    assert f"in {example_data} (known: default)" in cli(*command, "--dataset", "nothing").err
    told = cli(*command, "--dataset", "nothing", "--data-dir", "typo").err
    assert f"in {tmp_path / 'typo'} (known: none yet)" in told


def test_stats_of_an_empty_place_names_it(cli: Any, tmp_path: Path) -> None:
    assert f"no dataset yet in {tmp_path / 'typo'};" in cli("stats", "--data-dir", "typo").out


def test_mcp_makes_no_data_folder_unless_it_may_write(cli: Any, tmp_path: Path) -> None:
    ended = cli("mcp", "--data-dir", "typo")
    assert (ended.code, ended.out) == (2, "")
    assert f"there is no data folder {tmp_path / 'typo'}" in ended.err
    assert not (tmp_path / "typo").exists()


@pytest.mark.parametrize(
    "command",
    [
        ["ask", QUESTION, "--canvas", "nosuch/b.canvas"],
        ["due", "--anki", "nosuch/b.txt"],
        ["memory", "export", "nosuch/b.jsonl", "--user-id", "ada"],
    ],
)
def test_a_file_in_no_folder_is_refused(cli: Any, tmp_path: Path, command: list[str]) -> None:
    ended = cli(*command)
    assert (ended.code, ended.out) == (2, "")
    assert "nosuch" in ended.err
    assert not (tmp_path / "nosuch").exists()


def test_a_failed_run_exits_with_1(cli: Any, tmp_path: Path) -> None:
    (tmp_path / "data").write_text("a file, no folder", encoding="utf-8")
    ended = cli("ask", "tea", "--data-dir", str(tmp_path / "data"))
    assert ended.code == 1
    assert ended.out == ""
    assert "choose another with --data-dir" in ended.err


def test_ingest_reports(cli: Any, tmp_path: Path) -> None:
    vault = tmp_path / "vault"
    vault.mkdir()
    (vault / "Tea.md").write_text("# Tea\n\nWarm.\n", encoding="utf-8")
    (vault / "bad.md").write_bytes(b"\xff\xfe\x00")
    data = str(tmp_path / "data")
    ended = cli("ingest", str(vault), "--dataset", "笔记", "--data-dir", data)
    assert ended.code == 0
    assert "笔记: 1 added, 1 skipped" in ended.out
    assert "bad.md" in ended.out
    report = cli("ingest", str(vault), "--dataset", "笔记", "--data-dir", data, "--json").json
    assert report["counts"] == {"skipped": 1, "unchanged": 1}
    assert {"path", "action", "reason", "chunks", "facts"} == set(report["files"][0])
    (other := tmp_path / "other" / "Tea.md").parent.mkdir()
    other.write_text("# Tea\n\nCold.\n", encoding="utf-8")
    ended = cli("ingest", str(other), "--dataset", "笔记", "--data-dir", data)
    assert (ended.code, "holds a note of that id" in " ".join(ended.out.split())) == (1, True)


TAGGED = "Which notes are tagged brewing?"


def test_the_reading_of_a_question_is_shown_as_filters(cli: Any) -> None:
    selection = cli("ask", TAGGED, "--json").json["selection"]
    assert (selection["status"], selection["target"], selection["terms"]) == ("ok", "notes", ["tags=brewing"])
    assert selection["filters"] == {"tags": {"$eq": "brewing"}}
    assert cli("ask", QUESTION, "--json").json["selection"] is None
    shown = cli("ask", TAGGED, "--explain").out
    assert f"read as: {selection['reading']} · {selection['count']}" in shown
    assert "given again: --filter tags=brewing" in shown
    fewer = cli("ask", TAGGED, "--filter", "tags=chart", "--json").json["selection"]
    assert 0 < fewer["count"] < selection["count"]


def test_a_selection_is_kept_as_a_base(cli: Any, tmp_path: Path) -> None:
    found = cli("ask", TAGGED, "--base", "brewing.base", "--json").json
    assert found["base"]["notes"] == found["selection"]["count"]
    assert 'file.hasTag("brewing")' in (tmp_path / "brewing.base").read_text()
    again = cli("ask", TAGGED, "--base", "brewing.base")
    assert f"base: brewing.base · {found['base']['notes']} notes: title" in again.out


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        (["ask", TAGGED, "--base", "brewing.yaml"], "suffix .base"),
        (["ask", TAGGED, "--base", "no-such/a.base"], "there is no folder"),
        (["ask", QUESTION, "--base", "a.base"], "not read as such; ask by what agentic-rag stats lists"),
        (["ask", TAGGED, "--base", "mine.base"], "agentic-rag did not write"),
    ],
)
def test_what_is_no_base_is_refused(cli: Any, tmp_path: Path, arguments: list[str], reason: str) -> None:
    (tmp_path / "mine.base").write_text("views: []\n")
    ended = cli(*arguments)
    assert ended.code == 2
    assert reason in ended.err
    assert (tmp_path / "mine.base").read_text() == "views: []\n"
    assert not (tmp_path / "a.base").exists()


STATS = [
    "dataset", "documents", "unfinished", "chunks", "graph", "unindexed", "model", "dimension", "metric", "configured_model",
    "reindex", "bytes", "old_bytes", "tables", "schema",
]  # fmt: skip


def test_stats(cli: Any, tmp_path: Path) -> None:
    found = cli("stats", "--json").json
    assert found == cli("stats", "--dataset", "default", "--json").json
    stats = found[0]
    assert list(stats) == STATS
    assert (stats["dataset"], stats["model"], stats["metric"]) == (
        "default",
        "multilingual-e5-small-int8",
        "cosine",
    )
    assert (stats["dimension"], stats["unindexed"], stats["reindex"]) == (384, 0.0, False)
    tables = {table["name"]: table for table in stats["tables"]}
    assert stats["chunks"] == tables["chunks"]["rows"] == stats["graph"]["episodes"]
    assert stats["graph"]["facts"] == tables["facts"]["rows"]
    assert stats["bytes"] == sum(table["bytes"] for table in stats["tables"]) > 100_000
    assert stats["old_bytes"] == sum(table["old_bytes"] for table in stats["tables"]) < 0.1 * stats["bytes"]
    words = next(index for index in tables["chunks"]["indexes"] if index["column"] == "search_text")
    assert words == {"column": "search_text", "kind": "FTS", "indexed": stats["chunks"], "unindexed": 0}
    properties = {one["name"]: one for one in stats["schema"]["properties"]}
    assert properties["lang"]["values"]["zh"] > 1
    shown = cli("stats").out
    for told in (
        "documents", "multilingual-e5-small-int8, 384 dimensions", "search_text FTS", "not indexed",
        "what the notes state", "tags: ", "folders: ",
    ):  # fmt: skip
        assert told in shown
    assert "no dataset yet" in cli("stats", "--data-dir", str(tmp_path / "none")).out
    assert cli("stats", "--data-dir", str(tmp_path / "none"), "--json").json == []
    assert not (tmp_path / "none").exists()


def test_a_changed_model_is_told_and_reindexed(
    cli: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, model_server: LocalOpenAIServer
) -> None:
    vault, data = tmp_path / "vault", str(tmp_path / "data")
    vault.mkdir()
    (vault / "Tea.md").write_text("# Tea\n\nWarm. See [[Kettle]].\n", encoding="utf-8")
    assert cli("ingest", str(vault), "--data-dir", data).code == 0
    monkeypatch.setenv("AGENTIC_RAG_EMBEDDING__BASE_URL", model_server.base_url)
    monkeypatch.setenv("AGENTIC_RAG_EMBEDDING__MODEL", "other")
    for command in (["ask", "tea"], ["search", "tea"], ["ingest", str(vault)]):
        refused = cli(*command, "--data-dir", data)
        assert refused.code == 1, command
        assert "was embedded with multilingual-e5-small-int8 (384 dimensions, cosine)" in refused.err
        assert "agentic-rag reindex --dataset default" in refused.err
    told = {
        finding["what"]: finding for finding in json.loads(cli("doctor", "--data-dir", data, "--json").out)
    }
    assert "reindex" in told["datasets"]["detail"]
    assert "its relevance is calibrated by reference pairs" in told["embedding"]["detail"]
    stats = cli("stats", "--data-dir", data, "--json").json[0]
    assert (stats["model"], stats["reindex"]) == ("multilingual-e5-small-int8", True)
    assert "agentic-rag reindex --dataset default" in cli("stats", "--data-dir", data).out
    done = cli("reindex", "--data-dir", data)
    assert done.code == 0, done.err
    assert "default: multilingual-e5-small-int8 (384 dimensions, cosine) → " in done.out
    stats = cli("stats", "--data-dir", data, "--json").json[0]
    assert (stats["dimension"], stats["reindex"]) == (model_server.dimension, False)
    assert cli("search", "warm tea", "--data-dir", data, "--json").json["results"]
    assert cli("ask", "warm tea", "--data-dir", data, "--json").json["results"]
    again = cli("reindex", "--data-dir", data, "--json").json
    assert again["rows"]["chunks"] == stats["chunks"]
    assert again["before"] == again["now"]


def test_graph_prints_mermaid(cli: Any) -> None:
    ended = cli("graph")
    assert ended.out == drawing("agentic_rag")
    assert ended.out.startswith("---")
    assert "rewrite_query" in ended.out


def test_explain_shows_both_sources(cli: Any) -> None:
    plain, explained = cli("ask", QUESTION), cli("ask", QUESTION, "--explain")
    assert "why these results" not in plain.out
    assert "why these results" in explained.out
    assert "graphiti" in explained.out.partition("why these results")[2]
    assert "[1] chemistry/Theanine.md" in plain.out
    assert "obsidian://open?vault=vault" in plain.out


def test_doctor_finds_and_names_the_cure(cli: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    findings = {finding["what"]: finding for finding in cli("doctor", "--json").json}
    assert findings["datasets"]["detail"].startswith("default (")
    assert findings["embedding"]["status"] == "ok"
    assert findings["embedding"]["detail"].endswith("its relevance is calibrated")
    assert findings["chat model"]["status"] == "off"
    assert "AGENTIC_RAG_CHAT__BASE_URL" in findings["chat model"]["cure"]
    monkeypatch.setenv("AGENTIC_RAG_CHAT__BASE_URL", "http://127.0.0.1:9/v1")
    monkeypatch.setenv("AGENTIC_RAG_CHAT__MODEL", "none")
    ended = cli("doctor")
    assert ended.code == 1
    assert "start the server" in ended.out


def test_doctor_tells_a_wrong_setting(cli: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AGENTIC_RAG_FUSION__K", "many")
    ended = cli("doctor")
    assert ended.code == 1
    assert "fusion.k" in ended.out


@pytest.mark.parametrize("question", ["\udcff", "茶\ud800"])
def test_odd_questions_are_printed(cli: Any, question: str) -> None:
    assert cli("ask", question).code == 0
    assert cli("ask", question, "--json").json["query"] == question


def test_a_named_file_that_cannot_be_read_ends_badly(cli: Any, tmp_path: Path) -> None:
    folder = tmp_path / "notes"
    folder.mkdir()
    (folder / "picture.md").write_bytes(bytes(range(128, 256)))
    (folder / "tea.md").write_text("Oolong comes from Fujian.")
    here = ("--data-dir", str(tmp_path / "data"))
    assert cli("ingest", str(folder), *here).code == 0, "among others"
    alone = cli("ingest", str(folder / "picture.md"), *here)
    assert alone.code == 1
    assert "not valid UTF-8" in alone.out


@pytest.mark.slow
def test_remove_takes_out_a_folder_that_is_gone_then_everything(cli: Any, tmp_path: Path) -> None:
    for name in ("gone", "kept"):
        (tmp_path / name).mkdir()
        (tmp_path / name / f"{name}.md").write_text("Oolong comes from Fujian.")
    here = ("--data-dir", str(tmp_path / "data"))
    assert cli("ingest", "gone", "kept", *here).code == 0
    shutil.rmtree(tmp_path / "gone")
    taken = cli("remove", "gone", "--json", *here).json
    assert (taken["counts"], taken["documents"]) == ({"removed": 1}, 1)
    for arguments in ((), ("kept", "--all")):
        assert "give either the paths" in cli("remove", *arguments, *here).err
    assert cli("remove", "--all", "--json", *here).json["documents"] == 0
    again = cli("remove", "--all", *here)
    assert again.code == 2
    assert "unknown dataset" in again.err
    assert cli("stats", "--json", *here).json == []
    assert "unknown dataset" in cli("stats", "--dataset", "default", *here).err


def test_a_link_to_itself_ends_badly_without_a_traceback(cli: Any, tmp_path: Path) -> None:
    loop = tmp_path / "loop"
    loop.symlink_to(loop)
    shown = cli("ingest", str(loop), "--data-dir", str(tmp_path / "data"))
    assert shown.code == 1
    assert "cannot be read" in shown.out + shown.err


def test_an_interrupted_ingest_says_how_it_goes_on(tmp_path: Path) -> None:
    # A process that is started in the background of a shell ignores the signal, and so do its children.
    heard = "signal.signal(signal.SIGINT, signal.default_int_handler)"
    command = [sys.executable, "-c", f"import signal; {heard}; from agentic_rag.cli import main; main()"]
    arguments = ["ingest", str(EXAMPLE_VAULT), "--data-dir", str(tmp_path)]
    with subprocess.Popen([*command, *arguments], stderr=subprocess.PIPE) as started:
        while not any(tmp_path.iterdir()):  # it is in the event loop then
            time.sleep(0.05)
        started.send_signal(signal.SIGINT)
        _, told = started.communicate(timeout=60)
    assert started.returncode == 130
    assert "interrupted; the same command continues from there" in told.decode()


def test_a_question_makes_no_data_folder(cli: Any, tmp_path: Path) -> None:
    assert cli("ask", "tea", "--dataset", "nothing", "--data-dir", ".agentic-rag").code == 2
    assert not (tmp_path / ".agentic-rag").exists()


@pytest.mark.slow
def test_the_installed_command(example_data: Path, tmp_path: Path) -> None:
    """As a process of its own, whose output is no terminal and whose locale is plain C."""
    command = str(Path(sys.executable).with_name("agentic-rag"))
    environment = {"PATH": os.environ["PATH"], "HOME": str(tmp_path), "LC_ALL": "C"}

    def run(*arguments: str) -> subprocess.CompletedProcess[bytes]:
        return subprocess.run(
            [command, *arguments], capture_output=True, cwd=tmp_path, env=environment, check=False
        )

    done = run("ask", "渥堆是什么?", "--data-dir", str(example_data), "--json")
    assert done.returncode == 0, done.stderr.decode()
    found = json.loads(done.stdout.decode("utf-8"))
    assert found["citations"]
    assert (EXAMPLE_VAULT / found["citations"][0]["path"]).is_file()
    assert done.stderr == b""
    shown = run("ask", "渥堆是什么?", "--data-dir", str(example_data), "--explain")
    assert shown.returncode == 0, shown.stderr.decode()
    assert b"\x1b[" not in shown.stdout


def test_lancedb_says_nothing_into_the_progress_bar(tmp_path: Path) -> None:
    """An index over many equal vectors, as of facts that are said again and again, is no warning to a reader."""
    script = f"""
import asyncio, sys
import numpy as np, pyarrow as pa
from agentic_rag.cli import main
from agentic_rag.stores.lancedb import compaction

sys.argv = ["agentic-rag", "--version"]
try:
    main()
except SystemExit:
    pass

async def index():
    import lancedb
    from lancedb.index import IvfSq
    vectors = pa.array(np.eye(8, dtype=np.float32)[[0] * 6000 + [1] * 3000].ravel())
    rows = pa.table({{"vector": pa.FixedSizeListArray.from_arrays(vectors, 8)}})
    table = await (await lancedb.connect_async({str(tmp_path)!r})).create_table("t", rows)
    await table.create_index("vector", config=IvfSq(num_partitions=3, distance_type="cosine"))
    import lance
    lance.dataset(await table.uri()).create_index("vector", "IVF_SQ", metric="cosine", num_partitions=3, replace=True)

asyncio.run(index())
"""
    loud = ("LANCEDB_LOG", "LANCE_LOG")
    quiet = {name: value for name, value in os.environ.items() if name not in loud}
    ran = subprocess.run(
        [sys.executable, "-c", script], env=quiet, capture_output=True, text=True, check=True
    )
    assert ran.stderr == ""
