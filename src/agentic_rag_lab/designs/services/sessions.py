"""Entries as documents: one per session, one block per turn, as a LoCoMo conversation is ingested; their links;
no I/O.

The documents depend on the inserts alone, not on the time of the write: a session's title names the speakers known at
its beginning, and a turn keeps its key whatever is inserted or forgotten later.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace

from agentic_rag.domain import Document, DocumentGraph
from agentic_rag.notes.values import valid_unicode
from agentic_rag_lab.designs.post_retrieval.items import MemoryLine, turns_of
from agentic_rag_lab.designs.services.entries import Entry
from agentic_rag_lab.sources.locomo import RawSession, parse_session, parse_session_date

LOOSE_ENTRIES = 50
"""Entries without a ``session_id`` per document."""
TITLE_SPEAKERS = 4
NO_SPEAKER = "Notes"
"""Title of a session without speakers."""


@dataclass(slots=True)
class _Open:
    """A session under construction."""

    number: int
    speakers: tuple[str, ...]
    date_text: str | None
    turn_count: int = 0
    """Number of turns ever added; used for keys."""
    turns: dict[str, MemoryLine] = field(default_factory=dict)
    """Turns by ``dia_id``, in order."""


class SessionDocuments:
    """The sessions of one memory and the entries in them.

    Entries of one ``session_id`` (or, without one, each LOOSE_ENTRIES of them) and one date make a document.
    The date is that of the first line that has one, else the metadata's ``timestamp``.
    """

    def __init__(self, conversation: str) -> None:
        self._conversation = conversation
        self._sessions: dict[tuple[str, str], _Open] = {}
        self._by_document: dict[str, _Open] = {}
        self._speakers: dict[str, None] = {}
        self._loose: dict[str, int] = {}
        self._turns: dict[str, tuple[str, tuple[str, ...]]] = {}
        self._entry_of: dict[str, str] = {}

    def add(self, entry: Entry) -> str | None:
        """Id of the document that the entry changes; None if the entry has no searchable text."""
        turns = turns_of(valid_unicode(entry.text))
        if not turns:
            return None
        self._speakers.update(dict.fromkeys(turn.speaker for turn in turns if turn.speaker))
        session = self._session(entry, _date(entry, turns))
        keys = []
        for turn in turns:
            session.turn_count += 1
            key = f"D{session.number}:{session.turn_count}"
            session.turns[key] = turn
            self._entry_of[key] = entry.id
            keys.append(key)
        document_id = self._raw_session(session).document_id
        self._by_document[document_id] = session
        self._turns[entry.id] = document_id, tuple(keys)
        return document_id

    def remove(self, entry_id: str) -> str | None:
        """Id of the document that loses the entry; None if it was in none."""
        document_id, keys = self._turns.pop(entry_id, (None, ()))
        if document_id is None:
            return None
        for key in keys:
            del self._by_document[document_id].turns[key]
            del self._entry_of[key]
        return document_id

    def document(self, document_id: str) -> Document | None:
        """The current document; None without entries."""
        session = self._by_document[document_id]
        if not session.turns:
            return None
        parsed = parse_session(self._raw_session(session), path=document_id)
        # A title such as "Notes, session 7" before each turn would add nothing and dilute the text.
        return parsed if session.speakers or parsed.date is not None else replace(parsed, title="")

    def entry_of(self, dia_id: object) -> str | None:
        """The entry of a turn; None for a deleted turn."""
        return self._entry_of.get(dia_id) if isinstance(dia_id, str) else None

    def turns_of(self, entry_ids: Iterable[str]) -> list[str]:
        """``dia_id`` of every turn of these entries."""
        return [key for entry_id in entry_ids for key in self._turns.get(entry_id, ("", ()))[1]]

    def __len__(self) -> int:
        """Number of turns."""
        return len(self._entry_of)

    def _session(self, entry: Entry, date_text: str) -> _Open:
        given = (entry.metadata or {}).get("session_id")
        if given is None:
            place = self._loose.get(date_text, 0)
            self._loose[date_text] = place + 1
            key = f"loose {place // LOOSE_ENTRIES}", date_text
        else:
            key = f"session {given!r}", date_text
        if key not in self._sessions:
            speakers = tuple(self._speakers)[:TITLE_SPEAKERS]
            self._sessions[key] = _Open(self._number(given), speakers, date_text or None)
        return self._sessions[key]

    def _number(self, session_number: object) -> int:
        """The session's own number if it is free, else the next one above all."""
        taken = {session.number for session in self._sessions.values()}
        free = (
            isinstance(session_number, int)
            and not isinstance(session_number, bool)
            and session_number >= 0
            and session_number not in taken
        )
        return session_number if free and isinstance(session_number, int) else max(taken, default=0) + 1

    def _raw_session(self, session: _Open) -> RawSession:
        turns: tuple[Mapping[str, str], ...] = tuple(
            {"dia_id": key, "speaker": turn.speaker, "text": turn.text} for key, turn in session.turns.items()
        )
        speakers = session.speakers or (NO_SPEAKER,)
        return RawSession(self._conversation, session.number, speakers, session.date_text, turns)


def _date(entry: Entry, turns: Iterable[MemoryLine]) -> str:
    """The entry's date as ISO text; as written if it is no date, "" without one."""
    timestamp = (entry.metadata or {}).get("timestamp")
    written = [turn.date for turn in turns] + [timestamp if isinstance(timestamp, str) else ""]
    text = next((text for text in written if text), "")
    date = parse_session_date(text)
    return text if date is None else date.date().isoformat()


class SharedEntities:
    """Links between memories that mention the same things, for a memory with a knowledge graph.

    They are computed from the graphs that the memory wrote, not read from the store, so a link exists as soon as
    both its memories do, and is equal on every machine.

    The strength of a link is the weight of the entities that both memories mention divided by the weight of those
    that at least one mentions; an entity mentioned by df of N memories weighs log(1 + N / df). It is in [0, 1],
    symmetric, and 1 if both mention the same things. Source: the weighted Jaccard similarity, weights after
    Spärck Jones, "A statistical interpretation of term specificity", 1972.
    """

    def __init__(self) -> None:
        self._mentions: Mapping[str, Mapping[str, set[str]]] = {}
        """Entities by entry, by document. Never changed in place, because links are computed off the event loop."""

    def replace(self, graph: DocumentGraph, entry_of: Mapping[str, str]) -> None:
        """Set the entities mentioned by a document's memories (``entry_of``: by chunk id) from its graph.

        The session itself is left out, because all its chunks mention it.
        """
        sessions = {entity.key for entity in graph.entities if "Session" in entity.labels}
        mentioned: dict[str, set[str]] = defaultdict(set)
        for mention in graph.mentions:
            if mention.chunk_id in entry_of and mention.entity not in sessions:
                mentioned[entry_of[mention.chunk_id]].add(mention.entity)
        self._mentions = {**self._mentions, graph.document_id: mentioned}

    def remove(self, document_id: str) -> None:
        """Remove a document's memories."""
        self._mentions = {key: value for key, value in self._mentions.items() if key != document_id}

    def linked_entries(self, entry_id: str, total: int) -> list[tuple[str, float]]:
        """Memories that share an entity with this one, of ``total``, with the link's strength; descending, then
        by id."""
        every = {entry: named for document in self._mentions.values() for entry, named in document.items()}
        frequency = Counter(entity for named in every.values() for entity in named)

        def weight(entities: set[str]) -> float:
            # fsum: the same sum for any iteration order of the set.
            return math.fsum(math.log(1 + total / frequency[entity]) for entity in entities)

        own = every.pop(entry_id, set())
        strengths = [
            (other, weight(own & named) / weight(own | named))
            for other, named in every.items()
            if own & named
        ]
        return sorted(strengths, key=lambda link: (-link[1], link[0]))
