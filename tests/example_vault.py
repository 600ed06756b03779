"""Path of the example vault of the README and many tests."""

from __future__ import annotations

from pathlib import Path

EXAMPLE_VAULT = Path(__file__).parents[1] / "examples" / "vault"
