"""A selection written as an Obsidian Base: the vault shows from then on what a question about many notes selected.

Two comments at the head of the file have the question and a digest of the file. A file with another digest was written
or changed by a person, and is not replaced.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path, PurePosixPath
from typing import Any

from agentic_rag.boards.vault import Vault, root_above
from agentic_rag.domain.filters import And, Comparison, Expression, Not, Or, matches, parse_filters
from agentic_rag.domain.identity import digest
from agentic_rag.domain.notes import Note
from agentic_rag.errors import InputError, RunError
from agentic_rag.notes.base_filters import is_empty
from agentic_rag.notes.bases import SUFFIX, BaseView, select, write_base
from agentic_rag.notes.values import DATE_KEYS
from agentic_rag.stores.whole_file import write_whole

MAX_NAME = 120
"""Code points of the question as the name of the view."""
_PLACES = frozenset({"folder", "path", "document_id", "file.folder"})
"""Keys whose values are paths below the ingested folder."""
_OTHER = "keep the answer as a board instead: --canvas FILE"


@dataclass(frozen=True, slots=True)
class SelectionBase:
    """A Base, and how what it shows differs from the selection."""

    text: str
    """Of the file."""
    columns: tuple[str, ...]
    notes: int
    """Number of notes that it shows."""
    missing: tuple[str, ...]
    """Paths of selected notes that it does not show: Obsidian knows properties alone, not what the text states."""
    extra: tuple[str, ...]
    """Paths of notes that it shows besides, for the same reason."""


@dataclass(frozen=True, slots=True)
class BaseReport:
    """What was written; the fields as in ``SelectionBase``."""

    path: str
    columns: tuple[str, ...]
    notes: int
    missing: tuple[str, ...]
    extra: tuple[str, ...]


def write_selection(state: Mapping[str, Any], notes: Sequence[Note], path: Path) -> BaseReport:
    """Write the selection of a run as a Base, or replace the one that an earlier run of the question wrote.

    Args:
        state: of a finished run of the main graph.
        notes: all notes of its dataset.
        path: a ``.base`` file.

    Raises:
        InputError: another suffix, no selection of notes, or the existing file is of a person or of another question.
        FilterError: a Base cannot express the query.
        RunError: the file cannot be written.
    """
    require_base_name(path)
    base = selection_base(state, notes, root_above(path))
    try:
        _require_own(path, base.text)
        write_whole(path, base.text)
    except (OSError, UnicodeDecodeError) as error:
        raise RunError(f"the Base {path} cannot be written: {error}") from error
    return BaseReport(str(path), base.columns, base.notes, base.missing, base.extra)


def require_base_name(path: Path) -> None:
    """Raises ``InputError`` for a file name that Obsidian would not open as a Base."""
    if path.suffix.lower() != SUFFIX:
        raise InputError(f"a Base is a file with the suffix {SUFFIX}, not {path.name!r}")


def selection_base(
    state: Mapping[str, Any], notes: Sequence[Note], vault: Path | None = None
) -> SelectionBase:
    """The selection of a run as a Base.

    Args:
        state: of a finished run of the main graph.
        notes: all notes of its dataset.
        vault: root of the vault that shows the Base; None: the ingested folder.

    Raises:
        InputError: the run selected no notes, or Obsidian would show none of them.
        FilterError: a Base cannot express the query.
    """
    selection = state.get("selection") or {}
    _require_notes(selection)
    folder = _folder_in(Vault(vault), selection["entries"])
    view = _view(state["request"], selection, folder)
    paths = {_join_path(folder, entry["path"]) for entry in selection["entries"]}
    visible = {note.path for note in select([_visible(note, folder) for note in notes], view)}
    if paths and not paths & visible:
        raise InputError(
            "Obsidian would show none of the selected notes: a Base knows properties, and these notes state in their "
            f"text or name what was asked for ({selection['reading']}); write it as properties, or {_OTHER}"
        )
    return SelectionBase(
        _with_head(view.name, write_base(view)),
        view.columns,
        len(visible),
        tuple(sorted(paths - visible)),
        tuple(sorted(visible - paths)),
    )


def _require_notes(selection: Mapping[str, Any]) -> None:
    """Raises ``InputError`` unless notes were selected."""
    if selection.get("status") not in ("ok", "none"):
        reason = f" ({selection['reason']})" if selection.get("reason") else ""
        raise InputError(
            f"only a question that selects notes can be kept as a Base, and this one was not read as such{reason}; "
            f"ask by what agentic-rag stats lists: a property, tag, folder or date; or {_OTHER}"
        )
    if selection["query"]["ask"] in ("overview", "names"):
        raise InputError(
            f"a question about all notes selects none of them, so there is nothing to keep as a Base; ask for some, or {_OTHER}"
        )
    target = selection["query"]["target"]
    if target != "notes":
        what = {"tasks": "tasks", "entries": "list items and rows"}[target]
        raise InputError(
            f"a Base shows notes and not their {what}, so {selection['reading']!r} cannot be kept as one; ask for the "
            f"notes, or {_OTHER}"
        )


def _view(request: Mapping[str, Any], selection: Mapping[str, Any], folder: str) -> BaseView:
    query, order = selection["query"], selection["query"]["order"]
    written = [parse_filters(request["filters"]), parse_filters(query["filters"])]
    conditions = [_below(folder, one) for one in written if one is not None]
    if folder:
        conditions.insert(0, Comparison("folder", "$eq", folder))
    if order is not None:  # a note without the property has no place in the order
        conditions.append(Not(is_empty(order[0])))
    filters = _without_attachments(_all_of(conditions), [entry["path"] for entry in selection["entries"]])
    columns = dict.fromkeys(("title", *query["shown"], *([order[0]] if order is not None else [])))
    return BaseView(
        name=_line(request["asked"])[:MAX_NAME],
        filters=filters,
        columns=tuple(columns),
        sort=() if order is None else ((order[0], "DESC" if order[1] else "ASC"),),
    )


def _all_of(conditions: Sequence[Expression]) -> Expression | None:
    """The conditions joined by and, each once."""
    flat = [part for one in conditions for part in (one.parts if isinstance(one, And) else (one,))]
    unique = tuple(dict.fromkeys(flat))
    return None if not unique else unique[0] if len(unique) == 1 else And(unique)


def _without_attachments(filters: Expression | None, paths: Sequence[str]) -> Expression | None:
    """The filters, with the kinds of the selected files where a picture beside one would pass as well."""
    folders = {PurePosixPath(path).parent for path in paths} or {PurePosixPath()}
    pictures = (Note("", (folder / "picture.png").as_posix(), "picture") for folder in folders)
    if filters is not None and not any(matches(filters, picture.facts()) for picture in pictures):
        return filters
    kinds = sorted({PurePosixPath(path).suffix.removeprefix(".") for path in paths} or {"md"})
    kind = Comparison("file.ext", "$in", tuple(kinds))
    return kind if filters is None else _all_of([filters, kind])


def _below(folder: str, expression: Expression) -> Expression:
    """The expression with paths from the vault's root instead of the ingested folder."""
    match expression:
        case And(parts):
            return And(tuple(_below(folder, part) for part in parts))
        case Or(parts):
            return Or(tuple(_below(folder, part) for part in parts))
        case Not(part):
            return Not(_below(folder, part))
        case Comparison(key, operator, value) if folder and key in _PLACES and operator != "$exists":
            if isinstance(value, tuple):
                moved: Any = tuple(_join_path(folder, str(one)) for one in value)
            else:
                moved = value if operator == "$contains" else _join_path(folder, str(value))
            return Comparison(key, operator, moved)
    return expression


def _folder_in(vault: Vault, entries: Sequence[Mapping[str, Any]]) -> str:
    """The ingested folder as a path below the vault's root; "" where it is the root, or its place is unknown."""
    files = ((vault.file_of(entry), str(entry["path"])) for entry in entries)
    moved = (file.removesuffix(path) for file, path in files if file is not None and file != path)
    return next(moved, "").strip("/")


def _join_path(folder: str, path: str) -> str:
    return f"{folder}/{path}" if folder else path


def _visible(note: Note, folder: str) -> Note:
    """A note as Obsidian knows it: its properties without named values in its text, its name without its headings."""
    path = _join_path(folder, note.path)
    body = None if note.opening is None else note.opening[0]
    properties = tuple(one for one in note.fields if body is None or one.start < body)
    keys = {one.key for one in properties if one.value}
    return replace(
        note,
        document_id=path,
        path=path,
        title=note.title if "title" in keys else PurePosixPath(path).stem,
        date=note.date if keys.intersection(DATE_KEYS) else None,
        fields=properties,
    )


def _line(text: str) -> str:
    """On one line that YAML reads."""
    return " ".join("".join(one if one.isprintable() else " " for one in text).split())


def _with_head(question: str, body: str) -> str:
    return f"# {question}\n# agentic-rag {digest(question + body)}\n{body}"


def _require_own(path: Path, text: str) -> None:
    """Raises ``InputError`` for an existing file that a person wrote or changed, or that is of another question."""
    present = path.read_text("utf-8-sig") if path.exists() else ""
    if not present.strip():
        return
    head, _, rest = present.partition("\n")
    question, body = head.removeprefix("# "), rest.partition("\n")[2]
    if present != _with_head(question, body):
        raise InputError(
            f"{path} is a Base that agentic-rag did not write, or that was changed since; it stays as it is; give "
            "another file name"
        )
    if head != text.partition("\n")[0]:
        raise InputError(f"{path} is the Base of another question ({question!r}); give another file name")
