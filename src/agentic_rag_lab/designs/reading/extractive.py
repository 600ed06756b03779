"""The extractive reader: answers with a sentence of the history, or the time it names, without a chat model."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Sequence

from agentic_rag.text import script
from agentic_rag_lab.designs.reading.dates import moment_answer
from agentic_rag_lab.designs.reading.doubt import doubtful
from agentic_rag_lab.designs.reading.history import History, Sentence, read_history
from agentic_rag_lab.designs.reading.questions import ParsedQuestion, read_question
from agentic_rag_lab.designs.reading.reader import NOT_MENTIONED
from agentic_rag_lab.designs.reading.statements import Statement, bearing_statements
from agentic_rag_lab.designs.reading.words import stem, telling, words_of

LINES_READ = 6
"""Number of sentences searched for a clause."""

_CLAUSE = re.compile(r"[^，,。.！!？?；;：:、\n]+")
_SPOKEN_OF = "我我们咱你您的了是就在"
_NOT = re.compile(r"\b(?:not|no|never|none|nobody|nothing|hardly)\b|n['’]t\b", re.IGNORECASE)


class ExtractiveReader:
    """``Reader`` that quotes: offline, deterministic, without a key.

    It determines the question's kind, ranks the history's sentences by shared rare words, speaker and date, and
    answers with a time, a yes or no, or the best sentence; with ``NOT_MENTIONED`` if nothing matches, or the
    matching sentence is by another person than the question asks about.
    """

    async def read(self, question: str, history_text: str) -> str:
        """See ``Reader``."""
        return await asyncio.to_thread(self._read, question, history_text)

    def _read(self, question: str, history_text: str) -> str:
        history = read_history(history_text)
        asked = read_question(question, history.speakers)
        statements = bearing_statements(asked, history)
        if not statements or doubtful(asked, statements, history):
            return NOT_MENTIONED
        return answer_from(asked, statements, history) or NOT_MENTIONED


def answer_from(question: ParsedQuestion, statements: Sequence[Statement], history: History) -> str:
    """The answer from the statements of a history, best first, without the test for doubt; "" if there is none."""
    if question.kind in {"when", "year"}:
        told = moment_answer(question, statements, history)
        if told:
            return told
    if script(question.text) == "cjk":
        return clause_answer(question, statements)
    if question.kind in {"yes_no", "likely"}:
        return verdict(question, statements)
    return _trim_sentence(question, statements[0].sentence)


def _trim_sentence(question: ParsedQuestion, sentence: Sentence) -> str:
    """A sentence without words of the question and function words at both its ends."""
    known = question.terms | {stem(word) for name in question.people for word in name.split()}
    says = [word for word in sentence.words if not word.function and word.stem not in known]
    return sentence.text[says[0].start : says[-1].end] if says else sentence.text


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
