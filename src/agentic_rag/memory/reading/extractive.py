"""The extractive reader: the sentence of the history that answers, or the time it names, without any chat model."""

from __future__ import annotations

from agentic_rag.memory.reading.clauses import clause_answer
from agentic_rag.memory.reading.doubt import doubtful
from agentic_rag.memory.reading.history import History, Sentence, read_history
from agentic_rag.memory.reading.moments import moment_answer
from agentic_rag.memory.reading.questions import Question, read_question
from agentic_rag.memory.reading.reader import NOT_MENTIONED
from agentic_rag.memory.reading.remembered import RememberedEmbedding
from agentic_rag.memory.reading.statements import Statement, bearing_statements
from agentic_rag.memory.reading.verdicts import choice, speaker_answer, verdict
from agentic_rag.memory.reading.weights import ReaderWeights, shipped
from agentic_rag.memory.reading.words import stem
from agentic_rag.ports import Embedding
from agentic_rag.text import script


class ExtractiveReader:
    """``Reader`` that quotes: offline, deterministic, without a key.

    It reads the question's kind, ranks the history's sentences by shared rare words, meaning, speaker and
    date, and answers with a time, a verdict or the best one; where what matches was said by somebody
    else than the question asks about, or nothing matches, with ``NOT_MENTIONED``.

    Args:
        embedding: for meaning; None: sentences are ranked by words alone.
        weights: what it has learned; None: the package's own.
    """

    def __init__(self, embedding: Embedding | None = None, weights: ReaderWeights | None = None) -> None:
        self.embedding = None if embedding is None else RememberedEmbedding(embedding)
        self._weights = shipped() if weights is None else weights

    async def read(self, question: str, history_text: str) -> str:
        """See ``Reader``.

        Raises:
            ModelError: the embedding failed.
        """
        history = read_history(history_text)
        asked = read_question(question, history.speakers)
        statements = await bearing_statements(asked, history, self.embedding)
        if not statements or doubtful(asked, statements, history, self._weights):
            return NOT_MENTIONED
        return await self.answer(asked, statements, history) or NOT_MENTIONED

    async def answer(self, question: Question, statements: list[Statement], history: History) -> str:
        """The answer without any doubt; "" where no words can be one.

        Args:
            question: as it was read.
            statements: of the history, best first; at least one.
            history: as it was read.
        """
        if question.kind in {"when", "year"}:
            told = moment_answer(question, statements, history)
            if told:
                return told
        if script(question.text) == "cjk":
            return clause_answer(question, statements)
        if question.kind == "choice":
            return await choice(question, statements, self.embedding)
        if question.kind in {"yes_no", "likely"}:
            return verdict(question, statements)
        if question.kind == "who" and not question.people:
            told = speaker_answer(statements[0])
            if told:
                return told
        return _told(question, statements[0].sentence)


def _told(question: Question, sentence: Sentence) -> str:
    """A sentence without what the question says too, and without function words, at both its ends."""
    known = question.terms | {stem(word) for name in question.people for word in name.split()}
    says = [word for word in sentence.words if not word.function and word.stem not in known]
    return sentence.text[says[0].start : says[-1].end] if says else sentence.text
