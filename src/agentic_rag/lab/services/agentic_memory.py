"""Service ``agentic_memory``: the whole retrieval graph as a memory, both sources fused and reranked."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pydantic import Field

from agentic_rag.domain.filters import Comparison
from agentic_rag.domain.memory import DEFAULT_TOP_K
from agentic_rag.errors import (
    AllSourcesFailed,
    ConfigError,
    ModelError,
    StoreError,
    UnknownDataset,
    UnknownOperation,
)
from agentic_rag.fusion.strategy_selector import parse_operation
from agentic_rag.lab.services.parts import AskGraph, ServiceParts, needed
from agentic_rag.lab.services.session_memory import Found, FoundTurn, SessionMemory
from agentic_rag.settings.parameters import Section
from agentic_rag.state import in_full

NAME = "agentic_memory"
MOST = 1000
"""Results that the graph can be asked for."""


class AgenticMemorySettings(Section):
    operation: str = Field("document_retrieval", description="canvas operation, which selects the fusion")
    topk: int = Field(DEFAULT_TOP_K, ge=1, description="memories given back where a call does not say")


class AskSearch:
    """Turns in the order of the graph's rerank, with its score; with the fused one where nothing was reranked.

    A memory has no way to say that half of it did not answer, so a source that failed is an error here.
    """

    def __init__(self, ask: AskGraph, namespace: str, operation: str) -> None:
        self._ask = ask
        self._namespace = namespace
        self._operation = operation

    async def __call__(self, query: str, *, limit: int, among: Comparison | None) -> Found:
        asked: dict[str, Any] = {
            "query": query,
            "operation": self._operation,
            "dataset": self._namespace,
            "top_k": min(limit, MOST),
        }
        if among is not None:
            asked["filters"] = {among.key: {among.operator: among.value}}
        try:
            state = await self._ask.ainvoke(asked)
        except AllSourcesFailed as error:
            raise StoreError(f"{NAME}: {error}") from error
        except UnknownDataset as error:
            raise StoreError(
                f"{NAME} has written {self._namespace!r}, but the ask graph does not know it; "
                "build the graph on the stores that ServiceParts.chunks and ServiceParts.knowledge are"
            ) from error
        _check(state)
        return Found(_turns(in_full(state["reranked_results"])), more=False)


def _check(state: Mapping[str, Any]) -> None:
    outcomes = {**state.get("outcomes", {}), "rerank": state.get("rerank_outcome")}
    failed = {
        name: outcome["reason"]
        for name, outcome in sorted(outcomes.items())
        if isinstance(outcome, Mapping) and outcome.get("status") == "degraded"
    }
    if failed:
        told = "; ".join(f"{name}: {reason}" for name, reason in failed.items())
        kind = ModelError if failed.keys() == {"rerank"} else StoreError
        raise kind(f"{NAME} was searched in part only ({told}); mend what failed and ask again")


def _turns(results: list[dict[str, Any]]) -> list[FoundTurn]:
    reranked = [result for result in results if result.get("rerank_score") is not None]
    key = "rerank_score" if reranked else "fused_score"
    # Beyond the rerank's depth there is nothing but fused scores, which cannot be compared with its own.
    return [FoundTurn(result["metadata"].get("dia_id"), result[key]) for result in reranked or results]


def build(settings: AgenticMemorySettings, parts: ServiceParts) -> SessionMemory:
    try:
        operation = parse_operation(settings.operation).value
    except UnknownOperation as error:
        raise ConfigError(f"services.{NAME}.operation: {error}") from error
    search = AskSearch(needed(parts.ask, NAME, "ask"), parts.namespace, operation)
    return SessionMemory(parts, NAME, search, settings.topk)
