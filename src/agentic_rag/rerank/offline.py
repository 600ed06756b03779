"""Rerank without a model download: what is known of each result, and of its neighbours, weighed together.

The score is the log-odds of calibrated relevance, as the vector store judged the passage (as the graph
did, where the vector store did not run), plus

    walk         how near in the graph the passage lies to what the question names, as much as fusion
                 weighs the graph
    interaction  how like the question's tokens the passage's are (see ``late_interaction``)
    time         how much worse its dates fit the time that the question states than the best do
    brief        a heading or a line alone says little
    coverage     dialogue: share of the question's words that the turn has, rare ones counting more
    window       dialogue: relevance of the turns right before and after
    speaker      dialogue: the question names the one who speaks
    length       dialogue: a longer turn says more

each times its weight in ``RerankParameters``, and back to [0, 1] by the logistic function. An ordinary
passage gains and loses nothing by a term; time only takes away. Walk and interaction rank and are not
calibrated: they deal the scores that the others add up to out to the passages in another order.

The default weights were fitted, listwise, on the first halves of the queries of hotpot, musique, 2wiki, rgb,
cranfield, timeqa and LoCoMo; ``walk``, ``time`` and ``interaction`` were chosen again on these and on two
vaults; ``agentic-rag tune`` fits them to one's own. ``features`` computes the terms.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Any

from agentic_rag.odds import probability
from agentic_rag.parameters import RerankParameters
from agentic_rag.rerank.features import TERMS, Terms, terms_of

REORDERS = ("walk", "interaction")
"""Say which passage is better, but not how good: the best by them has the best score of the others' sum, and so on."""
APART = 1e-9
"""Log-odds between two that are told apart."""
_DEFAULTS = RerankParameters()


def rerank_offline(
    query: str, results: Sequence[dict[str, Any]], parameters: RerankParameters = _DEFAULTS
) -> list[dict[str, Any]]:
    """Results in a new order, each with ``rerank_score`` in [0, 1]; descending, then id."""
    if not results:
        return []
    odds = offline_odds(terms_of(query, results), parameters)
    scored = [
        {**result, "rerank_score": probability(value)} for result, value in zip(results, odds, strict=True)
    ]
    return sorted(scored, key=lambda result: (-result["rerank_score"], result["id"]))


def offline_odds(terms: Terms, parameters: RerankParameters) -> list[float]:
    """The score of each result in log-odds: the judge's and the terms' times their weights, dealt out by ``REORDERS``."""
    odds = _with(terms.judged, [name for name in TERMS if name not in REORDERS], terms, parameters)
    by = _with(odds, REORDERS, terms, parameters)
    keys = [(-better, -value) for better, value in zip(by, odds, strict=True)]
    dealt, last = [0.0] * len(odds), math.inf
    places = sorted(range(len(odds)), key=keys.__getitem__)
    for number, (place, value) in enumerate(zip(places, sorted(odds, reverse=True), strict=True)):
        if number and keys[place] == keys[places[number - 1]]:
            dealt[place] = last
            continue
        # Equal scores would be put in id order, whatever was found better.
        last = dealt[place] = min(value, last - APART)
    return dealt


def _with(
    odds: Sequence[float], names: Iterable[str], terms: Terms, parameters: RerankParameters
) -> list[float]:
    """The log-odds and the named terms, each times its weight."""
    added = list(odds)
    for name in names:
        weight = getattr(parameters, name)
        if weight:
            added = [value + weight * term for value, term in zip(added, terms.column(name), strict=True)]
    return added
