"""Text in settings: templates with a few known ``{names}``, and names of tags, checked when they are read."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from string import Formatter

_XML_NAME = re.compile(r"[^\W\d][\w.-]*")


def checked(template: str, known: Sequence[str]) -> str:
    """The template itself; ``{{`` and ``}}`` in it stand for braces.

    Raises:
        ValueError: an unknown name, a format (``{score:.2f}``), or a brace that is not closed.
    """
    listed = ", ".join(f"{{{name}}}" for name in known)
    try:
        parts = list(Formatter().parse(template))
    except ValueError as error:
        raise ValueError(
            f"the template {template!r} has a single brace ({error}); write {{{{ for one"
        ) from error
    for _, name, form, conversion in parts:
        if name is None:
            continue
        if name not in known:
            raise ValueError(
                f"the template {template!r} has the unknown {{{name}}}; use of: {listed}, or {{{{ for a brace"
            )
        if form or conversion:
            raise ValueError(
                f"the template {template!r} gives {{{name}}} a format; write the name alone: {listed}"
            )
    return template


def filled(template: str, values: Mapping[str, str]) -> str:
    """The template with each name's value; braces in a value are text.

    >>> filled("{speaker}: {text}", {"speaker": "Alice", "text": "{hello}"})
    'Alice: {hello}'
    """
    return "".join(
        literal + (values[name] if name is not None else "")
        for literal, name, _, _ in Formatter().parse(template)
    )


def xml_name(name: str) -> str:
    """The name itself; ``ValueError`` where XML has no such name."""
    if not _XML_NAME.fullmatch(name):
        raise ValueError(f"{name!r} is no name in XML; use letters, digits, '_', '-' and '.', a letter first")
    return name
