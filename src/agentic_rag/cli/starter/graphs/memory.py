"""The memory graphs for LangGraph Studio and ``langgraph dev``.

Which memory design a run uses is its ``configurable`` value ``pipeline``: the path of a YAML file, by default
``configs/locomo_agentic_memory_pipeline.yaml``. What ``memory_insert`` is given, ``memory_test`` of the same
design finds; ``memory_main`` takes ``task_id`` and ``data`` (the path of a LoCoMo file).
"""

from __future__ import annotations

from pathlib import Path

from langchain_core.runnables import RunnableConfig
from langgraph.graph.state import CompiledStateGraph

from agentic_rag.settings.environment import load_config
from agentic_rag_lab.shared import shared_memory

_DESIGN = Path(__file__).resolve().parents[1] / "configs" / "locomo_agentic_memory_pipeline.yaml"
_memory = shared_memory(load_config())


async def main(config: RunnableConfig) -> CompiledStateGraph:  # type: ignore[type-arg]
    """MemorySource → PipelineCaller → MemorySink."""
    return await _memory.main(_design(config))


async def insert(config: RunnableConfig) -> CompiledStateGraph:  # type: ignore[type-arg]
    """PreInsert → MemoryInsert → PostInsert."""
    return await _memory.insert(_design(config))


async def test(config: RunnableConfig) -> CompiledStateGraph:  # type: ignore[type-arg]
    """PreRetrieval → MemoryRetrieval → PostRetrieval → MemoryTest."""
    return await _memory.test(_design(config))


def _design(config: RunnableConfig) -> Path:
    return Path((config.get("configurable") or {}).get("pipeline") or _DESIGN)
