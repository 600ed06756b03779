"""Adapters that extract the text of an entry, between PreInsert and the memory; chosen by name."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from agentic_rag.errors import ConfigError, InputError

Adapter = Callable[[Mapping[str, Any]], str]
"""The text of one entry; raises ``InputError`` if the entry lacks a key."""


class DataParser:
    """Extracts the text of entries by one adapter.

    >>> DataParser("to_refactor").extract({"refactor": "Alice works at Google"})
    'Alice works at Google'

    Raises:
        ConfigError: an unknown adapter; the message lists the known ones.
    """

    def __init__(self, adapter: str) -> None:
        if not isinstance(adapter, str) or adapter not in _ADAPTERS:
            known = ", ".join(known_adapters())
            raise ConfigError(
                f"services.memory_insert_adapter: unknown adapter {adapter!r}; use one of: {known}"
            )
        self._extract = _ADAPTERS[adapter]

    def extract(self, entry: Mapping[str, Any]) -> str:
        """The text of the entry to remember.

        Raises:
            InputError: the entry lacks a key that the adapter reads.
        """
        return self._extract(entry)


def register_adapter(name: str, adapter: Adapter, *, replace: bool = False) -> None:
    """Register an adapter for every ``DataParser`` created later.

    Raises:
        ConfigError: the name is blank, or taken without ``replace``.
    """
    if not name.strip():
        raise ConfigError(f"an adapter needs a name, not {name!r}")
    if name in _ADAPTERS and not replace:
        raise ConfigError(f"adapter {name!r} is registered already; give replace=True to replace it")
    _ADAPTERS[name] = adapter


def known_adapters() -> tuple[str, ...]:
    """Names of the registered adapters, sorted."""
    return tuple(sorted(_ADAPTERS))


def dialog_lines(dialogs: Sequence[Mapping[str, Any]]) -> str:
    """Turns as text, one line each, with the date if there is one.

    >>> dialog_lines([{"speaker": "Alice", "text": "Hello", "date_time": "2023-08-01"}])
    '(2023-08-01)Alice: Hello'
    """
    return "\n".join(_line(dialog) for dialog in dialogs)


def _line(dialog: Mapping[str, Any]) -> str:
    said, speaker = _require(dialog, "text", "to_dialogs"), _require(dialog, "speaker", "to_dialogs")
    date = dialog.get("date_time")
    return (f"({date})" if date else "") + (f"{speaker}: {said}" if speaker else said)


def _to_dialogs(entry: Mapping[str, Any]) -> str:
    """Lines of ``data.dialogs``, as PreInsert wraps a packet, or of the entry's own ``dialogs``."""
    data = entry.get("data", entry)
    dialogs = data.get("dialogs") if isinstance(data, Mapping) else None
    listed = isinstance(dialogs, Sequence) and not isinstance(dialogs, str)
    if not listed or not dialogs or not all(isinstance(dialog, Mapping) for dialog in dialogs):
        raise InputError(
            f"adapter to_dialogs needs 'data.dialogs', a list of turns and not empty, not {dialogs!r:.80}; "
            f"the entry has: {_keys(entry)}"
        )
    return dialog_lines(dialogs)


def _require(values: Mapping[str, Any], key: str, adapter: str) -> str:
    value = values.get(key)
    if not isinstance(value, str):
        raise InputError(
            f"adapter {adapter} needs {key!r}, a text, not {value!r:.80}; there is: {_keys(values)}"
        )
    return value


def _keys(values: Mapping[str, Any]) -> str:
    return ", ".join(sorted(map(str, values))) or "nothing"


_ADAPTERS: dict[str, Adapter] = {
    "to_dialogs": _to_dialogs,
    "to_refactor": lambda entry: _require(entry, "refactor", "to_refactor"),
}
