"""Rerank without a model download: what is known of each result, and of its neighbours, weighed together.

The score is the log-odds of calibrated relevance, as the vector store judged the passage (as the graph
did, where the vector store did not run), plus

    walk         how near in the graph the passage lies to what the question names, as much as fusion
                 weighs the graph
    interaction  how like the question's tokens the passage's are (see ``late_interaction``)
    dictionary   what it says of the question in another language or in other words (see ``dictionary``)
    mistake      weak-point clustering: it records what somebody got wrong
    time         how much worse its dates fit the time that the question states than the best do
    brief        a heading or a line alone says little
    coverage     dialogue: share of the question's words that the turn has, rare ones counting more
    window       dialogue: relevance of the turns right before and after
    speaker      dialogue: the question names the one who speaks
    length       dialogue: a longer turn says more

each times its weight in ``RerankParameters``, and back to [0, 1] by the logistic function. An ordinary
passage gains and loses nothing by a term; time only takes away. Walk, interaction, dictionary and mistake rank and
are not calibrated: they deal the scores that the others add up to out to the passages in another order. They count the
more, the less relevant the best is by the others, up to 1 + ``doubt`` times as much: where one vector and the
words find nothing that answers, what is said token by token, and what the graph ties to it, decides. Not so
where the question states a time that tells the results apart: there the time decides.

At last all scores of a question go down together by ``unfamiliar`` times how much farther than ``FAMILIAR`` its tokens
are from those of all results together: what a question about something else asks about is said by none of them,
however much it reads like a question to these notes. And what has every word that a question asks about, as few
others do, is at least as relevant as ``named`` says: "what is X" is short, its words are few, and one vector of it
says little, but a note that mentions X is what was asked for.

The default weights were fitted, listwise, on the first halves of the queries of hotpot, musique, 2wiki, rgb,
cranfield, timeqa and LoCoMo; ``walk``, ``time``, ``interaction``, ``dictionary`` and ``doubt`` were chosen again
on these and on two vaults, ``mistake`` on the two vaults; ``agentic-rag tune`` fits them to one's own. ``features`` computes the terms.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from agentic_rag.odds import log_odds, probabilities, probability
from agentic_rag.parameters import RerankParameters
from agentic_rag.rerank.features import TERMS, Terms, terms_of

Floats = NDArray[np.float64]
REORDERS = ("walk", "interaction", "dictionary", "mistake")
"""Say which passage is better, but not how good: the best by them has the best score of the others' sum, and so on."""
WEIGHTS = (*TERMS, "doubt")
"""The parameters that decide the order, in ``RerankParameters``."""
LIFTED = 0.1
"""Log-odds within which those lie that are lifted for what they name, in the order they had."""
APART = 1e-9
"""Log-odds between two that are told apart: equal scores would be put in id order, whatever was found better."""
FAMILIAR = 0.423
"""Similarity of all results together. Chosen on two vaults, by their readers' and by everyday questions, so that what
they answer is refused as seldom as without it; no answerable question of the first halves lies lower."""
_DEFAULTS = RerankParameters()


def rerank_offline(
    query: str,
    results: Sequence[dict[str, Any]],
    parameters: RerankParameters = _DEFAULTS,
    operation: str | None = None,
) -> list[dict[str, Any]]:
    """Results in a new order, each with ``rerank_score`` in [0, 1]; descending, then id."""
    if not results:
        return []
    odds = offline_odds(terms_of(query, results, operation), parameters)
    scored = [
        {**result, "rerank_score": probability(value)}
        for result, value in zip(results, odds.tolist(), strict=True)
    ]
    return sorted(scored, key=lambda result: (-result["rerank_score"], result["id"]))


def offline_odds(terms: Terms, parameters: RerankParameters) -> Floats:
    """The score of each result in log-odds, shape (results,)."""
    columns = {name: np.asarray(terms.column(name), dtype=np.float64) for name in TERMS}
    judged = np.asarray(terms.judged, dtype=np.float64)
    named = np.asarray(terms.named, dtype=bool)
    return dealt_odds(judged, columns, parameters, familiarity=terms.familiarity, named=named)


def dealt_odds(
    judged: Floats,
    columns: Mapping[str, Floats],
    parameters: RerankParameters,
    *,
    familiarity: float | None,
    named: NDArray[np.bool_],
) -> Floats:
    """What the judge and the terms say in log-odds, dealt out by ``REORDERS``, less what is unfamiliar; what is
    named is lifted.

    Args:
        judged: log-odds of relevance, shape (results,).
        columns: each of ``TERMS``, same shape.
        parameters: the weights.
        familiarity: see ``Terms``.
        named: see ``Terms``; shape as ``judged``.
    """
    if not judged.size:
        return judged
    odds = judged + _weighed([name for name in TERMS if name not in REORDERS], columns, parameters)
    dated = bool(columns["time"].any())
    doubted = 0.0 if dated else 1.0 - probability(float(odds.max()))
    better = odds + (1.0 + parameters.doubt * doubted) * _weighed(REORDERS, columns, parameters)
    order = np.lexsort((-odds, -better))
    # Two that are alike in both get one score, and their ids decide.
    told_apart = (np.diff(better[order]) != 0) | (np.diff(odds[order]) != 0)
    starts = np.concatenate([[0], np.flatnonzero(told_apart) + 1])
    group = np.concatenate([[0], np.cumsum(told_apart)])
    dealt = np.empty_like(odds)
    dealt[order] = np.sort(odds)[::-1][starts][group] - APART * group
    if familiarity is not None:
        dealt -= parameters.unfamiliar * 10.0 * max(0.0, FAMILIAR - familiarity)
    lifted = log_odds(parameters.named) + LIFTED * probabilities(dealt)
    return np.where(named, np.maximum(dealt, lifted), dealt)


def _weighed(names: Sequence[str], columns: Mapping[str, Floats], parameters: RerankParameters) -> Floats:
    """The sum of the columns, each times its weight."""
    total: Floats = sum(getattr(parameters, name) * columns[name] for name in names)
    return total
