"""Relevance by the graph alone: how often a walk comes by, and how telling the place is that it started from.

    log-odds(chunk) = intercept + telling · t + visits · t · ln(v)

``v`` in (0, 1] is how often the walk visits the chunk, of the most visited (see ``passage_graph``); ``t`` in (0, 1]
how telling the start is: the rarity of the most telling name in the question, or FACTS where it names nothing and
the walk starts at its nearest facts. 0.5 means what it means for the vector store (see ``calibration``). How
relevant the facts are that a chunk supports was tried as a term and told nothing more (``evaluation/fit_graph.py``,
which fits the three numbers).
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from agentic_rag.domain.odds import probability

FEWEST_VISITS = 1e-4
"""What a walk visits less counts as visited so often."""
NEAR_FACT = 0.9
"""Relevance from which a fact is near enough to start a walk at its ends."""
START_FACTS = 20
"""Facts it starts at, the nearest first."""
FACTS = 0.4
"""How telling they are together. With NEAR_FACT chosen on the two choosing vaults and the first halves."""


@dataclass(frozen=True, slots=True)
class GraphRelevance:
    """The three numbers; they ship with the embedding model, in ``calibration.json``."""

    intercept: float
    telling: float
    visits: float

    def logit(self, visits: float, telling: float) -> float:
        """Log-odds of relevance; ``visits`` and ``telling`` in (0, 1]."""
        walked = math.log(max(visits, FEWEST_VISITS))
        return self.intercept + telling * (self.telling + self.visits * walked)

    def relevance(self, visits: float, telling: float) -> float:
        """Relevance in [0, 1]."""
        return probability(self.logit(visits, telling))
