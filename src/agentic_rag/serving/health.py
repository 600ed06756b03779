"""Whether the service lives, is ready, and what it has done: for load balancers and Prometheus."""

from __future__ import annotations

from fastapi import APIRouter, Response
from fastapi.responses import JSONResponse
from prometheus_client import CONTENT_TYPE_LATEST
from pydantic import BaseModel

from agentic_rag.serving.errors import DOCUMENTED
from agentic_rag.serving.service import TheCaller, TheService

router = APIRouter(tags=["health"])


class Alive(BaseModel):
    """That it answers."""

    status: str


@router.get("/healthz")
async def alive() -> Alive:
    """The process answers."""
    return Alive(status="ok")


@router.get("/readyz", responses={503: {"model": Alive}})
async def ready(service: TheService) -> JSONResponse:
    """Stores and models are open; 503 once the service is ending."""
    if service.closing:
        return JSONResponse({"status": "ending"}, status_code=503)
    return JSONResponse({"status": "ok"})


@router.get(
    "/metrics", responses={**DOCUMENTED, 200: {"content": {"text/plain": {}}}}, response_class=Response
)
async def metrics(service: TheService, caller: TheCaller) -> Response:
    """Counts and times for Prometheus; of the datasets that the key may read."""
    datasets = [name for name in await service.rag.ledger.datasets() if caller.may(name)]
    text = await service.metrics.text(service.rag, service.places, datasets)
    return Response(text, media_type=CONTENT_TYPE_LATEST)
