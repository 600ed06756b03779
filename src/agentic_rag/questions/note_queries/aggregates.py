"""How many of the largest are asked for, and averages and totals of a property: "top 3 games by price", "average rating"."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, Literal

from agentic_rag.dates.reading import read_spans
from agentic_rag.domain.filters import Comparison
from agentic_rag.questions.comparisons import Extreme
from agentic_rag.questions.computations import AVERAGE, TOTAL
from agentic_rag.questions.forms import OWN_DEED
from agentic_rag.questions.generic_words import MEASURE_WORDS
from agentic_rag.questions.note_queries.conditions import read_days
from agentic_rag.questions.note_queries.draft import Draft
from agentic_rag.questions.note_queries.measures import key_of_value_words, named_key, numeric_keys
from agentic_rag.questions.note_queries.note_classes import names_only_kind
from agentic_rag.questions.note_queries.query import Query
from agentic_rag.questions.note_queries.values import magnitude, share_of
from agentic_rag.questions.words import Place
from agentic_rag.text.numbers import NUMBER_WORDS, numbers

Aggregate = Literal["average", "sum"]
_AGGREGATES: tuple[tuple[Aggregate, re.Pattern[str]], ...] = (
    ("average", AVERAGE),
    ("sum", TOTAL),
)
_OF_DAYS = re.compile(r"\bhow (?:many|much)\b|多少")
"""Asks for the total of what the notes of some days say."""
_ALL_NOTES = re.compile(
    r"\W*(?:how many|(?:what is |what's )?the (?:total )?number of|count(?: all)?(?: of)?)\s+(?:my |the )?(?:notes|files|documents|pages)"
    r"(?: (?:are there|do i have|have i (?:got|written)|exist))?(?: (?:in total|in all|altogether|overall|here|now))?"
    r"(?: (?:in|of) (?:my|the|this) (?:vault|notes|dataset|collection|notebook))?\W*"
    r"|\W*(?:我|这里|库里|笔记库里?)?(?:总共|一共|共)?有?(?:多少|几)(?:篇|个|条)?(?:笔记|文件|文档)\W*"
)
_WORDS = [word for word, number in NUMBER_WORDS.items() if 2 <= number <= 10]
_COUNT = rf"(?P<count>\d{{1,2}}|{'|'.join(_WORDS)}|[两二三四五六七八九十])"
_LIMIT = re.compile(
    rf"\b(?:the|my|our|top|list|show me|name|give me|which|what are the)\s+{_COUNT}\s+(?=[a-z])(?!stars?\b|points?\b|of\b|or\b|and\b|to\b)|\btop[ -]{_COUNT.replace('count', 'top')}\b|前\s*{_COUNT.replace('count', 'han')}[{MEASURE_WORDS}]?|最[^的]{{1,4}}的\s*{_COUNT.replace('count', 'of')}\s*[{MEASURE_WORDS}]"
)
"""How many are wanted; of a superlative, or after "top"."""


def counts_all_notes(question: str) -> bool:
    """Whether a question, folded, is for the number of all notes and for nothing else."""
    return _ALL_NOTES.fullmatch(question) is not None


def read_limit(draft: Draft, extreme: Extreme | None) -> int | None:
    """How many of the largest or smallest are asked for; None where the question names no number of them."""
    match = _LIMIT.search(draft.text)
    if match is None or (extreme is None and "top" not in match.group()):
        return None
    written = next(group for group in match.group("count", "top", "han", "of") if group)
    draft.cover(Place(match.start() + match.group().index(written), match.end()))
    return int(max(numbers(written)))


async def read_aggregate(draft: Draft) -> Query | None:
    """The average or total of a property of the notes of a class, or of all that have it; None where none is asked for, or
    the notes have no such number."""
    kind = next(((name, match) for name, words in _AGGREGATES if (match := words.search(draft.text))), None)
    of_days = None if draft.time is None or draft.classes else _OF_DAYS.search(draft.text)
    if kind is None and of_days is not None:
        kind = ("sum", of_days)
    if kind is None:
        return None
    name, match = kind
    keys = numeric_keys(draft)
    draft = draft.copy()
    draft.cover(Place(*match.span()))
    deed = OWN_DEED.search(draft.text)
    draft.cover(None if deed is None else Place(*deed.span()))
    key = await named_key(draft, keys)
    key = key or await key_of_value_words(draft, keys)
    await read_days(draft)
    is_timeless = draft.time is None or draft.is_free(draft.time.span)
    if is_timeless and read_spans(draft.text):
        return None  # no property of the notes tells their time
    if key is None:
        return None
    draft.shown_keys = [key]
    rest = draft.rest()
    if len(rest) > (match is of_days) and not names_only_kind(draft, rest):
        return None
    return Query(
        "notes",
        name,
        tuple(draft.classes),
        (*draft.conditions, Comparison(key, "$exists", True)),
        shown_keys=(key,),
        order=(key, True),
    )


def aggregate_text(kind: Aggregate, values: Sequence[Any]) -> str:
    """The average or total of values that are numbers, shares or measures, with what they share: ``3.6/5``, ``45 min``.

    Args:
        kind: which.
        values: of one property, at least one that ``magnitude`` reads.
    """
    read = [(one, value) for value in values if (one := magnitude(value)) is not None]
    total = sum(one for one, _ in read)
    result = total / len(read) if kind == "average" else total
    shares = {share_of(value) for _, value in read}
    unit = shares.pop() if len(shares) == 1 else ""
    if unit == ":":
        minutes, seconds = divmod(round(60 * result), 60)
        return f"{minutes}:{seconds:02}"
    return f"{round(result, 2):g}{unit}"
