"""Puts a Graphiti over the tables together; importing this module imports Graphiti."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

from agentic_rag.domain.ports import Embedding
from agentic_rag.errors import ConfigError, ModelError
from agentic_rag.stores.graph.mirror import Mirror
from agentic_rag.stores.graph.tables import GraphTables
from agentic_rag.stores.graph.transactions import TableTransactions
from agentic_rag.stores.graphiti.driver_embedded import EmbeddedDriver
from agentic_rag.stores.graphiti.library import CrossEncoderClient, EmbedderClient, Graphiti, LLMClient
from agentic_rag.stores.graphiti.operations import GraphOperations
from agentic_rag.stores.graphiti.search_interface import LanceSearch


def build_graphiti(
    driver: Any | None,
    transactions: TableTransactions,
    tables: GraphTables,
    mirror: Mirror,
    embedding: Embedding,
) -> Graphiti:
    """A real Graphiti, whose writes are LanceDB's too, and whose searches LanceDB answers.

    Args:
        driver: of a graph server; None: what it writes is LanceDB's alone, by the transactions.
    """
    driver = driver or EmbeddedDriver(transactions)
    embedder = PortEmbedder(embedding)
    driver.search_interface = LanceSearch(tables)
    driver.graph_operations_interface = GraphOperations(tables, mirror, embedder)
    return Graphiti(
        graph_driver=driver,
        llm_client=NoLanguageModel(),
        embedder=embedder,
        cross_encoder=PassthroughReranker(),
    )


class PortEmbedder(EmbedderClient):  # type: ignore[misc]
    """``ports.Embedding`` as Graphiti's embedder; everything counts as stored text.

    Graphiti does not say whether it embeds a question or a name, so pass ``query_vector`` to its
    ``search_`` where a model tells the two apart.
    """

    def __init__(self, embedding: Embedding) -> None:
        self._embedding = embedding

    async def create(
        self, input_data: str | list[str] | Iterable[int] | Iterable[Iterable[int]]
    ) -> list[float]:
        if isinstance(input_data, str):
            texts = [input_data]
        else:
            texts = [item for item in input_data if isinstance(item, str)]
        if len(texts) != 1:
            raise ModelError("the embedder embeds one text at a time here, not token ids or several texts")
        return (await self.create_batch(texts))[0]

    async def create_batch(self, input_data_list: list[str]) -> list[list[float]]:
        vectors = await self._embedding.embed_passages(input_data_list)
        return [[float(x) for x in vector] for vector in vectors]


class PassthroughReranker(CrossEncoderClient):  # type: ignore[misc]
    """Keeps the order it is given; scores fall from 1, so that no floor of Graphiti's removes anything."""

    async def rank(self, query: str, passages: list[str]) -> list[tuple[str, float]]:
        return [(passage, math.exp(-position / 100)) for position, passage in enumerate(passages)]


class NoLanguageModel(LLMClient):  # type: ignore[misc]
    """Stands where Graphiti wants a language model: refuses when it is asked. ``extractor`` has one."""

    def __init__(self) -> None:
        super().__init__(config=None)

    async def _generate_response(self, *_: Any, **__: Any) -> dict[str, Any]:
        raise ConfigError("Graphiti asked for a language model and none is configured; set chat.base_url")
