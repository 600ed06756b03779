"""The relevance of a passage by its place in the graph."""

from __future__ import annotations

import math
from dataclasses import dataclass

from agentic_rag.domain.odds import probability

FEWEST_VISITS = 1e-4
"""Lower bound of ``v``: rarer visits count as this."""


@dataclass(frozen=True, slots=True)
class GraphRelevance:
    """Relevance by the graph alone, from the visits of a walk and the specificity of its start.

        log-odds(chunk) = intercept + specificity · t + visits · t · ln(v)

    ``v`` in (0, 1] is the chunk's number of visits divided by that of the most visited chunk (see
    ``passage_graph``); ``t`` in
    (0, 1] is the specificity of the start: the rarity of the rarest name in the question, or SPECIFICITY_OF_FACTS if the
    question names nothing and the walk starts at its nearest facts. The relevance of the facts that a chunk supports adds
    nothing (``evaluation/fit_graph.py`` fits the three numbers).
    """

    intercept: float
    specificity: float
    visits: float

    def logit(self, visits: float, specificity: float) -> float:
        """Log-odds of relevance; ``visits`` and ``specificity`` in (0, 1]."""
        walked = math.log(max(visits, FEWEST_VISITS))
        return self.intercept + specificity * (self.specificity + self.visits * walked)

    def relevance(self, visits: float, specificity: float) -> float:
        """Relevance in [0, 1]."""
        return probability(self.logit(visits, specificity))
