"""``ports.GraphExtractor`` on Graphiti's own ``add_episode``: a chat model reads each chunk for entities and facts.

Every chunk becomes an episode first, so that its text is stored and found whatever the model does. Then the model
reads the chunks in order, one at a time, as Graphiti requires. It skips unchanged chunks that it has read before,
so an interrupted ingest continues where it stopped.
"""

from __future__ import annotations

import importlib
import json
import logging
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from agentic_rag.domain import Chunk, DocumentGraph
from agentic_rag.domain.identity import episode_uuid, group_id
from agentic_rag.domain.ports import ExtractionOutcome, GraphStore
from agentic_rag.errors import ConfigError, ModelError
from agentic_rag.stores.graph.chunks import READ_BY
from agentic_rag.stores.graphiti.quarantine import FILE_NAME, Quarantine
from agentic_rag.stores.graphiti.store import GraphitiStore, translated_failure
from agentic_rag.text.prompts import fence_passages

if TYPE_CHECKING:
    from agentic_rag.models.endpoint import Spending
    from agentic_rag.settings.config import ChatConfig
    from agentic_rag.stores.graphiti.chat_client import ChatClient
    from agentic_rag.stores.graphiti.library import Graphiti


CONTEXT_CHUNKS = 3
"""Chunks before this one, of the same document, that the model is shown to resolve "she" and "there"."""
PARALLEL_CALLS = 4
"""Calls at the same time while one episode is read."""
GIVE_UP_AFTER = 3
"""Episodes in a row that an endpoint did not answer for; the rest of the ingest does not ask it again."""
_NONSENSE = (ValueError, TypeError, LookupError, AttributeError)
"""What Graphiti raises for an answer of the right shape that makes no sense."""

logger = logging.getLogger(__name__)


@dataclass
class _Tally:
    """What one ``extract`` did so far; mutable, of that call alone."""

    retry_count: int = 0
    attempts: int = 0
    failed_chunks: list[tuple[Chunk, str]] = field(default_factory=list)


class GraphitiExtractor:
    """Reads chunks with a chat model into a ``GraphitiStore``.

    Use one for one ingest: it stops asking an endpoint that has failed for several episodes in a row.

    Args:
        store: where episodes, entities and facts go.
        graphiti: the store's.
        client: the chat model.
        model: its name, kept with every episode it has read.
        quarantine: where episodes that could not be read are noted.
    """

    def __init__(
        self,
        store: GraphitiStore,
        graphiti: Graphiti,
        client: ChatClient,
        *,
        model: str,
        quarantine: Quarantine,
    ) -> None:
        from agentic_rag.stores.graphiti.library import Graphiti
        from agentic_rag.stores.graphiti.prompts import fenced_prompts

        self._store = store
        self._client = client
        self._model = model
        self.quarantine = quarantine
        self._graphiti = Graphiti(
            graph_driver=graphiti.driver,
            llm_client=client,
            embedder=graphiti.embedder,
            cross_encoder=graphiti.cross_encoder,
            max_coroutines=PARALLEL_CALLS,
            prompt_library=fenced_prompts(),
        )
        self._unanswered_calls = 0

    async def extract(self, dataset: str, graphs: Sequence[DocumentGraph]) -> ExtractionOutcome:
        """See ``ports.GraphExtractor``; ``episodes`` counts the chunks that had to be read, without skipped ones.

        A fact whose chunk has no date is dated only where its text states the year.

        Raises:
            ModelError: the endpoint refuses every call (key, model, address), the budget is spent, or the embedding
                failed.
            StoreError: the graph cannot be written.
        """
        chunks = [chunk for graph in graphs for chunk in graph.chunks]
        known = await self._already_read(dataset, chunks)
        texts = [DocumentGraph(graph.document_id, graph.chunks) for graph in graphs]
        await self._store.replace_documents(dataset, texts, keep=known)
        tally = _Tally()
        for graph in graphs:
            for place, chunk in enumerate(graph.chunks):
                if chunk.id not in known and _worth_reading(chunk):
                    before = graph.chunks[max(0, place - CONTEXT_CHUNKS) : place]
                    await self._attempt(dataset, chunk, before, tally)
        await self.quarantine.settle(dataset, [graph.document_id for graph in graphs], tally.failed_chunks)
        return ExtractionOutcome(
            episodes=tally.attempts,
            read_count=tally.attempts - len(tally.failed_chunks),
            retry_count=tally.retry_count,
            quarantine_count=len(tally.failed_chunks),
            unfinished_ids=tuple(sorted({chunk.document_id for chunk, _ in tally.failed_chunks})),
        )

    async def forget(self, dataset: str, document_ids: Sequence[str]) -> None:
        """Take removed documents out of the quarantine."""
        await self.quarantine.settle(dataset, document_ids)

    async def close(self) -> None:
        """Close the connections to the endpoint; the store stays open."""
        await self._client.close()

    async def _already_read(self, dataset: str, chunks: Sequence[Chunk]) -> set[str]:
        """Chunks that this model has read as they are now."""
        stored = await self._store.read_chunks(dataset, [chunk.id for chunk in chunks])
        return {
            chunk.id
            for chunk in chunks
            if chunk.id in stored
            and stored[chunk.id][1] == self._model
            and _read_of(chunk) == _read_of(stored[chunk.id][0])
        }

    async def _attempt(self, dataset: str, chunk: Chunk, before: Sequence[Chunk], tally: _Tally) -> None:
        """Read one chunk, or set it aside."""
        from agentic_rag.stores.graphiti.chat_client import CallFailed, Reading

        tally.attempts += 1
        if self._unanswered_calls >= GIVE_UP_AFTER:
            reason = f"not asked: the chat endpoint had failed for {GIVE_UP_AFTER} episodes in a row"
            tally.failed_chunks.append((chunk, reason))
            return
        now = Reading(undated_text=chunk.text if chunk.date is None else None)
        try:
            await self._read(dataset, chunk, before, now)
        except CallFailed as failure:
            self._unanswered_calls = self._unanswered_calls + 1 if failure.endpoint_down else 0
            tally.failed_chunks.append((chunk, str(failure)))
            logger.warning("quarantined an episode of %r: %s", dataset, failure)
        else:
            self._unanswered_calls = 0
        tally.retry_count += now.retry_count > 0

    async def _read(self, dataset: str, chunk: Chunk, before: Sequence[Chunk], now: Any) -> None:
        """Graphiti's ``add_episode`` on the stored episode; the chunk's metadata stays on it."""
        from agentic_rag.stores.graph.contribution import UNDATED_INSTANT
        from agentic_rag.stores.graph.rows import utc
        from agentic_rag.stores.graphiti.chat_client import CallFailed, reading

        token = reading.set(now)
        try:
            with translated_failure(f"reading a chunk of {dataset!r} with the chat model"):
                result = await _sensible(
                    lambda: self._graphiti.add_episode(
                        name=chunk.id,
                        episode_body=chunk.text,
                        source_description=chunk.path,
                        reference_time=utc(chunk.date) or UNDATED_INSTANT,
                        group_id=group_id(dataset),
                        uuid=episode_uuid(dataset, chunk.id),
                        previous_episode_uuids=[episode_uuid(dataset, other.id) for other in before],
                        custom_extraction_instructions=_instructions(chunk),
                    )
                )
                await self._finish(result, chunk, whole=now.failure is None)
        finally:
            reading.reset(token)
            await now.stop()
        if isinstance(now.failure, CallFailed):
            # Graphiti stores a fact without dates when the call for its dates fails, and says nothing.
            raise CallFailed(f"dates are missing: {now.failure}", endpoint_down=now.failure.endpoint_down)
        if now.failure is not None:
            raise now.failure

    async def _finish(self, result: Any, chunk: Chunk, *, whole: bool) -> None:
        """Note on the episode who has read it, and take the placeholder for a missing date off its facts."""
        from agentic_rag.stores.graph.contribution import UNDATED_INSTANT

        driver = self._graphiti.driver
        if chunk.date is None:
            own = [edge for edge in result.edges if set(edge.episodes) == {result.episode.uuid}]
            for edge in own:
                edge.reference_time = None
                if edge.valid_at == UNDATED_INSTANT and str(UNDATED_INSTANT.year) not in chunk.text:
                    edge.valid_at = None
            await driver.graph_operations_interface.save_facts(driver, own)
        noted = result.episode.episode_metadata or {}
        result.episode.episode_metadata = {**noted, READ_BY: self._model if whole else ""}
        await result.episode.save(driver)


async def extractor_from_config(
    store: GraphStore, config: ChatConfig, spending: Spending | None = None
) -> GraphitiExtractor:
    """The extractor for a Graphiti store and an OpenAI-compatible endpoint; its quarantine is beside the graph.

    Raises:
        ConfigError: another store, or no endpoint or model name is configured.
    """
    if not isinstance(store, GraphitiStore):
        raise ConfigError("graph.extraction 'chat' needs the Graphiti store; use 'written' with another")
    if config.base_url is None or config.model is None:
        raise ConfigError("graph.extraction is 'chat': set chat.base_url and chat.model")
    module = importlib.import_module("agentic_rag.stores.graphiti.chat_client")
    return GraphitiExtractor(
        store,
        await store.graphiti(),
        module.ChatClient(config, spending),
        model=config.model,
        quarantine=Quarantine(store.folder / FILE_NAME),
    )


async def _sensible(work: Callable[[], Awaitable[Any]]) -> Any:
    """The work's result; an answer that makes Graphiti raise counts as a failed call."""
    from agentic_rag.stores.graphiti.chat_client import CallFailed

    try:
        return await work()
    except ModelError:
        raise
    except _NONSENSE as error:
        raise CallFailed(
            f"the model gave an unusable answer ({type(error).__name__})", endpoint_down=False
        ) from error


def _worth_reading(chunk: Chunk) -> bool:
    """Not frontmatter, and not without a word."""
    return chunk.kind != "properties" and any(character.isalnum() for character in chunk.text)


def _read_of(chunk: Chunk) -> tuple[Any, ...]:
    """The fields of a chunk that the prompt contains."""
    return (chunk.text, chunk.title, chunk.heading_path, chunk.date)


def _instructions(chunk: Chunk) -> str:
    """Information missing in Graphiti's prompts: the source of the text, and that it has no date."""
    place = {"title": chunk.title, "under": list(chunk.heading_path)}
    told = (
        "The episode is a passage of a document. It stands here:\n"
        f"{fence_passages([json.dumps(place, ensure_ascii=False)])}"
    )
    if chunk.date is None:
        told += (
            "\nThe document has no date: ignore the reference time, it is a placeholder. Give a fact a date "
            "only if the passage itself states it."
        )
    return told
