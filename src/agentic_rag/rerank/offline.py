"""Rerank without a model download: what is known of each result, and of its neighbours, weighed together.

The score is the logit of calibrated relevance, over the sources in the proportion that fusion weighs
them, plus what a passage's surroundings say, each term centred so that an ordinary passage gains and
loses nothing:

    coverage    share of the question's words that the passage has, rare ones counting more
    title       share of the title's words that the question has
    window      dialogue: relevance of the turns right before and after
    speaker     dialogue: the question names the one who speaks
    length      dialogue: a longer turn says more

and back to [0, 1] by the logistic function. The weights were chosen on three LoCoMo conversations and on
hotpot, 2wiki and rgb; ``evaluation/bench_rerank.py`` prints MRR@10 before and after with its interval.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from statistics import median
from typing import Any

from agentic_rag.text import content_tokens, tokens

COVERAGE, TITLE, WINDOW, SPEAKER, LENGTH = 3.0, 1.0, 0.6, 2.5, 0.8
"""Weights, in units of the logit of relevance."""
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
        {**result, "rerank_score": 1.0 / (1.0 + math.exp(-(logit + gain)))}
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
    """Logit of relevance, averaged over the sources by their weights.

    A source that ran and did not find a result judges it no better than the last one it found.
    """
    logits = [{name: _logit(raw) for name, raw in _raws(result).items()} for result in results]
    lowest: dict[str, float] = {}
    weights: dict[str, float] = {}
    for result, own in zip(results, logits, strict=True):
        for name, logit in own.items():
            lowest[name] = min(logit, lowest.get(name, logit))
            weights[name] = float(result["sources"][name]["weight"])
    total = sum(weights.values())
    if total <= 0:
        return [_logit(relevance(result)) for result in results]
    return [
        sum(weight * own.get(name, lowest[name]) for name, weight in weights.items()) / total
        for own in logits
    ]


def _gains(query: str, results: Sequence[dict[str, Any]], base: Sequence[float]) -> list[float]:
    asked = set(content_tokens(query))
    texts = [tokens(result["content"]) for result in results]
    rarity = _rarity(texts)
    places = {_place(result): logit for result, logit in zip(results, base, strict=True)}
    typical, lowest = median(base), min(base)
    gains = []
    for result, words in zip(results, texts, strict=True):
        gain = COVERAGE * (_coverage(asked, set(words), rarity) - TYPICAL_COVERAGE)
        if result["metadata"].get("speaker") is None:
            gain += TITLE * _share(result["metadata"].get("title"), asked)
        else:
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


def _logit(value: float) -> float:
    bounded = min(1.0 - 1e-6, max(1e-6, value))
    return math.log(bounded / (1.0 - bounded))
