"""A passage after its search: what fusion makes of the sources' hits, and what an answer cites of it.

All are plain JSON values, so that the graph's state, the checkpoints and the interfaces hold the same.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Required

from typing_extensions import TypedDict  # before Python 3.12 pydantic makes no schema of typing's own


class GraphFact(TypedDict, total=False):
    """A fact of the graph that supports a passage."""

    id: str
    """Graphiti uuid."""
    kind: str
    name: str
    """Relation name in UPPER_SNAKE."""
    text: str
    """The sentence."""
    source: str | None
    target: str | None
    rank: int
    valid_at: str | None
    """ISO 8601, as ``invalid_at``; None where the bound is open."""
    invalid_at: str | None
    cosine: float | None
    reranker_score: float | None


class Passage(TypedDict):
    """What a model reads and an answer quotes: a hit, a result, or a piece of a note that nobody searched for."""

    id: str
    content: str
    metadata: Mapping[str, Any]
    """The chunk's place in its source and the note's own properties; nothing else."""
    facts: list[GraphFact]
    """What of the graph supports it."""


class SourceScores(TypedDict):
    """A source's judgement of a passage."""

    rank: int
    """From 1 within the source."""
    raw: float | None
    """The source's own score; None where it gave none."""
    normalised: float
    weight: float


class Result(Passage):
    """One chunk (or a graph thing without a chunk) with all that every source found out about it.

    Order among results is total: ``fused_score`` (after the rerank ``rerank_score``) descending, then ``id`` ascending.
    """

    source: str
    """Sorted names of the sources that found it, joined by ``+``."""
    type: str
    """As of its hit."""
    original_score: float | None
    """Raw score of the source that ranks it best (at equal rank one that has a score, then by name);
    None where that source gave none. Never invented."""
    rrf_score: float
    """Σ weight / (k + rank) where the strategy computed it, else 0."""
    fused_score: float
    """What the strategy sorted by: Σ weight · normalised of ``sources``. Ranks within one list, judges nothing."""
    rerank_score: float | None
    """Relevance in [0, 1]; None where no reranker looked at it."""
    tier: int | None
    """Cascade only: 1 if the graph found it, 2 if only the vector store did."""
    sources: dict[str, SourceScores]
    evidence: Mapping[str, Any]
    """What the sources' judgements rest on (see ``Hit``), all in one."""


def rerank_score(passage: Passage) -> float | None:
    """The relevance in [0, 1] that a rerank gave to the passage; None where none looked at it."""
    score = passage.get("rerank_score")
    return float(score) if isinstance(score, int | float) else None


def with_rerank_scores(results: Sequence[Result], scores: Sequence[float]) -> list[Result]:
    """The results with these rerank scores, in their order: score descending, then id."""
    order = sorted(zip(scores, results, strict=True), key=lambda pair: (-pair[0], pair[1]["id"]))
    return [{**result, "rerank_score": score} for score, result in order]


class WeightsReport(TypedDict):
    """Weights by source, and what changed them."""

    given: dict[str, float]
    """The caller's or the operation's."""
    used: dict[str, float]
    specificity: float | None
    """None where the rule of ``adapted_weights`` did not act."""


class FusionReport(TypedDict, total=False):
    """What was done, as plain JSON values; the cascade adds the fields of ``CascadeReport``."""

    operation: str
    """In the state, with ``operation_reason``: why it was chosen, None where the caller named it."""
    operation_reason: str | None
    strategy: Required[str]
    parameters: Required[Mapping[str, object]]
    """Those in effect."""
    counts: Required[dict[str, int]]
    """Distinct hits by source, and ``fused``: results after the limit."""
    tier: Required[int | None]
    """None outside the cascade."""
    reason: Required[str]
    normalised_by: dict[str, str]
    """Weighted fusion: ``score`` or ``rank``, by source."""
    weights: WeightsReport
    """Where the strategy follows an operation."""
    moved: dict[str, int]
    """By other strategy, how many of the results it would not return; only ``ask --explain`` asks."""


class CitedSpan(TypedDict):
    """A verbatim span of a document; ``start`` and ``end`` are code points in its decoded text, half-open."""

    chunk_id: str | None
    document_id: str | None
    path: str | None
    title: str | None
    heading_path: list[str]
    start: int | None
    end: int | None
    quote: str
    score: float | None
    """Relevance of its passage in [0, 1]."""
    url: str | None
    page: int | None
    region: list[float] | None
    """Left, top, right and bottom on the page in shares of its width and height; for text that OCR read."""


class AnswerLine(CitedSpan, total=False):
    """A line of an answer, and the span that says so; a heading has ``text`` and ``document_id`` (None) alone."""

    text: str


class Citation(CitedSpan):
    """Where the claim of a mark stands."""

    n: int
    """The number of the mark, from 1."""
