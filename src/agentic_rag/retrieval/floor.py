"""The floor under a search by vectors: a query that means nothing to a dataset finds nothing.

Nonsense has near passages too: its best cosine is often as high as that of a good match. Four features separate
the two, weighed together (see ``calibration.Sense``): the distance of the best cosine from that of an ordinary
passage, the share of the query's words in a passage, the information content of the query's characters, and the
difference between the query's cosines with the passages of two languages. An ordinary passage is one of the dataset or of twenty reference passages, which
have nothing to do with the query: the cohort of score normalisation in speaker verification (Auckenthaler, Carey,
Lloyd-Thomas, Score Normalization for Text-Independent Speaker Verification Systems, 2000). The results of a hard
question may be unrelated: their relevance is lowered (``doubt``), but they are kept.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping
from functools import lru_cache

import numpy as np
import regex

from agentic_rag.domain import search_text
from agentic_rag.domain.ports import DatasetProfile, FloatArray
from agentic_rag.retrieval.calibration import COSINE_UNIT, MAX_WORD_SHARE, Calibration, Legs, script_pair
from agentic_rag.text import content_tokens, coverage, script, script_beside, tokens
from agentic_rag.text.languages import function_words

Nats = Callable[[str], float]
"""Negative log-likelihood of a text under a tokenizer's unigram model."""
LATIN_NATS, CJK_NATS, MARKED_NATS, RARE_NATS = 3.9, 11.5, 5.0, 6.5
"""Nats per character of natural language: 97 % of the judged sets' questions cost less, 95 % of gibberish costs
more. MARKED_NATS holds for Arabic, Hebrew, Devanagari and Thai, RARE_NATS for the scripts that the tokenizer knows least,
such as Bengali; chosen on the first halves of the sets of docs/evaluation.md, Languages."""
_MARKED_SCRIPTS = regex.compile(r"[\p{Arabic}\p{Hebrew}\p{Devanagari}\p{Thai}]")
_HANGUL = regex.compile(r"\p{Hangul}")
_EUROPEAN = regex.compile(r"[\p{Latin}\p{Greek}\p{Cyrillic}\p{Common}\p{Inherited}]")
CHEAP, DEAR = 0.85, 2.0
"""Bounds of ``cost``, as a ratio to these nats; below CHEAP a lower cost says nothing: lorem ipsum is cheaper
than questions.
CHEAP was chosen among .75 to .95, on the data that ``evaluation/fit_calibration.py`` fits the floor on."""
REFERENCE = 20
"""Reference passages in each script; they count like as many further chunks of the dataset."""
DOUBT = 0.6
"""Log-odds. Chosen on the hard questions of two vaults (``evaluation/datasets``), of which a fifth are refused,
and on twenty of our own questions about other subjects, of which two pass."""
NO_WORDS: Mapping[str, float] = {"latin_cjk": 2.0, "cjk_latin": 1.0}
"""Log-odds added, by ``script_pair``, if all results are in another script than the question and so cannot have
its words; added both to the test against the floor and to the relevance. Chosen on two vaults with notes in one
language only: of their questions in the other language .56 and .59 were refused, now .33 and .10; of everyday
questions .98, now .87."""
KOREAN = 0.4
"""Log-odds added to the results of a Korean question, which are judged by the model of Chinese: the cosines of Korean texts
lie lower. Chosen on the first half of a set (TyDi QA): .04 of the questions with the right passage
first stay below a relevance of .5, before .09; of questions about other subjects .37 come above it, before .21."""
HARDLY_ANY = 0.05
"""Share of the nearest passages that may be in the question's script and still count as none: a quotation, a
table of names."""
LOOKED_AT = 3
"""Best passages of each leg whose words are compared."""


def standing_out(best: float, ordinary: float, unit: float = COSINE_UNIT) -> float:
    """How much higher the best cosine is than an ordinary passage's, in steps of ``unit`` (see ``Calibration.unit``)."""
    return (best - ordinary) / unit


def ordinary_cosine(best: float, mean: float, chunks: int, reference: float) -> float:
    """The mean cosine of the dataset's chunks without the best one, and of REFERENCE reference passages.

    Args:
        best: the highest cosine.
        mean: mean cosine over the dataset, the best chunk included.
        chunks: their number, at least 1.
        reference: mean over the reference passages in the best passage's script.
    """
    return (mean * chunks - best + REFERENCE * reference) / (chunks - 1 + REFERENCE)


def nearer(ordinary: float, references: Collection[float], unit: float = COSINE_UNIT) -> float:
    """Difference between the query's cosines with ordinary passages of the nearest and the farthest language, in
    steps, ≥ 0.

    A question is nearer to passages in its own language; nonsense is about as near to all languages.

    Args:
        ordinary: see ``ordinary_cosine``.
        references: mean cosine over the reference passages of each script.
        unit: see ``Calibration.unit``.
    """
    return (max(ordinary, *references) - min(references)) / unit


def cost(text: str, nats: Nats | None) -> float:
    """The nats of a text divided by those usual for its characters in natural language, in [CHEAP, DEAR].

    CHEAP for a text without characters, and without ``nats``.
    """
    usual = sum(_usual_nats(character) for character in text if not character.isspace())
    if nats is None or not usual:
        return CHEAP
    return min(max(nats(text) / usual, CHEAP), DEAR)


@lru_cache(maxsize=8192)
def _usual_nats(character: str) -> float:
    if script(character) == "cjk":
        return CJK_NATS
    if _EUROPEAN.match(character):
        return LATIN_NATS
    return MARKED_NATS if _MARKED_SCRIPTS.match(character) else RARE_NATS


def doubt(
    calibration: Calibration,
    query: str,
    legs: Legs,
    query_vector: FloatArray,
    profile: DatasetProfile | None,
    nats: Nats | None = None,
) -> float | None:
    """Log-odds to subtract from all results; None if the query is nonsense and finds nothing.

    0 if the best passage stands out or contains the query's words; otherwise DOUBT, because the nearest passage may
    be unrelated. Less NO_WORDS, and so below 0, if all passages are in another script than the query; less KOREAN if it is
    Korean.

    Args:
        calibration: of the model that ``query_vector`` and the cosines are of.
        query: what was searched for.
        legs: what was found; ``dense`` is among them.
        query_vector: the query's unit vector.
        profile: of the dataset that was searched; None where nothing is known of it.
        nats: information content of characters, to recognise nonsense; None: every query counts as language.
    """
    nearest, sense, given = legs["dense"], calibration.sense, _no_words(query, legs)
    eased = given + (KOREAN if _HANGUL.search(query) else 0.0)
    if profile is None or not nearest or not calibration.ordinary:
        return 0.0 - eased
    words = frozenset(content_tokens(query))
    share = max((*_shares(words, legs), *_shares(_naming(query, words), legs)), default=0.0)
    if share >= MAX_WORD_SHARE:  # notes may all be alike
        return 0.0 - eased
    asked_in, best = script(query), nearest[0].score
    unit = calibration.unit(asked_in)
    references = {name: float(np.dot(query_vector, mean)) for name, mean in calibration.ordinary.items()}
    said_in = "cjk" if script_beside(asked_in, nearest[0].chunk.text) == "cjk" else "latin"
    mean = float(np.dot(query_vector, profile.centre))
    ordinary = ordinary_cosine(best, mean, profile.chunks, references[said_in])
    found = sense.evidence_score(standing_out(best, ordinary, unit), profile.chunks, share)
    language = nearer(ordinary, references.values(), unit) + calibration.nearer.get(asked_in, 0.0)
    if sense.logit(found + given, cost(query, nats), language) < sense.floor:
        return None
    return (DOUBT if found < sense.unrelated_below else 0.0) - eased


def _no_words(query: str, legs: Legs) -> float:
    """The NO_WORDS of the query if its nearest passages, properties aside, are in another script; else 0."""
    asked_in = script(query)
    nearest = [scored.chunk for scored in legs["dense"] if scored.chunk.kind != "properties"]
    pairs: Counter[str] = Counter()
    for chunk in nearest:
        pair = script_pair((asked_in, script_beside(asked_in, chunk.text)))
        pairs[pair] += 1
        if pair not in NO_WORDS and pairs[pair] > HARDLY_ANY * len(nearest):
            return 0.0  # as in most datasets, after the first few
    pair, count = max(pairs.items(), key=lambda specificity: specificity[1], default=("", 0))
    return NO_WORDS.get(pair, 0.0) if count >= (1 - HARDLY_ANY) * len(nearest) else 0.0


def _naming(query: str, words: frozenset[str]) -> frozenset[str]:
    """The query's words without those of its language that name nothing, as ``content_tokens`` leaves those of English out."""
    return words.difference(stem for word in function_words(query) for stem in tokens(word))


def _shares(words: frozenset[str], legs: Legs) -> Iterable[float]:
    for name in ("sparse", "dense"):
        for scored in legs.get(name, ())[:LOOKED_AT]:
            yield coverage(words, search_text(scored.chunk))
