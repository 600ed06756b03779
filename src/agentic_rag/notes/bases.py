"""Obsidian's Bases: views of a vault's notes in ``.base`` files, read, applied to ``Note``s, and written.

Source: Obsidian Help, Bases syntax. A base that is shown inside another note can speak of that note as ``this``; here
there is none, so such filters are unsupported.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from pathlib import PurePosixPath
from typing import Any, Literal

import yaml

from agentic_rag.domain.filters import And, Expression, keys_of, matches
from agentic_rag.domain.json_values import Json
from agentic_rag.domain.notes import Note
from agentic_rag.errors import FilterError
from agentic_rag.notes.base_filters import BaseFilters
from agentic_rag.notes.base_keys import FORMULAS, column_of, is_key, written_column
from agentic_rag.notes.base_statements import written_filter
from agentic_rag.notes.frontmatter import yaml_value
from agentic_rag.notes.values import jsonable, valid_unicode

Direction = Literal["ASC", "DESC"]
SUFFIX = ".base"
_PLAIN = re.compile(r"[A-Za-z][\w. /()\"<>=-]*")
"""Texts that every version of YAML reads as text without quotes."""


@dataclass(frozen=True, slots=True)
class BaseView:
    """A selection of notes as a table: which, in which order, and what of them."""

    name: str
    filters: Expression | None = None
    """On ``Note.facts``; None passes every note."""
    columns: tuple[str, ...] = ()
    """Keys of ``Note.facts``; what is none of them as written: ``formula.perUse``, ``file.mtime``."""
    sort: tuple[tuple[str, Direction], ...] = ()
    """Keys of ``Note.facts``, the most important first."""
    limit: int | None = None
    """The most notes, at least 1."""
    group_by: Any = None
    """As written."""
    type: str = "table"
    unsupported_filters: tuple[str, ...] = ()
    """What of its filters, sort and limit could not be expressed, as written. Filters then pass every note that the
    base shows, and perhaps more."""


@dataclass(frozen=True, slots=True)
class Base:
    """A ``.base`` file."""

    path: str
    views: tuple[BaseView, ...]
    """In order; Obsidian shows the first. At least one."""
    source: str = field(default="", repr=False)
    """Text of the file."""

    @property
    def name(self) -> str:
        """Name of the base's file, without suffix."""
        return PurePosixPath(self.path).stem

    def at(self, now: datetime) -> Base:
        """The base with filters that refer to the present; see ``read_base``."""
        return read_base(self.source, self.path, now=now)


def read_base(text: str, path: str, *, now: datetime | None = None) -> Base:
    """The views of a base, each with the filters that hold for all of them.

    Args:
        text: of the file.
        path: of the file, for messages.
        now: what ``now()`` and ``today()`` are, in local time without zone; None: filters with them are unsupported.

    Raises:
        FilterError: it is not YAML, or not in the form of a base.
    """
    try:
        values = jsonable(yaml_value(text))
    except ValueError as error:
        raise FilterError(f"{path}: a base must be valid YAML ({error}); mend it, or leave it out") from error
    values = {} if values is None else values
    if not isinstance(values, dict):
        raise FilterError(
            f"{path}: a base must have filters and views, not {values!r}; mend it, or leave it out"
        )
    views = values.get("views") or [{}]
    if not isinstance(views, list) or not all(isinstance(view, dict) for view in views):
        raise FilterError(
            f"{path}: the views of a base must be a list of views, not {views!r}; mend it, or leave it out"
        )
    formulas = values.get("formulas")
    texts = {str(k): str(v) for k, v in formulas.items()} if isinstance(formulas, dict) else {}
    return Base(path, tuple(_view(view, values.get("filters"), texts, now) for view in views), text)


def select(notes: Sequence[Note], view: BaseView) -> list[Note]:
    """The notes that a view shows, in its order: numbers before texts, texts in any case, notes without the key last;
    then by path. If ``view.unsupported_filters`` is not empty, they may be more than Obsidian shows.
    """
    found = [
        (note, facts)
        for note in sorted(notes, key=lambda note: (note.path, note.document_id))
        for facts in [note.facts()]
        if view.filters is None or matches(view.filters, facts)
    ]
    for key, direction in reversed(view.sort):
        # As in a base: by the folder that a note lies in, and not by those above.
        place = "file.folder" if key == "folder" else key
        ranked = [(_rank(facts.get(place)), (note, facts)) for note, facts in found]
        having = [pair for pair in ranked if pair[0]]
        having.sort(key=lambda pair: pair[0], reverse=direction == "DESC")
        found = [one for _, one in having] + [one for rank, one in ranked if not rank]
    return [note for note, _ in found[: view.limit]]


def write_base(view: BaseView) -> str:
    """A ``.base`` file with one view; ``read_base`` reads from it a view that selects the same notes.

    Tags and folders select what lies below them. A filter on ``title`` uses a note's ``title`` or else its file's name,
    one on ``date`` the first property that states one: Obsidian knows no date of a file's name.

    Raises:
        FilterError: the view has unsupported parts, or orders folders, tags or links.
    """
    if view.unsupported_filters:
        raise FilterError(
            f"the view {view.name!r} cannot be written without {'; '.join(view.unsupported_filters)}; "
            "keep the base that it was read from"
        )
    filters = None if view.filters is None else written_filter(view.filters)
    sort = [
        {"property": written_column(key, sorts=True), "direction": direction} for key, direction in view.sort
    ]
    shown: Json = {"type": view.type, "name": view.name}
    shown |= {"order": [written_column(key) for key in view.columns]} if view.columns else {}
    shown |= {"sort": sort} if sort else {}
    shown |= {"limit": view.limit} if view.limit is not None else {}
    shown |= {"groupBy": view.group_by} if view.group_by is not None else {}
    base: Json = {}
    if filters is not None:
        base["filters"] = {"and": [filters]} if isinstance(filters, str) else filters
    return _dump(base | _formulas(view) | {"views": [shown]})


def _view(
    view_values: Mapping[str, Any], of_all: Any, formulas: dict[str, str], now: datetime | None
) -> BaseView:
    reading = BaseFilters(formulas, now)
    parts = [
        part for part in (reading.read(of_all), reading.read(view_values.get("filters"))) if part is not None
    ]
    kind = str(view_values.get("type") or "table")
    view = BaseView(
        name=str(view_values.get("name") or kind.capitalize()),
        filters=None if not parts else parts[0] if len(parts) == 1 else And(tuple(parts)),
        columns=tuple(column_of(str(one), formulas) for one in _as_list(view_values.get("order"))),
        group_by=view_values.get("groupBy"),
        type=kind,
        unsupported_filters=tuple(reading.unsupported_filters),
    )
    return _with_limit(_with_sort(view, view_values, formulas), view_values.get("limit"))


def _with_sort(view: BaseView, view_values: Mapping[str, Any], formulas: dict[str, str]) -> BaseView:
    sort: list[tuple[str, Direction]] = []
    unsupported: list[str] = []
    for one in _as_list(view_values.get("sort")):
        # Obsidian 1.9 wrote ``column`` for ``property``.
        named = (one.get("property") or one.get("column")) if isinstance(one, dict) else None
        key = column_of(named, formulas) if isinstance(named, str) else ""
        if not key or not is_key(key):
            unsupported.append(f"sort: {named or one}")
        else:
            sort.append((key, "DESC" if str(one.get("direction")).upper() == "DESC" else "ASC"))
    return replace(view, sort=tuple(sort), unsupported_filters=(*view.unsupported_filters, *unsupported))


def _with_limit(view: BaseView, limit: Any) -> BaseView:
    if limit is None:
        return view
    if isinstance(limit, int) and not isinstance(limit, bool) and limit > 0:
        return replace(view, limit=limit)
    return replace(view, unsupported_filters=(*view.unsupported_filters, f"limit: {limit}"))


def _as_list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [] if value is None else [value]


def _rank(value: Any) -> list[tuple[int, float, str]]:
    """What notes are sorted by; empty for no value."""
    members = value if isinstance(value, list) else [value]
    return [
        (0, member, "") if isinstance(member, bool | int | float) else (1, 0, str(member).casefold())
        for member in members
        if member is not None
    ]


def _formulas(view: BaseView) -> Json:
    """The sections ``formulas`` and ``properties`` for the keys of a view that are formulas."""
    keys = {key for key, _ in view.sort} | (set() if view.filters is None else keys_of(view.filters))
    keys |= set(view.columns) - {"title"}
    used = [key for key in FORMULAS if key in keys]
    if not used:
        return {}
    return {
        "formulas": {key: FORMULAS[key] for key in used},
        "properties": {f"formula.{key}": {"displayName": key.capitalize()} for key in used},
    }


class _Dumper(yaml.SafeDumper):
    """Quotes what versions of YAML read differently: ``1e3`` is a text to PyYAML and a number to Obsidian."""

    def ignore_aliases(self, data: Any) -> bool:
        return True


def _represent_text(dumper: yaml.SafeDumper, text: str) -> yaml.ScalarNode:
    style = None if _PLAIN.fullmatch(text) else "'"
    return dumper.represent_scalar("tag:yaml.org,2002:str", valid_unicode(text), style=style)


_Dumper.add_representer(str, _represent_text)


def _dump(base: Mapping[str, Any]) -> str:
    found: str = yaml.dump(
        dict(base), Dumper=_Dumper, sort_keys=False, allow_unicode=True, default_flow_style=False, width=10**6
    )
    return found
