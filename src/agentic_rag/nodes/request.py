"""The request: one question, normalised once by ``prepare_query``, as every later node reads it."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, cast

from agentic_rag.dates.instants import parse_as_of
from agentic_rag.domain.filters import Expression, as_dict, parse_filters
from agentic_rag.domain.identity import dataset_name
from agentic_rag.errors import InputError
from agentic_rag.fusion.operation_choice import choose_operation
from agentic_rag.fusion.strategy_selector import (
    DEFAULT_OPERATION,
    CanvasOperation,
    parse_operation,
    resolve_parameters,
)
from agentic_rag.nodes.conversation import completed, last_heard, question_of
from agentic_rag.settings.parameters import FusionParameters, Parameters
from agentic_rag.state import AUTO, CanvasRAGState

DEFAULT_DATASET = "default"
DEFAULT_TOP_K = 10
MOST_TOP_K = 1000


@dataclass(frozen=True, slots=True)
class Request:
    """What one run is asked."""

    query: str
    """As the caller wrote it."""
    question: str
    """Completed from the conversation, and bounded: what results are judged by and quoted for."""
    heard: str | None
    """Id of the last human message: a newer one asks anew."""
    operation: CanvasOperation
    operation_reason: str | None
    """Why it was chosen; None where the caller named it."""
    dataset: str
    filters: Expression | None
    as_of: datetime | None
    top_k: int
    started: float
    """Seconds since 1970."""
    parameters: Parameters
    """The defaults with this call's own on top."""

    @classmethod
    def of(cls, state: CanvasRAGState) -> Request:
        """The run's; of a state made by hand, which has none, what ``normalised`` makes of the caller's keys."""
        if "request" in state:
            return cls.from_plain(state["request"])
        return normalised(cast(CanvasRAGState, {"query": "", **state}), Parameters())

    def plain(self) -> dict[str, Any]:
        """As the state holds it: JSON values."""
        return {
            "query": self.query,
            "question": self.question,
            "heard": self.heard,
            "operation": self.operation.value,
            "operation_reason": self.operation_reason,
            "dataset": self.dataset,
            "filters": None if self.filters is None else as_dict(self.filters),
            "as_of": None if self.as_of is None else self.as_of.isoformat(),
            "top_k": self.top_k,
            "started": self.started,
            "parameters": self.parameters.model_dump(mode="json"),
        }

    @classmethod
    def from_plain(cls, plain: Mapping[str, Any]) -> Request:
        """The inverse of ``plain``."""
        read = {
            "operation": CanvasOperation(plain["operation"]),
            "filters": parse_filters(plain["filters"]),
            "as_of": None if plain["as_of"] is None else datetime.fromisoformat(plain["as_of"]),
            "parameters": Parameters.model_validate(plain["parameters"]),
        }
        return cls(**{**plain, **read})

    @property
    def fusion(self) -> FusionParameters:
        """The parameters in effect for the operation."""
        return resolve_parameters(self.operation, self.parameters.fusion)


def normalised(state: CanvasRAGState, parameters: Parameters) -> Request:
    """The request that the caller's keys make.

    Args:
        state: see ``CanvasRAGState``.
        parameters: in effect for this call.

    Raises:
        InputError: no question, an unknown operation, a date or filter that cannot be read, a dataset without a name.
    """
    query, as_message = question_of(state)
    messages = state.get("messages") or []
    question = completed(query, messages)
    # The source document's default is for callers of the graph; who only writes a message has chosen nothing.
    default = AUTO if as_message else DEFAULT_OPERATION
    operation, reason = _operation(state.get("operation") or default, question)
    dataset = state.get("dataset")
    top_k = state.get("top_k")
    if top_k is not None and (type(top_k) is not int or not 1 <= top_k <= MOST_TOP_K):
        raise InputError(f"top_k must be a whole number from 1 to {MOST_TOP_K}, not {top_k!r}")
    return Request(
        query=query,
        question=question,
        heard=last_heard(messages),
        operation=operation,
        operation_reason=reason,
        dataset=DEFAULT_DATASET if dataset in (None, "") else dataset_name(dataset),
        filters=parse_filters(state.get("filters")),
        as_of=parse_as_of(state.get("as_of")),
        top_k=DEFAULT_TOP_K if top_k is None else top_k,
        started=time.time(),
        parameters=parameters,
    )


def _operation(name: str, question: str) -> tuple[CanvasOperation, str | None]:
    if name == AUTO:
        choice = choose_operation(question)
        return choice.operation, choice.reason
    return parse_operation(name), None
