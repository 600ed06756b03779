"""The floor under a search by vectors: a query that means nothing to a dataset finds nothing.

The nearest passages of gibberish are near as well: its best cosine is that of many a good match. What
tells them apart is how far the best stands out from an ordinary passage of the same dataset for the same
query, and whether any passage has the query's words. Where neither is so, a query that reads as language
may still be a hard question: what it finds is doubted, and kept. Gibberish finds nothing.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Mapping

import numpy as np

from agentic_rag.domain import search_text
from agentic_rag.ports import DatasetProfile, FloatArray
from agentic_rag.retrieval.calibration import COSINE_UNIT, Calibration, script_pair
from agentic_rag.retrieval.evidence import Legs
from agentic_rag.text import content_tokens, coverage, script, script_beside

Nats = Callable[[str], float]
"""Negative log-likelihood of a text under a tokenizer's unigram model."""
LATIN_NATS, CJK_NATS = 3.9, 11.5
"""Of a character of language: 97 % of the judged sets' questions cost less, 95 % of gibberish costs more."""
DOUBT = 0.6
"""Chosen on the hard questions of two vaults (``evaluation/datasets``), of which a fifth are refused, and
on twenty questions of our own about anything else, of which two pass."""
NO_WORDS: Mapping[str, float] = {"latin_cjk": 2.0, "cjk_latin": 1.0}
"""Log-odds for what is found where all of it is in another script than the question, by ``script_pair``. Chosen on
the notes in one language of two vaults: of their questions in the other, .56 and .59 were refused, now .33 and .10; of
everyday ones .98, now .87."""
HARDLY_ANY = 0.05
"""Share of the nearest passages that may be in the question's script all the same: a quotation, a table of names."""
LOOKED_AT = 3
"""Best passages of each leg whose words are compared."""
_LARGE = 2.7
"""Brings the square root of log(chunks) to about 1 for some thousand chunks."""


def standing_out(best: float, ordinary: float, chunks: int, unit: float = COSINE_UNIT) -> float | None:
    """How far the best cosine lies above an ordinary passage's, in ``unit``; None for a single chunk.

    The best of many lies higher by chance alone, by about the square root of the logarithm of their number.

    Args:
        best: the highest cosine.
        ordinary: the mean cosine over the dataset, the best among them.
        chunks: their number.
        unit: see ``Calibration.unit``.
    """
    if chunks < 2:
        return None
    above_the_others = (best - ordinary) * chunks / (chunks - 1)
    return above_the_others / unit / (math.sqrt(math.log(chunks + 1)) / _LARGE)


def reads_as_language(text: str, nats: Nats) -> bool:
    """Whether a text is made of words of some language, by what its characters cost."""
    if not any(map(str.isalnum, text)):
        return False
    characters = [character for character in text if not character.isspace()]
    usual = sum(CJK_NATS if script(character) == "cjk" else LATIN_NATS for character in characters)
    return nats(text) <= usual


def doubt(
    calibration: Calibration,
    query: str,
    legs: Legs,
    asked: FloatArray,
    profile: DatasetProfile | None,
    nats: Nats | None = None,
) -> float | None:
    """By how much, in log-odds, all that a search found is less relevant than it looks; None: it found nothing.

    0 where the best stands out or has the query's words. Otherwise the nearest may be only the nearest of
    what has nothing to do with the query: DOUBT, where the query reads as language; None where it does not.
    Less by NO_WORDS, and so below 0, where no passage is in the query's script.

    Args:
        calibration: of the model that ``asked`` and the cosines are of.
        query: what was searched for.
        legs: what was found; ``dense`` is among them.
        asked: the query's unit vector.
        profile: of the dataset that was searched; None where nothing is known of it.
        nats: tells language from what is none; None: nothing reads as language.
    """
    doubted = _doubt(calibration, query, legs, asked, profile, nats)
    return None if doubted is None else doubted - _no_words(query, legs)


def _doubt(
    calibration: Calibration,
    query: str,
    legs: Legs,
    asked: FloatArray,
    profile: DatasetProfile | None,
    nats: Nats | None,
) -> float | None:
    """Of the nearest that may only be the nearest."""
    nearest, sense = legs["dense"], calibration.sense
    if profile is None or not nearest:
        return 0.0
    ordinary, unit = float(np.dot(asked, profile.centre)), calibration.unit(script(query))
    out = standing_out(nearest[0].score, ordinary, profile.chunks, unit)
    if out is None or sense.is_met(out, 0.0):
        return 0.0
    words = frozenset(content_tokens(query))
    if any(sense.is_met(out, share) for share in _shares(words, legs)):
        return 0.0
    return DOUBT if nats is not None and reads_as_language(query, nats) else None


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
