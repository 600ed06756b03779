"""Extracts statements as triples from a packet: from a chat model's reply, or by sentence without a model."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce
from typing import NamedTuple

import regex

from agentic_rag.domain import Fact
from agentic_rag.domain.identity import entity_key
from agentic_rag.domain.ports import TokenCounter
from agentic_rag.ingest.chunking import chunk_document
from agentic_rag.ingest.facts.derivation import derive_graph
from agentic_rag.ingest.facts.names import TitleIndex
from agentic_rag.text import HAN, STOPWORDS, content_tokens, script, tokens
from agentic_rag.text.sentences import split_sentences
from agentic_rag_lab.designs.conversation import Dialog
from agentic_rag_lab.sources.locomo import RawSession, parse_session

TRIPLE_EXTRACTION_PROMPT = (
    "You note what a dialogue tells about the people in it and their world. Write every fact that may be asked "
    "for later as one line of three parts in round brackets: (subject, predicate, object). Use the speakers' names instead of I, you, he or she. Keep names, "
    "numbers and times as they were said. Write in the dialogue's language. No fact: reply exactly None\n"
    "Example: Alice says she works at Google. Your reply:\n(Alice, works at, Google)"
)

_NONE = re.compile(r"[\s\"'`(（]*(?:none|no triples?|n/a|无|没有)[\s\"'`)）.。]*", re.IGNORECASE)
_FENCE = re.compile(r"\s*```\w*\s*")
_NUMBERING = re.compile(r"\s*(?:\(?\d{1,3}[.):、）]|[-*•])\s*(?=[(（\[【])")
_BETWEEN = re.compile(r"(?<=[)）])\s*[,，;；、]?\s*(?=[(（])")
_BRACKETS = {"(": ")", "（": "）", "[": "]", "【": "】"}
_MARKS = {'"': '"', "“": "”", "「": "」", "'": "'", "‘": "’", "`": "`"}
_QUOTATION = "|".join(f"{opening}[^{closing}]*{closing}" for opening, closing in _MARKS.items())
_PART = rf"(\s*(?:{_QUOTATION})?+[^,，]*+)"
_PARTS = re.compile(rf"{_PART}[,，]{_PART}[,，](.*)", re.DOTALL)
"""Three parts, split at the first two commas outside of quotes."""
_HAN_JOINT = regex.compile(rf"[{HAN}]{{2}}")

MAX_TOKENS = 480
"""Maximum tokens per part of a turn in the derivation of facts."""
MIN_WORDS = 2
"""Minimum content words of a sentence besides the names in it."""
_PHOTO = re.compile(r"\[shares a photo: (?P<caption>[^\[\]]*)\]")
_PHOTO_OF = re.compile(
    r"(?:an? |the )?(?:close up )?(?:photo|photograph|photography|picture|image)s? of ", re.IGNORECASE
)
_EMPTY = STOPWORDS | frozenset(
    tokens(
        "you your yours u ur y'all thing things stuff something anything everything nothing lot lots bit way one ones "
        "time day lol yes yeah good great nice best better well okay ok check thanks thank wow hey hi"
    )
)
"""Words of courtesies."""


class Triple(NamedTuple):
    """Subject, predicate, object. Each part is plain text, stripped."""

    subject: str
    predicate: str
    object: str


@dataclass(frozen=True, slots=True)
class TripleStatement:
    """A triple and its source."""

    triple: Triple
    turn: int | None = None
    """Index of its turn in the packet, from 0; None if unknown."""
    sentence: str = ""
    """The original sentence; "" if only the triple is known."""


def triple_text(triple: Triple) -> str:
    """The triple as text: its parts joined by spaces, without a space between two Han characters.

    >>> triple_text(Triple("Alice", "works at", "Google"))
    'Alice works at Google'
    """
    return reduce(_beside, triple)


def _beside(first: str, right: str) -> str:
    return f"{first}{right}" if _HAN_JOINT.fullmatch(first[-1:] + right[:1]) else f"{first} {right}"


def distinct(statements: list[TripleStatement]) -> list[TripleStatement]:
    """Each triple once, at its first place; case is ignored."""
    first: dict[str, TripleStatement] = {}
    for statement in statements:
        first.setdefault("\n".join(statement.triple).casefold(), statement)
    return list(first.values())


@dataclass(frozen=True, slots=True)
class Reply:
    """The parsed reply of a model."""

    triples: tuple[Triple, ...]
    malformed_lines: int
    """Number of lines that are neither a triple nor "None"; they are ignored."""


def read_reply(text: str) -> Reply:
    """The triples in a reply, in order, each once.

    Numbering, quotes, Chinese brackets and commas are accepted; further commas belong to the object.
    """
    triples: dict[Triple, None] = {}
    malformed = 0
    for line in text.splitlines():
        if not line.strip() or _NONE.fullmatch(line) or _FENCE.fullmatch(line):
            continue
        for part in _BETWEEN.split(_NUMBERING.sub("", line, count=1).strip()):
            triple = _triple(part.strip().rstrip(".。;；,，"))
            if triple is None:
                malformed += 1
            else:
                triples.setdefault(triple)
    return Reply(tuple(triples), malformed)


def _triple(line: str) -> Triple | None:
    if len(line) < 2 or _BRACKETS.get(line[0]) != line[-1]:
        return None
    parted = _PARTS.fullmatch(line[1:-1])
    parts = [] if parted is None else [_bare(part) for part in parted.groups()]
    return Triple(*parts) if parts and all(parts) else None


def _bare(part: str) -> str:
    """The part, stripped, and without quotes around the whole of it."""
    text = " ".join(part.split())
    while len(text) > 1 and _MARKS.get(text[0]) == text[-1] and text[-1] not in text[1:-1]:
        text = text[1:-1].strip()
    return text


def dialog_statements(dialogs: Sequence[Dialog], count_tokens: TokenCounter) -> list[TripleStatement]:
    """The statements of the turns, in order, each triple once. Pure.

    A sentence with a named thing (see ``ingest.facts``) gives (speaker, talks about, thing); any other sentence
    that is neither a question nor a courtesy gives a statement of its speaker; a shared photo gives its caption.
    """
    named = _named_statements(dialogs, count_tokens)
    found: list[TripleStatement] = []
    for turn, dialog in enumerate(dialogs):
        about = [statement for statement in named if statement.turn == turn]
        found += [*_statements_of_turn(turn, dialog, about), *about]
    return distinct(found)


def _statements_of_turn(turn: int, dialog: Dialog, about: Sequence[TripleStatement]) -> list[TripleStatement]:
    """The other statements of a turn, and that of its photo; those about named things are given."""
    speaker, text = " ".join(dialog["speaker"].split()), _without_photo(dialog["text"])
    if not speaker:
        return []
    found: list[TripleStatement] = []
    for sentence in (" ".join(text[start:end].split()) for start, end in split_sentences(text)):
        known = any(other.sentence in sentence or sentence in other.sentence for other in about)
        courtesy = len(tokens(sentence)) <= 2 or {*content_tokens(sentence)} <= _EMPTY
        if not known and not courtesy and not _asks(sentence):
            says = "说" if script(sentence) == "cjk" else "says"
            found.append(TripleStatement(Triple(speaker, says, sentence), turn, sentence))
    photo = _PHOTO.search(dialog["text"])
    if photo is not None and (shown := _PHOTO_OF.sub("", photo["caption"].strip(), count=1).strip()):
        found.append(TripleStatement(Triple(speaker, "shares a photo of", shown), turn, shown))
    return found


def _asks(sentence: str) -> bool:
    return sentence.rstrip(" )\"'”").endswith(("?", "？"))


def _without_photo(text: str) -> str:
    return _PHOTO.sub("", text).strip()


def _named_statements(dialogs: Sequence[Dialog], count_tokens: TokenCounter) -> list[TripleStatement]:
    """A statement for each sentence with a named thing: (speaker, talks about, "names: the sentence")."""
    turns = tuple({**dialog, "dia_id": str(turn)} for turn, dialog in enumerate(dialogs))
    speakers = tuple(dict.fromkeys(dialog["speaker"] for dialog in dialogs))
    document = parse_session(RawSession("packet", 1, speakers, None, turns), path="packet")
    chunks = chunk_document(document, max_tokens=MAX_TOKENS, count_tokens=count_tokens)
    graph = derive_graph(document, chunks, TitleIndex())
    names = {entity.key: entity.name for entity in graph.entities}
    turn_of = {chunk.id: int(chunk.metadata["dia_id"]) for chunk in graph.chunks}
    told: dict[tuple[int, str, str], list[Fact]] = {}
    for fact in graph.facts:
        told.setdefault((turn_of[fact.chunk_id], fact.source, fact.text), []).append(fact)
    here = {entity_key(speaker) for speaker in speakers}
    found = (
        _about(
            turn,
            names[source],
            [(fact.name, names[fact.target]) for fact in facts if fact.target not in here],
            text,
        )
        for (turn, source, text), facts in told.items()
        if source in here
    )
    return [statement for statement in found if statement is not None]


def _about(turn: int, speaker: str, things: Sequence[tuple[str, str]], text: str) -> TripleStatement | None:
    """The statement of a sentence; None for a question, or if it has no content besides the names."""
    sentence = _without_photo(text.removeprefix(f"{speaker}:")).strip()
    about = ", ".join(name for _, name in things)
    beside = {*content_tokens(sentence)} - {*tokens(about)} - _EMPTY
    if not things or _asks(sentence) or len(beside) < MIN_WORDS:
        return None
    if len(things) == 1 and _is_called(things[0][1], sentence):
        return None
    relation = things[0][0].replace("_", " ").lower()
    thing = sentence if sentence.startswith(about) else f"{about}: {sentence}"
    return TripleStatement(Triple(speaker, relation, thing), turn, sentence)


def _is_called(name: str, sentence: str) -> bool:
    """Whether a name is only a form of address ("Yeah, Gina, thanks"); the person need not speak in this packet."""
    called = rf"(?:\A|[,!.]\s+|\A\w+\s+){re.escape(name)}\s*(?:[,!.:]|-\s|\Z)"
    return re.search(called, sentence) is not None
