"""The settings file that `tune` edits: only the lines of what it chose, and whole or not at all."""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from agentic_rag.domain.json_values import Json
from agentic_rag.errors import ConfigError, StoreError
from agentic_rag.stores.whole_file import write_whole

MARK = "# tuned by agentic-rag tune: "
"""Prefix of the line with date and data of the tuning."""


def read_settings(path: Path) -> str:
    """The file's text; "" if it does not exist.

    Raises:
        ConfigError: the file cannot be read or is not TOML.
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


def merged_settings(text: str, values: Mapping[str, Any], origin: str) -> str:
    """A settings file's text with some values replaced, and a first line with their origin.

    Args:
        text: current text of the file; valid TOML.
        values: by dotted name (``fusion.k``); None removes the setting.
        origin: where the values come from, one line.

    Raises:
        ConfigError: a section's name is used for something else in the file.

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
            raise ConfigError(
                f"{section!r} in the settings file is {own!r:.80}; make it a section, such as [{section}]"
            )
        own.pop(key, None)
        if value is not None:
            own[key] = value
        elif not own:
            del wanted[section]
    # Only "\n" ends a line of TOML; a "\r" before it is white space and is dropped here.
    lines = [line.rstrip("\r") for line in text.split("\n") if not line.startswith(MARK)]
    for name, value in values.items():
        section, _, key = name.partition(".")
        lines = _edit_section(lines, section, key, value)
    edited = "\n".join(lines)
    if not _says(edited, wanted):
        edited = "\n".join(_dump(wanted))
    head = MARK + " ".join(origin.split())
    return f"{head}\n{edited}".rstrip("\n") + "\n"


def file_values(text: str, settings: Mapping[str, Any], defaults: Mapping[str, Any]) -> Json:
    """The ``values`` for ``merged_settings`` that make a file contain exactly the tuned settings.

    Args:
        text: current text of the file.
        settings: settings other than the defaults, by dotted name.
        defaults: default of every tunable setting; None: unset. A tunable setting in the file is set to it.
    """
    said = tomllib.loads(text)
    values = dict(settings)
    for name, default in defaults.items():
        section, _, key = name.partition(".")
        if name not in values and key in said.get(section, {}):
            values[name] = default
    return values


def write_settings(path: Path, text: str) -> None:
    """Write the file atomically.

    Raises:
        StoreError: it cannot be written.
    """
    try:
        write_whole(path, text)
    except OSError as error:
        raise StoreError(f"cannot write {path}: {error.strerror or error}") from error


def _says(text: str, wanted_values: Mapping[str, Any]) -> bool:
    try:
        said = tomllib.loads(text)
    except tomllib.TOMLDecodeError:
        return False
    return _full(said) == _full(wanted_values)


def _full(values: Mapping[str, Any]) -> Json:
    """The values without empty sections."""
    return {name: value for name, value in values.items() if value != {}}


def _edit_section(lines: list[str], section: str, key: str, value: Any) -> list[str]:
    """The lines with ``key`` of ``[section]`` set, or removed if the value is None."""
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


def _dump(values: Mapping[str, Any], path: tuple[str, ...] = ()) -> list[str]:
    """TOML lines of nested plain values."""
    lines = [
        f"{_key(name)} = {_value(value)}" for name, value in values.items() if not isinstance(value, Mapping)
    ]
    for name, value in values.items():
        if isinstance(value, Mapping):
            place = (*path, name)
            lines += ["", f"[{'.'.join(map(_key, place))}]", *_dump(value, place)]
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
