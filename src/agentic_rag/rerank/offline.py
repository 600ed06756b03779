"""Rerank without a model download: what is known of each result, and of its neighbours, weighed together.

The score is the log-odds of calibrated relevance, as the vector store judged the passage (as the graph
did, where the vector store did not run), plus

    walk        how near in the graph the passage lies to what the question names, as much as fusion
                weighs the graph
    coverage    dialogue: share of the question's words that the turn has, rare ones counting more
    window      dialogue: relevance of the turns right before and after
    speaker     dialogue: the question names the one who speaks
    length      dialogue: a longer turn says more

and back to [0, 1] by the logistic function. Each term but the walk is centred so that an ordinary passage
gains and loses nothing; the walk only takes away. The weights were fitted, listwise, on the first halves
of the queries of hotpot, musique, 2wiki, rgb, cranfield and LoCoMo.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from statistics import median
from typing import Any

from agentic_rag.odds import log_odds, probability
from agentic_rag.text import content_tokens, tokens

WALK, COVERAGE, WINDOW, SPEAKER, LENGTH = 5.0, 1.0, 0.8, 2.5, 1.1
"""Weights, in units of the log-odds of relevance; that of the walk times the graph's share in the fusion."""
FEWEST_VISITS = 1e-4
"""What a walk visits less, or not at all, counts as visited so often."""
TYPICAL_COVERAGE = 0.5
TYPICAL_TURN = math.log(1 + 20)
UNKNOWN = 0.01
"""Relevance of what no source judged."""


def rerank_offline(query: str, results: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """Results in a new order, each with ``rerank_score`` in [0, 1]; descending, then id."""
    if not results:
        return []
    base = _base(results)
    gains = _gains(query, results, base)
    scored = [
        {**result, "rerank_score": probability(logit + gain)}
        for result, logit, gain in zip(results, base, gains, strict=True)
    ]
    return sorted(scored, key=lambda result: (-result["rerank_score"], result["id"]))


def relevance(result: Mapping[str, Any]) -> float:
    """The best calibrated relevance any source gave, in [0, 1]; sources without one say nothing."""
    return max((raw for raw in _raws(result).values()), default=UNKNOWN)


def _raws(result: Mapping[str, Any]) -> dict[str, float]:
    said = {name: told["raw"] for name, told in result["sources"].items()}
    return {name: min(1.0, max(0.0, raw)) for name, raw in said.items() if raw is not None}


def _base(results: Sequence[Mapping[str, Any]]) -> list[float]:
    """Log-odds of relevance by the source that reads the passages themselves, else by the graph.

    One that it did not find is judged like the last one it found.
    """
    judge = next((name for name in ("lancedb", "graphiti") if _weight(results, name) > 0), None)
    judged = [_raws(result).get(judge) if judge else relevance(result) for result in results]
    lowest = min((log_odds(raw) for raw in judged if raw is not None), default=log_odds(UNKNOWN))
    return [lowest if raw is None else log_odds(raw) for raw in judged]


def _weight(results: Sequence[Mapping[str, Any]], source: str) -> float:
    """How fusion weighs a source; 0 where it found nothing."""
    told = (result["sources"].get(source) for result in results)
    return max((float(found["weight"]) for found in told if found is not None), default=0.0)


def _walks(results: Sequence[Mapping[str, Any]]) -> list[float]:
    """What each result loses, ≤ 0; nothing where the question names nothing that the graph knows."""
    visits = [result["metadata"].get("walk") for result in results]
    if all(share is None for share in visits):
        return [0.0] * len(results)
    graph, vector = _weight(results, "graphiti"), _weight(results, "lancedb")
    weight = WALK * graph / (graph + vector)
    return [weight * math.log(max(share or 0.0, FEWEST_VISITS)) for share in visits]


def _gains(query: str, results: Sequence[dict[str, Any]], base: Sequence[float]) -> list[float]:
    asked = set(content_tokens(query))
    texts = [tokens(result["content"]) for result in results]
    rarity = _rarity(texts)
    places = {_place(result): logit for result, logit in zip(results, base, strict=True)}
    typical, lowest = median(base), min(base)
    gains = []
    for result, words, walk in zip(results, texts, _walks(results), strict=True):
        gain = walk
        if result["metadata"].get("speaker") is not None:
            gain += COVERAGE * (_coverage(asked, set(words), rarity) - TYPICAL_COVERAGE)
            gain += WINDOW * (_window(result, places, lowest) - typical)
            gain += SPEAKER * float(_share(result["metadata"]["speaker"], asked) == 1.0)
            gain += LENGTH * (math.log(1 + len(words)) - TYPICAL_TURN)
        gains.append(gain)
    return gains


def _rarity(texts: Sequence[Sequence[str]]) -> dict[str, float]:
    """log(1 + N / df) over the results themselves: what all of them say tells none apart."""
    frequency = Counter(token for words in texts for token in set(words))
    return {token: math.log(1 + len(texts) / count) for token, count in frequency.items()}


def _coverage(asked: set[str], words: set[str], rarity: Mapping[str, float]) -> float:
    rarest = max(rarity.values(), default=1.0)
    total = sum(rarity.get(token, rarest) for token in asked)
    return sum(rarity[token] for token in asked & words) / total if total else 0.0


def _place(result: Mapping[str, Any]) -> tuple[Any, Any]:
    metadata = result["metadata"]
    return metadata.get("document_id"), metadata.get("ordinal")


def _window(result: Mapping[str, Any], places: Mapping[tuple[Any, Any], float], lowest: float) -> float:
    """Mean logit of the turn before and the turn after; one that no source found counts as the last."""
    document, ordinal = _place(result)
    if not isinstance(ordinal, int):
        return lowest
    around = [places.get((document, ordinal + step), lowest) for step in (-1, 1)]
    return sum(around) / len(around)


def _share(name: Any, asked: set[str]) -> float:
    """Share of a name's words that are asked for; 0 for no name."""
    words = set(content_tokens(name)) if isinstance(name, str) else set()
    return len(words & asked) / len(words) if words else 0.0
