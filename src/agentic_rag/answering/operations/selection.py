"""Selects the units of the results that answer a question: by the relevance of their passage, and by the words of the
question or of the nearest relation's name.

Comparing the vectors or tokens of the sentences with the question's selects no better ones (measured on data with
judged sentences or answers; see docs/evaluation.md), and costs 40 ms a question.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Sequence, Set
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import islice
from operator import itemgetter
from typing import Any

from agentic_rag.answering.passages import is_plain
from agentic_rag.answering.quotes import Quote
from agentic_rag.domain.results import GraphFact, Passage, rerank_score
from agentic_rag.notes.units import COLONS, Unit, headings_above, read_units
from agentic_rag.text import content_tokens, tokens

MIN_TERMS = 3
"""Minimum terms of a unit with what gives it meaning."""
MIN_UNLINKED = 4
"""Minimum letters outside of links: a list of links makes no statement."""
SHARED_WORD_POINTS = 2.0
"""Points for a unit with all question words that occur in any unit."""
ASKING = -3.0
"""Points for a unit that is a question. Chosen on two vaults, as the points for failures."""


@dataclass(frozen=True, slots=True)
class Choice:
    """The units that an operation wants.

    ``results``: number of first results that are read; ``per_document``: maximum units per document; ``prose``: no
    fields, drawn edges and lists of links; ``failure_share``: points for text in a failure callout; ``reach``: share of
    ``answer.abstain_below`` that a result's relevance needs; ``margin``: units this many points below the best are left
    out.
    """

    results: int = 8
    per_document: int = 3
    prose: bool = False
    failure_share: float = 0.0
    reach: float = 1.0
    margin: float = math.inf


def units_of(result: Passage) -> tuple[Unit, ...]:
    """The units of a result's content, with the headings above it."""
    path = tuple(str(part) for part in result["metadata"].get("heading_path") or ())
    return _units(str(result["content"]), path)


@lru_cache(maxsize=256)
def _units(content: str, path: tuple[str, ...]) -> tuple[Unit, ...]:
    units = read_units(content, headings=headings_above(content, path)).units
    # The title of a callout is a unit as well; it loses to what stands below it.
    below = {unit.headings for unit in units}
    return tuple(unit for unit in units if (*unit.headings, unit.text) not in below)


def best_quotes(
    query: str, results: Sequence[Passage], *, limit: int, choice: Choice = Choice()
) -> list[Quote]:
    """Up to ``limit`` units of the first results, best first; ties by result order, then offset."""
    candidates = sorted(
        _candidates(query, results[: choice.results], choice),
        key=lambda quote: (-quote.score, quote.order, quote.start),
    )
    scored = _cap_per_document(candidates, choice.per_document)
    near = [quote for quote in scored if quote.score >= scored[0].score - choice.margin]
    return _distinct(near)[:limit]


def has_statement(result: Passage) -> bool:
    """Whether any unit of a result makes a statement."""
    return any(is_statement(Quote.of(unit, result)) for unit in units_of(result))


def _candidates(query: str, results: Sequence[Passage], choice: Choice) -> list[Quote]:
    asked: Set[str] = set(content_tokens(query))
    found: list[Quote] = []
    notes: set[Any] = set()
    for order, result in enumerate(results):
        units = units_of(result)
        note = result["metadata"].get("document_id", result["id"])
        if result["metadata"].get("kind") == "properties":
            named = _named_by(units, asked) or (
                [] if note in notes else _named_by(units, _nearest(result["facts"]))
            )
            quotes = [Quote.of(unit, result, prior(result, order), order) for unit in named]
        else:
            quotes = [Quote.of(unit, result, prior(result, order), order) for unit in units]
            quotes = [one for one in quotes if is_statement(one) and not (choice.prose and _is_no_prose(one))]
        notes.add(note)
        for quote in quotes:
            points = choice.failure_share * quote.unit.failure + ASKING * bool(_QUESTION.search(quote.text))
            found.append(replace(quote, score=quote.score + points))
    return by_words(found, [quote.unit.display_text() for quote in found], asked)


def by_words(quotes: Sequence[Quote], texts: Sequence[str], question_words: Set[str]) -> list[Quote]:
    """The quotes with points for the words of the question in their texts, by how rare each is."""
    words = [set(tokens(text)) & question_words for text in texts]
    frequency = Counter(token for own in words for token in own)
    rarity = {token: math.log(1 + len(quotes) / count) for token, count in frequency.items()}
    total = sum(rarity.values()) or 1.0
    return [
        replace(quote, score=quote.score + SHARED_WORD_POINTS * sum(rarity[token] for token in own) / total)
        for quote, own in zip(quotes, words, strict=True)
    ]


def prior(result: Passage, order: int) -> float:
    """Points for a unit's passage: its relevance, and its place in the ranking."""
    relevance = rerank_score(result)
    return (0.5 if relevance is None else relevance) + 1.0 / (1 + order)


def _nearest(facts: Sequence[GraphFact]) -> Set[str]:
    """Words of the nearest fact's relation name: "Who wrote it?" means ``author`` without naming it."""
    labelled = [
        (cosine, fact) for fact in facts if (cosine := fact.get("cosine")) is not None and not is_plain(fact)
    ]
    _, best = max(labelled, key=itemgetter(0), default=(0.0, None))
    return frozenset() if best is None else frozenset(tokens(str(best["name"]).replace("_", " ")))


def _named_by(units: Sequence[Unit], words: Set[str]) -> list[Unit]:
    """The properties whose names share a word."""
    return [
        unit
        for unit in units
        if unit.kind == "property" and not words.isdisjoint(tokens(str(unit.key).replace("_", " ")))
    ]


_QUESTION = re.compile(r"[?？]\W*\Z")
_LINK = re.compile(r"!?\[\[[^\]]*\]\]")


def _is_no_prose(quote: Quote) -> bool:
    """Whether it is a field, a drawn edge, or mostly links."""
    return quote.unit.kind == "property" or "→" in quote.text or len(_LINK.findall(quote.text)) >= 4


def is_statement(quote: Quote) -> bool:
    """Whether a unit can answer: not code, lead-ins that end in a colon, and what has one or two readable words."""
    unit = quote.unit
    if unit.kind == "code" or unit.text.endswith(COLONS):
        return False
    unlinked = filter(str.isalnum, _LINK.sub("", quote.text))
    has_enough = next(islice(unlinked, MIN_UNLINKED - 1, None), None) is not None
    return has_enough and len(tokens(unit.display_text())) >= MIN_TERMS


def _cap_per_document(quotes: Sequence[Quote], per_document: int) -> list[Quote]:
    taken: Counter[Any] = Counter()
    kept = []
    for quote in quotes:
        taken[quote.note] += 1
        if taken[quote.note] <= per_document:
            kept.append(quote)
    return kept


def _distinct(quotes: Sequence[Quote]) -> list[Quote]:
    """Each statement once; the same property in several notes counts once for each note."""
    seen: set[tuple[str, Any]] = set()
    kept = []
    for quote in quotes:
        key = statement(quote), quote.note if quote.unit.kind == "property" else None
        if key not in seen:
            seen.add(key)
            kept.append(quote)
    return kept


def statement(quote: Quote) -> str:
    """Key of a quote's statement: its text without markup, case and punctuation."""
    return " ".join(tokens(quote.unit.own()))
