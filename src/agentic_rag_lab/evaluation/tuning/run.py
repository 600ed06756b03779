"""Tuning: chooses settings on a user's labelled queries, and tests whether their gain is significant.

Both sources are searched once; everything else is replayed. By cross-validation, each query's reported value
comes from settings chosen without it. The settings to be written are then chosen on all queries.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from agentic_rag.domain.filters import parse_filters
from agentic_rag.domain.json_values import Json
from agentic_rag.domain.progress import Progress, in_this_loop, silent
from agentic_rag.errors import InputError
from agentic_rag.fusion.strategy_selector import parse_operation, select_fusion_algorithm
from agentic_rag.nodes.request import shorten
from agentic_rag.rag import Rag
from agentic_rag.retrieval.ports import SourceQuery
from agentic_rag.retrieval.sources import CANDIDATES, as_hit
from agentic_rag.settings.parameters import Parameters
from agentic_rag_lab.evaluation.datasets import EvalDataset, Selection
from agentic_rag_lab.evaluation.locomo import repair_lines
from agentic_rag_lab.evaluation.metrics import measure
from agentic_rag_lab.evaluation.run import dataset_of, first_repairs, ingest_documents
from agentic_rag_lab.evaluation.scores import as_figure
from agentic_rag_lab.evaluation.statistics import bootstrap_interval, randomisation_test
from agentic_rag_lab.evaluation.systems import DEFAULT_OPERATION
from agentic_rag_lab.evaluation.tuning.search import (
    SEARCHED_SETTINGS,
    Changes,
    CollectedQuery,
    Floats,
    Places,
    Replay,
    SettingsOutcome,
    abstention_threshold,
    carry_threshold,
    choose,
    folds_of,
    grid,
    nest,
    rightness,
)

ABSTAIN = "answer.abstain_below"
TUNED_SETTINGS = (*SEARCHED_SETTINGS, ABSTAIN)
"""Every setting that tuning may write, in display order."""
FEWEST = 10
"""Minimum number of labelled queries; below, no gain can be significant."""
SIGNIFICANT = 0.05


@dataclass(frozen=True, slots=True)
class TuneOptions(Selection):
    """The objective and the queries of a tuning."""

    measure: str = "mrr@10"
    """``NAME@K``; see ``metrics``."""
    anyway: bool = False
    """Write the chosen settings even without a significant gain."""


@dataclass(frozen=True, slots=True)
class Gain:
    """The value of tuned settings and of the defaults, on held-out queries."""

    default: dict[str, float]
    """``value``, ``low``, ``high``: mean and 95 % interval."""
    chosen: dict[str, float]
    difference: dict[str, float]
    """Mean and interval of the paired differences."""
    p: float
    """Two-sided paired randomisation test."""

    @property
    def beyond_chance(self) -> bool:
        """Whether p is below 0.05 and the interval of the difference above 0."""
        return self.p < SIGNIFICANT and self.difference["low"] > 0

    def to_dict(self) -> Json:
        """Plain values."""
        return {**asdict(self), "beyond_chance": self.beyond_chance}


@dataclass(frozen=True, slots=True)
class TuneReport:
    """The settings chosen on all queries, and the gain of this method on held-out queries."""

    dataset: str
    queries: int
    """Number of queries of the measure."""
    unanswerable: int
    operation: str
    """Operation of the queries; several are joined by a comma."""
    measure: str
    folds: int
    grouped: bool
    """Whether folds are whole search spaces (conversations)."""
    ranking: Gain
    abstention: Gain | None
    """Balanced accuracy of answering or abstaining; None if every query is answerable."""
    chosen: Json
    """The best settings other than defaults, by dotted name, without the thresholds."""
    settings: Json
    """The settings to be written, with thresholds; empty without a significant gain (unless ``anyway``)."""
    chosen_in_folds: list[Json]
    """By fold, the settings chosen without it."""
    repairs: tuple[str, ...]

    @property
    def beyond_chance(self) -> bool:
        """Whether the gain of ranking or of abstention is significant."""
        return self.ranking.beyond_chance or (self.abstention is not None and self.abstention.beyond_chance)

    def to_dict(self) -> Json:
        """Plain JSON values, deterministic for the same input."""
        data = "dataset queries unanswerable operation measure folds grouped".split()
        settings = "chosen settings chosen_in_folds".split()
        return {
            **{name: getattr(self, name) for name in data},
            "ranking": self.ranking.to_dict(),
            "abstention": None if self.abstention is None else self.abstention.to_dict(),
            "beyond_chance": self.beyond_chance,
            "defaults": default_settings(),
            **{name: getattr(self, name) for name in settings},
            "repairs": list(self.repairs),
        }


def default_settings() -> Json:
    """The default of every setting that tuning may write; None: unset."""
    plain = Parameters().model_dump(mode="json")
    return {name: plain[name.partition(".")[0]][name.partition(".")[2]] for name in TUNED_SETTINGS}


async def tune(rag: Rag, source: Path, options: TuneOptions, progress: Progress | None = None) -> TuneReport:
    """Choose settings on a labelled set; its documents are ingested (incrementally) first.

    Args:
        rag: open. Its settings apply to everything that is not tuned; tuned settings are compared with the program's
            defaults.
        source: see ``load_dataset``.
        options: objective and queries.
        progress: called with stage, done, total.

    Raises:
        InputError: an unknown measure or operation, too few labelled queries, or a rerank by a model is set.
    """
    progress = progress or silent
    _check(rag, options)
    _, loaded = await asyncio.to_thread(options.load, source)
    if len(loaded.ranked_queries) < FEWEST:
        raise InputError(
            f"{source} has {len(loaded.ranked_queries)} queries with a relevant document among those asked for; "
            f"at least {FEWEST} are needed to tell a gain from chance{first_repairs(loaded)}"
        )
    dataset = await asyncio.to_thread(dataset_of, loaded.source, loaded.kind)
    odd = await ingest_documents(rag, loaded, dataset, progress)
    collected = await collect(rag, loaded, dataset, options.operation, progress)
    stop = threading.Event()
    shown = in_this_loop(progress)

    def unless_stopped(stage: str, finished_work: int, total: int) -> None:
        if stop.is_set():
            raise _StopRun
        shown(stage, finished_work, total)

    replay = Replay(collected, _base(rag.config), loaded.unit, options.measure)
    try:
        return await asyncio.to_thread(
            _tune, replay, loaded, options, unless_stopped, repair_lines([*loaded.repairs, *odd])
        )
    finally:
        stop.set()  # after a cancellation the thread still runs


class _StopRun(Exception):
    """Ends the thread of a cancelled run."""


def _check(rag: Rag, options: TuneOptions) -> None:
    measure(options.measure, [], {"any": 1})
    if rag.config.rerank.method in ("chat", "cross_encoder"):
        raise InputError(
            f"rerank.method is {rag.config.rerank.method!r}, which tuning cannot replay; "
            "set it to 'offline' to tune the rerank that needs no model"
        )


def _base(config: Parameters) -> Parameters:
    """The current settings, with every tuned setting at its default."""
    plain = {name: getattr(config, name).model_dump() for name in Parameters.model_fields}
    return Parameters().override(plain).override(nest(tuple(default_settings().items())))


async def collect(
    rag: Rag, eval_dataset: EvalDataset, dataset: str, operation: str | None, progress: Progress
) -> list[CollectedQuery]:
    """Search both sources for every query, as in the graph's first pass."""
    queries = [query for query in eval_dataset.queries if query.relevant or not query.answerable]
    texts: dict[str, str] = {}
    collected = []
    for number, query in enumerate(queries, start=1):
        text = shorten(query.text)
        filters = eval_dataset.filters(query)
        graph = await rag.graph_engine.find(
            SourceQuery(dataset, text, filters=parse_filters(filters)), CANDIDATES
        )
        found = await rag.retrieval.search(dataset, text, CANDIDATES, filters=filters)
        vector = [as_hit(result, rank) for rank, result in enumerate(found, start=1)]
        for hit in (*graph.hits, *vector):  # share one text object per passage
            hit["content"] = texts.setdefault(hit["id"], hit["content"])
        asked = operation or query.operation or DEFAULT_OPERATION
        collected.append(
            CollectedQuery(
                query=query,
                text=text,
                operation=parse_operation(asked).value,
                graph=graph.hits,
                vector=vector,
                specificity=graph.question.get("specificity"),
                names=tuple(graph.question.get("names", ())),
            )
        )
        progress("ask", number, len(queries))
    return collected


@dataclass(frozen=True, slots=True)
class _Choice:
    """Settings chosen on some queries, and their values on all queries."""

    changes: Changes
    outcome: SettingsOutcome


def _tune(
    replay: Replay,
    eval_dataset: EvalDataset,
    options: TuneOptions,
    progress: Progress,
    repairs: Sequence[str],
) -> TuneReport:
    queries = [one.query for one in replay.collected_queries]
    everyone = np.arange(len(queries))
    folds = folds_of(queries)
    options_tried = grid()

    def chosen_on(train: Places) -> _Choice:
        changes = choose(replay, train, options_tried)
        return _Choice(changes, replay.outcome(changes))

    found = []
    for number, held in enumerate(folds):
        progress("search", number, len(folds) + 1)
        found.append(chosen_on(np.setdiff1d(everyone, held)))
    progress("search", len(folds), len(folds) + 1)
    final = chosen_on(everyone)
    default = replay.outcome(())
    held_out = _join_folds(folds, [choice.outcome.values for choice in found])
    ranking = _gain(default.values[replay.ranked_places], held_out[replay.ranked_places])
    taken, in_folds = final, found
    if not (ranking.beyond_chance or options.anyway):
        taken = _Choice((), default)
        in_folds = [taken] * len(folds)
    abstention = _abstention(replay, folds, in_folds)
    fitted = abstention is not None and (abstention.beyond_chance or options.anyway)
    progress("search", len(folds) + 1, len(folds) + 1)
    return TuneReport(
        dataset=eval_dataset.name,
        queries=replay.ranked_places.size,
        unanswerable=replay.unanswerable.size,
        operation=", ".join(sorted({one.operation for one in replay.collected_queries})),
        measure=options.measure,
        folds=len(folds),
        grouped=len({query.dataset_key for query in queries}) > 1,
        ranking=ranking,
        abstention=abstention,
        chosen=_in_order(_written_changes(replay, final.changes)),
        settings=_in_order({**_written_changes(replay, taken.changes), **_thresholds(replay, taken, fitted)}),
        chosen_in_folds=[_in_order(dict(choice.changes)) for choice in found],
        repairs=tuple(repairs),
    )


def _join_folds(folds: Sequence[Places], values: Sequence[Floats]) -> Floats:
    """For each query, the value of the settings chosen without it."""
    joined = np.full(sum(fold.size for fold in folds), np.nan)
    for fold, of_fold in zip(folds, values, strict=True):
        joined[fold] = of_fold[fold]
    return joined


def _gain(default: Floats, chosen_values: Floats, kinds: Floats | None = None) -> Gain:
    def figure(values: Floats) -> dict[str, float]:
        return as_figure(bootstrap_interval(values.tolist(), kinds=None if kinds is None else kinds.tolist()))

    return Gain(
        default=figure(default),
        chosen=figure(chosen_values),
        difference=figure(chosen_values - default),
        p=round(randomisation_test(chosen_values.tolist(), default.tolist()), 6),
    )


def _abstention(replay: Replay, folds: Sequence[Places], in_folds: Sequence[_Choice]) -> Gain | None:
    """For each fold, a threshold set on the other folds, compared with the default settings'."""
    if not replay.unanswerable.size:
        return None
    asked = np.sort(np.concatenate([replay.ranked_places, replay.unanswerable]))
    answerable = np.isin(asked, replay.ranked_places).astype(np.float64)
    everyone = np.arange(len(replay.collected_queries))
    thresholds = []
    for fold, choice in zip(folds, in_folds, strict=True):
        train = np.intersect1d(np.setdiff1d(everyone, fold), replay.ranked_places)
        seen = choice.outcome.confidences[train]
        floor = abstention_threshold(seen) if seen.size else replay.base.answer.abstain_below
        thresholds.append(np.full(everyone.size, floor))
    confidences = _join_folds(folds, [choice.outcome.confidences for choice in in_folds])
    default = replay.outcome(()).confidences
    return _gain(
        rightness(default[asked], answerable, replay.base.answer.abstain_below),
        rightness(confidences[asked], answerable, _join_folds(folds, thresholds)[asked]),
        answerable,  # strata: otherwise the weights of a resample would not sum to 1
    )


def _thresholds(replay: Replay, choice: _Choice, is_fitted: bool) -> dict[str, float]:
    """The threshold other than the default, on the score scale of the chosen settings."""
    before = replay.outcome(()).confidences[replay.ranked_places]
    after = choice.outcome.confidences[replay.ranked_places]
    default = replay.base.answer.abstain_below
    chosen = abstention_threshold(after) if is_fitted else carry_threshold(default, before, after)
    return {} if chosen == default else {ABSTAIN: chosen}


def _written_changes(replay: Replay, changes: Changes) -> Json:
    """The changes, without a strategy that is every query's default anyway."""
    settings = dict(changes)
    own = {select_fusion_algorithm(one.operation).value for one in replay.collected_queries}
    if own == {settings.get("fusion.strategy")}:
        del settings["fusion.strategy"]
    return settings


def _in_order(settings: Mapping[str, Any]) -> Json:
    return {name: settings[name] for name in TUNED_SETTINGS if name in settings}
