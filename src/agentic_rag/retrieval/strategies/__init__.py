"""One strategy a file; ``STRATEGIES`` maps the name a user gives to the class."""

from __future__ import annotations

from agentic_rag.retrieval.config import Strategy
from agentic_rag.retrieval.strategies.base import BaseStrategy
from agentic_rag.retrieval.strategies.dense import DenseStrategy
from agentic_rag.retrieval.strategies.hybrid import HybridStrategy
from agentic_rag.retrieval.strategies.sparse import SparseStrategy

STRATEGIES: dict[Strategy, type[BaseStrategy]] = {
    "dense": DenseStrategy,
    "sparse": SparseStrategy,
    "hybrid": HybridStrategy,
}
"""Every strategy by name."""

__all__ = ["STRATEGIES", "BaseStrategy", "DenseStrategy", "HybridStrategy", "SparseStrategy"]
