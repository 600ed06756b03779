"""Assembles the memory graphs: a memory design's service and operators on real stores and models."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

from agentic_rag.domain.ports import Chat, Embedding, Reranker
from agentic_rag.errors import ConfigError
from agentic_rag.opening import check_writes, token_counter
from agentic_rag.rag import Rag, open_rag
from agentic_rag.settings.config import ChatConfig, EmbeddingConfig, RagConfig
from agentic_rag_lab.designs.config import PipelineConfig
from agentic_rag_lab.designs.data_parser import DataParser
from agentic_rag_lab.designs.graph import build_insert_graph, build_test_graph
from agentic_rag_lab.designs.memory import MemoryService
from agentic_rag_lab.designs.operators import OperatorTools, StepCallback
from agentic_rag_lab.designs.operators.memory_insert import MemoryInsert
from agentic_rag_lab.designs.operators.memory_retrieval import MemoryRetrieval, PreRetrieval
from agentic_rag_lab.designs.operators.memory_test import MemoryTest
from agentic_rag_lab.designs.operators.post_insert import PostInsert
from agentic_rag_lab.designs.operators.pre_insert import PreInsert
from agentic_rag_lab.designs.post_retrieval import PostRetrieval, PostRetrievalTools
from agentic_rag_lab.designs.reading import ChatReader, ExtractiveReader, Reader
from agentic_rag_lab.designs.runs import Pipelines
from agentic_rag_lab.designs.services import build_service
from agentic_rag_lab.designs.services.parts import ServiceParts

if TYPE_CHECKING:
    from langchain_core.embeddings import Embeddings
    from langchain_core.language_models import BaseChatModel

LINKED_SERVICES = ("vector_hash_memory", "vector_memory", "graph_memory", "agentic_memory")
"""The built-in services that know links between memories."""
_UNSAFE_CHARACTERS = re.compile(r"[^\w.-]+")


class MemoryLab:
    """Builds the memories of one design on one set of stores and models."""

    def __init__(
        self,
        config: PipelineConfig,
        rag: Rag,
        on_insert_step: StepCallback | None = None,
        on_test_step: StepCallback | None = None,
    ) -> None:
        self._config = config
        self._rag = rag
        self._on_insert_step = on_insert_step
        self._on_test_step = on_test_step
        self._count_tokens = token_counter()
        if config.runtime.llm_judge and rag.chat is None:
            raise ConfigError(
                "runtime.llm_judge needs a chat model; set runtime.base_url and runtime.model_name"
            )
        self._judge = rag.chat if config.runtime.llm_judge else None
        self._reader: Reader = (
            ExtractiveReader() if rag.chat is None else ChatReader(rag.chat, config.runtime.prompt_template)
        )
        self._reranker = self._new_reranker()

    @property
    def reader(self) -> str:
        """The method that answers: ``extractive`` or ``chat``."""
        return "extractive" if self._rag.chat is None else "chat"

    def build(self, name: str) -> Pipelines:
        """A new, empty memory with this name, and the graphs around it.

        Raises:
            ConfigError: an operator or service lacks a dependency; the message names the setting.
        """
        services, operators = self._config.services, self._config.operators
        service = self._service(name, services.register_memory_service)
        secondary = {other: self._service(f"{name}-{other}", other) for other in services.secondary_services}
        tools = OperatorTools(self._rag.embedding, self._rag.chat, self._count_tokens)
        parser = DataParser(services.memory_insert_adapter)
        insert = build_insert_graph(
            PreInsert(operators.pre_insert, tools),
            MemoryInsert(parser, service, tuple(secondary.values())),
            PostInsert(operators.post_insert, service, parser),
            self._on_insert_step,
        )
        post_retrieval_tools = PostRetrievalTools(
            service,
            self._reranker,
            self._rag.chat,
            self._count_tokens,
            linked_services=LINKED_SERVICES,
            secondary=secondary,
        )
        test = build_test_graph(
            PreRetrieval(operators.pre_retrieval, tools),
            MemoryRetrieval(service, self._config.runtime.top_k),
            PostRetrieval(operators.post_retrieval, post_retrieval_tools),
            MemoryTest(self._reader, self._judge),
            self._on_test_step,
        )
        return Pipelines(service, insert, test, tuple(secondary.values()))

    def _service(self, name: str, kind: str) -> MemoryService:
        rag = self._rag
        parts = ServiceParts(
            namespace=f"memory-{_UNSAFE_CHARACTERS.sub('_', name)}",
            embedding=rag.embedding,
            chunks=rag.chunks,
            knowledge=rag.knowledge,
            graph_engine=rag.graph_engine,
            ask=rag.graph,
            count_tokens=self._count_tokens,
            memories=rag.memory,
            seed=self._config.runtime.seed,
        )
        return build_service(kind, self._config.services.settings.get(kind), parts)

    def _new_reranker(self) -> Reranker | None:
        if self._config.runtime.rerank_model is not None:
            from agentic_rag.models.rerankers import CrossEncoderReranker

            return CrossEncoderReranker(self._config.runtime.rerank_model)
        if self._rag.chat is not None:
            from agentic_rag.models.rerankers import ChatReranker

            return ChatReranker(self._rag.chat)
        return None


@asynccontextmanager
async def open_lab(
    config: PipelineConfig,
    rag_config: RagConfig,
    *,
    embedding: Embedding | Embeddings | None = None,
    chat: Chat | BaseChatModel | None = None,
    on_insert_step: StepCallback | None = None,
    on_test_step: StepCallback | None = None,
) -> AsyncIterator[MemoryLab]:
    """Open the stores and models of a memory design; they are closed at the end.

    Only the design chooses the models, so that its file determines the result: without ``runtime.base_url`` there
    is no chat model, without ``runtime.embedding_base_url`` the bundled embedding is used.

    Args:
        config: the design.
        rag_config: configuration of the stores, and settings of the retrieval graph for ``agentic_memory``.
        embedding, chat: used instead of the design's models; not closed at the end.
        on_insert_step, on_test_step: called at each operator of the two graphs.

    Raises:
        ConfigError: the design lacks a required setting, or this process reads copies.
        ModelError: a configured endpoint does not answer; it is tested first.
        StoreError: a store cannot be opened.
    """
    check_writes(rag_config)
    async with open_rag(models_of(config, rag_config), embedding=embedding, chat=chat) as rag:
        if embedding is None and config.runtime.embedding_base_url is not None:
            await rag.embedding.embed_queries(["Is anybody there?"])
        if chat is None and rag.chat is not None:
            await rag.chat.complete("Reply with one word.", "Is anybody there?")
        yield MemoryLab(config, rag, on_insert_step, on_test_step)


def models_of(config: PipelineConfig, rag_config: RagConfig) -> RagConfig:
    """The configuration with the design's models only."""
    runtime = config.runtime
    embedding, chat = EmbeddingConfig(), ChatConfig()
    if runtime.embedding_base_url is not None:
        if runtime.embedding_model is None:
            raise ConfigError("runtime.embedding_base_url needs runtime.embedding_model beside it")
        embedding = EmbeddingConfig(
            base_url=runtime.embedding_base_url,
            model=runtime.embedding_model,
            api_key=rag_config.embedding.api_key,
        )
    if runtime.base_url is not None:
        if runtime.model_name is None:
            raise ConfigError(
                "runtime.base_url is set but runtime.model_name is not; name the model to ask for"
            )
        chat = ChatConfig(
            base_url=runtime.base_url,
            model=runtime.model_name,
            api_key=runtime.api_key or rag_config.chat.api_key,
            temperature=runtime.temperature,
            max_tokens=runtime.max_tokens,
        )
    return rag_config.model_copy(update={"embedding": embedding, "chat": chat})
