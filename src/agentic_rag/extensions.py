"""Extension points: what an installed distribution adds by an entry point, without a change here.

| group | name | object |
|---|---|---|
| ``agentic_rag.commands`` | any | a ``typer.Typer``, whose commands ``agentic-rag`` has too |
| ``agentic_rag.vector_stores`` | value of ``vectors.backend`` | a ``VectorStore`` |
| ``agentic_rag.graph_servers`` | value of ``graph.backend`` | a ``stores.graph.servers.GraphServer`` |
| ``agentic_rag.engines`` | value of ``--engine`` | a ``workers.Engine``: a cluster for bulk work |
| ``agentic_rag.sources`` | one of ``sources`` in the settings | a function of a ``RagConfig`` that gives a ``retrieval.sources.Source`` |
| ``agentic_rag.readers`` | any | a subclass of ``ingest.files.readers.Reader``: the documents of another program's exports |
| ``agentic_rag.formats`` | any | an ``ingest.files.formats.Format`` or ``TextFormat``: the text of a kind of file |
| ``agentic_rag.actions`` | value of ``action`` | an ``Action`` of ``agentic_rag_lab.designs.post_retrieval``: a step after retrieval |
| ``agentic_rag.drawings`` | name of a graph | a function that builds a compiled graph for ``agentic-rag graph`` |

The packages of this distribution (service, lab, backends, readers) use the same points. An object is imported when it is used.
"""

from __future__ import annotations

from collections.abc import Awaitable, Mapping
from dataclasses import dataclass
from functools import cache
from importlib.metadata import EntryPoint, entry_points
from typing import TYPE_CHECKING, Any, Literal, Protocol

from agentic_rag.errors import InputError

if TYPE_CHECKING:
    from pathlib import Path

    from agentic_rag.domain.ports import ChunkStore
    from agentic_rag.settings.config import VectorsConfig

Group = Literal[
    "commands",
    "vector_stores",
    "graph_servers",
    "engines",
    "sources",
    "readers",
    "formats",
    "actions",
    "drawings",
]


class OpenVectorStore(Protocol):
    """Opens a store in a data folder or at a URI.

    Args:
        config: ``backend`` and ``uri``.
        folder: the data folder, where an embedded store lies if no URI says otherwise.
        model: name of the embedding model.
        dimension: length of its vectors.

    Raises:
        ConfigError: the URI is missing, or cannot be used.
        MissingExtra: a package is not installed.
        StoreError: the store cannot be opened.
    """

    def __call__(
        self, config: VectorsConfig, folder: Path, *, model: str, dimension: int
    ) -> Awaitable[ChunkStore]: ...


@dataclass(frozen=True, slots=True)
class VectorStore:
    """An entry of ``agentic_rag.vector_stores``."""

    open: OpenVectorStore
    file: str | None = None
    """Where an embedded store lies in the data folder if no URI says otherwise; None: it needs a URI, or keeps no
    file."""


@cache
def entries(group: Group) -> Mapping[str, EntryPoint]:
    """The installed entry points of ``agentic_rag.<group>``, by name. The first use in a process reads metadata of
    every installed distribution."""
    return {point.name: point for point in entry_points(group=f"agentic_rag.{group}")}


def load(
    group: Group, name: str, what: str, builtin: tuple[str, ...] = (), error: type[InputError] = InputError
) -> Any:
    """The object of an entry point.

    Args:
        group: without the prefix.
        name: of the entry.
        what: the kind of thing, as an error names it: ``vector store``.
        builtin: further names that the caller answers for, listed in the error.
        error: its kind.

    Raises:
        InputError (or ``error``): nothing installed has this name.
        MissingExtra: a package that the object needs is not installed.
    """
    point = entries(group).get(name)
    if point is None:
        names = ", ".join((*builtin, *sorted(set(entries(group)) - set(builtin))))
        raise error(f"unknown {what} {name!r}; use one of: {names}")
    return point.load()
