"""What every route works with: the open stores, and who may do how much."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from typing import Annotated, Any

from fastapi import Depends, Request
from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, ProcessCollector

from agentic_rag.rag import Rag
from agentic_rag.serving.access import Access, Caller
from agentic_rag.serving.conversations import Conversations
from agentic_rag.serving.jobs import Jobs
from agentic_rag.serving.limits import Places
from agentic_rag.serving.roots import AllowedRoots

SECONDS = (0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0)


@dataclass(slots=True)
class Metrics:
    """What /metrics tells: counts and times, by route; no text of questions or notes."""

    registry: CollectorRegistry = field(default_factory=CollectorRegistry)
    requests: Histogram = field(init=False)
    answers: Counter = field(init=False)
    jobs: Counter = field(init=False)
    running: Gauge = field(init=False)

    def __post_init__(self) -> None:
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
        self.jobs = Counter("agentic_rag_ingest_jobs", "Ingests started", registry=self.registry)
        self.running = Gauge(
            "agentic_rag_questions_running", "Questions running or waiting", registry=self.registry
        )


@dataclass(slots=True)
class Service:
    """Opened by the app's lifespan."""

    rag: Rag
    access: Access
    places: Places
    conversations: Conversations
    roots: AllowedRoots
    jobs: Jobs = field(default_factory=Jobs)
    metrics: Metrics = field(default_factory=Metrics)
    started: float = field(default_factory=time.time)
    closing: bool = False
    watched: dict[str, str] = field(default_factory=dict)
    """By dataset, the folders that it follows, and why it could not where that failed last."""


def service_of(request: Request) -> Service:
    """The open service of a request's app."""
    service: Any = getattr(request.app.state, "service", None)
    assert isinstance(service, Service), "the app's lifespan has not run"  # noqa: S101
    return service


def caller_of(request: Request) -> Caller:
    """Who a request is from; ``Refused`` where nobody known."""
    return service_of(request).access.caller(request.headers)


TheService = Annotated[Service, Depends(service_of)]
TheCaller = Annotated[Caller, Depends(caller_of)]
