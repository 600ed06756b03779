"""BEAM conversations through ``eval`` and ``bench`` on real stores: told, asked, scored by message."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from rich.console import Console

from agentic_rag import RagConfig, open_rag
from agentic_rag.errors import InputError
from agentic_rag.testing import HashingEmbedding
from agentic_rag_lab.cli.bench import print_bench, print_comparison
from agentic_rag_lab.cli.evaluate import tables
from agentic_rag_lab.designs.config import parse_pipeline
from agentic_rag_lab.evaluation.bench.comparing import comparison, read_runs
from agentic_rag_lab.evaluation.bench.run import BenchOptions, BenchReport, run_bench
from agentic_rag_lab.evaluation.report import EvalReport, markdown
from agentic_rag_lab.evaluation.run import EvalOptions, evaluate
from beam_files import write
from local_openai_server import LocalOpenAIServer


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
    assert control.reused_answers == 0
    assert control.records != plain.records
    again = await evaluated(tmp_path, source)
    assert again.reused_answers == 9 * 2 + 1


async def test_a_control_of_other_data_is_refused(tmp_path: Path):
    (tmp_path / "some.json").write_text("[]", encoding="utf-8")
    with pytest.raises(InputError, match="the control is for BEAM conversations"):
        await evaluated(tmp_path, tmp_path / "some.json", control=True)
    write(tmp_path / "chats" / "100K" / "1")
    write(tmp_path / "chats" / "100K" / "2")
    with pytest.raises(InputError, match="2 conversations; give one of them: 100K/1, 100K/2"):
        await evaluated(tmp_path, tmp_path / "chats")


async def benched(
    folder: Path, data: Path, service: str = "full_context", task: str | None = None, *, control: bool = False
) -> BenchReport:
    design = parse_pipeline({"services": {"register_memory_service": service}}, name=service)
    options = BenchOptions(data=data, task_id=task, control=control)
    return await run_bench(design, RagConfig(data_dir=folder / "data"), options)


async def test_a_design_is_asked_after_the_whole_conversation(tmp_path: Path):
    write(tmp_path / "chats" / "100K" / "1")
    report = await benched(tmp_path, tmp_path / "chats", task="100K/1")
    found = report.summary
    assert (found["task"], found["questions"], found["failed"]) == ("100K/1", 11, 0)
    assert found["inserts"]["100K/1"]["packets"] == 12
    rows = [
        json.loads(line)
        for line in (report.folder / "100K-1" / "records.jsonl").read_text(encoding="utf-8").splitlines()[1:]
    ]
    assert {row["tested_after"] for row in rows} == {11}
    assert all(len(memory["turns"]) == 1 for row in rows for memory in row["memories"])
    assert found["beam"]["by_kind"]["information_extraction"]["recall@10"] == 1.0
    # The last of twelve messages in the order they were said are not among the ten.
    assert found["beam"]["by_kind"]["knowledge_update"]["recall@10"] == pytest.approx(2 / 3, abs=1e-6)
    assert found["beam"]["by_kind"]["event_ordering"]["tau"] == 1.0
    assert len(found["repairs"]) == 10
    assert (await benched(tmp_path, tmp_path / "chats", task="100K/1")).reused_answers == 11


async def test_all_conversations_count_alike(tmp_path: Path):
    for name in ("100K/1", "500K/1"):
        write(tmp_path / "chats" / name)
    found = (await benched(tmp_path, tmp_path / "chats", "no_memory", "all")).summary
    assert found["beam"]["conversations"] == 2
    assert set(found["by_task"]) == {"100K/1", "500K/1"}
    assert found["beam"]["abstention"]["abstained"] == 1.0
    assert found["beam"]["six_kinds"]["recall@10"] == 0.0


async def test_the_control_is_a_run_of_its_own(tmp_path: Path):
    folder = write(tmp_path / "100K" / "1")
    plain, control = await benched(tmp_path, folder), await benched(tmp_path, folder, control=True)
    assert plain.folder != control.folder
    assert (plain.summary["control"], control.summary["control"]) == (False, True)
    texts = [
        json.loads(line)["memories"][2]["text"]
        for line in (control.folder / "100K-1" / "records.jsonl").read_text(encoding="utf-8").splitlines()[1:]
    ]
    assert set(texts) == {"(2024-03-03)user: answer with short sentences."}


async def test_runs_are_compared_by_what_takes_no_model(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("COLUMNS", "80")
    folder = write(tmp_path / "100K" / "1")
    reports = [await benched(tmp_path, folder, service) for service in ("no_memory", "full_context")]
    print_bench(reports[1])
    shown = capsys.readouterr().out
    for told in ("contradiction_resolution", "six kinds", "not answered:", "1.00 (1)"):
        assert told in shown
    print_comparison(comparison(read_runs([report.folder for report in reports])))
    shown = capsys.readouterr().out
    assert "BEAM: messages found" in shown
    assert "F1 by category" not in shown


async def test_a_chat_model_judges_the_rubric(tmp_path: Path, model_server: LocalOpenAIServer):
    model_server.answer = "CORRECT"
    runtime = {"base_url": model_server.base_url, "model_name": "m", "llm_judge": True}
    services = {"register_memory_service": "no_memory"}
    design = parse_pipeline({"runtime": runtime, "services": services})
    options = BenchOptions(data=write(tmp_path / "100K" / "1"))
    found = (await run_bench(design, RagConfig(data_dir=tmp_path / "data"), options)).summary
    kinds = ("contradiction_resolution", "event_ordering", "abstention")
    assert found["failed"] == 0
    assert found["beam"]["rubric"] == dict.fromkeys(("overall", *kinds), 1.0)


async def test_a_folder_without_conversations_is_refused(tmp_path: Path):
    with pytest.raises(
        InputError, match=r"give a LoCoMo \.json, or a folder of BEAM conversations, with --data"
    ):
        await benched(tmp_path, tmp_path)
