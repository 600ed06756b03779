"""What a dataset's notes state, for ``stats``: properties, tags, folders and tasks, cut with "and N more"."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from rich.box import SIMPLE_HEAD
from rich.table import Table
from rich.text import Text

from agentic_rag.cli.render import console
from agentic_rag.notes.schema_text import counts_text, values_text

MOST_PROPERTIES = 20
MOST_NAMES = 12
"""Tags, and folders."""
MOST_VALUES = 4
WIDTH = 40
"""Code points of a value."""
_TABLES = (
    ("properties", "what the notes state", "notes"),
    ("entries", "what list items and rows state", "entries"),
)


def print_schema(schema: Mapping[str, Any]) -> None:
    """A table of properties and one of the properties of entries, then a line each for tags, folders and tasks.

    Args:
        schema: ``notes.catalogue.Schema.to_dict()``.
    """
    out = console()
    for name, title, what in _TABLES:
        if schema[name]:
            out.print(_table(title, what, schema[name]))
    # As in Markdown: [x].
    tasks = {f"[{mark}]": count for mark, count in schema["tasks"].items()}
    for name, counts in (("tags", schema["tags"]), ("folders", schema["folders"]), ("tasks", tasks)):
        if counts:
            out.print(f"{name}: {counts_text(counts, MOST_NAMES)}", markup=False, soft_wrap=True)


def _table(title: str, what: str, keys: Sequence[Mapping[str, Any]]) -> Table:
    """One row per property. Names and values are people's own and are no markup."""
    table = Table(title=title, title_justify="left", caption_justify="left", box=SIMPLE_HEAD)
    table.add_column("property", no_wrap=True)
    table.add_column("type", no_wrap=True)
    table.add_column(what, justify="right", no_wrap=True)
    table.add_column("values", overflow="fold", ratio=1)
    for key in keys[:MOST_PROPERTIES]:
        values = values_text(key, MOST_VALUES, WIDTH)
        table.add_row(Text(key["name"]), ", ".join(key["types"]), str(key["notes"]), Text(values))
    if len(keys) > MOST_PROPERTIES:
        table.caption = f"and {len(keys) - MOST_PROPERTIES} more; all of them with --json"
    return table
