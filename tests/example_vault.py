"""Where the vault lies that the README and many tests ask."""

from __future__ import annotations

from pathlib import Path

EXAMPLE_VAULT = Path(__file__).parents[1] / "examples" / "vault"
