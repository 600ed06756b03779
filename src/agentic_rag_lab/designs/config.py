"""A memory design in a YAML file: runtime, services, operators; errors name every wrong key."""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import yaml
from pydantic import ConfigDict, Field, SecretStr, field_validator

from agentic_rag.errors import ConfigError
from agentic_rag.settings.config import endpoint_address
from agentic_rag.settings.parameters import Section, validate
from agentic_rag_lab.designs.data_parser import DataParser
from agentic_rag_lab.designs.operators import parse_action
from agentic_rag_lab.designs.operators.memory_retrieval import PRE_RETRIEVAL, PreRetrievalSettings
from agentic_rag_lab.designs.operators.post_insert import POST_INSERT, PostInsertSettings
from agentic_rag_lab.designs.operators.pre_insert import PRE_INSERT, PreInsertSettings
from agentic_rag_lab.designs.post_retrieval import Step, parse_steps
from agentic_rag_lab.designs.reading import PROMPT_TEMPLATE
from agentic_rag_lab.designs.services import check_settings, known_services


class RuntimeConfig(Section):
    """What a run needs besides the memory: data, models, prompt, when to test."""

    model_config = ConfigDict(protected_namespaces=())

    dataset: Literal["locomo", "beam"] = Field("locomo", description="benchmark the design was written for; LoCoMo or BEAM is recognised from the files")  # fmt: skip
    data: Path | None = Field(None, description="LoCoMo file, or folder of BEAM conversations; --data overrides it")  # fmt: skip
    task_id: str | None = Field(None, description="conversation, or all; --task-id overrides it")
    memory_insert_verbose: bool = Field(False, description="print what each operator of the insert graph gets and gives")  # fmt: skip
    memory_test_verbose: bool = Field(False, description="print what each operator of the test graph gets and gives")  # fmt: skip
    test_segments: int = Field(10, ge=1, le=10_000, description="thresholds at which questions are asked")
    retest: bool = Field(False, description="ask all visible questions at each threshold, not only the new ones")  # fmt: skip
    top_k: int | None = Field(None, ge=1, le=10_000, description="memories retrieved for a question; none: the service's own topk or max_dialog")  # fmt: skip
    seed: int = Field(0, ge=0, description="random seed")
    parallel: int = Field(1, ge=1, le=64, description="questions asked at once; more helps with a chat model")
    prompt_template: str = Field(PROMPT_TEMPLATE, description="put behind the history; {question} is the question")  # fmt: skip
    base_url: str | None = Field(None, description="OpenAI-compatible endpoint of the chat model; none: offline reader", repr=False)  # fmt: skip
    model_name: str | None = Field(None, description="name the endpoint knows the chat model by")
    api_key: SecretStr | None = Field(None, description="API key of the chat model; prefer the variable AGENTIC_RAG_CHAT__API_KEY")  # fmt: skip
    max_tokens: int | None = Field(None, ge=1, description="longest answer of the chat model")
    temperature: float | None = Field(0.0, ge=0, le=2, description="sampling temperature of the chat model; null: not sent")  # fmt: skip
    llm_judge: bool = Field(False, description="let the chat model judge each answer; needs base_url")
    embedding_base_url: str | None = Field(None, description="OpenAI-compatible endpoint; none: the bundled model", repr=False)  # fmt: skip
    embedding_model: str | None = Field(None, description="name that endpoint knows the model by")
    rerank_model: str | None = Field(None, description="cross-encoder for rerank_type cross_encoder; none: the chat model")  # fmt: skip

    _address = field_validator("base_url", "embedding_base_url")(endpoint_address)


@dataclass(frozen=True, slots=True)
class ServicesConfig:
    """The memory service, the adapter for its text, and the settings of each service by name."""

    register_memory_service: str
    memory_insert_adapter: str
    secondary_services: tuple[str, ...]
    """Further services that get every insert too; see ``merge`` ``multi_query``."""
    settings: Mapping[str, Mapping[str, Any]]


@dataclass(frozen=True, slots=True)
class OperatorsConfig:
    """The operators before and after the memory."""

    pre_insert: PreInsertSettings
    post_insert: PostInsertSettings
    pre_retrieval: PreRetrievalSettings
    post_retrieval: tuple[Step, ...]


@dataclass(frozen=True, slots=True)
class PipelineConfig:
    """One memory design."""

    name: str
    """File name without suffix."""
    runtime: RuntimeConfig
    services: ServicesConfig
    operators: OperatorsConfig
    source_values: Mapping[str, Any]
    """The mapping in the file, for the record; without the key of the chat model."""


SECTIONS = ("runtime", "services", "operators")
OPERATORS = ("pre_insert", "post_insert", "pre_retrieval", "post_retrieval")
_SERVICE_KEYS = ("register_memory_service", "secondary_services", "memory_insert_adapter", "imports")


class _EachKeyOnce(yaml.SafeLoader):
    """Rejects duplicate keys: of two steps under one key the parser would silently drop the first."""

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Any, Any]:
        given: set[str] = set()
        for key in (key for key, _ in node.value if isinstance(key, yaml.ScalarNode)):
            if key.value in given:
                raise yaml.MarkedYAMLError(
                    problem=f"key {key.value!r} stands twice", problem_mark=key.start_mark
                )
            given.add(key.value)
        return super().construct_mapping(node, deep)


def read_pipeline(file: Path | str) -> PipelineConfig:
    """The memory design in a YAML file.

    Raises:
        ConfigError: the file cannot be read, is no YAML mapping, or a key or value in it is wrong.
    """
    path = Path(file)
    try:
        values = yaml.load(path.read_text(encoding="utf-8"), _EachKeyOnce)
    except OSError as error:
        raise ConfigError(f"cannot read the configuration {path}: {error.strerror or error}") from error
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        raise ConfigError(f"the configuration {path} is not YAML: {' '.join(str(error).split())}") from error
    try:
        return parse_pipeline(values, name=path.stem)
    except ConfigError as error:
        raise ConfigError(f"{path}: {error}") from error


def parse_pipeline(values: Any, *, name: str = "pipeline") -> PipelineConfig:
    """The memory design in a mapping of ``runtime``, ``services`` and ``operators``.

    Raises:
        ConfigError: names each key that is unknown or has a wrong value.
    """
    top = _mapping(values, "the configuration", SECTIONS)
    runtime = validate(RuntimeConfig, _mapping(top.get("runtime"), "runtime"), "runtime")
    services, operators = _services(top.get("services")), _operators(top.get("operators"))
    written = {section: dict(top.get(section) or {}) for section in SECTIONS}
    written["runtime"].pop("api_key", None)
    return PipelineConfig(name, runtime, services, operators, written)


def _services(values: Any) -> ServicesConfig:
    given = _mapping(values, "services")
    for module in _strings(given.get("imports", []), "services.imports"):
        try:
            importlib.import_module(module)
        except Exception as error:  # third-party code may raise anything
            raise ConfigError(
                f"services.imports: cannot import {module!r}: {type(error).__name__}: {error}"
            ) from error
    known = known_services()
    name = _service(given.get("register_memory_service"), "services.register_memory_service", known)
    secondary = tuple(
        _service(value, "services.secondary_services", known)
        for value in _strings(given.get("secondary_services", []), "services.secondary_services")
    )
    if len({name, *secondary}) <= len(secondary):
        raise ConfigError("services.secondary_services: a service stands twice; name each once")
    settings = {key: value for key, value in given.items() if key not in _SERVICE_KEYS}
    for key, value in settings.items():
        if key not in known:
            raise ConfigError(
                f"services.{key}: no such setting or service; use one of: {', '.join((*_SERVICE_KEYS, *known))}"
            )
        check_settings(key, _mapping(value, f"services.{key}"))
    adapter = given.get("memory_insert_adapter", "to_dialogs")
    DataParser(adapter)
    return ServicesConfig(
        name, adapter, secondary, {key: dict(value or {}) for key, value in settings.items()}
    )


def _service(value: Any, where: str, known_keys: tuple[str, ...]) -> str:
    if not isinstance(value, str) or value not in known_keys:
        raise ConfigError(f"{where}: unknown service {value!r}; use one of: {', '.join(known_keys)}")
    return value


def _operators(values: Any) -> OperatorsConfig:
    given = _mapping(values, "operators", OPERATORS)
    return OperatorsConfig(
        pre_insert=parse_action("pre_insert", PRE_INSERT, given.get("pre_insert")),
        post_insert=parse_action("post_insert", POST_INSERT, given.get("post_insert")),
        pre_retrieval=parse_action("pre_retrieval", PRE_RETRIEVAL, given.get("pre_retrieval")),
        post_retrieval=parse_steps(given.get("post_retrieval")),
    )


def _mapping(values: Any, name: str, known_keys: tuple[str, ...] | None = None) -> Mapping[str, Any]:
    if values is None:
        return {}
    if not isinstance(values, Mapping) or not all(isinstance(key, str) for key in values):
        raise ConfigError(f"{name} must be a mapping of names to values, not {values!r:.80}")
    for key in values:
        if known_keys is not None and key not in known_keys:
            raise ConfigError(f"{name}: unknown key {key!r}; use one of: {', '.join(known_keys)}")
    return values


def _strings(values: Any, name: str) -> list[str]:
    if not isinstance(values, list) or not all(isinstance(value, str) for value in values):
        raise ConfigError(f"{name} must be a list of names, not {values!r:.80}")
    return values
