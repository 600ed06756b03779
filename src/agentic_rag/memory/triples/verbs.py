"""English words that tell a statement's verb from what stands around it; data and inflection only."""

from __future__ import annotations


def _words(listed: str) -> frozenset[str]:
    return frozenset(listed.split())


PAST = _words(
    """was were had did went got took made came saw met lost found bought began started won ran wrote read
    left felt kept told said thought brought taught caught built sent spent held heard led lent grew knew drew
    flew threw gave ate drank drove rode rose spoke broke chose woke wore fell fought sold sat stood slept swam
    sang rang paid put set hit cut hurt let quit shut spread cost bet swept dealt dreamt learnt meant became
    forgot hid shook stuck struck swore tore understood"""
)
"""Irregular forms (and forms that are the same in past and present), which take no -s."""
PARTICIPLES = _words(
    """been had done gone got gotten taken made come seen met lost found bought begun won run written read left felt
    kept told said thought brought taught caught built sent spent held heard led grown known drawn flown thrown given
    eaten drunk driven ridden risen spoken broken chosen woken worn fallen fought sold sat stood slept swum sung paid
    put set hit cut hurt let quit shut spread become forgotten hidden stuck born"""
)
NOT_PAST = _words("need feed bleed speed proceed exceed succeed breed seed heed weed embed")
"""Base forms that end as a past does."""
TO_TAKING = _words(
    """want need like love try decide plan hope start begin use have get go learn manage continue prefer agree wish
    hate choose intend aim forget remember work prepare offer promise expect seem mean wait
    wants needs likes loves tries decides plans hopes starts begins has gets learns continues prefers wanted needed
    liked loved tried decided planned hoped started began used had got learned managed continued agreed chose intended
    trying planning hoping starting learning working looking going aiming preparing wanting able excited determined
    ready supposed offered managed helped"""
)
"""Verbs after which ``to`` and the next verb belong to the predicate."""
PARTICLES = _words(
    """up out off on in at to for with from into about of by over through after around back down as towards toward
    without across along away together onto near between inside under forward"""
)
DROPPED = _words(
    """just really actually definitely totally kinda honestly finally simply basically literally truly absolutely
    seriously certainly probably pretty sorta currently also recently super all both each"""
)
"""Adverbs that a statement can do without."""
KEPT = _words("always never often usually sometimes still rarely already even only once almost not regularly")
"""Adverbs that change what is said."""
MODALS = {
    "will": "will", "'ll": "will", "won't": "will not", "can": "can", "can't": "cannot", "cannot": "cannot",
    "could": "could", "couldn't": "could not", "would": "would", "wouldn't": "would not", "should": "should",
    "shouldn't": "should not", "must": "must", "might": "might", "may": "may",
    "don't": "does not", "didn't": "did not",
}  # fmt: skip
BE = {
    "'m": "is", "'re": "is", "am": "is", "are": "is", "was": "was", "were": "was",
    "wasn't": "was not", "weren't": "was not", "aren't": "is not",
}  # fmt: skip
HAVE = {"'ve": "has", "have": "has", "had": "had", "haven't": "has not", "hadn't": "had not", "'d": "had"}
SHORT = {"gonna": "going to", "wanna": "want to", "gotta": "have to"}

ADDRESSING = _words(
    """think guess hope know mean bet agree understand appreciate see hear believe suppose imagine doubt wonder promise
    swear thank admire wish say tell assume reckon figure wait ask relate remember feel envy second
    thought knew meant hoped"""
)
"""Verbs by which people answer each other: what follows them is no fact about the speaker."""
STATES = _words(
    """sorry sure glad here there fine good great ok okay well all right impressed positive grateful thankful curious
    happy excited proud thrilled pumped stoked inspired jealous amazed with up down so lucky blessed back ready
    certain confident able convinced interested"""
)
"""What one is in answer to the other; told of oneself only with something definite behind it."""
PLEASANTRIES = _words(
    "sorry sure glad here there fine ok okay well all right impressed grateful thankful curious with up"
)
VAGUE = _words(
    """it that this them him they thing things stuff something anything everything nothing lot lots bit way same one
    ones so too much more way time day lol yes yeah good great nice best better well okay ok check"""
)
"""What says nothing as an object."""
ADDRESSED = _words("you your yours you're you've you'll you'd yourself ya u ur y'all")

MY_VERBS = _words(
    """is are was were has had have means meant loves loved likes liked lives lived works worked got gets went goes
    took takes came comes started starts made makes gave gives helped helps plays played wants wanted teaches taught
    told moved died passed bought brought inspired inspires keeps kept became needs needed broke hurt fell suggested
    recommended introduced encouraged invited visited joined won lost said says calls called looks loved supports
    supported"""
)
"""Verbs that may follow "my …"; any other word there may be part of the name."""
PLURAL_VERBS = _words(
    "love like live work play want need help enjoy go make keep mean teach support call hate miss know"
)
"""Verbs that may follow "my kids"; after a singular they are part of the name or a verb's wrong form."""
ELIDED = _words(
    """lost got started finished went took visited joined signed decided enjoyed watched played tried received attended
    adopted launched opened bought met saw made found had moved ended learned read began won gave hosted painted
    cooked baked wrote hiked ran ordered booked planned"""
)
"""Past forms that open a sentence without "I"."""
GOING_ON = _words(
    "trying planning thinking hoping working learning considering training saving preparing searching"
)
"""Progressive forms that open a sentence without "I'm"."""

_S_ENDINGS = ("s", "sh", "ch", "x", "z", "o")


def third_person(verb: str) -> str:
    """The form after he, she or a name: ``work`` works, ``have`` has; a past form stays."""
    if verb == "have":
        return "has"
    if is_past(verb):
        return verb
    if verb.endswith(_S_ENDINGS):
        return verb + "es"
    if verb.endswith("y") and verb[-2:-1] not in "aeiou":
        return verb[:-1] + "ies"
    return verb + "s"


def is_past(verb: str) -> bool:
    return verb in PAST or (verb.endswith("ed") and verb not in NOT_PAST)


def is_participle(word: str) -> bool:
    return word in PARTICIPLES or (word.endswith("ed") and word not in NOT_PAST)
