"""Search one source. It gives its hits and an honest outcome, whatever happens."""

from __future__ import annotations

import asyncio
import logging
import time

from agentic_rag.channels import shortened_hits
from agentic_rag.domain import Findings, Hit
from agentic_rag.errors import InputError, ManifestMismatch, RunError
from agentic_rag.fusion.strategy_selector import CanvasOperation
from agentic_rag.nodes.request import Request
from agentic_rag.retrieval.ports import SourceQuery
from agentic_rag.retrieval.sources import Source
from agentic_rag.state import CanvasRAGState, Outcome

READY_SECONDS = 60.0
"""Time that a source may take once, before its first search. A model without a fitted calibration embeds its
reference pairs then, which takes a slow model longer than a search."""

logger = logging.getLogger(__name__)


async def retrieve(state: CanvasRAGState, *, name: str, source: Source | None) -> dict[str, object]:
    """Writes ``NAME_results`` and ``NAME_outcome``: no hits, and None, where there is no source to ask."""
    if source is None:
        return not_asked(name)
    request = Request.of(state)
    query = query_of(request, state["search_query"])
    hits, outcome = await search_source(source, query, request.parameters.retrieval.timeout_seconds)
    shown = shortened_hits(hits, request.top_k) if source.is_chunk_store else hits
    return {f"{name}_results": shown, f"{name}_outcome": outcome}


def not_asked(name: str) -> dict[str, object]:
    """The keys of a source that is not asked."""
    return {f"{name}_results": [], f"{name}_outcome": None}


def query_of(request: Request, text: str) -> SourceQuery:
    """The query of a pass that searches for ``text``."""
    return SourceQuery(
        request.dataset,
        text,
        request.question,
        request.user_id,
        request.filters,
        request.as_of,
        # The mistake notes that ``check`` wrote.
        own_notes=request.operation is CanvasOperation.WEAK_POINT_CLUSTERING,
    )


async def search_source(
    source: Source, query: SourceQuery, timeout_seconds: float
) -> tuple[list[Hit], Outcome]:
    """Run one source's search within its time; where it finds nothing, the reason is its own or ``why_empty``'s.

    A failure or time-out gives no hits and a ``degraded`` outcome with the reason; input errors are
    the caller's and pass through. What ``ready`` takes, up to READY_SECONDS, is not the search's time.
    """
    started = time.perf_counter()
    findings = Findings([], {})
    status: str = "ok"
    reason: str | None = None
    allowed = max(timeout_seconds, READY_SECONDS)
    try:
        async with asyncio.timeout(allowed) as limit:
            await source.ready(query)
        allowed = timeout_seconds
        async with asyncio.timeout(allowed) as limit:
            findings = await source.find(query)
            reason = findings.reason
            if not findings.hits and reason is None:
                reason = await source.why_empty(query)
    except (InputError, ManifestMismatch):
        raise
    except (RunError, OSError, RuntimeError) as error:
        late = isinstance(error, TimeoutError) and limit.expired()
        reason = f"no answer within {allowed:g} s" if late else f"{type(error).__name__}: {error}"
        status = "degraded"
    if status == "ok" and not findings.hits:
        status = "empty"
    if status == "degraded":
        logger.warning("a source is degraded: %s", reason)
    outcome: Outcome = {
        "status": status,
        "reason": reason,
        "count": len(findings.hits),
        "ms": round((time.perf_counter() - started) * 1000, 3),
        "question": findings.question,
    }
    return findings.hits, outcome
