"""The answer to a question, and the steps reported while it is made."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, TypedDict

from agentic_rag.domain.filters import filter_terms, parse_filters
from agentic_rag.domain.json_values import Json
from agentic_rag.domain.results import Citation, FusionReport, Result
from agentic_rag.domain.selection import SelectionValues, ShownSelection
from agentic_rag.domain.usage import UsageValues
from agentic_rag.state import Quality

STEPS = ("ingest", "rerank", "rewrite", "agent", "answer")
"""What an answer may report on beside the sources: the ingest, and the steps that a model may do."""
REPORTED_STATUSES = ("degraded", "partial")
"""Outcomes that a reader sees: another method did the step, a part of what the model wrote was left out, or some documents
are not ingested yet."""


class AnswerValues(TypedDict):
    """An ``Answer`` as JSON values, without its state."""

    query: str
    operation: str
    dataset: str
    answer: str
    abstained: bool
    citations: list[Citation]
    results: list[Result]
    outcomes: Json
    fusion: FusionReport
    quality: Quality
    rewrites: list[str]
    usage: UsageValues
    selection: ShownSelection | None
    carried: dict[str, str]


@dataclass(frozen=True, slots=True)
class Answer:
    """The answer to a question with its provenance; shapes as in docs/state.md."""

    question: str
    text: str
    """With ``[n]`` marks; a "not found" text if ``abstained``, which the nearest lines may follow."""
    citations: list[Citation] = field(repr=False)
    """The citations behind the marks, verbatim, with document, path and code points."""
    abstained: bool
    operation: str
    dataset: str
    results: list[Result] = field(repr=False)
    """The first ``top_k`` in their final order; each with ``sources``, ``facts`` and ``evidence``."""
    outcomes: Json = field(repr=False)
    """Outcome by source, or ``skipped``; also of the steps of whose model nothing, or not all, was used."""
    fusion: FusionReport = field(repr=False)
    quality: Quality = field(repr=False)
    rewrites: list[str]
    usage: UsageValues = field(repr=False)
    """Usage of the model endpoints (see ``domain.usage``); empty without a call."""
    selection: ShownSelection | None = field(repr=False)
    """The query to the notes that the question was read as (see ``selection_of``); None where it is about no such."""
    carried: dict[str, str]
    """What of the conversation completed the question: ``thing``, ``attribute``, ``days``, ``selection``, ``question``."""
    state: Mapping[str, Any] = field(repr=False, compare=False)
    """The final state of the run."""

    @classmethod
    def of(cls, state: Mapping[str, Any]) -> Answer:
        """The answer in the state of a finished run of the main graph."""
        request = state["request"]
        outcomes = {name: state.get(f"{name}_outcome") for name in STEPS}
        outcomes["selection"] = state.get("selection")
        shown = {name: one for name, one in outcomes.items() if one and one["status"] in REPORTED_STATUSES}
        return cls(
            question=request["query"],
            text=state["answer"],
            citations=state["citations"],
            abstained=state["abstained"],
            operation=request["operation"],
            dataset=request["dataset"],
            results=state["reranked_results"][: request["top_k"]],
            outcomes={**state["outcomes"], **shown},
            fusion=state["fusion"],
            quality=state["quality"],
            rewrites=state["rewrites"],
            usage=state.get("usage") or UsageValues(),
            selection=selection_of(state.get("selection") or SelectionValues()),
            carried=dict(request.get("carried") or {}),
            state=state,
        )

    def to_dict(self) -> AnswerValues:
        """JSON values: the output of ``ask --json`` and of the service, and the input of a board."""
        return {
            "query": self.question,
            "operation": self.operation,
            "dataset": self.dataset,
            "answer": self.text,
            "abstained": self.abstained,
            "citations": self.citations,
            "results": self.results,
            "outcomes": self.outcomes,
            "fusion": self.fusion,
            "quality": self.quality,
            "rewrites": self.rewrites,
            "usage": self.usage,
            "selection": self.selection,
            "carried": self.carried,
        }


def selection_of(selection: SelectionValues) -> ShownSelection | None:
    """A selection as the state has it, for people and tools: without its entries, with its filters as ``--filter`` terms.

    Returns:
        ``reading`` (the query in words), ``status`` (``ok``; ``none``: nothing fits), ``target``, ``ask``, ``count``,
        ``filters``, ``terms`` (of ``--filter``; None where these cannot express the filters) and ``nearest`` (a wider
        query, where nothing fits); None where the question is no query to the notes, or could not be read as one.
    """
    if selection.get("status") not in ("ok", "none"):
        return None
    query = selection["query"]
    return {
        "reading": selection["reading"],
        "status": selection["status"],
        "target": query["target"],
        "ask": query["ask"],
        "count": selection["count"],
        "filters": query["filters"],
        "terms": filter_terms(parse_filters(query["filters"])),
        "nearest": selection["nearest"],
    }


@dataclass(frozen=True, slots=True)
class Step:
    """A finished node of the graph."""

    node: str
    ms: float
    """Milliseconds since the question was asked."""
    summary: Json
    """Counts and decisions for display; JSON values."""


def step_summary(node: str, writes: Mapping[str, Any]) -> Json:
    """The ``Step.summary`` of a node, from its writes."""
    outcome = writes.get(f"{node.removeprefix('retrieve_')}_outcome") or {}
    told = {key: outcome[key] for key in ("status", "reason", "count") if key in outcome}
    match node:
        case "prepare_query":
            request = writes.get("request") or {}
            told |= {"operation": request.get("operation"), "reason": request.get("operation_reason")}
        case "fuse_results":
            told |= {"strategy": writes["fusion"]["strategy"], "count": len(writes["fused_results"])}
        case "select_notes":
            selection = selection_of(writes["selection"])
            told |= {key: writes["selection"][key] for key in ("status", "reason")}
            told |= {} if selection is None else {key: selection[key] for key in ("reading", "count")}
        case "rerank":
            told |= {"count": len(writes["reranked_results"])}
        case "check_quality":
            told |= {key: writes["quality"][key] for key in ("grade", "decision")}
        case "agent":
            told |= {"calls": outcome["calls"], "tools": len(outcome["tools"])}
        case "answer":
            told |= {"citations": len(writes["citations"]), "abstained": writes["abstained"]}
    return told
