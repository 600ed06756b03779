"""``open_rag``: stores, models and the compiled graph, opened and closed together, and what can be done with them."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import AsyncGenerator, AsyncIterator, Iterable, Mapping, Sequence
from contextlib import AsyncExitStack, aclosing, asynccontextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, Unpack, cast
from weakref import WeakValueDictionary

from agentic_rag.answer import Answer, Step, step_summary
from agentic_rag.compiled import RagGraph
from agentic_rag.domain import is_own_note
from agentic_rag.domain.identity import (
    dataset_name,
    entity_key,
    group_id,
    notes_dataset,
    user_of,
    without_memories,
)
from agentic_rag.domain.ports import (
    Chat,
    ChunkStore,
    Embedding,
    GraphExtractor,
    GraphQuery,
    GraphStore,
    Ledger,
    Reranker,
)
from agentic_rag.errors import ConfigError, InputError, StoreError, UnknownDataset, needing
from agentic_rag.graph import GraphParts, build_rag_graph
from agentic_rag.memory.agents import AGENTS
from agentic_rag.memory.memories import Memories
from agentic_rag.memory.reading.reader import ChatStatements, RuleStatements
from agentic_rag.memory.routing.router import Router
from agentic_rag.memory.searching import SearchParts
from agentic_rag.memory.store import MemoryStore, Upkeep
from agentic_rag.models.chats import as_chat, chat_from_config
from agentic_rag.models.embeddings import as_embedding
from agentic_rag.models.endpoint import Spending
from agentic_rag.models.rerankers import ConfiguredRerankers
from agentic_rag.nodes.request import DEFAULT_DATASET, DEFAULT_TOP_K
from agentic_rag.opening import (
    Reach,
    Stores,
    changing_stores,
    check_reranker,
    closed_by,
    embedding_from_config,
    further_sources,
    open_budget,
    open_calibration,
    open_stores,
    token_counter,
    word_nats,
)
from agentic_rag.questions.note_queries.vocabulary import prepared_vocabulary
from agentic_rag.retrieval.catalogue import Catalogue
from agentic_rag.retrieval.engine import RetrievalEngine
from agentic_rag.retrieval.graph_engine import GraphEngine
from agentic_rag.retrieval.ports import SourceQuery
from agentic_rag.settings.config import RagConfig
from agentic_rag.state import AUTO, AskOptions, QuestionOptions
from agentic_rag.workers import Workers, join_workers

if TYPE_CHECKING:
    from langchain_core.embeddings import Embeddings
    from langchain_core.messages import AIMessage, AnyMessage
    from langchain_core.retrievers import BaseRetriever
    from langchain_core.runnables import Runnable
    from langchain_core.tools import BaseTool
    from langgraph.types import StateSnapshot

    from agentic_rag.backup import BackupReport
    from agentic_rag.boards.checking import CheckReport
    from agentic_rag.boards.files import BoardReport
    from agentic_rag.boards.reviews import Reviews
    from agentic_rag.boards.selection_base import BaseReport, SelectionBase
    from agentic_rag.domain.filters import Expression
    from agentic_rag.domain.progress import Progress
    from agentic_rag.ingest.engines import IngestEngine
    from agentic_rag.ingest.pipeline import IngestPipeline, IngestReport
    from agentic_rag.ingest.watching import WatchReport
    from agentic_rag.notes.catalogue import Schema, Snapshot
    from agentic_rag.retrieval.config import Strategy
    from agentic_rag.retrieval.schemas import RetrievalResult
    from agentic_rag.stores.lancedb.reindex import ReindexReport
    from agentic_rag.stores.lancedb.vector_tables import Reindexable

LOCAL_USER = "local"
"""Who answers boards where no user is named."""
STATEMENTS = "agentic_rag.memory.reading.statements"
"""What the first text that is remembered needs, and no question does."""
WARM_UP = "Where is it warm? 哪里暖和？"
"""In both scripts, whose dictionaries are loaded when they are first met."""
TOOL_NAME = "ask_notes"
TOOL_DESCRIPTION = (
    "Look something up in the user's notes. Returns an answer whose claims end in marks like [1], then each mark's "
    "quote and the note it stands in; or says that the notes do not have it."
)
"""Of ``as_tool``, where none are given."""

logger = logging.getLogger(__name__)

_LANGGRAPHS = ("checkpoint_", "__pregel_")
"""Beginnings of the keys of ``configurable`` by which LangGraph runs a graph."""
_REQUEST = "request_id"
"""In the metadata of a checkpoint."""


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


@dataclass(frozen=True, slots=True, repr=False)
class Rag:
    """Everything open. ``graph`` is the compiled LangGraph graph; the rest is what it stands on."""

    config: RagConfig
    graph: RagGraph
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
    _turns: WeakValueDictionary[str, asyncio.Lock] = field(
        default_factory=WeakValueDictionary, repr=False, compare=False
    )
    """By the id of a conversation, the lock of whoever asks in it."""

    def __repr__(self) -> str:
        return f"Rag(data_dir={str(self.config.data_dir)!r})"

    @property
    def embedding(self) -> Embedding:
        """The embedding of questions and of ingested texts."""
        return self.parts.embedding

    @property
    def chat(self) -> Chat | None:
        """The chat model, where one is configured."""
        return self.parts.chat

    async def warm_up(self) -> None:
        """Search every dataset once, so that no question waits for models, dictionaries, tables, graph links and the names
        of notes.

        No search where the embedding model is behind an endpoint: its calls are paid for.

        Raises:
            StoreError, ModelError: something cannot be loaded; a question will tell it too.
        """
        await asyncio.to_thread(import_module, STATEMENTS)
        for dataset in await self.ledger.datasets():
            if user_of(dataset) is None:
                await asyncio.to_thread(prepared_vocabulary, await self._snapshot(dataset))
            if self.config.embedding.base_url is None:
                await asyncio.gather(
                    self.graph_engine.find(SourceQuery(dataset, WARM_UP), 1),
                    self.retrieval.find(SourceQuery(dataset, WARM_UP), 1),
                )

    async def ask(self, question: str, **options: Unpack[AskOptions]) -> Answer:
        """Ask a dataset; the answer cites a note for every claim.

        Args:
            question: in any language.
            operation: ``auto``, the default, chooses by the words; ``fusion["operation_reason"]`` says why.
            dataset: what was ingested under that name; ``default`` by default.
            filters: on properties of notes: ``{"year": {"$gte": 2023}}``.
            as_of: ISO 8601: what was known then.
            top_k: results to give, 1 to 1000; 10 by default.
            messages: the conversation before; a question that points back is completed from it.
            user_id: whose memories are asked besides the dataset.
            parameters: of this call alone: ``{"fusion": {"k": 20}}``.
            thread_id: of the conversation that a checkpointer keeps; None: nothing of the question is kept. Questions of
                one conversation wait for each other.
            config: of the graph's run, as LangGraph takes it: ``callbacks``, ``tags``, ``metadata``, ``run_name``, …; a node of
                another graph may pass its own on, whose thread is not this conversation.

        Raises:
            UnknownDataset: nothing was ingested under the name.
            InputError: something given cannot be read; the message says what to give.
            ConfigError: a parameter is wrong.
            AllSourcesFailed: neither source could answer.
        """
        thread_id = options.get("thread_id")
        async with self._turn(thread_id):
            run = await self._run(question, options)
            return Answer.of(await self._keeping(thread_id).ainvoke(**run))

    async def stream(
        self, question: str, *, request_id: str | None = None, **options: Unpack[AskOptions]
    ) -> AsyncGenerator[Step | str | Answer]:
        """``ask`` as it happens: each node when it has ended, the chat model's words as it writes, then the answer.

        Arguments and errors are those of ``ask``.

        Args:
            request_id: where the kept conversation has this request's answer, that answer is given again: a request
                whose answer got lost may be sent once more.
        """
        thread_id = options.get("thread_id")
        async with self._turn(thread_id):
            run = await self._run(question, options)
            if thread_id is not None and request_id is not None:
                run["config"].setdefault("metadata", {})[_REQUEST] = request_id
                given = await self._earlier_state(thread_id, request_id)
                if given is not None and _question(given) == question:
                    yield Answer.of(given)
                    return
            async with aclosing(self._parts(thread_id, run)) as parts:
                async for part in parts:
                    yield part

    async def _parts(self, thread_id: str | None, run: dict[str, Any]) -> AsyncGenerator[Step | str | Answer]:
        """The steps of a run, the chat model's words, and the answer."""
        started = time.perf_counter()
        state: dict[str, Any] = {}
        parts = self._keeping(thread_id).astream(**run, stream_mode=["updates", "messages", "values"])
        async with aclosing(cast(AsyncGenerator[Any], parts)) as streamed:
            async for mode, part in streamed:
                if mode == "values":
                    state = part
                elif mode == "messages":
                    message, where = part
                    if where.get("langgraph_node") == "answer" and message.type == "AIMessageChunk":
                        yield str(message.text)
                else:
                    ms = round((time.perf_counter() - started) * 1000, 1)
                    for node, written in part.items():
                        yield Step(node, ms, step_summary(node, written or {}))
        yield Answer.of(state)

    def as_tool(
        self, *, name: str = TOOL_NAME, description: str = TOOL_DESCRIPTION, **options: Unpack[AskOptions]
    ) -> BaseTool:
        """Asking as a tool for an agent: one argument, ``question``.

        The model gets the answer and its quotes, ``artifact`` the citations. ``ainvoke`` in the event loop of this ``Rag``,
        ``invoke`` from another thread.

        Args:
            name, description: what the model reads; say what the notes are about.
            options: of every ``ask``: ``dataset``, ``user_id``, ``filters``, ….
        """
        from agentic_rag.tools import answer_tool

        _check_names(options)
        return answer_tool(partial(self.ask, **options), self._loop, name, description)

    def as_retriever(self, **options: Unpack[AskOptions]) -> BaseRetriever:
        """The fused and reranked results as a langchain-core retriever; ``options`` are those of ``ask``."""
        from agentic_rag.tools import answer_retriever

        _check_names(options)
        return answer_retriever(partial(self.ask, **options), self._loop)

    @property
    def _loop(self) -> asyncio.AbstractEventLoop:
        loop = self.parts.loop
        return asyncio.get_running_loop() if loop is None else loop

    async def messages(self, thread_id: str) -> list[AnyMessage]:
        """The questions that a kept conversation answered and the answers, in order."""
        last = await self._last(thread_id)
        return [] if last.next else list(last.values.get("messages") or [])

    async def _last(self, thread_id: str) -> StateSnapshot:
        """What the last question that was answered left. One that failed in its middle left a state with a ``next``."""
        last = await self.graph.aget_state({"configurable": {"thread_id": thread_id}})
        while last.next and last.parent_config is not None:
            last = await self.graph.aget_state(last.parent_config)
        return last

    async def _earlier_state(self, thread_id: str, request_id: str) -> dict[str, Any] | None:
        """The state at the end of an earlier request of the conversation; None if there is none."""
        history = self.graph.aget_state_history(
            {"configurable": {"thread_id": thread_id}}, filter={_REQUEST: request_id}
        )
        async for state in history:
            if not state.next:
                return dict(state.values)
        return None

    def _keeping(self, thread_id: str | None) -> RagGraph:
        """Without a thread nothing is kept: nobody could name it, to read or to forget it."""
        return self.graph.copy({"checkpointer": False}) if thread_id is None else self.graph

    async def _resume_config(self, thread_id: str) -> dict[str, Any]:
        """The config of a run that goes on from there."""
        last = await self._last(thread_id)
        if last.next:  # nothing was answered yet
            await self.graph.checkpointer.adelete_thread(thread_id)  # type: ignore[union-attr]
        elif last.created_at is not None:
            return {"configurable": dict(last.config["configurable"])}
        return {"configurable": {"thread_id": thread_id}}

    async def _run(self, question: str, options: AskOptions) -> dict[str, Any]:
        """What the graph is called with; raises as ``ask`` does before it is."""
        _check_names(options)
        if not isinstance(question, str):
            raise InputError(f"the question must be a text, not {question!r}")
        if not question.strip():
            raise InputError("the question is empty; write what you want to know")
        thread_id = options.get("thread_id")
        if thread_id is not None and not self.graph.checkpointer:
            raise InputError(
                "thread_id needs a checkpointer, which keeps conversations; open the Rag with open_rag(checkpointer=…)"
            )
        # Each key is given: a thread holds those of the question before.
        keys = {name: options.get(name) for name in QuestionOptions.__annotations__}
        # The graph's own default of the operation is another one.
        keys |= {"query": question, "operation": options.get("operation") or AUTO}
        keys["messages"] = list(options.get("messages") or [])
        await self.require_dataset(options.get("dataset") or DEFAULT_DATASET)
        config: dict[str, Any] = {**(options.get("config") or {})}
        run: dict[str, Any] = {"input": keys, "context": options.get("parameters"), "config": config}
        if thread_id is None:
            return run
        # The config of a node of another graph has its thread, checkpoint and channels too, which are not this graph's.
        given = {
            key: value
            for key, value in (config.get("configurable") or {}).items()
            if not key.startswith(_LANGGRAPHS)
        }
        kept = (await self._resume_config(thread_id))["configurable"]
        # One checkpoint at the end: a run of a tenth of a second is asked again rather than resumed.
        return run | {"config": {**run["config"], "configurable": {**given, **kept}}, "durability": "exit"}

    @asynccontextmanager
    async def _turn(self, thread_id: str | None) -> AsyncIterator[None]:
        """Questions of one conversation take turns, so that each is completed from the one before it."""
        if thread_id is None:
            yield
            return
        async with self._turns.setdefault(thread_id, asyncio.Lock()):
            yield

    def write_board(self, answer: Answer, path: str | Path, *, within: Path | None = None) -> BoardReport:
        """Write an answer as a board of an Obsidian vault, in the form of its operation.

        A board of the same question that lies there is brought up to date: what a person added, moved, edited or
        deleted stays so. Boards are never ingested as notes.

        Args:
            answer: cites the notes that the board shows.
            path: a ``.canvas`` file.
            within: the vault is looked for in this folder and beneath it alone; None: in all folders above the file.

        Raises:
            InputError: no ``.canvas`` file, the answer cites nothing, or the file is a board of a person's own, or
                another question's.
            RunError: the file cannot be written.
        """
        from agentic_rag.boards.files import write_board

        return write_board(answer.to_dict(), Path(path), within)

    async def selection_base(self, answer: Answer) -> SelectionBase:
        """The notes that a question about many notes selected, as an Obsidian Base: its text, and what it shows.

        Raises:
            InputError: the question selected no notes, or Obsidian would show none of them.
            FilterError: a Base cannot express the query.
            StoreError: the ledger cannot be read.
        """
        from agentic_rag.boards.selection_base import selection_base

        return selection_base(answer.state, (await self._snapshot(answer.dataset)).notes)

    async def write_base(self, answer: Answer, path: str | Path) -> BaseReport:
        """Write the notes that a question selected as a Base of an Obsidian vault, which shows them from then on.

        A Base that the same question wrote is replaced unless it was changed since.

        Raises:
            InputError: no ``.base`` file, the question selected no notes, Obsidian would show none of them, or the
                file is a person's own, or another question's.
            FilterError: a Base cannot express the query.
            RunError, StoreError: the file cannot be written, or the ledger not read.
        """
        from agentic_rag.boards.selection_base import write_selection

        return write_selection(answer.state, (await self._snapshot(answer.dataset)).notes, Path(path))

    async def check(
        self,
        board: str | Path,
        *,
        user_id: str = LOCAL_USER,
        at: datetime | None = None,
        within: Path | None = None,
    ) -> CheckReport:
        """Mark what a person wrote into a verification board, colour it, note what was wrong, schedule it.

        Args:
            board: a ``.canvas`` file that ``write_board`` wrote.
            user_id: whose answers they are.
            at: when they were given; None: now.
            within: as in ``write_board``; mistake notes are written in this vault.

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
            Path(board), names, self.reviews(user_id), at or datetime.now(UTC), chat=self.chat, within=within
        )

    def reviews(self, user_id: str = LOCAL_USER) -> Reviews:
        """The questions that a user answered on boards, and when each is to be asked again."""
        from agentic_rag.boards.reviews import FOLDER, Reviews

        return Reviews(self.config.data_dir / FOLDER, user_id)

    async def ingest(
        self,
        paths: str | Path | Iterable[str | Path],
        *,
        dataset: str = DEFAULT_DATASET,
        kind: str = "auto",
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
                result; see docs/distributed.md.
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
            join_workers(engine, address) as workers,
            self._pipeline(dataset, self._on(workers)) as pipeline,
        ):
            return await pipeline.run(given, dataset, kind, progress)

    @property
    def given_embedding(self) -> Embedding | None:
        """What a worker has to be given to embed as this one does: nothing where the configuration names the model."""
        return None if self.is_configured_embedding else self.embedding

    def _on(self, workers: Workers | None) -> IngestEngine | None:
        if workers is None:
            return None
        return workers.ingest_engine(self.config, self.given_embedding, self.chunks)

    async def watch(
        self,
        folders: str | Path | Iterable[str | Path],
        *,
        dataset: str = DEFAULT_DATASET,
        stop: asyncio.Event | None = None,
    ) -> AsyncGenerator[WatchReport]:
        """Keep a dataset equal to folders: caught up at once, then after every change; see ``ingest.watching``.

        Raises:
            InputError: a folder is none, or a bad dataset name.
        """
        from agentic_rag.ingest.remembered import DatasetCache

        with needing("following folders", "service"):
            from agentic_rag.ingest.watching import follow

        notes_dataset(dataset)
        remembered: DatasetCache = DatasetCache()

        async def ingest(paths: Sequence[Path]) -> IngestReport:
            async with self._pipeline(dataset) as pipeline:
                return await pipeline.run(paths, dataset, cache=remembered)

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
        ``ingest``; the workers embed. A user's memories are the dataset ``memory:`` and the user's id.

        Raises:
            UnknownDataset: nothing was ever stored under the name.
            ConfigError: the vectors are not in LanceDB.
            InputError, MissingExtra, RunError: as in ``ingest``.
            StoreError, ModelError: something failed; nothing has changed.
        """

        from agentic_rag.stores.lancedb.reindex import reindex

        dataset_name(dataset)
        stores = _reindexable(self.chunks, self.knowledge)
        if stores is None:
            raise ConfigError(
                "only vectors in LanceDB can be made anew in place; ingest into a new data folder instead"
            )
        async with join_workers(engine, address) as workers, changing_stores(self.config):
            if workers is None:
                return await reindex(stores, self.embedding, dataset, progress)
            embedding = await workers.embedding(self.config, self.given_embedding, self.embedding)
            return await reindex(stores, embedding, dataset, progress, at_once=embedding.at_once)

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
            known = without_memories(await self.chunks.datasets())
        if notes_dataset(dataset) not in known:
            raise UnknownDataset(dataset, known)

    async def schema(self, dataset: str = DEFAULT_DATASET) -> Schema:
        """What a dataset's notes state in a form that can be asked for, filtered by and kept as a Base.

        Its properties with their types and values, tags, folders, tasks and the properties of list items and rows,
        each with the number of notes. ``schema.to_dict()`` gives plain values.

        Args:
            dataset: what was ingested under that name.

        Raises:
            UnknownDataset: nothing was ingested under the name.
            StoreError: the ledger cannot be read.
        """
        await self.require_dataset(dataset)
        return (await self._snapshot(dataset)).schema

    async def _snapshot(self, dataset: str) -> Snapshot:
        catalogue = self.parts.catalogue or Catalogue(self.ledger)
        return await catalogue.snapshot(notes_dataset(dataset))

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

    async def related_facts(
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
        query = GraphQuery(name, vector, as_of)
        facts = await self.knowledge.search(dataset, query, limit=max(limit, 50))
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
        from agentic_rag.ingest.documents import DocumentWriter
        from agentic_rag.ingest.files.extraction import Extractor
        from agentic_rag.ingest.pipeline import IngestPipeline
        from agentic_rag.stores.lancedb.process_lock import only_one

        refusal = (
            f"dataset {dataset!r} is being ingested into or removed from already, here or in another process; "
            "wait until that ends (asking works meanwhile), or give all paths to one call"
        )
        extractor = await self._extractor()
        try:
            async with (
                changing_stores(self.config),
                only_one(str(self.config.data_dir), f"ingesting-{group_id(dataset)}", refusal),
            ):
                writer = DocumentWriter(
                    self.chunks, self.knowledge, self.embedding, token_counter(), extractor
                )
                yield IngestPipeline(writer, self.ledger, engine, Extractor.of(self.config.documents))
        finally:
            if extractor is not None:
                await extractor.close()

    async def _extractor(self) -> GraphExtractor | None:
        if self.config.graph.extraction == "written":
            return None
        if self.config.chat.base_url is None:
            raise ConfigError("graph.extraction is 'chat' but chat.base_url is not set")
        from agentic_rag.stores.graphiti.extractor import extractor_from_config

        return await extractor_from_config(self.knowledge, self.config.chat, self.spending)


def _check_names(options: Mapping[str, Any]) -> None:
    """Raises ``TypeError`` where ``ask`` has no such option."""
    if unknown := options.keys() - AskOptions.__annotations__.keys():
        raise TypeError(
            f"ask has no argument {sorted(unknown)[0]!r}; it takes {', '.join(sorted(AskOptions.__annotations__))}"
        )


def _question(values: Mapping[str, Any]) -> str | None:
    """The last one of a state."""
    asked = [str(message.text) for message in values.get("messages") or [] if message.type == "human"]
    return asked[-1] if asked else None


def _reindexable(*stores: ChunkStore | GraphStore) -> list[Reindexable] | None:
    """The stores, where the vectors of all of them can be made anew."""
    from agentic_rag.stores.lancedb.vector_tables import Reindexable

    able: list[Reindexable] = [store for store in stores if isinstance(store, Reindexable)]
    return able if len(able) == len(stores) else None


def _upkeep(stores: Stores, embedding: Embedding, data: Path) -> Upkeep:
    async def renew(dataset: str) -> None:
        from agentic_rag.stores.lancedb.reindex import renew_vectors

        if able := _reindexable(stores.chunks, stores.knowledge):
            await renew_vectors(able, embedding, dataset)

    async def discard(dataset: str) -> None:
        from agentic_rag.stores.set_aside import delete_tables

        await asyncio.to_thread(delete_tables, data, dataset)

    return Upkeep(stores.turn, renew, discard)


def _as_paths(paths: Any) -> list[Path]:
    """One path or several; ``InputError`` for anything else."""
    several = [paths] if isinstance(paths, str | Path) else paths
    listed = list(several) if isinstance(several, Iterable) else [several]
    if wrong := [one for one in listed if not isinstance(one, str | Path)]:
        raise InputError(f"paths are texts or Path objects, not {wrong[0]!r}")
    return [Path(one) for one in listed]


@asynccontextmanager
async def open_rag(
    config: RagConfig | None = None,
    *,
    embedding: Embedding | Embeddings | None = None,
    chat: Chat | Runnable[Any, AIMessage] | None = None,
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
    spending = open_budget(config, chats=chat is not None or config.chat.base_url is not None)
    given = None if chat is None else as_chat(chat, config.chat, spending)
    is_configured = embedding is None
    if embedding is not None:
        embedding = await as_embedding(embedding)
    async with AsyncExitStack() as stack:
        embedding = embedding or closed_by(stack, await embedding_from_config(config, spending))
        stores = await open_stores(config, embedding, stack)
        chunks, knowledge = stores.chunks, stores.knowledge
        talker = given or closed_by(stack, chat_from_config(config.chat, spending))
        calibration = await open_calibration(config, embedding)
        nats, count_tokens = word_nats(), token_counter()
        engine = RetrievalEngine(chunks, embedding, calibration, nats)
        graph_engine = GraphEngine(knowledge, chunks, embedding, calibration, nats)
        rerankers = ConfiguredRerankers(talker, reranker)
        await check_reranker(config.rerank, rerankers)
        memory = Memories(
            SearchParts(
                MemoryStore(
                    chunks,
                    knowledge,
                    embedding,
                    count_tokens,
                    _upkeep(stores, embedding, config.data_dir),
                    data=config.data_dir,
                ),
                engine,
                graph_engine,
            ),
            RuleStatements() if talker is None else ChatStatements(talker),
            Router({agent.memory_type: agent.strategies for agent in AGENTS}, talker),
        )
        parts = GraphParts(
            graph_engine,
            engine,
            embedding,
            chat=talker,
            rerankers=rerankers,
            memory=memory,
            catalogue=Catalogue(stores.ledger),
            loop=asyncio.get_running_loop(),
            sources=further_sources(config, stack),
        )
        graph = build_rag_graph(parts, config).compile(checkpointer=checkpointer, name="agentic_rag")
        yield Rag(
            config,
            graph,
            parts,
            retrieval=engine,
            graph_engine=graph_engine,
            chunks=chunks,
            knowledge=knowledge,
            ledger=stores.ledger,
            memory=memory,
            spending=spending,
            is_configured_embedding=is_configured,
            reach=stores.reach,
        )
