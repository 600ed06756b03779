"""Which units mean what a question asks, where none says it in its words.

    nearness = REACH + MEANING · (cosine of the unit with the question − the least cosine of those compared)

The vector of a unit is made of its title, heading and words, by the embedding model, at the time of the question: those of
all units are not stored. Where several units say all that is asked, about as clearly, the cosines put them in order; where one does, nothing is
compared. A unit that is not compared stays behind those that are.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from operator import attrgetter

import numpy as np

from agentic_rag.answering.evidence import Candidate
from agentic_rag.domain.ports import FloatArray

MEANING = 16.0
"""Weight of a cosine. Chosen, like MAX_UNITS, on 111 questions in other words than the notes': the right unit is the first for
63 and among the first three for 85, without it for 52 and 71; from 10 to 30 it is the same within two."""
MAX_UNITS = 8
"""Units that are compared, the best ones: each takes 10 ms of processor time, and twice as many find two more."""
REACH = 0.35
"""Distance in score from the best unit up to which others are compared, a little more than ``evidence.FIT``. Of 250 questions
the unit that wins is within it for 99 %; a third of the texts is left out, and 677 questions are answered right as often."""
MAX_ABOVE, MAX_TEXT = 50, 90
"""Code points that are read of what stands above a unit, and of the unit. To read 200 of both takes 30 to 60 ms of processor
time more; 3 of 1,577 questions were answered right by it, none of the 779 by which this was chosen."""


def unit_text(one: Candidate) -> str:
    """The beginning of the unit's words, behind that of its note's title, its innermost heading and what leads it."""
    above = (one.note.title, *one.unit.headings[-1:], one.unit.lead or "")
    return f"{': '.join(filter(None, above))[:MAX_ABOVE]}: {one.unit.display_text()[:MAX_TEXT]}"


def units_to_compare(candidates: Sequence[Candidate], within: float = REACH) -> list[Candidate]:
    """The first ones, of scores about the best one's.

    Args:
        candidates: by score descending.
        within: distance from the best score up to which they count.
    """
    return [one for one in candidates[:MAX_UNITS] if one.score >= candidates[0].score - within]


def with_nearness(candidates: Sequence[Candidate], cosines: FloatArray) -> list[Candidate]:
    """The candidates in their order, each with what its nearness to the question adds to its score.

    Args:
        candidates: best first.
        cosines: of the first ones' ``unit_text`` with the question, shape (compared,). One alone is compared with nothing, so
            that its cosine does not count.
    """
    gains = REACH + MEANING * (cosines - cosines.min(initial=1.0))
    nearer = [replace(one, nearness=float(gain)) for one, gain in zip(candidates, gains, strict=False)]
    return [*nearer, *candidates[len(nearer) :]]


def with_ties_in_order(candidates: Sequence[Candidate], cosines: FloatArray) -> list[Candidate]:
    """The candidates with the first ones by what they mean, the nearest first.

    Args:
        candidates: best first.
        cosines: of the first ones' ``unit_text`` with the question, shape (compared,).
    """
    order = np.argsort(-cosines, kind="stable")
    return [*(candidates[n] for n in order), *candidates[len(order) :]]


def by_total(candidates: Sequence[Candidate]) -> list[Candidate]:
    """The candidates by what they say and mean together, best first, ties in their order."""
    return sorted(candidates, key=attrgetter("total"), reverse=True)
