"""Fits the calibration that ships with the embedding model, and reports it on sets it was not fitted on.

    python evaluation/fit_calibration.py [--data DIR] [--write]

Every query is searched as the engine searches it, with both legs of LanceDB. Each of its twenty best
candidates is a case, relevant or not, once with the relevant passages and once without them, so that
the best of a search that finds nothing is a case too. A query counts alike in every set, relevant and
irrelevant passages alike in every query: the odds beforehand are even. The centres of the cosines within a
script come from the model's README and stay; those of a question and a passage in different scripts are fitted
last, on two vaults whose notes are in both, and the intercepts then on all of these. Needs judged sets that are
not part of this project (by default in ../shared/data). ``--write`` replaces the calibration in the package.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import random
import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from rich.console import Console
from rich.table import Table
from scipy.optimize import minimize

from agentic_rag.domain import search_text
from agentic_rag.evaluation.statistics import area_under_roc
from agentic_rag.ports import FloatArray, Restriction, ScoredChunk
from agentic_rag.retrieval.calibration import (
    COSINE_UNIT,
    ENOUGH_WORDS,
    Calibration,
    Coefficients,
    Evidence,
    Sense,
    bm25_level,
    script_pair,
)
from agentic_rag.retrieval.embedding_calibration import Levels, fitted_calibration, levels
from agentic_rag.retrieval.engine import MIN_CANDIDATES
from agentic_rag.retrieval.evidence import gathered, likeness
from agentic_rag.retrieval.floor import LOOKED_AT, standing_out
from agentic_rag.stores.lancedb.chunk_store import LanceChunkStore
from agentic_rag.stores.lancedb.connection import lance_connection
from agentic_rag.text import content_tokens, script, tokens
from judged_sets import (
    CACHE,
    CHOOSING_VAULTS,
    DATA,
    JudgedSet,
    KeptEmbedding,
    available,
    gibberish,
    judged_set,
    vault_set,
)

FITTED = ("hotpot_train100", "musique_train100", "2wiki_train500", "cmrc2018/trial")
ACROSS = ("latin_cjk", "cjk_latin")
"""Pairs of scripts whose centre is fitted; the question's comes first."""
CENTRES = tuple(np.arange(0.74, 0.9, 0.01).round(2).tolist())
REPORTED = ("rgb/zh_fact", "rgb/en_fact", "cranfield", "scifact/train")
LEGS = {"hybrid": ("dense", "sparse"), "dense": ("dense",), "sparse": ("sparse",)}
QUERIES, CASES, ROUNDS, RIDGE = 500, 20, 3, 0.02
GIBBERISH_PASSED = 0.02
"""Share of gibberish that the floor lets pass on the fitted sets."""
SIZES, SENSE_QUERIES = (3, 6, 12, 40, 150), 120
"""A floor must hold for a handful of notes too: besides whole sets, random parts of so many chunks are searched."""
TERMS = ("latin", "cjk", "cosine latin", "cosine cjk", "below_best", "bm25_share", "bm25_level", "bm25_best", "likeness")  # fmt: skip
USED = {"hybrid": TERMS, "dense": TERMS[:5], "sparse": (*TERMS[:2], *TERMS[5:8])}
Array = NDArray[np.float64]


@dataclass(frozen=True)
class Search:
    """What the legs found for one query; ``relevant`` are chunk ids."""

    text: str
    asked: FloatArray
    legs: Mapping[str, Sequence[ScoredChunk]]
    relevant: frozenset[str]
    chunks: int
    """How many were searched."""

    def without(self) -> Search:
        """The same without what is relevant."""
        legs = {n: [s for s in leg if s.chunk.id not in self.relevant] for n, leg in self.legs.items()}
        return Search(self.text, self.asked, legs, frozenset(), self.chunks)

    def evidence(self, strategy: str, calibration: Calibration) -> dict[str, Evidence]:
        """As the engine gathers it for a strategy."""
        legs = {name: self.legs[name] for name in LEGS[strategy]}
        if strategy != "hybrid":
            return gathered(self.text, legs, chunks=self.chunks)
        vectors = {s.chunk.id: s.vector for leg in legs.values() for s in leg if s.vector is not None}
        found = gathered(self.text, legs, vectors, self.asked, chunks=self.chunks)
        alike = likeness({i: calibration.logit(e) for i, e in found.items()}, vectors)
        return {i: Evidence(**{**_fields(e), "likeness": alike[i]}) for i, e in found.items()}

    def best(self, strategy: str, calibration: Calibration) -> float:
        """Relevance of the best; 0 where nothing was found."""
        found = self.evidence(strategy, calibration).values()
        return max((calibration.relevance(evidence) for evidence in found), default=0.0)


@dataclass(frozen=True)
class Searched:
    """A judged set, and what was found in it."""

    found: JudgedSet
    judged: list[Search]
    nonsense: list[Search]


async def searched(name: str, folder: Path, data: Path) -> Searched:
    """A set's queries, and gibberish of the same scripts, searched."""
    if name in CHOOSING_VAULTS:
        found = await vault_set(name, folder / "vaults")
    else:
        found = await judged_set(name, data, CACHE, QUERIES)
    async with lance_connection(str(folder)) as connection:
        store = LanceChunkStore(connection, model=KeptEmbedding.name, dimension=KeptEmbedding.dimension)
        await found.store(store, name)

        async def one(text: str, asked: FloatArray, relevant: frozenset[str]) -> Search:
            limit, open_ = MIN_CANDIDATES, Restriction()
            legs = {
                "dense": await store.search_dense(name, asked, limit=limit, restriction=open_),
                "sparse": await store.search_sparse(name, text, limit=limit, restriction=open_),
            }
            return Search(text, asked, legs, relevant, len(found.chunks))

        judged = []
        for query, asked in zip(found.queries, found.query_vectors, strict=True):
            relevant = (c.id for c in found.chunks if query.relevant.get(c.document_id, 0) > 0)
            judged.append(await one(query.text, asked, frozenset(relevant)))
        nonsense = gibberish([query.text for query in found.queries])
        vectors = await KeptEmbedding(CACHE).embed_queries(nonsense)
        pairs = zip(nonsense, vectors, strict=True)
        return Searched(found, judged, [await one(text, asked, frozenset()) for text, asked in pairs])


def fitted(sets: Sequence[Sequence[Search]], strategy: str, start: Calibration) -> Calibration:
    """The calibration with a strategy's coefficients fitted; in rounds, since the candidates and what
    is like the best depend on the order that the coefficients make."""
    calibration = start
    columns = [TERMS.index(term) for term in USED[strategy]]
    for _ in range(ROUNDS):
        rows, relevant, weights = _all_cases(sets, strategy, calibration)
        free = np.array([0.0 if term in ("latin", "cjk") else RIDGE for term in USED[strategy]])
        found = solved(rows[:, columns], relevant, weights, free)
        terms = dict.fromkeys(TERMS, 0.0) | dict(zip(USED[strategy], found.round(3).tolist(), strict=True))
        models = {**calibration.models, strategy: _coefficients(terms)}
        calibration = replace(calibration, models=models)
    return calibration


def solved(rows: Array, outcomes: Array, weights: Array, ridge: Array, known: Array | float = 0.0) -> Array:
    """Coefficients of a logistic model; rows of terms, outcomes 0 or 1, ``known`` log-odds that are there already."""

    def loss(w: Array) -> tuple[float, Array]:
        logits = known + rows @ w
        slope = rows.T @ (weights * (1.0 / (1.0 + np.exp(-logits)) - outcomes))
        return cross_entropy(logits, outcomes, weights) + float((ridge * w * w).sum() / 2), slope + ridge * w

    found: Array = minimize(loss, np.zeros(rows.shape[1]), jac=True, method="L-BFGS-B").x
    return found


def cross_entropy(logits: Array, outcomes: Array, weights: Array) -> float:
    """Weighted, in nats."""
    return float((weights * (np.logaddexp(0.0, logits) - outcomes * logits)).sum())


def fitted_centres(sets: Sequence[Sequence[Search]], start: Calibration) -> Calibration:
    """The calibration with the centres of pairs in different scripts by which a hybrid search is judged best."""
    calibration = start
    for pair in ACROSS:
        asked = pair.split("_")[0]
        those = [[search for search in searches if script(search.text) == asked] for searches in sets]
        at = [replace(calibration, centres={**calibration.centres, pair: centre}) for centre in CENTRES]
        calibration = min(at, key=lambda changed: _loss(those, changed))
    return calibration


def _loss(sets: Sequence[Sequence[Search]], calibration: Calibration) -> float:
    """Cross entropy of a hybrid search's relevance, over the cases that models are fitted on."""
    rows, relevant, weights = _all_cases(sets, "hybrid", calibration)
    return cross_entropy(rows @ _weights(calibration.models["hybrid"]), relevant, weights)


def fitted_intercepts(sets: Sequence[Sequence[Search]], strategy: str, start: Calibration) -> Calibration:
    """The calibration with a strategy's intercepts fitted anew; no order within one script changes by it."""
    model = start.models[strategy]
    rows, relevant, weights = _all_cases(sets, strategy, start)
    more = solved(rows[:, :2], relevant, weights, np.zeros(2), rows @ _weights(model)).round(3)
    intercept = {
        name: round(model.intercept[name] + shift, 3)
        for name, shift in zip(TERMS[:2], more.tolist(), strict=True)
    }
    return replace(start, models={**start.models, strategy: replace(model, intercept=intercept)})


def _weights(model: Coefficients) -> Array:
    """In the order of ``TERMS``."""
    shared = [getattr(model, name) for name in TERMS[4:]]
    return np.array([*(model.intercept[s] for s in ("latin", "cjk")), *(model.cosine[s] for s in ("latin", "cjk")), *shared])  # fmt: skip


def _all_cases(
    sets: Sequence[Sequence[Search]], strategy: str, calibration: Calibration
) -> tuple[Array, Array, Array]:
    """``_cases`` of sets as one table; every set counts alike."""
    parts = [part for searches in sets for part in _cases(searches, strategy, calibration)]
    rows, relevant, weights = (np.concatenate(column) for column in zip(*parts, strict=True))
    return rows, relevant, weights / len(sets)


def _cases(
    searches: Sequence[Search], strategy: str, calibration: Calibration
) -> list[tuple[Array, Array, Array]]:
    """Rows of terms, whether relevant, and weights, by query; relevant passages weigh one half of it."""
    answerable = [search for search in searches if search.relevant]
    parts = []
    for search in answerable:
        for given, share in ((search, 0.25), (search.without(), 0.25)):
            found = given.evidence(strategy, calibration)
            order = sorted(found, key=lambda i: (-calibration.logit(found[i]), i))
            kept = [i for place, i in enumerate(order) if place < CASES or i in given.relevant]
            if not kept:
                continue
            relevant = np.array([float(i in given.relevant) for i in kept])
            of_relevant, of_others = max(relevant.sum(), 1.0), max((1 - relevant).sum(), 1.0)
            weights = np.where(relevant > 0, 0.5 / of_relevant, share / of_others) / len(answerable)
            parts.append((np.array([_terms(found[i], calibration) for i in kept]), relevant, weights))
    return parts


def _terms(evidence: Evidence, calibration: Calibration) -> list[float]:
    pair = script_pair(evidence.scripts)
    cjk = float(pair == "cjk")
    centre = calibration.centres[pair]
    cosine = evidence.cosine if evidence.cosine is not None else evidence.worst_cosine
    distance = 0.0 if cosine is None else (cosine - centre) / COSINE_UNIT
    best = 0.0 if evidence.best_cosine is None else (evidence.best_cosine - centre) / COSINE_UNIT
    level = bm25_level(evidence)
    share = (evidence.bm25 or 0.0) / evidence.best_bm25 if evidence.best_bm25 else 0.0
    below, alike = min(0.0, distance - best), evidence.likeness / COSINE_UNIT
    return [1 - cjk, cjk, distance * (1 - cjk), distance * cjk, below, share, share * level, level, alike]


def _coefficients(terms: Mapping[str, float]) -> Coefficients:
    return Coefficients(
        intercept={"latin": terms["latin"], "cjk": terms["cjk"]},
        cosine={"latin": terms["cosine latin"], "cjk": terms["cosine cjk"]},
        **{name: terms[name] for name in TERMS[4:]},
    )


def _fields(value: Any) -> dict[str, Any]:
    return {name: getattr(value, name) for name in type(value).__slots__}


def sense_cases(searched: Searched) -> list[tuple[int, bool, float, float]]:
    """Chunks searched, whether for a question, how far the best stands out, and the share of words it has.

    A question is asked of parts that hold a chunk that answers it.
    """
    found, dice = searched.found, random.Random(7)
    ids, vectors = [chunk.id for chunk in found.chunks], found.vectors
    words = [frozenset(tokens(search_text(chunk))) for chunk in found.chunks]
    place = {chunk_id: number for number, chunk_id in enumerate(ids)}
    cases = []
    for size in (*SIZES, len(ids)):
        for search in (*searched.judged[:SENSE_QUERIES], *searched.nonsense):
            part = [place[i] for i in sorted(search.relevant)[:1]]
            part += [
                number for number in dice.sample(range(len(ids)), min(size, len(ids))) if number not in part
            ]
            part = part[:size]
            cosines = vectors[part] @ search.asked
            out = standing_out(float(cosines.max()), float(cosines.mean()), len(part))
            asked = frozenset(content_tokens(search.text))
            looked_at = part
            if size == len(ids):
                top = (leg[:LOOKED_AT] for leg in search.legs.values())
                looked_at = [place[scored.chunk.id] for leg in top for scored in leg]
            share = max((len(asked & words[n]) for n in looked_at), default=0) / max(len(asked), 1)
            cases.append((size, bool(search.relevant), out or 0.0, share))
    return cases


def fitted_sense(sets: Sequence[Searched]) -> Sense:
    """Questions against gibberish, every set and size counting alike; then the floor."""
    rows, asked, weights = [], [], []
    for searched in sets:
        cases = sense_cases(searched)
        for size, is_question, out, share in cases:
            alike = sum(1 for case in cases if case[:2] == (size, is_question))
            rows.append([1.0, out, min(share, ENOUGH_WORDS) / ENOUGH_WORDS])
            asked.append(float(is_question))
            weights.append(0.5 / alike / (len(SIZES) + 1) / len(sets))
    w = solved(np.array(rows), np.array(asked), np.array(weights), np.array([0.0, 0.002, 0.002])).round(3)
    logits = np.array(rows) @ w
    floor = np.quantile(1.0 / (1.0 + np.exp(-logits[np.array(asked) == 0.0])), 1 - GIBBERISH_PASSED)
    return Sense(float(w[0]), float(w[1]), float(w[2]), round(float(floor), 2))


def relevance_table(sets: Mapping[str, Searched], calibration: Calibration, title: str) -> Table:
    """One row a set and strategy: how well relevance tells the passages found apart."""
    table = Table("set", "strategy", title=title, title_justify="left")
    for name in ("area under ROC", "best of a query: 1 %", "median", "median of the relevant", "of others"):
        table.add_column(name, justify="right")
    for name, searched in sets.items():
        for strategy in LEGS:
            relevant: list[float] = []
            others: list[float] = []
            for search in searched.judged:
                for i, evidence in search.evidence(strategy, calibration).items():
                    (relevant if i in search.relevant else others).append(calibration.relevance(evidence))
            best = np.array([search.best(strategy, calibration) for search in searched.judged])
            figures = (area_under_roc(relevant, others), np.percentile(best, 1), np.median(best), np.median(relevant), np.median(others))  # fmt: skip
            table.add_row(name, strategy, *(f"{figure:.3f}" for figure in figures))
    return table


def sense_table(sets: Mapping[str, Searched], sense: Sense, title: str) -> Table:
    """One row a set and number of chunks: questions kept, gibberish passed."""
    table = Table("set", title=title, title_justify="left")
    for name in ("chunks", "area under ROC", "questions kept", "gibberish passed"):
        table.add_column(name, justify="right")
    for name, searched in sets.items():
        cases = sense_cases(searched)
        for size in dict.fromkeys(case[0] for case in cases):
            asked, not_asked = ([sense.probability(*case[2:]) for case in cases if case[:2] == (size, is_question)] for is_question in (True, False))  # fmt: skip
            kept, passed = (np.mean([sense.is_met(*case[2:]) for case in cases if case[:2] == (size, is_question)]) for is_question in (True, False))  # fmt: skip
            table.add_row(name, f"{size:,}", f"{area_under_roc(asked, not_asked):.3f}", f"{kept:.3f}", f"{passed:.3f}")  # fmt: skip
    return table


def written(calibration: Calibration, of_pairs: Mapping[str, Levels]) -> str:
    """The calibration as the package keeps it, with the levels of the reference pairs, by which other models'
    cosines are read."""
    rounded = {pair: [round(value, 4) for value in held] for pair, held in of_pairs.items()}
    models = {name: _fields(model) for name, model in calibration.models.items()}
    lines = ",\n".join(f"    {json.dumps(name)}: {json.dumps(model)}" for name, model in models.items())
    centres, sense = json.dumps(dict(calibration.centres)), json.dumps(_fields(calibration.sense))
    model = f'  "model": {json.dumps(KeptEmbedding.name)},\n  "levels": {json.dumps(rounded)},\n'
    return f'{{\n{model}  "centres": {centres},\n  "sense": {sense},\n  "models": {{\n{lines}\n  }}\n}}\n'


async def run(data: Path, write: bool) -> int:
    missing = [name for name in (*FITTED, *REPORTED) if name not in available((name,), data)]
    if missing:
        print(f"error: {data} lacks {', '.join(missing)}; name the data with --data", file=sys.stderr)
        return 2
    with tempfile.TemporaryDirectory() as folder:
        sets = {
            name: await searched(name, Path(folder), data) for name in (*FITTED, *CHOOSING_VAULTS, *REPORTED)
        }
    calibration = fitted_calibration().calibration
    for strategy in LEGS:
        calibration = fitted([sets[name].judged for name in FITTED], strategy, calibration)
    calibration = fitted_centres([sets[name].judged for name in CHOOSING_VAULTS], calibration)
    for strategy in LEGS:
        calibration = fitted_intercepts(
            [sets[name].judged for name in (*FITTED, *CHOOSING_VAULTS)], strategy, calibration
        )
    sense = fitted_sense([sets[name] for name in FITTED])
    calibration = replace(calibration, sense=sense)
    out = Console(highlight=False, width=140)
    for title, names in (
        ("fitted on", FITTED),
        ("centres fitted on", CHOOSING_VAULTS),
        ("reported: not fitted on", REPORTED),
    ):
        chosen = {name: sets[name] for name in names}
        out.print(relevance_table(chosen, calibration, f"relevance of passages, {title}"))
        out.print(sense_table(chosen, sense, f"questions against gibberish, {title}; floor {sense.floor}"))
    kept = written(calibration, await levels(KeptEmbedding(CACHE)))
    out.print(kept, markup=False)
    if write:
        package = Path(__file__).parents[1] / "src/agentic_rag/models/multilingual-e5-small"
        (package / "calibration.json").write_text(kept, encoding="utf-8")
    return 0


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--data", type=Path, default=DATA, help="folder of the judged sets")
    parser.add_argument("--write", action="store_true", help="replace the calibration in the package")
    given = parser.parse_args()
    return asyncio.run(run(given.data, given.write))


if __name__ == "__main__":
    sys.exit(main())
