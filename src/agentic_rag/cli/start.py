"""Makes a cold ``ask`` quick: the model loads beside the imports, and what nobody uses is not imported."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec
from types import ModuleType

from agentic_rag.errors import UnknownDataset
from agentic_rag.settings.config import RagConfig

STORES = (
    "lancedb",
    "agentic_rag.stores.graphiti.engine",
    "agentic_rag.stores.lancedb.chunk_store",
    "agentic_rag.stores.lancedb.ledger",
)


def prepare(config: RagConfig, dataset: str) -> None:
    """Import what a question needs while the bundled model, if it is the one, loads in a thread.

    Raises:
        UnknownDataset: there is no data folder yet; asking must not make one.
    """
    if config.lancedb_uri is None and not config.data_dir.exists():
        raise UnknownDataset(dataset, [])
    if config.embedding.base_url is None:
        from agentic_rag.models.bundled import load_ahead

        load_ahead()
    with _unfound("pandas"):
        for name in STORES:
            importlib.import_module(name)


class _Unfound(MetaPathFinder):
    def __init__(self, name: str) -> None:
        self._name = name

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if fullname == self._name:
            raise ModuleNotFoundError(f"{fullname} is left out of this start", name=fullname)
        return None


@contextmanager
def _unfound(name: str) -> Iterator[None]:
    """Imports inside do not find a library that some of them take where it happens to be installed.

    pyarrow and neo4j import pandas (0.8 s) to convert to and from it, which nothing here asks them to.
    """
    finder = _Unfound(name)
    sys.meta_path.insert(0, finder)
    try:
        yield
    finally:
        sys.meta_path.remove(finder)
