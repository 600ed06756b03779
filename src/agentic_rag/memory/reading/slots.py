"""Slots that a clause fills or ends, by a fixed table of patterns; precision is preferred to recall.

A slot has exactly one value at a time and a clear name. Attributes with several values (friends, languages, skills)
have no slot; of what a person likes, each thing is a slot (see ``likings``).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import regex

from agentic_rag.ingest.facts.stopwords import CALENDAR_WORDS
from agentic_rag.memory.reading.likings import LIKINGS
from agentic_rag.memory.reading.schemas import EMPLOYER, JOB, LIKING, LIVES_IN
from agentic_rag.memory.reading.slot_patterns import (
    ANY_ATTRIBUTE,
    AS_ROLE,
    AT_ORG,
    ATTRIBUTES,
    CHANGE,
    NEGATION,
    NOT_A_PLACE,
    PREDICATES,
    Rule,
)
from agentic_rag.memory.reading.subjects import LEAD, SUBJECTS, who_is


@dataclass(frozen=True, slots=True)
class SlotStatement:
    """A clause's statement about one slot."""

    subject: str
    slot: str
    value: str
    """"" only if the clause ends any earlier value."""
    ends: bool
    rule: str
    """Name of the pattern."""
    past: bool = False
    """Whether it held in the past, and says nothing of the present."""


_BESIDE = regex.compile(r"\b(?:also|as\swell|too|either)\b", regex.IGNORECASE)
"""Says that something holds beside what was stated before, as only likings of several things do."""
_GUARD = regex.compile(
    r"\b(?:almost|nearly|if|unless|would|might|maybe|perhaps|probably|pretend\w*|imagin\w+|hypothetical\w*|allegedly|rumou?r\w*|joking|kidding|(?<!science\s)fiction\w*|dream|temporar\w+"
    r"|part[- ]time|second\sjob|side\s(?:job|gig))\b"
    r"|\bor\s(?!so\b|more\b|less\b)",
    regex.IGNORECASE,
)  # fmt: skip
_BRIEFLY = regex.compile(
    r"\b(?:for|during)\s(?:a|an|the|my|\d+|one|two|three|four|five|six|a\sfew)\s(?:short\s)?(?:nights?|days?|weeks?|weekend|semester|holidays?|vacation|trip|summer|winter)\b",
    regex.IGNORECASE,
)
_WE_MOVED = regex.compile(r"we(?:['’]ve|\shave)?(?:\s\w+)?\smoved\sto\b", regex.IGNORECASE)
"""Ambiguous: a team moves to a new tool as often as a family to a new town."""
_COMPANY = regex.compile(
    r"\b(?:Inc|Corp|Corporation|Ltd|LLC|GmbH|Labs?|Systems|Technologies|Group|Bank|Company|Co|Studios?|Solutions|Consulting)\b"
)
_AND = regex.compile(r",?\sand(?:\s(?:now|then|currently|also))?(?=\s)", regex.IGNORECASE)
_CHANGES = regex.compile(r"\b(?:now|instead|no\slonger|anymore|changed|updated|new)\b", regex.IGNORECASE)


def slot_statements(clause: str, speaker: str) -> list[SlotStatement]:
    """The statements of an asserted English clause about slots, in order.

    Args:
        clause: without a conjunction at its start.
        speaker: the person meant by "I" and "my".
    """
    lead = LEAD.match(clause)
    start = lead.end() if lead is not None else 0
    subject = SUBJECTS.match(clause, start)
    if subject is None or _GUARD.search(clause):
        return []
    beside = _BESIDE.search(clause) is not None
    return [one for one in _of_subject(clause, subject, speaker) if not beside or one.rule == LIKING]


def _of_subject(clause: str, match: regex.Match[str], speaker: str) -> Iterator[SlotStatement]:
    who = who_is(match, speaker)
    if who is None:
        return
    owns = match["the"] or match["owns"] or (match["possessive"] and (not match["relative"] or match["of"]))
    # "My boss" and "my wife's name" are slots of the speaker; only then are they tried as somebody else's.
    own = list(_attribute(clause, match.start("relative"), match, speaker)) if match["relative"] else []
    yield from own
    if owns and not own:
        yield from _attribute(clause, match.end(), match, who)
    if owns or own or _BRIEFLY.search(clause) or _WE_MOVED.match(clause, match.start()):
        return
    only = (LIVES_IN,) if match["we"] else ()
    yield from _predicates(clause, match.end(), who, only)


def _predicates(clause: str, at: int, who: str, only: tuple[str, ...]) -> Iterator[SlotStatement]:
    """The predicate at this position, and further ones joined by "and"."""
    for rule in (*PREDICATES, *LIKINGS):
        found = None if only and rule.slot not in only else rule.pattern.match(clause, at)
        if found is None:
            continue
        value = "" if rule.whatever else _clean(found["value"])
        if rule.slot == LIVES_IN and not _may_be_place(value):
            continue
        slot, value = (f"{rule.slot} {value}", rule.sign) if rule.sign else (rule.slot, value)
        yield SlotStatement(who, slot, value, rule.ends, rule.slot, rule.past)
        if rule.slot == EMPLOYER and rule.whatever:
            yield SlotStatement(who, JOB, value, rule.ends, rule.slot)
        yield from _goes_on(clause, found.end(), who, rule, only)
        return


def _goes_on(clause: str, at: int, who: str, rule: Rule, only: tuple[str, ...]) -> Iterator[SlotStatement]:
    if not rule.ends and not rule.past:
        beside = {EMPLOYER: AS_ROLE, JOB: AT_ORG}.get(rule.slot)
        more = None if beside is None else beside.pattern.match(clause, at)
        if beside is not None and more is not None:
            yield SlotStatement(who, beside.slot, _clean(more["value"]), False, beside.slot)
            at = more.end()
    joined = _AND.match(clause, at)
    if joined is not None:
        yield from _predicates(clause, joined.end(), who, only)
        # "I'm 28 and living in Oslo" leaves out the verb that the patterns require.
        yield from _predicates("'m" + clause[joined.end() :], 0, who, only)


def _attribute(clause: str, at: int, match: regex.Match[str], who: str) -> Iterator[SlotStatement]:
    if not ANY_ATTRIBUTE.search(clause, at):
        return
    at -= 1 if clause[at - 1 : at] == " " else 0
    for attribute, patterns in ATTRIBUTES:
        for number, pattern in enumerate(patterns):
            found = pattern.match(clause, at)
            if found is None:
                continue
            if attribute.rule == LIVES_IN and not _may_be_place(found["value"]):
                return
            slot = _slot_name(attribute.rule, found["slot"])
            changed = number == CHANGE or _CHANGES.search(clause) is not None
            # "The deadline" may be of anything, and "the budget is now" refers to a budget mentioned earlier.
            if not match["the"] or (attribute.about and (changed or _is_about(slot))):
                yield SlotStatement(who, slot, _clean(found["value"]), number == NEGATION, attribute.rule)
            return


def _slot_name(rule: str, slot_text: str) -> str:
    slot = " ".join(slot_text.lower().replace("’", "'").replace("favorite", "favourite").split())
    if rule in (JOB, LIVES_IN):
        return rule
    if rule == "e-mail":
        return slot.replace("email", "e-mail").removesuffix(" address")
    return f"{slot}'s name" if rule == "name of family" and not slot.endswith("name") else slot


def _is_about(slot: str) -> bool:
    return any(f" {word} " in slot for word in ("for", "of", "on"))


def _may_be_place(value: str) -> bool:
    first = value.lower().split()[:1]
    return not (first and first[0] in NOT_A_PLACE) and not _COMPANY.search(value) and _proper(value)


def _proper(place: str) -> bool:
    """Whether each word has a capital only at its start, or is an abbreviation of two or three letters."""
    return all(
        not any(map(str.isupper, part[1:])) or (part.isupper() and len(part) <= 3)
        for word in place.split()
        for part in word.replace("'", "-").replace("’", "-").split("-")
        if not part.startswith(("Mc", "Mac"))
    )


def _clean(value: str) -> str:
    words = value.strip(" \t.*_'’").split()
    while (
        len(words) > 1
        and words[-1].lower().strip(".,") in CALENDAR_WORDS
        and not any(map(str.isdigit, value))
    ):
        words.pop()
    return " ".join(words)
