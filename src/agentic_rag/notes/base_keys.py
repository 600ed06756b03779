"""Which key of ``Note.facts`` a property of Obsidian's Bases is, and how a key is written there.

A base knows files and their frontmatter. What this program adds to that is written as a formula: a note's ``title`` is
its property or else its file's name, its ``date`` the first of the properties that state one.
"""

from __future__ import annotations

import re
from functools import reduce

from agentic_rag.notes.base_expressions import Literal, Member, Name, Operation, Tree, written_text
from agentic_rag.notes.values import DATE_KEYS

FORMULAS = {
    "title": "if(note.title, note.title, file.basename)",
    "date": reduce(
        lambda rest, key: f"if(note.{key}, note.{key}, {rest})", DATE_KEYS[-2::-1], f"note.{DATE_KEYS[-1]}"
    ),
}
"""The formula of each key that is no property of a file or its frontmatter."""
LISTS = {"folder": "file.folder", "tags": "file.tags", "links": "file.links"}
"""Keys that are lists in ``Note.facts``."""
PLACES = {
    **LISTS,
    "path": "file.path",
    "document_id": "file.path",
    "file.name": "file.basename",
    "file.folder": "file.folder",
    "file.ext": "file.ext",
    **{key: f"formula.{key}" for key in FORMULAS},
}
"""How each key that is no property of the frontmatter is written."""
_OF_FILE = {
    "name": "file.name",
    "basename": "file.name",
    "path": "path",
    "folder": "file.folder",
    "ext": "file.ext",
    "tags": "tags",
    "links": "links",
}
_FIELDS = frozenset({"length", "year", "month", "day", "hour", "minute", "second", "millisecond"})
"""What every text, list or date has, so that ``rating.length`` is no property of a property."""
_SPECIAL = frozenset({"file", "formula", "note", "this"})
_PLAIN = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


def key_of(tree: Tree) -> str | None:
    """The key of ``Note.facts`` that an expression names; None if it names none."""
    match tree:
        case Member(Name("file"), name):
            return _OF_FILE.get(name)
        case Name(name):
            return None if name in _SPECIAL else name
        case Member(Name("note"), name) | Operation("[]", (Name("note"), Literal(str(name)))):
            return name
        case Member(Name(), name) | Member(Member() | Operation("[]"), name) if name in _FIELDS:
            return None
        case Member(owner, name) | Operation("[]", (owner, Literal(str(name)))):
            return _below(owner, name)
        case _:
            return None


def written_key(key: str) -> str:
    """A key as an expression: ``note.rating``, ``note["best-before"]``, ``file.path``; a dot leads into an object."""
    if key in PLACES:
        return PLACES[key]
    return "note" + "".join(
        f".{part}"
        if _PLAIN.fullmatch(part) and (depth == 0 or part not in _FIELDS)
        else f"[{written_text(part)}]"
        for depth, part in enumerate(key.split("."))
    )


def column_of(column: str, formulas: dict[str, str]) -> str:
    """The key of a column or of what is sorted by, such as ``rating``, ``note.best-before``, ``file.path``; what is no
    key stays as it is written: ``formula.perUse``, ``file.mtime``."""
    kind, _, name = column.partition(".")
    if kind == "note" and name:
        return name
    if kind == "file" and name:
        return _OF_FILE.get(name, column)
    if kind == "formula" and FORMULAS.get(name) == formulas.get(name) is not None:
        return name
    return column


def is_key(column: str) -> bool:
    """Whether ``Note.facts`` can have it."""
    return column in PLACES or not column.startswith(("file.", "formula."))


def written_column(key: str, *, sorts: bool = False) -> str:
    """A key as a column or, with ``sorts``, as what is sorted by.

    The column of ``title`` is ``file.name``, which opens the note.
    """
    if key == "file.name" or (key == "title" and not sorts):
        return "file.name"
    if key in PLACES:
        return PLACES[key]
    return f"note.{key}" if is_key(key) else key


def _below(owner: Tree, name: str) -> str | None:
    """The key of a property inside a property of the frontmatter."""
    outer = key_of(owner)
    return None if outer is None or _is_of_file(owner) else f"{outer}.{name}"


def _is_of_file(tree: Tree) -> bool:
    while isinstance(tree, Member):
        tree = tree.owner
    return tree == Name("file")
