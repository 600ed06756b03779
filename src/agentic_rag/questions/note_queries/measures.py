"""The numbers that a question compares, and the property that they are compared with or ordered by."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from agentic_rag.domain.filters import Comparison, Expression, Not
from agentic_rag.questions import comparisons
from agentic_rag.questions.forms import extreme_noun, superlative_noun
from agentic_rag.questions.money import is_sum_name
from agentic_rag.questions.note_queries.draft import Draft
from agentic_rag.questions.note_queries.values import (
    comparison_on,
    date_keys,
    has_unit_of_measure,
    measures_other,
    measures_same,
    names_measure,
    year_keys,
)
from agentic_rag.questions.note_queries.vocabulary import numbers_of
from agentic_rag.questions.words import Place, is_named_apart, parts, split_camel_case, stem
from agentic_rag.text import STOPWORDS, starts_cjk

_LAST = re.compile(r"last|first|recent|最后|最近|letzte|erste", re.IGNORECASE)
"""Tells of when a note was written, or something was done, and not of the age of a thing."""
MIN_LEAD = 0.03
"""How much nearer a property has to come to another concept than to the one asked for, to be no such property."""
MAX_COMPARED = 4
"""Properties that are compared with what a question asks for."""
MAX_GAP = 8
"""Characters between a property and the number that it is compared with."""
_VALUE_WORDS = defaultdict(
    lambda: re.compile(r"(?!)"),
    {
        "price": re.compile(r"\b(?:costs?|prices?|worth|pay|paid|spen[dt])\b|花了|多少钱|价[格钱]|花?钱"),
        "duration": re.compile(
            r"\b(?:takes?|took|lasts?|lasted)(?: the)?\b|(?:[花用]|需?要)的?时间|做起来|[花费]|用时"
        ),
    },
)
"""Words that ask for the value of a superlative, by its concept."""


async def read_comparisons(draft: Draft) -> None:
    """Add the numbers that a property is compared with: of the notes, else of their entries."""
    for one in comparisons.comparisons(draft.text):
        if not draft.is_free(one.span) or (draft.time and one.span.overlaps(draft.time.span)):
            continue
        keys = numeric_keys(draft)
        key, place = await _key_of(draft, one, keys)
        if key is None:
            keys = numeric_keys(draft, entries=True)
            key, place = await _key_of(draft, one, keys)
            if key is None:
                continue
            draft.entry_conditions.append(_condition(draft, key, one, keys[key], place))
        else:
            draft.add(_condition(draft, key, one, keys[key], place))
            _cover_parts(draft, key)
        draft.shown_keys.append(key)
        draft.cover(one.span, place)


def _condition(
    draft: Draft, key: str, one: comparisons.Comparison, values: Sequence[Any], place: Place | None
) -> Expression:
    """What a number says of a property, which is named at a place, or its opposite: "not rated 7"."""
    condition = comparison_on(key, one, values)
    first = one.span if place is None or place.start > one.span.start else place
    negation = comparisons.negation_before(draft.text, first)
    if negation is None or not draft.is_free(negation):
        return condition
    draft.cover(negation)
    return Not(condition)


async def read_free(draft: Draft) -> None:
    """Add that something costs nothing: a price of 0, where the notes have a property like a price."""
    place = comparisons.free(draft.text)
    if place is None or not draft.is_free(place):
        return
    keys = numeric_keys(draft)
    zero = [key for key, values in keys.items() if any(value == 0 for value in values)]
    if not zero:
        return
    near = await draft.nearest("price", zero)
    key = max(near, key=lambda name: near[name])
    negation = comparisons.negation_before(draft.text, place)
    condition: Expression = Comparison(key, "$eq", 0)
    draft.add(Not(condition) if negation else condition, place, negation)
    draft.shown_keys.append(key)


def read_extreme(draft: Draft) -> comparisons.Extreme | None:
    """The superlative of the question, where it is not a part of something else."""
    superlative = comparisons.extreme(draft.text)
    if superlative is None or not draft.is_free(superlative.span):
        return None
    # "at least 300 pages" asks for no least.
    is_bound = any(one.span.overlaps(superlative.span) for one in comparisons.comparisons(draft.text))
    return None if is_bound else superlative


async def read_order(draft: Draft, extreme: comparisons.Extreme | None) -> tuple[str, bool] | None:
    """The property by which the largest or smallest is asked for, and whether the largest."""
    noun = extreme_noun(draft.text) or superlative_noun(draft.text)
    if extreme is None or not (draft.conditions or draft.asks_many or draft.asks_when or noun):
        return None
    if extreme.concept == "date":
        key = await _date_key(draft, extreme)
        draft.cover(extreme.span)
        if key != "date":
            draft.shown_keys.append(key)
        return key, extreme.largest
    concept = extreme.concept
    keys = numeric_keys(draft)
    if concept in comparisons.OF_WORTH:
        keys = {key: values for key, values in keys.items() if not has_unit_of_measure(key, values)}
    if not keys:
        return None
    if concept == "size":  # "cost the most" compares prices
        concept = _concept_of_words(draft.text) or concept
    sum_key = _only_sum(keys) if concept == "price" else None
    named = await named_key(draft, keys)
    if named is not None:
        key = named
    elif sum_key is not None:
        key = sum_key
    elif _names_what_they_lack(draft, extreme.span):
        return None
    else:
        about = draft.text if concept == "size" else concept  # "the most pages"
        names = {split_camel_case(one).casefold(): one for one in keys}
        near = await draft.nearest(about, list(names))
        key = names[max(near, key=lambda name: near[name])]
        if not await is_of_concept(draft, key, concept):
            return None
    draft.cover(extreme.span, *(Place(*match.span()) for match in _VALUE_WORDS[concept].finditer(draft.text)))
    draft.shown_keys.append(key)
    return key, extreme.largest


def _only_sum(keys: Iterable[str]) -> str | None:
    """The one property of these that is called as a sum of money is; None for no or several."""
    sums = [key for key in keys if is_sum_name(key)]
    return sums[0] if len(sums) == 1 else None


def _concept_of_words(text: str) -> str:
    """What a question's verb asks for, by a noun: the ``price`` of what costs less than 20."""
    return next((concept for concept, words in _VALUE_WORDS.items() if words.search(text)), "")


async def named_key(draft: Draft, keys: Sequence[str] | Mapping[str, Any]) -> str | None:
    """The property among these that the question names, whose words are then accounted for."""
    named = [
        (key, place)
        for key, place in draft.vocabulary.keys_in(draft.words)
        if key in keys and draft.is_free(place)
    ]
    if not named:
        apart = [key for key in keys if is_named_apart(draft.words, key)]
        partly = apart or [key for key in keys if is_named_in_part(draft.text, key)]
        if len(partly) != 1:
            return None
        _cover_parts(draft, partly[0])
        draft.cover(
            *(Place(w.start, w.end) for w in draft.words.words if apart and w.stem in parts(apart[0]))
        )
        return partly[0]
    key, place = named[0]
    draft.cover(place)
    return key


async def key_of_value_words(draft: Draft, keys: Mapping[str, Sequence[Any]]) -> str | None:
    """The property that tells what the question's verb asks for: a price of "how much did they cost?"; the words are then
    accounted for."""
    for concept, pattern in _VALUE_WORDS.items():
        spans = [Place(*match.span()) for match in pattern.finditer(draft.text)]
        if not spans or not keys:
            continue
        near = await draft.nearest(draft.text, list(keys))
        nearest = sorted(keys, key=lambda name: -near[name])[:MAX_COMPARED]
        of_concept = [key for key in nearest if await is_of_concept(draft, key, concept)]
        if of_concept:
            draft.cover(*spans)
            return max(of_concept, key=lambda name: len(keys[name]))  # of most notes, then the nearest
    return None


async def is_of_concept(draft: Draft, key: str, concept: str) -> bool:
    """Whether a property may be what a superlative compares: a price is no rating. A rating has to be the nearest concept,
    which names of ratings in English, German and Chinese are, and of pages, seats and levels are not."""
    if concept == "price" and is_sum_name(key):
        return True
    near = await draft.nearest(key, comparisons.CONCEPTS)
    own = max(near[concept], near["size"]) if concept == "duration" else near[concept]  # the longest walk
    lead = max(near.values()) - own
    return lead < MIN_LEAD and (concept != "rating" or lead == 0)


async def _date_key(draft: Draft, extreme: comparisons.Extreme) -> str:
    """What the newest or oldest is told by: the property that is named, the year of the things that the notes are about,
    the notes' own date, else the nearest property with dates."""
    members = draft.members()
    dates = date_keys(field for note in members for field in note.fields)
    years = year_keys(members)
    named = [key for key, _ in draft.vocabulary.keys_in(draft.words) if key in dates or key in years]
    if named:
        return named[0]
    is_of_things = _LAST.search(draft.text[extreme.span.start : extreme.span.end]) is None
    if len(years) == 1 and is_of_things:
        return years[0]
    if not dates or sum(note.date is not None for note in members) * 2 >= len(members):
        return "date"
    near = await draft.nearest(draft.text, dates)
    return max(near, key=lambda name: near[name])


def numeric_keys(draft: Draft, *, entries: bool = False) -> Mapping[str, Sequence[Any]]:
    """Properties of the selected notes, or of their entries, with their values, where some are numbers or shares."""
    if not draft.conditions:
        return draft.vocabulary.entry_numbers if entries else draft.vocabulary.numbers
    if entries:
        return numbers_of(one for note in draft.members() for row in note.rows for one in row.fields)
    return numbers_of(one for note in draft.members() for one in note.fields)


async def _key_of(
    draft: Draft, one: comparisons.Comparison, keys: Mapping[str, Sequence[Any]]
) -> tuple[str | None, Place | None]:
    """The property that is compared: named beside the number, by its unit, else by meaning; none that measures something
    else."""
    keys = {key: its for key, its in keys.items() if not measures_other(one.unit, key, its)}
    named = [(key, place) for key, place in draft.vocabulary.keys_in(draft.words) if key in keys]
    if named:
        key, place = min(named, key=lambda pair: abs(pair[1].start - one.span.start))
        return key, place
    if _names_what_they_lack(draft, one.span):
        return None, None
    beside = _beside(draft, one.span)
    partly = [key for key in keys if beside & set(parts(key)) or is_named_in_part(draft.text, key)]
    if len(partly) == 1:
        return partly[0], None
    if one.unit:
        unit = stem(one.unit.casefold())
        for key in keys:
            if unit in parts(key) or (starts_cjk(unit) and unit in key):
                return key, None
    share = [
        key for key in keys if isinstance(one.value, str) and any(str(v) == one.value for v in keys[key])
    ]
    if len(share) == 1:
        return share[0], None
    is_bare = (one.operator == "$eq" or one.upper is not None) and not share and not one.unit
    if not keys or is_bare:
        return None, None
    # "tools lighter than 5", of no class of notes, may be rows of a table.
    others = {} if draft.classes or not one.concept else numeric_keys(draft, entries=True)
    about = one.about or _concept_of_words(draft.text)
    sum_key = _only_sum(keys) if about == "price" else None
    if sum_key is not None:
        return sum_key, None
    if not about and names_measure(one.unit):  # GB are of no number without a unit
        keys = {key: its for key, its in keys.items() if measures_same(one.unit, key, its)}
        others = {key: its for key, its in others.items() if measures_same(one.unit, key, its)}
        if not keys:
            return None, None
    near = await draft.nearest(about or draft.text, list(dict.fromkeys([*keys, *others])))
    nearest = max(near, key=lambda name: near[name])
    return (nearest if nearest in keys else None), None


def _names_what_they_lack(draft: Draft, span: Place) -> bool:
    """Whether a property is named beside a number or superlative, "rated above 3", that the selected notes do not have."""
    beside = Place(max(0, span.start - MAX_GAP), span.end)
    return bool(draft.classes) and any(
        place.overlaps(beside) and "number" in draft.vocabulary.keys[key].types
        for key, place in draft.vocabulary.keys_in(draft.words)
        if key in draft.vocabulary.keys
    )


def _beside(draft: Draft, span: Place) -> set[str]:
    """The stems of the two words before a number."""
    before = [word for word in draft.words.words if word.end <= span.start]
    return {word.stem for word in before[-2:] if word.text not in STOPWORDS}


def is_named_in_part(text: str, key: str) -> bool:
    """Whether a Chinese question names a part of a property's name: 难度 of 预估烹饪难度."""
    ends = (key[:2], key[-2:])
    return len(key) > 2 and any(starts_cjk(part) and part in text for part in ends)


def _cover_parts(draft: Draft, key: str) -> None:
    """Account for the words of a Chinese question that are a part of a property's name: 难度 of 预估烹饪难度."""
    for size in range(min(len(key), 6), 1, -1):
        for first in range(len(key) - size + 1):
            part = key[first : first + size].casefold()
            place = draft.text.find(part) if starts_cjk(part) else -1
            if place >= 0 and draft.is_free(Place(place, place + size)):
                draft.cover(Place(place, place + size))
