"""Evaluation, the run: ingest the documents of the queries, run every system, score with intervals."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from contextlib import aclosing
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from agentic_rag.domain.identity import digest
from agentic_rag.domain.json_values import Json
from agentic_rag.domain.progress import Progress, silent
from agentic_rag.domain.usage import UsageValues, counting
from agentic_rag.errors import InputError
from agentic_rag.fusion.strategy_selector import parse_operation
from agentic_rag.rag import Rag
from agentic_rag.rerank import BY_MODEL
from agentic_rag.settings.config import ChatConfig, EmbeddingConfig
from agentic_rag.settings.parameters import Parameters
from agentic_rag.workers import Workers, join_workers
from agentic_rag_lab.evaluation.asking import OpenSystems, Question, open_systems, records
from agentic_rag_lab.evaluation.beam_scores import score
from agentic_rag_lab.evaluation.datasets import EvalDataset, EvalQuery, Selection, absent
from agentic_rag_lab.evaluation.locomo import Repair, repair_lines
from agentic_rag_lab.evaluation.records import DEPTH, Record, Records, file_name, fingerprint, versions
from agentic_rag_lab.evaluation.report import EvalReport
from agentic_rag_lab.evaluation.scores import (
    abstention_figures,
    degenerate_rankings,
    mean_figures,
    measure_all,
    not_mentioned,
    system_figures,
)
from agentic_rag_lab.evaluation.systems import DEFAULT_OPERATION, NO_CLOCK, Systems, Task, is_whole

ASKED_TOGETHER = 8
"""Questions per task of a worker."""
RECORDS = "evaluation"
"""Subfolder of the data folder with the records."""


@dataclass(frozen=True, slots=True)
class EvalOptions(Selection):
    """The options of an evaluation."""

    systems: Sequence[str]
    """See ``systems``; at least one."""
    baseline: str | None = None
    """System for comparisons; None: the first."""
    records: Path | None = None
    """File of the records; None: in the data folder, named after the fingerprint."""
    fresh: bool = False
    """Run all questions again, including those with saved answers."""
    engine: str = "local"
    """Engine for ingest and questions; see ``Rag.ingest``. With concurrent workers each answer takes longer."""
    address: str | None = None
    """Address of a Ray cluster's head."""


async def evaluate(
    rag: Rag, source: Path, options: EvalOptions, progress: Progress | None = None
) -> EvalReport:
    """Score systems on a BEIR directory, LoCoMo file or BEAM conversation; its documents are ingested
    (incrementally) first.

    Each answer is stored at once; after an interruption the same call resumes. The same input gives the same
    report, except for ``latency_ms``.

    Args:
        rag: open; the documents go to a separate dataset, named after the source's path.
        source: see ``load_dataset``.
        options: options of the run.
        progress: called with stage, done, total.

    Raises:
        InputError: an unknown system, operation, baseline or half, or a source without judged queries.
    """
    progress = progress or silent
    systems = Systems(rag)
    names = list(dict.fromkeys(options.systems))
    baseline = _check(systems, names, options)
    loaded, chosen = await asyncio.to_thread(options.load, source)
    ranked, unanswerable = chosen.ranked_queries, chosen.unanswerable_queries
    if not ranked:
        raise InputError(
            f"{source} has no query with a relevant document among those asked for{first_repairs(loaded)}"
        )
    dataset = await asyncio.to_thread(dataset_of, loaded.source, loaded.kind)
    odd = await ingest_documents(rag, loaded, dataset, progress, options.engine, options.address)
    settings = _settings(rag, options)
    kept = await asyncio.to_thread(_records, rag, loaded, options, settings)
    pairs = [(name, query) for query in ranked for name in names]
    pairs += [(name, query) for query in unanswerable for name in names if is_whole(name)]
    due = [(name, query) for name, query in pairs if not kept.is_settled(name, query.id)]
    questions = [
        Question(name, _task(query, chosen, dataset, options.operation), chosen.unit) for name, query in due
    ]
    known = len(pairs) - len(due)
    told = _AnswerProgress(progress, known, len(pairs))
    with counting() as used:
        async with join_workers(options.engine, options.address) as workers:
            await _ask(rag, systems, questions, kept, told, workers)
    answers = {name: _of(kept, name, ranked) for name in names}
    progress("score", 0, 1)
    report = EvalReport(
        dataset=loaded.name,
        queries=len(ranked),
        baseline=baseline,
        systems=await asyncio.to_thread(system_figures, ranked, answers, baseline),
        abstention=await asyncio.to_thread(_abstention, names, kept, ranked, unanswerable),
        beam=await asyncio.to_thread(_beam, chosen, answers),
        degenerate=_degenerate(chosen),
        repairs=tuple(repair_lines([*loaded.repairs, *odd])),
        settings=settings,
        versions=versions(),
        records=kept.path,
        reused_answers=known,
        usage=used.to_dict() if used.calls else UsageValues(),
    )
    progress("score", 1, 1)
    return report


def first_repairs(eval_dataset: EvalDataset) -> str:
    """A possible reason for too few queries: the number of repairs, and the first of each kind."""
    if not eval_dataset.repairs:
        return ""
    kinds = {repair.note: repair for repair in reversed(eval_dataset.repairs)}
    shown = "; ".join(repair_lines(list(kinds.values())[::-1][:4]))
    return f"; {len(eval_dataset.repairs)} repairs were needed: {shown}"


def _check(systems: Systems, names: Sequence[str], options: EvalOptions) -> str:
    """The baseline; raises ``InputError`` for invalid options."""
    systems.check(names)
    baseline = names[0] if options.baseline is None else options.baseline
    if baseline not in names:
        raise InputError(f"the baseline {baseline!r} is not among the systems: {', '.join(names)}")
    return baseline


def dataset_of(source: Path, kind: str = "auto") -> str:
    """One dataset per source and control, so that the next evaluation of it need not ingest it again."""
    control = [kind] if kind == "beam-control" else []
    return f"eval-{digest(str(source.resolve()), *control, size=6)}"


async def ingest_documents(
    rag: Rag,
    eval_dataset: EvalDataset,
    dataset: str,
    progress: Progress,
    engine: str = "local",
    address: str | None = None,
) -> list[Repair]:
    """Ingest the documents; repairs for those that failed, and for relevant ids that do not exist."""
    report = await rag.ingest(
        eval_dataset.source,
        dataset=dataset,
        kind=eval_dataset.kind,
        progress=progress,
        engine=engine,
        address=address,
    )
    lost = [
        Repair(_within(file.path, eval_dataset.source), "", (), f"not ingested: {file.reason}")
        for file in report.files
        if file.action in ("failed", "skipped")
    ]
    if dataset not in await rag.chunks.datasets():
        told_why = f": {'; '.join(repair_lines(lost[:3]))}" if lost else ""
        raise InputError(f"{eval_dataset.source} holds no document{told_why}")
    wanted = {relevant for query in eval_dataset.queries for relevant in query.relevant}
    if eval_dataset.unit == "document":
        there = await rag.chunks.document_ids(dataset)
    else:
        there = set(await rag.chunks.get_chunks(dataset, sorted(wanted)))
    if wanted and wanted.isdisjoint(there):
        named = (
            f"; documents are called like {min(there)!r}" if eval_dataset.unit == "document" and there else ""
        )
        raise InputError(
            f"none of the {len(wanted)} judged {eval_dataset.unit}s is in {eval_dataset.source}, {min(wanted)!r} for one{named}"
        )
    reported = {(repair.query_id, repair.original_text) for repair in eval_dataset.repairs}
    missing = absent(eval_dataset.queries, there, "relevant, but nothing of it was ingested")
    return lost + [repair for repair in missing if (repair.query_id, repair.original_text) not in reported]


def _settings(rag: Rag, options: EvalOptions) -> Json:
    """Settings that the scores depend on; plain values without secrets or local paths."""
    config, limitless = rag.config, rag.config.override(NO_CLOCK)
    sections = {name: getattr(limitless, name).model_dump(mode="json") for name in Parameters.model_fields}
    return {
        **sections,
        "vectors": config.vectors.backend,
        "graph": {"backend": config.graph.backend, "extraction": config.graph.extraction},
        "embedding": {"name": rag.embedding.name, **_of_model(config.embedding)},
        "chat": None if rag.chat is None else {"name": _model_name(rag.chat), **_of_model(config.chat)},
        "reranker": _reranker(rag),
        "operation": None if options.operation is None else parse_operation(options.operation).value,
        "split": options.split,
        "control": options.control,
        "half": options.half,
        "limit": options.limit,
    }


def _within(path: str, source: Path) -> str:
    """Path relative to the source; the source itself by its name."""
    inner = path.removeprefix(str(source)).lstrip("/")
    return inner if inner and inner != path.lstrip("/") else Path(path).name


def _reranker(rag: Rag) -> str | None:
    """The model of ``rerank.method``; a model passed by the caller is not in the settings."""
    if rag.config.rerank.method not in BY_MODEL or rag.parts.rerankers is None:
        return None
    return _model_name(rag.parts.rerankers.model(rag.config.rerank))


def _model_name(model: object) -> str:
    """The model's ``name``; else the name of its class."""
    name = getattr(model, "name", None)
    return name if isinstance(name, str) else type(model).__name__


def _of_model(section: EmbeddingConfig | ChatConfig) -> Json:
    """The settings that a model's output depends on."""
    without = {"base_url", "model", "api_key", "price", "input_price", "output_price", "timeout_seconds"}
    return section.model_dump(mode="json", exclude=without)


def _records(
    rag: Rag, eval_dataset: EvalDataset, options: EvalOptions, settings: Mapping[str, Any]
) -> Records:
    """The records. The choice of queries changes no answer, so runs over different numbers share their records."""
    lasting = {name: value for name, value in settings.items() if name not in ("split", "half", "limit")}
    servers = [section.base_url for section in (rag.config.embedding, rag.config.chat)]
    mark = fingerprint(eval_dataset, {**lasting, "servers": servers})
    path = options.records or rag.config.data_dir / RECORDS / file_name(eval_dataset.name, mark)
    return Records(path, mark, fresh=options.fresh)


def _task(query: EvalQuery, chosen_dataset: EvalDataset, dataset: str, operation: str | None) -> Task:
    return Task(
        query, dataset, chosen_dataset.filters(query), operation or query.operation or DEFAULT_OPERATION
    )


class _AnswerProgress:
    """Reports the number of answers."""

    def __init__(self, progress: Progress, known_count: int, total: int) -> None:
        self._progress, self._finished_count, self._total = progress, known_count, total
        progress("ask", known_count, total)

    def add(self, more: int) -> None:
        self._finished_count += more
        self._progress("ask", self._finished_count, self._total)


async def _ask(
    rag: Rag,
    systems: Systems,
    questions: Sequence[Question],
    answer_records: Records,
    progress: _AnswerProgress,
    workers: Workers | None,
) -> None:
    """Ask questions without a stored answer, or with one that a failure affected.

    Systems take turns, so that other load on the machine affects all of them.
    """
    if workers is None:
        here = OpenSystems(systems)
        for question in questions:
            answer_records.add(await here.record(question))
            progress.add(1)
        return
    shares = [questions[n : n + ASKED_TOGETHER] for n in range(0, len(questions), ASKED_TOGETHER)]
    opened = partial(open_systems, rag.config, rag.given_embedding)
    async with aclosing(workers.stream(opened, records, shares, "asking")) as answered:
        async for some in answered:
            for record in some:
                answer_records.add(record)
            progress.add(len(some))


def _of(records: Records, name: str, queries: Sequence[EvalQuery]) -> list[Record]:
    return [record for query in queries if (record := records.get(name, query.id)) is not None]


def _abstention(
    names: Sequence[str],
    records: Records,
    ranked_queries: Sequence[EvalQuery],
    unanswerable: Sequence[EvalQuery],
) -> Json:
    """Abstention scores of each system that can abstain; empty if every query is answerable."""
    if not unanswerable:
        return {}
    figures = {
        name: abstention_figures(_of(records, name, ranked_queries), _of(records, name, unanswerable))
        for name in names
        if is_whole(name)
    }
    return {"answerable": len(ranked_queries), "unanswerable": len(unanswerable), "systems": figures}


def _beam(chosen_dataset: EvalDataset, answers: Mapping[str, Sequence[Record]]) -> Json:
    """By system: ``beam_scores.score`` of the ranked questions; empty for other data."""
    questions = [
        chosen_dataset.beam[query.id]
        for query in chosen_dataset.ranked_queries
        if query.id in chosen_dataset.beam
    ]
    if not questions:
        return {}
    return {
        name: score(questions, [[_message(chunk) for chunk in record.ranking] for record in records])
        for name, records in answers.items()
    }


def _message(chunk: str) -> str:
    """The message of a chunk, which may be a part of it."""
    return chunk.rpartition("#")[2]


def _degenerate(chosen_dataset: EvalDataset) -> Json:
    """Scores of baselines without a search; see ``scores.degenerate_rankings``."""
    ranked, unanswerable = chosen_dataset.ranked_queries, chosen_dataset.unanswerable_queries
    found: Json = {}
    rankings = degenerate_rankings(ranked, chosen_dataset.sessions, depth=DEPTH)
    if rankings:
        found["ranking"] = {
            name: mean_figures(measure_all(ranked, given)) for name, given in rankings.items()
        }
    if unanswerable:
        found["abstention"] = {"not_mentioned": not_mentioned(len(ranked), len(unanswerable))}
    return found
