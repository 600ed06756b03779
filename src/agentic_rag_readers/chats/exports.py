"""Which export of conversations a file is, a zip too, and the conversations in it."""

from __future__ import annotations

import re
import zipfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path, PurePosixPath
from typing import Any, Literal

from agentic_rag.ingest.files.source_text import ZIP_DAMAGES, SourceError, decode, load_json, reason
from agentic_rag_readers.chats.chatgpt import chatgpt_threads, looks_like_chatgpt
from agentic_rag_readers.chats.claude import claude_threads, looks_like_claude
from agentic_rag_readers.chats.messages import Thread
from agentic_rag_readers.chats.slack import DAY_FILE, Names, looks_like_slack, slack_thread
from agentic_rag_readers.chats.telegram import looks_like_telegram, telegram_threads
from agentic_rag_readers.chats.whatsapp import looks_like_whatsapp, whatsapp_thread

ChatKind = Literal["chatgpt", "claude", "telegram", "slack", "whatsapp"]
CHATS: dict[str, str] = {
    "chatgpt": "ChatGPT",
    "claude": "Claude",
    "telegram": "Telegram",
    "slack": "Slack",
    "whatsapp": "WhatsApp",
}
"""Kinds of exports, and whose they are."""
SUFFIXES = frozenset({".json", ".txt", ".zip"})
MAX_UNPACKED, MAX_RATIO, SMALL = 500_000_000, 100, 10_000_000
"""Bytes of all that is read of a zip; and of a part that is not small, as a multiple of its packed size."""
_HEAD = 4_000
_EXPORT_NAME = re.compile(r"(?:conversations|result)[\w() -]*\.json|\d{4}-\d\d-\d\d\.json", re.IGNORECASE)
_UNNAMED_CHATS = frozenset({"_chat", "chat"})
"""Names of WhatsApp's text that do not say whose it is."""
_JSON: dict[ChatKind, tuple[Callable[[Any], bool], Callable[[Any], Iterator[Thread]]]] = {
    "chatgpt": (looks_like_chatgpt, chatgpt_threads),
    "claude": (looks_like_claude, claude_threads),
    "telegram": (looks_like_telegram, telegram_threads),
}
_OLDEST = datetime.min.replace(tzinfo=UTC)
ReadPart = Callable[[str], bytes]
"""Bytes of a part by its name; raises ``KeyError`` or ``OSError`` where there is none."""


@dataclass(frozen=True, slots=True)
class Export:
    """The conversations of one file."""

    kind: ChatKind
    threads: tuple[Thread, ...]

    @property
    def newest(self) -> datetime:
        """Time of the last message."""
        times = (one.time for thread in self.threads for one in thread.messages if one.time is not None)
        return max(times, default=_OLDEST)


def summary(kind: str, threads: Iterable[Thread]) -> str:
    """One line for the report: how much was read, what was not, and what is a guess."""
    threads = list(threads)
    messages = [one for thread in threads for one in thread.messages]
    chats = len({thread.id for thread in threads})
    silent = sum(not one.line and not one.attachments for one in messages)
    files = sum(len(one.attachments) for one in messages)
    parts = [f"{count_noun(len(messages), 'message')} of {count_noun(chats, 'conversation')}"]
    parts += [f"{count_noun(files, 'attachment')} not read"] if files else []
    parts += [f"{count_noun(silent, 'message')} without text"] if silent else []
    parts += dict.fromkeys(thread.warning for thread in threads if thread.warning)
    return f"{CHATS[kind]}: {'; '.join(parts)}"


def count_noun(number: int, noun: str) -> str:
    """``1 day``, ``2 days``."""
    return f"{number:,} {noun}{'s' * (number != 1)}"


def may_be_export(path: Path) -> bool:
    """Whether a file of a folder is worth reading: by its name, or for a text by its first line.

    Raises:
        OSError: a text cannot be read.
    """
    if path.suffix.lower() != ".txt":
        return path.suffix.lower() == ".zip" or _EXPORT_NAME.fullmatch(path.name) is not None
    with path.open("rb") as stream:
        return _begins_chat(stream.read(_HEAD))


def _begins_chat(head: bytes) -> bool:
    return looks_like_whatsapp(head.decode("utf-8-sig", "replace"))


def read_exports(path: Path, root: Path, kind: str | None, names: dict[str, Names]) -> tuple[Export, ...]:
    """The exports that a file holds, one but for a zip of several; none where it is none of ``kind``.

    Args:
        path: a file, or a zip of such.
        root: the file or a folder over it, beyond which nothing is read.
        kind: one of ``CHATS``; None: any.
        names: of Slack's exports by their place; those that are read are added.

    Raises:
        SourceError: it cannot be read: damaged, locked, too large unpacked, no valid JSON.
    """
    try:
        if path.suffix.lower() == ".zip":
            with zipfile.ZipFile(path) as archive:
                parts = [name for name in archive.namelist() if _is_part(name)]
                return _exports(parts, _within_limits(archive), path, kind, names)
        return _exports([f"{path.parent.name}/{path.name}"], _within(root, path), path, kind, names)
    except SourceError:
        raise
    except OSError as error:
        raise SourceError(reason(error)) from error
    except ZIP_DAMAGES as error:
        raise SourceError(f"no zip that can be read ({error})") from error


def _within(root: Path, path: Path) -> ReadPart:
    """Reads a file, and what lies beside its folder, as Slack's names do; nothing outside the root."""
    base = path.parent.parent

    def read(name: str) -> bytes:
        file = base / name
        if file != path and (file.is_symlink() or not base.is_relative_to(root)):
            raise KeyError(name)
        return file.read_bytes()

    return read


def _is_part(name: str) -> bool:
    """Whether a file of a zip may hold conversations, by its name."""
    path = PurePosixPath(name)
    if path.parts[:1] == ("__MACOSX",):
        return False
    is_chat = path.suffix == ".txt" and (len(path.parts) == 1 or path.stem.lower() in _UNNAMED_CHATS)
    return is_chat or _EXPORT_NAME.fullmatch(path.name) is not None


def _within_limits(archive: zipfile.ZipFile) -> ReadPart:
    left = MAX_UNPACKED

    def read(name: str) -> bytes:
        nonlocal left
        part = archive.getinfo(name)
        left -= part.file_size
        if left < 0 or part.file_size > max(SMALL, MAX_RATIO * part.compress_size):
            raise SourceError(
                f"too large unpacked: {part.filename!a} has {part.file_size:,} bytes, and the limits are "
                f"{MAX_UNPACKED:,} for all that is read and {MAX_RATIO} times the packed size"
            )
        if part.flag_bits & 1:
            raise SourceError("it is locked by a password")
        if part.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
            raise NotImplementedError("packed by another way than deflate")
        with archive.open(part) as stream:
            return stream.read(part.file_size)  # with a size nothing beyond it is unpacked

    return read


def _exports(
    parts: Sequence[str], read_part: ReadPart, path: Path, kind: str | None, names: dict[str, Names]
) -> tuple[Export, ...]:
    found: dict[ChatKind, list[Thread]] = {}
    for part in parts:
        try:
            its = _conversations(part, read_part, path, kind, names)
        except SourceError as error:
            raise SourceError(f"{part!a}: {error}" if len(parts) > 1 else str(error)) from error
        if its is not None:
            found.setdefault(its[0], []).extend(its[1])
    return tuple(Export(its, tuple(threads)) for its, threads in found.items())


def _conversations(
    part: str, read_part: ReadPart, path: Path, kind: str | None, names: dict[str, Names]
) -> tuple[ChatKind, Iterable[Thread]] | None:
    raw = read_part(part)
    if part.lower().endswith(".txt"):
        # Any other text may be in any encoding.
        is_one = kind in (None, "whatsapp") and _begins_chat(raw[:_HEAD])
        return ("whatsapp", [whatsapp_thread(decode(raw), _chat_name(part, path))]) if is_one else None
    loaded = load_json(decode(raw))
    for its, (looks_like, threads) in _JSON.items():
        if kind in (None, its) and looks_like(loaded):
            return its, threads(loaded)
    day = DAY_FILE.fullmatch(part)
    if kind not in (None, "slack") or day is None or not looks_like_slack(loaded):
        return None
    place = f"{path if path.suffix.lower() == '.zip' else path.parent.parent}/{day['base']}"
    if place not in names:
        names[place] = Names.of(lambda name: _beside(read_part, day["base"] + name))
    return "slack", [slack_thread(loaded, day["channel"], names[place])]


def _chat_name(part: str, path: Path) -> str:
    place = PurePosixPath(part)
    return place.stem if place.stem.lower() not in _UNNAMED_CHATS else place.parent.name or path.stem


def _beside(read_part: ReadPart, name: str) -> Any:
    """A JSON file that an export may lack; None where it is missing or broken, which costs names alone."""
    try:
        return load_json(decode(read_part(name)))
    except (KeyError, OSError, SourceError):
        return None
