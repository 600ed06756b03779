"""What the reader has learned: when nothing answers. Fitted by ``evaluation/fit_reader.py``."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

FILE = Path(__file__).with_name("weights.json")


@dataclass(frozen=True, slots=True)
class ReaderWeights:
    """Coefficients of the offline reader."""

    doubt: Mapping[str, float]
    """By sign (see ``doubt.signs``), in log-odds: positive speaks for there being no answer."""
    abstain_from: float
    """Log-odds from which a sentence is withheld: it is right so seldom that little doubt outweighs it."""
    abstain_surer_from: float
    """The same for times and for one of a few offered answers, which are right more often."""
    fitted_on: tuple[str, ...]
    """Conversations; what the reader scores on them is not held out."""

    def to_dict(self) -> dict[str, Any]:
        """Plain values, in a fixed order."""
        values = asdict(self)
        return {name: values[name] for name in sorted(values)}


@lru_cache(maxsize=1)
def shipped() -> ReaderWeights:
    """The weights in the package."""
    values = json.loads(FILE.read_text(encoding="utf-8"))
    return ReaderWeights(**{**values, "fitted_on": tuple(values["fitted_on"])})
