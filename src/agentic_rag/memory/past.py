"""Reads whether a question asks what held in the past, and orders the facts of a slot by that time; pure.

Asked are a stated time ("where did I live in 2024?"), the time before now or before a value ("before", "before
Bergen", 以前), and when something ended or held at all ("when did I stop …?", "did I ever …?"). The time is read by
``dates``.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from agentic_rag.dates.instants import as_utc
from agentic_rag.dates.stated import asked_interval
from agentic_rag.memory.named_slots import AMBIGUOUS_SLOTS, confused_slots, plain
from agentic_rag.memory.records import MemoryRecord

STEP, UNNAMED_PERIOD = 0.8, 0.5
"""Factors on the score: for each fact of the same slot that answers better, and where the question names another."""
_EVER = datetime.max.replace(tzinfo=UTC)
_NEVER = datetime.min.replace(tzinfo=UTC)

_DID = re.compile(r"\b(?:did|was|were|had|have|has)\b")
_OVER = re.compile(
    r"\b(?:previous(?:ly)?|former(?:ly)?|used to)\b|\bdid\b.*\buse to\b|以前|从前|曾经|曾(?=[在住任是喜])|过去|原来|原先|上一?[家份任个]"
    r"|前(?:雇主|公司|东家|任)|之前(?![^，。？]*(?:要|该|需|得))"
)
_BEFORE = re.compile(r"\b(?:before|earlier|once|in the past|originally)\b")
_END_QUESTION = re.compile(
    r"\b(?:when|which|what|where)\b.*\b(?:did|was|were)\b.*\b(?:stop|quit|leave|end|cease|give up|go off|move (?:out|away|from)|over)\b"
    r"|\b(?:until|till) when\b"
    r"|\bsince when\b.*(?:n['’]t|\bnot|\bno longer)\b|(?:什么时候|何时|几时|哪一?[年天]|哪个月).*(?:不|停|离|辞|搬走|搬出|戒|放弃)|到(?:什么时候|何时|哪一?[年天])"
)
_AT_ALL = re.compile(
    r"\b(?:when|how long) did\b|\bsince when\b|\b(?:did|have|has|had) \w+ ever\b|(?:什么时候|何时|几时|哪一?[年天]).*(?:了|过|的\W*\Z)"
)
_BOUND_PHRASE = re.compile(r"\b(?:before|prior to)\b(?P<after>.*)|(?P<before>.*?)(?:之前|以前)")


@dataclass(frozen=True, slots=True)
class PastTime:
    """The time that a question about the past asks about, UTC; ``start`` None is open."""

    start: datetime | None
    end: datetime
    over: bool
    """Whether only what had ended by then is meant."""
    question: str
    """Folded."""
    bound_text: str = ""
    """The part of the question that says before what, folded."""

    def covers(self, record: MemoryRecord) -> bool:
        """Whether a fact held at that time."""
        begins, ends = _validity(record)
        if begins >= ends or begins >= self.end or (self.over and ends > self.end):
            return False
        return self.start is None or ends > self.start

    def place(self, record: MemoryRecord, is_meant: bool) -> tuple[bool, float, str]:
        """Sort key among the facts of one slot: what is meant, then what held longest in a time with a start, else what
        held last."""
        begins, ends = _validity(record)
        first = _NEVER if self.start is None else max(begins, self.start)
        return not is_meant, -(min(ends, self.end) - first).total_seconds(), record.id


MAX_CHARACTERS = 2_000
"""Characters of a question about a time; a longer text is none."""


def asked_past(question: str, now: datetime) -> PastTime | None:
    """The time in the past that a question asks about; None where it asks what holds now, or has more than
    ``MAX_CHARACTERS`` characters.

    >>> asked_past("Where did I live in 2024?", datetime(2026, 1, 1, tzinfo=UTC)).end.isoformat()
    '2025-01-01T00:00:00+00:00'
    >>> asked_past("Where do I live?", datetime(2026, 1, 1, tzinfo=UTC)) is None
    True

    Args:
        question: English or Chinese.
        now: the time of the question.
    """
    if len(question) > MAX_CHARACTERS:
        return None
    moment, text = as_utc(now), plain(question)
    did = _DID.search(text) is not None
    interval = asked_interval(question, today=moment.date())
    if interval is not None:
        start, end = interval
        is_past = did or (end is not None and end <= moment)
        return PastTime(start, min(end or moment, moment), False, text) if is_past else None
    if _OVER.search(text) or (did and _BEFORE.search(text)):
        bound = _BOUND_PHRASE.search(text)
        return PastTime(
            None, moment, True, text, "" if bound is None else bound["after"] or bound["before"] or ""
        )
    over = _END_QUESTION.search(text) is not None
    return PastTime(None, moment, over, text) if over or _AT_ALL.search(text) else None


def by_time(
    scored_records: Sequence[tuple[MemoryRecord, float]], past: PastTime
) -> list[tuple[MemoryRecord, float]]:
    """Found memories with their scores, the facts of each slot in the order in which they answer.

    The first of a slot gets the best score of its slot, each further one STEP times that of the one before. Meant are
    the values that the question names, or those that ended before the one that it names as a bound.
    """
    slots: defaultdict[str, list[tuple[MemoryRecord, float]]] = defaultdict(list)
    for record, score in scored_records:
        slots[record.slot or f"- {record.id}"].append((record, score))
    scored, named = [], confused_slots(past.question)
    for of_slot in slots.values():
        facts, best = [fact for fact, _ in of_slot], max(score for _, score in of_slot)
        targets, slot = _targets(facts, past), facts[0].details.get("slot")
        if named and slot in AMBIGUOUS_SLOTS and slot not in named:
            best *= UNNAMED_PERIOD
        ordered = sorted(facts, key=lambda fact: past.place(fact, fact.id in targets))
        scored += [
            (fact, best * STEP**place * (1.0 if fact.id in targets or not targets else UNNAMED_PERIOD))
            for place, fact in enumerate(ordered)
        ]
    return scored


def _targets(facts: Sequence[MemoryRecord], past: PastTime) -> set[str]:
    """Ids of the facts of a slot that the question means by a value; none where it names no value."""
    bounds = [_validity(fact)[0] for fact in facts if past.bound_text and _value(fact) in past.bound_text]
    if bounds:
        return {fact.id for fact in facts if _validity(fact)[1] <= max(bounds)}
    return {fact.id for fact in facts if fact.details.get("value") and _value(fact) in past.question}


def _value(record: MemoryRecord) -> str:
    return plain(str(record.details.get("value") or ""))


def _validity(record: MemoryRecord) -> tuple[datetime, datetime]:
    begins, ends = record.valid_at or record.at, record.invalid_at
    return as_utc(begins) if begins else _NEVER, as_utc(ends) if ends else _EVER
