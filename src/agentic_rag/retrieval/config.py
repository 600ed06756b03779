"""Defaults of the retrieval module."""

from __future__ import annotations

from typing import Literal

Strategy = Literal["dense", "sparse", "hybrid"]

DEFAULT_TOP_K = 4
DEFAULT_SCORE_THRESHOLD = 0.0
RETRIEVAL_STRATEGY: Strategy = "hybrid"
MIN_CANDIDATES = 100
"""Minimum of chunks requested from each leg and judged together, whatever ``top_k`` is. A chunk low in one leg can
still win by both legs, and a passage has the same relevance under every ``top_k``."""
