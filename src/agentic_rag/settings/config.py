"""Configuration: the parameters of a call, and the settings that are fixed when stores and models are opened.

Nothing here reads the environment or a file; ``environment.py`` does, for the command line and ``graphs/``.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from pydantic import Field, SecretStr, ValidationError, field_validator

from agentic_rag.errors import ConfigError
from agentic_rag.settings.addresses import has_password, is_http
from agentic_rag.settings.parameters import (
    AnswerParameters,
    FusionParameters,
    Parameters,
    RerankParameters,
    RetrievalParameters,
    RewriteParameters,
    Section,
    SelectionParameters,
    problems,
)

Values = Mapping[str, Any]
"""A section's settings by name."""


def endpoint_address(address: str | None) -> str | None:
    """The URL; ``ValueError`` if no client can use it. The error does not repeat it, because it may hold a
    password."""
    if address is not None and not is_http(address):
        raise ValueError("Write http://host:port/path or https://…, with a number as port")
    return address


class GraphConfig(Section):
    """Where the knowledge graph lives and how it is built."""

    backend: str = Field(
        "embedded",
        description="in the data folder, or also on a server: embedded, neo4j, falkordb (which needs the extra of that "
        "name), or one that an installed package adds",
    )
    uri: str | None = Field(
        None,
        description="address of a Neo4j or FalkorDB server; NAME@ before the host for another user than neo4j or default",
        repr=False,
    )
    password: SecretStr | None = Field(None, description="password on that server; never printed")
    extraction: Literal["written", "chat"] = Field(
        "written",
        description="facts from links, headings and properties of the notes, or by Graphiti with the chat model",
    )


class VectorsConfig(Section):
    """Where chunks, vectors and words are searched; the ledger and the graph's tables stay in LanceDB."""

    backend: str = Field(
        "lancedb",
        description="the vector store: lancedb, chroma, milvus, pgvector (each but lancedb needs the extra of that "
        "name), or one that an installed package adds",
    )
    uri: SecretStr | None = Field(
        None,
        description="URI of that store; required for pgvector, else inside data_dir; may contain a password, never printed",
    )


class EmbeddingConfig(Section):
    """Which model makes the vectors; no base_url means the bundled one."""

    base_url: str | None = Field(None, description="OpenAI-compatible endpoint", repr=False)
    model: str | None = Field(None, description="name the endpoint knows the model by")
    api_key: SecretStr | None = Field(None, description="API key; never printed")
    query_prefix: str = Field("", description="put before every question, if the model requires it")
    passage_prefix: str = Field("", description="put before every stored text; to change it, reindex")
    price: float = Field(0.0, ge=0, description="price of a million tokens, for costs and budget.cost")

    _address = field_validator("base_url")(endpoint_address)


class ChatConfig(Section):
    """The chat model for answers, rewrites and extraction; no base_url means none."""

    base_url: str | None = Field(None, description="OpenAI-compatible endpoint", repr=False)
    model: str | None = Field(None, description="name the endpoint knows the model by")
    api_key: SecretStr | None = Field(None, description="API key; never printed")
    timeout_seconds: float = Field(60.0, gt=0, description="time limit for one try")
    temperature: float | None = Field(
        None,
        ge=0,
        le=2,
        description="sampling temperature, 0 for the most likely answer; none: not sent, as some models refuse it",
    )
    max_tokens: int | None = Field(None, ge=1, description="longest answer; none: the endpoint's own limit")
    input_price: float = Field(
        0.0, ge=0, description="price of a million tokens sent, for costs and budget.cost"
    )
    output_price: float = Field(0.0, ge=0, description="price of a million tokens written")

    _address = field_validator("base_url")(endpoint_address)


class DocumentsConfig(Section):
    """Limits of the process that reads PDF and office files; at most four of them run at once, in 2 GB of memory each."""

    timeout_seconds: float = Field(
        60.0, gt=0, description="longest time for a file; then it is told and left out"
    )


class BudgetConfig(Section):
    """What the endpoints of models may use while a ``Rag`` is open: a command, a service, a ``with`` block."""

    tokens: int | None = Field(
        None, ge=1, description="most tokens sent, written and embedded; none: no limit"
    )
    cost: float | None = Field(None, gt=0, description="most cost, by the configured prices; none: no limit")

    @property
    def is_set(self) -> bool:
        return self.tokens is not None or self.cost is not None


class ServiceKey(Section):
    """An API key of the service, and whom it lets in."""

    key: SecretStr = Field(description="the key itself; never printed")
    user: str = Field("local", description="whose memories and conversations it opens")
    datasets: tuple[str, ...] | None = Field(
        None, description="datasets it may read and fill; left out: all; []: none"
    )

    @field_validator("user")
    @classmethod
    def _one_form(cls, user: str) -> str:
        """In NFC, so that however it was typed it is one user in every store."""
        if not user.strip():
            raise ValueError("it is blank; name the user")
        return unicodedata.normalize("NFC", user)


class ServiceConfig(Section):
    """What ``serve`` allows."""

    keys: tuple[ServiceKey, ...] = Field(
        (), description="API keys; needed on any address but loopback", repr=False
    )
    hosts: tuple[str, ...] = Field(
        (),
        description="host names that clients may use, besides localhost and the address it listens on; host.docker.internal for a front end in a container",
    )
    origins: tuple[str, ...] = Field(
        (), description="origins of pages that may call it from a browser: https://chat.example.org"
    )
    conversations: SecretStr | None = Field(
        None,
        description="PostgreSQL URI for kept conversations, extra postgres; none: SQLite in data_dir; never printed",
    )
    timeout_seconds: float = Field(60.0, gt=0, description="longest time for a question; then status 504")
    writes: bool = Field(
        True, description="false: a replica that only answers, beside one that fills datasets and remembers"
    )
    drain_seconds: float = Field(
        0.0,
        ge=0,
        description="time after SIGTERM in which requests are taken and /readyz has status 503, so that a load balancer notices",
    )

    @field_validator("origins")
    @classmethod
    def _are_origins(cls, origins: tuple[str, ...]) -> tuple[str, ...]:
        """Lowercase, as browsers send them."""
        for origin in origins:
            if not re.fullmatch(r"https?://[^\s/*?#@]+", origin.lower()):
                raise ValueError(
                    f"{origin!r} is not an origin; write scheme, host and port, without a path or a wildcard: "
                    "http://localhost:3000"
                )
        return tuple(origin.lower() for origin in origins)


class RagConfig(Parameters):
    """All of it. ``RagConfig(data_dir="data")`` needs nothing else."""

    data_dir: Path = Field(Path(".agentic-rag"), description="data folder")
    lancedb_uri: str | None = Field(
        None, description="None: inside data_dir; else a path or object-store URI", repr=False
    )
    storage_options: dict[str, str] = Field(
        default_factory=dict, repr=False, description="options of the object store; may contain its keys"
    )
    lancedb_copies: bool = Field(
        False, description="answer from copies of the tables in data_dir; such a process writes nothing"
    )
    sources: tuple[str, ...] = Field(
        (),
        description="further sources that questions are sent to, by the names that installed packages give them",
    )
    vectors: VectorsConfig = VectorsConfig()
    graph: GraphConfig = GraphConfig()
    embedding: EmbeddingConfig = EmbeddingConfig()
    chat: ChatConfig = ChatConfig()
    documents: DocumentsConfig = DocumentsConfig()
    budget: BudgetConfig = BudgetConfig()
    service: ServiceConfig = ServiceConfig()

    @field_validator("lancedb_uri")
    @classmethod
    def _place(cls, uri: str | None) -> str | None:
        if uri is not None and has_password(uri):
            raise ValueError("Write it without a login; keys of the object store belong in storage_options")
        return uri

    if (
        TYPE_CHECKING
    ):  # so that a misspelt name is an error in an editor too; a section is also given as a mapping

        def __init__(
            self,
            *,
            data_dir: str | Path = ...,
            lancedb_uri: str | None = None,
            storage_options: Mapping[str, str] = ...,
            lancedb_copies: bool = False,
            sources: Sequence[str] = (),
            vectors: VectorsConfig | Values = ...,
            graph: GraphConfig | Values = ...,
            embedding: EmbeddingConfig | Values = ...,
            chat: ChatConfig | Values = ...,
            documents: DocumentsConfig | Values = ...,
            budget: BudgetConfig | Values = ...,
            service: ServiceConfig | Values = ...,
            fusion: FusionParameters | Values = ...,
            retrieval: RetrievalParameters | Values = ...,
            rerank: RerankParameters | Values = ...,
            selection: SelectionParameters | Values = ...,
            rewrite: RewriteParameters | Values = ...,
            answer: AnswerParameters | Values = ...,
        ) -> None: ...

    else:

        def __init__(self, **values: Any) -> None:
            try:
                super().__init__(**values)
            except ValidationError as error:
                raise ConfigError(problems(error, RagConfig)) from error
