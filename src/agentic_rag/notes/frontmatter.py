"""A note's frontmatter: where it lies, what it says, and the links its properties hold."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import yaml

from agentic_rag.domain import Link
from agentic_rag.domain.json_values import Json
from agentic_rag.notes.links import wikilinks
from agentic_rag.notes.values import jsonable

if TYPE_CHECKING:
    from yaml import SafeLoader as _BaseLoader
else:
    # libyaml is about ten times faster and part of every published wheel; the pure loader reads the same.
    _BaseLoader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)

_FENCE = re.compile(r"(?:\A|(?<=[\r\n]))---[^\S\r\n]*(?=[\r\n]|\Z)")
_LINE = re.compile(r"[^\r\n]+")
_KEY = re.compile(r"""(?:"([^"\r\n]+)"|'([^'\r\n]+)'|([^\s#:\-"'\[{][^:\r\n]*?))[ \t]*:(?=[ \t\r\n]|\Z)""")
_HINTS = {
    "unhashable key": "put a value in braces, such as {{date}}, in quotes",
    "mapping values are not allowed": "put a value that holds a colon in quotes",
    "cannot start any token": "indent with spaces, not with a tab; put a value that begins with @, ` or % in quotes",
}
"""What mends the mistakes that people make, by words of the YAML library, which names none of them."""
_MAX_DEPTH = 50


@dataclass(frozen=True, slots=True)
class Frontmatter:
    """``end`` is after the closing fence, 0 where a note has none."""

    end: int = 0
    values: Json = field(default_factory=dict)
    links: tuple[Link, ...] = ()
    warnings: tuple[str, ...] = ()


def frontmatter_of(values: Mapping[str, Any]) -> str:
    """Properties as a note begins with them, JSON values in their order; empty for none."""
    if not values:
        return ""
    dumped: str = yaml.safe_dump(dict(values), allow_unicode=True, sort_keys=False, width=math.inf)
    return f"---\n{dumped}---\n"


class _Loader(_BaseLoader):
    """YAML 1.2 scalars, as Obsidian reads them: ``yes`` and ``12:30`` are text, dates stay dates."""


def _timestamp(loader: Any, node: yaml.ScalarNode) -> Any:
    try:
        return loader.construct_yaml_timestamp(node)
    except (ValueError, OverflowError):
        return node.value


def _integer(loader: Any, node: yaml.ScalarNode) -> Any:
    text = node.value
    base = {"0o": 8, "0x": 16}.get(text[:2], 10)
    try:
        return int(text[2:] if base != 10 else text, base)
    except ValueError:  # more digits than Python converts
        return text


_Loader.yaml_implicit_resolvers = {
    first: [(tag, pattern) for tag, pattern in pairs if tag.rpartition(":")[2] in ("null", "timestamp")]
    for first, pairs in yaml.SafeLoader.yaml_implicit_resolvers.items()
}
_Loader.add_implicit_resolver(
    "tag:yaml.org,2002:bool", re.compile(r"^(?:true|True|TRUE|false|False|FALSE)$"), list("tTfF")
)
_Loader.add_implicit_resolver(
    "tag:yaml.org,2002:int", re.compile(r"^(?:[-+]?[0-9]+|0o[0-7]+|0x[0-9a-fA-F]+)$"), list("-+0123456789")
)
_Loader.add_implicit_resolver(
    "tag:yaml.org,2002:float",
    re.compile(
        r"^(?:[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?|[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN))$"
    ),
    list("-+.0123456789"),
)
_Loader.add_constructor("tag:yaml.org,2002:timestamp", _timestamp)
_Loader.add_constructor("tag:yaml.org,2002:int", _integer)


def read_frontmatter(text: str) -> Frontmatter:
    """The properties in front of a note; broken YAML gives no values and a warning, never an error."""
    span = _span(text)
    if span is None:
        return Frontmatter()
    start, stop, end = span
    values, warnings = _load(text[start:stop])
    return Frontmatter(end, values, tuple(_links(text, start, stop)), warnings)


@dataclass(frozen=True, slots=True)
class Property:
    """One property and where its statement ``key: value`` stands; nested ones have a dotted key."""

    key: str
    value: Any
    start: int
    end: int


def properties(text: str, front: Frontmatter) -> Iterator[Property]:
    """The properties of a note with their places, in order; none where the YAML could not be read."""
    span = _span(text)
    if span is None or not front.values:
        return
    start, stop, _ = span
    source = text[start:stop]
    root = yaml.compose(source, Loader=_Loader)
    if isinstance(root, yaml.MappingNode):
        # Marks count the characters of the source; a byte order mark or NUL would have made the YAML unreadable.
        yield from _locate_properties(root, front.values, start, source, "")


def _locate_properties(
    node: yaml.MappingNode, values: Json, offset: int, source: str, prefix: str
) -> Iterator[Property]:
    for (key, member), value in zip(node.value, values.values(), strict=False):
        name = f"{prefix}{key.value}"
        if isinstance(value, dict) and isinstance(member, yaml.MappingNode):
            yield from _locate_properties(member, value, offset, source, f"{name}.")
            continue
        written = source[key.start_mark.index : member.end_mark.index].rstrip()
        begin = offset + key.start_mark.index
        yield Property(name, value, begin, begin + len(written))


def _span(text: str) -> tuple[int, int, int] | None:
    """Start (where the opening fence's line ends) and end of the YAML, and the end of the closing fence.

    Blank lines before it are passed over: Obsidian takes such properties for text, their author does not.
    """
    opening = _FENCE.match(text, len(text) - len(text.lstrip("\r\n")))
    closing = None if opening is None else _FENCE.search(text, opening.end())
    if opening is None or closing is None:
        return None
    return opening.end(), closing.start(), closing.start() + 3


def _load(source: str) -> tuple[Json, tuple[str, ...]]:
    try:
        values = jsonable(_bare_wikilinks(yaml_value(source)))
    except ValueError as error:
        return {}, (f"the frontmatter is not valid YAML and was kept as text: {_reason(error)}",)
    if values is None:
        return {}, ()
    if not isinstance(values, dict):
        return {}, ("the frontmatter is not a list of properties (name: value) and was kept as text",)
    return values, ()


def yaml_value(source: str) -> Any:
    """What a text in YAML 1.2 holds, as Obsidian reads it; None where it is empty.

    Raises:
        ValueError: it is not valid YAML, or nested deeper than 50 levels. The message names the line and what to do.
    """
    try:
        _check_depth(source)
        return yaml.load(source, Loader=_Loader)  # a subclass of the safe loader
    except (yaml.YAMLError, ValueError, TypeError, RecursionError) as error:
        raise ValueError(_reason(error)) from error


def _reason(error: Exception) -> str:
    if isinstance(error, yaml.MarkedYAMLError) and error.problem_mark is not None:
        # Counted in the file, from 1: what is read begins in the opening fence's line.
        hint = next((hint for problem, hint in _HINTS.items() if problem in (error.problem or "")), None)
        return f"line {error.problem_mark.line + 1}: {error.problem}{f' ({hint})' if hint else ''}"
    return " ".join(str(error).split())


def _check_depth(source: str) -> None:
    """Refuse deep nesting before building it: the loader recurses in C and would take the process down."""
    depth = 0
    for event in yaml.parse(source, Loader=_Loader):
        if isinstance(event, yaml.CollectionStartEvent):
            depth += 1
            if depth > _MAX_DEPTH:
                raise ValueError("nested too deeply")
        elif isinstance(event, yaml.CollectionEndEvent):
            depth -= 1


def _bare_wikilinks(value: Any) -> Any:
    """``author: [[Ann]]`` without quotes is a list in a list to YAML; give back what was written."""
    if not isinstance(value, dict):
        return value
    return {key: _restore_wikilinks(member) for key, member in value.items()}


def _restore_wikilinks(value: Any) -> Any:
    if not isinstance(value, list):
        return value
    if len(value) == 1 and _is_bare(value[0]):
        return f"[[{value[0][0]}]]"
    return [f"[[{m[0][0]}]]" if isinstance(m, list) and len(m) == 1 and _is_bare(m[0]) else m for m in value]


def _is_bare(value: Any) -> bool:
    return isinstance(value, list) and len(value) == 1 and isinstance(value[0], str)


def _links(text: str, start: int, stop: int) -> Iterator[Link]:
    """Wikilinks in the properties, each standing under its top-level key."""
    key: str | None = None
    for line in _LINE.finditer(text, start, stop):
        named = _KEY.match(line.group())
        if named is not None:
            key = next(group for group in named.groups() if group is not None)
        if not line.group().lstrip().startswith("#"):
            yield from wikilinks(text, line.start(), line.end(), relation=key)
