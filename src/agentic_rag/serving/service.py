"""What every route works with: the open stores, and who may do how much."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from typing import Annotated, Any

from fastapi import Depends, Request

from agentic_rag.rag import Rag
from agentic_rag.serving.access import Access, Caller, OnlyAnswers
from agentic_rag.serving.conversations import Conversations
from agentic_rag.serving.jobs import Jobs
from agentic_rag.serving.limits import Places
from agentic_rag.serving.metrics import Metrics
from agentic_rag.serving.readiness import Readiness
from agentic_rag.serving.roots import AllowedRoots


@dataclass(slots=True)
class Service:
    """Opened by the app's lifespan."""

    rag: Rag
    access: Access
    places: Places
    conversations: Conversations
    roots: AllowedRoots
    readiness: Readiness
    jobs: Jobs = field(default_factory=Jobs)
    metrics: Metrics = field(default_factory=Metrics)
    started: float = field(default_factory=time.time)
    closing: bool = False
    """It was told to end: it still answers, and is no longer ready."""
    watched: dict[str, str] = field(default_factory=dict)
    """By dataset, the folders that it follows, and why it could not where that failed last."""


def service_of(request: Request) -> Service:
    """The open service of a request's app."""
    service: Any = getattr(request.app.state, "service", None)
    assert isinstance(service, Service), "the app's lifespan has not run"  # noqa: S101
    return service


def writer_of(request: Request) -> Service:
    """The same; ``OnlyAnswers`` where another replica fills the datasets, and has the jobs, uploads and reviews."""
    service = service_of(request)
    if not service.rag.config.service.writes:
        raise OnlyAnswers
    return service


def caller_of(request: Request) -> Caller:
    """Who a request is from; ``Refused`` where nobody known."""
    return service_of(request).access.caller(request.headers)


TheService = Annotated[Service, Depends(service_of)]
TheWriter = Annotated[Service, Depends(writer_of)]
TheCaller = Annotated[Caller, Depends(caller_of)]
