"""``agentic-rag bench`` from a design and a conversation to the table: whole, interrupted, broken, compared."""

from __future__ import annotations

import io
import json
import signal
import subprocess
import sys
import time
from collections.abc import Mapping
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path
from typing import Any

import pytest
import yaml

import agentic_rag.cli
from agentic_rag.errors import ConfigError, InputError, ModelError, StoreLocked
from agentic_rag.settings.config import RagConfig
from agentic_rag.settings.parameters import Section
from agentic_rag.stores.lancedb.process_lock import only_one
from agentic_rag.testing import HashingEmbedding, ScriptedChat
from agentic_rag_lab.designs import data_parser, services
from agentic_rag_lab.designs.config import parse_pipeline, read_pipeline
from agentic_rag_lab.designs.data_parser import register_adapter
from agentic_rag_lab.designs.memory import Memory
from agentic_rag_lab.designs.open_lab import open_lab
from agentic_rag_lab.designs.services import register_service
from agentic_rag_lab.evaluation.bench.comparing import comparison, read_runs
from agentic_rag_lab.evaluation.bench.run import STORES, BenchOptions, BenchReport, _Run, run_bench
from local_openai_server import LocalOpenAIServer

CONFIGS = Path(__file__).parents[2] / "configs"
SAID = [
    ("8 May, 2023", [("Alice", "I work at Google now, as an engineer."), ("Bob", "Great! I moved to Paris."),
                     ("Alice", "My dog is called Rex.")]),
    ("9 June, 2023", [("Bob", "Yesterday I ran a marathon."), ("Alice", "Wow, congratulations!"),
                      ("Bob", "I want to learn the piano."), ("Alice", "My sister teaches the violin.")]),
    ("1 July, 2023", [("Alice", "We adopted a cat, Luna."), ("Bob", "Luna is a lovely name for a cat.")]),
]  # fmt: skip
ASKED = [
    ("Where does Alice work?", "Google", ["D1:1"], 4),
    ("What is the name of Alice's dog?", "Rex", ["D1:3"], 4),
    ("When did Bob run a marathon?", "8 June 2023", ["D2:1"], 2),
    ("Which animals does Alice have?", "dog, cat", ["D1:3", "D3:1"], 1),
    ("What might Bob buy?", "a piano", ["D2:3"], 3),
    ("Where does Bob's sister teach?", None, ["D2:4"], 5),
]


def conversation(name: str = "conv-1") -> dict[str, Any]:
    inner: dict[str, Any] = {"speaker_a": "Alice", "speaker_b": "Bob"}
    for number, (date, turns) in enumerate(SAID, start=1):
        inner[f"session_{number}_date_time"] = f"1:56 pm on {date}"
        inner[f"session_{number}"] = [
            {"speaker": who, "dia_id": f"D{number}:{turn}", "text": text}
            for turn, (who, text) in enumerate(turns, start=1)
        ]
    qa = [
        {"question": q, "evidence": e, "category": c, **({} if a is None else {"answer": a})}
        for q, a, e, c in ASKED
    ]
    return {"sample_id": name, "conversation": inner, "qa": qa}


@pytest.fixture
def data(tmp_path: Path) -> Path:
    file = tmp_path / "locomo.json"
    file.write_text(json.dumps([conversation(), conversation("conv-2")]), encoding="utf-8")
    return file


def design(service: str = "full_context", **sections: Any) -> Any:
    return parse_pipeline({"services": {"register_memory_service": service}, **sections}, name="design")


async def bench(
    tmp_path: Path, config: Any, data: Path, task: str | None = "conv-1", **options: Any
) -> BenchReport:
    rag_config = RagConfig(data_dir=tmp_path / "data")
    return await run_bench(config, rag_config, BenchOptions(data=data, task_id=task, **options))


RECALLS = {
    "locomo_full_context_pipeline": 1.0,
    "locomo_agentic_memory_pipeline": 1.0,
    "locomo_no_memory_pipeline": 0.0,
}
"""Of the designs of which it is known without a run."""


@pytest.mark.parametrize("file", sorted(CONFIGS.glob("*.yaml")), ids=lambda file: file.stem)
async def test_every_shipped_design_accounts_for_every_question(file: Path, tmp_path: Path, data: Path):
    report = await bench(tmp_path, read_pipeline(file), data)
    found = report.summary
    assert (found["questions"], found["tested"], found["failed"]) == (len(ASKED), len(ASKED), 0)
    assert sum(category["questions"] for category in found["by_category"].values()) == len(ASKED)
    assert found["overall"]["evidence_questions"] == len(ASKED) - 1
    assert found["reader"] == "extractive"
    recall = found["overall"]["evidence_recall@10"]
    assert recall == RECALLS.get(file.stem, recall)
    rows = [
        json.loads(line) for line in (report.folder / "conv-1" / "records.jsonl").read_text().splitlines()[1:]
    ]
    assert sorted(row["question_id"] for row in rows) == list(range(1, len(ASKED) + 1))
    assert not (report.folder / STORES).exists()


async def test_what_else_lies_in_the_folder_of_a_run_is_left_alone(tmp_path: Path, data: Path):
    out = tmp_path / "mine"
    (out / "stores").mkdir(parents=True)
    (out / "stores" / "mine.txt").write_text("mine")
    await bench(tmp_path, design(), data, out=out)
    assert (out / "stores" / "mine.txt").read_text() == "mine"
    (out / "summary.json").write_text('{"mine": true}')
    with pytest.raises(InputError, match=r"summary\.json is no summary of a memory benchmark"):
        await bench(tmp_path, design(), data, out=out)
    assert (out / "summary.json").read_text() == '{"mine": true}'


@pytest.mark.parametrize(
    ("service", "setting", "given", "found"),
    [
        ("short_term_memory", {"max_dialog": 14}, {}, 14),
        ("short_term_memory", {"max_dialog": 14}, {"top_k": 5}, 5),
        ("vector_memory", {"topk": 3}, {}, 3),
    ],
)
async def test_how_much_is_found_is_the_services_own_where_the_runtime_does_not_say(
    tmp_path: Path, service: str, setting: dict[str, Any], given: dict[str, Any], found: int
):
    config = design(service, runtime=given, services={"register_memory_service": service, service: setting})
    async with open_lab(config, RagConfig(data_dir=tmp_path)) as lab:
        memory = lab.build("m")
        for number in range(20):
            await memory.insert.ainvoke({"dialogs": [{"speaker": "Ann", "text": f"I saw bird {number}."}]})
        state = await memory.test.ainvoke({"question": "Which birds did Ann see?"})
        await memory.close()
    assert len(state["memory_data"]) == found


async def test_all_tasks_are_pooled(tmp_path: Path, data: Path):
    report = await bench(tmp_path, design(), data, "all")
    assert report.summary["questions"] == 2 * len(ASKED)
    assert set(report.summary["by_task"]) == {"conv-1", "conv-2"}
    assert set(report.summary["inserts"]) == {"conv-1", "conv-2"}


async def test_the_only_conversation_of_a_file_need_not_be_named(tmp_path: Path, data: Path):
    with pytest.raises(InputError, match=r"give --task-id conv-1 \(or all\)"):
        await bench(tmp_path, design(), data, None)
    data.write_text(json.dumps(conversation()), encoding="utf-8")
    assert (await bench(tmp_path, design(), data, None)).summary["task"] == "conv-1"


async def test_a_conversation_that_nobody_asks_about_cannot_be_tested(tmp_path: Path, data: Path):
    data.write_text(json.dumps([conversation() | {"qa": []}]), encoding="utf-8")
    with pytest.raises(InputError, match="has no question about conv-1"):
        await bench(tmp_path, design(), data)


async def test_a_conversation_that_nothing_is_said_in_is_told_before_the_others_are_asked(
    tmp_path: Path, data: Path
):
    silent = {"speaker_a": "Alice", "speaker_b": "Bob"}
    samples = [conversation(), conversation("conv-2") | {"conversation": silent}]
    data.write_text(json.dumps(samples), encoding="utf-8")
    with pytest.raises(InputError, match="conv-2 has no turns to remember"):
        await bench(tmp_path, design(), data, "all")
    assert not (tmp_path / "data").exists()


@pytest.mark.parametrize("name", ["..", ".", "a/b", "/{tmp}/elsewhere", "a\\b"])
async def test_records_stay_in_the_folder_of_their_run(tmp_path: Path, data: Path, name: str):
    name = name.format(tmp=tmp_path)
    data.write_text(json.dumps([conversation(name)]), encoding="utf-8")
    with pytest.raises(InputError, match="cannot be the folder of its records; give it another sample_id"):
        await bench(tmp_path, design(), data, name)
    assert list(tmp_path.iterdir()) == [data]


async def test_the_same_seed_gives_the_same_bytes(tmp_path: Path, data: Path):
    config = read_pipeline(CONFIGS / "locomo_tim_pipeline.yaml")
    written = [
        (
            (await bench(tmp_path, config, data, out=tmp_path / name)).folder / "conv-1" / "records.jsonl"
        ).read_bytes()
        for name in ("first", "second")
    ]
    assert written[0] == written[1]


async def test_a_second_run_asks_nothing_and_shows_the_same(tmp_path: Path, data: Path):
    first = await bench(tmp_path, design(), data)
    again = await bench(tmp_path, design(), data)
    assert (first.reused_answers, again.reused_answers) == (0, len(ASKED))
    assert without_time(first.summary) == without_time(again.summary)
    assert (await bench(tmp_path, design(), data, fresh=True)).reused_answers == 0


async def test_a_comparison_tests_the_questions_that_its_table_is_of(tmp_path: Path, data: Path):
    folders = []
    for service in ("no_memory", "full_context"):
        for task in ("conv-1", "conv-2"):
            report = await bench(tmp_path, design(service), data, task)
        folders.append(report.folder)
    first, second = comparison(read_runs(folders))["runs"]
    assert (first["task"], first["questions"]) == ("conv-2", len(ASKED))
    assert second["against_first"]["f1"]["questions"] == len(ASKED)


async def test_a_run_with_a_conversation_that_nobody_asks_about_can_be_compared(tmp_path: Path, data: Path):
    data.write_text(json.dumps([conversation(), conversation("conv-2") | {"qa": []}]), encoding="utf-8")
    report = await bench(tmp_path, design(), data, "all")
    assert len(read_runs([report.folder])[0].records) == len(ASKED)


async def test_a_run_that_is_broken_off_leaves_no_summary_of_the_one_before(
    tmp_path: Path, data: Path, monkeypatch: pytest.MonkeyPatch
):
    whole = await bench(tmp_path, design(), data)
    heard = _Run.record

    def killed(run: _Run, task: str, packet: int, result: dict[str, Any]) -> None:
        heard(run, task, packet, result)
        raise ChildProcessError

    monkeypatch.setattr(_Run, "record", killed)
    with pytest.raises(ChildProcessError):
        await bench(tmp_path, design(), data, "conv-2")
    assert len(read_runs([whole.folder])[0].records) == len(ASKED), "of another task: it still holds"
    with pytest.raises(ChildProcessError):
        await bench(tmp_path, design(), data, fresh=True)
    with pytest.raises(InputError, match="holds no finished run"):
        read_runs([whole.folder])
    monkeypatch.setattr(_Run, "record", heard)
    again = await bench(tmp_path, design(), data)
    assert without_time(again.summary) == without_time(whole.summary)


async def test_a_run_that_another_process_is_at_keeps_its_records(tmp_path: Path, data: Path):
    folder = (await bench(tmp_path, design(), data)).folder
    kept = (folder / "conv-1" / "records.jsonl").read_bytes()
    async with only_one(str(folder), "running", "taken"):
        with pytest.raises(StoreLocked, match="another process is at the run"):
            await bench(tmp_path, design(), data, fresh=True)
    assert (folder / "conv-1" / "records.jsonl").read_bytes() == kept


async def test_another_design_has_a_folder_of_its_own(tmp_path: Path, data: Path):
    first = await bench(tmp_path, design(), data)
    second = await bench(tmp_path, design(runtime={"test_segments": 2}), data)
    assert first.folder != second.folder
    verbose = await bench(tmp_path, design(runtime={"memory_test_verbose": True}), data)
    assert verbose.folder == first.folder


def without_time(summary: Mapping[str, Any]) -> dict[str, Any]:
    cost = {name: value for name, value in summary["cost"].items() if name in ("history_tokens", "memories")}
    return {**{name: value for name, value in summary.items() if name != "seconds"}, "cost": cost}


# ── services and adapters from outside ──────────────────────────────────────────────────────────


class Latest:
    """A memory of this test's own: the last texts."""

    def __init__(self, size: int, fails: bool) -> None:
        self.size, self.fails, self.held = size, fails, list[Memory]()

    async def insert(self, text: str, vector: Any = None, metadata: Any = None) -> str:
        self.held.append(Memory(text=text, metadata=metadata, entry_id=str(len(self.held)), score=None))
        return str(len(self.held))

    async def retrieve(
        self, query: Any = None, vector: Any = None, metadata: Any = None, *, top_k: Any = None
    ):
        if self.fails and "dog" in query:
            raise RuntimeError("the dog ate it")
        return self.held[-self.size :]


class LatestSettings(Section):
    size: int = 2
    fails: bool = False


@pytest.fixture
def latest(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(services, "_SERVICES", dict(services._SERVICES))
    monkeypatch.setattr(data_parser, "_ADAPTERS", dict(data_parser._ADAPTERS))
    register_service("latest", lambda settings, parts: Latest(settings.size, settings.fails), LatestSettings)
    register_adapter("shouted", lambda entry: "\n".join(d["text"].upper() for d in entry["data"]["dialogs"]))


async def test_a_registered_service_and_adapter_run_unchanged(tmp_path: Path, data: Path, latest: Any):
    services = {
        "register_memory_service": "latest",
        "memory_insert_adapter": "shouted",
        "latest": {"size": 50},
    }
    report = await bench(tmp_path, parse_pipeline({"services": services}), data)
    assert report.summary["overall"]["evidence_recall@10"] == 1.0
    row = json.loads((report.folder / "conv-1" / "records.jsonl").read_text().splitlines()[1])
    assert row["memories"][0]["text"].startswith("I WORK AT GOOGLE NOW")


async def test_a_service_that_was_worked_on_is_asked_anew(
    tmp_path: Path, data: Path, latest: Any, monkeypatch: pytest.MonkeyPatch
):
    package = tmp_path / "brought_package"
    package.mkdir()
    for file in ("__init__.py", "inner.py"):
        (package / file).write_text("", encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    services = {"register_memory_service": "latest", "imports": ["brought_package"]}
    first = await bench(tmp_path, parse_pipeline({"services": services}), data)
    assert (await bench(tmp_path, parse_pipeline({"services": services}), data)).reused_answers == len(ASKED)
    (package / "inner.py").write_text("SIZE = 3", encoding="utf-8")
    changed = await bench(tmp_path, parse_pipeline({"services": services}), data)
    sys.modules.pop("brought_package")
    assert (changed.reused_answers, changed.folder != first.folder) == (0, True)


async def test_a_failing_service_fails_its_questions_and_no_others(tmp_path: Path, data: Path, latest: Any):
    services = {"register_memory_service": "latest", "latest": {"fails": True}}
    found = (await bench(tmp_path, parse_pipeline({"services": services}), data)).summary
    assert (found["questions"], found["tested"], found["failed"]) == (len(ASKED), len(ASKED) - 1, 1)
    assert found["reasons"] == {"RuntimeError: the dog ate it": 1}


async def test_a_question_that_failed_is_asked_again(
    tmp_path: Path, data: Path, latest: Any, monkeypatch: pytest.MonkeyPatch
):
    config = parse_pipeline({"services": {"register_memory_service": "latest", "latest": {"fails": True}}})
    await bench(tmp_path, config, data)
    monkeypatch.setattr(
        Latest, "fails", property(lambda self: False, lambda self, value: None), raising=False
    )
    again = await bench(tmp_path, config, data)
    assert (again.summary["tested"], again.summary["failed"], again.reused_answers) == (
        len(ASKED),
        0,
        len(ASKED) - 1,
    )
    assert (await bench(tmp_path, config, data)).reused_answers == len(ASKED)


# ── models behind endpoints ─────────────────────────────────────────────────────────────────────


async def test_a_chat_model_reads_and_judges(tmp_path: Path, data: Path, model_server: LocalOpenAIServer):
    model_server.answer = "Google"
    runtime = {"base_url": model_server.base_url, "model_name": "local", "parallel": 4, "max_tokens": 40}
    report = await bench(tmp_path, design(runtime=runtime), data)
    assert report.summary["reader"] == "chat"
    assert report.summary["by_category"]["single-hop"]["f1"] == 0.5
    prompt = model_server.requests[-1]["messages"][-1]["content"]
    assert prompt.startswith(
        "The following is some history information.\n(2023-05-08)Alice: I work at Google"
    )
    assert 'respond with "Not mentioned in the conversation".' in prompt
    assert model_server.requests[-1]["max_completion_tokens"] == 40


async def test_an_embedding_endpoint_is_used(tmp_path: Path, data: Path, model_server: LocalOpenAIServer):
    runtime = {"embedding_base_url": model_server.base_url, "embedding_model": "local"}
    services = {"register_memory_service": "vector_hash_memory", "vector_hash_memory": {"nbits": 256}}
    operators = {"pre_retrieval": {"action": "embedding"}}
    config = parse_pipeline({"runtime": runtime, "services": services, "operators": operators})
    assert (await bench(tmp_path, config, data)).summary["failed"] == 0
    assert len(model_server.requests) > len(ASKED)


async def test_a_lab_takes_a_chat_model_and_an_embedding(tmp_path: Path):
    embedding, chat = HashingEmbedding(), ScriptedChat("In Porto.", "CORRECT")
    services = {"register_memory_service": "vector_memory"}
    config = parse_pipeline({"runtime": {"llm_judge": True}, "services": services})
    async with open_lab(config, RagConfig(data_dir=tmp_path), embedding=embedding, chat=chat) as lab:
        assert lab.reader == "chat"
        assert chat.prompts == []
        memory = lab.build("ann")
        dialogs = [{"speaker": "Ann", "text": "I live in Porto.", "date_time": "2023-05-08"}]
        await memory.insert.ainvoke({"dialogs": dialogs})
        found = await memory.test.ainvoke({"question": "Where does Ann live?", "answer": "Porto"})
        await memory.close()
    assert (found["predicted_answer"], found["judge"]) == ("In Porto.", True)
    assert any("I live in Porto." in text for text in embedding.embedded_texts)


@pytest.mark.parametrize(
    ("runtime", "told"),
    [
        ({"embedding_base_url": "http://127.0.0.1:9/v1", "embedding_model": "m"}, "127.0.0.1:9"),
        ({"base_url": "http://127.0.0.1:9/v1", "model_name": "m"}, "127.0.0.1:9"),
    ],
)  # fmt: skip
async def test_a_dead_endpoint_ends_the_run_before_it_begins(
    tmp_path: Path, data: Path, runtime: dict[str, Any], told: str, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr("agentic_rag.models.endpoint.FIRST_WAIT", 0.0)
    with pytest.raises(ModelError, match=told):
        await bench(tmp_path, design(runtime=runtime), data)


@pytest.mark.parametrize(
    ("runtime", "told"),
    [
        ({"embedding_base_url": "http://x/v1"}, "needs runtime.embedding_model"),
        ({"base_url": "http://x/v1"}, "runtime.model_name"),
        ({"llm_judge": True}, "runtime.llm_judge needs a chat model"),
    ],
)
async def test_half_a_setting_is_refused(tmp_path: Path, data: Path, runtime: dict[str, Any], told: str):
    with pytest.raises(ConfigError, match=told):
        await bench(tmp_path, design(runtime=runtime), data)


async def test_vectors_of_another_length_end_the_run(tmp_path: Path, data: Path):
    services = {"register_memory_service": "vector_hash_memory", "vector_hash_memory": {"dim": 1024}}
    with pytest.raises(InputError, match="1024"):
        await bench(tmp_path, parse_pipeline({"services": services}), data)


# ── the command line ────────────────────────────────────────────────────────────────────────────


def command(tmp_path: Path, *arguments: str, columns: int = 160) -> subprocess.CompletedProcess[str]:
    """The command in this process, in that folder."""
    out, err = io.StringIO(), io.StringIO()
    code: Any = 0
    with pytest.MonkeyPatch.context() as patch, redirect_stdout(out), redirect_stderr(err):
        patch.chdir(tmp_path)
        patch.setenv("COLUMNS", str(columns))
        patch.setattr(sys, "argv", ["agentic-rag", "bench", *arguments])
        for name in ("disable", "enable", "freeze"):  # for a process that ends with its command
            patch.setattr(f"gc.{name}", lambda: None)
        try:
            agentic_rag.cli.main()
        except SystemExit as end:
            code = end.code or 0
    return subprocess.CompletedProcess([], code, out.getvalue(), err.getvalue())


@pytest.mark.slow
def test_the_command_prints_the_table_and_the_contract(tmp_path: Path, data: Path):
    file = CONFIGS / "locomo_short_term_memory_pipeline.yaml"
    shown = command(tmp_path, "--config", str(file), "--task_id", "conv-1", "--data", str(data))
    assert shown.returncode == 0, shown.stderr
    assert "6 questions: 6 tested, 0 failed" in shown.stdout
    assert "always not_mentioned" in shown.stdout
    printed = command(tmp_path, "--config", str(file), "--task-id", "conv-1", "--data", str(data), "--json")
    found = json.loads(printed.stdout)
    assert {
        "task",
        "service",
        "questions",
        "tested",
        "failed",
        "overall",
        "by_category",
        "seconds",
    } <= found.keys()
    assert {"f1", "exact_match", "evidence_recall@10"} <= found["overall"].keys()
    assert all("questions" in category for category in found["by_category"].values())
    compared = command(tmp_path, "compare", found["folder"], "--charts", str(tmp_path / "charts"))
    assert compared.returncode == 0, compared.stderr
    assert "short_term_memory" in compared.stdout
    assert (tmp_path / "charts" / "cost.png").is_file()


@pytest.mark.slow
def test_runs_of_different_conversations_are_told(tmp_path: Path, data: Path):
    given = ["--config", str(CONFIGS / "locomo_no_memory_pipeline.yaml"), "--data", str(data)]
    for task in ("conv-1", "conv-2"):
        command(tmp_path, *given, "--task-id", task, "--out", task)
    assert (
        "of different conversations: conv-1, conv-2"
        in command(tmp_path, "compare", "conv-1", "conv-2").stdout
    )
    assert "different" not in command(tmp_path, "compare", "conv-1", "conv-1").stdout


def test_on_80_columns_no_heading_is_cut_and_no_path_is_broken(tmp_path: Path, data: Path):
    file = CONFIGS / "locomo_short_term_memory_pipeline.yaml"
    out = tmp_path / ("a_folder_with_a_long_name_" * 4)
    given = ["--config", str(file), "--task-id", "conv-1", "--data", str(data), "--out", str(out)]
    shown = command(tmp_path, *given, columns=80)
    assert f"records in {out}\n" in shown.stdout
    compared = command(tmp_path, "compare", str(out), columns=80)
    assert compared.returncode == 0, compared.stderr
    assert "…" not in compared.stdout
    assert "cor-" in compared.stdout


def test_verbose_prints_what_each_operator_gets_and_gives(tmp_path: Path, data: Path):
    values = yaml.safe_load((CONFIGS / "locomo_tim_pipeline.yaml").read_text(encoding="utf-8"))
    values["runtime"] |= {"memory_insert_verbose": True, "memory_test_verbose": True}
    file = tmp_path / "verbose.yaml"
    file.write_text(yaml.safe_dump(values), encoding="utf-8")
    shown = command(tmp_path, "--config", str(file), "--task-id", "conv-1", "--data", str(data))
    assert shown.returncode == 0, shown.stderr
    for name in ("PreInsert", "MemoryInsert", "PostInsert", "PreRetrieval", "MemoryRetrieval", "PostRetrieval", "MemoryTest"):  # fmt: skip
        assert f"── {name}" in shown.stderr
    assert "… 384 numbers]" in shown.stderr


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        ([], "--config"),
        (["--config", "none.yaml"], "cannot read the configuration none.yaml"),
        (["--config", "{stm}"], "--data"),
        (["--config", "{stm}", "--data", "{data}"], "--task-id conv-1"),
        (
            ["--config", "{stm}", "--data", "{data}", "--task-id", "conv-9"],
            "use one of: conv-1, conv-2, or all",
        ),
        (["compare", "nowhere"], "folder that bench has named"),
    ],
)
def test_bad_input_ends_with_2_and_says_what_to_do(
    tmp_path: Path, data: Path, arguments: list[str], told: str
):
    names = {"stm": CONFIGS / "locomo_short_term_memory_pipeline.yaml", "data": data}
    ended = command(tmp_path, *(argument.format(**names) for argument in arguments))
    assert ended.returncode == 2
    assert told in " ".join(ended.stderr.split())


@pytest.mark.slow
def test_a_killed_run_goes_on_to_the_same_table(tmp_path: Path, data: Path):
    long = conversation()
    data.write_text(json.dumps([long | {"qa": 20 * long["qa"]}]), encoding="utf-8")
    file = CONFIGS / "locomo_short_term_memory_pipeline.yaml"
    arguments = ["--config", str(file), "--task-id", "conv-1", "--data", str(data), "--json"]
    whole = json.loads(command(tmp_path, *arguments, "--out", "whole").stdout)
    killed = tmp_path / "killed" / "conv-1" / "records.jsonl"
    process = subprocess.Popen(
        [str(Path(sys.executable).with_name("agentic-rag")), "bench", *arguments, "--out", "killed"],
        cwd=tmp_path, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    )  # fmt: skip
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        if killed.is_file() and killed.read_bytes().count(b"\n") > 30:
            break
        time.sleep(0.01)
    process.send_signal(signal.SIGKILL)
    process.wait()
    assert 30 < killed.read_bytes().count(b"\n") < 20 * len(ASKED)
    again = json.loads(command(tmp_path, *arguments, "--out", "killed").stdout)
    assert without_time({**again, "folder": ""}) == without_time({**whole, "folder": ""})
    assert killed.read_bytes() == (tmp_path / "whole" / "conv-1" / "records.jsonl").read_bytes()
