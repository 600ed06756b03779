"""Formulas of Word and PowerPoint (OMML) and of pages (MathML) in one line: ``(a+b)/2``, ``∑_(i=1)^n x_i``."""

from __future__ import annotations

import re
from collections.abc import Iterator

from agentic_rag_readers.formats.markdown_text import subscript
from agentic_rag_readers.formats.office_package import DELETION_TAGS, Element, attribute, child, local

FORMULA_TAGS = frozenset({"oMath", "math"})
_SILENT = frozenset({"annotation", "annotation-xml"}) | DELETION_TAGS
_FRACTIONS = frozenset({"f", "mfrac"})
_LEVELS: dict[str, tuple[str, ...]] = {
    "sSup": ("", "^"), "sSub": ("", "_"), "sSubSup": ("", "_", "^"), "sPre": ("_", "^", ""),
    "msup": ("", "^"), "msub": ("", "_"), "msubsup": ("", "_", "^"),
    "limUpp": ("", "^"), "limLow": ("", "_"), "mover": ("", "^"), "munder": ("", "_"), "munderover": ("", "_", "^"),
}  # fmt: skip
"""By name: the signs before its parts."""
_ROOTS = frozenset({"rad", "msqrt", "mroot"})
_ROWS = frozenset({"m", "eqArr", "mtable"})
_ACCENTS = frozenset({"acc", "groupChr"})
_INVISIBLE = re.compile("[\u2061-\u2064]")
"""Signs of MathML for what is not written: a product, a function's application."""
_SIMPLE = re.compile(r"[-−+±]?(?:[^\W_]|[.,′'])*|\W|\([^()]*\)")


def formula(element: Element) -> str:
    """The text of a formula; what is deleted, and its source in another notation, are left out."""
    try:
        return _INVISIBLE.sub("", _line(element))
    except RecursionError:
        return "".join(element.itertext())


def _line(element: Element) -> str:
    name = local(element)
    if name in _SILENT:
        return ""
    if name in ("t", "mi", "mn", "mo", "mtext", "ms"):
        return " ".join((element.text or "").split()) if name.startswith("m") else element.text or ""
    if name == "nary":
        return _large_operator(element)
    if name == "d" or name == "mfenced":
        return _brackets(element, name)
    if name in _ROOTS:
        return _root(element, name)
    parts = [part for part in map(_line, element) if part]
    if name in _FRACTIONS and len(parts) == 2:
        return "/".join(map(_bracket, parts))
    if name in _LEVELS and len(parts) == len(_LEVELS[name]):
        return "".join(_level(sign, part) for sign, part in zip(_LEVELS[name], parts, strict=True))
    if name in _ROWS:
        return "; ".join(parts)
    if name in ("mr", "mtr"):
        return ", ".join(parts)
    if name in _ACCENTS:
        return "".join(parts) + _sign(element, f"{name}Pr", "chr", "\u0302" if name == "acc" else "")
    if name == "func" and len(parts) == 2:
        return " ".join(parts)
    return "".join(parts)


def _bracket(text: str) -> str:
    return text if _SIMPLE.fullmatch(text) else f"({text})"


def _level(sign: str, text: str) -> str:
    """A part of a power or an index, behind its sign."""
    if sign == "_" and text.isdecimal():
        return subscript(text)
    return sign + (_bracket(text) if sign else text)


def _sign(element: Element, properties: str, name: str, default: str) -> str:
    """A sign that stands in an attribute alone."""
    there = child(element, properties, name)
    return default if there is None else attribute(there, "val") or ""


def _large_operator(element: Element) -> str:
    written = {local(one): _line(one) for one in element}
    levels = "".join(
        _level(sign, text) for name, sign in (("sub", "_"), ("sup", "^")) if (text := written.get(name))
    )
    return f"{_sign(element, 'naryPr', 'chr', '∫')}{levels} {written.get('e', '')}".strip()


def _brackets(element: Element, name: str) -> str:
    parts = [_line(one) for one in element if local(one) != "dPr"]
    if name == "mfenced":
        marks = [attribute(element, key) for key in ("open", "separators", "close")]
        before, between, after = (
            default if mark is None else mark for mark, default in zip(marks, ("(", ",", ")"), strict=True)
        )
        between = between.strip()[:1]
    else:
        before, between, after = (
            _sign(element, "dPr", key, default)
            for key, default in (("begChr", "("), ("sepChr", "|"), ("endChr", ")"))
        )
    return before + between.join(parts) + after


def _root(element: Element, name: str) -> str:
    written = [_line(one) for one in _root_parts(element, name)]
    radicand = "".join(written) if name == "msqrt" else written[0] if written else ""
    degree = "" if name == "msqrt" or len(written) < 2 else written[1]
    return f"{_level('^', degree) if degree else ''}√{_bracket(radicand)}"


def _root_parts(element: Element, name: str) -> Iterator[Element]:
    """The radicand, then the degree."""
    if name == "rad":
        yield from (one for part in ("e", "deg") if (one := child(element, part)) is not None)
    else:
        yield from element
