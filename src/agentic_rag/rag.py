"""The composition for people in a hurry: stores, models and the compiled graph, opened and closed together."""

from __future__ import annotations

import asyncio
import logging
import os
import time
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Iterable, Mapping, Sequence
from contextlib import AsyncExitStack, aclosing, asynccontextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar
from uuid import uuid4

from agentic_rag import tracing
from agentic_rag.backup import VECTORS, changing
from agentic_rag.distributed.cluster import joined
from agentic_rag.domain import is_own_note
from agentic_rag.domain.identity import MEMORY_PREFIX, digest, entity_key, group_id, notes_dataset
from agentic_rag.domain.ports import (
    Chat,
    ChunkStore,
    Embedding,
    GraphExtractor,
    GraphStore,
    Ledger,
    Reranker,
)
from agentic_rag.errors import ConfigError, InputError, StoreError, UnknownDataset
from agentic_rag.graph import GraphParts, build_rag_graph
from agentic_rag.memory.agents import AGENTS
from agentic_rag.memory.memories import Memories
from agentic_rag.memory.reading.reader import ChatStatements, RuleStatements
from agentic_rag.memory.routing.router import Router
from agentic_rag.memory.searching import SearchParts
from agentic_rag.memory.store import MemoryStore, Turn
from agentic_rag.models.endpoint import Spending
from agentic_rag.models.remote import as_chat, as_embedding, chat_from_config
from agentic_rag.models.rerankers import ConfiguredRerankers
from agentic_rag.nodes.request import DEFAULT_DATASET, DEFAULT_TOP_K
from agentic_rag.rerank import BY_MODEL, Rerankers
from agentic_rag.retrieval.embedding_calibration import (
    EmbeddingCalibration,
    KeptLevels,
    reference_pairs_text,
)
from agentic_rag.retrieval.engine import RetrievalEngine
from agentic_rag.retrieval.floor import Nats
from agentic_rag.retrieval.graph_engine import GraphEngine
from agentic_rag.settings.config import RagConfig
from agentic_rag.settings.parameters import RerankParameters
from agentic_rag.state import AUTO

if TYPE_CHECKING:
    from langchain_core.embeddings import Embeddings
    from langchain_core.language_models import BaseChatModel
    from langchain_core.messages import AnyMessage
    from langgraph.graph.state import CompiledStateGraph
    from langgraph.types import StateSnapshot

    from agentic_rag.backup import BackupReport
    from agentic_rag.boards.checking import CheckReport
    from agentic_rag.boards.files import BoardReport
    from agentic_rag.boards.reviews import Reviews
    from agentic_rag.distributed.cluster import Cluster
    from agentic_rag.distributed.preparing import Opened
    from agentic_rag.domain.filters import Expression
    from agentic_rag.domain.ports import TokenCounter
    from agentic_rag.domain.progress import Progress
    from agentic_rag.ingest.engines import IngestEngine
    from agentic_rag.ingest.pipeline import IngestPipeline, IngestReport
    from agentic_rag.ingest.sources import SourceKind
    from agentic_rag.ingest.watching import Followed
    from agentic_rag.retrieval.config import Strategy
    from agentic_rag.retrieval.schemas import RetrievalResult
    from agentic_rag.stores.graphiti.store import GraphitiStore
    from agentic_rag.stores.lancedb.connection import LanceConnection
    from agentic_rag.stores.lancedb.reindex import ReindexReport

REVIEWS = "reviews"
"""Folder in the data folder."""
LOCAL_USER = "local"
"""Who answers boards where no user is named."""
STATEMENTS = "agentic_rag.memory.reading.statements"
"""What the first text that is remembered needs, and no question does."""
WARM_UP = "Where is it warm? 哪里暖和？"
"""In both scripts, whose dictionaries are loaded when they are first met."""
Model = TypeVar("Model")
Reach = Callable[[], Awaitable[object]]
"""Raises ``StoreError`` where a store cannot be used."""


logger = logging.getLogger(__name__)

_REQUEST = "request_id"
"""In the metadata of a checkpoint."""
STEPS = ("rerank", "rewrite", "answer")
"""That may be done by a model, which may fail."""


@dataclass(frozen=True, slots=True)
class Answer:
    """What a question was answered with, and how it came about; shapes as in docs/state.md."""

    question: str
    text: str
    """With ``[n]`` marks; an honest "not found" where ``abstained``."""
    citations: list[dict[str, Any]]
    """What the marks stand for, verbatim, with document, path and code points."""
    abstained: bool
    operation: str
    dataset: str
    results: list[dict[str, Any]]
    """The first ``top_k`` in their final order; each with ``sources``, ``facts`` and ``evidence``."""
    outcomes: dict[str, Any]
    """By source its outcome, or ``skipped``; besides the steps whose model failed and was replaced."""
    fusion: dict[str, Any]
    quality: dict[str, Any]
    rewrites: list[str]
    usage: dict[str, Any]
    """What the endpoints of models used (see ``domain.usage``); empty where none was asked."""
    state: Mapping[str, Any] = field(repr=False, compare=False)
    """All that the run left."""

    @classmethod
    def of(cls, state: Mapping[str, Any]) -> Answer:
        """Of a finished run of the main graph."""
        request = state["request"]
        outcomes = {name: state[f"{name}_outcome"] for name in STEPS}
        degraded = {name: one for name, one in outcomes.items() if one and one["status"] == "degraded"}
        return cls(
            question=request["query"],
            text=state["answer"],
            citations=state["citations"],
            abstained=state["abstained"],
            operation=request["operation"],
            dataset=request["dataset"],
            results=state["reranked_results"][: request["top_k"]],
            outcomes={**state["outcomes"], **degraded},
            fusion=state["fusion"],
            quality=state["quality"],
            rewrites=state["rewrites"],
            usage=state.get("usage") or {},
            state=state,
        )

    def to_dict(self) -> dict[str, Any]:
        """JSON values: what ``ask --json`` prints, the service answers, and a board is drawn from."""
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
        }


@dataclass(frozen=True, slots=True)
class RelatedFact:
    """``source —relation→ target``, and since when and until when it held."""

    source: str
    relation: str
    target: str
    text: str
    """The sentence that says so."""
    valid_at: datetime | None
    invalid_at: datetime | None
    documents: tuple[str, ...]
    """Ids of the notes that say so."""


@dataclass(frozen=True, slots=True)
class Step:
    """A node of the graph that has ended."""

    node: str
    ms: float
    """Since the question was asked."""
    told: dict[str, Any]
    """Counts and verdicts, for people: JSON values."""


def _told(node: str, written: Mapping[str, Any]) -> dict[str, Any]:
    outcome = written.get(f"{node.removeprefix('retrieve_')}_outcome") or {}
    told = {key: outcome[key] for key in ("status", "reason", "count") if key in outcome}
    match node:
        case "prepare_query":
            request = written.get("request") or {}
            told |= {"operation": request.get("operation"), "reason": request.get("operation_reason")}
        case "fuse_results":
            told |= {"strategy": written["fusion"]["strategy"], "count": len(written["fused_results"])}
        case "rerank":
            told |= {"count": len(written["reranked_results"])}
        case "check_quality":
            told |= {key: written["quality"][key] for key in ("grade", "decision")}
        case "answer":
            told |= {"citations": len(written["citations"]), "abstained": written["abstained"]}
    return told


@dataclass(frozen=True, slots=True)
class Rag:
    """Everything open. ``graph`` is the compiled LangGraph graph; the rest is what it stands on."""

    config: RagConfig
    graph: CompiledStateGraph[Any, Any, Any, Any]
    parts: GraphParts
    """What ``graph`` was built from: ``build_rag_graph(rag.parts, rag.config)`` gives it uncompiled."""
    retrieval: RetrievalEngine
    """Searches the vector store."""
    graph_engine: GraphEngine
    """Searches the graph."""
    chunks: ChunkStore
    knowledge: GraphStore
    ledger: Ledger
    memory: Memories
    """What is remembered of each user."""
    spending: Spending = field(default_factory=Spending)
    """What the endpoints of models used since it was opened, and may use."""
    is_configured_embedding: bool = True
    """Whether the configuration names the embedding model, so that another process can open it too."""
    reach: Mapping[str, Reach] = field(default_factory=dict)
    """By the name of each store that it stands on, what sees whether that answers."""

    @property
    def embedding(self) -> Embedding:
        """Of questions and of what is ingested."""
        return self.parts.embedding

    @property
    def chat(self) -> Chat | None:
        """The chat model, where one is configured."""
        return self.parts.chat

    async def warm_up(self) -> None:
        """Search every dataset once, so that no question waits for models, dictionaries, tables and graph links.

        No search where the embedding model is behind an endpoint: its calls are paid for.

        Raises:
            StoreError, ModelError: something cannot be loaded; a question will tell it too.
        """
        await asyncio.to_thread(import_module, STATEMENTS)
        if self.config.embedding.base_url is None:
            for dataset in await self.ledger.datasets():
                await asyncio.gather(
                    self.graph_engine.find(dataset, WARM_UP, limit=1),
                    self.retrieval.find(dataset, WARM_UP, top_k=1),
                )

    async def ask(
        self,
        question: str,
        *,
        operation: str = AUTO,
        dataset: str = DEFAULT_DATASET,
        filters: Mapping[str, Any] | None = None,
        as_of: str | None = None,
        top_k: int = DEFAULT_TOP_K,
        messages: Sequence[AnyMessage] = (),
        user_id: str | None = None,
        parameters: Mapping[str, Any] | None = None,
        thread_id: str | None = None,
    ) -> Answer:
        """Ask a dataset; the answer cites a note for every claim.

        Args:
            question: in any language.
            operation: ``auto`` chooses by the words; ``fusion["operation_reason"]`` says why.
            dataset: what was ingested under that name.
            filters: on properties of notes: ``{"year": {"$gte": 2023}}``.
            as_of: ISO 8601: what was known then.
            top_k: results to give, 1 to 1000.
            messages: the conversation before; a question that points back is completed from it.
            user_id: whose memories are asked besides the dataset.
            parameters: of this call alone: ``{"fusion": {"k": 20}}``.
            thread_id: of the conversation, where a checkpointer keeps it; else a new one.

        Raises:
            UnknownDataset: nothing was ingested under the name.
            InputError: something given cannot be read; the message says what to give.
            ConfigError: a parameter is wrong.
            AllSourcesFailed: neither source could answer.
        """
        run = await self._run(
            question, operation, dataset, filters, as_of, top_k, messages, user_id, parameters, thread_id
        )
        with tracing.span("invoke_workflow", "agentic_rag"):
            return Answer.of(await self.graph.ainvoke(**run))

    async def stream(
        self,
        question: str,
        *,
        operation: str = AUTO,
        dataset: str = DEFAULT_DATASET,
        filters: Mapping[str, Any] | None = None,
        as_of: str | None = None,
        top_k: int = DEFAULT_TOP_K,
        messages: Sequence[AnyMessage] = (),
        user_id: str | None = None,
        parameters: Mapping[str, Any] | None = None,
        thread_id: str | None = None,
        request_id: str | None = None,
    ) -> AsyncGenerator[Step | str | Answer]:
        """``ask`` as it happens: each node when it has ended, the chat model's words as it writes, then the answer.

        Arguments and errors are those of ``ask``.

        Args:
            request_id: where the kept conversation's last answer is this request's, that answer is given again: a
                request whose answer got lost may be sent once more.
        """
        run = await self._run(
            question, operation, dataset, filters, as_of, top_k, messages, user_id, parameters, thread_id
        )
        if thread_id is not None and request_id is not None:
            run["config"]["metadata"] = {_REQUEST: request_id}
            last = await self._last(thread_id)
            same = (last.metadata or {}).get(_REQUEST) == request_id and not last.next
            if same and _question(last.values) == question:
                yield Answer.of(last.values)
                return
        started = time.perf_counter()
        state: dict[str, Any] = {}
        parts = self.graph.astream(**run, stream_mode=["updates", "messages", "values"])
        async with aclosing(tracing.traced("invoke_workflow", "agentic_rag", parts)) as told:
            async for mode, part in told:
                if mode == "values":
                    state = part
                elif mode == "messages":
                    message, where = part
                    if where.get("langgraph_node") == "answer" and message.type == "AIMessageChunk":
                        yield str(message.text)
                else:
                    ms = round((time.perf_counter() - started) * 1000, 1)
                    for node, written in part.items():
                        yield Step(node, ms, _told(node, written or {}))
        yield Answer.of(state)

    async def said(self, thread_id: str) -> list[AnyMessage]:
        """The questions that a kept conversation answered and the answers, in order."""
        last = await self._last(thread_id)
        return [] if last.next else list(last.values.get("messages") or [])

    async def _last(self, thread_id: str) -> StateSnapshot:
        """What the last question that was answered left. One that failed in its middle left a state with a ``next``."""
        last = await self.graph.aget_state({"configurable": {"thread_id": thread_id}})
        while last.next and last.parent_config is not None:
            last = await self.graph.aget_state(last.parent_config)
        return last

    async def _resumed(self, thread_id: str) -> dict[str, Any]:
        """The config of a run that goes on from there."""
        last = await self._last(thread_id)
        if last.next:  # nothing was answered yet
            await self.graph.checkpointer.adelete_thread(thread_id)  # type: ignore[union-attr]
        elif last.created_at is not None:
            return {"configurable": dict(last.config["configurable"])}
        return {"configurable": {"thread_id": thread_id}}

    async def _run(
        self,
        question: str,
        operation: str,
        dataset: str,
        filters: Mapping[str, Any] | None,
        as_of: str | None,
        top_k: int,
        messages: Sequence[AnyMessage],
        user_id: str | None,
        parameters: Mapping[str, Any] | None,
        thread_id: str | None,
    ) -> dict[str, Any]:
        """What the graph is called with; raises as ``ask`` does before it is."""
        if not question.strip():
            raise InputError("the question is empty; write what you want to know")
        if thread_id is not None and not self.graph.checkpointer:
            raise InputError("thread_id names a kept conversation; open_rag(checkpointer=…) keeps them")
        await self.require_dataset(dataset)
        asked = {
            "query": question,
            "operation": operation,
            "dataset": dataset,
            "filters": filters,
            "as_of": as_of,
            "top_k": top_k,
            "messages": list(messages),
            "user_id": user_id,
        }
        thread: Any = (
            {"configurable": {"thread_id": str(uuid4())}}
            if thread_id is None
            else await self._resumed(thread_id)
        )
        # One checkpoint at the end: a run of a tenth of a second is asked again rather than resumed.
        kept: Any = {"durability": "exit"} if self.graph.checkpointer else {}
        return {"input": asked, "config": thread, "context": parameters, **kept}

    def write_board(self, answer: Answer, path: str | Path) -> BoardReport:
        """Write an answer as a board of an Obsidian vault, in the form of its operation.

        A board of the same question that lies there is brought up to date: what a person added, moved, edited or
        deleted stays so. Boards are never ingested as notes.

        Raises:
            InputError: no ``.canvas`` file, the answer cites nothing, or the file is a board of a person's own, or
                another question's.
            RunError: the file cannot be written.
        """
        from agentic_rag.boards.files import write_board

        return write_board(answer.to_dict(), Path(path))

    async def check(
        self, board: str | Path, *, user_id: str = LOCAL_USER, at: datetime | None = None
    ) -> CheckReport:
        """Mark what a person wrote into a verification board, colour it, note what was wrong, schedule it.

        Args:
            board: a ``.canvas`` file that ``write_board`` wrote.
            user_id: whose answers they are.
            at: when they were given; None: now.

        Raises:
            InputError: no board of ours, or one that asks nothing.
            RunError: something cannot be written.
        """
        from agentic_rag.boards.checking import check_board, filled_board
        from agentic_rag.boards.marking import Names

        _, known = filled_board(Path(board))
        records = await self.ledger.records(known.dataset)
        names = Names.of(record.names for record in records.values())
        return await check_board(
            Path(board), names, self.reviews(user_id), at or datetime.now(UTC), chat=self.chat
        )

    def reviews(self, user_id: str = LOCAL_USER) -> Reviews:
        """The questions that a user answered on boards, and when each is to be asked again."""
        from agentic_rag.boards.reviews import Reviews

        return Reviews(self.config.data_dir / REVIEWS, user_id)

    async def ingest(
        self,
        paths: str | Path | Iterable[str | Path],
        *,
        dataset: str = DEFAULT_DATASET,
        kind: SourceKind = "auto",
        progress: Progress | None = None,
        engine: str = "local",
        address: str | None = None,
    ) -> IngestReport:
        """Make a dataset hold what the paths hold now; see ``ingest.pipeline``.

        Args:
            paths: files and folders. Under ``ray`` every worker must find them at the same place.
            dataset: its name.
            kind: what the paths are.
            progress: told ``read`` and ``store``, done, total.
            engine: ``local`` (this process), or ``ray``: workers of a Ray cluster parse, chunk and embed, with the same
                result; see ``distributed``.
            address: of the Ray cluster's head; None: one that is started on this machine.

        Raises:
            InputError: a path does not exist, or a bad dataset name, kind or engine.
            MissingExtra: Ray is not installed.
            StoreLocked: the dataset is being ingested into or removed from already.
            RunError: the cluster cannot be reached, or failed; run again to finish.
            StoreError, ModelError: something failed; run again to finish.
        """
        given = _as_paths(paths)
        notes_dataset(dataset)
        async with (
            joined(engine, address) as cluster,
            self._pipeline(dataset, self._on(cluster)) as pipeline,
        ):
            return await pipeline.run(given, dataset, kind, progress)

    @property
    def given_embedding(self) -> Embedding | None:
        """What a worker has to be given to embed as this one does: nothing where the configuration names the model."""
        return None if self.is_configured_embedding else self.embedding

    def _on(self, cluster: Cluster | None) -> IngestEngine | None:
        if cluster is None:
            return None
        from agentic_rag.distributed.engine import RayEngine
        from agentic_rag.distributed.indexing import RayBuilder
        from agentic_rag.distributed.pool import Pool

        opened = partial(open_worker, self.config, self.given_embedding)
        return RayEngine(Pool(cluster), opened, self.chunks, RayBuilder(cluster))

    async def watch(
        self,
        folders: str | Path | Iterable[str | Path],
        *,
        dataset: str = DEFAULT_DATASET,
        stop: asyncio.Event | None = None,
    ) -> AsyncGenerator[Followed]:
        """Keep a dataset equal to folders: caught up at once, then after every change; see ``ingest.watching``.

        Raises:
            InputError: a folder is none, or a bad dataset name.
        """
        from agentic_rag.ingest.remembered import Remembered
        from agentic_rag.ingest.watching import follow

        notes_dataset(dataset)
        remembered: Remembered[Any] = Remembered()

        async def ingest(paths: Sequence[Path]) -> IngestReport:
            async with self._pipeline(dataset) as pipeline:
                return await pipeline.run(paths, dataset, remembered=remembered)

        async with aclosing(follow(_as_paths(folders), ingest, stop)) as followed:
            async for done in followed:
                yield done

    async def remove(
        self,
        paths: str | Path | Iterable[str | Path] | None,
        *,
        dataset: str = DEFAULT_DATASET,
        progress: Progress | None = None,
    ) -> IngestReport:
        """Delete from a dataset what was ingested from the paths, which need not exist any more; None: everything.

        Raises:
            UnknownDataset: nothing was ingested under the name, or all of it was taken out.
            InputError: nothing was ingested from a path.
            StoreLocked: the dataset is being ingested into or removed from already.
            StoreError: something failed; run again to finish.
        """
        given = None if paths is None else _as_paths(paths)
        await self.require_dataset(dataset)
        async with self._pipeline(dataset) as pipeline:
            return await pipeline.remove(given, dataset, progress)

    async def reindex(
        self,
        dataset: str = DEFAULT_DATASET,
        *,
        progress: Progress | None = None,
        engine: str = "local",
        address: str | None = None,
    ) -> ReindexReport:
        """Embed a dataset anew with the model of this ``Rag`` and switch to it; see ``stores.lancedb.reindex``.

        Others may search with the model until now while it runs, and write. ``engine`` and ``address``: as in
        ``ingest``; the workers embed.

        Raises:
            UnknownDataset: nothing was ever ingested under the name.
            ConfigError: the vectors are not in LanceDB.
            InputError, MissingExtra, RunError: as in ``ingest``.
            StoreError, ModelError: something failed; nothing has changed.
        """
        from agentic_rag.stores.lancedb.reindex import Reindexable, reindexed

        notes_dataset(dataset)
        stores = [store for store in (self.chunks, self.knowledge) if isinstance(store, Reindexable)]
        if len(stores) < 2:
            raise ConfigError(
                "only vectors in LanceDB can be made anew in place; ingest into a new data folder instead"
            )
        async with joined(engine, address) as cluster, changing(self.config.data_dir):
            if cluster is None:
                return await reindexed(stores, self.embedding, dataset, progress)
            from agentic_rag.distributed.embedding import ray_embedding

            opened = partial(opened_embedding, self.config, self.given_embedding)
            embedding = await asyncio.to_thread(ray_embedding, cluster, opened, self.embedding)
            return await reindexed(stores, embedding, dataset, progress, at_once=embedding.at_once)

    async def backup(self, target: str | Path) -> BackupReport:
        """Copy the data folder while it is in use; see ``backup.back_up``."""
        from agentic_rag.backup import back_up

        return await back_up(self.config, Path(target))

    async def require_dataset(self, dataset: str) -> None:
        """Raises ``UnknownDataset`` where nothing was ingested under the name, or all of it was taken out."""
        try:
            known = await self.ledger.datasets()
        except StoreError as error:  # without it, questions can be answered
            logger.warning("%s", error)
            known = [name for name in await self.chunks.datasets() if not name.startswith(MEMORY_PREFIX)]
        if notes_dataset(dataset) not in known:
            raise UnknownDataset(dataset, known)

    async def search(
        self,
        query: str,
        *,
        dataset: str = DEFAULT_DATASET,
        top_k: int = DEFAULT_TOP_K,
        threshold: float | None = None,
        filters: Mapping[str, Any] | Expression | None = None,
        strategy: Strategy | None = None,
        as_of: datetime | None = None,
    ) -> list[RetrievalResult]:
        """The vector store alone; see ``RetrievalEngine.search``."""
        notes_dataset(dataset)
        return await self.retrieval.search(
            dataset, query, top_k, threshold, filters, as_of=as_of, strategy=strategy
        )

    async def related(
        self,
        name: str,
        *,
        dataset: str = DEFAULT_DATASET,
        as_of: datetime | None = None,
        limit: int = DEFAULT_TOP_K,
    ) -> list[RelatedFact]:
        """Facts of the graph around a thing; where it has none of that name, those nearest to the words.

        Args:
            name: of a note, or anything a note names.
            dataset: what was ingested under that name.
            as_of: only facts that held then.
            limit: most facts.

        Raises:
            UnknownDataset: nothing was ingested under the name.
            StoreError, ModelError: something behind it failed.
        """
        await self.require_dataset(dataset)
        vector = (await self.embedding.embed_queries([name]))[0]
        found = await self.knowledge.search(dataset, name, vector, limit=max(limit, 50), as_of=as_of)
        facts = [hit for hit in found if hit.kind == "edge"]
        wanted = entity_key(name)
        named = [
            hit
            for hit in facts
            if wanted in (entity_key(hit.source_name or ""), entity_key(hit.target_name or ""))
        ]
        ids = sorted({chunk_id for hit in facts for chunk_id in hit.chunk_ids})
        chunks = await self.knowledge.get_chunks(dataset, ids)
        own = {chunk_id for chunk_id, chunk in chunks.items() if is_own_note(chunk.metadata)}
        return [
            RelatedFact(
                hit.source_name or "",
                hit.name,
                hit.target_name or "",
                hit.text,
                hit.valid_at,
                hit.invalid_at,
                tuple(sorted({chunks[one].document_id for one in hit.chunk_ids if one in chunks})),
            )
            for hit in named or facts
            if not hit.chunk_ids or not own.issuperset(hit.chunk_ids)
        ][:limit]

    @asynccontextmanager
    async def _pipeline(
        self, dataset: str, engine: IngestEngine | None = None
    ) -> AsyncIterator[IngestPipeline]:
        from agentic_rag.ingest.pipeline import IngestPipeline
        from agentic_rag.stores.lancedb.process_lock import only_one

        refusal = (
            f"dataset {dataset!r} is being ingested into or removed from already, here or in another process; "
            "wait until that ends (asking works meanwhile), or give all paths to one call"
        )
        extractor = self._extractor()
        try:
            async with (
                changing(self.config.data_dir),
                only_one(str(self.config.data_dir), f"ingesting-{group_id(dataset)}", refusal),
            ):
                yield IngestPipeline(
                    self.chunks,
                    self.knowledge,
                    self.ledger,
                    self.embedding,
                    token_counter(),
                    extractor,
                    engine,
                )
        finally:
            if extractor is not None:
                await extractor.close()

    def _extractor(self) -> GraphExtractor | None:
        if self.config.graph.extraction == "written":
            return None
        if self.config.chat.base_url is None:
            raise ConfigError("graph.extraction is 'chat' but chat.base_url is not set")
        from agentic_rag.stores.graphiti.extractor import extractor_from_config

        return extractor_from_config(self.knowledge, self.config.chat, self.spending)


def _question(values: Mapping[str, Any]) -> str | None:
    """The last one of a state."""
    asked = [str(message.text) for message in values.get("messages") or [] if message.type == "human"]
    return asked[-1] if asked else None


def _as_paths(given: Any) -> list[Path]:
    """One path or several; ``InputError`` for anything else."""
    several = [given] if isinstance(given, str | Path) else given
    listed = list(several) if isinstance(several, Iterable) else [several]
    if wrong := [one for one in listed if not isinstance(one, str | Path)]:
        raise InputError(f"paths are texts or Path objects, not {wrong[0]!r}")
    return [Path(one) for one in listed]


@asynccontextmanager
async def open_rag(
    config: RagConfig | None = None,
    *,
    embedding: Embedding | Embeddings | None = None,
    chat: Chat | BaseChatModel | None = None,
    reranker: Reranker | None = None,
    checkpointer: Any = None,
) -> AsyncIterator[Rag]:
    """Open stores and models, give the compiled graph, close everything at the end.

    Args:
        config: defaults need nothing but a writable ``data_dir``.
        embedding, chat: used instead of the configured ones; any of langchain-core's. An embedding model of its own is
            known in the store by the name it calls itself; ``LangChainEmbedding`` gives it another.
        reranker: asked whichever ``rerank.method`` asks for a model.
        checkpointer: any LangGraph checkpointer.

    Raises:
        ConfigError: the configuration contradicts itself, or asks for a model that it does not name.
        MissingExtra, ModelError: a model of the rerank cannot be loaded.
        StoreError: a store cannot be opened.
    """
    config = config or RagConfig()
    spending = _spending(config, chats=chat is not None or config.chat.base_url is not None)
    given = None if chat is None else as_chat(chat, config.chat, spending)
    is_configured = embedding is None
    if embedding is not None:
        embedding = await as_embedding(embedding)
    async with AsyncExitStack() as stack:
        embedding = embedding or _closed_by(stack, await embedding_from_config(config, spending))
        connection, chunks, knowledge, ledger = await _open_stores(config, embedding, stack)
        talker = given or _closed_by(stack, chat_from_config(config.chat, spending))
        calibration = EmbeddingCalibration(embedding)
        if not calibration.is_fitted:
            kept = await asyncio.to_thread(_kept_levels, config, embedding)
            calibration = EmbeddingCalibration(embedding, kept=kept)
        nats = _nats()
        engine = RetrievalEngine(chunks, embedding, calibration, config.retrieval.strategy, nats)
        graph_engine = GraphEngine(knowledge, chunks, embedding, calibration, nats)
        rerankers = ConfiguredRerankers(talker, reranker)
        await _check_reranker(config.rerank, rerankers)
        store = MemoryStore(
            chunks, knowledge, embedding, token_counter(), _turns(connection, config.data_dir)
        )
        memory = Memories(
            SearchParts(store, engine, graph_engine, config.rerank),
            RuleStatements() if talker is None else ChatStatements(talker),
            Router({agent.memory_type: agent.strategies for agent in AGENTS}, talker),
        )
        parts = GraphParts(graph_engine, engine, embedding, talker, rerankers, token_counter(), memory)
        graph = build_rag_graph(parts, config).compile(checkpointer=checkpointer, name="agentic_rag")
        yield Rag(
            config,
            graph,
            parts,
            engine,
            graph_engine,
            chunks,
            knowledge,
            ledger,
            memory,
            spending,
            is_configured,
            _reach(config, connection, chunks, knowledge),
        )


@asynccontextmanager
async def open_worker(config: RagConfig, embedding: Embedding | None = None) -> AsyncIterator[Opened]:
    """What a worker of the engine ``ray`` prepares documents by; raises as ``open_rag``."""
    from agentic_rag.distributed.preparing import Opened

    async with AsyncExitStack() as stack, opened_embedding(config, embedding) as model:
        _, chunks, knowledge, _ = await _open_stores(config, model, stack)
        yield Opened(chunks, knowledge, model, token_counter())


@asynccontextmanager
async def opened_embedding(config: RagConfig, given: Embedding | None) -> AsyncIterator[Embedding]:
    """The given model, or the configured one; raises as ``embedding_from_config``."""
    async with AsyncExitStack() as stack:
        yield given or _closed_by(stack, await embedding_from_config(config))


def _spending(config: RagConfig, *, chats: bool) -> Spending:
    if config.budget.is_set and chats and config.chat.max_tokens is None:
        raise ConfigError(
            "a budget needs chat.max_tokens: without it nobody knows beforehand what an answer may take"
        )
    return Spending(config.budget)


async def embedding_from_config(config: RagConfig, spending: Spending | None = None) -> Embedding:
    """The configured embedding model; the bundled one where no endpoint is configured.

    Raises:
        ConfigError: the endpoint's model is not named.
        ModelError: ``embedding.dimension`` is unset and the endpoint does not tell it.
    """
    if config.embedding.base_url is None:
        from agentic_rag.models.bundled import BundledEmbedding

        return BundledEmbedding()
    from agentic_rag.models.remote import OpenAIEmbedding

    return await OpenAIEmbedding.open(config.embedding, spending)


def _kept_levels(config: RagConfig, embedding: Embedding) -> KeptLevels:
    """Where the levels of the model's cosines are remembered, under the prefix its questions get."""
    from agentic_rag.stores.embedding_levels import FILE, LevelsFile

    told = digest(embedding.name, config.embedding.query_prefix, reference_pairs_text())
    return LevelsFile(config.data_dir / FILE, f"{embedding.name} {told}")


def _closed_by(stack: AsyncExitStack, model: Model) -> Model:
    """The model; one that keeps connections is closed with the stack."""
    close = getattr(model, "close", None)
    if close is not None:
        stack.push_async_callback(close)
    return model


def _reach(
    config: RagConfig, connection: LanceConnection, chunks: ChunkStore, knowledge: GraphitiStore
) -> dict[str, Reach]:
    """By the names that ``doctor`` gives them."""
    tables: dict[str, Reach] = {"vectors": connection.reach, "graph": knowledge.reach}
    if config.vectors.backend == "lancedb":
        return tables
    return {**tables, "tables": connection.reach, "vectors": chunks.datasets}


async def _open_stores(
    config: RagConfig, embedding: Embedding, stack: AsyncExitStack
) -> tuple[LanceConnection, ChunkStore, GraphitiStore, Ledger]:
    from agentic_rag.stores.data_format import checked_format
    from agentic_rag.stores.graphiti.store import GraphitiStore
    from agentic_rag.stores.lancedb.connection import LanceConnection
    from agentic_rag.stores.lancedb.ledger import LanceLedger

    folder = await asyncio.to_thread(_made, config.data_dir)
    await asyncio.to_thread(checked_format, folder)
    uri = config.lancedb_uri or str(folder / VECTORS)
    connection = LanceConnection(uri, config.storage_options, locks=str(folder))
    stack.push_async_callback(connection.close)
    chunks, ledger = await _open_chunks(config, folder, connection, LanceLedger(connection), embedding, stack)
    graph = config.graph
    knowledge = await GraphitiStore.open(
        uri=connection,
        folder=folder,
        embedding=embedding,
        backend=graph.backend,
        server_uri=graph.uri,
        user=graph.user,
        password=graph.password.get_secret_value() if graph.password else None,
    )
    stack.push_async_callback(knowledge.close)
    return connection, chunks, knowledge, ledger


def _turns(connection: LanceConnection, data_dir: Path) -> Turn:
    """One at a time changes a user's memories, in any process, and sees what was written before."""
    from agentic_rag.stores.lancedb.process_lock import process_lock

    @asynccontextmanager
    async def turn(dataset: str) -> AsyncIterator[None]:
        async with (
            changing(data_dir),
            process_lock(connection.locks, f"remembering-{group_id(dataset)}"),
        ):
            connection.refresh()
            yield

    return turn


async def _open_chunks(
    config: RagConfig,
    folder: Path,
    connection: LanceConnection,
    ledger: Ledger,
    embedding: Embedding,
    stack: AsyncExitStack,
) -> tuple[ChunkStore, Ledger]:
    """The configured chunk store, and the ledger as it is to be read beside that store."""
    model, dimension = embedding.name, embedding.dimension
    if config.vectors.backend == "lancedb":
        if config.vectors.uri is not None:
            raise ConfigError("vectors.uri is set but vectors.backend is 'lancedb'; its URI is lancedb_uri")
        from agentic_rag.stores.lancedb.chunk_store import LanceChunkStore

        return LanceChunkStore(connection, model=model, dimension=dimension), ledger
    from agentic_rag.stores.vectorstores import CheckedLedger, open_vector_store

    chunks = await open_vector_store(config.vectors, folder, model=model, dimension=dimension)
    stack.push_async_callback(chunks.close)
    return chunks, CheckedLedger(ledger, chunks)


def _made(folder: Path) -> Path:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise StoreError(
            f"cannot make the data folder {folder}: {error.strerror or error}; choose another with --data-dir"
        ) from error
    if not os.access(folder, os.W_OK):
        raise StoreError(f"the data folder {folder} is not writable; choose another with --data-dir")
    return folder


async def _check_reranker(parameters: RerankParameters, rerankers: Rerankers) -> None:
    """Load the configured model, so that what is wrong with it is told now; it stays loaded."""
    if parameters.method in BY_MODEL:
        await asyncio.to_thread(rerankers.model, parameters)


def _nats() -> Nats:
    from agentic_rag.models.bundled import nats

    return nats


def token_counter() -> TokenCounter:
    """The bundled model's tokens of a batch of texts; every counting of tokens goes by it."""
    from agentic_rag.models.bundled import count_tokens_batch

    return count_tokens_batch
