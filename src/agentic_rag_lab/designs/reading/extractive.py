"""The extractive reader: answers with a sentence of the history, or the time it names, without a chat model."""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np

from agentic_rag.domain.ports import Embedding, FloatArray
from agentic_rag.text import script
from agentic_rag.text.cache import TextCache
from agentic_rag_lab.designs.reading.dates import moment_answer
from agentic_rag_lab.designs.reading.doubt import ReaderWeights, doubtful, shipped_weights
from agentic_rag_lab.designs.reading.history import History, Sentence, read_history
from agentic_rag_lab.designs.reading.questions import ParsedQuestion, read_question
from agentic_rag_lab.designs.reading.reader import NOT_MENTIONED
from agentic_rag_lab.designs.reading.statements import Statement, bearing_statements
from agentic_rag_lab.designs.reading.words import stem, telling, words_of

CACHE_SIZE = 8192
"""Maximum number of cached texts; with 384 dimensions about 12 MB."""
LINES_READ = 6
"""Number of sentences searched for a clause."""
LINES_COMPARED = 8
"""Number of sentences compared with the offered answers."""

_CLAUSE = re.compile(r"[^，,。.！!？?；;：:、\n]+")
_SPOKEN_OF = "我我们咱你您的了是就在"
_FIRST = frozenset("i i'm i've i'd i'll my me mine we we're we've our us myself".split())
_NOT = re.compile(r"\b(?:not|no|never|none|nobody|nothing|hardly)\b|n['’]t\b", re.IGNORECASE)
_OFFER = re.compile(r"(?P<left>[^,:?]+?),?\s+or\s+(?P<right>[^,?]+)\??\s*$", re.IGNORECASE)


class ExtractiveReader:
    """``Reader`` that quotes: offline, deterministic, without a key.

    It determines the question's kind, ranks the history's sentences by shared rare words, meaning, speaker and
    date, and answers with a time, a yes or no, or the best sentence; with ``NOT_MENTIONED`` if nothing matches,
    or the matching sentence is by another person than the question asks about.

    Args:
        embedding: for the comparison by meaning; None: sentences are ranked by words alone.
        weights: the learned weights; None: the package's own.
    """

    def __init__(self, embedding: Embedding | None = None, weights: ReaderWeights | None = None) -> None:
        self.embedding = None if embedding is None else RememberedEmbedding(embedding)
        self._weights = shipped_weights() if weights is None else weights

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

    async def answer(self, question: ParsedQuestion, statements: list[Statement], history: History) -> str:
        """The answer from the statements of a history, best first, without the test for doubt; "" if there is none."""
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
        return _trim_sentence(question, statements[0].sentence)


def _trim_sentence(question: ParsedQuestion, sentence: Sentence) -> str:
    """A sentence without words of the question and function words at both its ends."""
    known = question.terms | {stem(word) for name in question.people for word in name.split()}
    says = [word for word in sentence.words if not word.function and word.stem not in known]
    return sentence.text[says[0].start : says[-1].end] if says else sentence.text


class RememberedEmbedding:
    """``ports.Embedding`` that caches the vectors of the ``CACHE_SIZE`` last used passages.

    A vector depends on its text alone, as the port requires, so only the time changes.
    """

    def __init__(self, embedding: Embedding) -> None:
        self._embedding = embedding
        self._cache = TextCache[FloatArray](CACHE_SIZE)

    @property
    def name(self) -> str:
        return self._embedding.name

    @property
    def dimension(self) -> int:
        return self._embedding.dimension

    async def embed_queries(self, texts: Sequence[str]) -> FloatArray:
        return await self._embedding.embed_queries(texts)

    async def embed_passages(self, texts: Sequence[str]) -> FloatArray:
        if not texts:
            return np.zeros((0, self.dimension), dtype=np.float32)
        return np.stack(await self._cache.of(texts, self._embedding.embed_passages))


def clause_answer(question: ParsedQuestion, statements: Sequence[Statement]) -> str:
    """The clause without the question's words: 谷歌 of 我在谷歌工作 for 他在哪里工作？ "" without a clause."""
    clauses = [
        (_coverage(question.terms, clause) + statement.support / 10, clause.strip())
        for statement in statements[:LINES_READ]
        for clause in _CLAUSE.findall(statement.sentence.text)
        if clause.strip()
    ]
    if not clauses:
        return ""
    best: str = max(clauses, key=lambda one: one[0])[1]
    return best.strip(question.text + _SPOKEN_OF).strip() or best


def _coverage(terms: frozenset[str], clause: str) -> float:
    """Share of some terms in a clause."""
    return len(terms & telling(words_of(clause))) / len(terms) if terms else 0.0


def verdict(question: ParsedQuestion, statements: Sequence[Statement]) -> str:
    """``Yes`` or ``No``; for questions about a likelihood ``Likely yes`` or ``Likely no``. "No" if the best sentence
    is negated and the question is not."""
    denied = bool(_NOT.search(statements[0].sentence.text)) != bool(_NOT.search(question.text))
    word = "no" if denied else "yes"
    return f"Likely {word}" if question.kind == "likely" else word.capitalize()


def speaker_answer(statement: Statement) -> str:
    """The speaker, if the sentence is about themselves; else ""."""
    own = any(word.lower in _FIRST for word in statement.sentence.words)
    return statement.sentence.line.speaker if own else ""


async def choice(
    question: ParsedQuestion, statements: Sequence[Statement], embedding: Embedding | None
) -> str:
    """The offered answer that the best sentences support, the first one in a tie; ``Yes`` or ``No`` if the question
    does not end with an offer."""
    match = _OFFER.search(question.text)
    if match is None:
        return verdict(question, statements)
    right = match["right"].strip()
    # The first offer without the words of the question before it: as many words as the second offer.
    left = " ".join(match["left"].split()[-max(1, len(right.split())) :])
    sentences = [statement.sentence.text for statement in statements[:LINES_COMPARED]]
    for_left, for_right = (float(_most_shared_words(offer, sentences)) for offer in (left, right))
    if for_left == for_right and embedding is not None:
        vectors = await embedding.embed_passages(sentences)
        near = (await embedding.embed_queries([left, right])) @ vectors.T
        for_left, for_right = (round(float(row.max()), 6) for row in near)
    return right if for_right > for_left else left


def _most_shared_words(offer: str, sentences: Sequence[str]) -> int:
    """Number of an offer's content words in the sentence with the most of them."""
    wanted = telling(words_of(offer))
    return max((len(wanted & telling(words_of(sentence))) for sentence in sentences), default=0)
