"""English sentences to clauses, for reading them by pattern: where one begins, when and with whom it was."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

MAX_WORDS = 60
"""A longer sentence has lost its punctuation; where its clauses end cannot be told."""

_SUBJECT = r"(?:I|we|my|our|you|he|she|it|they|it's|that's|there's|this|that|let's|who|there)(?:'\w+)?\b"
_CLAUSE = rf"(?:(?:now |then |also |today |yesterday )?{_SUBJECT}|[\w']+ (?:is|are|was|were) (?:my|our)\b)"
_SPLIT = re.compile(
    rf"(\s*[;—–]\s*|\s+-+\s+|\s*[\u2600-\u27bf\U0001f000-\U0001faff]+\s*"
    rf"|,?\s+(?:and|but|so|because|'cause|cause|cuz|cos|(?:even )?though|although|plus|yet)\s+(?={_CLAUSE})|[,:]\s+(?={_CLAUSE}))",
    re.IGNORECASE,
)
_WHEN = (
    r"(?:yesterday|today|tonight|tomorrow|recently|lately|nowadays|these days|growing up|back then|the other day"
    r"|(?:last|this|next|earlier this|every|all) \w+(?: (?:morning|afternoon|evening|night))?"
    r"|(?:a|an|one|two|three|four|five|\d+|a few|a couple of|some|several) (?:\w+ )?(?:days?|weeks?|months?|years?|nights?) ago"
    r"|(?:back )?in (?:early |late |mid )?(?:\d{4}|[A-Z][a-z]+(?: \d{4})?)|on (?:\w+ )?[A-Z][a-z]+day"
    r"|(?:when|since|after) I was (?:a |\w+ )?\w+|as a (?:kid|child|\w+))"
)
_WHEN_ALONE = re.compile(rf"{_WHEN},?", re.IGNORECASE)
_LEADING_WHEN = re.compile(rf"(?P<when>{_WHEN}),?\s+(?=(?:I|we|my|our)\b)", re.IGNORECASE)
_OPENER = re.compile(
    r"(?:oh|ah|aw+|ugh|yeah|yep|yes|yup|no|nah|nope|well|hey|hi|hello|wow|whoa|woah|btw|by the way|so|and|but|actually"
    r"|honestly|also|plus|then|thanks|thank you|now|sure|true|ok|okay|absolutely|definitely|totally|exactly|for sure"
    r"|of course|anyway|luckily|unfortunately|fortunately|sadly|apparently|in fact|to be honest|yay|great|cool|nice"
    r"|awesome|haha|first|guess what|really|personally|for me|like you said|just|even|because|'cause|cause|cuz|no worries)"
    r"(?:,? [A-Z]\w+)?(?:[,!.:…]+\s*|\s+)|[A-Z]\w+[,!]\s+",
    re.IGNORECASE,
)
_WITH = re.compile(
    r"(?:(?:[Mm]e and )?(?P<mine>(?:[Mm]y|[Oo]ur) (?:[\w-]+ ){0,2}[\w-]+)|(?P<name>[A-Z][\w-]+)) and I (?P<rest>.+)",
    re.DOTALL,
)
_COMPANY_ALONE = re.compile(
    rf"(?i:(?:{_WHEN},?\s+)?)(?:(?:[Mm]e and )?(?:[Mm]y|[Oo]ur) (?:[\w-]+ ){{0,2}}[\w-]+|(?!Me\b)[A-Z][\w-]+)"
)
_ENDING = re.compile(r"[^\w)\"'%$€£]+\Z")


@dataclass(frozen=True, slots=True)
class Clause:
    """A clause without what opens it ("Yeah, Jon, …"), beginning with its subject where it has one."""

    text: str
    when: str = ""
    """The time that stood in front of it: "last week"."""
    company: str = ""
    """With whom "I" did it: "with my kids"."""

    @property
    def behind(self) -> str:
        """Company and time, as they go behind what was done."""
        return " ".join(part for part in (self.company, self.when) if part)


def clauses(sentence: str) -> Iterator[Clause]:
    """The clauses of a statement; none of a question.

    >>> [clause.text for clause in clauses("I love tea, but my dog is called Rex.")]
    ['I love tea', 'my dog is called Rex']
    """
    plain = " ".join(sentence.replace("’", "'").split())
    if plain.rstrip(" )\"'”").endswith("?") or len(plain.split()) > MAX_WORDS:
        return
    for part in _parts(plain):
        clause = _opened(_ENDING.sub("", part.strip()))
        if clause.text:
            yield clause


def _parts(sentence: str) -> Iterator[str]:
    """Pieces; a time goes with what it times, and company ("my kids and I") with what they did."""
    parts = _SPLIT.split(sentence)
    waiting = ""
    for part, joint in zip(parts[::2], [*parts[1::2], ""], strict=True):
        clause = f"{waiting}{part}"
        if _WHEN_ALONE.fullmatch(clause):
            waiting = f"{clause}, "
        elif joint.strip() == "and" and _COMPANY_ALONE.fullmatch(part):
            waiting = f"{clause} and "
        else:
            waiting = ""
            yield clause


def _opened(text: str) -> Clause:
    while match := _OPENER.match(text):
        text = text[match.end() :]
    when = ""
    if match := _LEADING_WHEN.match(text):
        when = match.group("when")[0].lower() + match.group("when")[1:]
        text = text[match.end() :]
    if match := _WITH.match(text):
        return Clause(f"I {match.group('rest')}", when, f"with {match.group('mine') or match.group('name')}")
    return Clause(text, when)
