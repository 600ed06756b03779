"""Fusion's parameters: defaults, bounds, overrides, and errors that name the value."""

import re
from typing import Any

import pytest
from pydantic import ValidationError

from agentic_rag.errors import ConfigError
from agentic_rag.fusion import FusionParameters, FusionStrategy
from agentic_rag.settings.parameters import Parameters, RerankParameters


def test_defaults():
    assert FusionParameters().model_dump() == {
        "strategy": None,
        "k": 60,
        "graphiti_weight": None,
        "lancedb_weight": None,
        "normalization": "min_max",
        "graphiti_threshold": None,
        "graphiti_min_score": None,
    }


def test_every_parameter_is_described():
    assert all(field.description for field in FusionParameters.model_fields.values())


def test_settings_may_be_text():
    parsed = FusionParameters.parse({"k": "20", "strategy": "cascade", "graphiti_weight": "0.5"})
    assert (parsed.k, parsed.strategy, parsed.graphiti_weight) == (20, FusionStrategy.CASCADE, 0.5)


def test_override_keeps_the_rest_and_changes_nothing_in_place():
    base = FusionParameters(k=10, graphiti_threshold=5)
    assert base.override({"k": 20}) == FusionParameters(k=20, graphiti_threshold=5)
    assert base.k == 10
    with pytest.raises(ValidationError):
        base.k = 3  # type: ignore[misc]


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("k", 0),
        ("graphiti_weight", -0.1),
        ("lancedb_weight", 1.1),
        ("graphiti_min_score", float("nan")),
        ("graphiti_threshold", 0),
        ("normalization", "softmax"),
        ("strategy", "borda"),
        ("colour", "red"),
    ],
)
def test_a_bad_value_is_named(name: str, value: Any):
    with pytest.raises(ConfigError, match=f"{name!r}"):
        FusionParameters.parse({name: value})


def test_defaults_of_the_rerank():
    assert RerankParameters().model_dump() == {
        "method": "offline",
        "model": None,
    }
    assert all(field.description for field in RerankParameters.model_fields.values())


@pytest.mark.parametrize(
    ("context", "told"),
    [
        ({"fusoin": {"k": 3}}, "unknown parameter section 'fusoin'; use one of: fusion"),
        ({"fusion": 3}, "parameters of 'fusion' are a mapping such as {'k': 20}, not 3"),
        ("fusion", "parameters are a mapping"),
    ],
)
def test_a_bad_section_is_named(context: Any, told: str):
    with pytest.raises(ConfigError, match=re.escape(told)):
        Parameters().override(context)


def test_an_unknown_name_lists_the_known():
    with pytest.raises(ConfigError, match="graphiti_min_score"):
        FusionParameters().override({"kk": 1})


@pytest.mark.parametrize(
    ("given", "rank", "total"),
    [
        ({}, (1.0, 1.0), (0.7, 0.3)),
        ({"graphiti_weight": 0.0}, (0.0, 1.0), (0.0, 1.0)),
        ({"lancedb_weight": 0.0}, (1.0, 0.0), (1.0, 0.0)),
        ({"lancedb_weight": 0.25}, (1.0, 0.25), (0.75, 0.25)),
        ({"graphiti_weight": 0.5, "lancedb_weight": 0.5}, (0.5, 0.5), (0.5, 0.5)),
    ],
)
def test_weights_that_are_unset(
    given: dict[str, float], rank: tuple[float, float], total: tuple[float, float]
):
    parameters = FusionParameters.parse(given)
    assert parameters.rank_weights() == rank
    assert parameters.sum_weights((0.7, 0.3)) == total


@pytest.mark.parametrize(
    ("given", "enough"),
    [
        ({}, (5, 0.7)),
        ({"graphiti_threshold": 1}, (1, 0.7)),
        ({"graphiti_min_score": 0.0}, (5, 0.0)),
        ({"graphiti_threshold": "2", "graphiti_min_score": "0.5"}, (2, 0.5)),
        ({"graphiti_threshold": None, "graphiti_min_score": None}, (5, 0.7)),
    ],
)
def test_what_is_enough_for_the_cascade(given: dict[str, Any], enough: tuple[int, float]):
    assert FusionParameters.parse(given).enough() == enough
