"""Memory test, the marks: how far a predicted answer agrees with the right one, as LoCoMo counts it.

Lower case, without commas, punctuation and the words a, an, the, and; words by their Porter stem; Chinese,
Japanese and Korean by character. Punctuation of every script is dropped, where the published script knows that
of ASCII only; where nothing is left ("The The"), the words count as they stand.

Source: Maharana et al., Evaluating Very Long-Term Conversational Memory of LLM Agents, ACL 2024
(task_eval/evaluation.py of snap-research/locomo).
"""

from __future__ import annotations

import re
import threading
import unicodedata
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import lru_cache

import regex

from agentic_rag.errors import ConfigError
from agentic_rag.lab.agreement import agrees
from agentic_rag.text import CJK

CORRECT_FROM = 0.5
"""F1 from which an answer may count as correct; it must have more than this share of the truth's words too."""
ABSTENTIONS = ("not mentioned", "no information available")
"""An answer that says one of them says that there is none."""

_ARTICLES = frozenset({"a", "an", "the", "and"})
_TOKEN = regex.compile(rf"[{CJK}]|[^\s{CJK}]+")
_stemming = threading.Lock()


@dataclass(frozen=True, slots=True)
class Scores:
    """Marks of one answer."""

    f1: float
    """In [0, 1], higher is better."""
    exact_match: float
    """1.0 where the normalised words are the same, else 0.0."""
    is_correct: bool
    """Stricter than F1: F1 of at least ``CORRECT_FROM``, more than half of the truth's words, and the same
    affirmation or denial, dates and numbers (see ``agreement``); or an abstention that is right."""


def score(category: str, predicted: str, truth: str) -> Scores:
    """Marks by the rule of a question's category.

    ``multi-hop``: mean over the parts of the truth (between commas) of the best F1 that a part of the
    prediction has; ``open-domain``: F1 with the truth up to its first ``;``; ``single-hop``, ``temporal``: F1;
    ``adversarial``: 1 if the prediction says that it is not mentioned, else 0. An answerable question that is
    answered so gets 0.

    Raises:
        ConfigError: the category is none of these.

    >>> score("single-hop", "a dance studio", "the studio").f1 == 2 * (1 / 2 * 1) / (1 / 2 + 1)
    True
    """
    if category not in _RULES:
        raise ConfigError(f"unknown question category {category!r}; use one of: {', '.join(_RULES)}")
    return _RULES[category](predicted, truth)


def plain_score(predicted: str, truth: str) -> Scores:
    """Marks of an answer to a question without category: F1; where the truth is an abstention, whether
    the prediction is one too."""
    return _by_abstention(predicted, truth) if abstains(truth) else _marks(predicted, truth, token_f1)


def abstains(answer: str) -> bool:
    """Whether an answer says that there is none to be found."""
    said = answer.lower()
    return any(phrase in said for phrase in ABSTENTIONS)


def token_f1(predicted: str, truth: str) -> float:
    """Harmonic mean of precision and recall of the normalised words, in [0, 1]; 0 where none is shared."""
    given, wanted = normalised(predicted), normalised(truth)
    shared = sum((Counter(given) & Counter(wanted)).values())
    if not shared:
        return 0.0
    precision, recall = shared / len(given), shared / len(wanted)
    return 2 * precision * recall / (precision + recall)


def multi_answer_f1(predicted: str, truth: str) -> float:
    """Mean over the parts of the truth of the best F1 of a part of the prediction; parts stand between commas."""
    parts = predicted.split(",")
    wanted = truth.split(",")
    return sum(max(token_f1(part, one) for part in parts) for one in wanted) / len(wanted)


@lru_cache(maxsize=8192)
def normalised(text: str) -> tuple[str, ...]:
    """Words as they are compared."""
    lowered = text.lower().replace(",", "")
    plain = "".join(letter for letter in lowered if not unicodedata.category(letter).startswith("P"))
    # "$", "+", "<" and their like are symbols to Unicode, and punctuation to the published script.
    words = _TOKEN.findall(re.sub(r"[$+<=>^`|~]", "", plain))
    kept = [word for word in words if word not in _ARTICLES] or words
    with _stemming:
        return tuple(_porter().stemWords(kept))


def _plain(predicted: str, truth: str) -> Scores:
    return _marks(predicted, truth, token_f1)


def _multi_hop(predicted: str, truth: str) -> Scores:
    return _marks(predicted, truth, multi_answer_f1)


def _open_domain(predicted: str, truth: str) -> Scores:
    return _marks(predicted, truth.split(";")[0].strip(), token_f1)


def _by_abstention(predicted: str, truth: str) -> Scores:
    right = abstains(predicted)
    return Scores(float(right), float(right), right)


def _marks(predicted: str, truth: str, measure: Callable[[str, str], float]) -> Scores:
    if abstains(predicted) and not abstains(truth):
        return Scores(0.0, 0.0, False)
    f1 = measure(predicted, truth)
    words, wanted = normalised(predicted), normalised(truth)
    shared = sum((Counter(words) & Counter(wanted)).values())
    correct = f1 >= CORRECT_FROM and shared > CORRECT_FROM * len(wanted) and agrees(predicted, truth)
    return Scores(f1, float(bool(words) and words == wanted), correct)


_RULES: Mapping[str, Callable[[str, str], Scores]] = {
    "multi-hop": _multi_hop,
    "temporal": _plain,
    "open-domain": _open_domain,
    "single-hop": _plain,
    "adversarial": _by_abstention,
}


@lru_cache(maxsize=1)
def _porter():  # type: ignore[no-untyped-def]
    import snowballstemmer

    return snowballstemmer.stemmer("porter")
