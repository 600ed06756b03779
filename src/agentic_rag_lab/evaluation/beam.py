"""Evaluation, the questions of BEAM: from the published folders, with errors in their sources corrected and reported.

A conversation is a folder ``TIER/N`` with ``chat.json`` and ``probing_questions/probing_questions.json``: ten kinds of
question. Evidence (``source_chat_ids``) are message ids, a list or named sets.

Source: Tavakoli et al., Beyond a Million Tokens: Benchmarking and Enhancing Long-Term Memory in LLMs, 2025,
arXiv:2510.27246.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path
from typing import Any

from agentic_rag.errors import InputError
from agentic_rag_lab.evaluation.files import read_json
from agentic_rag_lab.evaluation.locomo import Repair
from agentic_rag_lab.sources.beam import (
    ABSTENTION,
    CHAT,
    EVENT_ORDERING,
    KINDS,
    Message,
    looks_like_beam,
    name_of,
    read_chat,
    without_control_words,
)

QUESTIONS = Path("probing_questions", "probing_questions.json")
"""Path of the questions in a conversation's folder."""

_ANSWERS = ("answer", "ideal_answer", "ideal_response", "ideal_summary", "expected_compliance")
"""Names of the right answer, by kind."""
_NUMBER = re.compile(r"\d+|\D+")


@dataclass(frozen=True, slots=True)
class Question:
    """One question about a conversation."""

    id: str
    """``100K/1/knowledge_update-1``, from 1 within its kind."""
    conversation: str
    kind: str
    """One of ``KINDS``."""
    text: str
    answer: str | None
    """The right answer, or a description of it; None if the file has none."""
    sources: tuple[str, ...] = ()
    """Message ids, each once, in the conversation's order."""
    source_sets: tuple[tuple[str, ...], ...] = ()
    """The named sets of the sources, ordered by their last message: the last set is the newest information.
    Empty if the sources are a list, or only one set remains."""
    rubric: tuple[str, ...] = ()
    """Requirements for a good answer, each judged separately."""

    @property
    def answerable(self) -> bool:
        return self.kind != ABSTENTION


@dataclass(frozen=True, slots=True)
class Conversation:
    """A conversation with its questions."""

    name: str
    """``100K/1``."""
    folder: Path
    messages: tuple[Message, ...]
    questions: tuple[Question, ...]
    repairs: tuple[Repair, ...]

    @property
    def chat_file(self) -> Path:
        return self.folder / CHAT

    @property
    def questions_file(self) -> Path:
        return self.folder / QUESTIONS


def is_beam(path: Path) -> bool:
    """Whether a path is a BEAM conversation, its ``chat.json``, or a folder (of tiers) of conversations."""
    if path.is_file():
        return path.name == CHAT
    return path.is_dir() and any(True for _ in _chat_files(path))


def find_conversations(path: Path) -> dict[str, Path]:
    """The folders of the conversations at a path, by name, in numerical order.

    Args:
        path: folder of a conversation or its ``chat.json``, of a tier (``chats/100K``), or of all (``chats``).

    Raises:
        InputError: there is no conversation.
    """
    files = [path] if path.is_file() and path.name == CHAT else list(_chat_files(path))
    found = {name_of(file): file.parent for file in files}
    if not found:
        raise InputError(
            f"{path} holds no BEAM conversation: no {CHAT}, {{N}}/{CHAT} or {{TIER}}/{{N}}/{CHAT}"
        )
    return dict(sorted(found.items(), key=lambda item: _by_number(item[0])))


def load_conversation(folder: str | Path, *, control: bool = False) -> Conversation:
    """A conversation as published.

    Repairs list each message left out or repeated, each question without text or kind, each unknown or repeated
    message id, each set that is empty or shares a source, and each answerable question without sources.

    Args:
        folder: ``chats/100K/1``, or its ``chat.json``.
        control: remove the words "always" and "never" from the messages, see ``without_control_words``.

    Raises:
        InputError: a file is missing, broken, or no BEAM file, or there is no message.
    """
    place = Path(folder)
    place = place.parent if place.name == CHAT else place
    file = place / CHAT
    loaded = _read(file)
    if not looks_like_beam(loaded):
        raise InputError(f"{file} is no BEAM conversation: expected a list of batches, each with 'turns'")
    chat, name = read_chat(loaded), name_of(file)
    if not chat.messages:
        raise InputError(f"{file} has no message with an id and a text")
    repairs = [Repair(name, oddity.text, (), oddity.note) for oddity in chat.oddities]
    places = {message.id: message.position for message in chat.messages}
    questions, told = read_questions(_read(place / QUESTIONS), name, places, str(place / QUESTIONS))
    messages = without_control_words(chat.messages) if control else chat.messages
    return Conversation(name, place, messages, questions, (*repairs, *told))


def read_questions(
    data: Any, conversation: str, places: Mapping[str, int], where: str
) -> tuple[tuple[Question, ...], tuple[Repair, ...]]:
    """The questions of a parsed ``probing_questions.json``, by kind in the order of ``KINDS``, and the repairs.

    Args:
        data: the JSON value.
        conversation: its name.
        places: index of each message in the conversation, by id.
        where: location for errors.

    Raises:
        InputError: it is no object from kinds to lists of questions.
    """
    if not isinstance(data, Mapping) or not all(isinstance(items, list) for items in data.values()):
        raise InputError(f"{where}: expected an object of kinds of question to lists of questions")
    repairs = [
        Repair(conversation, kind, (), f"no kind of question of BEAM: its {len(items)} questions left out")
        for kind, items in data.items()
        if kind not in KINDS
    ]
    questions: list[Question] = []
    for kind in KINDS:
        for number, item in enumerate(data.get(kind, ()), start=1):
            identity = f"{conversation}/{kind}-{number}"
            text = item.get("question") if isinstance(item, Mapping) else None
            if not isinstance(text, str) or not text.strip():
                repairs.append(Repair(identity, "", (), "no text: left out"))
                continue
            question, told = _question(item, identity, conversation, kind, places)
            questions.append(question)
            repairs += told
    return tuple(questions), tuple(repairs)


def _question(
    item: Mapping[str, Any], identity: str, conversation: str, kind: str, places: Mapping[str, int]
) -> tuple[Question, list[Repair]]:
    reading = _Sources(identity, places, is_ordered=kind == EVENT_ORDERING)
    named = reading.read(item.get("source_chat_ids")) if kind != ABSTENTION else {}
    repairs = reading.repairs
    sources = sorted({source for ids in named.values() for source in ids}, key=places.__getitem__)
    if kind == ABSTENTION and item.get("source_chat_ids"):
        repairs.append(
            Repair(identity, str(item["source_chat_ids"]), (), "sources of a question without answer")
        )
    elif kind != ABSTENTION and not sources:
        repairs.append(Repair(identity, "", (), "no sources: left out of ranking measures"))
    given = next((item[name] for name in _ANSWERS if item.get(name) is not None), None)
    rubric = item.get("rubric")
    question = Question(
        id=identity,
        conversation=conversation,
        kind=kind,
        text=item["question"],
        answer=None if given is None else str(given),
        sources=tuple(sources),
        source_sets=_in_time(named, places) if len(named) > 1 else (),
        rubric=tuple(map(str, rubric)) if isinstance(rubric, list) else (),
    )
    return question, repairs


class _Sources:
    """Parses the sources of one question and records their errors."""

    def __init__(self, question: str, places: Mapping[str, int], *, is_ordered: bool) -> None:
        self._question = question
        self._places = places
        self._is_ordered = is_ordered
        self.repairs: list[Repair] = []

    def read(self, value: Any) -> dict[str, tuple[str, ...]]:
        """Ids by the name of their set, in the conversation's order; "" is the name of a list. No set is empty."""
        if value is None:
            return {}
        given = value if isinstance(value, Mapping) else {"": value}
        named = {str(name): self._ids(ids, str(name)) for name, ids in given.items()}
        found = {name: ids for name, ids in named.items() if ids}
        for one, other in combinations(found, 2):
            shared = [source for source in found[one] if source in found[other]]
            if shared:
                self._tell(f"{one}, {other}", f"share {', '.join(shared)}: found by one message", shared)
        return found

    def _ids(self, value: Any, name: str) -> tuple[str, ...]:
        entries = value if isinstance(value, list) else [value]
        if name and not entries:
            self._tell(name, "an empty set: left out")
        ids: dict[str, None] = {}
        for entry in self._flat(entries):
            identity = (
                "" if isinstance(entry, bool) or not isinstance(entry, str | int) else str(entry).strip()
            )
            if identity not in self._places:
                self._tell(str(entry), "names no message: dropped")
            elif identity in ids:
                self._tell(identity, "comes a second time: counted once", [identity])
            else:
                ids[identity] = None
        in_order = tuple(sorted(ids, key=self._places.__getitem__))
        if self._is_ordered and in_order != tuple(ids):
            self._tell(
                ", ".join(ids), "not in the conversation's order, which is the one that counts", in_order
            )
        return in_order

    def _flat(self, entries: Sequence[Any]) -> Iterator[Any]:
        for entry in entries:
            if isinstance(entry, list):
                self._tell(str(entry), "a list in the list: taken apart", [str(inner) for inner in entry])
                yield from entry
            else:
                yield entry

    def _tell(self, value: str, note: str, ids_read: Sequence[str] = ()) -> None:
        self.repairs.append(Repair(self._question, value, tuple(ids_read), note))


def _in_time(
    id_sets: Mapping[str, tuple[str, ...]], places: Mapping[str, int]
) -> tuple[tuple[str, ...], ...]:
    """The sets, ordered by their last message; of two sets with the same one, the first in the file is the older."""
    return tuple(sorted(id_sets.values(), key=lambda ids: places[ids[-1]]))


def _chat_files(path: Path) -> Iterator[Path]:
    """The ``chat.json`` files of a conversation, or one or two folder levels below the path."""
    for pattern in (CHAT, f"*/{CHAT}", f"*/*/{CHAT}"):
        files = list(path.glob(pattern))
        if files:
            yield from files
            return


def _by_number(name: str) -> list[tuple[bool, int, str]]:
    """Sort key: 100K/2 before 100K/10 before 1M/1; M is a thousand times K."""
    sized = re.sub(r"\b(\d+)M\b", r"\g<1>000K", name)
    return [(part.isdigit(), int(part) if part.isdigit() else 0, part) for part in _NUMBER.findall(sized)]


def _read(file: Path) -> Any:
    if not file.is_file():
        raise InputError(f"there is no file {str(file)!r}; a BEAM conversation has {CHAT} and {QUESTIONS}")
    return read_json(file)
