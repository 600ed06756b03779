"""Evernote's ``.enex``: its notes one by one, each a page of HTML with title, dates, tags and tasks."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from xml.parsers import expat

from agentic_rag.ingest.files.source_text import SourceError
from agentic_rag.notes.frontmatter import frontmatter_of
from agentic_rag.notes.values import valid_unicode

SUFFIX = ".enex"
MAX_CHARACTERS = 20_000_000
"""Of a note; its attachments, which are not read, do not count."""
_READ_AT_ONCE = 1 << 20
_MAX_NAME = 100
_MOMENT = re.compile(r"(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z")
_HEAD = re.compile(r"\s*(?:<\?xml[^>]*>\s*)?(?:<!DOCTYPE[^>\[]*>\s*)?")
_BOX = re.compile(r"<en-todo(?P<state>[^>]*?)/?>(?:\s*</en-todo>)?")
_CHECKED_ITEM = re.compile(r"(?P<item><li[^>]*--en-checked:\s*(?P<state>true|false)[^>]*>\s*(?:<div[^>]*>)?)")
_ENCRYPTED_TEXT = re.compile(r"<en-crypt\b.*?</en-crypt>", re.DOTALL)
_NO_TEXT = re.compile(r"<[^>]*>|&\w+;")
_TASK = re.compile(r"^(?P<indent>[ \t]*)(?:[-*] )?(?P<box>[☐☒])[ \t]*", re.MULTILINE)
_READ_ELEMENTS = frozenset({
    "note/title", "note/created", "note/updated", "note/tag", "note/content", "note/note-attributes/author",
    "note/note-attributes/source-url", "note/task/title", "note/task/taskStatus", "note/task/dueDate",
})  # fmt: skip


@dataclass(frozen=True, slots=True)
class Note:
    """A note of the file."""

    title: str
    content: str
    """ENML, a kind of HTML."""
    values: tuple[tuple[str, str], ...] = ()
    tags: tuple[str, ...] = ()
    tasks: tuple[str, ...] = ()
    """Items of Markdown."""
    attachments: int = 0

    @property
    def url(self) -> str | None:
        """The page on the web that the note is of."""
        url = dict(self.values).get("source")
        return url if url is not None and url.startswith(("https://", "http://")) else None

    @property
    def has_text(self) -> bool:
        """Whether there is more in it than pictures."""
        return any(map(str.isalnum, _NO_TEXT.sub(" ", self.content)))

    @property
    def left_out(self) -> list[str]:
        """Lines about what is not read."""
        locked = len(_ENCRYPTED_TEXT.findall(self.content))
        lines = [f"attachments were not read: {self.attachments}"] if self.attachments else []
        return lines + [f"locked passages were not read: {locked}"] * bool(locked)

    def page(self) -> bytes:
        """The content as HTML, in UTF-8, with signs for boxes to tick."""
        body = _ENCRYPTED_TEXT.sub("", self.content[len(_HEAD.match(self.content)[0]) :])  # type: ignore[index]
        body = _BOX.sub(lambda box: "☒ " if "true" in box["state"] else "☐ ", body)
        body = _CHECKED_ITEM.sub(lambda one: one["item"] + ("☒ " if one["state"] == "true" else "☐ "), body)
        return f'<html><head><meta charset="utf-8"></head><body>{body}</body></html>'.encode(
            "utf-8", "replace"
        )

    def markdown(self, body: str) -> str:
        """The note in Markdown; ``body``: its content so."""
        values: dict[str, object] = {"title": self.title, **dict(self.values)}
        if self.tags:
            values["tags"] = [re.sub(r"\s+", "-", tag) for tag in self.tags]
        body = _TASK.sub(lambda task: f"{task['indent']}- [{' ' if task['box'] == '☐' else 'x'}] ", body)
        return (
            frontmatter_of(values)
            + "\n\n".join(filter(None, [body.strip("\n"), "\n".join(self.tasks)]))
            + "\n"
        )


def file_name(title: str) -> str:
    """A title as a file may be called."""
    return " ".join(re.sub(r"[/\\\x00-\x1f]", "-", title).split())[:_MAX_NAME].strip(". ")


def notes_in(file: Path) -> Iterator[Note]:
    """The notes of a file, in order, one at a time; a file may be larger than memory.

    Raises:
        SourceError: it is no XML, or none of Evernote, declares entities, or a note is too long.
    """
    reader = _Reader()
    with file.open("rb") as stream:
        while True:
            chunk = stream.read(_READ_AT_ONCE)
            try:
                reader.parser.Parse(chunk, not chunk)
            except expat.ExpatError as error:
                yield from reader.take()
                raise SourceError(f"it is damaged ({error})") from error
            yield from reader.take()
            if not chunk:
                return


class _Reader:
    """Collects the texts of the elements that are kept, of one note at a time."""

    def __init__(self) -> None:
        self.parser = expat.ParserCreate()
        self.parser.buffer_text = True
        self.parser.StartElementHandler = self._start
        self.parser.EndElementHandler = self._end
        self.parser.CharacterDataHandler = self._data
        self.parser.EntityDeclHandler = self._entity
        self._path: list[str] = []
        self._fields: dict[str, list[str]] = {}
        self._length = 0
        self._finished_notes: list[Note] = []

    def take(self) -> list[Note]:
        """The notes that ended since."""
        done, self._finished_notes = self._finished_notes, []
        return done

    def _entity(self, name: str, *_: object) -> None:
        raise SourceError(f"it declares the entity {name!r}, which Evernote never does")

    def _start(self, name: str, _: dict[str, str]) -> None:
        if not self._path and name != "en-export":
            raise SourceError(f"no export of Evernote: it begins with <{name}>")
        self._path.append(name)
        self._fields.setdefault("/".join(self._path[1:]), []).append("")

    def _data(self, text: str) -> None:
        place = "/".join(self._path[1:])
        if place not in _READ_ELEMENTS:
            return
        self._length += len(text)
        if self._length > MAX_CHARACTERS:
            raise SourceError(f"a note has more than {MAX_CHARACTERS:,} characters; divide it")
        self._fields[place][-1] += text

    def _end(self, name: str) -> None:
        self._path.pop()
        if name == "note" and len(self._path) == 1:
            self._finished_notes.append(_note(self._fields))
            self._fields, self._length = {}, 0


def _note(fields: dict[str, list[str]]) -> Note:
    def first(name: str) -> str:
        return valid_unicode(fields.get(f"note/{name}", [""])[0]).strip()

    dates = {key: _iso(first(key)) for key in ("created", "updated")}
    others = {"author": first("note-attributes/author"), "source": first("note-attributes/source-url")}
    states, due = fields.get("note/task/taskStatus", []), fields.get("note/task/dueDate", [])
    tasks = [
        f"- [{'x' if states[n : n + 1] == ['completed'] else ' '}] {' '.join(title.split())}"
        + (f" [due:: {_iso(due[n])[:10]}]" if len(due) == len(states) and _iso(due[n]) else "")
        for n, title in enumerate(fields.get("note/task/title", []))
    ]
    return Note(
        first("title") or "Untitled",
        first("content"),
        tuple((key, value) for key, value in (dates | others).items() if value),
        tuple(tag.strip() for tag in fields.get("note/tag", []) if tag.strip()),
        tuple(tasks),
        len(fields.get("note/resource", [])),
    )


def _iso(timestamp: str) -> str:
    match = _MOMENT.fullmatch(timestamp.strip())
    return "" if match is None else "{}-{}-{}T{}:{}:{}Z".format(*match.groups())
