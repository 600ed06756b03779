"""The expressions of Obsidian's Bases as trees: ``price > 20 && !done`` is two operations joined by a third.

Only the form is read here; ``base_filters`` knows what it means. Source: Obsidian Help, Bases syntax.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

import regex

MAX_TOKENS = 400
MAX_NESTING = 24
"""Bounds of one expression, within which its tree is shallow enough for recursion."""


@dataclass(frozen=True, slots=True)
class Literal:
    """A value that is written out."""

    value: str | int | float | bool | None


@dataclass(frozen=True, slots=True)
class Name:
    """A property, or a name of Obsidian's such as ``file``."""

    name: str


@dataclass(frozen=True, slots=True)
class Member:
    """``owner.name``."""

    owner: Tree
    name: str


@dataclass(frozen=True, slots=True)
class Call:
    """``function(arguments)``; a method is a call of a ``Member``."""

    function: Tree
    arguments: tuple[Tree, ...]


@dataclass(frozen=True, slots=True)
class Operation:
    """An operator of one, two or (``&&``, ``||``) more operands; ``[]`` is ``owner[index]``."""

    operator: str
    operands: tuple[Tree, ...]


Tree = Literal | Name | Member | Call | Operation

_TOKEN = regex.compile(
    r"""\s*(?:
        (?P<number>\d+(?:\.\d+)?(?:[eE][+-]?\d+)?)
      | (?P<text>"(?:[^"\\]|\\.)*+"|'(?:[^'\\]|\\.)*+')
      | (?P<name>[^\W\d]\w*)
      | (?P<sign>&&|\|\||[=!<>]=|[-+*/%!<>().,\[\]])
    )""",
    regex.VERBOSE | regex.DOTALL,
)
_ESCAPE = re.compile(r"\\(u[0-9a-fA-F]{4}|.)", re.DOTALL)
_ESCAPES = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f"}
_WORDS = {"true": True, "false": False, "null": None}
_LEVELS = (("||",), ("&&",), ("==", "!="), ("<", ">", "<=", ">="), ("+", "-"), ("*", "/", "%"))
"""Binary operators, those that bind least first, as in JavaScript."""
_LOGICAL_OPERATORS = ("||", "&&")


def parse_expression(text: str) -> Tree:
    """The tree of an expression.

    Raises:
        ValueError: it is no expression, has a regular expression or a list in it, or is longer or nested deeper
            than the bounds.

    Example:
        >>> parse_expression("!done")
        Operation(operator='!', operands=(Name(name='done'),))
    """
    parser = _Parser(_tokens(text))
    tree = parser.level(0)
    parser.expect("")
    return tree


def written_text(text: str) -> str:
    """A text as a literal of an expression: in double quotes, or in single ones if it has double ones only."""
    if '"' in text and "'" not in text and "\\" not in text and text.isprintable():
        return f"'{text}'"
    return '"' + "".join(_escape_sequence(character) for character in text) + '"'


def _escape_sequence(character: str) -> str:
    if character in '"\\':
        return "\\" + character
    if character.isprintable() or ord(character) > 0xFFFF:
        return character
    return f"\\u{ord(character):04x}"


def _unescape(text: str) -> str:
    def character(match: re.Match[str]) -> str:
        mark = match.group(1)
        return chr(int(mark[1:], 16)) if len(mark) == 5 else _ESCAPES.get(mark, mark)

    return _ESCAPE.sub(character, text)


def _tokens(text: str) -> list[tuple[str, str]]:
    """Kind and text of each token; a last one of the kind ``sign`` is empty."""
    found: list[tuple[str, str]] = []
    place, end = 0, len(text.rstrip())
    while place < end:
        match = _TOKEN.match(text, place)
        if match is None or len(found) >= MAX_TOKENS:
            raise ValueError(f"no expression of a base: {text!r}")
        kind = str(match.lastgroup)
        found.append((kind, match.group(kind)))
        place = match.end()
    return [*found, ("sign", "")]


class _Parser:
    """Reads tokens from the left, by recursive descent."""

    def __init__(self, tokens: list[tuple[str, str]]) -> None:
        self._tokens = tokens
        self._place = 0
        self._nesting = 0

    def expect(self, sign: str) -> None:
        if not self._takes(sign):
            raise ValueError(f"{sign or 'the end'!r} expected, not {self._tokens[self._place][1]!r}")

    def level(self, depth: int) -> Tree:
        """What the operators of a level join, or of one that binds more."""
        if depth == len(_LEVELS):
            return self._unary()
        tree = self.level(depth + 1)
        while (operator := self._any_of(_LEVELS[depth])) is not None:
            right = self.level(depth + 1)
            left: tuple[Tree, ...] = (tree,)
            if operator in _LOGICAL_OPERATORS and isinstance(tree, Operation) and tree.operator == operator:
                left = tree.operands
            tree = Operation(operator, (*left, right))
        return tree

    def _unary(self) -> Tree:
        self._nesting += 1
        if self._nesting > MAX_NESTING:
            raise ValueError(f"nested more than {MAX_NESTING} levels deep")
        operator = self._any_of(("!", "-"))
        tree = self._postfix(self._primary()) if operator is None else Operation(operator, (self._unary(),))
        self._nesting -= 1
        return tree

    def _primary(self) -> Tree:
        kind, text = self._tokens[self._place]
        if kind == "sign":
            self.expect("(")
            tree = self.level(0)
            self.expect(")")
            return tree
        self._place += 1
        if kind == "number":
            return Literal(int(text) if text.isdigit() else float(text))
        if kind == "text":
            return Literal(_unescape(text[1:-1]))
        return Literal(_WORDS[text]) if text in _WORDS else Name(text)

    def _postfix(self, tree: Tree) -> Tree:
        while (sign := self._any_of((".", "[", "("))) is not None:
            if sign == ".":
                kind, name = self._tokens[self._place]
                if kind != "name":
                    raise ValueError(f"a name expected, not {name!r}")
                self._place += 1
                tree = Member(tree, name)
            elif sign == "[":
                tree = Operation("[]", (tree, self.level(0)))
                self.expect("]")
            else:
                tree = Call(tree, self._arguments())
        return tree

    def _arguments(self) -> tuple[Tree, ...]:
        found: list[Tree] = []
        while not self._takes(")"):
            if found:
                self.expect(",")
            found.append(self.level(0))
        return tuple(found)

    def _any_of(self, signs: tuple[str, ...]) -> str | None:
        return next((sign for sign in signs if self._takes(sign)), None)

    def _takes(self, sign: str) -> bool:
        if self._tokens[self._place] != ("sign", sign):
            return False
        self._place += 1
        return True
