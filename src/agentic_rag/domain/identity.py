"""Names that mean the same everywhere: dataset to group id, chunk to episode, name to entity.

One identity per thing is what lets two sources agree on it; every function here is pure.
"""

from __future__ import annotations

import re
import unicodedata
import uuid
from collections.abc import Iterable, Mapping, Sequence
from hashlib import blake2b
from typing import Any

from agentic_rag.errors import InputError
from agentic_rag.text import simplify

_NAMESPACE = uuid.UUID("6f2a7c54-2f0b-5f0e-9a6a-4f3f6f0a1c9d")
_SURROGATE = re.compile("[\ud800-\udfff]")
_PLAIN = re.compile(r"[A-Za-z0-9][A-Za-z0-9-]*")


def group_id(dataset: str) -> str:
    """Graphiti group id and table suffix of a dataset name in any script; injective, [A-Za-z0-9_-] only.

    A plain name stays as it is; any other is ``u_`` and the hex of its NFC UTF-8 bytes, or of their
    digest where that would be longer than 96 characters.
    """
    name = dataset_name(dataset)
    if _PLAIN.fullmatch(name) and len(name) <= 96:
        return name
    raw = name.encode("utf-8")
    return "u_" + (raw.hex() if len(raw) <= 47 else "d" + digest(name, size=23))


def dataset_of_group(group: str) -> str | None:
    """The dataset name of a group id; None where the id is a digest, or no group id."""
    if not group.startswith("u_"):
        return group
    try:
        return bytes.fromhex(group[2:]).decode("utf-8")
    except ValueError:
        return None


def dataset_name(dataset: str) -> str:
    """A dataset's name in NFC, so that however it was typed it is one dataset.

    Raises:
        InputError: no text, blank, or with a character that no store can hold.
    """
    name = unicodedata.normalize("NFC", dataset) if isinstance(dataset, str) else ""
    if not name.strip() or "\0" in name or not is_unicode(name):
        raise InputError(f"a dataset needs a name, not {dataset!r}")
    return name


MEMORY_PREFIX = "memory:"
"""Datasets that begin so hold what is remembered of a user."""


def without_memories(datasets: Iterable[str]) -> list[str]:
    """The datasets of notes among these: whether a user has memories is nobody else's business."""
    return [name for name in datasets if not name.startswith(MEMORY_PREFIX)]


def user_of(dataset: str) -> str | None:
    """The user whose memories a dataset holds; None for one of notes."""
    return dataset.removeprefix(MEMORY_PREFIX) if dataset.startswith(MEMORY_PREFIX) else None


def memory_dataset(user_id: str) -> str:
    """The dataset of a user's memories; another one for every user id that differs in NFC.

    Raises:
        InputError: no text, blank, or with a character that no store can hold.
    """
    try:
        return MEMORY_PREFIX + dataset_name(user_id)
    except InputError as error:
        raise InputError(f"a memory needs the id of its user, not {user_id!r}") from error


def notes_dataset(dataset: str) -> str:
    """The name of a dataset of notes, as ``dataset_name`` gives it.

    Raises:
        InputError: as ``dataset_name``; or it is that of a user's memories.
    """
    name = dataset_name(dataset)
    if name.startswith(MEMORY_PREFIX):
        raise InputError(
            f"the dataset name {dataset!r} is reserved: names that begin with {MEMORY_PREFIX} hold users' memories; "
            "choose another name, or read memories with user_id or the memory commands"
        )
    return name


def is_unicode(text: str) -> bool:
    """False for a text with a lone surrogate, which no store and no model can hold."""
    return not _SURROGATE.search(text)


def chunk_id(document_id: str, local_key: str) -> str:
    """``<document id>#<local key>``."""
    return f"{document_id}#{local_key}"


def episode_uuid(dataset: str, chunk: str) -> str:
    """Graphiti uuid of the episode that is this chunk."""
    return _uuid("episode", dataset, chunk)


def entity_key(name: str) -> str:
    """Identity of a name: NFKC, case folded, Han characters simplified, white space joined; "Oolong  Tea" and "oolong
    tea" are one, 烏龍茶 and 乌龙茶 too."""
    if name.isascii():  # its own normal form; all names of a graph are read before its first question
        return " ".join(name.lower().split())
    return " ".join(simplify(unicodedata.normalize("NFKC", name).casefold()).split())


def aliases(metadata: Mapping[str, Any]) -> tuple[str, ...]:
    """What a note calls itself besides its title: its property ``aliases`` or ``alias``, each name once."""
    return unique_names(names_in(metadata, ("aliases", "alias"), r"[,\r\n]+"))


def names_in(values: Mapping[str, Any], keys: Sequence[str], separator: str) -> list[str]:
    """Names in properties, given as a list or as one text with separators, as Obsidian reads both.

    Args:
        values: by key, whose case does not matter.
        keys: the properties that are read.
        separator: a regular expression.
    """
    folded = {key.casefold(): value for key, value in values.items()}
    names: list[str] = []
    for key in keys:
        value = folded.get(key)
        members = re.split(separator, value) if isinstance(value, str) else value
        if not isinstance(members, list):
            members = [members]
        names += [str(member).strip() for member in members if isinstance(member, str | int | float)]
    return [name for name in names if name]


def unique_names(names: Iterable[str]) -> tuple[str, ...]:
    """Each name once, as first written; names that differ only in case are one."""
    first: dict[str, str] = {}
    for name in names:
        first.setdefault(name.casefold(), name)
    return tuple(first.values())


def entity_uuid(dataset: str, key: str) -> str:
    """Graphiti uuid of the entity with this ``entity_key``."""
    return _uuid("entity", dataset, key)


def fact_uuid(dataset: str, chunk: str, source: str, name: str, target: str, text: str) -> str:
    """Graphiti uuid of a fact; the same statement in one chunk is one fact."""
    return _uuid("fact", dataset, chunk, source, name, target, text)


def mention_uuid(dataset: str, chunk: str, entity: str) -> str:
    """Graphiti uuid of the episodic edge from a chunk's episode to an entity."""
    return _uuid("mention", dataset, chunk, entity)


def board_id(*parts: str) -> str:
    """Id of something on a board that we write: 16 hex digits, the last six a checksum that marks it as ours.

    Editors keep ids, because edges refer to cards by them, but may drop other keys that we write.
    """
    own = digest("board", *parts, size=5)
    return own + digest(_BOARD, own, size=3)


def is_board_id(text: object) -> bool:
    """Whether ``board_id`` made it; of sixteen million ids of others one passes."""
    return isinstance(text, str) and len(text) == 16 and text[10:] == digest(_BOARD, text[:10], size=3)


_BOARD = "agentic-rag board"


def digest(*parts: str, size: int = 16) -> str:
    """Hex BLAKE2b of length-prefixed parts, so that ("ab", "c") and ("a", "bc") differ."""
    state = blake2b(digest_size=size)
    for part in parts:
        raw = part.encode("utf-8", "surrogatepass")
        state.update(len(raw).to_bytes(8, "big"))
        state.update(raw)
    return state.hexdigest()


def _uuid(kind: str, dataset: str, *parts: str) -> str:
    return str(uuid.uuid5(_NAMESPACE, digest(kind, dataset_name(dataset), *parts)))
