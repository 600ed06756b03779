"""What speaks for and against a span being the answer: what it is made of, and where it stands."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from functools import lru_cache

from agentic_rag.memory.reading.history import Sentence
from agentic_rag.memory.reading.questions import Question
from agentic_rag.memory.reading.spans import LONGEST, NO_START, STOPS, Span
from agentic_rag.memory.reading.words import Word

_DETERMINERS = frozenset("a an the my your his her our their its some this these those".split())
_PLACE = frozenset("in at to from near through around into".split())
_WAY = frozenset("by with through".split())
_REASON = frozenset("because 'cause cause since so to for".split())
_FINITE = frozenset(
    "is are was were am has have had do does did will would can could should it's that's i'm i've i'd i'll don't isn't "
    "they're we're you're there's he's she's".split()
)
_SELF = frozenset("i i'm i've i'd i'll me we us you you're".split())
_KIN = frozenset(
    "mother mom mum father dad dads parents sister brother wife husband partner friend friends son daughter kids family "
    "grandma grandmother grandpa grandfather aunt uncle cousin neighbor neighbour colleague coworker boss teacher "
    "instructor mentor coach doctor team girlfriend boyfriend buddy mate".split()
)
_NUMBERS = frozenset(
    "one two three four five six seven eight nine ten eleven twelve dozen hundred couple few several once twice half "
    "every daily weekly".split()
)
_UNITS = frozenset(
    "year years month months week weeks day days hour hours minute minutes time times decade".split()
)
_TIME = _UNITS | frozenset(
    "yesterday today tonight tomorrow last next ago recently lately weekend now".split()
)
_QUOTES = ('"', "“", "”", "‘", "’")
_BE = frozenset({"is", "are", "was", "were", "called", "named"})
_PREPOSITIONS = _PLACE | _WAY | {"for", "of", "on"}


def traits(span: Span, question: Question, group: str) -> dict[str, float]:
    """What speaks for and against a span, by name; each from 0 up, most in [0, 1]."""
    statement = span.statement
    own = list(span.words)
    found = {
        "support": statement.support,
        "own": statement.own,
        "about": float(statement.about),
    }
    found.update(_length(len(own), group))
    found.update(_inside(span, own, question, group))
    found.update(_outside(span, question, group))
    return {name: value for name, value in found.items() if value}


def _length(count: int, group: str) -> dict[str, float]:
    step = next(n for n, most in enumerate((1, 2, 3, 5, 8, LONGEST)) if count <= most)
    return {f"length {step}": 1.0, f"length {step} {group}": 1.0}


def _inside(span: Span, own: list[Word], question: Question, group: str) -> dict[str, float]:
    lowered = [word.lower for word in own]
    telling = [word for word in own if not word.function]
    known = sum(word.stem in question.terms for word in telling)
    found = {
        "known": known / len(own),
        "hollow": sum(word.function for word in own) / len(own),
        "determiner first": float(lowered[0] in _DETERMINERS),
        "self": float(any(word in _SELF for word in lowered)),
        "finite": float(any(word in _FINITE for word in lowered)),
        f"finite {group}": float(any(word in _FINITE for word in lowered)),
        "gerund first": float(lowered[0].endswith("ing")),
        f"gerund first {group}": float(lowered[0].endswith("ing")),
        f"name {group}": float(
            any(
                word.capital and (word.start > 0 or group == "who") and word.lower not in _SELF
                for word in own
            )
            and all(word.capital or word.function for word in own)
        ),
        "focus last": float(own[-1].stem in question.focus),
        "commas": float(min(2, span.text.count(","))),
        f"time {group}": float(any(word in _TIME for word in lowered)),
    }
    if group == "who":
        found["kin"] = float(any(word in _KIN for word in lowered))
    if group == "count":
        number = any(word in _NUMBERS or any(map(str.isdigit, word)) for word in lowered)
        found["number"] = float(number)
        found["unit"] = float(number and any(word in _UNITS for word in lowered))
    if group in {"why", "how"}:
        found[f"reason first {group}"] = float(lowered[0] in _REASON)
        found[f"way first {group}"] = float(lowered[0] in _WAY)
    return found


def _outside(span: Span, question: Question, group: str) -> dict[str, float]:
    before, after = _neighbours(span)
    left, right = _beside(span)
    gap = _gap(span, question)
    ends = after is None or bool(STOPS.match(right.strip() or " ")) or right.startswith(",")
    link = before.lower if before is not None else ""
    return {
        "opens": float(before is None or left.strip(" ").endswith((",", ".", "-", "–"))),
        "ends": float(ends),
        "ends before link": float(after is not None and after.lower in NO_START and not ends),
        "quoted": float(left.endswith(_QUOTES) and right.startswith(_QUOTES)),
        "near": 1.0 / (1 + gap) if gap is not None else 0.0,
        "after term": float(gap == 0 and before is not None and before.stem in question.terms),
        "after verb": float(_follows_verb(span, question)),
        "after be": float(link in _BE),
        f"after preposition {group}": float(link in _PREPOSITIONS),
        f"after reason {group}": float(link in _REASON),
        f"before focus {group}": float(after is not None and after.stem in question.focus),
        "splits name": float(_splits_name(span)),
        "after adjective": float(_follows_telling(before, left, question)),
        "before noun": float(after is not None and not after.function and right.startswith(" ")),
    }


def _neighbours(span: Span) -> tuple[Word | None, Word | None]:
    """The words on both sides."""
    words = span.statement.sentence.words
    before = words[span.first - 1] if span.first else None
    return before, words[span.last + 1] if span.last + 1 < len(words) else None


def _beside(span: Span) -> tuple[str, str]:
    """Two characters on both sides."""
    words, text = span.statement.sentence.words, span.statement.sentence.text
    start, end = words[span.first].start, words[span.last].end
    return text[max(0, start - 2) : start], text[end : end + 2]


def _splits_name(span: Span) -> bool:
    """Whether a word with a capital stands right beside one that the span begins or ends with."""
    before, after = _neighbours(span)
    left, right = _beside(span)
    own = span.words
    splits_first = before is not None and before.capital and before.start > 0 and own[0].capital
    splits_last = after is not None and after.capital and own[-1].capital
    return (splits_first and left.endswith(" ")) or (splits_last and right.startswith(" "))


def _follows_telling(before: Word | None, left: str, question: Question) -> bool:
    """Whether the word before says something that the question does not: an adjective of what is cut off."""
    if before is None or before.function or not left.endswith(" "):
        return False
    return before.stem not in question.terms and not before.lower.endswith("ing")


def _gap(span: Span, question: Question) -> int | None:
    """Words between the span and the nearest term of the question outside of it; None where there is none."""
    places = _term_places(span.statement.sentence, question.terms)
    before, behind = bisect_left(places, span.first), bisect_right(places, span.last)
    left = [span.first - n - 1 for n in places[max(0, before - 1) : before]]
    return min((*left, *(n - span.last - 1 for n in places[behind : behind + 1])), default=None)


@lru_cache(maxsize=64)
def _term_places(sentence: Sentence, terms: frozenset[str]) -> list[int]:
    """Where a sentence has the question's terms: of a long one, thousands of spans ask."""
    return [n for n, word in enumerate(sentence.words) if not word.function and word.stem in terms]


def _follows_verb(span: Span, question: Question) -> bool:
    """Whether the question's verb stands before the span, with function words at most between."""
    words = span.statement.sentence.words
    for n in range(span.first - 1, max(-1, span.first - 4), -1):
        if words[n].stem == question.verb:
            return True
        if not words[n].function:
            return False
    return False
