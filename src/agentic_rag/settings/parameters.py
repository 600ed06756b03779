"""Parameters: what a single call may override, each with its default and bounds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from enum import StrEnum
from typing import Annotated, Any, Literal, TypeVar, get_args

from pydantic import BaseModel, ConfigDict, Field, ValidationError
from typing_extensions import TypedDict

from agentic_rag.errors import ConfigError


class Section(BaseModel):
    """A frozen group of settings that refuses names it does not know."""

    model_config = ConfigDict(
        frozen=True, extra="forbid", validate_default=True, allow_inf_nan=False, hide_input_in_errors=True
    )


class FusionStrategy(StrEnum):
    """How two ranked lists become one."""

    RRF = "rrf"
    WEIGHTED_GRAPHITI = "weighted_graphiti"
    WEIGHTED_LANCEDB = "weighted_lancedb"
    CASCADE = "cascade"


CASCADE_THRESHOLD = 5
CASCADE_MIN_SCORE = 0.7
"""Defaults of the cascade: number and minimum relevance of graph hits that make its first tier enough."""


class FusionParameters(Section):
    """Parameters of all strategies; a strategy ignores the parameters that it does not use.

    An unset parameter has the operation's own value, else the strategy's default: see
    ``fusion.resolve_parameters``.
    """

    strategy: FusionStrategy | None = Field(
        default=None, description="rrf, weighted_graphiti, weighted_lancedb or cascade; unset: by operation."
    )
    k: int = Field(
        default=60, ge=1, le=1_000_000, description="RRF's constant in 1 / (k + rank), rank from 1."
    )
    graphiti_weight: float | None = Field(
        default=None,
        ge=0,
        le=1,
        description="Weight of the graph; 0 leaves it out. Unset: 0.7 or 0.3 by strategy, 1 under RRF.",
    )
    lancedb_weight: float | None = Field(
        default=None,
        ge=0,
        le=1,
        description="Weight of the vector store; 0 leaves it out. Unset: 0.3 or 0.7 by strategy, 1 under RRF.",
    )
    normalization: Literal["min_max", "z_score"] = Field(
        default="min_max",
        description="How weighted fusion brings scores to one scale, a source's best to 1: min_max (by the range) or z_score (by standard deviations).",
    )
    graphiti_threshold: int | None = Field(
        default=None,
        ge=1,
        description="Cascade: this many relevant graph hits are enough without the vector store. Unset: 3 under concept_relation, else 5.",
    )
    graphiti_min_score: float | None = Field(
        default=None,
        ge=0,
        le=1,
        description="Cascade: calibrated relevance from which a graph hit counts. Unset: 0.6 under concept_relation, else 0.7.",
    )

    @classmethod
    def parse(cls, values: Mapping[str, Any]) -> FusionParameters:
        """Parameters from settings; ``ConfigError`` names each value that cannot be used and why."""
        return validate(cls, values)

    def override(self, changes: Mapping[str, Any]) -> FusionParameters:
        """These parameters with some replaced; checked as ``parse`` does."""
        return self.parse({**self.model_dump(), **changes})

    @property
    def sets_weights(self) -> bool:
        """Whether a weight of the two sources is set."""
        return self.graphiti_weight is not None or self.lancedb_weight is not None

    def rank_weights(self) -> tuple[float, float]:
        """Weights (graph, vector store) for RRF, where only their ratio matters; unset is 1."""
        graph, vector = self.graphiti_weight, self.lancedb_weight
        return (1.0 if graph is None else graph, 1.0 if vector is None else vector)

    def sum_weights(self, default: tuple[float, float]) -> tuple[float, float]:
        """Weights (graph, vector store) that should sum to 1; one given alone is completed to 1."""
        graph, vector = self.graphiti_weight, self.lancedb_weight
        if graph is None and vector is None:
            return default
        if graph is None:
            return (1.0 - (vector or 0.0), vector or 0.0)
        return (graph, 1.0 - graph if vector is None else vector)

    def enough(self) -> tuple[int, float]:
        """How many graph hits of which relevance are enough for the cascade's first tier; unset: 5 and 0.7."""
        count, score = self.graphiti_threshold, self.graphiti_min_score
        return (
            CASCADE_THRESHOLD if count is None else count,
            CASCADE_MIN_SCORE if score is None else score,
        )


class RetrievalParameters(Section):
    """How each source is searched."""

    timeout_seconds: float = Field(
        10.0,
        gt=0,
        description="time limit for each source; a slower source is degraded, and no other pass starts after it",
    )


class RerankParameters(Section):
    """How the fused results are sorted into their final order."""

    method: Literal["offline", "cross_encoder", "chat", "none"] = Field(
        "offline", description="scoring without a model, a model, or no rerank"
    )
    model: str | None = Field(None, description="name or folder of the cross-encoder")


class SelectionParameters(Section):
    """How a question about many notes is read as a query to them."""

    method: Literal["rules", "chat"] = Field(
        "rules", description="rules alone, or a chat model where they read nothing, or not all"
    )


class RewriteParameters(Section):
    """How a question with weak results is reworded."""

    method: Literal["expansion", "chat"] = Field(
        "expansion", description="words of the best results, or a chat model"
    )


class AnswerParameters(Section):
    """How the answer is written."""

    method: Literal["extractive", "chat", "agent"] = Field(
        "extractive",
        description="quotes, or a chat model that must cite them; agent: under document_retrieval one that also calls search tools, else quotes",
    )
    sentences: int = Field(
        6,
        ge=1,
        le=50,
        description="most sentences or items in an extractive answer; twice as many in clusters",
    )
    abstain_below: float = Field(
        0.5,
        ge=0,
        le=1,
        description="no answer is given if the best relevance is lower, but for lines that say all that is asked, from 0.3 of it; a rewrite is tried if its odds are less than 1.5 times the odds of this value",
    )


class Parameters(Section):
    """Everything a single call may override: ``context={"fusion": {"k": 20}}``."""

    fusion: FusionParameters = FusionParameters()
    retrieval: RetrievalParameters = RetrievalParameters()
    rerank: RerankParameters = RerankParameters()
    selection: SelectionParameters = SelectionParameters()
    rewrite: RewriteParameters = RewriteParameters()
    answer: AnswerParameters = AnswerParameters()

    def override(self, context: Mapping[str, Any] | Parameters | None) -> Parameters:
        """These parameters, with the values of a call replacing them.

        Raises:
            ConfigError: an unknown name or a value out of range.
        """
        if context is None:
            # Not self: settings fixed at opening, among them secrets, are no part of a call.
            return Parameters(**{name: getattr(self, name) for name in Parameters.model_fields})
        if isinstance(context, Parameters):
            return context
        if not isinstance(context, Mapping):
            raise ConfigError(f"parameters are a mapping such as {{'fusion': {{'k': 20}}}}, not {context!r}")
        base = {name: getattr(self, name).model_dump() for name in Parameters.model_fields}
        for section, values in context.items():
            if section not in base:
                raise ConfigError(f"unknown parameter section {section!r}; use one of: {', '.join(base)}")
            if not isinstance(values, Mapping):
                raise ConfigError(
                    f"parameters of {section!r} are a mapping such as {{'k': 20}}, not {values!r}"
                )
            base[section] = {**base[section], **values}
        return validate(Parameters, base)


def _overrides(section: type[Section]) -> Any:
    """The section as a typed, described form with every value optional."""
    values = {
        name: Annotated[field.annotation, Field(description=field.description)]
        for name, field in section.model_fields.items()
    }
    return TypedDict(f"{section.__name__.removesuffix('Parameters')}Overrides", values, total=False)  # type: ignore[operator]


Overrides: Any = TypedDict(  # type: ignore[misc]
    "Overrides",
    {name: _overrides(field.annotation) for name, field in Parameters.model_fields.items()},
    total=False,
)
"""The ``context`` of a call: values by section, validated against ``Parameters``."""


SECRETS = frozenset(
    {
        "api_key",
        "base_url",
        "conversations",
        "embedding_base_url",
        "key",
        "keys",
        "lancedb_uri",
        "password",
        "storage_options",
        "uri",
    }
)
"""Settings whose value never appears in an error."""

S = TypeVar("S", bound=Section)


def validate(kind: type[S], values: Mapping[str, Any], where: str = "") -> S:
    """An instance of a section; ``ConfigError`` names each key with a wrong value, its path prefixed by ``where``."""
    try:
        return kind.model_validate(values)
    except ValidationError as error:
        raise ConfigError(problems(error, kind, where)) from error


def problems(error: ValidationError, kind: type[BaseModel], where: str = "") -> str:
    """A validation error of ``kind`` on one line: each key, what is wrong, and the value unless it is secret.

    ``where`` is the prefix of every key's path.
    """
    return "; ".join(_problem(item, kind, where) for item in error.errors())


def _problem(item: Any, kind: type[BaseModel], where: str) -> str:
    loc, wrong = item["loc"], item["type"]
    path = where + "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in loc)
    key = repr(path.removeprefix(".") or "settings")
    if wrong == "extra_forbidden":  # the value is left out: the name may be a misspelt secret
        return f"{key}: no such setting; use one of: {', '.join(_section(kind, loc[:-1]).model_fields)}"
    if wrong == "missing":
        choices = get_args(_section(kind, loc[:-1]).model_fields[loc[-1]].annotation)
        listed = all(isinstance(choice, str) for choice in choices) and ", ".join(choices)
        return f"{key}: missing" + (f"; use one of: {listed}" if listed else "")
    message = item["msg"].removeprefix("Value error, ")
    untold = wrong == "value_error" or isinstance(item.get("input"), dict) or SECRETS.intersection(loc)
    given = "" if untold else f" (given: {item.get('input')!r:.80})"
    return f"{key}: {message[0].lower()}{message[1:]}{given}"


def _section(kind: type[BaseModel], path: Sequence[int | str]) -> type[BaseModel]:
    """The section at a path; list indices are skipped."""
    for name in (part for part in path if isinstance(part, str)):
        annotation: Any = kind.model_fields[name].annotation
        kind = next(one for one in (annotation, *get_args(annotation)) if hasattr(one, "model_fields"))
    return kind
