"""Statements of a packet's turns without a model: patterns first, then the named things nobody's pattern told."""

from __future__ import annotations

import re
from collections.abc import Sequence

from agentic_rag.domain import Fact
from agentic_rag.identity import entity_key
from agentic_rag.ingest.chunking import chunk_document
from agentic_rag.ingest.conversation import Session, parse_session
from agentic_rag.ingest.facts import derive_graph
from agentic_rag.ingest.names import TitleIndex
from agentic_rag.memory.conversation import Dialog
from agentic_rag.memory.triples.chinese import chinese_statements
from agentic_rag.memory.triples.english import english_statements, photo_statement, without_photo
from agentic_rag.memory.triples.triple import Statement, Triple, distinct
from agentic_rag.memory.triples.verbs import ADDRESSED, VAGUE
from agentic_rag.ports import TokenCounter
from agentic_rag.sentences import split_sentences
from agentic_rag.text import content_tokens, script, tokens

MAX_TOKENS = 480
"""Of a part of a turn, where facts are derived."""
MIN_WORDS = 2
"""Telling words a sentence has beside the names in it, to be remembered for them."""


def dialog_statements(dialogs: Sequence[Dialog], count_tokens: TokenCounter) -> list[Statement]:
    """What the turns say, in the order they say it, each triple once. Pure.

    First-person statements by pattern (see ``english``, ``chinese``), the photo a turn shares, and for every other
    sentence with a named thing in it (see ``ingest.facts``): who talks about what, and the sentence itself.

    Args:
        dialogs: turns of one packet.
        count_tokens: token numbers of a batch of texts.
    """
    named = _named(dialogs, count_tokens)
    found: list[Statement] = []
    for turn, dialog in enumerate(dialogs):
        said = _said(turn, dialog)
        told = [statement.sentence for statement in said]
        found += said
        found += [other for other in named if other.turn == turn and not _told(other.sentence, told)]
    return distinct(found)


def _said(turn: int, dialog: Dialog) -> list[Statement]:
    speaker = " ".join(dialog["speaker"].split())
    if not speaker:
        return []
    text = without_photo(dialog["text"])
    found: list[Statement] = []
    for start, end in split_sentences(text):
        sentence = text[start:end]
        read = chinese_statements if script(sentence) == "cjk" else english_statements
        found += [Statement(triple, turn, sentence) for triple in read(sentence, speaker)]
    photo = photo_statement(dialog["text"], speaker)
    return found if photo is None else [*found, Statement(photo, turn, photo.object)]


def _told(sentence: str, told: Sequence[str]) -> bool:
    """Whether a pattern has read this sentence, or the part of it that tells something."""
    return any(known in sentence or sentence in known for known in told)


def _named(dialogs: Sequence[Dialog], count_tokens: TokenCounter) -> list[Statement]:
    """A statement for each sentence with a named thing in it: (speaker, talks about, "names: the sentence")."""
    turns = tuple({**dialog, "dia_id": str(turn)} for turn, dialog in enumerate(dialogs))
    speakers = tuple(dict.fromkeys(dialog["speaker"] for dialog in dialogs))
    document = parse_session(Session("packet", 1, speakers, None, turns), path="packet")
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


def _about(turn: int, speaker: str, things: Sequence[tuple[str, str]], text: str) -> Statement | None:
    """One statement for a sentence; None for a question and for one that says nothing but the names."""
    sentence = without_photo(text.removeprefix(f"{speaker}:")).strip()
    about = ", ".join(name for _, name in things)
    beside = {*content_tokens(sentence)} - {*tokens(about)} - {*tokens(" ".join(VAGUE | ADDRESSED))}
    if not things or sentence.rstrip(" )\"'”").endswith(("?", "？")) or len(beside) < MIN_WORDS:
        return None
    if len(things) == 1 and _is_called(things[0][1], sentence):
        return None
    relation = things[0][0].replace("_", " ").lower()
    thing = sentence if sentence.startswith(about) else f"{about}: {sentence}"
    return Statement(Triple(speaker, relation, thing), turn, sentence)


def _is_called(name: str, sentence: str) -> bool:
    """Whether a name only addresses someone ("Yeah, Gina, thanks"), who need not speak in this packet."""
    called = rf"(?:\A|[,!.]\s+|\A\w+\s+){re.escape(name)}\s*(?:[,!.:]|-\s|\Z)"
    return re.search(called, sentence) is not None
