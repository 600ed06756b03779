"""``tune`` from labelled queries to the settings file that ``ask`` reads, on real stores."""

from __future__ import annotations

import json
import re
import sys
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import agentic_rag.cli
from agentic_rag import RagConfig, open_rag
from agentic_rag.errors import InputError
from agentic_rag.settings.environment import load_config
from agentic_rag_lab.evaluation.datasets import half_of, load_dataset
from agentic_rag_lab.evaluation.run import EvalOptions, evaluate
from agentic_rag_lab.evaluation.tuning.run import TuneOptions, TuneReport, tune

THINGS = (
    "bicycle kettle violin lantern hammock compass teapot umbrella sledge telescope anvil canoe "
    "trumpet quilt marble chisel saddle abacus harpoon locket"
).split()
PLANTED = 0.3
"""Gain of the reciprocal rank that the better setting has at the least."""
CHATTER = "well so then we went on and on about the weather and the neighbours and the garden and the roof"


def locomo(folder: Path, *, planted: bool = True) -> Path:
    """Two conversations that say of each thing two sentences of which the short one is the answer.

    Of two turns that say the same the rerank by default prefers the longer one; not ``planted``, the long
    turn is the answer as often as the short one.
    """
    conversations = []
    for key, things in enumerate((THINGS[::2], THINGS[1::2])):
        turns, questions = [], []
        for place, thing in enumerate(things):
            short, long = f"D1:{4 * place + 1}", f"D1:{4 * place + 3}"
            for said, text in (
                (short, f"my {thing} is {'red' if place % 2 else 'blue'}"),
                (f"D1:{4 * place + 2}", "I see what you mean"),
                (long, f"about my {thing}: {CHATTER}"),
                (f"D1:{4 * place + 4}", "I see what you mean"),
            ):
                turns.append({"speaker": ("Ann", "Ben")[len(turns) % 2], "dia_id": said, "text": text})
            answer = short if planted or place % 2 else long
            questions.append(
                {"question": f"the {thing} please", "evidence": [answer], "category": 4, "answer": "x"}
            )
        conversation = {
            "speaker_a": "Ann",
            "speaker_b": "Ben",
            "session_1_date_time": "1:56 pm on 1 May, 2023",
            "session_1": turns,
        }
        conversations.append({"sample_id": f"conv-{key}", "conversation": conversation, "qa": questions})
    path = folder / "things.json"
    path.write_text(json.dumps(conversations), encoding="utf-8")
    return path


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with ``things.json``, ``data`` (ingested once for all tests) and ``chance/things.json``."""
    folder = tmp_path_factory.mktemp("tune")
    (folder / "chance").mkdir()
    locomo(folder)
    locomo(folder / "chance", planted=False)
    return folder


async def tuned(place: Path, config: dict[str, Any] | None = None, **options: Any) -> TuneReport:
    source = place / "things.json"
    async with open_rag(RagConfig(data_dir=place / "data", **(config or {}))) as rag:
        return await tune(rag, source, TuneOptions(**options))


async def figure(place: Path, sections: dict[str, Any]) -> float:
    async with open_rag(RagConfig(data_dir=place / "data", **sections)) as rag:
        found = await evaluate(rag, place / "things.json", EvalOptions(systems=["fused+rerank"]))
    return float(found.systems["fused+rerank"]["mrr@10"]["value"])


async def test_a_planted_better_setting_is_found_and_does_what_was_said(place: Path) -> None:
    told = await tuned(place)
    assert (told.queries, told.folds, told.grouped) == (20, 2, True)
    assert told.ranking.beyond_chance
    assert told.ranking.default["value"] == pytest.approx(await figure(place, {}), abs=1e-6)
    sections: dict[str, dict[str, Any]] = {}
    for name, value in told.settings.items():
        sections.setdefault(name.partition(".")[0], {})[name.partition(".")[2]] = value
    assert told.ranking.chosen["value"] == pytest.approx(await figure(place, sections), abs=1e-6)
    assert told.ranking.chosen["value"] > told.ranking.default["value"] + PLANTED
    # what is tuned is compared with the program's defaults, whatever is set now
    assert (await tuned(place, sections)).to_dict() == told.to_dict()


async def test_a_half_is_tuned_on_and_the_keys_put_right_before(place: Path, tmp_path: Path) -> None:
    asked = [query.id for query in load_dataset(place / "things.json").ranked_queries]
    own = [query for query in asked if half_of(query) == "second"]
    overlay = tmp_path / "fix.json"
    overlay.write_text(json.dumps({own[0]: {"drop": "wrong key"}}), encoding="utf-8")
    assert (await tuned(place, half="second")).queries == len(own) < len(asked)
    told = await tuned(place, half="second", corrections=overlay)
    assert told.queries == len(own) - 1
    assert any("wrong key" in line for line in told.repairs)


@pytest.mark.parametrize(
    ("options", "config", "told"),
    [
        ({"half": "third"}, {}, "first, second"),
        ({"measure": "luck@10"}, {}, "unknown measure 'luck@10'"),
        ({"measure": "mrr"}, {}, "unknown measure 'mrr'"),
        ({"operation": "dance"}, {}, "dance"),
        ({"limit": 9}, {}, "has 9 queries .* at least 10"),
        ({}, {"rerank": {"method": "cross_encoder", "model": "m"}}, "rerank.method is 'cross_encoder'"),
    ],
)
async def test_what_cannot_be_tuned(
    place: Path, monkeypatch: pytest.MonkeyPatch, options: dict[str, Any], config: dict[str, Any], told: str
) -> None:
    monkeypatch.setattr("agentic_rag.models.rerankers.CrossEncoderReranker", lambda name: None)
    with pytest.raises(InputError, match=told):
        await tuned(place, config, **options)


# --- the command ---------------------------------------------------------------------------------

Command = Callable[..., int]


@pytest.fixture
def command(place: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Command:
    """Runs ``agentic-rag tune`` in an empty folder; gives the exit code."""
    for name in ("disable", "enable", "freeze"):  # for a process that ends with its command
        monkeypatch.setattr(f"gc.{name}", lambda: None)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "140")

    def called(*arguments: str) -> int:
        given = ["agentic-rag", "tune", *arguments, "--data-dir", str(place / "data")]
        monkeypatch.setattr(sys, "argv", given)
        with pytest.raises(SystemExit) as end:
            agentic_rag.cli.main()
        return int(end.value.code or 0)

    return called


def test_the_command_writes_the_settings_that_ask_reads(
    place: Path, command: Command, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    file = place / "data" / "settings.toml"
    file.parent.mkdir(exist_ok=True)
    file.write_text('# mine\n[answer]\nsentences = 3\n\n[rerank]\nmodel = "m"\n', encoding="utf-8")
    assert command(str(place / "things.json"), "--json", "out/a.json") == 0
    shown = capsys.readouterr().out
    for told in ("things: 20 queries, document_retrieval", "rerank.method", "is beyond chance", str(file)):
        assert told in shown
    written = tomllib.loads(file.read_text(encoding="utf-8"))
    lines = file.read_text(encoding="utf-8").splitlines()
    file.unlink()
    assert lines[0].startswith("# tuned by agentic-rag tune: ")
    told = re.search(
        r"things, 20 queries, document_retrieval; mrr@10 held out (\S+) -> (\S+), p = ", lines[0]
    )
    assert told is not None, lines[0]
    assert float(told[1]) + PLANTED < float(told[2])
    assert lines[1] == "# mine"
    assert written["answer"]["sentences"] == 3
    assert written["rerank"] == {"model": "m", "method": "none"}
    said = json.loads(Path("out/a.json").read_text(encoding="utf-8"))
    assert said["written"] == str(file)
    assert said["settings"]["rerank.method"] == "none"
    monkeypatch.setenv("AGENTIC_RAG_RERANK__METHOD", "offline")
    assert command(str(place / "things.json")) == 0
    assert "environment variables override the file's rerank.method" in capsys.readouterr().out
    assert load_config(place / "data").rerank.method == "offline"
    monkeypatch.delenv("AGENTIC_RAG_RERANK__METHOD")
    assert load_config(place / "data").rerank.method == "none"
    file.unlink()


def test_what_is_chance_is_said_and_not_written(
    place: Path, command: Command, capsys: pytest.CaptureFixture[str]
) -> None:
    assert command(str(place / "chance" / "things.json"), "--write", "mine.toml") == 0
    shown = capsys.readouterr().out
    assert "no gain beyond chance" in shown
    assert "nothing written" in shown
    assert not Path("mine.toml").exists()


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["gone.json"], "there is no file or folder 'gone.json'"),
        ([__file__, "--write", "broken.toml"], "broken.toml is not TOML"),
        ([__file__, "--json", "broken.toml/x.json"], "cannot write broken.toml/x.json"),
    ],
)
def test_bad_input_is_told(
    command: Command, capsys: pytest.CaptureFixture[str], arguments: list[str], told: str
) -> None:
    Path("broken.toml").write_text("k =", encoding="utf-8")
    assert command(*arguments) == 2
    assert told in capsys.readouterr().err
