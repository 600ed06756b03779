"""Post-retrieval, the settings: one section per action, from the mapping or list in a file."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from string import Formatter
from typing import Annotated, Any, Literal, cast

from pydantic import AfterValidator, Field, field_validator, model_validator

from agentic_rag.errors import ConfigError
from agentic_rag.extensions import entries, load
from agentic_rag.settings.parameters import Section, validate

WHERE = "operators.post_retrieval"
CONVERSATION_FORMAT_PROMPT = "The following is some history information."
UNKNOWN_SCORE = 0.5
"""Score of a memory without one: the middle of [0, 1]."""
TIME_FIELD = "timestamp"
LINK_TOP_K = 5

Weight = Annotated[float, Field(ge=0, le=1_000_000)]
Name = Annotated[str, Field(min_length=1)]
Count = Annotated[int, Field(ge=1, le=1_000_000)]


def check_template(template: str, known_names: Sequence[str]) -> str:
    """The template, validated; ``{{`` and ``}}`` in it stand for braces.

    Raises:
        ValueError: an unknown name, a format (``{score:.2f}``), or a brace that is not closed.
    """
    listed = ", ".join(f"{{{name}}}" for name in known_names)
    try:
        parts = list(Formatter().parse(template))
    except ValueError as error:
        raise ValueError(
            f"the template {template!r} has a single brace ({error}); write {{{{ for one"
        ) from error
    for _, name, form, conversion in parts:
        if name is None:
            continue
        if name not in known_names:
            raise ValueError(
                f"the template {template!r} has the unknown {{{name}}}; use of: {listed}, or {{{{ for a brace"
            )
        if form or conversion:
            raise ValueError(
                f"the template {template!r} gives {{{name}}} a format; write the name alone: {listed}"
            )
    return template


def fill_template(template: str, values: Mapping[str, str]) -> str:
    """The template with each name replaced by its value; braces in a value are plain text.

    >>> fill_template("{speaker}: {text}", {"speaker": "Alice", "text": "{hello}"})
    'Alice: {hello}'
    """
    return "".join(
        literal + (values[name] if name is not None else "")
        for literal, name, _, _ in Formatter().parse(template)
    )


def _template(*known_names: str) -> AfterValidator:
    """Rejects a template with other names."""
    return AfterValidator(lambda template: check_template(template, known_names))


class ActionStep(Section):
    """What every action may set."""

    conversation_format_prompt: str = Field(
        CONVERSATION_FORMAT_PROMPT,
        description="first line of history_text, '' for none; the last step that sets it decides",
    )

    @property
    def kind(self) -> str | None:
        """The step's type, the value of ``rerank_type``, ``filter_type``, …; None for the action none."""
        return next((getattr(self, name) for name in type(self).model_fields if name.endswith("_type")), None)


class NoneStep(ActionStep):
    """Memories stay as they are."""

    action: Literal["none"] = "none"


class WeightedFactor(Section):
    """One factor of rerank_type weighted."""

    field: Name = Field("score", description="score, recency, or a number in the metadata (importance, …)")
    weight: Weight = Field(1.0, description="its share of the sum of all weights")
    default: float = Field(UNKNOWN_SCORE, ge=0, le=1, description="of a memory that lacks it, in [0, 1]")


TIME_DECAY_RATE = 0.0005
"""Per hour: a half-life of ln 2 / 0.0005 h = 58 days. Conversations last months, so a score keeps .93 after six
days and .11 after half a year; at 0.1, six days would leave 6e-7."""


MAX_STEPS = 20
"""Most steps, and most queries of a step: a request may set both, and each searches again."""
MAX_ITERATIONS = 1000
"""What is left of the start after n steps of a walk is at most its damping factor to the power n: .99^1000 = 4e-5."""


class RerankStep(ActionStep):
    """Memories get a new score and its order."""

    action: Literal["rerank"]
    rerank_type: Literal["semantic", "time_weighted", "ppr", "weighted", "cross_encoder"] = Field(
        description="what the new score is"
    )
    rerank_top_k: Count | None = Field(None, description="keep so many; None: all")
    rerank_score_field: Name = Field("rerank_score", description="metadata key the new score is written to")
    time_field: Name = Field(TIME_FIELD, description="metadata key of a memory's ISO 8601 time")
    time_decay_rate: Weight = Field(
        TIME_DECAY_RATE,
        description="per hour; 0.0005 halves in two months, 0.1 in 7 hours: time_weighted, recency",
    )
    weighted_factors: tuple[WeightedFactor, ...] = Field(
        (
            WeightedFactor(field="score"),
            WeightedFactor(field="recency"),
            WeightedFactor(field="importance"),
        ),
        min_length=1,
        description="weighted: list of field, weight, default",
    )
    damping_factor: float = Field(0.85, ge=0, lt=1, description="ppr: probability that the walk goes on")
    max_iterations: int = Field(
        100, ge=1, le=MAX_ITERATIONS, description="ppr: steps after which the walk is cut off"
    )
    convergence_threshold: float = Field(
        1e-6, gt=0, le=1, description="ppr: the walk ends when a step moves less than this, of 1"
    )
    link_top_k: Count = Field(LINK_TOP_K, description="ppr: links asked of each memory")
    walk_neighbours: bool = Field(
        False, description="ppr: linked memories that are not at hand carry the walk too; none is added"
    )

    @field_validator("weighted_factors")
    @classmethod
    def _weighs(cls, factors: tuple[WeightedFactor, ...]) -> tuple[WeightedFactor, ...]:
        if not any(factor.weight for factor in factors):
            raise ValueError("all weights are 0; give one factor a weight above 0")
        return factors


class FilterStep(ActionStep):
    """Some memories stay, in the order they have."""

    action: Literal["filter"]
    filter_type: Literal["token_budget", "threshold", "top_k", "llm"] = Field(
        description="by what they are kept"
    )
    token_budget: Count = Field(2000, description="token_budget: most tokens of all texts together")
    threshold: float = Field(UNKNOWN_SCORE, description="threshold: lowest score that is kept")
    top_k: Count = Field(10, description="top_k: most memories")
    llm_batch_size: Count = Field(20, le=100, description="llm: memories the chat model judges at a time")


class SecondaryQuery(Section):
    """One more query of merge_type multi_query."""

    query: str = Field(description="asked of the service; {question} stands for the question")
    top_k: Count = Field(LINK_TOP_K, description="memories asked for")
    service: Name | None = Field(
        None, description="one of services.secondary_services; None: the registered service"
    )

    @field_validator("query")
    @classmethod
    def _readable(cls, query: str) -> str:
        if not query.strip():
            raise ValueError("the query is blank; write one, such as 'facts about {question}'")
        return check_template(query, ("question",))


class MergeStep(ActionStep):
    """Memories that the service finds on being asked again join."""

    action: Literal["merge"]
    merge_type: Literal["link_expand", "multi_query"] = Field(description="what is asked")
    expand_top_n: Count = Field(5, description="link_expand: the best so many memories are followed")
    max_depth: Annotated[int, Field(ge=1, le=10)] = Field(1, description="link_expand: links in a row")
    link_top_k: Count = Field(LINK_TOP_K, description="link_expand: links asked of each memory")
    secondary_queries: tuple[SecondaryQuery, ...] = Field(
        (), max_length=MAX_STEPS, description="multi_query: list of query (with {question}) and top_k"
    )

    @model_validator(mode="after")
    def _asks(self) -> MergeStep:
        if self.merge_type == "multi_query" and not self.secondary_queries:
            raise ValueError(
                "merge_type multi_query needs secondary_queries, such as [{query: 'facts about {question}', top_k: 5}]"
            )
        return self


class AugmentStep(ActionStep):
    """Something is added to the memories."""

    action: Literal["augment"]
    augment_type: Literal["reflection", "context"] = Field(description="what is added")
    reflection_count: Annotated[int, Field(ge=1, le=20)] = Field(3, description="reflection: most insights")
    context_fields: tuple[Name, ...] = Field(
        (TIME_FIELD,), description="context: metadata keys that are shown (timestamp, session_id, speaker, …)"
    )
    context_text: str = Field("", description="context: fixed text that is shown")
    context_place: Literal["memory", "preface"] = Field(
        "memory", description="context: in each memory's text, or once above all memories"
    )
    context_template: Annotated[str, _template("context", "text")] = Field(
        "[{context}] {text}", description="context in a memory: {context} and {text}"
    )


class CompressStep(ActionStep):
    """Memories become shorter."""

    action: Literal["compress"]
    compress_type: Literal["extractive"] = Field(description="the sentences nearest to the question")
    compress_max_tokens: Count = Field(1000, description="most tokens of all texts together")


class FormatStep(ActionStep):
    """Memories become history_text."""

    action: Literal["format"]
    format_type: Literal["template"] = Field(description="how they are written")
    memory_template: Annotated[str, _template("text", "timestamp", "speaker", "score", "index")] = Field(
        "{text}", description="template: {text}, {timestamp}, {speaker}, {score}, {index}"
    )
    time_field: Name = Field(TIME_FIELD, description="metadata key of a memory's ISO 8601 time")


Step = Annotated[
    NoneStep | RerankStep | FilterStep | MergeStep | AugmentStep | CompressStep | FormatStep,
    Field(discriminator="action"),
]
SECTIONS: Mapping[str, type[Step]] = {
    "none": NoneStep,
    "rerank": RerankStep,
    "filter": FilterStep,
    "merge": MergeStep,
    "augment": AugmentStep,
    "compress": CompressStep,
    "format": FormatStep,
}


def parse_steps(value: Mapping[str, Any] | Sequence[Mapping[str, Any]] | None) -> tuple[Step, ...]:
    """The steps in order, from one mapping or a list; None and an empty list stand for ``none``.

    Args:
        value: as in the file.

    Raises:
        ConfigError: an unknown action, type or key, or a value out of range; each is named.

    >>> [step.action for step in parse_steps([{"action": "filter", "filter_type": "top_k"}])]
    ['filter']
    """
    if value is None:
        return (NoneStep(),)
    if isinstance(value, Mapping):
        return (_step(value, WHERE),)
    if isinstance(value, str | bytes) or not isinstance(value, Sequence):
        raise ConfigError(
            f"{WHERE}: a mapping such as {{action: none}}, or a list of them, not {value!r:.80}"
        )
    if len(value) > MAX_STEPS:
        raise ConfigError(f"{WHERE}: {len(value)} steps; give at most {MAX_STEPS}")
    steps = tuple(_step(given, f"{WHERE}[{n}]") for n, given in enumerate(value))
    check_order(steps)
    return steps or (NoneStep(),)


def check_order(steps: Sequence[Step]) -> None:
    """Raises ``ConfigError`` if a step would change memories after the format step."""
    for n, step in enumerate(steps[:-1]):
        if step.action == "format":
            raise ConfigError(
                f"{WHERE}[{n}].action: format makes history_text and must be the last step; move it to the end"
            )


def _step(value: Any, where: str) -> Step:
    if not isinstance(value, Mapping):
        raise ConfigError(f"{where}: a mapping such as {{action: none}}, not {value!r:.80}")
    known = (*SECTIONS, *entries("actions"))
    if "action" not in value:
        raise ConfigError(f"{where}.action: missing; use one of: {', '.join(known)}")
    action = value["action"]
    if not isinstance(action, str) or action not in known:
        raise ConfigError(f"{where}.action: unknown {action!r:.80}; use one of: {', '.join(known)}")
    section = SECTIONS[action] if action in SECTIONS else load("actions", action, "action").section
    return cast(Step, validate(section, dict(value), where))
