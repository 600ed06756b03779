"""Liveness, readiness and metrics of the service, for load balancers and Prometheus."""

from __future__ import annotations

from fastapi import APIRouter, Request, Response
from fastapi.responses import JSONResponse
from prometheus_client import CONTENT_TYPE_LATEST
from pydantic import BaseModel

from agentic_rag_service.access import AccessRefusal
from agentic_rag_service.errors import ERROR_RESPONSES
from agentic_rag_service.limits import RETRY_AFTER
from agentic_rag_service.notes import dataset_names
from agentic_rag_service.service import TheCaller, TheService

router = APIRouter(tags=["health"])


class Alive(BaseModel):
    """Liveness."""

    status: str


@router.get("/healthz")
async def alive() -> Alive:
    """The process answers."""
    return Alive(status="ok")


class Unready(Alive):
    """Not ready for requests, and why."""

    stores: dict[str, str] = {}
    """Reason by the name of each store that cannot be used; addresses only for callers with a key."""


@router.get("/readyz", responses={503: {"model": Unready}})
async def ready(request: Request, service: TheService) -> JSONResponse:
    """Models are open, and the stores answer; 503 if one does not, and once the service is ending."""
    problems = {} if service.closing else await service.readiness.problems()
    if not service.closing and not problems:
        return JSONResponse({"status": "ok"})
    try:
        caller = service.access.caller(request.headers)
        problems = service.disclosure.values(caller, problems)
    except AccessRefusal:
        problems = dict.fromkeys(problems, "it cannot be used; the log says why")
    told = {"status": "ending"} if service.closing else {"status": "unready", "stores": problems}
    return JSONResponse(told, status_code=503, headers={"Retry-After": str(RETRY_AFTER)})


@router.get(
    "/metrics", responses={**ERROR_RESPONSES, 200: {"content": {"text/plain": {}}}}, response_class=Response
)
async def metrics(service: TheService, caller: TheCaller) -> Response:
    """Counts and times for Prometheus; of the datasets that the key may read."""
    datasets = await dataset_names(service.rag, caller)
    text = await service.metrics.text(service.rag, service.slots, datasets)
    return Response(text, media_type=CONTENT_TYPE_LATEST)
