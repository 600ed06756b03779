"""Notion's export as Markdown: names without their ids, links between pages, properties, databases."""

from __future__ import annotations

import csv
import io
import re
import zipfile
from collections.abc import Iterator, Mapping
from pathlib import Path, PurePosixPath
from urllib.parse import quote, unquote

from agentic_rag.dates.reading import moment_in
from agentic_rag.ingest.files.source_text import ZIP_DAMAGES, SourceError
from agentic_rag.notes.frontmatter import frontmatter_of

MAX_BYTES = 500_000_000
"""Of all pages of a zip."""
_MAX_NESTED = 2
_ID = r"(?:[ _]|(?<![0-9a-f]))[0-9a-f]{32}"
_EXPORTED_NAME = re.compile(rf".*\S{_ID}(?:_all)?\.(?:md|csv)")
_IN_NAME = re.compile(rf"(?<=\S){_ID}(?=(?:_all)?(?:\.\w+)?$)")
_LINK = re.compile(r"(\]\()([^()\s]+\.(?:md|csv)(?:#[^()\s]*)?)(\))")
_PROPERTY = re.compile(r"(?P<key>[^\s:|#>*`\[-][^:\n]{0,60}): (?P<value>\S.*)")
_RELATION = re.compile(r"([^,()]+) \(([^()]+\.md)\)")
_DAY = re.compile(r"[A-Z][a-z]+ \d{1,2}, \d{4}(?: \d{1,2}:\d\d(?: [AP]M)?)?")
_ALL = "_all.csv"


def is_of_notion(path: str) -> bool:
    """Whether a file is of an export, by the id in its name."""
    return _EXPORTED_NAME.fullmatch(PurePosixPath(path).name) is not None


def names_of(paths: list[str]) -> dict[str, str]:
    """Paths without ids, by path; with them where two would be one. A database's view gives way to all its rows."""
    views = {f"{path.removesuffix(_ALL)}.csv" for path in paths if path.endswith(_ALL)}
    plain: dict[str, list[str]] = {}
    for path in paths:
        if path not in views:
            plain.setdefault(_without_ids(path), []).append(path)
    return {path: name if len(group) == 1 else path for name, group in plain.items() for path in group}


def _without_ids(path: str) -> str:
    """A database is a note, too."""
    name = "/".join(_IN_NAME.sub("", part) for part in path.split("/"))
    return f"{name.removesuffix(_ALL).removesuffix('.csv')}.md" if name.endswith(".csv") else name


def page_text(text: str, path: str, names: Mapping[str, str]) -> str:
    """A page as a note is written.

    Args:
        text: of the file.
        path: in the export.
        names: by path in the export, those that the notes have.
    """
    lines = text.splitlines()
    title = lines[0].removeprefix("# ").strip() if lines and lines[0].startswith("# ") else ""
    values: dict[str, object] = {}
    if title and title != PurePosixPath(names[path]).stem:
        values["title"] = title
    first = 2 if title and len(lines) > 2 and not lines[1].strip() else len(lines)
    last = next((n for n in range(first, len(lines)) if not lines[n].strip()), len(lines))
    found = [_PROPERTY.fullmatch(line) for line in lines[first:last]]
    if found and all(found):
        values |= {prop["key"]: _value(prop["value"]) for prop in found if prop is not None}
        lines = lines[:first] + lines[last + 1 :]
    body = "\n".join(lines)
    return f"{frontmatter_of(values)}{_LINK.sub(lambda link: _rename_link(link, path, names), body)}\n"


def _value(text: str) -> object:
    """A property's value: a day in ISO form, numbers as such, relations as links."""
    text = text.strip()
    day = moment_in(text) if _DAY.fullmatch(text) else None
    if day is not None:
        return day.date().isoformat()
    if re.fullmatch(r"-?\d{1,15}(?:\.\d+)?", text):
        return float(text) if "." in text else int(text)
    return _RELATION.sub(_relation_link, text)


def _relation_link(relation: re.Match[str]) -> str:
    stem, shown = _without_ids(PurePosixPath(unquote(relation[2])).stem), relation[1].strip()
    return f"[[{stem}]]" if stem == shown else f"[[{stem}|{shown}]]"


def _rename_link(link: re.Match[str], path: str, names: Mapping[str, str]) -> str:
    """A link to another page by the name that its note has, from the folder that this one's has."""
    target, sign, place = link[2].partition("#")
    if "://" in target:
        return link[0]
    folder = PurePosixPath(path).parent
    to = _join_path(folder, unquote(target))
    shown = names.get(to) or names.get(f"{to.removesuffix('.csv')}{_ALL}") or _without_ids(to)
    return f"{link[1]}{quote(shown)}{sign}{place}{link[3]}"


def _join_path(folder: PurePosixPath, target: str) -> str:
    parts: list[str] = list(folder.parts)
    for part in target.split("/"):
        if part == "..":
            del parts[-1:]
        elif part not in ("", "."):
            parts.append(part)
    return "/".join(parts)


def database_text(text: str, path: str, names: Mapping[str, str]) -> str:
    """A database: links to the rows that have pages, which hold their properties, and a table of the others.

    Raises:
        SourceError: a cell is too large.
    """
    try:
        rows = [row for row in csv.reader(io.StringIO(text.lstrip("\ufeff"))) if any(map(str.strip, row))]
    except csv.Error as error:
        raise SourceError(f"no table that can be read ({error})") from error
    folder = names[path].removesuffix(".md").removesuffix(".csv")
    pages = {
        PurePosixPath(name).stem: name for name in names.values() if str(PurePosixPath(name).parent) == folder
    }
    linked = [f"- [{row[0]}]({quote(pages[row[0].strip()])})" for row in rows[1:] if row[0].strip() in pages]
    others = [row for row in rows[1:] if row[0].strip() not in pages]
    table = [_row(rows[0]), "|" + " --- |" * len(rows[0]), *map(_row, others)] if others else []
    title = PurePosixPath(folder).name
    return "\n\n".join(filter(None, [f"# {title}", "\n".join(linked), "\n".join(table)])) + "\n"


def _row(cells: list[str]) -> str:
    return "| " + " | ".join(" ".join(cell.split()).replace("|", "\\|") for cell in cells) + " |"


def pages_in(zip_path: Path, only: str | None = None) -> dict[str, bytes]:
    """The pages and databases of a zip, also where they lie in zips within it; none if it is no export of Notion.

    Args:
        zip_path: the zip.
        only: the page that is read, the others are empty; None: all are read.

    Raises:
        SourceError: it is damaged, locked, or too large.
    """
    try:
        found = dict(_members(zip_path.read_bytes(), [MAX_BYTES], 0, only))
    except ZIP_DAMAGES as error:
        raise SourceError(f"no zip that can be read ({error})") from error
    return found if any(map(is_of_notion, found)) else {}


def _members(
    raw: bytes, remaining_bytes: list[int], depth: int, only: str | None
) -> Iterator[tuple[str, bytes]]:
    with zipfile.ZipFile(io.BytesIO(raw)) as packed:
        for member in packed.infolist():
            suffix = PurePosixPath(member.filename).suffix.lower()
            if member.is_dir() or suffix not in (".md", ".csv", ".zip"):
                continue
            if only not in (None, member.filename) and suffix != ".zip":
                yield member.filename, b""
                continue
            if member.file_size > remaining_bytes[0] or (suffix == ".zip" and depth == _MAX_NESTED):
                raise SourceError(f"it unpacks to more than {MAX_BYTES / 1e6:g} MB, or is packed too often")
            with packed.open(member) as stream:
                content = stream.read(member.file_size + 1)
            remaining_bytes[0] -= len(content)
            if suffix == ".zip":
                yield from _members(content, remaining_bytes, depth + 1, only)
            else:
                yield member.filename, content
