"""Whether passages support a statement: by its words, its amounts and what it denies. No chat model.

    support = mean over the statement's content words of 1 where a passage has the word, else the cosine of its tokens
              with the nearest tokens of the passages; 1 for each amount

Word tokens are those of the embedding model (see ``domain.token_vectors``); without them a word that no passage has
counts 0. However well its words are supported, a statement is refused with an amount that no passage states of the same,
with a name that neither passages nor question have, where it adds to question and titles what no passage says, and where
passages say the opposite (see ``contradictions``). Names in other letters, inferences over several sentences and two things
that have changed their places within one sentence are not seen.
"""

from __future__ import annotations

import re
from collections.abc import Sequence, Set
from functools import lru_cache
from typing import Literal

from agentic_rag.answering.amounts import Amount
from agentic_rag.answering.grounding.clauses import Clause, Word, content_words
from agentic_rag.answering.grounding.comparison import ALIKE, Comparison, Passage
from agentic_rag.answering.grounding.contradictions import is_contradicted
from agentic_rag.answering.grounding.exclusive_values import values_of
from agentic_rag.answering.grounding.stated_amounts import stated_amounts
from agentic_rag.domain.token_vectors import QuestionTokens
from agentic_rag.text.languages import language

Fault = Literal["amount", "contradicted", "unsupported"]
"""Why a statement is refused: an amount of no passage, the opposite of a passage, or about something else."""
MIN_SUPPORT, ACROSS, BY_LETTERS = 0.65, 0.47, 0.51
"""Least support: within a script, across scripts, and where the model tells no tokens: more than half. Chosen on the choosing half of
``evaluation/datasets/support``, as are the other constants of the comparison."""
ANEW = 0.05
"""What more is needed of a passage that the model did not cite: of ten, one is like anything by chance."""
MAX_UNSAID_LEVEL = 0.4
"""Cosine below which a passage does not say a word in any letters."""
MIN_ADDED = 0.55
"""Least support of the amounts and the words that neither the question nor a title has, which alone make any statement of
them look said."""
_NAME = re.compile(r"[A-ZÀ-Þ][a-zß-ÿ]{2,}")
_OPENS = re.compile(r"(?:^|[.!?:…]|[\"“‘*_])\s*\Z")
"""Before a word that has its capital as the first of a sentence or quotation."""
STEM = 5
"""Letters that a name shares with its other forms: America, American."""
MAX_UNSAID = 0.34
"""Share of unsaid words above which a text is about something else, whatever the others are."""


def fault(
    statement: str,
    passages: Sequence[Passage],
    tokens: QuestionTokens | None,
    *,
    is_anew: bool = False,
    question: str = "",
) -> Fault | None:
    """Why the passages together do not support a statement; None where they do.

    Across scripts, without tokens, only its amounts can be checked.

    Args:
        statement: one sentence without marks.
        passages: at least one.
        tokens: of the statement; None: words are compared by their letters.
        is_anew: whether the model cited none of the passages.
        question: may name what the passages do not.
    """
    beside = [Comparison(statement, passage, tokens) for passage in passages]
    clauses, stated = _parts(statement)
    if not all(any(one.states(amount, clauses) for one in beside) for amount in stated):
        return "amount"
    if not _is_said(clauses, len(stated), beside, tokens, ANEW * is_anew):
        return "unsupported"
    if tokens is not None and not _says_more(clauses, len(stated), beside, question):
        return "unsupported"
    names = [
        word for clause in clauses for word in clause.words if _is_new_name(word, statement, beside, question)
    ]
    if names and not _is_german(statement, beside):
        return "unsupported"
    return "contradicted" if any(is_contradicted(clause, beside) for clause in clauses) else None


@lru_cache(maxsize=256)  # a statement is held against one passage after the other
def _parts(statement: str) -> tuple[tuple[Clause, ...], tuple[Amount, ...]]:
    """Its clauses and amounts."""
    return Clause.all(statement), tuple(stated_amounts(statement))


def _is_said(
    clauses: Sequence[Clause],
    stated_count: int,
    beside: Sequence[Comparison],
    tokens: QuestionTokens | None,
    more: float,
) -> bool:
    words = {word.token: word for clause in clauses for word in clause.words}
    is_across = all(one.is_across for one in beside)
    levels = [max(one.level(word) for one in beside) for word in words.values()]
    if is_across:
        # A name that stands in both scripts says nothing of what is said of it.
        levels = [level for level in levels if level < 1.0] or levels
    levels += [1.0] * stated_count
    if tokens is None and is_across:
        return bool(levels)
    least = more + (BY_LETTERS if tokens is None else ACROSS if is_across else MIN_SUPPORT)
    if not levels or sum(levels) < least * len(levels):
        return False
    if tokens is None:
        return True
    unsaid = sum(level < MAX_UNSAID_LEVEL + more for level in levels)
    return (is_across or unsaid <= MAX_UNSAID * len(levels)) and not any(
        _is_unsaid(clause, beside) for clause in clauses
    )


def _says_more(
    clauses: Sequence[Clause], stated_count: int, beside: Sequence[Comparison], question: str
) -> bool:
    """Whether the passages say what a statement adds to the words of the question and of their titles; not across scripts."""
    if any(one.is_across for one in beside):
        return True
    known = {
        word.token
        for text in (question, *(one.passage.title for one in beside))
        for word in content_words(text)
    }
    words = {word.token: word for clause in clauses for word in clause.words if word.token not in known}
    levels = [max(one.level(word) for one in beside) for word in words.values()] + [1.0] * stated_count
    return not levels or sum(levels) >= MIN_ADDED * len(levels)


def _is_new_name(word: Word, statement: str, beside: Sequence[Comparison], question: str) -> bool:
    """Whether a word is a name, by its capital, that neither the passages nor the question have, in like letters or meaning.

    Not where a passage is in another script. A weekday or month is compared as a value.
    """
    written = statement[word.start : word.end]
    if not _NAME.fullmatch(written) or _OPENS.search(statement[: word.start]) or any(values_of(written)):
        return False
    if any(one.is_across or one.level(word) >= ALIKE for one in beside):
        return False
    stem = written.casefold()[:STEM]
    known = [*(text for one in beside for text in one.passage.letters), question.casefold()]
    return not any(stem in text for text in known)


def _is_german(statement: str, beside: Sequence[Comparison]) -> bool:
    """Whether common nouns may have a capital: the statement or a passage of it is in German."""
    texts = [statement, *(" ".join(one.passage.letters) for one in beside)]
    return any(language(text) == "german" for text in texts)


def _is_unsaid(clause: Clause, beside: Sequence[Comparison]) -> bool:
    """Whether the passages say nothing of a clause, however well they say the others."""
    levels = [max(one.level(word) for one in beside) for word in clause.words]
    return len(levels) > 1 and sum(levels) < MAX_UNSAID_LEVEL * len(levels)


def unsaid_share(
    text: str, passages: Sequence[Passage], tokens: QuestionTokens | None, known_words: Set[str] = frozenset()
) -> float:
    """Share of a text's content words, without ``known_words`` ones, that no passage says in any letters, in [0, 1]."""
    words = [word for word in content_words(text) if word.token not in known_words]
    beside = [Comparison(text, passage, tokens) for passage in passages]
    if not words or (tokens is None and all(one.is_across for one in beside)):
        return 0.0
    return sum(all(one.level(word) < MAX_UNSAID_LEVEL for one in beside) for word in words) / len(words)


def shares(statement: str, passage: Passage, tokens: QuestionTokens | None) -> bool:
    """Whether a passage says a word or an amount of a statement."""
    beside, (clauses, stated) = Comparison(statement, passage, tokens), _parts(statement)
    has_word = any(beside.clauses(word) for clause in clauses for word in clause.words)
    return has_word or any(beside.states(amount, clauses) for amount in stated)
