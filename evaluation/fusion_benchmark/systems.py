"""The compared systems, each with its natural input, prepared before the clock starts."""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from typing import Any, Literal, NamedTuple

from agentic_rag.domain import Hit
from agentic_rag.domain.results import Result
from agentic_rag.fusion import FusionParameters, FusionStrategy, execute_fusion, fuse_ids
from agentic_rag.fusion.strategy_selector import SourceHits, fuse_hits
from fusion_benchmark.lists import Lists

Scored = list[tuple[str, float]]
"""Ids with their fused scores, in the order in which a system returns them."""
WEIGHTS = (0.7, 0.3)
EVERYTHING = 100_000
"""No limit, as the peers return every fused hit. The graph itself keeps 100."""


Gives = Literal["ids", "documents", "scored documents"]
"""Output of a system: ids with scores, its input in a new order, or new documents with their scores."""


class Prepared(NamedTuple):
    """One system ready to fuse two given lists."""

    fresh: Callable[[], Any]
    """Makes the input of a call; a new one if the call changes it."""
    fuse: Callable[[Any], Any]
    """The measured call."""
    scored: Callable[[Any], Scored]


@dataclass(frozen=True, slots=True)
class System:
    """A peer: its preparation, and the difference of its formula from ``Σ 1 / (60 + rank)``, rank from 1."""

    name: str
    module: str
    """Module that must be installed."""
    prepare: Callable[[Lists], Prepared]
    k: int = 60
    """The k of the paper's formula that gives its order."""
    scale: float = 1.0
    """Ratio of its scores to those of the paper's formula with that k."""
    precision: float = 1e-12
    """Relative precision of its scores."""
    formula: str = "1 / (60 + rank), rank from 1"
    gives: Gives = "scored documents"
    """Our form with the same output has its time as floor."""

    @property
    def installed(self) -> bool:
        return find_spec(self.module) is not None


def ours(strategy: FusionStrategy, k: int = 60, limit: int = EVERYTHING) -> Callable[[Lists], Prepared]:
    """``fuse_hits``, which the graph calls: fuses hits, records every source, reports."""

    parameters = FusionParameters(k=k)

    def prepare(lists: Lists) -> Prepared:
        return Prepared(
            lambda: SourceHits(lists.graph, lists.vector),
            lambda found: fuse_hits(strategy, found, parameters, limit),
            lambda fused: _results(fused.results),
        )

    return prepare


def ours_public(lists: Lists) -> Prepared:
    """RRF as callers have it: reads the hits first, and returns ``UnifiedResult``."""
    return Prepared(
        lambda: lists,
        lambda given: execute_fusion("rrf", given.graph, given.vector, limit=EVERYTHING),
        lambda outcome: [(result.id, result.fused_score) for result in outcome.results],
    )


def ours_ids(lists: Lists) -> Prepared:
    """RRF of ids alone, with ranx's input and output."""
    rankings = {
        "graphiti": [hit["id"] for hit in lists.graph],
        "lancedb": [hit["id"] for hit in lists.vector],
    }
    return Prepared(lambda: rankings, fuse_ids, lambda found: found)


def ours_in_order(lists: Lists) -> Prepared:
    """The given hits in their fused order, without information on the sources."""

    def fuse(given: Lists) -> list[Hit]:
        ids = [[hit["id"] for hit in side] for side in given]
        held = {
            identity: hit
            for own, side in zip(ids, given, strict=True)
            for identity, hit in zip(own, side, strict=True)
        }
        fused = fuse_ids(dict(zip(("graphiti", "lancedb"), ids, strict=True)))
        return [held[identity] for identity, _ in fused]

    return Prepared(lambda: lists, fuse, _places)


def _places(found: Sequence[Hit]) -> Scored:
    """Ranks in place of missing scores."""
    return [(hit["id"], -float(place)) for place, hit in enumerate(found)]


def copied(lists: Lists) -> Prepared:
    """A plain copy of every hit: the growth of time on this machine without any fusion."""
    return Prepared(
        lambda: lists, lambda given: [dict(hit) for side in given for hit in side], lambda hits: []
    )


def _results(results: Sequence[Result]) -> Scored:
    return [(result["id"], result["fused_score"]) for result in results]


# ── peers ───────────────────────────────────────────────────────────────────────────────────────


def _ranx(method: str, norm: str | None, params: dict[str, Any]) -> Callable[[Lists], Prepared]:
    def prepare(lists: Lists) -> Prepared:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            from ranx import Run, fuse

        runs = [Run({"q": {hit["id"]: hit["score"] for hit in side}}) for side in lists]

        def scored(run: Any) -> Scored:
            return list(run.to_dict()["q"].items())

        return Prepared(
            lambda: runs, lambda given: fuse(given, norm=norm, method=method, params=params), scored
        )

    return prepare


def _langchain(lists: Lists) -> Prepared:
    from langchain_classic.retrievers import EnsembleRetriever
    from langchain_core.documents import Document
    from langchain_core.runnables import RunnableLambda

    def document(hit: Hit) -> Document:
        return Document(hit["content"], id=hit["id"], metadata=hit["metadata"])

    given = [[document(hit) for hit in side] for side in lists]

    def never_asked(query: str) -> list[Document]:
        return []

    ensemble = EnsembleRetriever(retrievers=[RunnableLambda(never_asked)] * 2, weights=[1.0, 1.0], c=60)

    def scored(documents: list[Document]) -> Scored:
        return [(str(document.id), -float(place)) for place, document in enumerate(documents)]  # as _places

    return Prepared(lambda: given, ensemble.weighted_reciprocal_rank, scored)


def _llama_index(lists: Lists) -> Prepared:
    from llama_index.core.base.base_retriever import BaseRetriever
    from llama_index.core.llms import MockLLM
    from llama_index.core.retrievers import QueryFusionRetriever
    from llama_index.core.retrievers.fusion_retriever import FUSION_MODES
    from llama_index.core.schema import NodeWithScore, QueryBundle, TextNode

    def node(hit: Hit) -> TextNode:
        return TextNode(id_=hit["id"], text=hit["content"], metadata=hit["metadata"])

    nodes = [[(node(hit), hit["score"]) for hit in side] for side in lists]

    class NeverAsked(BaseRetriever):
        def _retrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
            return []

    retriever = QueryFusionRetriever(
        [NeverAsked(), NeverAsked()], llm=MockLLM(), mode=FUSION_MODES.RECIPROCAL_RANK, num_queries=1
    )

    def fresh() -> dict[tuple[str, int], list[NodeWithScore]]:
        """Makes new nodes, because the peer writes the fused scores into its input."""
        return {
            ("query", number): [NodeWithScore(node=node, score=score) for node, score in side]
            for number, side in enumerate(nodes)
        }

    def scored(found: list[NodeWithScore]) -> Scored:
        return [(entry.node.node_id, float(entry.score or 0.0)) for entry in found]

    return Prepared(fresh, retriever._reciprocal_rerank_fusion, scored)


def _haystack(lists: Lists) -> Prepared:
    os.environ["HAYSTACK_TELEMETRY_ENABLED"] = "False"
    from haystack import Document
    from haystack.components.joiners import DocumentJoiner

    def document(hit: Hit) -> Document:
        return Document(id=hit["id"], content=hit["content"], meta=dict(hit["metadata"]), score=hit["score"])

    given = [[document(hit) for hit in side] for side in lists]
    joiner = DocumentJoiner(join_mode="reciprocal_rank_fusion")

    def scored(found: dict[str, Any]) -> Scored:
        return [(document.id, document.score) for document in found["documents"]]

    return Prepared(lambda: given, lambda documents: joiner.run(documents=documents), scored)


def _lancedb(lists: Lists) -> Prepared:
    import pyarrow as pa
    from lancedb.rerankers import RRFReranker

    rows = {hit["id"]: number for number, hit in enumerate(lists.graph + lists.vector)}

    def table(side: list[Hit], score: str) -> Any:
        columns = {
            "chunk_id": pa.array([hit["id"] for hit in side]),
            "text": pa.array([hit["content"] for hit in side]),
            "document_id": pa.array([hit["metadata"]["document_id"] for hit in side]),
            "ordinal": pa.array([hit["metadata"]["ordinal"] for hit in side]),
            score: pa.array([hit["score"] for hit in side], pa.float32()),
            "_rowid": pa.array([rows[hit["id"]] for hit in side], pa.uint64()),
        }
        return pa.table(columns)

    tables = table(lists.graph, "_distance"), table(lists.vector, "_score")
    reranker = RRFReranker(K=60)

    def scored(found: Any) -> Scored:
        ids, scores = (found[name].to_pylist() for name in ("chunk_id", "_relevance_score"))
        return list(zip(ids, scores, strict=True))

    return Prepared(lambda: tables, lambda given: reranker.rerank_hybrid("query", *given), scored)


RANX_WEIGHTED = System(
    "ranx wsum + min-max",
    "ranx",
    _ranx("wsum", "min-max", {"weights": list(WEIGHTS)}),
    formula="min-max to [0, 1]: the last hit counts as much as an absent one; ours is in [1/n, 1]",
)
PEERS = (
    System("ranx rrf", "ranx", _ranx("rrf", None, {"k": 60}), gives="ids"),
    System("LangChain EnsembleRetriever", "langchain_classic", _langchain, gives="documents"),
    System(
        "LlamaIndex QueryFusionRetriever",
        "llama_index",
        _llama_index,
        k=59,
        formula="1 / (60 + rank), rank from 0",
    ),
    System(
        "Haystack DocumentJoiner",
        "haystack",
        _haystack,
        scale=61 / 2,
        formula="1 / (61 + rank), rank from 0, times 61 / number of lists",
    ),
    System(
        "LanceDB RRFReranker",
        "lancedb",
        _lancedb,
        precision=1e-6,
        formula="1 / (60 + rank), rank from 1, in 32 bits",
        gives="documents",
    ),
)
