"""Answers in scripts without spaces: the best clause, without what it has in common with the question."""

from __future__ import annotations

import re
from collections.abc import Sequence

from agentic_rag.memory.reading.questions import Question
from agentic_rag.memory.reading.statements import Statement
from agentic_rag.memory.reading.words import telling, words_of

READ = 6
"""Sentences."""

_CLAUSE = re.compile(r"[^，,。.！!？?；;：:、\n]+")
_SPOKEN_OF = "我我们咱你您的了是就在"


def clause_answer(question: Question, statements: Sequence[Statement]) -> str:
    """What a clause says that the question does not: 谷歌 of 我在谷歌工作 for 他在哪里工作？ "" where there is none."""
    clauses = [
        (_covered(question, clause) + statement.support / 10, clause.strip())
        for statement in statements[:READ]
        for clause in _CLAUSE.findall(statement.sentence.text)
        if clause.strip()
    ]
    if not clauses:
        return ""
    best = max(clauses, key=lambda one: one[0])[1]
    return _rest(best, set(question.text) | set(_SPOKEN_OF)) or best


def _covered(question: Question, clause: str) -> float:
    """Share of the question's terms that a clause has."""
    return len(question.terms & telling(words_of(clause))) / len(question.terms) if question.terms else 0.0


def _rest(clause: str, known: set[str]) -> str:
    """A clause without what is known at both its ends."""
    start, end = 0, len(clause)
    while start < end and clause[start] in known:
        start += 1
    while end > start and clause[end - 1] in known:
        end -= 1
    return clause[start:end].strip()
