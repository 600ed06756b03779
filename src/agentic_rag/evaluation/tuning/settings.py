"""The settings file: what was there is kept, what was tuned is replaced, and it is written at once.

A file as people write it (``[section]``, then ``key = value`` lines) keeps its comments and order; one that is
written in another way (dotted keys, inline tables) is written anew with the same values.
"""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from agentic_rag.errors import ConfigError, StoreError
from agentic_rag.stores.whole_file import write_whole

MARK = "# tuned by agentic-rag tune: "
"""Begins the line that says when and on what."""


def read_settings(path: Path) -> str:
    """The file's text; "" where there is none.

    Raises:
        ConfigError: it cannot be read or is not TOML.
    """
    if not path.exists():
        return ""
    try:
        text = path.read_text(encoding="utf-8")
        tomllib.loads(text)
    except OSError as error:
        raise ConfigError(f"cannot read the settings file {path}: {error.strerror or error}") from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise ConfigError(f"the settings file {path} is not TOML: {error}") from error
    return text


def merged_settings(text: str, values: Mapping[str, Any], told: str) -> str:
    """A settings file's text with some values replaced, and a first line that says where they are from.

    Args:
        text: the file as it is; valid TOML.
        values: by dotted name (``fusion.k``); None takes the setting out.
        told: one line.

    Raises:
        ConfigError: a section's name stands for something else in the file.

    >>> print(merged_settings("[fusion]\\nk = 60  # mine\\n", {"fusion.k": 20}, "today"))
    # tuned by agentic-rag tune: today
    [fusion]
    k = 20
    <BLANKLINE>
    """
    wanted = tomllib.loads(text)
    for name, value in values.items():
        section, _, key = name.partition(".")
        own = wanted.setdefault(section, {})
        if not isinstance(own, dict):
            raise ConfigError(f"{section!r} in the settings file is {own!r:.80}; it is a section of settings")
        own.pop(key, None)
        if value is not None:
            own[key] = value
        elif not own:
            del wanted[section]
    # Only "\n" ends a line of TOML; "\r" before it is white space to it, and lost here.
    lines = [line.rstrip("\r") for line in text.split("\n") if not line.startswith(MARK)]
    for name, value in values.items():
        section, _, key = name.partition(".")
        lines = _edited(lines, section, key, value)
    edited = "\n".join(lines)
    if not _says(edited, wanted):
        edited = "\n".join(_dumped(wanted))
    head = MARK + " ".join(told.split())
    return f"{head}\n{edited}".rstrip("\n") + "\n"


def file_values(text: str, settings: Mapping[str, Any], defaults: Mapping[str, Any]) -> dict[str, Any]:
    """What ``merged_settings`` is to set so that a file says what was tuned and nothing else of it.

    Args:
        text: the file as it is.
        settings: those that are not their default, by dotted name.
        defaults: of every setting that may be tuned; None: unset. One that the file sets is set to it.
    """
    said = tomllib.loads(text)
    values = dict(settings)
    for name, default in defaults.items():
        section, _, key = name.partition(".")
        if name not in values and key in said.get(section, {}):
            values[name] = default
    return values


def write_settings(path: Path, text: str) -> None:
    """Write the whole file or nothing.

    Raises:
        StoreError: it cannot be written.
    """
    try:
        write_whole(path, text)
    except OSError as error:
        raise StoreError(f"cannot write {path}: {error.strerror or error}") from error


def _says(text: str, wanted: Mapping[str, Any]) -> bool:
    try:
        said = tomllib.loads(text)
    except tomllib.TOMLDecodeError:
        return False
    return _full(said) == _full(wanted)


def _full(values: Mapping[str, Any]) -> dict[str, Any]:
    """Without empty sections, which say nothing."""
    return {name: value for name, value in values.items() if value != {}}


def _edited(lines: list[str], section: str, key: str, value: Any) -> list[str]:
    """The lines with ``key`` of ``[section]`` set, or taken out where the value is None."""
    head = re.compile(rf"\s*\[\s*{re.escape(section)}\s*\]\s*(#.*)?")
    start = next((number for number, line in enumerate(lines) if head.fullmatch(line)), None)
    written = [] if value is None else [f"{key} = {_value(value)}"]
    if start is None:
        gap = [""] if lines and lines[-1].strip() else []
        return [*lines, *gap, f"[{section}]", *written] if written else lines
    later = (number for number in range(start + 1, len(lines)) if lines[number].lstrip().startswith("["))
    end = next(later, len(lines))
    own = re.compile(rf"\s*{re.escape(key)}\s*=")
    for number in range(start + 1, end):
        if own.match(lines[number]):
            return [*lines[:number], *written, *lines[number + 1 :]]
    while end > start + 1 and not lines[end - 1].strip():
        end -= 1
    return [*lines[:end], *written, *lines[end:]]


def _dumped(values: Mapping[str, Any], path: tuple[str, ...] = ()) -> list[str]:
    """TOML lines of nested plain values."""
    lines = [
        f"{_key(name)} = {_value(value)}" for name, value in values.items() if not isinstance(value, Mapping)
    ]
    for name, value in values.items():
        if isinstance(value, Mapping):
            place = (*path, name)
            lines += ["", f"[{'.'.join(map(_key, place))}]", *_dumped(value, place)]
    return lines


def _key(name: str) -> str:
    return name if re.fullmatch(r"[A-Za-z0-9_-]+", name) else _value(name)


def _value(value: Any) -> str:
    if isinstance(value, str):
        return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
    if isinstance(value, list):
        return f"[{', '.join(map(_value, value))}]"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{_key(name)} = {_value(entry)}" for name, entry in value.items()) + "}"
    return str(value)
