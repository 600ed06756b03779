"""The person that an English clause is about: its speaker, a person it names, or somebody's relative."""

from __future__ import annotations

import regex

from agentic_rag.ingest.facts.stopwords import FUNCTION_WORDS, OPENING_WORDS
from agentic_rag.memory.reading.slot_patterns import NAME_WORDS

_RELATIVE = (
    r"(?:(?:older|younger|little|big|best|twin|elder|eldest|youngest|other|late|oldest|step|ex|dear)[ -])*(?:sister|brother|mother|mom|mum|father|dad|son|daughter|wife|husband|partner"
    r"|girlfriend|boyfriend|fianc[ée]e?|friend|cousin|aunt|uncle|grandmother|grandma|grandfather|grandpa|nephew|niece|boss|manager|colleague|co-?worker|neighbou?r|roommate|flatmate|teacher|ex)"
)
_ONE_OF_MANY = regex.compile(
    r"(?!best\b).*\b(?:friend|cousin|aunt|uncle|nephew|niece|colleague|co-?worker|neighbou?r|teacher|roommate|flatmate|ex)"
)
"""Relations with possibly several members, so that without a name the person is not clear."""
_DATE_LEAD = (
    r"(?:(?:in|on|since|as\sof|from|starting|effective|back\sin|around|by)\s(?=[^,]{0,30}(?:\d|jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec))[^,]{2,32}?(?:,\s\d{4})?(?=,?\s+(?:I|we|my|our|the|(?-i:(?!Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)\p{Lu}\p{Ll}))\b)"
    r"|(?:earlier\s)?(?:last|this)\s(?:week|month|year|spring|summer|autumn|fall|winter|\w+day)|yesterday|today|(?:\d+|an?|two|three|four|five|six|several|a\sfew)\s(?:days?|weeks?|months?|years?)\sago)"
)
LEAD = regex.compile(
    rf"(?:[-*+•]\s+|\d{{1,2}}[.)]\s+)?(?:(?:{_DATE_LEAD}|and|but|so|also|of\scourse|well|yes|yeah|yep|no|ok|okay|oh|hey|hi|hello|actually|by\sthe\sway|btw|now|currently|recently|right\snow|as\sof\snow|fyi|update|correction|news|note(?:\sthat)?|just\sso\syou\sknow|remember(?:\sthat)?"
    rf"|please\s(?:note|remember)(?:\sthat)?|in\sfact|to\sbe\sclear|since|because|as|given\sthat|considering(?:\sthat)?|now\sthat|thanks|sure|great|good\snews|sorry|anyway|plus|these\sdays|nowadays|at\sthe\smoment|finally|instead|then)\b[,:.!]?\s+(?:[-–—]\s+)?)*",
    regex.IGNORECASE,
)
SUBJECTS = regex.compile(
    rf"(?:(?P<first>I\b)|(?P<we>we)\b(?=['’\s])|(?P<possessive>my|our)\s(?:(?P<relative>{_RELATIVE})(?:\s(?P<called>(?-i:{NAME_WORDS})))?(?P<of>['’]s?\b)?(?=['’\s]))?|(?P<the>the)\s"
    rf"|(?P<named>(?-i:{NAME_WORDS}(?:\s{NAME_WORDS}){{0,2}}))(?:(?P<owns>['’]s\s)|(?=['’\s])))",
    regex.IGNORECASE,
)
_NOT_NAMED = (
    FUNCTION_WORDS
    | OPENING_WORDS
    | frozenset(
        """thanks people nobody everyone someone anyone today there family life time love art music nature friendship
    conversations moments god""".split()
    )
)


def who_is(match: regex.Match[str], speaker: str) -> str | None:
    """The person of a match of ``SUBJECTS``; None if several may be meant."""
    if match["first"] or match["we"]:
        return speaker
    if match["possessive"]:
        if match["called"]:
            return str(match["called"])
        if match["relative"] is None:
            return speaker
        relative = " ".join(match["relative"].lower().split())
        return None if _ONE_OF_MANY.fullmatch(relative) else f"{speaker}'s {relative}"
    if match["the"]:
        return speaker
    named = str(match["named"])
    words = named.lower().replace("’", "'").split()
    is_gerund = len(words) == 1 and words[0].endswith("ing") and len(words[0]) > 5
    return None if is_gerund or any(word in _NOT_NAMED for word in words) else named
