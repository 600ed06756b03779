"""Configuration: frozen plain values, validated, secrets never shown."""

from __future__ import annotations

import traceback
from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

from agentic_rag.errors import ConfigError
from agentic_rag.settings.config import RagConfig
from agentic_rag.settings.parameters import FusionParameters, Parameters, RerankParameters

SECRET = "sk-very-secret"


def test_nothing_is_needed():
    config = RagConfig()
    assert config.data_dir == Path(".agentic-rag")
    assert (config.graph.backend, config.graph.extraction) == ("embedded", "written")
    assert (config.embedding.base_url, config.chat.base_url, config.lancedb_uri) == (None, None, None)


def test_it_is_frozen_all_the_way_down():
    config = RagConfig(data_dir="data")
    for target, name in ((config, "data_dir"), (config.chat, "model"), (config.fusion, "k")):
        with pytest.raises(ValidationError, match="frozen"):
            setattr(target, name, "x")


@pytest.mark.parametrize(
    ("values", "told"),
    [
        ({"fuson": {}}, r"'fuson': no such setting; use one of: fusion, retrieval.*data_dir"),
        ({"fusion": {"kk": 1}}, r"'fusion.kk': no such setting; use one of: strategy, k, "),
        ({"fusion": {"k": 0}}, r"'fusion.k': .*greater than or equal to 1 \(given: 0\)"),
        ({"fusion": 3}, r"'fusion'"),
        ({"graph": {"extraction": "oracle"}}, r"'graph.extraction': .*'written'.*\(given: 'oracle'\)"),
        ({"answer": {"abstain_below": float("nan")}}, r"'answer.abstain_below'"),
        ({"budget": {"tokens": 0}, "answer": {"method": "many"}}, r"'answer.method'.*; 'budget.tokens'"),
        ({"chat": {"timeout_seconds": 0}}, r"'chat.timeout_seconds'"),
        ({"retrieval": {"timeout_seconds": 0}}, r"'retrieval.timeout_seconds'"),
    ],
)
def test_a_wrong_value_is_named(values: dict[str, Any], told: str):
    with pytest.raises(ConfigError, match=told):
        RagConfig(**values)


@pytest.mark.parametrize(
    "values",
    [
        {"chat": {"api_kye": SECRET}},
        {"chat": {"api_key": [SECRET]}},
        {"embedding": {"api_key": {"value": SECRET}}},
        {"graph": {"password": [SECRET]}},
        {"graph": {"passwort": SECRET}},
        {"vectors": {"uri": [SECRET]}},
        {"vectors": {"uir": SECRET}},
        {"chat": {"base_url": [f"http://ada:{SECRET}@localhost/v1"]}},
        {"embedding": {"base_url": f"http://ada:{SECRET}@localhost:port/v1"}},
        {"graph": {"uri": [f"redis://ada:{SECRET}@localhost"]}},
        {"lancedb_uri": [SECRET]},
        {"lancedb_uri": f"s3://ada:{SECRET}@notes/x"},
        {"lancedb_uri": f"s3://ada:{SECRET}/a@notes/x"},
        {"storage_options": {"aws_secret_access_key": [SECRET]}},
        {"storage_options": SECRET},
        {"password": SECRET},
    ],
)
def test_an_error_tells_the_key_and_never_a_secret(values: dict[str, Any]):
    with pytest.raises(ConfigError) as caught:
        RagConfig(**values)
    assert next(iter(values)) in str(caught.value)
    assert SECRET not in "".join(traceback.format_exception(caught.value))


def test_a_printed_configuration_holds_no_secret():
    config = RagConfig(
        chat={"api_key": SECRET, "base_url": f"http://ada:{SECRET}@localhost/v1?token={SECRET}"},
        embedding={"api_key": SECRET, "base_url": f"http://ada:{SECRET}@localhost/v1?token={SECRET}"},
        graph={"password": SECRET, "uri": f"redis://ada:{SECRET}@localhost"},
        lancedb_uri=f"az://notes/x?sig={SECRET}",
        vectors={"backend": "pgvector", "uri": f"postgresql://ada:{SECRET}@localhost/notes"},
        storage_options={"aws_secret_access_key": SECRET},
    )
    assert SECRET not in repr(config) + str(config)
    assert config.chat.api_key is not None
    assert config.chat.api_key.get_secret_value() == SECRET
    assert config.storage_options == {"aws_secret_access_key": SECRET}


# --- what a call overrides -----------------------------------------------------------------------


def test_a_call_overrides_some_and_keeps_the_rest():
    base = Parameters(fusion=FusionParameters(k=10, graphiti_threshold=5))
    called = base.override({"fusion": {"k": 20}, "rerank": {"method": "none"}})
    assert called.fusion == FusionParameters(k=20, graphiti_threshold=5)
    assert called.rerank == RerankParameters(method="none")
    assert base.fusion.k == 10


def test_no_context_is_no_override():
    base = Parameters(fusion=FusionParameters(k=10))
    assert base.override(None) == base
    assert base.override({}) == base
    assert base.override(Parameters()) == Parameters()


def test_a_whole_configuration_gives_its_parameters():
    config = RagConfig(data_dir="data", fusion={"k": 10})
    assert config.override({"answer": {"method": "agent"}}).model_dump() == {
        **Parameters().model_dump(),
        "fusion": FusionParameters(k=10).model_dump(),
        "answer": {**Parameters().answer.model_dump(), "method": "agent"},
    }


@pytest.mark.parametrize(
    ("context", "told"),
    [
        (
            {"fuson": {"k": 1}},
            "'fuson'; use one of: fusion, retrieval, rerank, selection, rewrite, answer",
        ),
        ({"fusion": 3}, "'fusion'"),
        ({"fusion": {"kk": 1}}, "'fusion.kk': no such setting; use one of: strategy, k"),
        ({"fusion": {"k": 0}}, "'fusion.k'"),
        ({"data_dir": "elsewhere"}, "'data_dir'"),
        ("fusion.k=3", "mapping"),
    ],
)
def test_a_wrong_override_is_told(context: Any, told: str):
    with pytest.raises(ConfigError, match=told):
        RagConfig().override(context)
