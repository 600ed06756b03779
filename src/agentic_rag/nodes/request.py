"""The request: one question, normalised once by ``prepare_query``, as every later node reads it.

A question that leans on the conversation is completed from it.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any, cast

from langchain_core.messages import AIMessage, AnyMessage, HumanMessage

from agentic_rag.channels import ParsedMapping
from agentic_rag.dates.instants import parse_as_of
from agentic_rag.domain.filters import Expression, as_dict, parse_filters, values_of
from agentic_rag.domain.identity import memory_dataset, notes_dataset
from agentic_rag.domain.json_values import Json
from agentic_rag.errors import InputError, UnknownOperation
from agentic_rag.fusion.operation_choice import choose_operation
from agentic_rag.fusion.strategy_selector import (
    DEFAULT_OPERATION,
    CanvasOperation,
    parse_operation,
    resolve_parameters,
)
from agentic_rag.questions.followups import CompletedQuestion, Turn
from agentic_rag.questions.question import Question
from agentic_rag.settings.parameters import FusionParameters, Parameters
from agentic_rag.state import AUTO, CanvasRAGState

DEFAULT_DATASET = "default"
DEFAULT_TOP_K = 10
MAX_TOP_K = 1000
MAX_CHARACTERS = 2_000
"""Longest searched question. A longer one is pasted text; only its beginning and end are searched, because
embedding and comparing all of it would exceed a source's time limit."""
MAX_ANSWER = 20_000
"""Longest earlier answer in which things are looked for; of a longer one, a client's own, the beginning and the end."""
Complete = Callable[[str, Sequence[Turn]], CompletedQuestion]


@dataclass(frozen=True, slots=True)
class Request:
    """What one run is asked."""

    query: str
    """As the caller wrote it."""
    question: str
    """Completed from the conversation, and bounded: what is searched for, and what results are judged by."""
    asked: str
    """The same without the earlier question that it goes on from: what units answer."""
    message_id: str | None
    """Id of the last human message; a newer message starts a new request."""
    operation: CanvasOperation
    operation_reason: str | None
    """Why it was chosen; None where the caller named it."""
    dataset: str
    filters: Expression | None
    as_of: datetime | None
    top_k: int
    user_id: str | None
    """Whose memories are asked besides the dataset."""
    started: float
    """Seconds since 1970."""
    parameters: Parameters
    """The defaults with this call's own on top."""
    carried: Mapping[str, str] = field(default_factory=dict)
    """What of the conversation completed the question: ``thing``, ``attribute``, ``days``, ``selection``, ``question``."""
    answer: str = ""
    """The answer before, where the question goes on from it."""
    _fusion: FusionParameters | None = field(default=None, init=False, repr=False, compare=False)

    @classmethod
    def of(cls, state: CanvasRAGState) -> Request:
        """The run's request, parsed once a run; for a state made by hand, the one that ``normalise`` makes from the
        caller's keys."""
        if "request" in state:
            plain = state["request"]
            if not isinstance(plain, ParsedMapping):
                return cls.from_plain(plain)
            if plain.value is None:  # the run goes on from a checkpoint
                plain.value = cls.from_plain(plain)
            return cast(Request, plain.value)
        return normalise(cast(CanvasRAGState, {"query": "", **state}), Parameters())

    def plain(self) -> Json:
        """As the state holds it: JSON values, with the request itself for the nodes of this process."""
        plain = {
            "query": self.query,
            "question": self.question,
            "asked": self.asked,
            "message_id": self.message_id,
            "operation": self.operation.value,
            "operation_reason": self.operation_reason,
            "dataset": self.dataset,
            "filters": None if self.filters is None else as_dict(self.filters),
            "as_of": None if self.as_of is None else self.as_of.isoformat(),
            "top_k": self.top_k,
            "user_id": self.user_id,
            "started": self.started,
            "parameters": self.parameters.model_dump(mode="json"),
            "carried": dict(self.carried),
            "answer": self.answer,
        }
        return ParsedMapping(plain, self)

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

    def read(self) -> Question:
        """What is asked, as units are read for it."""
        question = Question.of(self.asked, self.carried.get("thing", ""))
        begin = len(self.carried.get("selection", ""))
        if any(term.start >= begin and not term.is_generic for term in question.terms):
            # What was asked before is the matter, and what is asked of it now has to be answered.
            terms = (replace(one, is_generic=one.is_generic or one.start < begin) for one in question.terms)
            question = replace(question, terms=tuple(terms))
        return replace(question, earlier_text=self.carried.get("attribute", ""), answer_before=self.answer)

    @property
    def fusion(self) -> FusionParameters:
        """The parameters in effect for the operation, resolved once."""
        if self._fusion is None:
            object.__setattr__(self, "_fusion", resolve_parameters(self.operation, self.parameters.fusion))
        return cast(FusionParameters, self._fusion)

    @property
    def is_operation_named(self) -> bool:
        """Whether the caller named the operation, so that its words chose none."""
        return self.operation_reason is None

    @property
    def asks_memory(self) -> bool:
        """Whether a user is given."""
        return self.user_id is not None


def normalise(
    state: CanvasRAGState,
    parameters: Parameters,
    complete: Complete = lambda query, turns: CompletedQuestion(query),
) -> Request:
    """The request that the caller's keys make.

    Args:
        state: see ``CanvasRAGState``.
        parameters: in effect for this call.
        complete: completes a question from the turns before it.

    Raises:
        InputError: no question, an unknown operation, a date or filter that cannot be read, a dataset without a name, a user without an id.
    """
    query, as_message = question_of(state)
    messages = state.get("messages") or []
    whole = complete(shorten(query), earlier_turns(query, messages))
    question = shorten(whole.search)
    # The source document's default is for callers of the graph; who only writes a message has chosen nothing.
    default = AUTO if as_message else DEFAULT_OPERATION
    operation, reason = _operation(state.get("operation") or default, question)
    dataset = state.get("dataset")
    top_k = state.get("top_k")
    if top_k is not None and (type(top_k) is not int or not 1 <= top_k <= MAX_TOP_K):
        raise InputError(f"top_k must be a whole number from 1 to {MAX_TOP_K}, not {top_k!r}")
    return Request(
        query=query,
        question=question,
        asked=shorten(whole.question),
        message_id=last_message_id(messages),
        operation=operation,
        operation_reason=reason,
        dataset=DEFAULT_DATASET if dataset in (None, "") else notes_dataset(dataset),
        filters=_filters_of(state),
        as_of=parse_as_of(state.get("as_of")),
        top_k=DEFAULT_TOP_K if top_k is None else top_k,
        user_id=_user_of(state),
        started=time.time(),
        parameters=parameters,
        carried=whole.carried_parts,
        answer=whole.answer,
    )


def _filters_of(state: CanvasRAGState) -> Expression | None:
    """The filters, with numbers that a checkpoint of the state can hold."""
    filters = parse_filters(state.get("filters"))
    values = [] if filters is None else values_of(filters)
    if any(isinstance(value, int) and value.bit_length() >= 64 for value in values):
        raise InputError("a filter compares with a whole number of more than 64 bits; use a smaller one")
    return filters


def _user_of(state: CanvasRAGState) -> str | None:
    """The user's id, checked; None where none is given."""
    user_id = state.get("user_id")
    if user_id is not None:
        memory_dataset(user_id)
    return user_id


def _operation(name: str, question: str) -> tuple[CanvasOperation, str | None]:
    if name == AUTO:
        choice = choose_operation(question)
        return choice.operation, choice.reason
    try:
        return parse_operation(name), None
    except UnknownOperation as error:
        raise UnknownOperation(error.operation, [AUTO, *error.known_names]) from error


def question_of(state: CanvasRAGState) -> tuple[str, bool]:
    """The caller's question, and whether it is a message of the conversation rather than ``query``.

    It is ``query``, or the last human message. In a thread that is kept, the ``query`` of the turn before is still
    there: a human message that came since is the question then.

    Raises:
        InputError: there is neither.
    """
    query, messages = state.get("query"), state.get("messages") or []
    earlier = state.get("request") or {}
    newer = last_message_id(messages) not in (None, earlier.get("message_id"))
    as_message = query is None or (newer and query == earlier.get("query"))
    if as_message:
        query = next(reversed(human_texts(messages)), None)
    if not isinstance(query, str):
        raise InputError("a question is needed: pass query='…', or a human message in messages")
    return query, as_message


def earlier_turns(query: str, messages: Sequence[AnyMessage]) -> list[Turn]:
    """The questions of a conversation with their answers, in order, without the question that is asked now."""
    turns: list[Turn] = []
    for message in messages:
        if isinstance(message, HumanMessage):
            turns.append(Turn(shorten(str(message.text))))
        elif isinstance(message, AIMessage) and turns:
            turns[-1] = replace(turns[-1], answer=shorten(str(message.text), MAX_ANSWER))
    return turns[:-1] if turns and turns[-1].question.strip() == shorten(query).strip() else turns


def shorten(text: str, most: int = MAX_CHARACTERS) -> str:
    """Beginning and end of a text of more than ``most`` characters."""
    half = most // 2
    return text if len(text) <= most else f"{text[:half]} {text[-half:]}"


def last_message_id(messages: Sequence[AnyMessage]) -> str | None:
    """The id of the last human message."""
    human = [message for message in messages if isinstance(message, HumanMessage)]
    return human[-1].id if human else None


def human_texts(messages: Sequence[AnyMessage]) -> list[str]:
    """What the person said, in order."""
    return [str(message.text) for message in messages if isinstance(message, HumanMessage)]
