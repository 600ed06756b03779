"""Memory designs that a server keeps open between runs.

LangGraph's server asks for its graphs at every run, and loads a file anew for each graph that the file defines.
"""

from __future__ import annotations

import asyncio
import os
from contextlib import AsyncExitStack
from dataclasses import dataclass
from pathlib import Path

from agentic_rag.domain.identity import digest
from agentic_rag.errors import InputError
from agentic_rag.settings.config import RagConfig
from agentic_rag_lab.designs.config import PipelineConfig, read_pipeline
from agentic_rag_lab.designs.conversation import Conversation
from agentic_rag_lab.designs.graph import build_main_graph
from agentic_rag_lab.designs.open_lab import MemoryLab, open_lab
from agentic_rag_lab.designs.runs import CompiledGraph, Pipelines, Runs
from agentic_rag_lab.evaluation.bench.conversations import read_tasks

FOLDER = "memory-studio"
"""Subfolder of the data folder with the stores of memory designs."""


@dataclass(frozen=True, slots=True)
class _Design:
    """An open design: one memory for its insert and test graphs, and a fresh one for each main run."""

    pipelines: Pipelines
    main: CompiledGraph


class SharedMemory:
    """Opens a design at its first use and keeps it open until ``close`` or the process ends."""

    def __init__(self, rag_config: RagConfig) -> None:
        self._rag_config = rag_config
        self._designs: dict[Path, _Design] = {}
        self._stack = AsyncExitStack()
        self._opening = asyncio.Lock()

    async def insert(self, design: Path) -> CompiledGraph:
        """The insert graph of a design; the same design's test graph finds what it inserted."""
        return (await self._get(design)).pipelines.insert

    async def test(self, design: Path) -> CompiledGraph:
        """The test graph of a design, on the memory that its insert graph fills."""
        return (await self._get(design)).pipelines.test

    async def main(self, design: Path) -> CompiledGraph:
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


_SHARED_MEMORIES: dict[Path, SharedMemory] = {}


def shared_memory(rag_config: RagConfig) -> SharedMemory:
    """The shared instance of this process and data folder: LangGraph's server loads a file anew for each of its
    graphs."""
    return _SHARED_MEMORIES.setdefault(rag_config.data_dir.absolute(), SharedMemory(rag_config))


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

    return Runs(load, open_pipelines, config.runtime)
