"""Features of a fused result: its relevance by the sources, and the terms of the offline rerank.

A new term is an entry of ``TERMS``, its column in ``terms_of`` and its weight in ``offline.WEIGHTS``.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from pathlib import PurePosixPath
from statistics import median
from typing import Any

import numpy as np
from numpy.typing import NDArray

from agentic_rag.dates.stated import asked_interval, dates_match
from agentic_rag.domain.odds import log_odds, probability
from agentic_rag.domain.results import Passage, Result, SourceScores
from agentic_rag.fusion.strategy_selector import NOTE_SOURCES, CanvasOperation
from agentic_rag.text import content_tokens, tokens

TERMS: Mapping[str, str] = {
    "time": "how much worse its dates fit the time the question states (see ``dates``) than the best do, in [-3.4, 0]; 0 where it states none",
    "mistake": "weak-point clustering: 1 where it records what somebody got wrong (see ``records_mistake``)",
    "window": "dialogue: mean log-odds of relevance of the turns right before and after, less the median",
    "speaker": "dialogue: 1 where the question names the one who speaks",
    "length": "dialogue: ln(1 + words) of the turn, less that of 20 words",
}
"""Terms with their meanings; a term is 0 for a result that lacks its data."""
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
    """Whether the result is a dialogue turn with a known speaker; a note's own property ``speaker`` does not
    count."""
    return result["metadata"].get("kind") == "turn" and result["metadata"].get("speaker") is not None


def _around(results: Sequence[Result], odds: Sequence[float]) -> list[float]:
    """Mean log-odds of the previous and the next passage; one that is no result counts as the lowest result."""
    lowest = min(odds)
    places = {_place(result): value for result, value in zip(results, odds, strict=True)}

    def around(result: Result) -> float:
        document, ordinal = _place(result)
        if not isinstance(ordinal, int):
            return lowest
        return (places.get((document, ordinal - 1), lowest) + places.get((document, ordinal + 1), lowest)) / 2

    return [around(result) for result in results]


def _place(result: Result) -> tuple[Any, Any]:
    metadata = result["metadata"]
    return metadata.get("document_id"), metadata.get("ordinal")


def _is_asked_for(name: Any, question_words: set[str]) -> bool:
    """Whether every word of a name is among those of the question."""
    words = set(content_tokens(name)) if isinstance(name, str) else set()
    return bool(words) and words <= question_words


MISTAKES = re.compile(
    r"(?<![a-z])(?:mistakes?|errors?|errata|misconceptions?|weak(?:ness(?:es)?|[ _-]?(?:points?|spots?)))(?![a-z])"
    r"|[错錯][题題误誤]|易[错錯]|[误誤][区區]|薄弱|弱[点點]",
    re.IGNORECASE,
)
"""Words in a name that mark a mistake."""
_CALLOUT = re.compile(r"^[ \t]*>[ \t]*\[!fail(?:ure)?\].*(?:\n[ \t]*>.*)*", re.IGNORECASE | re.MULTILINE)
"""Obsidian's failure callout with its quoted lines."""


def records_mistake(result: Passage) -> bool:
    """Whether a tag, a folder, the title or a heading calls it a mistake, or the passage holds a failure callout."""
    metadata = result["metadata"]
    tags = metadata.get("tags")
    folders = PurePosixPath(str(metadata.get("path") or "")).parts[:-1]
    names = [
        *(tags if isinstance(tags, list | tuple) else [tags]),
        *folders,
        metadata.get("title"),
        *(metadata.get("heading_path") or ()),
    ]
    called = any(isinstance(name, str) and MISTAKES.search(name) for name in names)
    return called or _CALLOUT.search(result["content"]) is not None


UNKNOWN_RELEVANCE = 0.01
"""Relevance of a result that no source scored."""


def relevance_odds(results: Sequence[Result]) -> list[float]:
    """Log-odds of each result's relevance; all results of a question are looked at together.

    The vector store scores a passage's words and vectors, the graph its position in the graph. They use different
    information, so their log-odds add up. A passage that the vector store did not find gets its lowest score
    there. The graph's log-odds count only above 0, because a passage far from the named entities may still
    answer. A source without results adds nothing. Results of other sources (memories) have the relevance that those gave.
    """
    own = [_own_odds(result["sources"]) for result in results]
    return [
        odds if by_own is None else by_own if by_own_alone else max(odds, by_own)
        for odds, (by_own, by_own_alone) in zip(_by_notes(results), own, strict=True)
    ]


def _own_odds(sources: Mapping[str, SourceScores]) -> tuple[float | None, bool]:
    """The best log-odds by sources other than the two of the notes (None if none of them has the result), and
    whether they alone have it."""
    scores = [one["raw"] for name, one in sources.items() if name not in NOTE_SOURCES]
    odds = [log_odds(UNKNOWN_RELEVANCE if score is None else score) for score in scores]
    return max(odds, default=None), len(scores) == len(sources)


def _by_notes(results: Sequence[Result]) -> list[float]:
    """Log-odds by the graph and the vector store."""
    read, walked = _of_source(results, "lancedb"), _of_source(results, "graphiti")
    if read is None:
        return walked or [log_odds(UNKNOWN_RELEVANCE)] * len(results)
    if walked is None:
        return read
    return [by_text + max(0.0, by_graph) for by_text, by_graph in zip(read, walked, strict=True)]


def judge(results: Sequence[Result]) -> list[float]:
    """Relevance in [0, 1] of each result: its rerank score; where none has one, by the sources.

    A result that the rerank did not look at stands behind those it did, and is at most as relevant as the last.
    """
    scores = [result.get("rerank_score") for result in results]
    reranked = [float(score) for score in scores if score is not None]
    if len(reranked) == len(results):
        return reranked
    most = min(reranked, default=1.0)
    by_sources = map(probability, relevance_odds(results))
    return [
        min(most, own) if score is None else float(score)
        for score, own in zip(scores, by_sources, strict=True)
    ]


def vector_odds(results: Sequence[Result]) -> list[float]:
    """Log-odds by the vector store; by the graph if the vector store scored none of the results."""
    found = _of_source(results, "lancedb") or _of_source(results, "graphiti")
    return found or [log_odds(UNKNOWN_RELEVANCE)] * len(results)


def _of_source(results: Sequence[Result], name: str) -> list[float] | None:
    """Log-odds by one source, its lowest for results it did not find; None if it scored none of them."""
    of_source = [result["sources"].get(name) for result in results]
    raws = [None if one is None else one["raw"] for one in of_source]
    odds = [None if raw is None else log_odds(raw) for raw in raws]
    lowest = min((value for value in odds if value is not None), default=None)
    return None if lowest is None else [lowest if value is None else value for value in odds]
