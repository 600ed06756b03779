"""What reranking knows of each fused result: computed here alone, weighed by ``offline``.

``Terms`` are the features that the offline rerank adds up, each weighed by the parameter of its name.

A new term is an entry of ``TERMS``, its column in ``terms_of`` and a parameter of that name in
``RerankParameters``; the sum and ``tune`` then use it.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from statistics import median
from typing import Any

from agentic_rag.dictionary.other_words import in_other_words
from agentic_rag.domain import result_text
from agentic_rag.fusion.strategy_selector import CanvasOperation
from agentic_rag.odds import log_odds, log_visits
from agentic_rag.rerank.dates import asked_time, dates_match
from agentic_rag.rerank.late_interaction import FAMILIARITY, SIMILARITY
from agentic_rag.rerank.mistakes import records_mistake
from agentic_rag.text import asked_about, content_tokens, names_nothing, tokens

TERMS: Mapping[str, str] = {
    "walk": "ln of how often a walk in the graph from what the question names comes by, times the graph's share; ≤ 0",
    "time": "how much worse its dates fit the time the question states (see ``dates``) than the best do, in [-3.4, 0]; 0 where it states none",
    "interaction": "tenths of a cosine by which its tokens are less like the question's than those of the nearest; ≤ 0",
    "dictionary": "what it says of the question in another language or other words (see ``dictionary.other_words``); ≥ 0",
    "mistake": "weak-point clustering: 1 where it records what somebody got wrong (see ``mistakes``)",
    "brief": "no dialogue: ln of its words over 20, where it has fewer; ≤ 0",
    "coverage": "dialogue: share of the question's words that the turn has, rare ones counting more, less 0.5",
    "window": "dialogue: mean log-odds of relevance of the turns right before and after, less the median",
    "speaker": "dialogue: 1 where the question names the one who speaks",
    "length": "dialogue: ln(1 + words) of the turn, less that of 20 words",
}
"""The offline rerank's features beside the judge's log-odds; 0 where a result has no such thing."""

TYPICAL_COVERAGE = 0.5
TYPICAL_TURN = math.log(1 + 20)
BRIEF, BRIEF_CHARACTERS = 20, 240
"""Words from which a passage is none that is too short; one of more characters is not counted."""
UNKNOWN = 0.01
"""Relevance of what no source judged."""

Result = Mapping[str, Any]
"""A ``UnifiedResult`` as the state holds it."""


@dataclass(frozen=True, slots=True)
class Terms:
    """The offline rerank's features, a value for each result, in the results' order."""

    judged: Sequence[float]
    """Log-odds of relevance, in [-13.9, 13.9]."""
    visits: Sequence[float]
    """The walk before the graph's share is taken; ≤ 0."""
    graph_share: float
    """How much of the fusion's weight the graph has, in [0, 1]."""
    others: Mapping[str, Sequence[float]]
    """The terms of ``TERMS`` but the walk."""
    familiarity: float | None
    """How near the question's tokens come to those of all results together, about in [-1, 1]; None where none are
    stored."""
    named: Sequence[bool]
    """Whether a passage has every word that the question asks about, as few others do; no turn of a dialogue."""

    def column(self, name: str) -> Sequence[float]:
        """The term of that name."""
        if name == "walk":
            return [self.graph_share * visits for visits in self.visits]
        return self.others[name]


def terms_of(query: str, results: Sequence[Result], operation: str | None = None) -> Terms:
    """The offline rerank's features of fused results; all of them are looked at together."""
    judged = _judged(results)
    columns = {name: [0.0] * len(results) for name in TERMS if name != "walk"}
    stated = asked_time(query)
    if stated is not None:
        fits = [dates_match(stated, result) for result in results]
        # A note of the right year is not yet about the question, so a fit adds nothing; a misfit takes away.
        columns["time"] = [fit - max(fits) for fit in fits]
    columns["interaction"] = _interaction(results)
    searched = [tokens(result_text(result)) for result in results]
    columns["dictionary"] = in_other_words(query, searched)
    if operation == CanvasOperation.WEAK_POINT_CLUSTERING:
        columns["mistake"] = [float(records_mistake(result)) for result in results]
    columns["brief"] = [0.0 if _is_turn(result) else _brief(result["content"]) for result in results]
    turns = [number for number, result in enumerate(results) if _is_turn(result)]
    if turns:
        asked = set(content_tokens(query))
        texts = [tokens(result["content"]) for result in results]
        rarity = _rarity(texts)
        around = _around(results, judged)
        typical = median(judged)
        for number in turns:
            words = texts[number]
            columns["coverage"][number] = _coverage(asked, set(words), rarity) - TYPICAL_COVERAGE
            columns["window"][number] = around[number] - typical
            columns["speaker"][number] = float(_share(results[number]["metadata"]["speaker"], asked) == 1.0)
            columns["length"][number] = math.log(1 + len(words)) - TYPICAL_TURN
    told = (result["metadata"].get(FAMILIARITY) for result in results)
    familiarity = next((together for together in told if together is not None), None)
    named = _naming(query, searched)
    for number in turns:
        named[number] = False
    return Terms(judged, _visits(results), graph_share(results), columns, familiarity, named)


def _naming(query: str, passages: Sequence[Collection[str]]) -> list[bool]:
    """Whether a passage has all terms that the question asks about; none has where more than the square root of
    all passages do, for then the words are this dataset's everyday ones and name nothing. Nor has any where what is
    asked about stands in another question ("when did she take over")."""
    asked = frozenset() if names_nothing(query) else asked_about(query)
    having = [bool(asked) and all(term in passage for term in asked) for passage in passages]
    return having if sum(having) ** 2 <= len(passages) else [False] * len(passages)


def _brief(text: str) -> float:
    """A heading alone, or a line, is often about the question and seldom its answer."""
    if len(text) >= BRIEF_CHARACTERS:
        return 0.0
    return min(0.0, math.log((1 + len(tokens(text))) / BRIEF))


def relevance(result: Result) -> float:
    """The best calibrated relevance any source gave, in [0, 1]; sources without one say nothing."""
    return max((raw for raw in _raws(result).values()), default=UNKNOWN)


def graph_share(results: Sequence[Result]) -> float:
    """The graph's part of the two sources' weights in the fusion, in [0, 1]; 0 where it found nothing."""
    graph, vector = _weight(results, "graphiti"), _weight(results, "lancedb")
    return graph / (graph + vector) if graph > 0 else 0.0


def _raws(result: Result) -> dict[str, float]:
    said = {name: told["raw"] for name, told in result["sources"].items()}
    return {name: min(1.0, max(0.0, raw)) for name, raw in said.items() if raw is not None}


def _judged(results: Sequence[Result]) -> list[float]:
    """Log-odds of relevance by the source that reads the passages themselves, else by the graph.

    One that it did not find is judged like the last one it found.
    """
    judge = next((name for name in ("lancedb", "graphiti") if _weight(results, name) > 0), None)
    judged = [_raws(result).get(judge) if judge else relevance(result) for result in results]
    lowest = min((log_odds(raw) for raw in judged if raw is not None), default=log_odds(UNKNOWN))
    return [lowest if raw is None else log_odds(raw) for raw in judged]


def _weight(results: Sequence[Result], source: str) -> float:
    """How fusion weighs a source; 0 where it found nothing."""
    told = (result["sources"].get(source) for result in results)
    return max((float(found["weight"]) for found in told if found is not None), default=0.0)


def _visits(results: Sequence[Result]) -> list[float]:
    """ln of the walk's visits, ≤ 0; nothing where the question names nothing that the graph knows."""
    visits = [result["metadata"].get("walk") for result in results]
    if all(share is None for share in visits):
        return [0.0] * len(results)
    return [log_visits(share) for share in visits]


def _interaction(results: Sequence[Result]) -> list[float]:
    """Tenths of a cosine behind the nearest; what has no tokens is like the median of those that have."""
    told = [result["metadata"].get(SIMILARITY) for result in results]
    known = [similarity for similarity in told if similarity is not None]
    if not known:
        return [0.0] * len(results)
    nearest, typical = max(known), median(known)
    return [10 * ((typical if similarity is None else similarity) - nearest) for similarity in told]


def _is_turn(result: Result) -> bool:
    """A turn of a dialogue whose speaker is known; a note may have a property of that name, which is something else."""
    return result["metadata"].get("kind") == "turn" and result["metadata"].get("speaker") is not None


def _rarity(texts: Sequence[Sequence[str]]) -> dict[str, float]:
    """log(1 + N / df) over the results themselves: what all of them say tells none apart."""
    frequency = Counter(token for words in texts for token in set(words))
    return {token: math.log(1 + len(texts) / count) for token, count in frequency.items()}


def _coverage(asked: set[str], words: set[str], rarity: Mapping[str, float]) -> float:
    rarest = max(rarity.values(), default=1.0)
    total = math.fsum(
        rarity.get(token, rarest) for token in asked
    )  # the same in whatever order a set gives them
    return math.fsum(rarity[token] for token in asked & words) / total if total else 0.0


def _around(results: Sequence[Result], judged: Sequence[float]) -> list[float]:
    """Mean log-odds of the passage before and the passage after; one that no source found counts as the last."""
    lowest = min(judged)
    places = {_place(result): logit for result, logit in zip(results, judged, strict=True)}
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


def _share(name: Any, asked: set[str]) -> float:
    """Share of a name's words that are asked for; 0 for no name."""
    words = set(content_tokens(name)) if isinstance(name, str) else set()
    return len(words & asked) / len(words) if words else 0.0
