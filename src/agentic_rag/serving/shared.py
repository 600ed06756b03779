"""Resources that a server keeps open between runs: stores and models of the main graph, and memory designs.

LangGraph's server asks for its graphs at every run, and loads a file anew for each graph that the file defines.
"""

from __future__ import annotations

import asyncio
import gc
import logging
import os
from contextlib import AsyncExitStack
from dataclasses import dataclass
from pathlib import Path

# Imported at module level: an import at first use would block the server's event loop.
import agentic_rag.ingest.pipeline
import agentic_rag.models.bundled
import agentic_rag.stores.graphiti.store
import agentic_rag.stores.lancedb.chunk_store  # noqa: F401
from agentic_rag.domain.identity import digest
from agentic_rag.errors import InputError
from agentic_rag.evaluation.bench.conversations import read_tasks
from agentic_rag.lab.config import PipelineConfig, read_pipeline
from agentic_rag.lab.conversation import Conversation
from agentic_rag.lab.graph import build_main_graph
from agentic_rag.lab.open_lab import MemoryLab, open_lab
from agentic_rag.lab.runs import Compiled, Pipelines, Runs
from agentic_rag.rag import Rag, open_rag
from agentic_rag.settings.config import RagConfig

logger = logging.getLogger(__name__)


class SharedRag:
    """Opens at the first ``get`` and stays open until ``close`` or the process ends."""

    def __init__(self, config: RagConfig) -> None:
        self._config = config
        self._rag: Rag | None = None
        self._stack = AsyncExitStack()
        self._opening = asyncio.Lock()

    async def get(self) -> Rag:
        """The open ``Rag``; the same one for every caller."""
        async with self._opening:
            if self._rag is None:
                self._rag = await self._stack.enter_async_context(open_rag(self._config))
                # Imported modules and stores live until the end; collecting them sometimes costs a run 150 ms.
                gc.collect()
                gc.freeze()
                logger.info("opened stores and models of %s", self._config.data_dir)
            return self._rag

    async def close(self) -> None:
        """Close stores and models; the next ``get`` opens anew."""
        async with self._opening:
            self._rag = None
            await self._stack.aclose()


_RAGS: dict[Path, SharedRag] = {}


def shared_rag(config: RagConfig) -> SharedRag:
    """The shared instance of this process and data folder, for all graphs that use it."""
    return _RAGS.setdefault(config.data_dir.absolute(), SharedRag(config))


FOLDER = "memory-studio"
"""Subfolder of the data folder with the stores of memory designs."""


@dataclass(frozen=True, slots=True)
class _Design:
    """An open design: one memory for its insert and test graphs, and a fresh one for each main run."""

    pipelines: Pipelines
    main: Compiled


class SharedMemory:
    """Opens a design at its first use and keeps it open until ``close`` or the process ends."""

    def __init__(self, rag_config: RagConfig) -> None:
        self._rag_config = rag_config
        self._designs: dict[Path, _Design] = {}
        self._stack = AsyncExitStack()
        self._opening = asyncio.Lock()

    async def insert(self, design: Path) -> Compiled:
        """The insert graph of a design; the same design's test graph finds what it inserted."""
        return (await self._get(design)).pipelines.insert

    async def test(self, design: Path) -> Compiled:
        """The test graph of a design, on the memory that its insert graph fills."""
        return (await self._get(design)).pipelines.test

    async def main(self, design: Path) -> Compiled:
        """The main graph of a design; each run has its own memory."""
        return (await self._get(design)).main

    async def close(self) -> None:
        """Close all designs; the next use opens them anew."""
        async with self._opening:
            self._designs.clear()
            await self._stack.aclose()

    async def _get(self, design: Path) -> _Design:
        # Different paths to the same file name one design.
        design = Path(await asyncio.to_thread(os.path.realpath, design))
        async with self._opening:
            if design not in self._designs:
                self._designs[design] = await self._open(design)
            return self._designs[design]

    async def _open(self, design: Path) -> _Design:
        config = await asyncio.to_thread(read_pipeline, design)
        folder = self._rag_config.data_dir / FOLDER / f"{config.name}-{digest(str(design), size=4)}"
        rag_config = self._rag_config.model_copy(update={"data_dir": folder})
        async with (
            AsyncExitStack() as opened
        ):  # what fails closes what it opened: a server asks again and again
            lab = await opened.enter_async_context(open_lab(config, rag_config))
            pipelines = lab.build("studio")
            runs = _runs(config, lab)
            opened.push_async_callback(pipelines.close)
            opened.push_async_callback(runs.close)
            shown = _Design(pipelines, build_main_graph(runs))
            self._stack.push_async_callback(opened.pop_all().aclose)
        return shown


_SHARED: dict[Path, SharedMemory] = {}


def shared_memory(rag_config: RagConfig) -> SharedMemory:
    """The shared instance of this process and data folder: LangGraph's server loads a file anew for each of its
    graphs."""
    return _SHARED.setdefault(rag_config.data_dir.absolute(), SharedMemory(rag_config))


def _runs(config: PipelineConfig, lab: MemoryLab) -> Runs:
    opened = 0

    async def load(data: str | None, task_id: str) -> Conversation:
        path = Path(data) if data is not None else config.runtime.data
        if path is None:
            raise InputError(
                "no data: give the path of a LoCoMo file or of BEAM conversations as 'data', or set runtime.data"
            )
        task, *others = await asyncio.to_thread(read_tasks, path, task_id)
        if others:
            names = ", ".join(one.task_id for one in (task, *others))
            raise InputError(f"a run is of one conversation, not {task_id!r}; use one of: {names}")
        return task

    async def open_pipelines(conversation: Conversation) -> Pipelines:
        nonlocal opened
        opened += 1
        return lab.build(f"{conversation.task_id}-{opened}")

    runtime = config.runtime
    return Runs(
        load, open_pipelines, segments=runtime.test_segments, retest=runtime.retest, parallel=runtime.parallel
    )
