"""A statement beside a passage: how nearly each clause of the passage says each of its words."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from itertools import pairwise

import numpy as np

from agentic_rag.answering.amounts import Amount
from agentic_rag.answering.grounding.clauses import Clause, Word
from agentic_rag.answering.grounding.exclusive_values import values_of
from agentic_rag.answering.grounding.stated_amounts import is_difference, is_same, passage_amounts
from agentic_rag.domain.ports import TokenEmbedding
from agentic_rag.domain.token_vectors import Floats, Places, QuestionTokens, cosines
from agentic_rag.text import fold, script, starts_cjk
from agentic_rag.text.sentences import split_sentences

ALIKE, ALIKE_ACROSS = 0.62, 0.54
"""Cosine from which a clause says a word in other letters, within a script and across scripts; see ``support``."""


class Passage:
    """A passage as statements are held against it.

    Args:
        text: with title and headings.
        packed_vectors: its packed tokens; None: the model tells none.
        places: of the tokens in the text, shape (tokens, 2).
    """

    def __init__(self, text: str, packed_vectors: bytes | None = None, places: Places | None = None) -> None:
        self.text, self.packed_vectors = text, packed_vectors
        self.title = text.partition("\n")[0]
        self.clauses = Clause.all(text)
        self.letters = [fold(one.text).casefold() for one in self.clauses]
        self.words = [frozenset(word.token for word in one.words) for one in self.clauses]
        self.amounts = passage_amounts(text)
        self.values = values_of(text, tuple(self.amounts))
        self.count = 0 if places is None else len(places)
        """Of its tokens."""
        lasts = np.zeros(0, np.int32) if places is None else places[:, 1] - 1
        firsts: list[int] = np.searchsorted(lasts, [one.start for one in self.clauses]).tolist()
        self.bounds = list(pairwise([*firsts, self.count]))
        """Of each clause its tokens, as a range."""
        self._sentences = split_sentences(text)

    def sentence_at(self, place: int) -> frozenset[int]:
        """The clauses of the sentence that a place lies in."""
        n = bisect_right(self._sentences, (place, len(self.text))) - 1
        start, end = self._sentences[max(0, n)]
        return frozenset(n for n, one in enumerate(self.clauses) if one.start < end and start < one.end)

    def says_elsewhere(self, units: Sequence[str], near: Clause) -> bool:
        """Whether a clause other than ``near`` has these units in a row, and the first one, the title, has not."""
        written = "\0".join(["", *units, ""])
        having = [written in "\0".join(["", *one.units(), ""]) for one in self.clauses]
        return not having[0] and any(
            has and one is not near for has, one in zip(having, self.clauses, strict=True)
        )


async def read_passages(texts: Sequence[str], embedding: TokenEmbedding | None) -> list[Passage]:
    """The passages with their tokens; without an embedding with none.

    Raises:
        ModelError: the embedding model failed.
    """
    if embedding is None or not texts:
        return [Passage(text) for text in texts]
    packed = (await embedding.embed_passage_tokens(texts)).tokens
    places = embedding.token_places(texts)
    return [Passage(text, own, of) for text, own, of in zip(texts, packed, places, strict=True)]


class Comparison:
    """A statement beside one passage.

    Args:
        statement: without marks.
        passage: what may support it.
        tokens: of the statement; None: words are compared by their letters.
    """

    def __init__(self, statement: str, passage: Passage, tokens: QuestionTokens | None) -> None:
        self.passage = passage
        self.is_across = script(statement) != script(passage.text)
        self._statement = statement
        self._spans = () if tokens is None else tokens.spans
        self._similar: Floats | None = None
        if tokens is not None and passage.packed_vectors is not None:
            similar = cosines(tokens, passage.packed_vectors)
            # Else the model cuts the text otherwise than it tells.
            self._similar = similar if similar.shape[1] == passage.count else None
        self._levels: dict[Word, list[float]] = {}

    def levels(self, word: Word) -> list[float]:
        """How nearly each clause of the passage says a word: 1 in its letters, else a cosine in [0, 1]."""
        if word not in self._levels:
            own = self.passage.letters if starts_cjk(word.token) else self.passage.words
            self._levels[word] = [
                max(float(word.token in of), near) for of, near in zip(own, self._near(word), strict=True)
            ]
        return self._levels[word]

    def level(self, word: Word) -> float:
        """How nearly the passage says a word, in [0, 1]."""
        return max(self.levels(word), default=0.0)

    def clauses(self, word: Word) -> set[int]:
        """The clauses that say a word; only those in its letters where any does."""
        least = 1.0 if self.level(word) == 1.0 else ALIKE_ACROSS if self.is_across else ALIKE
        return {n for n, level in enumerate(self.levels(word)) if level >= least}

    def signs(self, word: Word) -> frozenset[bool]:
        """Whether the clauses that say a word deny it; ``un`` before it denies too."""
        passage = self.passage
        return frozenset(
            passage.clauses[n].is_negated != (f"un{word.token}" in passage.words[n])
            for n in self.clauses(word)
        )

    def states(self, amount: Amount, clauses: Sequence[Clause]) -> bool:
        """Whether the passage states an amount in a sentence that shares a word with the amount's own clause, or states
        no other one of its unit in such a sentence."""
        own = next(one for one in clauses if amount.start < one.end)
        same, other = -1, -1
        for given in self.passage.amounts:
            sentence = self.passage.sentence_at(given.start)
            count = sum(not sentence.isdisjoint(self.clauses(word)) for word in own.words)
            if is_same(given, amount, self._statement):
                same = max(same, count)
            elif given.unit == amount.unit:
                other = max(other, count)
        return same > 0 or same == 0 >= other or is_difference(amount, self.passage.amounts)

    def _near(self, word: Word) -> list[float]:
        """Of each clause the cosine of its nearest token, the mean over the word's tokens."""
        own = [n for n, (start, end) in enumerate(self._spans) if start < word.end and word.start < end]
        if self._similar is None or not own:
            return [0.0] * len(self.passage.clauses)
        near = self._similar[own].mean(axis=0)
        return [max(0.0, float(near[a:b].max())) if a < b else 0.0 for a, b in self.passage.bounds]
