"""The extractive reader: the shortest words of the history that answer, without any chat model."""

from __future__ import annotations

from agentic_rag.memory.reading.choosing import chosen_spans
from agentic_rag.memory.reading.clauses import clause_answer
from agentic_rag.memory.reading.doubt import doubtful
from agentic_rag.memory.reading.history import History, read_history
from agentic_rag.memory.reading.moments import moment_answer
from agentic_rag.memory.reading.questions import Question, read_question
from agentic_rag.memory.reading.reader import NOT_MENTIONED
from agentic_rag.memory.reading.remembered import RememberedEmbedding
from agentic_rag.memory.reading.statements import Statement, bearing_statements
from agentic_rag.memory.reading.verdicts import choice, speaker_answer, verdict
from agentic_rag.ports import Embedding
from agentic_rag.text import script


class ExtractiveReader:
    """``Reader`` that quotes: offline, deterministic, without a key.

    It reads the question's kind, ranks the history's sentences by shared rare words, meaning, speaker and
    date, and answers with a time, a verdict or a span of the best ones; where what matches was said by somebody
    else than the question asks about, or nothing matches, with ``NOT_MENTIONED``.

    Args:
        embedding: for meaning; None: sentences are ranked by words alone.
    """

    def __init__(self, embedding: Embedding | None = None) -> None:
        self._embedding = None if embedding is None else RememberedEmbedding(embedding)

    async def read(self, question: str, history_text: str) -> str:
        """See ``Reader``.

        Raises:
            ModelError: the embedding failed.
        """
        history = read_history(history_text)
        asked = read_question(question, history.speakers)
        statements = await bearing_statements(asked, history, self._embedding)
        if not statements or doubtful(asked, statements, history):
            return NOT_MENTIONED
        return await self._answer(asked, statements, history) or NOT_MENTIONED

    async def _answer(self, question: Question, statements: list[Statement], history: History) -> str:
        if question.kind in {"when", "year"}:
            told = moment_answer(question, statements, history)
            if told:
                return told
        if script(question.text) == "cjk":
            return clause_answer(question, statements)
        if question.kind == "choice":
            return await choice(question, statements, self._embedding)
        if question.kind in {"yes_no", "likely"}:
            return verdict(question, statements)
        if question.kind == "who" and not question.people:
            told = speaker_answer(statements[0])
            if told:
                return told
        return ", ".join(span.text for span in chosen_spans(question, statements))
