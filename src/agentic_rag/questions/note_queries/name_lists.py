"""Questions for the names that the notes use: "which tags are there?", "list all authors", 有哪些文件夹？"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from agentic_rag.domain import folders_above
from agentic_rag.domain.notes import Field, Note
from agentic_rag.notes.catalogue import Snapshot
from agentic_rag.questions.note_queries.overview import plain_question
from agentic_rag.questions.note_queries.query import Entry, Query, Selection
from agentic_rag.questions.note_queries.vocabulary import value_name
from agentic_rag.questions.words import stem
from agentic_rag.text import script

_KINDS = {
    "tags": re.compile(r"(?:hash ?)?tags?|标签"),
    "folders": re.compile(r"folders?|directories|subfolders?|文件夹|目录"),
    "properties": re.compile(
        r"propert(?:y|ies)(?: names?)?|frontmatter (?:fields|keys)|metadata fields|属性|元数据"
    ),
}
_HERE = r"(?: (?:in|across|of|on) (?:(?:all )?(?:my|the|this|our|these) )?(?:notes?|vault|files|documents|collection|here))?"
_IN_USE = r"(?:are there|exist|are used|are in use|(?:do|did) (?:i|we|(?:my|the|our) notes) (?:have|use)|have (?:i|we) (?:got|used))"
_FORMS = tuple(
    re.compile(pattern)
    for pattern in (
        rf"(?:what|which|how many)(?: different)? (?P<name>[a-z][\w -]{{1,30}}?) {_IN_USE}{_HERE}",
        rf"what (?:are|is)(?: all)? (?:the|my)(?: different)? (?P<name>tags|folders|properties)(?: there are)?{_HERE}",
        rf"(?:list|show|name|give)(?: me)?(?: all)(?: of)?(?: the| my)?(?: different)? (?P<name>[a-z][\w -]{{1,30}}?){_HERE}",
        rf"(?:list|show|name|give)(?: me)?(?: the| my)? (?P<name>tags|folders|properties){_HERE}",
        r"(?:我的?)?(?:笔记|知识库|库)?(?:里|中)?(?:都|一共|总共|现在)?(?:有|用了|用过|使用了)(?:哪些|些什么|什么|多少个?|几个)(?P<name>\w{1,10})",
        r"(?:列出|列举|显示)(?:我的?)?(?:所有|全部)(?:的)?(?P<name>\w{1,10})",
        r"(?:我的?)?(?:所有|全部)?(?:的)?(?P<name>\w{1,10}?)(?:都)?(?:有哪些|有什么)",
    )
)
"""Forms of whole questions; nothing else may stand beside them."""


@dataclass(frozen=True, slots=True)
class _Use:
    """A name in one note, with the property that states it."""

    name: str
    note: Note
    field: Field | None = None


def asks_for_names(question: str) -> bool:
    """Whether a question has a form of those that ``name_list`` and ``value_list`` may answer."""
    return _asked_name(question) != ""


def name_list(question: str, snapshot: Snapshot) -> Selection | None:
    """The tags, folders or properties that the notes use, most frequent first; None where the question is for none of
    these.

    Each entry is a name with the number of its notes and one of them, which is cited.
    """
    name = _asked_name(question)
    kind = next((kind for kind, pattern in _KINDS.items() if pattern.fullmatch(name)), None)
    return None if kind is None else _selection(question, name, _uses(kind, snapshot.notes))


def value_list(question: str, snapshot: Snapshot) -> Selection | None:
    """The values of a property, as ``name_list`` has names; a kind of notes may have the same name, and goes before it."""
    name = _asked_name(question)
    keys = [one.name for one in snapshot.schema.keys if name and stem(one.name.casefold()) == stem(name)]
    return _selection(question, name, _values(keys, snapshot.notes)) if keys else None


def _asked_name(question: str) -> str:
    text = plain_question(question)
    match = next((match for form in _FORMS if (match := form.fullmatch(text))), None)
    return "" if match is None else match["name"].strip()


def _selection(question: str, name: str, uses: Iterator[_Use]) -> Selection:
    entries = _entries(uses, is_chinese=script(question) == "cjk")
    return Selection(Query("notes", "names", classes=(name,)), tuple(entries))


def _uses(kind: str, notes: Sequence[Note]) -> Iterator[_Use]:
    for note in notes:
        if kind == "tags":
            stated = next((field for field in note.fields if field.key.casefold() in ("tags", "tag")), None)
            yield from (_Use(f"#{tag}", note, stated) for tag in note.tags)
        elif kind == "folders":
            yield from (_Use(folder, note) for folder in folders_above(note.path)[:1])
        else:
            yield from (_Use(field.key, note, field) for field in note.fields if not field.is_line)


def _values(keys: Sequence[str], notes: Sequence[Note]) -> Iterator[_Use]:
    for note in notes:
        for field in (one for one in note.fields if one.key in keys):
            values = field.value if isinstance(field.value, list) else [field.value]
            yield from (_Use(value_name(value), note, field) for value in values if value not in (None, ""))


def _entries(uses: Iterable[_Use], *, is_chinese: bool) -> Iterator[Entry]:
    by_name: dict[str, dict[str, _Use]] = {}
    for use in uses:
        by_name.setdefault(use.name, {}).setdefault(use.note.document_id, use)
    for name, of_notes in sorted(by_name.items(), key=lambda one: (-len(one[1]), one[0])):
        first = next(iter(of_notes.values()))
        note, count = first.note, len(of_notes)
        start, end = (first.field.start, first.field.end) if first.field else note.opening or (None, None)
        if is_chinese:
            text = f"{name}：{count} 篇，例如 {note.title}"
        else:
            text = f"{name}: {count} note{'s' * (count != 1)}, such as {note.title}"
        yield Entry(note.document_id, note.path, note.title, note.url, text, start, end)
