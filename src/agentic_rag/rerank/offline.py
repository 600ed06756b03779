"""Rerank without a model download: what is known of each result, and of its neighbours, weighed together.

The score is the logit of calibrated relevance plus what a passage's surroundings say:

    base        relevance the sources gave, the better of the two where both found it
    window      relevance of the passages right before and after it in the same document
    agreement   both sources found it
    speaker     the question names the one who speaks (dialogue)
    title       the question names the document
    coverage    share of the question's words that the passage has, rare ones counting more
    length      a longer turn of a dialogue says more

and back to [0, 1] by the logistic function. Measured in ``evaluation/bench_rerank.py``.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from agentic_rag.text import content_tokens, tokens

WINDOW = 1
WEIGHTS: Mapping[str, float] = {
    "window": 0.35,
    "agreement": 0.2,
    "speaker": 1.0,
    "title": 0.5,
    "coverage": 1.0,
    "length": 0.35,
}
FLOOR = 0.01
"""Relevance assumed of a neighbour that no source found."""


def rerank_offline(query: str, results: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """Results in a new order, each with ``rerank_score`` in [0, 1]; descending, then id."""
    if not results:
        return []
    base = {result["id"]: relevance(result) for result in results}
    features = _features(query, results, base)
    scored = []
    for result, named in zip(results, features, strict=True):
        logit = _logit(base[result["id"]]) + sum(WEIGHTS[name] * value for name, value in named.items())
        scored.append({**result, "rerank_score": 1.0 / (1.0 + math.exp(-logit))})
    return sorted(scored, key=lambda result: (-result["rerank_score"], result["id"]))


def relevance(result: Mapping[str, Any]) -> float:
    """The best calibrated relevance any source gave; sources without one say nothing."""
    raws = [said["raw"] for said in result["sources"].values() if said["raw"] is not None]
    return max((min(1.0, max(0.0, raw)) for raw in raws), default=FLOOR)


def _features(
    query: str, results: Sequence[dict[str, Any]], base: Mapping[str, float]
) -> list[dict[str, float]]:
    asked = set(content_tokens(query))
    texts = [tokens(result["content"]) for result in results]
    rarity = _rarity(texts)
    places = {_place(result): base[result["id"]] for result in results}
    return [
        {
            "window": _window(result, places),
            "agreement": float(len(result["sources"]) > 1),
            "speaker": _named(asked, result["metadata"].get("speaker")),
            "title": _named(asked, result["metadata"].get("title")),
            "coverage": _coverage(asked, set(words), rarity),
            "length": _length(result, len(words)),
        }
        for result, words in zip(results, texts, strict=True)
    ]


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


def _window(result: Mapping[str, Any], places: Mapping[tuple[Any, Any], float]) -> float:
    """Mean logit of the neighbours over that of an unknown passage, at least 0."""
    document, ordinal = _place(result)
    if not isinstance(ordinal, int):
        return 0.0
    around = [places.get((document, ordinal + step), FLOOR) for step in range(-WINDOW, WINDOW + 1) if step]
    return sum(_logit(max(value, FLOOR)) - _logit(FLOOR) for value in around) / len(around)


def _named(asked: set[str], name: Any) -> float:
    """1 where every word of a name is asked for."""
    words = set(content_tokens(name)) if isinstance(name, str) else set()
    return float(bool(words) and words <= asked)


def _length(result: Mapping[str, Any], words: int) -> float:
    return math.log(1 + words) if result["metadata"].get("kind") == "session" else 0.0


def _logit(value: float) -> float:
    bounded = min(1.0 - 1e-6, max(1e-6, value))
    return math.log(bounded / (1.0 - bounded))
