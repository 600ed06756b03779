"""Prometheus metrics: counts and times by route, and the state of stores and models; no user text."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Sequence
from contextlib import suppress

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, ProcessCollector, generate_latest

from agentic_rag.answer import Answer
from agentic_rag.domain.ports import CacheStatistics, StoreStats
from agentic_rag.errors import AgenticRagError
from agentic_rag.rag import Rag
from agentic_rag_service.limits import QuestionSlots

SECONDS = (0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0)
LAGS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1.0)
CHECKED_EVERY = 0.02
"""Seconds between two measurements of the event loop's delay."""
LOOKED_AT_EVERY = 60.0
"""Seconds between two reads of a dataset's table statistics, which read files."""


class Metrics:
    """The metrics of one service since its start."""

    def __init__(self) -> None:
        self.registry = CollectorRegistry()
        ProcessCollector(registry=self.registry)
        self.requests = Histogram(
            "agentic_rag_request_seconds",
            "Time of requests",
            ["method", "route", "status"],
            registry=self.registry,
            buckets=SECONDS,
        )
        self.answers = Counter(
            "agentic_rag_answers", "Questions answered", ["operation", "abstained"], registry=self.registry
        )
        self.degraded_answers = Counter(
            "agentic_rag_degraded",
            "Answers that a source or a step with a model was missing from",
            ["part"],
            registry=self.registry,
        )
        self.jobs = Counter("agentic_rag_ingest_jobs", "Ingests started", registry=self.registry)
        self.lag = Histogram(
            "agentic_rag_event_loop_lag_seconds",
            "How late the event loop was, looked at all the time",
            registry=self.registry,
            buckets=LAGS,
        )
        self._looks: dict[str, tuple[float, list[StoreStats]]] = {}

    async def watch_the_loop(self) -> None:
        """Measure the event loop's delay until cancelled; a blocked loop delays every request."""
        while True:
            began = time.perf_counter()
            await asyncio.sleep(CHECKED_EVERY)
            self.lag.observe(max(0.0, time.perf_counter() - began - CHECKED_EVERY))

    def count_answer(self, answer: Answer) -> None:
        """Count an answer."""
        self.answers.labels(answer.operation, str(answer.abstained).lower()).inc()
        for part, outcome in answer.outcomes.items():
            if isinstance(outcome, dict) and outcome["status"] == "degraded":
                self.degraded_answers.labels(part).inc()

    async def text(self, rag: Rag, slots: QuestionSlots, datasets: Sequence[str]) -> bytes:
        """All metrics in Prometheus's text format.

        Args:
            rag: source of the statistics of stores and models.
            slots: the limits on questions.
            datasets: the datasets that the caller may see.
        """
        now = CollectorRegistry()
        questions = Gauge("agentic_rag_questions", "Questions by what they do", ["state"], registry=now)
        questions.labels("running").set(slots.running)
        questions.labels("waiting").set(slots.used_slots - slots.running)
        _models(rag, now)
        await self._stores(rag, datasets, now)
        return generate_latest(self.registry) + generate_latest(now)

    async def _stores(self, rag: Rag, datasets: Sequence[str], registry: CollectorRegistry) -> None:
        labels = ["dataset", "table"]
        rows = Gauge("agentic_rag_table_rows", "Rows of a table", labels, registry=registry)
        fragments = Gauge("agentic_rag_table_fragments", "Pieces its rows lie in", labels, registry=registry)
        unindexed = Gauge(
            "agentic_rag_table_unindexed_rows", "Rows not yet in an index", labels, registry=registry
        )
        bytes_ = Gauge("agentic_rag_table_bytes", "On disk", labels, registry=registry)
        for dataset in datasets:
            for table in (table for stats in await self._look(rag, dataset) for table in stats.tables):
                place = (dataset, table.name)
                rows.labels(*place).set(table.rows)
                unindexed.labels(*place).set(table.unindexed_rows)
                if table.fragments is not None:
                    fragments.labels(*place).set(table.fragments)
                if table.size_bytes is not None:
                    bytes_.labels(*place).set(table.size_bytes)

    async def _look(self, rag: Rag, dataset: str) -> list[StoreStats]:
        """Statistics of the stores, at most LOOKED_AT_EVERY seconds old; a failing store is left out."""
        at, found = self._looks.get(dataset, (0.0, []))
        if time.monotonic() - at > LOOKED_AT_EVERY or not found:
            found = []
            for store in (rag.chunks, rag.knowledge):
                with suppress(AgenticRagError):
                    found.append(await store.stats(dataset))
            self._looks[dataset] = time.monotonic(), found
        return found


def _models(rag: Rag, registry: CollectorRegistry) -> None:
    used = rag.spending.total_usage
    calls = Gauge("agentic_rag_model_calls", "Calls of models behind endpoints", registry=registry)
    calls.set(used.calls)
    tokens = Gauge("agentic_rag_model_tokens", "Their tokens", ["kind"], registry=registry)
    for kind in ("prompt", "completion", "embedded"):
        tokens.labels(kind).set(getattr(used, f"{kind}_tokens"))
    Gauge("agentic_rag_model_cost", "Their cost, by the prices that are set", registry=registry).set(
        used.cost
    )
    if isinstance(rag.embedding, CacheStatistics):
        cache = Gauge(
            "agentic_rag_question_vectors",
            "Questions by where their vector came from",
            ["from"],
            registry=registry,
        )
        for name, count in rag.embedding.cache_uses.items():
            cache.labels("cache" if name == "found" else "model").set(count)
