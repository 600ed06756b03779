"""The names by which a dataset's notes can be asked for: classes of notes, properties, values, titles."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from pathlib import PurePosixPath
from typing import Any, Literal

from agentic_rag.domain.filters import Comparison, matches
from agentic_rag.domain.notes import Field, Note, Row
from agentic_rag.notes.catalogue import Key, Snapshot
from agentic_rag.questions.note_queries.name_index import NameIndex
from agentic_rag.questions.note_queries.values import magnitude
from agentic_rag.questions.question import Question
from agentic_rag.questions.words import Likeness, Place, Words, longest_first, parts, stem
from agentic_rag.text import STOPWORDS, starts_cjk, without_possessive

ClassKind = Literal["folder", "category", "tag", "title"]
MAX_VALUE_WORDS = 6
MAX_PART = 6
"""Characters of a Chinese title that stand for it."""
SERIES = 3
"""Notes whose titles differ in a number alone, from which their common name is a class: ``project_1`` …"""
_LEADING = re.compile(r"^[\d\s._-]+(?=\D)")
_SERIES = re.compile(r"^(?P<name>.*?[^\W\d_].*?)[\s_-]*\d+$")
_LINK = re.compile(r"^\[\[(?:[^\[\]|#]*/)?([^\[\]|#/]+)(?:#[^\[\]|]*)?(?:\|([^\[\]]*))?\]\]$")
_PERSON = re.compile(r"([A-ZÀ-Þ][\w'’-]+) [A-ZÀ-Þ][\w'’-]+$")
"""A first name and a surname: people are asked for by the first name too."""
_LINKS = re.compile(r"\[\[[^\[\]]+\]\]")
_CATEGORY_KEYS = frozenset(
    {"category", "categories", "type", "types", "kind", "class", "classes", "分类", "类型", "类别"}
)
_SILENT = frozenset(
    {
        "title",
        "name",
        "标题",
        "名称",
        "aliases",
        "alias",
        "cssclasses",
        "cssclass",
        "url",
        "source",
        "cover",
        "description",
    }
)


_IS_STATE = re.compile(r"^[a-z]+(?:ing|ed)$")


@dataclass(frozen=True, slots=True)
class NoteClass:
    """A word for a kind of note, and the condition that selects them."""

    name: str
    kind: ClassKind
    condition: Comparison
    count: int


@dataclass(frozen=True, slots=True)
class Value:
    """A name that properties have as a value; ``stored_values`` are the values as they are written."""

    name: str
    key: str
    stored_values: tuple[Any, ...]
    count: int


@dataclass(frozen=True, eq=False)
class Vocabulary:
    """All names of a snapshot."""

    snapshot: Snapshot
    classes: Sequence[NoteClass]
    keys: Mapping[str, Key]
    row_keys: Mapping[str, Key]
    values: Mapping[str, Sequence[Value]]
    """By the name as it is read."""
    titles: Mapping[str, Note]
    """By title, alias and file name, case folded."""
    _names: Mapping[str, _Names] = field(default_factory=dict)
    """Of classes, titles, values and properties."""

    @classmethod
    def of(cls, snapshot: Snapshot) -> Vocabulary:
        """The names of a snapshot; made once for each."""
        return _vocabulary(snapshot)

    def classes_in(self, words: Words) -> list[tuple[NoteClass, Place]]:
        """The classes that a question names; of one word those of the first kind that has any."""
        order = {"category": 0, "folder": 1, "tag": 2, "title": 3}
        chosen: list[tuple[NoteClass, Place]] = []
        for likeness in LIKENESSES[:2]:
            met = [(self.classes[n], place) for n, place in self._names["classes"].matches(words, likeness)]
            met.sort(key=lambda pair: (pair[1].start - pair[1].end, order[pair[0].kind], -pair[0].count))
            for one, place in met:
                if not any(place.overlaps(other) for _, other in chosen):
                    chosen.append((one, place))
        return chosen

    def titles_in(self, words: Words) -> list[tuple[Note, Place]]:
        """The notes that a question names by title, the longest title of each place."""
        return [
            (self.titles[name], place)
            for name, place in _match_names(words, self._names["titles"], LIKENESSES[:1])
        ]

    def titles_written_in(self, text: str) -> list[tuple[str, Place]]:
        """The titles of the notes that a text names, each with its place; titles that are words for a class of notes, or
        everyday words, are left out."""
        words = Words.of(text)
        classes = {parts(one.name) for one in self.classes}
        met = _match_names(words, self._names["titles"], LIKENESSES[:1])
        named = [
            (name, place)
            for name, place in met
            if parts(name) not in classes
            and not _is_word(name)
            and (len(parts(name)) > 1 or words.text[place.start : place.end] == name)
        ]
        return [(text[place.start : place.end], place) for _, place in named]

    def titles_with(self, text: str) -> list[tuple[str, Place]]:
        """A short text whose words all stand in the title of some note: "pesto" of Pesto Pasta; with its place."""
        wanted = set(parts(text))
        short = text.strip(" ?？")
        if not wanted or len(wanted) > 3 or (wanted <= {"the", "one"}):
            return []
        han = not short.isascii()
        titled = any(
            (short in name) if han and len(short) > 1 else wanted <= set(parts(name)) for name in self.titles
        )
        return [(short, Place(0, len(short)))] if titled else []

    def titles_in_part(self, text: str) -> list[tuple[str, Place]]:
        """The names in a text that one note alone has at the beginning of its title, else in it: Ann of Ann Lee, 成都 of 成都周末; with their places."""
        proper = [(term.start, term.end) for term in Question.of(text).terms if term.is_name]
        han = [(n, n + size) for size in range(MAX_PART, 1, -1) for n in range(len(text) - size + 1)]
        met: list[tuple[str, Place]] = []
        for start, end in (*proper, *(place for place in han if starts_cjk(text[place[0] : place[1]]))):
            written = without_possessive(text[start:end])
            place = Place(start, start + len(written))
            notes = self._title_parts.get(written.casefold(), ())
            if len(notes) == 1 and _is_name(written) and not any(place.overlaps(other) for _, other in met):
                met.append((written, place))
        return met

    @cached_property
    def _title_parts(self) -> Mapping[str, Set[str]]:
        """Ids of the notes whose titles begin with a part, else of those that have it in their titles."""
        first, anywhere = (defaultdict[str, set[str]](set) for _ in range(2))
        for name, note in self.titles.items():
            starts = (
                [] if name.isascii() else [name[:size] for size in range(2, min(len(name), MAX_PART) + 1)]
            )
            for part in (*name.split()[:1], *starts):
                first[part].add(note.document_id)
            for part in name.split():
                anywhere[part].add(note.document_id)
        return {**anywhere, **first}

    def is_kind(self, title: str, word: str) -> bool:
        """Whether the note of a title belongs to the class that a word names."""
        note = self.titles.get(title.casefold())
        if note is None:
            return False
        facts = self.snapshot.facts[note.document_id]
        return any(parts(one.name) == parts(word) and matches(one.condition, facts) for one in self.classes)

    def values_in(self, words: Words, *, slips: bool) -> list[tuple[Sequence[Value], Place]]:
        """The values that a question names, the longest name of each place; one that is written so goes before another
        form of the word. A state is named by its own form alone: what goes on (``reading``) or is done (``watched``)
        is not what "read" and "watch" say."""
        likenesses = LIKENESSES if slips else LIKENESSES[:2]
        met = []
        for name, place in _match_names(words, self._names["values"], likenesses):
            written = words.text[place.start : place.end]
            exact = written if written in self.values else name
            if written == exact or (not _IS_STATE.search(exact) and not written.endswith("ing")):
                met.append((self.values[exact], place))
        return met

    def keys_in(self, words: Words) -> list[tuple[str, Place]]:
        """The properties that a question names, one of notes before one of entries that differs in case alone."""
        met = _match_names(words, self._names["keys"], LIKENESSES[:2])
        return [(key, place) for name, place in met for key in self._keys_by_fold[name.casefold()]]

    @cached_property
    def _keys_by_fold(self) -> Mapping[str, Sequence[str]]:
        alike: dict[str, list[str]] = defaultdict(list)
        for name in dict.fromkeys((*self.keys, *self.row_keys)):
            alike[name.casefold()].append(name)
        return alike

    @cached_property
    def class_names(self) -> Set[tuple[str, ...]]:
        """What classes are called, as the stems of their words."""
        return {parts(one.name) for one in self.classes}

    @cached_property
    def key_names(self) -> Set[str]:
        """Stems of the properties' names."""
        return {stem(name.casefold()) for name in self.keys}

    @cached_property
    def numbers(self) -> Mapping[str, Sequence[Any]]:
        """The values of all notes' properties of which some are numbers or shares, by property."""
        return numbers_of(one for note in self.snapshot.notes for one in note.fields)

    @cached_property
    def entry_numbers(self) -> Mapping[str, Sequence[Any]]:
        """The same of all entries' fields."""
        return numbers_of(one for note in self.snapshot.notes for row in note.rows for one in row.fields)

    @cached_property
    def tables(self) -> Sequence[tuple[Note, Sequence[Row]]]:
        """The rows of each table, with its note."""
        by_place: dict[tuple[str, tuple[str, ...]], tuple[Note, list[Row]]] = {}
        for note in self.snapshot.notes:
            for row in note.rows:
                if row.kind == "row" and row.fields:
                    by_place.setdefault((note.path, row.headings), (note, []))[1].append(row)
        return tuple(by_place.values())


def prepared_vocabulary(snapshot: Snapshot) -> Vocabulary:
    """The names of a snapshot; computes what else the reading of a question takes from it, so that a thread can do it."""
    vocabulary = Vocabulary.of(snapshot)
    _ = snapshot.days, snapshot.stated_days, vocabulary.tables
    return vocabulary


def numbers_of(fields: Iterable[Field]) -> dict[str, list[Any]]:
    """The values of fields that are numbers or shares, by their names."""
    values: dict[str, list[Any]] = {}
    for one in fields:
        for value in one.value if isinstance(one.value, list) else [one.value]:
            if magnitude(value) is not None:
                values.setdefault(one.key, []).append(value)
    return values


LIKENESSES: tuple[Likeness, ...] = ("stem", "beginning", "slip")


@dataclass(frozen=True, slots=True)
class _Names:
    """Names, with what finds those that a question contains."""

    names: Sequence[str]
    index: NameIndex

    @classmethod
    def of(cls, names: Sequence[str]) -> _Names:
        return cls(names, NameIndex(names))

    def matches(self, words: Words, likeness: Likeness) -> Iterator[tuple[int, Place]]:
        """The names that a question contains, the longest first, each by its number, with its place in the question."""
        for n in sorted(self.index.near(words, likeness), key=lambda n: longest_first(self.names[n])):
            place = words.find(self.names[n], likeness)
            if place is not None:
                yield n, place


def _match_names(words: Words, names: _Names, likenesses: Sequence[Likeness]) -> list[tuple[str, Place]]:
    """The names that are met, those that agree best first, none within another."""
    met: list[tuple[str, Place]] = []
    for likeness in likenesses:
        for n, place in names.matches(words, likeness):
            if not any(place.overlaps(other) for _, other in met):
                met.append((names.names[n], place))
    return met


def value_name(value: Any) -> str:
    """A value as it is called: ``[[folder/Ann|A.]]`` is Ann."""
    link = _LINK.match(str(value).strip())
    return link[1] if link else str(value).strip()


@lru_cache(maxsize=8)
def _vocabulary(snapshot: Snapshot) -> Vocabulary:
    values: dict[str, dict[str, list[tuple[Any, int]]]] = defaultdict(lambda: defaultdict(list))
    for key in snapshot.schema.keys:
        if key.name.casefold() not in _SILENT:
            for value, count in key.values:
                for name in _names(value):
                    values[name][key.name].append((value, count))
    named = {
        name: [
            Value(name, key, tuple(value for value, _ in stored), sum(count for _, count in stored))
            for key, stored in by_key.items()
        ]
        for name, by_key in values.items()
    }
    titles = snapshot.notes_by_title()
    keys = {key.name: key for key in snapshot.schema.keys}
    row_keys = {key.name: key for key in snapshot.schema.row_keys}
    classes = sorted(_classes(snapshot), key=lambda one: one.name)
    names = {
        "classes": _Names.of([one.name for one in classes]),
        "titles": _Names.of([name for name in titles if _is_name(name)]),
        "values": _Names.of(list(named)),
        "keys": _Names.of(list({**keys, **row_keys})),
    }
    return Vocabulary(snapshot, classes, keys, row_keys, named, titles, names)


def _is_word(name: str) -> bool:
    """Whether a name is one everyday word, as which a question means it."""
    return len(parts(name)) == 1 and name in STOPWORDS


def _is_name(title: str) -> bool:
    """Whether a title can be recognised in a question: not a mere number or day."""
    return any(map(str.isalpha, title))


def _names(value: Any) -> Iterator[str]:
    """The names that a value gives: itself, and the members of a list that is written with commas."""
    if isinstance(value, bool | int | float):
        return
    name = value_name(value).casefold()
    linked = (value_name(link).casefold() for link in _LINKS.findall(str(value)))
    first = _PERSON.match(value_name(value))
    for part in {
        name,
        *([first[1].casefold()] if first and first[1].casefold() not in STOPWORDS else []),
        *linked,
        *(part.strip() for part in re.split(r"[,，、;；]", name)),
    }:
        if _is_value(part) and len(parts(part)) <= MAX_VALUE_WORDS and len(part) <= 60:
            yield part


def _is_value(name: str) -> bool:
    """Whether a name can be told from an everyday word: two Latin letters and one Chinese character cannot."""
    return any(map(str.isalpha, name)) and len(name) > (2 if name.isascii() else 1)


def _classes(snapshot: Snapshot) -> Iterator[NoteClass]:
    for folder, count in snapshot.schema.folders:
        name = _LEADING.sub("", PurePosixPath(folder).name).strip()
        if name:
            yield NoteClass(name, "folder", Comparison("folder", "$eq", folder), count)
    for tag, count in snapshot.schema.tags:
        yield NoteClass(
            tag.replace("/", " ").replace("-", " ").replace("_", " "),
            "tag",
            Comparison("tags", "$eq", tag),
            count,
        )
        if "/" in tag:
            yield NoteClass(tag.rsplit("/", 1)[1], "tag", Comparison("tags", "$eq", tag), count)
    for key in snapshot.schema.keys:
        if key.name.casefold() in _CATEGORY_KEYS:
            for value, count in key.values:
                if isinstance(value, str):
                    yield NoteClass(value_name(value), "category", Comparison(key.name, "$eq", value), count)
    series: dict[str, list[str]] = defaultdict(list)
    for note in snapshot.notes:
        numbered = _SERIES.match(note.title)
        if numbered:
            series[numbered["name"].strip(" _-")].append(note.title)
    for name, titles in series.items():
        if len(titles) >= SERIES:
            yield NoteClass(name, "title", Comparison("title", "$in", tuple(sorted(titles))), len(titles))
