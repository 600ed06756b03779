"""What English speakers say of themselves, read by its pattern: no model, precision before recall.

A statement is a clause that begins with "I" or "we", with "my …" and a verb, with something that "is my …", or
with a past form whose "I" was left out. Questions, what is said to or about the other ("I'm proud of you"), and
pronouns that only the text before explains ("I love it") give nothing.
"""

from __future__ import annotations

import re

from agentic_rag.memory.triples.clauses import Clause, clauses
from agentic_rag.memory.triples.predicates import Predication, plain, read_predicate, read_rest
from agentic_rag.memory.triples.triple import Triple
from agentic_rag.memory.triples.verbs import (
    ADDRESSED,
    ELIDED,
    GOING_ON,
    KEPT,
    MY_VERBS,
    PARTICLES,
    PLURAL_VERBS,
    VAGUE,
)
from agentic_rag.text import STOPWORDS

_I = re.compile(r"(?:I|we|We)(?P<short>'(?:m|ve|d|ll|re))?\s+(?P<rest>.+)", re.DOTALL)
_MY = re.compile(r"(?:my|our)\s+(?P<rest>.+)", re.IGNORECASE | re.DOTALL)
_IS_MY = re.compile(
    r"(?P<subject>[\w'-]+(?: [\w'-]+){0,4}?) (?P<verb>is|are|was|were|has been|means|keeps|gives|makes|helps|brings)"
    r" (?P<object>.*\b(?:my|me|our)\b.*)",
    re.IGNORECASE | re.DOTALL,
)
_MINE = re.compile(r"\b(?:my|our|me)\b", re.IGNORECASE)
_FINITE = re.compile(r"\b(?:is|was|are|were|has|have|can|makes|helps|means|takes)\b|'s\b", re.IGNORECASE)
_PHOTO = re.compile(r"\[shares a photo: (?P<caption>[^\[\]]+)\]")
_OF = re.compile(
    r"(?:an? |the )?(?:close up )?(?:photo|photograph|photography|picture|image)s? of ", re.IGNORECASE
)
_NOT_A_SUBJECT = frozenset(
    """it its it's that this these those there they he she you what who where when why how which here everything
    something nothing all one i we my our your his her their if because so and but or not just no thanks having being
    glad hope sounds looks seeing knowing that's what's let's sorry love happy good great nice wow your you're""".split()
)
_THIRD = {
    "i": "they", "i'm": "they're", "i've": "they've", "i'd": "they'd", "i'll": "they'll", "we": "they",
    "we're": "they're", "we've": "they've", "we'd": "they'd", "we'll": "they'll", "me": "them", "us": "them",
    "my": "their", "our": "their", "mine": "theirs", "ours": "theirs", "myself": "themselves",
    "ourselves": "themselves",
}  # fmt: skip
_FIRST_PERSON = re.compile(
    r"(?<![\w'-])(I|we|my|our|me|us|mine|ours|myself|ourselves)('\w+)?(?![\w'-])", re.IGNORECASE
)
_THEY_WAS = re.compile(r"\bthey (was|am)\b")
_NAMED = frozenset("called named been gonna so really not a an the".split())


def english_statements(sentence: str, speaker: str) -> list[Triple]:
    """What a sentence tells of its speaker.

    >>> english_statements("I work at Google and my dog is called Rex.", "Alice")
    [Triple(subject='Alice', predicate='works at', object='Google'), \
Triple(subject="Alice's dog", predicate='is called', object='Rex')]
    """
    found = (_statement(clause, speaker) for clause in clauses(sentence))
    return [triple for triple in found if triple is not None]


def photo_statement(text: str, speaker: str) -> Triple | None:
    """What the photo shows that a turn shares; None without one."""
    match = _PHOTO.search(text)
    if match is None:
        return None
    caption = _OF.sub("", match.group("caption").strip(), count=1).strip()
    return Triple(speaker, "shares a photo of", caption) if caption else None


def without_photo(text: str) -> str:
    """A turn without the caption of the photo it shares."""
    return _PHOTO.sub("", text).strip()


def _statement(clause: Clause, speaker: str) -> Triple | None:
    if match := _I.match(clause.text):
        short = [match.group("short")] if match.group("short") else []
        return _made(speaker, read_predicate([*short, *match.group("rest").split()]), clause.behind)
    if match := _MY.match(clause.text):
        return _of_mine(speaker, match.group("rest"), clause.when)
    if match := _IS_MY.match(clause.text):
        return _is_mine(speaker, match)
    return _elided(speaker, clause.text)


def _elided(speaker: str, text: str) -> Triple | None:
    words = text.split()
    if len(words) < 2:
        return None
    first, second = words[0].lower(), words[1].lower()
    going_on = first in GOING_ON and second in PARTICLES and not _FINITE.search(text)
    going_on = going_on or (first == "gonna" and second != "be")
    if going_on or (first == "still" and second.endswith("ing")):
        return _made(speaker, read_predicate(["'m", first, *words[1:]]), "")
    # "Been tough lately": what it is said of is not told.
    been = first == "been" and (second in PARTICLES or second in KEPT or second.endswith("ing"))
    elided = been or first in ELIDED
    return _made(speaker, read_predicate([first, *words[1:]]), "") if elided else None


def _made(subject: str, read: Predication | None, behind: str) -> Triple | None:
    if read is None:
        return None
    thing = " ".join([*read.object, *([behind] if behind else [])])
    if not read.predicate or not _says_something(thing):
        return None
    return Triple(subject, " ".join(read.predicate), _third(thing))


def _of_mine(speaker: str, rest: str, when: str) -> Triple | None:
    """ "my dog is called Rex", "my name's Ann"."""
    words = rest.split()
    for place in range(min(5, len(words) - 1)):
        word = words[place]
        named = words[place + 1].lower() in _NAMED or word.lower() == "name's"
        if word.endswith("'s") and named:
            verb = "has" if words[place + 1] == "been" else "is"
            return _mine(speaker, [*words[:place], word[:-2]], [verb, *words[place + 1 :]], when)
        plural = place > 0 and words[place - 1].endswith("s") and word.lower() in PLURAL_VERBS
        if plural or (place and word.lower() in MY_VERBS):
            return _mine(speaker, words[:place], words[place:], when)
    return None


def _mine(speaker: str, name: list[str], told: list[str], when: str) -> Triple | None:
    if any(plain(word) in _NOT_A_SUBJECT or word[-1] in ",;:" for word in name):
        return None
    read = read_rest(told, 1, [told[0].lower()], told[0].lower())
    if read is not None and told[0].lower() in ("is", "are", "was", "were", "has") and len(told) > 2:
        first = plain(told[1])
        if first in ("called", "named", "been") or first.endswith("ing"):
            read = read_rest(told, 2, [told[0].lower(), first], first)
    return _made(f"{speaker}'s {' '.join(name)}", read, when)


def _is_mine(speaker: str, match: re.Match[str]) -> Triple | None:
    """ "Dance is my stress relief": of the speaker, whose name replaces "my"."""
    subject, thing = match.group("subject"), match.group("object")
    named = {plain(word) for word in subject.split()}
    if named & (_NOT_A_SUBJECT | ADDRESSED) or not subject[0].isupper() or not _says_something(thing):
        return None
    owned = _MINE.sub(lambda mine: speaker if mine.group().lower() == "me" else f"{speaker}'s", thing)
    return Triple(subject, match.group("verb"), _third(owned))


def _says_something(thing: str) -> bool:
    words = [plain(word) for word in thing.split()]
    if not words or ADDRESSED.intersection(words):
        return False
    if words[0] in ("it", "them", "him", "there", "they", "it's") or words[-1] in ("if", "because"):
        return False
    return any(word[:1].isalnum() and word not in STOPWORDS and word not in VAGUE for word in words)


def _third(thing: str) -> str:
    """The object with the first person told as the third."""

    def told(match: re.Match[str]) -> str:
        return _THIRD.get(match.group().lower(), match.group())

    return _THEY_WAS.sub(
        lambda match: f"they {'were' if match.group(1) == 'was' else 'are'}", _FIRST_PERSON.sub(told, thing)
    )
