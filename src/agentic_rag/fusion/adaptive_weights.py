"""Weights that follow how much the graph knows of a question: one rule, which acts where nobody gave weights.

    odds(graph's weight) · e^(STEEPNESS · (t − EVEN))

``t`` in [0, 1] is how telling the start of the graph's walk is (see ``retrieval.graph_relevance``): 1 where the
question names what one passage speaks of, .3 where it names a person who is everywhere, .4 where it names nothing
and facts are near. At EVEN the operation's weights are as they are. The vector store searches every question alike,
so what it knows does not vary as the graph's does.
"""

from __future__ import annotations

import math

from agentic_rag.domain.odds import probability

STEEPNESS, EVEN = 4.0, 0.57
"""EVEN is the mean over two vaults' questions that name something. Chosen on these and on the first halves of the
multi-hop sets and LoCoMo (``evaluation/bench_quality.py --ablation`` has the whole page with and without)."""


def adapted_weights(weights: tuple[float, float], telling: float) -> tuple[float, float]:
    """Weights (graph, vector store) after the rule, of the same sum; one of 0 stays 0.

    Args:
        weights: the operation's, at least 0.
        telling: in [0, 1].

    >>> [round(weight, 2) for weight in adapted_weights((0.3, 0.7), 1.0)]
    [0.71, 0.29]
    """
    graph, vector = weights
    if graph == 0 or vector == 0:
        return weights
    odds = math.log(graph) - math.log(vector) + STEEPNESS * (telling - EVEN)
    return probability(odds) * (graph + vector), probability(-odds) * (graph + vector)
