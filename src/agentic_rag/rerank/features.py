"""What the offline rerank knows of a fused result that neither source could know.

A new term is an entry of ``TERMS``, its column in ``terms_of`` and a parameter of that name in
``RerankParameters``; the sum and ``tune`` then use it.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from statistics import median
from typing import Any

import numpy as np
from numpy.typing import NDArray

from agentic_rag.dates.stated import asked_interval, dates_match
from agentic_rag.fusion.strategy_selector import CanvasOperation
from agentic_rag.rerank.mistakes import records_mistake
from agentic_rag.rerank.relevance import Result, vector_odds
from agentic_rag.text import content_tokens, tokens

TERMS: Mapping[str, str] = {
    "time": "how much worse its dates fit the time the question states (see ``dates``) than the best do, in [-3.4, 0]; 0 where it states none",
    "mistake": "weak-point clustering: 1 where it records what somebody got wrong (see ``mistakes``)",
    "window": "dialogue: mean log-odds of relevance of the turns right before and after, less the median",
    "speaker": "dialogue: 1 where the question names the one who speaks",
    "length": "dialogue: ln(1 + words) of the turn, less that of 20 words",
}
"""0 where a result has no such thing."""
TYPICAL_TURN = math.log(1 + 20)

Floats = NDArray[np.float64]


def terms_of(query: str, results: Sequence[Result], operation: str | None = None) -> dict[str, Floats]:
    """The terms of fused results, each of shape (results,); all results are looked at together."""
    columns = {name: np.zeros(len(results)) for name in TERMS}
    stated = asked_interval(query)
    if stated is not None and results:
        fits = np.array([dates_match(stated, result) for result in results])
        # A note of the right year is not yet about the question, so a fit adds nothing; a misfit takes away.
        columns["time"] = fits - fits.max()
    if operation == CanvasOperation.WEAK_POINT_CLUSTERING:
        columns["mistake"] = np.array([float(records_mistake(result)) for result in results])
    turns = [number for number, result in enumerate(results) if _is_turn(result)]
    if turns:
        asked = set(content_tokens(query))
        odds = vector_odds(results)
        around, typical = _around(results, odds), median(odds)
        for number in turns:
            result = results[number]
            columns["window"][number] = around[number] - typical
            columns["speaker"][number] = float(_is_asked_for(result["metadata"]["speaker"], asked))
            columns["length"][number] = math.log(1 + len(tokens(result["content"]))) - TYPICAL_TURN
    return columns


def _is_turn(result: Result) -> bool:
    """A turn of a dialogue whose speaker is known; a note may have a property of that name, which is something else."""
    return result["metadata"].get("kind") == "turn" and result["metadata"].get("speaker") is not None


def _around(results: Sequence[Result], odds: Sequence[float]) -> list[float]:
    """Mean log-odds of the passage before and the passage after; one that no source found counts as the last."""
    lowest = min(odds)
    places = {_place(result): value for result, value in zip(results, odds, strict=True)}
    means = []
    for result in results:
        document, ordinal = _place(result)
        if not isinstance(ordinal, int):
            means.append(lowest)
            continue
        around = [places.get((document, ordinal + step), lowest) for step in (-1, 1)]
        means.append(sum(around) / len(around))
    return means


def _place(result: Result) -> tuple[Any, Any]:
    metadata = result["metadata"]
    return metadata.get("document_id"), metadata.get("ordinal")


def _is_asked_for(name: Any, asked: set[str]) -> bool:
    """Whether every word of a name is among those of the question."""
    words = set(content_tokens(name)) if isinstance(name, str) else set()
    return bool(words) and words <= asked
