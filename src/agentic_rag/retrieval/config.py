"""Defaults of the retrieval module."""

from __future__ import annotations

from typing import Literal

Strategy = Literal["dense", "sparse", "hybrid"]

DEFAULT_TOP_K = 4
DEFAULT_SCORE_THRESHOLD = 0.0
RETRIEVAL_STRATEGY: Strategy = "hybrid"
