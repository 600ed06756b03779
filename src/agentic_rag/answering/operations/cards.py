"""Chooses the cards of a verification board: relevant to the question, apart, of several kinds and notes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from agentic_rag.answering.operations.card_forms import DAY, drafts_of, normal, topic
from agentic_rag.answering.operations.selection import Choice, by_words, prior
from agentic_rag.answering.quotes import Card, CardKind, Quote
from agentic_rag.domain.results import Passage, rerank_score
from agentic_rag.text import content_tokens

DATED_LOG_ODDS = -4.0
"""Points for a note with a date in its title: its statements mostly concern that day."""
WORTH: Mapping[CardKind, float] = {
    "definition": 1.0, "relation": 0.9, "row": 0.9, "steps": 0.8, "members": 0.8, "property": 0.7, "amount": 0.7, "name": 0.4,
}  # fmt: skip
"""Points for what is asked, in the range of the points for words and relevance."""
NEAR = 0.2
"""Share of the best relevance from which a result is asked about."""
AGAIN = -0.5
"""Points for a further card of one kind from one note."""


def board_cards(query: str, results: Sequence[Passage], *, limit: int, choice: Choice) -> list[Quote]:
    """Up to ``limit`` quotes with a card, best first; none where the results make no card."""
    least = NEAR * max((_relevance(result) for result in results), default=0.0)
    usable = results[: choice.results]
    # Where what is nearest says nothing that can be asked, what is next to it may.
    quotes = _with_cards([one for one in usable if _relevance(one) >= least]) or _with_cards(usable)
    texts = [f"{topic(quote.result)} {card.asks} {card.answer}" for quote, card in quotes]
    scored = by_words([quote for quote, _ in quotes], texts, set(content_tokens(query)))
    left = [(quote, card) for quote, (_, card) in zip(scored, quotes, strict=True)]
    left.sort(key=lambda pair: (-pair[0].score, pair[0].order, pair[0].start))
    least = max((quote.score for quote, _ in left), default=0.0) - choice.margin
    left = [pair for pair in left if pair[0].score >= least]
    chosen: list[Quote] = []
    taken: Counter[Any] = Counter()
    seen: set[str] = set()
    while left and len(chosen) < limit:
        quote, card = max(left, key=lambda pair: pair[0].score + AGAIN * taken[pair[0].note, pair[1].kind])
        left.remove((quote, card))
        keys = {normal(card.asks), normal(card.answer)}
        if taken[quote.note] < choice.per_document and seen.isdisjoint(keys):
            seen |= keys
            taken.update([quote.note, (quote.note, card.kind)])
            chosen.append(replace(quote, card=card))
    return chosen


def _with_cards(results: Sequence[Passage]) -> list[tuple[Quote, Card]]:
    """Each card of the results with its quote. What stands in several notes word by word is asked of none."""
    made = []
    owners: dict[str, set[Any]] = {}
    for order, result in enumerate(results):
        points = prior(result, order) + DATED_LOG_ODDS * bool(
            DAY.search(str(result["metadata"].get("title") or ""))
        )
        for draft in drafts_of(result):
            quote = Quote.of(draft.unit, result, points + WORTH[draft.card.kind], order)
            owners.setdefault(normal(draft.unit.own()), set()).add(quote.note)
            made.append((quote, draft.card))
    return [pair for pair in made if len(owners[normal(pair[0].unit.own())]) == 1]


def _relevance(result: Passage) -> float:
    score = rerank_score(result)
    return 0.5 if score is None else score
