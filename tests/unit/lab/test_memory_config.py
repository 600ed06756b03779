"""Memory designs: every shipped file is read, every wrong key is named."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest

from agentic_rag.errors import ConfigError
from agentic_rag_lab.designs import services
from agentic_rag_lab.designs.config import parse_pipeline, read_pipeline
from agentic_rag_lab.designs.services import known_services

CONFIGS = Path(__file__).parents[3] / "configs"
MINIMAL: dict[str, Any] = {"services": {"register_memory_service": "no_memory"}}


def shipped() -> list[Path]:
    return sorted(CONFIGS.glob("*.yaml"))


@pytest.mark.parametrize("file", shipped(), ids=lambda file: file.stem)
def test_a_shipped_design_is_read(file: Path):
    design = read_pipeline(file)
    assert design.name == file.stem
    assert design.runtime.base_url is None
    assert design.runtime.embedding_base_url is None


def test_there_is_a_design_for_every_service_and_recipe():
    services = {read_pipeline(file).services.register_memory_service for file in shipped()}
    assert services == set(known_services())
    names = {file.stem.removeprefix("locomo_").removesuffix("_pipeline") for file in shipped()}
    assert {"short_term_memory", "tim", "memorybank", "amem", "memgpt"} <= names


def test_the_two_documented_modes_are_as_documented():
    stm, tim = (
        read_pipeline(CONFIGS / f"locomo_{name}_pipeline.yaml") for name in ("short_term_memory", "tim")
    )
    assert (stm.services.register_memory_service, stm.services.memory_insert_adapter) == ("short_term_memory", "to_dialogs")  # fmt: skip
    assert (stm.operators.pre_insert.action, stm.operators.pre_retrieval.action) == ("none", "none")
    assert stm.services.settings["short_term_memory"] == {"max_dialog": 3}
    assert (tim.services.register_memory_service, tim.services.memory_insert_adapter) == ("vector_hash_memory", "to_refactor")  # fmt: skip
    assert (tim.operators.pre_insert.action, tim.operators.pre_retrieval.action) == ("tri_embed", "embedding")
    commented = (CONFIGS / "locomo_tim_pipeline.yaml").read_text(encoding="utf-8")
    assert '# embedding_base_url: "http://localhost:8091/v1"' in commented
    assert '# embedding_model: "BAAI/bge-m3"' in commented


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"services": {}}, "services.register_memory_service: unknown service None; use one of: short_term_memory"),
        ({"services": {"register_memory_service": "guess"}}, "unknown service 'guess'; use one of"),
        ({"services": {**MINIMAL["services"], "memory_insert_adapter": "guess"}}, "to_dialogs"),
        ({"services": {**MINIMAL["services"], "guess": {}}}, "services.guess: no such setting or service"),
        ({"services": {**MINIMAL["services"], "secondary_services": "no_memory"}}, "must be a list of names"),
        ({"services": {**MINIMAL["services"], "secondary_services": ["no_memory"]}}, "stands twice"),
        ({"services": {**MINIMAL["services"], "imports": ["no_such_module_x"]}}, "services.imports: cannot import"),
        ({"services": {**MINIMAL["services"], "memory_insert_adapter": ["to_dialogs"]}}, r"unknown adapter \['to_dialogs'\]"),
        ({"services": {**MINIMAL["services"], "imports": [".x"]}}, "services.imports: cannot import '.x'"),
        ({"services": {**MINIMAL["services"], "vector_memory": {"topkk": 3}}}, "'services.vector_memory.topkk': no such setting"),
        ({"runtime": {"segments": 3}}, "'runtime.segments\': no such setting; use one of: dataset"),
        ({"runtime": []}, "runtime must be a mapping"),
        ({"operator": {}}, "unknown key 'operator'; use one of: runtime, services, operators"),
        ({"operators": {"pre_insrt": {}}}, "operators: unknown key 'pre_insrt'"),
        ({"operators": {"pre_insert": {"action": "guess"}}}, r"operators\.pre_insert\.action: unknown action 'guess'; use one of: none, tri_embed"),
        ({"operators": {"pre_insert": "tri_embed"}}, r"operators\.pre_insert must be a mapping"),
        ({"operators": {"pre_insert": {"triple_extraction_prompt": "x"}}}, r"operators\.pre_insert \(action none\): 'triple_extraction_prompt'"),
        ({"operators": {"pre_insert": {"action": "tri_embed", "prompt": "x"}}}, "'prompt': no such setting; use one of: action, triple_extraction"),
        ({"operators": {"pre_insert": {"action": "tri_embed", "triple_extraction_prompt": 3}}}, "'triple_extraction_prompt'.*given: 3"),
        ({"operators": {"post_insert": {"action": "merge"}}}, r"operators\.post_insert\.action: unknown action 'merge'; use one of: none, forgetting"),
        ({"operators": {"post_insert": {"action": "forgetting", "topk": 3}}}, r"\(action forgetting\): 'topk': no such"),
        ({"operators": {"post_insert": {"action": "forgetting", "retention_threshold": 0}}}, "'retention_threshold'.*given: 0"),
        ({"operators": {"post_insert": {"action": "forgetting", "strength_days": float("nan")}}}, "'strength_days'"),
        ({"operators": {"pre_retrieval": {"action": "embed"}}}, r"operators\.pre_retrieval\.action: unknown action 'embed'; use one of: none, embedding"),
        ({"operators": {"pre_retrieval": {"action": "embedding", "model": "x"}}}, r"operators\.pre_retrieval \(action embedding\): 'model'"),
        ({"operators": {"pre_retrieval": []}}, r"operators\.pre_retrieval must be a mapping"),
        ({"operators": {"post_retrieval": [{"action": "rerank", "rerank_type": "x"}]}}, r"operators.post_retrieval\[0\]"),
    ],
)  # fmt: skip
def test_a_wrong_key_is_named(changes: dict[str, Any], message: str):
    with pytest.raises(ConfigError, match=message):
        parse_pipeline({**MINIMAL, **changes})


@pytest.mark.parametrize("values", [None, [], "text", 3])
def test_what_is_no_mapping_is_refused(values: Any):
    with pytest.raises(ConfigError, match=r"mapping|register_memory_service"):
        parse_pipeline(values)


def test_files_that_cannot_be_read(tmp_path: Path):
    broken = tmp_path / "broken.yaml"
    broken.write_text("runtime: [", encoding="utf-8")
    with pytest.raises(ConfigError, match=r"broken\.yaml is not YAML"):
        read_pipeline(broken)
    with pytest.raises(ConfigError, match="cannot read the configuration"):
        read_pipeline(tmp_path / "none.yaml")


def test_a_key_that_stands_twice_is_named_with_its_line(tmp_path: Path):
    file = tmp_path / "twice.yaml"
    file.write_text(
        "services: {register_memory_service: no_memory}\n"
        "operators:\n"
        "  post_retrieval: {action: filter, filter_type: top_k}\n"
        "  post_retrieval: {action: format, format_type: chat}\n",
        encoding="utf-8",
    )
    with pytest.raises(ConfigError, match=r"key 'post_retrieval' stands twice .*line 4"):
        read_pipeline(file)


def test_the_key_of_the_chat_model_is_not_kept():
    design = parse_pipeline({**MINIMAL, "runtime": {"api_key": "sk-very-secret", "seed": 3}})
    assert "sk-very-secret" not in repr(design)
    assert design.source_values["runtime"] == {"seed": 3}


def test_a_module_that_breaks_while_it_is_imported_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    (tmp_path / "breaking_service.py").write_text("1 / 0", encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(ConfigError, match="cannot import 'breaking_service': ZeroDivisionError: division"):
        parse_pipeline({"services": {**MINIMAL["services"], "imports": ["breaking_service"]}})


def test_a_module_may_bring_services_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    (tmp_path / "brought_service.py").write_text(
        "from agentic_rag_lab.designs.services import register_service\n"
        "register_service('brought', lambda settings, parts: None)\n",
        encoding="utf-8",
    )
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(services, "_SERVICES", dict(services._SERVICES))
    try:
        design = parse_pipeline(
            {"services": {"imports": ["brought_service"], "register_memory_service": "brought"}}
        )
        assert design.services.register_memory_service == "brought"
    finally:
        sys.modules.pop("brought_service", None)
