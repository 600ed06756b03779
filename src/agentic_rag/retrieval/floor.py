"""The floor under a search by vectors: a query that means nothing to a dataset finds nothing.

The nearest passages of nonsense are near as well: its best cosine is that of many a good match. What tells
them apart, weighed together (see ``calibration.Sense``): how far the best stands out from an ordinary passage for the
same query, whether any passage has the query's words, what the query's characters cost, and whether it is nearer to one
language's passages than to another's. An ordinary passage is one of the dataset or of twenty reference passages, which
have nothing to do with the query: the cohort of score normalisation in speaker verification (Auckenthaler, Carey,
Lloyd-Thomas, Score Normalization for Text-Independent Speaker Verification Systems, 2000). A hard question may find
only the nearest: that is doubted, and kept.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping

import numpy as np

from agentic_rag.domain import search_text
from agentic_rag.domain.ports import DatasetProfile, FloatArray
from agentic_rag.retrieval.calibration import COSINE_UNIT, MOST_WORDS, Calibration, Legs, script_pair
from agentic_rag.text import content_tokens, coverage, script, script_beside

Nats = Callable[[str], float]
"""Negative log-likelihood of a text under a tokenizer's unigram model."""
LATIN_NATS, CJK_NATS = 3.9, 11.5
"""Of a character of language: 97 % of the judged sets' questions cost less, 95 % of gibberish costs more."""
CHEAP, DEAR = 0.85, 2.0
"""Share of them below and above which a text is no more and no less language: lorem ipsum is cheaper than questions.
CHEAP was chosen among .75 to .95, on the data that ``evaluation/fit_calibration.py`` fits the floor on."""
REFERENCE = 20
"""Reference passages in each script: they count as so many more of the dataset's."""
DOUBT = 0.6
"""Chosen on the hard questions of two vaults (``evaluation/datasets``), of which a fifth are refused, and
on twenty questions of our own about anything else, of which two pass."""
NO_WORDS: Mapping[str, float] = {"latin_cjk": 2.0, "cjk_latin": 1.0}
"""Log-odds for what is found where all of it is in another script than the question, by ``script_pair``, under the
floor and above it: no passage can have the words. Chosen on the notes in one language of two vaults: of their questions
in the other, .56 and .59 were refused, now .33 and .10; of everyday ones .98, now .87."""
HARDLY_ANY = 0.05
"""Share of the nearest passages that may be in the question's script all the same: a quotation, a table of names."""
LOOKED_AT = 3
"""Best passages of each leg whose words are compared."""


def standing_out(best: float, ordinary: float, unit: float = COSINE_UNIT) -> float:
    """How much higher the best cosine is than an ordinary passage's, in steps of ``unit`` (see ``Calibration.unit``)."""
    return (best - ordinary) / unit


def ordinary_cosine(best: float, mean: float, chunks: int, reference: float) -> float:
    """The mean cosine of what is not the best: the dataset's other chunks, and REFERENCE passages besides.

    Args:
        best: the highest cosine.
        mean: over the dataset, the best among them.
        chunks: their number, at least 1.
        reference: mean over the reference passages in the best passage's script.
    """
    return (mean * chunks - best + REFERENCE * reference) / (chunks - 1 + REFERENCE)


def nearer(ordinary: float, references: Collection[float], unit: float = COSINE_UNIT) -> float:
    """How much nearer a query is to one language's ordinary passages than to another's, in steps, at least 0.

    A question is nearer to what is in its own language, be it the dataset's; nonsense is about as near to all.

    Args:
        ordinary: see ``ordinary_cosine``.
        references: mean cosine over the reference passages of each script.
        unit: see ``Calibration.unit``.
    """
    return (max(ordinary, *references) - min(references)) / unit


def cost(text: str, nats: Nats | None) -> float:
    """What the characters of a text cost, as a share of what those of language do, in [CHEAP, DEAR].

    CHEAP where nothing tells: without a character, or without ``nats``.
    """
    usual = sum(
        CJK_NATS if script(character) == "cjk" else LATIN_NATS
        for character in text
        if not character.isspace()
    )
    if nats is None or not usual:
        return CHEAP
    return min(max(nats(text) / usual, CHEAP), DEAR)


def doubt(
    calibration: Calibration,
    query: str,
    legs: Legs,
    asked: FloatArray,
    profile: DatasetProfile | None,
    nats: Nats | None = None,
) -> float | None:
    """Log-odds to subtract from all results; None if the query is nonsense and finds nothing.

    0 if the best passage stands out or contains the query's words; otherwise DOUBT, because the nearest passage may
    be unrelated. Less NO_WORDS, and so below 0, if all passages are in another script than the query.

    Args:
        calibration: of the model that ``asked`` and the cosines are of.
        query: what was searched for.
        legs: what was found; ``dense`` is among them.
        asked: the query's unit vector.
        profile: of the dataset that was searched; None where nothing is known of it.
        nats: information content of characters, to recognise nonsense; None: every query counts as language.
    """
    nearest, sense, given = legs["dense"], calibration.sense, _no_words(query, legs)
    if profile is None or not nearest or not calibration.ordinary:
        return 0.0 - given
    share = max(_shares(frozenset(content_tokens(query)), legs), default=0.0)
    if share >= MOST_WORDS:  # notes may all be alike
        return 0.0 - given
    asked_in, best = script(query), nearest[0].score
    unit = calibration.unit(asked_in)
    references = {name: float(np.dot(asked, mean)) for name, mean in calibration.ordinary.items()}
    said_in = "cjk" if script_beside(asked_in, nearest[0].chunk.text) == "cjk" else "latin"
    mean = float(np.dot(asked, profile.centre))
    ordinary = ordinary_cosine(best, mean, profile.chunks, references[said_in])
    found = sense.found(standing_out(best, ordinary, unit), profile.chunks, share)
    language = nearer(ordinary, references.values(), unit) + calibration.nearer.get(asked_in, 0.0)
    if sense.logit(found + given, cost(query, nats), language) < sense.floor:
        return None
    return (DOUBT if found < sense.doubted else 0.0) - given


def _no_words(query: str, legs: Legs) -> float:
    """What is given where the nearest passages, but for notes' properties, are in another script than the query."""
    asked_in = script(query)
    nearest = [scored.chunk for scored in legs["dense"] if scored.chunk.kind != "properties"]
    pairs: Counter[str] = Counter()
    for chunk in nearest:
        pair = script_pair((asked_in, script_beside(asked_in, chunk.text)))
        pairs[pair] += 1
        if pair not in NO_WORDS and pairs[pair] > HARDLY_ANY * len(nearest):
            return 0.0  # as in most datasets, after the first few
    pair, count = max(pairs.items(), key=lambda told: told[1], default=("", 0))
    return NO_WORDS.get(pair, 0.0) if count >= (1 - HARDLY_ANY) * len(nearest) else 0.0


def _shares(words: frozenset[str], legs: Legs) -> Iterable[float]:
    for name in ("sparse", "dense"):
        for scored in legs.get(name, ())[:LOOKED_AT]:
            yield coverage(words, search_text(scored.chunk))
