"""What the stages need of stores and models: protocols whose docstrings are the contracts.

Each port has an in-memory reference (``stores.in_memory``, ``testing``) and one conformance suite in
``tests/contract`` that every adapter passes. Every async method raises ``StoreError`` or
``ModelError`` (never a third-party exception) when the thing behind it fails.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from agentic_rag.domain import Chunk, DocumentGraph, FactHit
from agentic_rag.domain.filters import Expression
from agentic_rag.domain.token_vectors import Places, QuestionTokens

if TYPE_CHECKING:
    from langchain_core.messages import AIMessage, BaseMessage
    from langchain_core.tools import BaseTool

FloatArray = NDArray[np.float32]
TokenCounter = Callable[[Sequence[str]], Sequence[int]]
"""Number of model tokens of each text, in order; called with many texts at once."""


@runtime_checkable
class Embedding(Protocol):
    """Text to unit vectors in one space for questions and stored text.

    A text's vector depends on the text alone, not on its neighbours in the call. An empty list gives
    shape (0, dimension). Work runs off the event loop.
    """

    @property
    def name(self) -> str:
        """Identifies the model in the store's manifest."""

    @property
    def dimension(self) -> int: ...

    async def embed_queries(self, texts: Sequence[str]) -> FloatArray:
        """Vectors of questions, float32, shape (len(texts), dimension), L2 norm 1."""

    async def embed_passages(self, texts: Sequence[str]) -> FloatArray:
        """Vectors of stored text, float32, shape (len(texts), dimension), L2 norm 1."""


@dataclass(frozen=True, slots=True)
class PassageVectors:
    """Stored texts as a model sees them."""

    vectors: FloatArray
    """Unit vectors, float32, shape (texts, dimension)."""
    tokens: tuple[bytes, ...]
    """Each text's packed token vectors (see ``token_vectors``); empty where the model tells none apart."""


@runtime_checkable
class CachedEmbedding(Protocol):
    """An embedding that caches the vectors of questions."""

    def clear_cache(self) -> None:
        """Drop all cached vectors."""


@runtime_checkable
class CacheStatistics(Protocol):
    """An embedding that counts the hits and misses of its cache."""

    @property
    def cache_uses(self) -> dict[str, int]:
        """Questions since it was opened: ``found`` in the cache, ``made`` anew."""


@runtime_checkable
class TokenEmbedding(Embedding, Protocol):
    """An embedding that tells a text's tokens apart too, for late interaction."""

    async def embed_passage_tokens(self, texts: Sequence[str]) -> PassageVectors:
        """The vectors of ``embed_passages``, and the tokens of each text."""

    async def question_tokens(self, text: str) -> QuestionTokens:
        """A question's tokens, in the space of the passages', with their places in it."""

    def token_places(self, texts: Sequence[str]) -> list[Places]:
        """Of each text the places of the tokens that ``embed_passage_tokens`` packs, in their order, shape (tokens, 2);
        (0, 0) for a token that the model adds. Not to be written to."""


@dataclass(frozen=True, slots=True)
class Restriction:
    """What a search may return; applied before ranks are given.

    ``filters`` is evaluated on what ``domain.filterable`` says of a chunk (see ``filters``); a chunk with ``date`` after
    ``as_of`` is left out, one without a date passes. A fact holds if valid_at ≤ as_of < invalid_at,
    where a missing bound is open.
    """

    filters: Expression | None = None
    as_of: datetime | None = None

    def is_open(self) -> bool:
        return self.filters is None and self.as_of is None


@dataclass(frozen=True, slots=True)
class ScoredChunk:
    """A chunk found by one leg; ``score`` is the leg's own (cosine in [-1, 1], or BM25 ≥ 0), higher is better."""

    chunk: Chunk
    score: float
    vector: FloatArray | None = field(default=None, compare=False, repr=False)
    """The chunk's unit vector, where the store reads it along; else ``get_vectors`` has it."""


@dataclass(frozen=True, slots=True)
class DatasetProfile:
    """What an ordinary passage of a dataset is like."""

    chunks: int
    """About how many there are, at least 1."""
    centre: FloatArray
    """Mean of the unit vectors of some hundred chunks, or of all, shape (dimension,)."""


@dataclass(frozen=True, slots=True)
class EmbeddedDocument:
    """All chunks of one document with their vectors, shape (len(chunks), dimension)."""

    document_id: str
    chunks: tuple[Chunk, ...]
    vectors: FloatArray
    tokens: tuple[bytes, ...] = ()
    """Packed token vectors of each chunk (see ``token_vectors``), where the model tells tokens apart."""


@dataclass(frozen=True, slots=True)
class IndexStats:
    """One index of a table; rows that are not in it yet are found too, only slower."""

    column: str
    kind: str
    """As the store calls it: ``FTS``, ``IVF_SQ``, ``BTREE``, …"""
    indexed_rows: int
    unindexed_rows: int


@dataclass(frozen=True, slots=True)
class TableStats:
    """One table (or collection) of a dataset."""

    name: str
    """What it holds: ``chunks``, ``facts``, …"""
    rows: int
    indexes: tuple[IndexStats, ...] = ()
    versions: int | None = None
    """Of the table's past, that can still be read; None where a store keeps none."""
    size_bytes: int | None = None
    """On disk, with all versions and indexes; None where a store cannot tell."""
    old_bytes: int | None = None
    """Of these, what only old versions need, and a clean-up frees; None where a store cannot tell."""
    fragments: int | None = None
    """Pieces that its rows lie in; None where a store has none."""

    @property
    def unindexed_rows(self) -> int:
        """Number of rows that are missing from the table's least complete index."""
        return max((index.unindexed_rows for index in self.indexes), default=0)


@dataclass(frozen=True, slots=True)
class StoreStats:
    """What a store holds of one dataset; model, dimension and metric are None where nothing says them."""

    model: str | None
    dimension: int | None
    metric: str | None
    tables: tuple[TableStats, ...] = ()


@runtime_checkable
class ChunkReader(Protocol):
    """The vector half, by id: chunks with text, vector and metadata, one space per dataset."""

    async def get_chunks(self, dataset: str, chunk_ids: Sequence[str]) -> dict[str, Chunk]:
        """The chunks that exist among the ids."""

    async def document_chunks(self, dataset: str, document_ids: Sequence[str]) -> dict[str, list[Chunk]]:
        """All chunks of the documents that exist among the ids, by document id, in the order of the text."""

    async def get_vectors(self, dataset: str, chunk_ids: Sequence[str]) -> dict[str, FloatArray]:
        """Stored unit vectors of the chunks that exist among the ids."""

    async def get_token_vectors(self, dataset: str, chunk_ids: Sequence[str]) -> dict[str, bytes]:
        """Packed token vectors of those chunks among the ids that were stored with them."""

    async def count(self, dataset: str) -> int:
        """Number of chunks; 0 for an unknown dataset."""

    async def datasets(self) -> list[str]:
        """Names of the datasets that were ever written, sorted."""


@runtime_checkable
class ChunkSearch(ChunkReader, Protocol):
    """What the engines search by."""

    async def search_dense(
        self, dataset: str, vector: FloatArray, *, limit: int, restriction: Restriction
    ) -> list[ScoredChunk]:
        """Nearest chunks by cosine, descending, ties by chunk id; [] for a dataset without chunks."""

    async def search_sparse(
        self, dataset: str, text: str, *, limit: int, restriction: Restriction
    ) -> list[ScoredChunk]:
        """Best chunks by BM25 over title, heading path and text, descending, ties by chunk id.

        Any text is accepted; one without a searchable term gives [].
        """

    async def matching_chunk_ids(self, dataset: str, restriction: Restriction, *, limit: int) -> list[str]:
        """Up to ``limit`` chunk ids that the restriction lets pass, in id order."""

    async def filter_keys(self, dataset: str) -> set[str]:
        """Keys under which a chunk has something to filter by (see ``domain.filterable``), or had lately."""

    async def profile(self, dataset: str) -> DatasetProfile | None:
        """The dataset's profile, at most a minute old, with all that this process wrote since; None without chunks."""


@runtime_checkable
class ChunkWriter(ChunkReader, Protocol):
    """What an ingest writes, and compares with what it read."""

    async def replace_documents(self, dataset: str, documents: Sequence[EmbeddedDocument]) -> None:
        """Make each document's stored chunks exactly the given ones; idempotent.

        Who reads meanwhile, or after a crash, may find old chunks beside the new ones, and misses none that stay.

        Raises ``InputError`` on a duplicate document id, ``ManifestMismatch`` on a wrong dimension.
        """

    async def remove_documents(self, dataset: str, document_ids: Sequence[str]) -> None:
        """Remove every chunk of the documents; unknown ids are ignored."""

    async def document_ids(self, dataset: str) -> set[str]:
        """Every document that has a chunk."""

    async def optimize(self, dataset: str, *, purge: bool = False) -> None:
        """Compact and index what was written since; search is right without it, only slower.

        ``purge``: erase removed rows from the files too, as far as the store controls them. It rewrites the whole
        dataset, and concurrent readers may fail.
        """


@dataclass(frozen=True, slots=True)
class StagedRows:
    """Rows of documents that a process wrote into files of a table, which do not count until they are committed."""

    table: str
    """For which they were written."""
    document_ids: tuple[str, ...]
    items: tuple[str, ...]
    """Value items of the rows, for filters, as the store keeps them."""
    files: bytes
    """Description of the files that the commit needs."""


@runtime_checkable
class PieceStore(ChunkWriter, Protocol):
    """A store whose rows many processes can write ahead, and one commits at once."""

    async def prepare_staging(self, dataset: str) -> None:
        """Create the table that pieces are written into, if it is missing."""

    async def stage(self, dataset: str, documents: Sequence[EmbeddedDocument]) -> StagedRows:
        """Write all chunks of the documents, which nobody finds yet; a piece that is never committed only takes room."""

    async def commit_staged(self, dataset: str, pieces: Sequence[StagedRows]) -> None:
        """``replace_documents`` with pieces that were written ahead, as one version.

        Raises ``StoreError`` where the dataset was reindexed meanwhile: the pieces have to be written again.
        """


@runtime_checkable
class ChunkStore(ChunkSearch, ChunkWriter, Protocol):
    """The whole of it: what a store implements."""

    async def stats(self, dataset: str) -> StoreStats:
        """Statistics of the dataset's tables, ``chunks`` first; no table for an unknown dataset.

        Never ``ManifestMismatch``: it reports the model that made the vectors.
        """


@dataclass(frozen=True, slots=True)
class GraphCounts:
    """How much a dataset's graph holds."""

    entities: int
    facts: int
    episodes: int
    mentions: int


@dataclass(frozen=True, slots=True)
class GraphLinks:
    """Which chunk mentions which entity: a dataset's graph as a walk over it needs it.

    ``mentioning[i]`` and ``mentioned[i]`` are places in ``chunk_ids`` and in ``names``; each pair
    comes once, the first ones ascending. A fact's chunk mentions both its ends.
    """

    chunk_ids: Sequence[str]
    documents: NDArray[np.int32]
    """Of each chunk, the place of its document in ``titles`` and ``aliases``."""
    titles: Sequence[str]
    """Of each document."""
    aliases: Sequence[Sequence[str]]
    """Of each document: what else it is called."""
    dates: NDArray[np.datetime64]
    """Of each chunk, UTC, to the microsecond; NaT for none."""
    names: Sequence[str]
    """Of each entity."""
    labels: Sequence[Sequence[str]]
    """Of each entity."""
    mentioning: NDArray[np.int32]
    mentioned_entities: NDArray[np.int32]


@dataclass(frozen=True, slots=True)
class GraphQuery:
    """What a graph is searched for."""

    text: str
    """Any text."""
    vector: FloatArray
    """The text's, as a question."""
    as_of: datetime | None = None
    """As in ``Restriction``."""
    within: Sequence[str] | None = None
    """Only what comes from these chunk ids; None: all."""


@runtime_checkable
class GraphStore(Protocol):
    """The graph half: a temporal knowledge graph whose episodes are the chunks."""

    async def replace_documents(
        self,
        dataset: str,
        graphs: Sequence[DocumentGraph],
        *,
        vectors: Mapping[str, FloatArray] | None = None,
    ) -> None:
        """Make each document's episodes, facts and mentions exactly the given ones; idempotent.

        An entity lives while a fact or mention names it. All given documents change together, or,
        after a crash, are put right by calling again. ``vectors``: of sentences by text, where they were made already;
        the others are embedded.
        """

    async def new_texts(self, dataset: str, graphs: Sequence[DocumentGraph]) -> list[str]:
        """Facts' sentences that ``replace_documents`` would embed now, each once."""

    async def remove_documents(self, dataset: str, document_ids: Sequence[str]) -> None:
        """Remove episodes, facts and mentions of the documents, and entities nothing names any more."""

    async def search(self, dataset: str, query: GraphQuery, *, limit: int) -> list[FactHit]:
        """Up to ``limit`` facts for a query, by words and vector, ranked from 1; [] for a dataset without a graph."""

    async def links(self, dataset: str) -> GraphLinks | None:
        """Every chunk and entity and how they are linked; None where there is none.

        The same object as long as nothing has changed. Reading a large graph (over 5,000 chunks) anew after
        every write would cost more than it brings: it may lie a minute behind.
        """

    async def get_chunks(self, dataset: str, chunk_ids: Sequence[str]) -> dict[str, Chunk]:
        """Chunks as the graph's episodes hold them (so that the graph can answer alone)."""

    async def counts(self, dataset: str) -> GraphCounts:
        """Numbers of things held; zeros for an unknown dataset."""

    async def optimize(self, dataset: str, *, purge: bool = False) -> None:
        """Compact and index what was written since; see ``ChunkWriter``."""

    async def stats(self, dataset: str) -> StoreStats:
        """A table each of ``entities``, ``facts``, ``episodes`` and ``mentions`` where they exist; see ``ChunkStore``."""


@dataclass(frozen=True, slots=True)
class ExtractionOutcome:
    """How extraction by a chat model went: episodes to be read, read, tried again, set aside."""

    episodes: int
    read_count: int
    retry_count: int
    quarantine_count: int
    unfinished_ids: tuple[str, ...] = ()
    """Documents with an episode that was set aside; the next ingest gives them again."""


@runtime_checkable
class GraphExtractor(Protocol):
    """Builds the graph from episodes with a chat model instead of from what people wrote."""

    async def extract(self, dataset: str, graphs: Sequence[DocumentGraph]) -> ExtractionOutcome:
        """Replace the documents' part of the graph by what the model reads from their chunks.

        An episode that keeps failing is quarantined with the reason, and its text stays searchable;
        the others go on. Given again, only what was not read, or has changed, is read.
        """

    async def forget(self, dataset: str, document_ids: Sequence[str]) -> None:
        """Drop what is noted of documents that were removed."""

    async def close(self) -> None:
        """Close the connections to the model."""


@dataclass(frozen=True, slots=True)
class DocumentRecord:
    """What the ledger knows of one ingested document."""

    document_id: str
    root: str
    """Resolved path that was given to ingest; a document belongs to one root."""
    path: str
    content_hash: str
    graph_hash: str
    """Digest of the document's contribution to the graph, which also depends on other notes' names."""
    names: tuple[str, ...]
    """Title, aliases and file name by which other notes can mention it."""
    pending: bool
    """True from before a run writes or removes the document until both stores are done. It stays True after a
    killed run: the stores may hold any part of the document, and the next run repeats the work, whatever the file
    is now."""
    chunks: int = 0
    note: bytes = b""
    """Its row of the dataset's catalogue (``domain.notes.Note.pack``) as of the last run that stored it whole; empty
    before."""


@dataclass(frozen=True, slots=True)
class Failure:
    """A file that ended the process that reads it, or was more than its limits allow."""

    document_id: str
    root: str
    attempt: str
    """Digest of the content and the limits: with the same ones it is not tried again."""
    reason: str


@runtime_checkable
class Ledger(Protocol):
    """Which documents a dataset holds, and whether each was stored whole."""

    async def records(self, dataset: str) -> dict[str, DocumentRecord]:
        """The records of the dataset's documents, by document id."""

    async def put(self, dataset: str, records: Sequence[DocumentRecord]) -> None:
        """Insert or overwrite, all or none."""

    async def remove(self, dataset: str, document_ids: Sequence[str]) -> None: ...

    async def failures(self, dataset: str) -> dict[str, Failure]:
        """The failures, by document id; of documents with a record, for an earlier content, and of others."""

    async def replace_failures(self, dataset: str, failures: Sequence[Failure]) -> None:
        """Make the dataset's failures exactly these; a killed call may leave more of them."""

    async def datasets(self) -> list[str]:
        """Names of the datasets that hold a record, sorted."""


@runtime_checkable
class Reranker(Protocol):
    """Scores passages for a question; used by the configured alternatives to the offline rerank."""

    async def score(self, query: str, passages: Sequence[str]) -> list[float]:
        """One relevance in [0, 1] per passage, same order."""


@runtime_checkable
class Chat(Protocol):
    """A chat model, for answers, rewrites and extraction."""

    async def complete(self, system: str, user: str) -> str:
        """The model's text; raises ``ModelError``."""


@runtime_checkable
class MessageChat(Chat, Protocol):
    """A chat model that takes a conversation and gives a message, as those of langchain-core do."""

    async def respond(self, messages: Sequence[BaseMessage], tools: Sequence[BaseTool] = ()) -> AIMessage:
        """The model's message, with the id under which it was streamed; calls of ``tools`` are in it, not made.

        Raises:
            ModelError: the model failed, was cut off, or takes no tools.
        """
