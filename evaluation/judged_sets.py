"""Judged sets in a chunk store, with cached embeddings; shared by several benchmarks."""

from __future__ import annotations

import hashlib
import random
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from agentic_rag import RagConfig, open_rag
from agentic_rag.domain import Chunk, search_text
from agentic_rag.domain.ports import ChunkStore, EmbeddedDocument, FloatArray, PassageVectors, Restriction
from agentic_rag.domain.token_vectors import Places, QuestionTokens
from agentic_rag.ingest.chunking import chunk_document
from agentic_rag.ingest.files.records import load_record, parse_record, record_id
from agentic_rag.ingest.files.source_text import SourceError
from agentic_rag.ingest.preparing import MAX_CHUNK_TOKENS
from agentic_rag.models.bundled import BundledEmbedding, count_tokens_batch
from agentic_rag.text import script
from agentic_rag_lab.evaluation.datasets import EvalQuery, load_dataset
from figures import DATA, HERE, OWN

CACHE = HERE / ".cache"
"""Sets that are part of this project, each over a vault of notes."""
CHOOSING_VAULTS = ("vault_night_sky", "vault_pottery")
"""Vaults that choose parameters and are reported nowhere; in two scripts."""
SETS = {
    "rgb/zh_fact": "beir/rgb/zh_fact",
    "rgb/en_fact": "beir/rgb/en_fact",
    "cranfield": "beir/cranfield",
    "scifact/train": "beir/scifact/train",
    "cmrc2018/trial": "beir/cmrc2018/trial",
    "hotpot_train100": "beir/multihop/hotpot_train100",
    "musique_train100": "beir/multihop/musique_train100",
    "2wiki_train500": "beir/multihop/2wiki_train500",
}
"""Display names of the sets, with their folders below the data."""


class KeptEmbedding:
    """The bundled model with vectors cached in files, one per set of texts.

    A vector depends on its text alone, so a file is valid for the same model and texts, which its name encodes.
    """

    name = BundledEmbedding.name
    dimension = BundledEmbedding.dimension

    def __init__(self, folder: Path) -> None:
        self._model = BundledEmbedding()
        self._folder = folder

    async def embed_passages(self, texts: Sequence[str]) -> FloatArray:
        return (await self._kept("passages", texts, self._model.embed_passage_tokens)).vectors

    async def embed_queries(self, texts: Sequence[str]) -> FloatArray:
        async def embed(texts: Sequence[str]) -> PassageVectors:
            return PassageVectors(await self._model.embed_queries(texts), (b"",) * len(texts))

        return (await self._kept("queries", texts, embed)).vectors

    async def embed_passage_tokens(self, texts: Sequence[str]) -> PassageVectors:
        return await self._kept("passages", texts, self._model.embed_passage_tokens)

    async def question_tokens(self, text: str) -> QuestionTokens:
        return await self._model.question_tokens(text)

    def token_places(self, texts: Sequence[str]) -> list[Places]:
        return self._model.token_places(texts)

    async def _kept(
        self, kind: str, texts: Sequence[str], embed: Callable[[Sequence[str]], Awaitable[PassageVectors]]
    ) -> PassageVectors:
        if len(texts) < 2:
            return await embed(texts)
        digest = hashlib.sha256("\0".join([self.name, kind, *texts]).encode("utf-8", "replace")).hexdigest()
        file = self._folder / f"{kind}-{digest[:24]}.npz"
        if file.is_file():
            with np.load(file) as held:
                tokens = np.split(held["tokens"], held["ends"])[:-1]
                return PassageVectors(held["vectors"], tuple(own.tobytes() for own in tokens))
        found = await embed(texts)
        self._folder.mkdir(parents=True, exist_ok=True)
        partial = file.with_suffix(".partial.npz")
        np.savez(
            partial,
            vectors=found.vectors,
            tokens=np.frombuffer(b"".join(found.tokens), dtype=np.uint8),
            ends=np.cumsum([len(tokens) for tokens in found.tokens]),
        )
        partial.rename(file)
        return found


@dataclass(frozen=True, slots=True)
class JudgedSet:
    """A judged set as chunks with vectors, and its queries with theirs."""

    name: str
    documents: tuple[EmbeddedDocument, ...]
    queries: tuple[EvalQuery, ...]
    query_vectors: FloatArray
    """Shape (queries, dimension)."""

    @property
    def chunks(self) -> list[Chunk]:
        return [chunk for document in self.documents for chunk in document.chunks]

    @property
    def vectors(self) -> FloatArray:
        """Vectors of ``chunks``, shape (chunks, dimension)."""
        return np.concatenate([document.vectors for document in self.documents])

    async def store(self, store: ChunkStore, dataset: str) -> None:
        """Write it as an ingest would, and index it."""
        for start in range(0, len(self.documents), 512):
            await store.replace_documents(dataset, self.documents[start : start + 512])
        await store.optimize(dataset)


def available(names: Sequence[str], data: Path = DATA) -> list[str]:
    """The sets whose files exist."""
    return [name for name in names if (data / SETS[name] / "corpus.jsonl").is_file()]


async def judged_set(
    name: str, data: Path = DATA, cache: Path = CACHE, limit: int | None = None
) -> JudgedSet:
    """Read, chunk and embed a set as ingest does; ``limit``: that many queries, evenly sampled."""
    folder = data / SETS[name]
    embedding = KeptEmbedding(cache)
    chunked: dict[str, tuple[Chunk, ...]] = {}
    for line in (folder / "corpus.jsonl").read_bytes().splitlines():
        try:
            record = load_record(line)
        except SourceError:
            continue
        document = parse_record(record, path=f"corpus.jsonl#{record_id(record)}")
        chunked[document.id] = chunk_document(
            document, max_tokens=MAX_CHUNK_TOKENS, count_tokens=count_tokens_batch
        )
    texts = [search_text(chunk) for chunks in chunked.values() for chunk in chunks]
    vectors = await embedding.embed_passages(texts)
    documents, at = [], 0
    for document_id, chunks in chunked.items():
        if chunks:
            documents.append(EmbeddedDocument(document_id, chunks, vectors[at : at + len(chunks)]))
        at += len(chunks)
    queries = load_dataset(folder).ranked_queries
    query_vectors = await embedding.embed_queries([query.text for query in queries])
    if limit is not None and len(queries) > limit:
        taken = np.linspace(0, len(queries) - 1, limit).round().astype(int)
        queries, query_vectors = tuple(queries[i] for i in taken), query_vectors[taken]
    return JudgedSet(name, tuple(documents), queries, query_vectors)


async def vault_set(name: str, folder: Path, cache: Path = CACHE) -> JudgedSet:
    """One of ``OWN``, ingested in ``folder``."""
    loaded, embedding = load_dataset(OWN / name), KeptEmbedding(cache)
    async with open_rag(RagConfig(data_dir=folder), embedding=embedding) as rag:
        await rag.ingest(loaded.source, dataset=name, kind=loaded.kind)
        ids = await rag.chunks.matching_chunk_ids(name, Restriction(), limit=100_000)
        chunks = await rag.chunks.get_chunks(name, ids)
        vectors = await rag.chunks.get_vectors(name, ids)
    by_document: dict[str, list[Chunk]] = {}
    for chunk in sorted(chunks.values(), key=lambda chunk: (chunk.document_id, chunk.ordinal)):
        by_document.setdefault(chunk.document_id, []).append(chunk)
    documents = tuple(
        EmbeddedDocument(document_id, tuple(own), np.stack([vectors[chunk.id] for chunk in own]))
        for document_id, own in by_document.items()
    )
    queries = loaded.ranked_queries
    return JudgedSet(name, documents, queries, await embedding.embed_queries([q.text for q in queries]))


def gibberish(queries: Sequence[str], seed: int = 7) -> list[str]:
    """About 150 meaningless strings: random letters, Han characters and signs, and queries with shuffled letters.
    (Not shuffled Han characters: those still carry the subject.)"""
    dice = random.Random(seed)

    def letters(alphabet: str) -> str:
        return "".join(dice.choice(alphabet) for _ in range(dice.randint(4, 12)))

    def shuffled(text: str) -> str:
        characters = [character for character in text if not character.isspace()]
        dice.shuffle(characters)
        return " ".join("".join(characters[i : i + 7]) for i in range(0, min(len(characters), 40), 7))

    han = "".join(chr(code) for code in range(0x4E00, 0x9FA5))
    latin = [query for query in queries if script(query) == "latin"]
    made = [shuffled(dice.choice(latin)) for _ in range(40) if latin]
    made += [" ".join(letters("bcdfghjklmnpqrstvwxz") for _ in range(dice.randint(1, 6))) for _ in range(50)]
    made += [" ".join(letters("abcdefghijklmnopqrstuvwxyz0123456789") for _ in range(3)) for _ in range(30)]
    made += [letters(han) for _ in range(30)]
    return made + [letters("!?#%&*()[]{}<>~^|/\\=+;:") + letters("qwxz") for _ in range(10)]
