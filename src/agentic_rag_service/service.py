"""The parts that every route needs: the open stores, access control, limits."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from typing import Annotated, Any

from fastapi import Depends, Request

from agentic_rag.rag import Rag
from agentic_rag_service.access import Access, Caller, OnlyAnswers
from agentic_rag_service.conversations import Conversations
from agentic_rag_service.disclosure import Disclosure
from agentic_rag_service.jobs import Jobs
from agentic_rag_service.limits import QuestionSlots
from agentic_rag_service.metrics import Metrics
from agentic_rag_service.openai.answers import GivenAnswers
from agentic_rag_service.readiness import Readiness
from agentic_rag_service.roots import AllowedRoots


@dataclass(slots=True)
class Service:
    """The open parts of a service; the app's lifespan opens them."""

    rag: Rag
    access: Access
    slots: QuestionSlots
    conversations: Conversations
    roots: AllowedRoots
    readiness: Readiness
    jobs: Jobs = field(default_factory=Jobs)
    metrics: Metrics = field(default_factory=Metrics)
    given_answers: GivenAnswers = field(default_factory=GivenAnswers)
    start_time: float = field(default_factory=time.time)
    closing: bool = False
    """Shutdown has begun: the service still answers but is no longer ready."""
    watched_folders: dict[str, str] = field(default_factory=dict)
    """Names of the followed folders by dataset; after a failure followed by its reason."""
    disclosure: Disclosure = field(init=False)

    def __post_init__(self) -> None:
        self.disclosure = Disclosure(self.rag, self.roots)


def service_of(request: Request) -> Service:
    """The open service of the request's app; raises ``RuntimeError`` before its lifespan has run."""
    service: Any = getattr(request.app.state, "service", None)
    if not isinstance(service, Service):
        raise RuntimeError(
            "the service is not open: the lifespan of its app has not run (see app.mounted_at)"
        )
    return service


def writer_of(request: Request) -> Service:
    """``service_of``; raises ``OnlyAnswers`` on a replica: another process fills the datasets and has jobs,
    uploads, reviews."""
    service = service_of(request)
    if not service.rag.config.service.writes:
        raise OnlyAnswers
    return service


def caller_of(request: Request) -> Caller:
    """The caller of a request; raises ``AccessRefusal`` if unknown."""
    caller: Caller = service_of(request).access.caller(request.headers)
    request.state.caller = caller
    return caller


TheService = Annotated[Service, Depends(service_of)]
TheWriter = Annotated[Service, Depends(writer_of)]
TheCaller = Annotated[Caller, Depends(caller_of)]
