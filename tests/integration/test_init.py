"""``init``: the folder works completely, and nothing is overwritten."""

from __future__ import annotations

import json
import runpy
from pathlib import Path

import pytest
from typer.testing import CliRunner

from agentic_rag import RagConfig, open_rag_blocking
from agentic_rag.cli.app import app
from agentic_rag.cli.init import write_starter
from agentic_rag.errors import InputError
from agentic_rag.settings.environment import load_config

ROOT = Path(__file__).resolve().parents[2]


def test_its_notes_are_asked_without_an_event_loop(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    written = write_starter(tmp_path)
    monkeypatch.chdir(tmp_path)
    config = load_config()
    assert config.answer.sentences == 6
    with open_rag_blocking(RagConfig(data_dir=config.data_dir)) as rag:
        assert rag.ingest("notes").documents == sum(path.parts[0] == "notes" for path in written)
        answer = rag.ask("Why was my loaf flat?")
        assert answer.citations[0]["path"] == "2025-03-08 Flat loaf.md"
        assert [result.metadata["path"] for result in rag.search("starter", top_k=1)] == ["Starter.md"]
        state = rag.invoke({"query": "Why was my loaf flat?", "operation": "document_retrieval"})
        assert state["messages"][-1].text == state["answer"]
        assert state["messages"][-1].additional_kwargs["citations"] == state["citations"]
        assert rag.wait(rag.rag.knowledge.counts, "default").episodes > 0
        assert rag.remove("notes").documents == 0


def test_what_studio_needs_is_the_checkouts_own(tmp_path: Path) -> None:
    write_starter(tmp_path)
    for name in ("langgraph.json", "configs/locomo_agentic_memory_pipeline.yaml"):
        assert (tmp_path / name).read_text("utf-8") == (ROOT / name).read_text("utf-8"), name
    for place in json.loads((tmp_path / "langgraph.json").read_text("utf-8"))["graphs"].values():
        path, _, function = place.partition(":")
        for folder in (tmp_path, ROOT):
            assert callable(runpy.run_path(str(folder / path))[function])


def test_nothing_is_overwritten(tmp_path: Path) -> None:
    (tmp_path / "langgraph.json").write_text("mine")
    with pytest.raises(InputError, match=r"langgraph\.json already"):
        write_starter(tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["langgraph.json"]
    (tmp_path / "file").write_text("")
    with pytest.raises(InputError, match="cannot write into"):
        write_starter(tmp_path / "file")


def test_the_command_that_it_suggests_is_quoted(tmp_path: Path) -> None:
    ended = CliRunner().invoke(app, ["init", str(tmp_path / "My Notes")])
    assert f"cd '{tmp_path / 'My Notes'}' && agentic-rag ingest notes" in ended.output
