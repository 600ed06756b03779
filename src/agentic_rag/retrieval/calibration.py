"""From raw scores to relevance in [0, 1]: a logistic model per set of legs, fitted on labelled pairs.

A raw cosine is no relevance: its level differs between models and between scripts. The features are the distance
of the cosine from the level of relevant pairs in that script, its distance from the query's best cosine, the
passage's share of the query's words, and its similarity to the best passages. 0.5 means: with equal prior odds,
as many relevant as irrelevant passages have these values. The
coefficients ship with the model, in ``calibration.json`` beside it; ``evaluation/fit_calibration.py``
fits them, on sets other than those it reports. Another model's cosines are read on the same scale
(see ``embedding_calibration``). ``gather_evidence`` makes the evidence from the results of the legs; ``GraphRelevance``
scores the chunks that a walk over the graph visits, on the same scale.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from agentic_rag.domain import search_text
from agentic_rag.domain.odds import probability
from agentic_rag.domain.ports import FloatArray, ScoredChunk
from agentic_rag.text import Script, content_tokens, coverage, script, script_beside

Judge = Callable[[float, str], float]
"""Relevance in [0, 1] by the cosine with the query, and the text that was compared."""
SCRIPT_PAIRS = ("latin", "cjk", "latin_cjk", "cjk_latin")
"""See ``script_pair``."""
COSINE_UNIT = 0.03
"""One step of the bundled model's cosine."""
BM25_UNIT = 10.0
BM25_CAP = 40.0
MIN_CHUNKS = 190
"""Chunks in the smallest datasets that the models were fitted on: two vaults of fifty notes."""
COVERAGE = 3.0
"""Weight of a passage's share of the question's words if there is no cosine: a best BM25 that only comes from
"what is the" must not look relevant."""

ENOUGH_WORDS = 1 / 3
"""Share of the query's words in one passage; a larger share does not raise ``Sense.evidence_score`` any further."""
MAX_WORD_SHARE = 1 / 2
"""Share of the query's words in one passage from which the query counts as a question without further test."""


@dataclass(slots=True)
class Evidence:
    """What the legs say of one passage for one query; None where a leg did not find it or did not run.

    Not frozen: one is made for every passage that a search finds, and a frozen one takes three times as long.
    """

    cosine: float | None
    bm25: float | None
    best_cosine: float | None
    """Best in the query's whole list, same leg; None where the leg did not run."""
    best_bm25: float | None
    worst_cosine: float | None
    """Lowest in the dense leg's list: a passage missing from it lies no higher."""
    scripts: tuple[Script, Script]
    """Of the query and of the passage."""
    likeness: float = 0.0
    """See ``likeness``; 0 where no vectors were compared."""
    chunks: int | None = None
    """Number of chunks in the dataset; None if unknown, which counts as a large dataset."""
    coverage: float | None = None
    """Share of the query's content words that the passage has; read only if there is no cosine."""


@dataclass(frozen=True, slots=True)
class Coefficients:
    """One logistic model: intercept and cosine slope by script, the rest shared."""

    intercept: Mapping[str, float]
    cosine: Mapping[str, float]
    below_best: float
    bm25_share: float
    bm25_level: float
    """Coefficient of the share times the query's best BM25 score."""
    bm25_best: float = 0.0
    """Coefficient of the query's best BM25 score."""
    likeness: float = 0.0


@dataclass(frozen=True, slots=True)
class Sense:
    """A logistic model that separates questions from nonsense, in log-odds."""

    intercept: float
    standing_out: float
    """Coefficient of each step by which the best passage is nearer than an ordinary one (see ``floor.standing_out``)."""
    by_chance: float
    """Coefficient of sqrt(log(chunks + 1)): the best of many passages is nearer by chance, about in this proportion."""
    words: float
    """Coefficient of the share of the query's words that one passage has, up to ENOUGH_WORDS."""
    cost: float
    """Coefficient of the information content of the query's characters, relative to language (see ``floor.cost``)."""
    nearer: float
    """Coefficient of each step by which the query is nearer to one language's passages than to another's (see ``floor.nearer``)."""
    floor: float
    """``logit`` below which a search finds nothing."""
    unrelated_below: float
    """``evidence_score`` below which the nearest passage may be unrelated to the query."""

    def evidence_score(self, standing_out: float, chunks: int, words: float) -> float:
        """How well the dataset answers; ``words`` is a share in [0, 1]."""
        by_words = self.words * min(words, ENOUGH_WORDS) / ENOUGH_WORDS
        return self.standing_out * standing_out + self.by_chance * math.sqrt(math.log(chunks + 1)) + by_words

    def logit(self, evidence_score: float, cost: float, nearer: float) -> float:
        """Log-odds that the query is a question, from its results (``evidence_score``) and its characters (``cost``, ``nearer``)."""
        return self.intercept + evidence_score + self.cost * cost + self.nearer * nearer


@dataclass(frozen=True, slots=True)
class Calibration:
    """Turns ``Evidence`` into relevance.

    ``centres`` are the cosines of typical relevant pairs by script pair (see ``script_pair``);
    ``models`` the coefficients by which legs ran: ``dense``, ``sparse`` or ``hybrid``.
    """

    centres: Mapping[str, float]
    models: Mapping[str, Coefficients]
    sense: Sense
    """Decides whether the query is a question to this dataset, or nonsense whose nearest passages are
    unrelated."""
    units: Mapping[str, float] = field(default_factory=lambda: dict.fromkeys(SCRIPT_PAIRS, COSINE_UNIT))
    """What counts as one step of a cosine, by script pair."""
    ordinary: Mapping[str, FloatArray] = field(default_factory=dict, compare=False)
    """Mean vector of the reference passages in Latin script and in Chinese (``latin``, ``cjk``); empty: not known."""
    nearer: Mapping[str, float] = field(default_factory=dict)
    """Correction of ``floor.nearer`` by script, in steps: the fitted model's preference for passages in the
    question's script minus this model's."""

    def relevance(self, evidence: Evidence) -> float:
        """Relevance in [0, 1] of a passage that at least one leg found."""
        return probability(self.logit(evidence))

    def of_likeness(self, likeness: float, asked_in: Script) -> float:
        """What ``Evidence.likeness`` adds to the log odds of a hybrid search; ``asked_in``: the query's script."""
        return self.models["hybrid"].likeness * likeness / self.unit(asked_in)

    def unit(self, asked_in: Script) -> float:
        """One step of a cosine among texts in the query's script."""
        return self.units[script_pair((asked_in, asked_in))]

    def logit(self, evidence: Evidence) -> float:
        """The log odds of ``relevance``; unbounded, the same order."""
        pair = script_pair(evidence.scripts)
        family = "cjk" if pair == "cjk" else "latin"
        ran = _legs_that_ran(evidence)
        model = self.models[ran]
        logit = model.intercept[family]
        if ran != "sparse":
            known = evidence.worst_cosine if evidence.cosine is None else evidence.cosine
            distance = self._distance(known, pair)
            logit += model.cosine[family] * distance
            logit += model.below_best * min(0.0, distance - self._distance(evidence.best_cosine, pair))
            logit += model.likeness * evidence.likeness / self.unit(evidence.scripts[0])
        if ran != "dense" and evidence.best_bm25:
            level = bm25_level(evidence)
            share = (evidence.bm25 or 0.0) / evidence.best_bm25
            logit += share * (model.bm25_share + model.bm25_level * level) + model.bm25_best * level
        if evidence.cosine is None and evidence.coverage is not None:
            logit += COVERAGE * (evidence.coverage - 0.5)
        return logit

    def of_cosine(self, cosine: float, scripts: tuple[Script, Script]) -> float:
        """Relevance of something judged by its cosine alone (a fact, an entity name)."""
        return self.relevance(Evidence(cosine, None, cosine, None, cosine, scripts))

    def judge(self, asked_in: Script) -> Judge:
        """``of_cosine`` as a function of cosine and text, for a query in this script."""
        return lambda cosine, text: self.of_cosine(cosine, (asked_in, script_beside(asked_in, text)))

    def _distance(self, cosine: float | None, pair: str) -> float:
        """Steps from the level of relevant pairs; 0 where nothing is known."""
        return 0.0 if cosine is None else (cosine - self.centres[pair]) / self.units[pair]


def bm25_level(evidence: Evidence) -> float:
    """The query's best BM25 in units of BM25_UNIT, scaled up in datasets of fewer than MIN_CHUNKS chunks; 0 if
    no word matches.

    The weight of a word is about the logarithm of (chunks / chunks with the word). So the same passage has two
    thirds of the BM25 among thirty chunks that it has among two hundred, though it answers as well.
    """
    if not evidence.best_bm25:
        return 0.0
    rarer = 1.0
    if evidence.chunks is not None and evidence.chunks < MIN_CHUNKS:
        rarer = math.log(1 + MIN_CHUNKS) / math.log(1 + max(evidence.chunks, 1))
    return min(rarer * evidence.best_bm25, BM25_CAP) / BM25_UNIT


def script_pair(scripts: tuple[Script, Script]) -> str:
    """``latin``, ``cjk``, ``latin_cjk`` or ``cjk_latin``, the query's script first: a Chinese question has a much
    higher cosine with any English passage than an English question with any Chinese one. A text without letters
    takes the script of the other text."""
    query, passage = scripts
    if query == "other":
        query = passage
    if passage == "other":
        passage = query
    if query == passage:
        return "cjk" if query == "cjk" else "latin"
    return f"{query}_{passage}"


def _legs_that_ran(evidence: Evidence) -> str:
    if evidence.best_bm25 is None:
        return "dense"
    return "sparse" if evidence.best_cosine is None else "hybrid"


Legs = Mapping[str, Sequence[ScoredChunk]]
"""Chunks of each leg that ran (``dense``, ``sparse``), best first; an empty list if it found nothing."""
Vectors = Mapping[str, FloatArray]
"""Unit vectors by chunk id."""

BEST = 3
"""Chunks that the others are compared with (see ``likeness``)."""


def gather_evidence(
    query: str,
    legs: Legs,
    vectors: Vectors | None = None,
    query_vector: FloatArray | None = None,
    *,
    chunks: int | None = None,
) -> dict[str, Evidence]:
    """The evidence for each chunk that a leg found, by chunk id.

    Args:
        query: what was searched for.
        legs: what each leg found.
        vectors: unit vectors of the chunks; they give a cosine to chunks that only the sparse leg found.
        query_vector: the query's unit vector; goes with ``vectors``.
        chunks: how many the dataset has, where that is known.
    """
    cosines = _scores(legs.get("dense"))
    words = _scores(legs.get("sparse"))
    # The best score of a leg that ran and found nothing is 0, not None.
    best_cosine = None if cosines is None else max(cosines.values(), default=0.0)
    best_bm25 = None if words is None else max(words.values(), default=0.0)
    worst_cosine = min(cosines.values(), default=None) if cosines else None
    if cosines is not None and vectors is not None and query_vector is not None:
        cosines |= {
            i: float(np.dot(vector, query_vector)) for i, vector in vectors.items() if i not in cosines
        }
    query_script = script(query)
    terms = frozenset(content_tokens(query)) if cosines is None else None
    found = {scored.chunk.id: scored.chunk for leg in legs.values() for scored in leg}
    return {
        chunk_id: Evidence(
            cosine=None if cosines is None else cosines.get(chunk_id),
            bm25=None if words is None else words.get(chunk_id),
            best_cosine=best_cosine,
            best_bm25=best_bm25,
            worst_cosine=worst_cosine,
            scripts=(query_script, script_beside(query_script, chunk.text)),
            chunks=chunks,
            coverage=None if terms is None else coverage(terms, search_text(chunk)),
        )
        for chunk_id, chunk in found.items()
    }


def likeness(order: Mapping[str, float], vectors: Vectors) -> dict[str, float]:
    """Similarity of each chunk to the best chunks minus the largest such similarity: differences of cosines, ≤ 0.

    Pseudo-relevance feedback: passages that answer a question resemble each other. The best chunks are the first
    BEST by ``order``, then id; the mean of their vectors represents them. The values rank chunks within one
    search; they do not compare searches.
    Source: Rocchio, Relevance Feedback in Information Retrieval, 1971.
    """
    ids = sorted(vectors, key=lambda chunk_id: (-order[chunk_id], chunk_id))
    if not ids:
        return {}
    stacked = np.concatenate([vectors[chunk_id] for chunk_id in ids]).reshape(len(ids), -1)
    # Not by BLAS, see ``token_vectors.BY_ONE_THREAD``.
    alike = np.einsum("ij,j->i", stacked, stacked[:BEST].mean(axis=0))
    return dict(zip(ids, (alike - alike.max()).tolist(), strict=True))


def _scores(leg: Sequence[ScoredChunk] | None) -> dict[str, float] | None:
    return None if leg is None else {scored.chunk.id: scored.score for scored in leg}
