"""PreRetrieval, first of the test graph: the question gets the vector its memory is searched by."""

from __future__ import annotations

from typing import Any, Literal

from agentic_rag.errors import ConfigError, InputError
from agentic_rag.lab.operators.actions import parse_action
from agentic_rag.lab.operators.pre_insert import OperatorTools
from agentic_rag.post_retrieval.operator import Data
from agentic_rag.settings.parameters import Section


class NoPreRetrieval(Section):
    """The question goes on as it is."""

    action: Literal["none"] = "none"


class EmbedQuestion(Section):
    """The question's embedding goes on with it."""

    action: Literal["embedding"] = "embedding"


PreRetrievalSettings = NoPreRetrieval | EmbedQuestion


def parse_pre_retrieval(values: Any) -> PreRetrievalSettings:
    """Settings under ``operators.pre_retrieval``; see ``actions.parse_action``."""
    kinds: dict[str, type[PreRetrievalSettings]] = {"none": NoPreRetrieval, "embedding": EmbedQuestion}
    return parse_action("pre_retrieval", kinds, values)


class PreRetrieval:
    """``none``: nothing is added. ``embedding``: ``query_embedding``, a unit vector as list of floats.

    Args:
        settings: which action.
        tools: ``embedding`` needs the embedding.

    Raises:
        ConfigError: ``embedding`` without one.
    """

    def __init__(self, settings: PreRetrievalSettings, tools: OperatorTools) -> None:
        if isinstance(settings, EmbedQuestion) and tools.embedding is None:
            raise ConfigError(
                "operators.pre_retrieval.action embedding needs an embedding; give one, or use action none"
            )
        self._embedding = tools.embedding if isinstance(settings, EmbedQuestion) else None

    async def execute(self, data: Data) -> dict[str, Any]:
        """The question's embedding, where the action is ``embedding``.

        Raises:
            InputError: data without a question.
            ModelError: the embedding failed.
        """
        question = question_of(data)
        if self._embedding is None:
            return {}
        vectors = await self._embedding.embed_queries([question])
        return {"query_embedding": [float(value) for value in vectors[0]]}


def question_of(data: Data) -> str:
    """The question's text.

    Raises:
        InputError: there is none.
    """
    question = data.get("question")
    if not isinstance(question, str):
        raise InputError(f"a memory is asked a 'question', a text, not {question!r:.80}")
    return question
