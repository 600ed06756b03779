"""What a question asks to be computed of several entries: their total or average, how often, the largest or smallest."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

from agentic_rag.questions.comparisons import extreme
from agentic_rag.questions.generic_words import MEASURE_WORDS
from agentic_rag.questions.words import Place, any_of

Result = Literal["sum", "average", "count", "largest", "smallest"]


_TOTAL_ENTRY = re.compile(
    r"\W*(?:(?:sub|grand )?totals?|sum|summe|gesamt(?:summe)?|合计|总[计共]|小计)\W*(?:[\d(（:：].*)?",
    re.IGNORECASE | re.DOTALL,
)
_WHO = r"(?:(?:the|my|our|his|her|die|der|das) [a-zäöüß]+|[a-zäöüß]+)"
AVERAGE = any_of(
    r"\b(?:on average|average|the mean|(?:im )?durchschnitt\w*|im schnitt)\b(?: number)?(?: of)?",
    r"平均(?:每次)?",
)
TOTAL = any_of(
    r"\b(?:in total|in all(?=\W*$)|total(?: number)?|sum|altogether|all together|together(?=\W*$)|combined|so far|insgesamt|zusammen|bis jetzt|bisher)\b(?: of)?",
    r"总共|一共|(?<!公)共(?=[花用跑走骑付买读看去])|总[数计和]?(?![分统部监理是结裁经督])|合计|至今|到现在|加(?:起来|在一起)",
)
_TIMES = any_of(
    r"\bhow (?:many times|often)\b(?! (?:an?|per|each|every|should|do|does|is|are|can|must)\b)",
    rf"\bhow many (?:[a-z]+ )?days\b(?= (?:did|have|has|had) {_WHO} (?:have|had)\b)",
    r"\bwie (?:oft|viele male)\b(?=.*\b(?:habe?n?|hat|bin|sind|ist|war\w*)\b)",
    rf"\bnumber of (?:[a-z]+ )?[a-z]+s\b(?= {_WHO} [a-z])",
    rf"(?<!第)(?:几|多少)[次回趟遍]|有(?:几|多少)天|了(?:几|多少)(?=[{MEASURE_WORDS}][\u4e00-\u9fff])",
)
_EVERY = re.compile(r"每[天日周月年]")
_PAST = any_of(
    rf"\bhow (?:much|far|long|many)\b[^?,;]*?\b(?:did|have|has|had|was|were) {_WHO} [a-z]",
    rf"\bwie (?:viele?|weit|lange)\b[^?,;]*?\b(?:habe?n?|hat|bin|sind|ist) {_WHO}\b",
    rf"\bwhat (?:did|have|has) {_WHO} (?:spen[dt]|paid|pay)\b",
    rf"\bwas (?:habe?n?|hat) {_WHO} [^?]*?(?:ausgegeben|bezahlt|gezahlt)\b",
    r"[\u4e00-\u9fff]了(?:多少|几|多[远久长重])",
)
"""Asks how much was done, which several entries may add up to."""
_PLANS = any_of(r"\b(?:should|would|could|must|sollten?|müss?ten?)\b", r"应该|要")
"""What is or was planned is written down as one number."""
_OF_ONE_EVENT = any_of(r"\b(?:last|take)\b(?=\W*$| (?:in|on|at|to|us|me)\b)", r"\bgedauert\b", r"持续了")
"""Asks how long one thing was: "how long did the outage last?"."""
_WHEN = any_of(r"\bwhen\b|\b(?:last|first) time\b|\bwann\b", r"什么时候|何时|哪[一]?天|[上最][近后]?一?次")
"""Asks for the day of the latest or earliest entry: "when did I last …", 最近一次."""
_VERB = any_of(
    rf"\b(?:did|have|has|had) {_WHO} (?:last |first |ever |[a-z]+ly )?(?P<verb>[a-z]+)",
    rf"\b(?:habe?n?|hat|bin|sind|ist) {_WHO} [^?]*?(?P<german>[a-zäöüß]+)\W*$",
    r"\b[a-z]+s (?:i|we) (?:have )?(?P<own>[a-z]+)",
    r"(?P<han>[\u4e00-\u9fff])[了过](?:多少|几|多[远久长重])",
)
_KIND = re.compile(
    r"(?: [a-z]+){0,2}? (?P<noun>[a-z]+)(?=\W*$| (?:in|of|on|from|for|at|i|we|did|was|is)\b)", re.IGNORECASE
)


@dataclass(frozen=True, slots=True)
class Computation:
    """What is asked to be computed, and where the question says so."""

    result: Result
    spans: tuple[Place, ...]
    """Places of the words that ask for it, which no entry has to repeat."""
    verb: str = ""
    """What was done, in the letters of the question."""
    concept: str = ""
    """Of the largest or smallest, what is compared, by a noun."""
    kind: str = ""
    """Of the largest or smallest, what the entries are called: ``shop`` of "the most expensive grocery shop"."""


def is_total_entry(opening: str) -> bool:
    """Whether an entry that begins so is the total of the others: ``Total``, ``合计: 35``, and not ``Total Recall``."""
    return _TOTAL_ENTRY.fullmatch(opening) is not None


def read_computation(text: str) -> Computation | None:
    """What a question asks to be computed; None where it asks for nothing of the kind.

    Args:
        text: the question, its Chinese characters simplified.
    """
    done = _VERB.search(text)
    verb = "" if done is None else next(part for part in done.group("verb", "german", "own", "han") if part)
    words: tuple[tuple[Result, re.Pattern[str]], ...] = (
        ("average", AVERAGE),
        ("count", _TIMES),
        ("sum", TOTAL),
    )
    matches = [(result, match) for result, pattern in words if (match := pattern.search(text))]
    if matches and not (matches[0][0] == "count" and _EVERY.search(text)):
        return Computation(matches[0][0], tuple(Place(*match.span()) for _, match in matches), verb)
    superlative = extreme(text)
    if superlative is not None and (superlative.concept != "date" or _WHEN.search(text)):
        result: Result = "largest" if superlative.largest else "smallest"
        kind = None if superlative.concept == "date" else _KIND.match(text, superlative.span.end)
        noun = "" if kind is None else kind["noun"]
        return Computation(result, (superlative.span,), verb, superlative.concept, noun)
    is_of_one = _PLANS.search(text) or _OF_ONE_EVENT.search(text)
    return Computation("sum", (), verb) if _PAST.search(text) and not is_of_one else None
