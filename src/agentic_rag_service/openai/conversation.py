"""The question of a request, and the conversation before it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from langchain_core.messages import AIMessage, AnyMessage, HumanMessage
from pydantic import BaseModel, ConfigDict

from agentic_rag.errors import InputError
from agentic_rag.fusion import CanvasOperation
from agentic_rag_service.asking import Ask
from agentic_rag_service.errors import request_of
from agentic_rag_service.openai.parameters import UnsupportedParameter

TEXTS = ("text", "input_text", "output_text", "refusal")
"""Types of the parts of a message that are texts."""


class Part(BaseModel):
    """A part of a message; only texts are read."""

    model_config = ConfigDict(extra="allow")

    type: str
    text: str | None = None


class Message(BaseModel):
    """A message of the conversation."""

    model_config = ConfigDict(extra="allow")

    role: Literal["system", "developer", "user", "assistant", "tool", "function"]
    content: str | list[Part] | None = None

    @property
    def text(self) -> str:
        """The message's texts, one per line."""
        if isinstance(self.content, list):
            return "\n".join(part.text for part in self.content if part.text)
        return self.content or ""


@dataclass(frozen=True, slots=True)
class Turn:
    """A text and who it is from."""

    role: Literal["system", "user", "assistant"]
    text: str


def turns_of(messages: Sequence[Message], param: str) -> list[Turn]:
    """The texts of a conversation, up to the question; messages of tools are left out.

    Args:
        messages: as the request has them.
        param: the request's parameter, for errors.

    Raises:
        InputError: the last text is not the user's.
        UnsupportedParameter: the question has a part that is no text.
    """
    dialogue = [one for one in messages if one.role in ("user", "assistant")]
    if dialogue and dialogue[-1].role == "user" and isinstance(dialogue[-1].content, list):
        for part in dialogue[-1].content:
            if part.type not in TEXTS:
                raise UnsupportedParameter(param, part.type, "ask in words: only texts are read")
    turns: list[Turn] = []
    for one in messages:
        if one.text.strip() and one.role in ("user", "assistant"):
            turns.append(Turn("user" if one.role == "user" else "assistant", one.text))
        elif one.role in ("system", "developer"):
            turns.append(Turn("system", one.text))
    conversation = [one for one in turns if one.role != "system"]
    if not conversation or conversation[-1].role != "user":
        raise InputError(f"{param}: the last message must be the user's, with a text")
    return turns


def ask_of(model: str, turns: Sequence[Turn]) -> tuple[Ask, list[AnyMessage]]:
    """The question to a dataset or to one of its operations, and the conversation before it."""
    dataset, operation = model_parts(model)
    *earlier, question = [one for one in turns if one.role != "system"]
    messages: list[AnyMessage] = [
        HumanMessage(one.text) if one.role == "user" else AIMessage(one.text) for one in earlier
    ]
    return request_of(Ask, query=question.text, dataset=dataset, operation=operation), messages


def model_parts(model: str) -> tuple[str, str]:
    """Dataset and operation of a model's id; ``auto`` if it names none."""
    dataset, slash, operation = model.rpartition("/")
    if slash and operation in {one.value for one in CanvasOperation}:
        return dataset, operation
    return model, "auto"
