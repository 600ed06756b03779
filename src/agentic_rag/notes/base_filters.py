"""Filters of Obsidian's Bases as filter expressions on ``Note.facts``.

What a filter cannot say there is noted and left out, and so that no note is lost: the expression passes every note
that the base shows, and perhaps more. Texts compare as ``domain.filters`` has it: ``contains`` in any case, and a list
equals what a member does.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import date, datetime
from pathlib import PurePosixPath
from typing import Any

from agentic_rag.domain.filters import And, Comparison, Expression, Not, Operator, Or, Scalar
from agentic_rag.notes.base_dates import read_date, shift
from agentic_rag.notes.base_expressions import Call, Literal, Member, Name, Operation, Tree, parse_expression
from agentic_rag.notes.base_keys import FORMULAS, key_of

NONE: Expression = Comparison("path", "$in", ())
"""Passes no note."""
EVERY: Expression = Not(NONE)
"""Passes every note."""
_COMPARISONS: dict[str, Operator] = {
    "==": "$eq", "!=": "$ne", ">": "$gt", ">=": "$gte", "<": "$lt", "<=": "$lte",
}  # fmt: skip
_MIRRORED_OPERATORS = {"==": "==", "!=": "!=", ">": "<", ">=": "<=", "<": ">", "<=": ">="}
_KNOWN_FORMULAS = {parse_expression(text): key for key, text in FORMULAS.items()}
_MAX_FORMULAS = 50
"""Put in place of their names in one filter: they may name each other, and twice."""


class BaseFilters:
    """Reads the filters of one base.

    Args:
        formulas: text of each formula of the base, by name.
        now: what ``now()`` and ``today()`` are; None: filters with them are noted as unsupported.
    """

    def __init__(self, formulas: Mapping[str, str], now: datetime | None = None) -> None:
        self._formulas = formulas
        self._now = now
        self._budget = 0
        self.unsupported_filters: list[str] = []
        """The statements that could not be expressed, or not whole, as written, each once."""

    def read(self, filter_value: Any) -> Expression | None:
        """The ``filters`` of a base or a view; None if none is given or none can be expressed."""
        found = None if filter_value is None else self._group(filter_value, loose=True)
        return None if found == EVERY else found

    def _group(self, filter_value: Any, *, loose: bool) -> Expression | None:
        """A statement or an object with ``and``, ``or`` or ``not``; None if it cannot be expressed.

        With ``loose`` more may pass than the base shows, else less.
        """
        if isinstance(filter_value, bool):
            return EVERY if filter_value else NONE
        if isinstance(filter_value, str):
            return self._statement(filter_value, loose=loose)
        if not isinstance(filter_value, dict) or len(filter_value) != 1:
            return self._unreadable(json.dumps(filter_value, ensure_ascii=False, default=str))
        ((kind, members),) = filter_value.items()
        parts = members if isinstance(members, list) else [] if members is None else [members]
        if kind not in ("and", "or", "not"):
            return self._unreadable(json.dumps(filter_value, ensure_ascii=False, default=str))
        if not parts:
            return EVERY
        if kind == "not":
            found = _either([self._group(part, loose=not loose) for part in parts], loose=not loose)
            return None if found is None else Not(found)
        return _COMBINATORS[kind]([self._group(part, loose=loose) for part in parts], loose=loose)

    def _statement(self, text: str, *, loose: bool) -> Expression | None:
        if not text.strip():
            return EVERY
        self._budget = _MAX_FORMULAS
        try:
            tree = self._without_formulas(parse_expression(text))
        except (ValueError, RecursionError):  # of formulas that name each other
            return self._unreadable(text)
        return self._truth(tree, text, loose=loose)

    def _truth(self, tree: Tree, text: str, *, loose: bool) -> Expression | None:
        match tree:
            case Operation("&&" | "||" as operator, parts):
                joined = _COMBINATORS["and" if operator == "&&" else "or"]
                return joined([self._truth(part, text, loose=loose) for part in parts], loose=loose)
            case Operation("!", (part,)):
                found = self._truth(part, text, loose=not loose)
                return None if found is None else Not(found)
        try:
            return self._condition(tree)
        except (ValueError, RecursionError):
            return self._unreadable(text)

    def _unreadable(self, text: str) -> Expression | None:
        """No expression, noted."""
        if text not in self.unsupported_filters:
            self.unsupported_filters.append(text)
        return None

    def _without_formulas(self, tree: Tree) -> Tree:
        """The tree with each ``formula.name`` replaced by what it stands for."""
        match tree:
            case Member(Name("formula"), name) | Operation("[]", (Name("formula"), Literal(str(name)))):
                self._budget -= 1
                if self._budget < 0 or name not in self._formulas:
                    raise ValueError(f"no formula {name!r}, or too many")
                return self._without_formulas(parse_expression(self._formulas[name]))
            case Member(owner, name):
                return Member(self._without_formulas(owner), name)
            case Call(function, arguments):
                every = tuple(self._without_formulas(one) for one in arguments)
                return Call(self._without_formulas(function), every)
            case Operation(operator, operands):
                return Operation(operator, tuple(self._without_formulas(one) for one in operands))
            case _:
                return tree

    def _condition(self, tree: Tree) -> Expression:
        """A condition without boolean operators. Raises ValueError if it cannot be expressed."""
        match tree:
            case Literal(value):
                return EVERY if value else NONE
            case Operation(operator, (left, right)) if operator in _COMPARISONS:
                return self._comparison(operator, left, right)
            case Call(Member(Name("file"), method), arguments) if method in _OF_FILE:
                return _OF_FILE[method]([_text(self._value(one)) for one in arguments])
            case Call(Member(owner, "isEmpty"), ()):
                return is_empty(_key(_bare(owner)))
            case Call(Member(owner, "isTruthy"), ()):
                return _is_truthy(_key(owner))
            case Call(
                Member(owner, "contains" | "containsAny" | "containsAll" as method), (_, *_) as arguments
            ):
                parts = tuple(self._contains(owner, one) for one in arguments)
                return parts[0] if len(parts) == 1 else And(parts) if method == "containsAll" else Or(parts)
            case _:
                return _is_truthy(_key(tree))

    def _comparison(self, operator: str, left_operand: Tree, right: Tree) -> Expression:
        if _key_name(left_operand) is None:
            operator, left_operand, right = _MIRRORED_OPERATORS[operator], right, left_operand
        key, value = _key(left_operand), self._value(right)
        if isinstance(value, LinkTarget):
            found = links_to(key, value)
            if operator not in ("==", "!="):
                raise ValueError("links have no order")
            return found if operator == "==" else Not(found)
        if operator not in ("==", "!=") and (value is None or isinstance(value, bool)):
            raise ValueError("no order")
        # Equal to nothing is the vault's own folder; in an order nothing stands before it.
        is_empty = value == "" and operator not in ("==", "!=")
        return Comparison(key, _COMPARISONS[operator], value if is_empty else _as_stored(left_operand, value))

    def _contains(self, owner: Tree, argument: Tree) -> Expression:
        """``owner.contains(argument)``: of what is known to be a list a member equals it, else a part does."""
        key, value = _key(_bare(owner)), self._value(argument)
        as_list = isinstance(owner, Call) and owner.function == Name("list")
        as_text = isinstance(owner, Call) and not as_list
        if isinstance(value, LinkTarget) or (key == "links" and isinstance(value, str) and not as_text):
            return links_to(key, LinkTarget(str(value)))
        if not isinstance(value, str):
            if value is None or as_text:
                raise ValueError("only a text is contained in a text")
            return Comparison(key, "$eq", value)
        if key == "tags" and not as_text:
            return _has_tag([value])
        # The folders above a note are all in the innermost one.
        return Comparison("folder" if key == "file.folder" else key, "$eq" if as_list else "$contains", value)

    def _value(self, tree: Tree) -> Scalar | LinkTarget:
        match tree:
            case Literal(value):
                return value
            case Operation("-", (Literal(int() | float() as number),)):
                return -number
            case Call(Name("link"), (Literal(str(name)), *_)):
                return LinkTarget(name)
            case Call(Name("list"), (inner,)):
                return self._value(inner)
            case _:
                return self._date(tree).isoformat()

    def _date(self, tree: Tree) -> date | datetime:
        match tree:
            case Call(Name("date"), (Literal(str(text)),)):
                return read_date(text)
            case Call(Name("now"), ()) if self._now is not None:
                return self._now
            case Call(Name("today"), ()) if self._now is not None:
                return self._now.date()
            case Operation("+" | "-" as operator, (moment, duration)):
                match duration:
                    case Literal(str(length)) | Call(Name("duration"), (Literal(str(length)),)):
                        return shift(self._date(moment), length, 1 if operator == "+" else -1)
        raise ValueError("no value that is known without a note")


class LinkTarget(str):
    """Name of the note in ``link("name")``."""

    def __new__(cls, text: str) -> LinkTarget:
        name = text.removeprefix("[[").removesuffix("]]").partition("|")[0].partition("#")[0]
        return super().__new__(cls, name.removesuffix(".md"))


def _both(parts: Sequence[Expression | None], *, loose: bool) -> Expression | None:
    known = tuple(part for part in parts if part is not None)
    if not known or (len(known) < len(parts) and not loose):
        return None
    return known[0] if len(known) == 1 else And(known)


def _either(parts: Sequence[Expression | None], *, loose: bool) -> Expression | None:
    known = tuple(part for part in parts if part is not None)
    if not known or (len(known) < len(parts) and loose):
        return None
    return known[0] if len(known) == 1 else Or(known)


_COMBINATORS = {"and": _both, "or": _either}


def _key_name(tree: Tree) -> str | None:
    return _KNOWN_FORMULAS.get(tree) or key_of(tree)


def _key(tree: Tree) -> str:
    found = _key_name(tree)
    if found is None:
        raise ValueError("no property of a note")
    return found


def _bare(tree: Tree) -> Tree:
    """What ``list(…)``, ``….toString()`` and ``….lower()`` are of."""
    match tree:
        case Call(Name("list"), (inner,)) | Call(Member(inner, "toString" | "lower"), ()):
            return _bare(inner)
        case _:
            return tree


def _as_stored(tree: Tree, value: Scalar) -> Scalar:
    """A value as ``Note.facts`` has it: of a file's name without suffix, of a folder without a slash at its end."""
    if not isinstance(value, str):
        return value
    if tree == Member(Name("file"), "name"):
        return value.removesuffix(".md")
    if tree == Member(Name("file"), "folder"):
        return value.rstrip("/") or "/"
    return value


def _text(value: Scalar | LinkTarget) -> str:
    if not isinstance(value, str):
        raise ValueError(f"a text expected, not {value!r}")
    return value


def _equals_any(key: str, values: Iterable[str]) -> Expression:
    several = tuple(dict.fromkeys(values))
    return Comparison(key, "$eq", several[0]) if len(several) == 1 else Comparison(key, "$in", several)


def _in_folder(folders: Sequence[str]) -> Expression:
    (folder,) = (name.strip("/") for name in folders)
    return Comparison("folder", "$eq", folder) if folder else EVERY


def _has_tag(tags: Sequence[str]) -> Expression:
    return _equals_any("tags", (tag.removeprefix("#") for tag in tags))


def _has_link(names: Sequence[str]) -> Expression:
    (name,) = names
    return links_to("links", LinkTarget(name))


def _has_property(names: Sequence[str]) -> Expression:
    (name,) = names
    return Comparison(name, "$exists", True)


_OF_FILE: dict[str, Callable[[Sequence[str]], Expression]] = {
    "inFolder": _in_folder,
    "hasTag": _has_tag,
    "hasLink": _has_link,
    "hasProperty": _has_property,
}


def links_to(key: str, name: LinkTarget) -> Expression:
    """The condition that a property holds a link to a note: ``[[name]]``, with folder, heading or other words or without."""
    last = PurePosixPath(name).name
    if key == "links":
        return _equals_any(key, (str(name), last))
    ends = [f"{start}{last}{end}" for start in ("[[", "/") for end in ("]]", "|", "#")]
    return Or(tuple(Comparison(key, "$contains", written) for written in ends))


def is_empty(key: str) -> Expression:
    """Missing, null, an empty list or an empty text; each other value contains the empty text and is not equal to it."""
    return Or((Not(Comparison(key, "$contains", "")), Comparison(key, "$eq", "")))


def _is_truthy(key: str) -> Expression:
    return And((Comparison(key, "$contains", ""), Comparison(key, "$nin", (False, 0, ""))))
