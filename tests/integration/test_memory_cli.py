"""The ``memory`` commands: output, exit codes, JSON, invalid input."""

from __future__ import annotations

import shutil
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from agentic_rag.cli.app import app
from command_line import Run, command_line

OSLO = "I live in Oslo"
BERGEN = "I live in Bergen now"
ANSWERS = "I prefer short answers."


@pytest.fixture
def memory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Run:
    """Runs ``agentic-rag memory`` in this process, in an empty folder, 80 columns wide."""
    monkeypatch.delenv("AGENTIC_RAG_DATA_DIR", raising=False)
    return partial(command_line(tmp_path, 80, monkeypatch, capsys), "memory")


@pytest.fixture(scope="module")
def said(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder in which Ada has said where she lived and lives, and what she prefers."""
    folder = tmp_path_factory.mktemp("said")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        for text, at in ((f"{OSLO}. {ANSWERS}", "2024-01-10"), (BERGEN, "2024-06-05")):
            added = CliRunner().invoke(app, ["memory", "add", text, "--user-id", "ada", "--at", at])
            assert added.exit_code == 0
    return folder


@pytest.fixture
def told(memory: Run, said: Path, tmp_path: Path) -> Run:
    shutil.copytree(said, tmp_path, dirs_exist_ok=True)
    return memory


@pytest.mark.parametrize("command", ["add", "search", "list", "forget", "export", "import"])
def test_every_command_has_help(command: str) -> None:
    shown = CliRunner().invoke(app, ["memory", command, "--help"])
    assert shown.exit_code == 0
    for option in ("--user-id", "--json", "--data-dir", "--settings"):
        assert option in shown.output


@pytest.mark.parametrize(
    "arguments",
    [["add", OSLO], ["search", "Where?"], ["list"], ["forget", "--all"], ["export", "f"], ["import", "f"]],
)
def test_without_a_user_nothing_is_done(memory: Run, tmp_path: Path, arguments: list[str]) -> None:
    ended = memory(*arguments)
    assert ended.code == 2
    assert "--user-id" in ended.err
    ended = memory(*arguments, "--user-id", " ")
    assert ended.code == 2
    assert "a memory needs the id of its user" in ended.err
    assert list(tmp_path.iterdir()) == []


def test_add_shows_what_was_kept_and_why(told: Run) -> None:
    kept = told("add", "I live in Turku now.", "--user-id", "ada", "--at", "2024-09-01").out
    assert "kept verbatim as said-000000003-" in kept
    assert "superseded  I live in Bergen now" in kept
    assert "user, lives in: Bergen, until 2024-09-01" in kept
    assert "new         I live in Turku now" in kept
    assert all(len(line) <= 80 for line in kept.splitlines())
    again = told("add", ANSWERS, "--user-id", "ada").out
    assert "repeated  I prefer short answers" in again


def test_add_as_json(memory: Run) -> None:
    given = [
        "--at",
        "2024-01-10",
        "--speaker",
        "Ada",
        "--metadata",
        "session=3",
        "--metadata",
        "from=the phone",
    ]
    kept = memory("add", OSLO, "--user-id", "ada", *given, "--json").json
    assert list(kept) == ["user_id", "text", "evidence_id", "memories"]
    assert {one["change"] for one in kept["memories"]} == {"new"}
    assert set(kept["memories"][0]) == {"id", "memory_type", "content", "change", "reason"}
    (said,) = memory("list", "--user-id", "ada", "--type", "episodic", "--json").json["memories"]
    assert said["id"] == kept["evidence_id"]
    assert said["metadata"] == {"session": 3, "from": "the phone", "speaker": "Ada"}
    assert said["at"].startswith("2024-01-10")


def test_what_an_assistant_says_tells_nothing_of_the_user(memory: Run) -> None:
    kept = memory("add", OSLO, "--user-id", "ada", "--role", "assistant")
    assert "no other memory was derived from it" in kept.out


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["add", "  "], "there is nothing to remember"),
        (["add", OSLO, "--at", "last week"], "must be an ISO date or time"),
        (["add", OSLO, "--metadata", "session"], "write KEY=VALUE"),
        (["search", "  "], "the question is empty"),
        (["search", "Where?", "--type", "nonsense"], "'core', 'episodic', 'semantic'"),
        (["search", "Where?", "--strategy", "nonsense"], "'embedding', 'bm25'"),
        (["search", "Where?", "--as-of", "then"], "as_of must be an ISO date"),
        (["search", "Where?", "--top-k", "0"], "--top-k"),
        (["list", "--type", "nonsense"], "'core', 'episodic', 'semantic'"),
        (["forget"], "give either the ids"),
        (["forget", "said-1", "--all"], "or --all to forget everything"),
        (["import", "missing.jsonl"], "missing.jsonl"),
    ],
)
def test_bad_input_says_what_to_give(memory: Run, arguments: list[str], says: str) -> None:
    ended = memory(*arguments, "--user-id", "ada")
    assert (ended.code, ended.out) == (2, "")
    assert says in ended.err
    assert "Traceback" not in ended.err


@pytest.mark.parametrize("arguments", [["search", "Where do I live?"], ["list"], ["forget", "--all"]])
def test_of_an_unknown_user_it_says_so(memory: Run, tmp_path: Path, arguments: list[str]) -> None:
    ended = memory(*arguments, "--user-id", "no one")
    assert ended.code == 0
    assert ended.out.splitlines() == [
        "user 'no one' has no memories yet",
        "add one: agentic-rag memory add \"…\" --user-id 'no one'",
    ]
    assert list(tmp_path.iterdir()) == []
    memory("add", OSLO, "--user-id", "ada")
    assert memory(*arguments, "--user-id", "no one").out == ended.out


def test_search_gives_what_holds_and_what_held(told: Run) -> None:
    shown = told("search", "Where do I live?", "--user-id", "ada").out
    assert BERGEN in shown.splitlines()[0]
    assert "2024-06-05 · user, lives in: Bergen" in shown
    assert "core_agent" not in shown
    then = told("search", "Where do I live?", "--user-id", "ada", "--as-of", "2024-02-01").out
    assert "held until 2024-06-05" in " ".join(then.split())
    assert BERGEN not in then


def test_explain_shows_routing_outcomes_and_sources(told: Run) -> None:
    shown = told("search", "Where do I live?", "--user-id", "ada", "--explain").out
    assert "core_agent by embedding: rank 1, base" in shown
    assert "routing by rules: core" in shown
    assert 'core: the query asks who the person is or what suits them ("do I live").' in shown
    assert "ok: semantic_agent: " in shown
    assert "empty: working_agent: 0 in" in shown
    assert all(len(line) <= 80 for line in shown.splitlines())


def test_search_as_json(told: Run) -> None:
    asked = ["Where do I live?", "--user-id", "ada", "--type", "semantic", "--type", "core", "--json"]
    found = told("search", *asked, "--strategy", "string_match", "--top-k", "2").json
    assert list(found) == ["user_id", "query", "known", "memories", "routing", "outcomes", "seconds"]
    assert set(found["outcomes"]) == {"core_agent", "semantic_agent"}
    assert set(found["routing"]["selected_strategies"].values()) == {"string_match"}
    assert found["routing"]["method"] == "given"
    assert len(found["memories"]) <= 2
    best = found["memories"][0]
    assert best["content"] == BERGEN
    assert {source["agent"] for source in best["sources"]} == {"core_agent", "semantic_agent"}


def test_where_every_agent_fails_the_run_failed(told: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    async def fails(*_: Any, **__: Any) -> Any:
        raise RuntimeError("the disk is gone")

    monkeypatch.setattr("agentic_rag.memory.agents.base.StoredAgent._search", fails)
    ended = told("search", "Where do I live?", "--user-id", "ada")
    assert ended.code == 1
    assert "failed: core_agent: RuntimeError: the disk is gone" in ended.out


def test_list_shows_what_holds_and_with_ended_what_held(told: Run) -> None:
    shown = told("list", "--user-id", "ada").out
    assert "core · who the person is (2)" in shown
    assert "episodic · what was said (2)" in shown
    assert "held until" not in shown
    facts = told("list", "--user-id", "ada", "--type", "semantic", "--ended").out
    assert "user, lives in: Oslo · held until 2024-06-05" in " ".join(facts.split())
    assert "episodic" not in facts
    assert all(len(line) <= 80 for line in (shown + facts).splitlines())
    assert "none of this kind" in told("list", "--user-id", "ada", "--type", "procedural").out


def test_what_is_forgotten_is_gone(told: Run) -> None:
    records = told("list", "--user-id", "ada", "--type", "core", "--json").json["memories"]
    preference = next(one["id"] for one in records if one["content"] == ANSWERS.rstrip("."))
    ended = told("forget", preference, "--user-id", "ada")
    assert ended.code == 0
    assert "searches for them found none" in ended.out
    assert told("search", "Which answers do I prefer?", "--user-id", "ada", "--json").json["memories"][0][
        "content"
    ] not in (ANSWERS.rstrip("."), f"{OSLO}. {ANSWERS}")
    again = told("forget", preference, "--user-id", "ada")
    assert again.code == 2
    assert f"this user has no memory '{preference}'" in again.err
    other = told("forget", preference, "--user-id", "bo")
    assert other.code == 2


def test_everything_is_deleted_only_when_agreed(told: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("typer.confirm", _refusing)
    assert told("forget", "--all", "--user-id", "ada").code == 1
    assert told("list", "--user-id", "ada", "--json").json["memories"]
    gone = told("forget", "--all", "--yes", "--user-id", "ada", "--json").json
    assert list(gone) == ["user_id", "deleted", "searched", "found"]
    assert gone["deleted"] > 0
    assert gone["searched"] > 0
    assert gone["found"] == 0
    assert told("list", "--user-id", "ada", "--ended", "--json").json["memories"] == []


def _refusing(question: str, *, abort: bool, err: bool) -> None:
    assert "memories of 'ada'?" in question
    assert abort
    assert err
    raise SystemExit(1)


def test_what_is_exported_can_be_imported(told: Run, tmp_path: Path) -> None:
    written = told("export", "ada.jsonl", "--user-id", "ada", "--json").json
    lines = (tmp_path / "ada.jsonl").read_text("utf-8").splitlines()
    assert written == {"user_id": "ada", "file": "ada.jsonl", "memories": len(lines) - 1}
    assert (
        f"{len(lines) - 1} memories of 'bo' read from ada.jsonl"
        in told("import", "ada.jsonl", "--user-id", "bo").out
    )
    ada, bo = (
        told("list", "--user-id", user, "--ended", "--json").json["memories"] for user in ("ada", "bo")
    )
    assert ada == bo
    assert (
        told("search", "Where do I live?", "--user-id", "bo", "--json").json["memories"][0]["content"]
        == BERGEN
    )


def test_a_broken_export_is_not_imported(told: Run, tmp_path: Path) -> None:
    told("export", "ada.jsonl", "--user-id", "ada")
    heading, first, *rest = (tmp_path / "ada.jsonl").read_text("utf-8").splitlines()
    broken = {
        "is no export of memories": ["{}"],
        "line 2, is no JSON": [heading, first[:-1], *rest],
        "it was cut short": [heading, first],
    }
    for says, lines in broken.items():
        (tmp_path / "broken.jsonl").write_text("\n".join(lines) + "\n", "utf-8")
        ended = told("import", "broken.jsonl", "--user-id", "bo")
        assert ended.code == 2
        assert says in ended.err
    assert "user 'bo' has no memories yet" in told("list", "--user-id", "bo").out
    unwritable = told("export", "no/such/folder.jsonl", "--user-id", "ada")
    assert unwritable.code == 2
    assert "cannot write" in unwritable.err
