"""A BEAM conversation through ``eval`` on real stores: ingested, asked, scored by message."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from rich.console import Console

from agentic_rag import RagConfig, open_rag
from agentic_rag.cli.evaluate import tables
from agentic_rag.errors import InputError
from agentic_rag.evaluation.report import EvalReport, markdown
from agentic_rag.evaluation.run import EvalOptions, evaluate
from agentic_rag.testing import HashingEmbedding
from beam_files import write


async def evaluated(folder: Path, source: Path, *, control: bool = False) -> EvalReport:
    config = RagConfig(data_dir=folder / "data")
    async with open_rag(config, embedding=HashingEmbedding()) as rag:
        return await evaluate(rag, source, EvalOptions(systems=["sparse", "full"], control=control))


async def test_a_conversation_is_scored_by_message(tmp_path: Path):
    report = await evaluated(tmp_path, write(tmp_path / "chats" / "100K" / "1"))
    assert (report.dataset, report.queries) == ("100K/1", 9)
    assert (report.abstention["unanswerable"], report.abstention["answerable"]) == (1, 9)
    assert len(report.repairs) == 10
    assert "not ingested" not in str(report.repairs)
    found = report.beam["sparse"]
    assert found["by_kind"]["knowledge_update"]["both@10"] == 1.0
    assert found["by_kind"]["event_ordering"]["recall@20"] is not None
    assert found["by_kind"]["information_extraction"]["questions"] == 1
    records = [json.loads(line) for line in report.records.read_text(encoding="utf-8").splitlines()[1:]]
    assert all(chunk.startswith("100K/1/batch_") for record in records for chunk in record["ranking"])


async def test_what_is_printed_fits_a_terminal(tmp_path: Path):
    report = await evaluated(tmp_path, write(tmp_path / "100K" / "1") / "chat.json")
    console = Console(width=80, record=True)
    for table in tables(report):
        console.print(table)
    shown = console.export_text()
    assert "BEAM: messages found" in shown
    assert max(map(len, shown.splitlines())) <= 80
    assert "| `full` | six kinds |" in markdown(report)
    assert "beam" in report.to_dict()


async def test_the_control_is_a_dataset_of_its_own(tmp_path: Path):
    source = write(tmp_path / "100K" / "1")
    plain = await evaluated(tmp_path, source)
    control = await evaluated(tmp_path, source, control=True)
    assert control.dataset == "100K/1 without always and never"
    assert control.kept == 0
    assert control.records != plain.records
    again = await evaluated(tmp_path, source)
    assert again.kept == 9 * 2 + 1


async def test_a_control_of_other_data_is_refused(tmp_path: Path):
    (tmp_path / "some.json").write_text("[]", encoding="utf-8")
    with pytest.raises(InputError, match="the control is for BEAM conversations"):
        await evaluated(tmp_path, tmp_path / "some.json", control=True)
    write(tmp_path / "chats" / "100K" / "1")
    write(tmp_path / "chats" / "100K" / "2")
    with pytest.raises(InputError, match="2 conversations; give one of them: 100K/1, 100K/2"):
        await evaluated(tmp_path, tmp_path / "chats")
