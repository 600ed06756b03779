"""Fits the calibration that ships with the embedding model; ``bench_retrieval.py`` judges it on other sets.

    python evaluation/fit_calibration.py [--data DIR] [--write]

Every query is searched as by the engine, with both legs of LanceDB. Each of its twenty best candidates is a case,
relevant or not, once with the relevant passages and once without them, so that the best result of a search
without an answer is a case too. Queries count alike in every set, and relevant and irrelevant passages alike in
every query: the prior odds are even. The centres of the cosines within a script come from the model's README and
stay; those of a question and a passage in different scripts are fitted last, on two vaults with notes in both,
and then the intercepts on all of these. The floor is fitted on questions and titles against nonsense (the half of
``datasets/nonsense`` for choosing), asked of whole sets and small parts of them; with the first halves of the
judged sets' questions, and all of the vaults' questions. Needs judged sets that are not part of this project (by
default in ../shared/data). ``--write`` replaces the calibration in the package.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import math
import random
import sys
import tempfile
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize

from agentic_rag.domain import search_text
from agentic_rag.domain.ports import FloatArray, Restriction, ScoredChunk
from agentic_rag.models.bundled import nats
from agentic_rag.retrieval.calibration import (
    COSINE_UNIT,
    ENOUGH_WORDS,
    MAX_WORD_SHARE,
    Calibration,
    Coefficients,
    Evidence,
    Sense,
    bm25_level,
    gather_evidence,
    likeness,
    script_pair,
)
from agentic_rag.retrieval.config import MIN_CANDIDATES
from agentic_rag.retrieval.embedding_calibration import (
    SCRIPTS,
    ModelMeasurements,
    fitted_calibration,
    measure_model,
)
from agentic_rag.retrieval.floor import NO_WORDS, cost, nearer, ordinary_cosine, standing_out
from agentic_rag.stores.lancedb.chunk_store import LanceChunkStore
from agentic_rag.stores.lancedb.connection import lance_connection
from agentic_rag.text import Script, content_tokens, script, script_beside, tokens
from agentic_rag_lab.evaluation.datasets import half_of
from figures import CALIBRATION, DATA, OWN
from judged_sets import (
    CACHE,
    CHOOSING_VAULTS,
    JudgedSet,
    KeptEmbedding,
    available,
    judged_set,
    vault_set,
)

FITTED = ("hotpot_train100", "musique_train100", "2wiki_train500", "cmrc2018/trial")
ACROSS = ("latin_cjk", "cjk_latin")
"""Pairs of scripts with a fitted centre; the question's script comes first."""
CENTRES = tuple(np.arange(0.74, 0.9, 0.01).round(2).tolist())
LEGS = {"hybrid": ("dense", "sparse"), "dense": ("dense",), "sparse": ("sparse",)}
QUERIES, CASES, ROUNDS, RIDGE = 500, 20, 3, 0.02
QUESTIONS_LOST = 0.003
"""Share of the questions and titles that the floor refuses, chosen from .002 to .015: the largest at which no question
of the two vaults is lost, asked of all notes or of those in one language. The lost ones are hard questions on small
parts."""
WORDS = 1.8
"""Weight, in steps, of a chunk with enough of the query's words, against the best cosine's distance from an ordinary
one. Chosen from 0 to 3.7: most doubt of questions on other vaults and everyday ones, with a vault's own unchanged."""
DOUBTED = 2.55
"""Log-odds below which results are doubted: .34 of the two vaults' own questions, as before."""
SIZES, SENSE_QUERIES, SENSE_TITLES = (1, 2, 4, 15, 60), 80, 60
"""Sizes of random parts, besides whole sets, because a floor must also hold for one note; queries and titles sampled."""
NONSENSE = OWN / "nonsense" / "nonsense.json"
TERMS = ("latin", "cjk", "cosine latin", "cosine cjk", "below_best", "bm25_share", "bm25_level", "bm25_best", "likeness")  # fmt: skip
USED = {"hybrid": TERMS, "dense": TERMS[:5], "sparse": (*TERMS[:2], *TERMS[5:8])}
Array = NDArray[np.float64]


@dataclass(frozen=True)
class Search:
    """The results of the legs for one query; ``relevant`` are chunk ids."""

    text: str
    asked: FloatArray
    legs: Mapping[str, Sequence[ScoredChunk]]
    relevant: frozenset[str]
    chunks: int
    """Number of searched chunks."""

    def without(self) -> Search:
        """The same without the relevant chunks."""
        legs = {n: [s for s in leg if s.chunk.id not in self.relevant] for n, leg in self.legs.items()}
        return Search(self.text, self.asked, legs, frozenset(), self.chunks)

    def evidence(self, strategy: str, calibration: Calibration) -> dict[str, Evidence]:
        """The evidence as the engine gathers it for a strategy."""
        legs = {name: self.legs[name] for name in LEGS[strategy]}
        if strategy != "hybrid":
            return gather_evidence(self.text, legs, chunks=self.chunks)
        vectors = {s.chunk.id: s.vector for leg in legs.values() for s in leg if s.vector is not None}
        found = gather_evidence(self.text, legs, vectors, self.asked, chunks=self.chunks)
        alike = likeness({i: calibration.logit(e) for i, e in found.items()}, vectors)
        return {i: Evidence(**{**_fields(e), "likeness": alike[i]}) for i, e in found.items()}


@dataclass(frozen=True)
class Searched:
    """A judged set with its search results."""

    found: JudgedSet
    judged: list[Search]


async def searched(name: str, folder: Path, data: Path) -> Searched:
    """A set's queries with their search results."""
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
        return Searched(found, judged)


def fitted(sets: Sequence[Sequence[Search]], strategy: str, start: Calibration) -> Calibration:
    """The calibration with a strategy's coefficients fitted; in rounds, because the candidates and their similarity to
    the best depend on the order that the coefficients give."""
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
    """Coefficients of a logistic model; rows of terms, outcomes 0 or 1, ``known``: log-odds added as an offset."""

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
    """The calibration with the centres of mixed script pairs that minimise the loss of a hybrid search."""
    calibration = start
    for pair in ACROSS:
        asked = pair.split("_")[0]
        those = [[search for search in searches if script(search.text) == asked] for searches in sets]
        at = [replace(calibration, centres={**calibration.centres, pair: centre}) for centre in CENTRES]
        calibration = min(at, key=lambda changed: _loss(those, changed))
    return calibration


def _loss(sets: Sequence[Sequence[Search]], calibration: Calibration) -> float:
    """Cross entropy of a hybrid search's relevance, over the cases of the fit."""
    rows, relevant, weights = _all_cases(sets, "hybrid", calibration)
    return cross_entropy(rows @ _weights(calibration.models["hybrid"]), relevant, weights)


def fitted_intercepts(sets: Sequence[Sequence[Search]], strategy: str, start: Calibration) -> Calibration:
    """The calibration with a strategy's intercepts fitted again; the order within one script does not change."""
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
    """Rows of terms, relevance, and weights, by query; the relevant passages have half of a query's weight."""
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


class SenseCase(NamedTuple):
    """One query asked of some chunks."""

    size: int
    """Size of the searched part; 0: all chunks, or all in one language."""
    world: str
    """``all``, or the script of the searched chunks."""
    kind: str
    """``question``, ``title`` or a kind of nonsense."""
    is_question: bool
    steps: float
    """Steps between the best cosine and an ordinary one."""
    chunks: int
    share: float
    """Largest share of the query's words in one chunk."""
    cost: float
    nearer: float
    given: float
    """Log-odds added for words that no chunk can have (see ``floor.NO_WORDS``)."""

    def terms(self) -> list[float]:
        """Terms as the calibration weighs them; words count WORDS steps."""
        words = WORDS * min(self.share, ENOUGH_WORDS) / ENOUGH_WORDS
        return [1.0, self.steps + words, math.sqrt(math.log(self.chunks + 1)), self.cost, self.nearer]


async def sense_cases(found: JudgedSet, ordinary: Mapping[str, FloatArray]) -> list[SenseCase]:
    """Questions, titles of documents as short questions, and nonsense, asked of parts of a set.

    A question or a title is asked of parts that contain a relevant chunk. Of sets other than vaults, only the
    first half of the questions is used.
    """
    dice, embedding, chunks = random.Random(7), KeptEmbedding(CACHE), found.chunks
    by_title: dict[str, list[int]] = {}
    by_document: dict[str, list[int]] = {}
    for number, chunk in enumerate(chunks):
        by_title.setdefault(chunk.title.strip(), []).append(number)
        by_document.setdefault(chunk.document_id, []).append(number)
    judged = [
        (query, vector)
        for query, vector in zip(found.queries, found.query_vectors, strict=True)
        if found.name in CHOOSING_VAULTS or half_of(query.id) == "first"
    ]
    asked: list[tuple[str, str, FloatArray, list[int] | None]] = [
        ("question", query.text, vector, [n for d, grade in query.relevant.items() if grade > 0 for n in by_document.get(d, ())])
        for query, vector in dice.sample(judged, min(len(judged), SENSE_QUERIES))
    ]  # fmt: skip
    named = sorted(set(by_title) - {""})
    titles = dice.sample(named, min(len(named), SENSE_TITLES))
    kinds = [
        (kind, text)
        for kind, texts in json.loads(NONSENSE.read_text("utf-8"))["choosing"].items()
        for text in texts
    ]
    vectors = await embedding.embed_queries([*titles, *(text for _, text in kinds)])
    asked += [("title", text, vector, by_title[text]) for text, vector in zip(titles, vectors, strict=False)]
    asked += [(*one, vector, None) for one, vector in zip(kinds, vectors[len(titles) :], strict=True)]
    worlds = {"all": list(range(len(chunks)))}
    if found.name in CHOOSING_VAULTS:
        worlds |= {name: [n for n in worlds["all"] if script(chunks[n].text) == name] for name in SCRIPTS}
    words, stacked, cases = [frozenset(tokens(search_text(chunk))) for chunk in chunks], found.vectors, []
    for world, there in worlds.items():
        for kind, text, vector, relevant in asked:
            answering = sorted(set(relevant or ()).intersection(there))
            if relevant is not None and not answering:
                continue
            cosines, wanted = stacked @ vector, frozenset(content_tokens(text))
            references = {name: float(vector @ mean) for name, mean in ordinary.items()}
            for size in (*SIZES, 0):
                if size >= len(there):
                    continue
                part = sorted(answering, key=lambda n: -cosines[n])[:1] if size else there
                if size:
                    part += [n for n in dice.sample(there, size) if n not in part]
                    part = part[:size]
                best = max(part, key=lambda n: cosines[n])
                said_in = "cjk" if script_beside(script(text), chunks[best].text) == "cjk" else "latin"
                top, mean = float(cosines[best]), float(cosines[part].mean())
                usual = ordinary_cosine(top, mean, len(part), references[said_in])
                share = max(len(wanted & words[n]) for n in part) / max(len(wanted), 1)
                cases.append(
                    SenseCase(
                        size, world, kind, relevant is not None, standing_out(top, usual), len(part), share,
                        cost(text, nats), nearer(usual, references.values()),
                        _given(script(text), [chunks[n].text for n in part]),
                    )
                )  # fmt: skip
    return cases


def _given(asked_in: Script, texts: Sequence[str]) -> float:
    """The term of ``floor`` if all texts are in another script."""
    pairs = {script_pair((asked_in, script_beside(asked_in, text))) for text in texts}
    return NO_WORDS.get(pairs.pop(), 0.0) if len(pairs) == 1 else 0.0


def fitted_sense(sets: Sequence[Sequence[SenseCase]], doubted: float) -> Sense:
    """Fits questions against nonsense, without cases that have MAX_WORD_SHARE of their words in one chunk; then the floor.

    Every set, size, world and kind counts alike. ``doubted`` was chosen, see DOUBTED.
    """
    rows, asked, weights, exempt, given = [], [], [], [], []
    for cases in sets:
        alike = Counter((case.size, case.world, case.is_question, case.kind) for case in cases)
        kinds = Counter(key[:3] for key in alike)
        for case in cases:
            key = case.size, case.world, case.is_question, case.kind
            rows.append(case.terms())
            given.append(case.given)
            asked.append(float(case.is_question))
            exempt.append(case.share >= MAX_WORD_SHARE)
            weights.append(1.0 / alike[key] / kinds[key[:3]])
    table, is_question, excepted = np.array(rows), np.array(asked), np.array(exempt)
    weight = np.array(weights) / sum(weights)
    known, told, ridge = np.array(given), ~excepted, np.array([0.0, *[2e-5] * 4])
    w = solved(table[told], is_question[told], weight[told], ridge, known[told]).round(3)
    logits = np.where(excepted, np.inf, known + table @ w)
    floor = float(np.quantile(logits[is_question == 1.0], QUESTIONS_LOST))
    intercept, steps, by_chance, of_cost, of_nearer = w.tolist()
    return Sense(
        intercept, steps, by_chance, round(WORDS * steps, 3), of_cost, of_nearer, round(floor, 2), doubted
    )


def written(calibration: Calibration, of_pairs: ModelMeasurements) -> str:
    """The calibration in the package's format, with the levels of the reference pairs."""
    rounded = {pair: [round(value, 4) for value in held] for pair, held in of_pairs.levels.items()}
    models = {name: _fields(model) for name, model in calibration.models.items()}
    lines = ",\n".join(f"    {json.dumps(name)}: {json.dumps(model)}" for name, model in models.items())
    centres, sense = json.dumps(dict(calibration.centres)), json.dumps(_fields(calibration.sense))
    means = ",\n".join(
        f"    {json.dumps(name)}: {json.dumps([round(value, 5) for value in mean.tolist()])}"
        for name, mean in of_pairs.ordinary.items()
    )
    model = f'  "model": {json.dumps(KeptEmbedding.name)},\n  "levels": {json.dumps(rounded)},\n'
    graph = json.dumps(_fields(fitted_calibration().graph))  # fitted by fit_graph.py
    return f'{{\n{model}  "centres": {centres},\n  "sense": {sense},\n  "graph": {graph},\n  "models": {{\n{lines}\n  }},\n  "ordinary": {{\n{means}\n  }}\n}}\n'


async def run(data: Path, write: bool) -> int:
    missing = [name for name in FITTED if name not in available((name,), data)]
    if missing:
        print(f"error: {data} lacks {', '.join(missing)}; name the data with --data", file=sys.stderr)
        return 2
    with tempfile.TemporaryDirectory() as folder:
        sets = {name: await searched(name, Path(folder), data) for name in (*FITTED, *CHOOSING_VAULTS)}
    calibration = fitted_calibration().calibration
    for strategy in LEGS:
        calibration = fitted([sets[name].judged for name in FITTED], strategy, calibration)
    calibration = fitted_centres([sets[name].judged for name in CHOOSING_VAULTS], calibration)
    for strategy in LEGS:
        calibration = fitted_intercepts(
            [sets[name].judged for name in (*FITTED, *CHOOSING_VAULTS)], strategy, calibration
        )
    of_pairs = await measure_model(KeptEmbedding(CACHE))
    choosing = [
        await sense_cases(sets[name].found, of_pairs.ordinary) for name in (*FITTED, *CHOOSING_VAULTS)
    ]
    calibration = replace(calibration, sense=fitted_sense(choosing, DOUBTED))
    kept = written(calibration, of_pairs)
    print(kept)
    if write:
        CALIBRATION.write_text(kept, encoding="utf-8")
    return 0


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--data", type=Path, default=DATA, help="folder of the judged sets")
    parser.add_argument("--write", action="store_true", help="replace the calibration in the package")
    given = parser.parse_args()
    return asyncio.run(run(given.data, given.write))


if __name__ == "__main__":
    sys.exit(main())
