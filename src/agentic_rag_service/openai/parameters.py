"""What each parameter of OpenAI's requests does here: one declaration, which the service, the docs and the tests read.

A parameter that OpenAI adds is ignored until it is declared. Null counts as left out.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from agentic_rag.errors import InputError
from agentic_rag_service.openai.answers import MAX_ANSWERS

Effect = Literal["honoured", "refused", "ignored"]
_MAX_VALUE = 80
"""Characters of a refused value in the message."""


class UnsupportedParameter(InputError):
    """A parameter has a value that cannot be honoured; ``param`` is its name."""

    def __init__(self, param: str, value: Any, remedy: str) -> None:
        self.param = param
        shown = json.dumps(value, ensure_ascii=True, default=str)
        if len(shown) > _MAX_VALUE:
            shown = f"{shown[:_MAX_VALUE]}…"
        super().__init__(f"{param}: {shown} is not supported; {remedy}")


@dataclass(frozen=True, slots=True)
class Parameter:
    """A parameter of a request.

    Attributes:
        name: as OpenAI spells it.
        effect: ``honoured``; ``ignored``, so the answer is the same without it; ``refused``, so it is an error unless
            its value asks for nothing.
        note: what it does, or why it does nothing.
        accepts: whether a value is no error.
        remedy: what to send instead of a refused value; empty if every value is accepted.
    """

    name: str
    effect: Effect
    note: str
    accepts: Callable[[Any], bool] = lambda _: True
    remedy: str = ""


def _is_off(value: Any) -> bool:
    return value is False


def _is_free_choice(value: Any) -> bool:
    """Whether a ``tool_choice`` permits an answer without a call."""
    kind = value.get("mode") if isinstance(value, Mapping) else value
    return kind in ("auto", "none")


def _is_text(value: Any) -> bool:
    return isinstance(value, Mapping) and value.get("type") == "text"


def _has_text_format(value: Any) -> bool:
    return isinstance(value, Mapping) and (value.get("format") is None or _is_text(value["format"]))


_NO_CALLS = 'leave it out or send "auto": the notes answer, and call no tool'
_PLAIN = 'leave it out or send {"type": "text"}: an answer is text with citations'
_PLAIN_FORMAT = 'leave format out or send {"type": "text"}: an answer is text with citations'
_NOTHING_STORED = "leave it out or send false: no response is stored"
_NO_ODDS = "leave it out: an answer from notes has no token probabilities"
_NOT_STEERED = "steers how a model writes; the notes' words stand"
_NO_TOOLS = "no tool is ever called"
_OPERATOR = "OpenAI's own processing, caching or accounting"

_MODEL = Parameter("model", "honoured", "a dataset, or `DATASET/OPERATION`")
_STREAM = Parameter("stream", "honoured", "text is sent once its citations are checked")
_METADATA = "metadata"
_STORE = Parameter("store", "refused", "true", _is_off, _NOTHING_STORED)
_TOOL_CHOICE = Parameter("tool_choice", "refused", "a forced call", _is_free_choice, _NO_CALLS)
_TOP_LOGPROBS = Parameter("top_logprobs", "refused", "more than 0", lambda value: value == 0, _NO_ODDS)
_IGNORED_BY_BOTH = (
    Parameter("temperature", "ignored", _NOT_STEERED),
    Parameter("top_p", "ignored", _NOT_STEERED),
    Parameter("tools", "ignored", _NO_TOOLS),
    Parameter("parallel_tool_calls", "ignored", _NO_TOOLS),
    Parameter("moderation", "ignored", _OPERATOR),
    Parameter("prompt_cache_key", "ignored", _OPERATOR),
    Parameter("prompt_cache_options", "ignored", _OPERATOR),
    Parameter("prompt_cache_retention", "ignored", _OPERATOR),
    Parameter("safety_identifier", "ignored", "the key names the user"),
    Parameter("service_tier", "ignored", _OPERATOR),
    Parameter("user", "ignored", "the key names the user"),
)

CHAT: tuple[Parameter, ...] = (
    _MODEL,
    Parameter(
        "messages",
        "honoured",
        "the user's last text is the question; earlier ones, and the assistant's, complete it; system, developer and "
        "tool messages are ignored; a question with pictures, sound or files is refused",
    ),
    _STREAM,
    Parameter(
        "stream_options", "honoured", "`include_usage`: the last chunk has the usage; only with `stream`"
    ),
    Parameter("stop", "honoured", "the answer ends before the first of up to 4 texts"),
    Parameter(
        "max_completion_tokens",
        "honoured",
        "the answer is cut there, with `finish_reason` `length`; tokens of the bundled embedding model",
    ),
    Parameter("max_tokens", "honoured", "as `max_completion_tokens`, which goes before it"),
    Parameter(
        "n",
        "refused",
        "more than 1",
        lambda value: value == 1 and value is not True,
        "leave it out or send 1: there is one answer",
    ),
    Parameter("response_format", "refused", "other than text", _is_text, _PLAIN),
    _TOOL_CHOICE,
    Parameter("function_call", "refused", "a forced call", _is_free_choice, _NO_CALLS),
    Parameter("logprobs", "refused", "true", _is_off, _NO_ODDS),
    _TOP_LOGPROBS,
    Parameter(
        "modalities",
        "refused",
        "other than text",
        lambda value: value == ["text"],
        'leave it out or send ["text"]',
    ),
    Parameter("audio", "refused", "sound", lambda _: False, "leave it out: an answer is text"),
    _STORE,
    Parameter(
        "web_search_options",
        "refused",
        "a search of the web",
        lambda _: False,
        "leave it out: answers come from the notes alone",
    ),
    *_IGNORED_BY_BOTH,
    Parameter("functions", "ignored", _NO_TOOLS),
    Parameter("frequency_penalty", "ignored", _NOT_STEERED),
    Parameter("presence_penalty", "ignored", _NOT_STEERED),
    Parameter("logit_bias", "ignored", _NOT_STEERED),
    Parameter("seed", "ignored", "the same question has the same answer"),
    Parameter("prediction", "ignored", _NOT_STEERED),
    Parameter("reasoning_effort", "ignored", _NOT_STEERED),
    Parameter("verbosity", "ignored", _NOT_STEERED),
    Parameter(_METADATA, "ignored", "labels of stored completions"),
)
"""The parameters of ``POST /v1/chat/completions``."""

RESPONSES: tuple[Parameter, ...] = (
    _MODEL,
    Parameter(
        "input",
        "honoured",
        "a text, or items: the user's last text is the question; earlier messages complete it; an `item_reference` "
        f"stands for one of this service's last {MAX_ANSWERS} answers to the same key, another one is refused; system "
        "and developer messages, reasoning and tool calls are ignored; a question with pictures or files is refused",
    ),
    _STREAM,
    Parameter(
        "max_output_tokens",
        "honoured",
        "the answer is cut there, with `status` `incomplete`; tokens of the bundled embedding model",
    ),
    Parameter(_METADATA, "honoured", "returned unchanged"),
    Parameter(
        "previous_response_id",
        "refused",
        "a stored response",
        lambda _: False,
        "send the earlier turns as items of input: no response is stored",
    ),
    Parameter(
        "conversation",
        "refused",
        "a stored conversation",
        lambda _: False,
        "send the earlier turns as items of input: no response is stored",
    ),
    _STORE,
    Parameter("background", "refused", "true", _is_off, _NOTHING_STORED),
    Parameter(
        "text",
        "refused",
        "`format` other than text (`verbosity` is ignored)",
        _has_text_format,
        _PLAIN_FORMAT,
    ),
    _TOOL_CHOICE,
    _TOP_LOGPROBS,
    Parameter(
        "include",
        "refused",
        "`message.output_text.logprobs` (for the others there is nothing to include)",
        lambda value: isinstance(value, list) and "message.output_text.logprobs" not in value,
        _NO_ODDS,
    ),
    Parameter(
        "prompt",
        "refused",
        "a stored prompt",
        lambda _: False,
        "send its text as input: no prompt is stored",
    ),
    *_IGNORED_BY_BOTH,
    Parameter("instructions", "ignored", "returned unchanged; every answer comes from the notes"),
    Parameter("reasoning", "ignored", _NOT_STEERED),
    Parameter("stream_options", "ignored", "`include_obfuscation`: nothing is obfuscated"),
    Parameter("truncation", "ignored", "a long conversation is no error"),
    Parameter("context_management", "ignored", "a long conversation is no error"),
    Parameter("max_tool_calls", "ignored", _NO_TOOLS),
    Parameter("image", "ignored", "no picture is read"),
    Parameter("access_programs", "ignored", _OPERATOR),
)
"""The parameters of ``POST /v1/responses``."""


def refuse_unsupported(parameters: tuple[Parameter, ...], request: Mapping[str, Any]) -> None:
    """Check the values of a request.

    Raises:
        UnsupportedParameter: the first declared parameter whose value cannot be honoured.
    """
    for one in parameters:
        value = request.get(one.name)
        if value is not None and not one.accepts(value):
            raise UnsupportedParameter(one.name, value, one.remedy)
