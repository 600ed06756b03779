"""Services by name: what a configuration calls ``register_memory_service`` becomes a memory."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from agentic_rag.domain.memory import MemoryService
from agentic_rag.errors import ConfigError
from agentic_rag.lab.services import (
    agentic_memory,
    full_context,
    graph_memory,
    no_memory,
    short_term_memory,
    vector_hash_memory,
    vector_memory,
)
from agentic_rag.lab.services.parts import ServiceParts
from agentic_rag.settings.parameters import Section, validated

Build = Callable[[Any, ServiceParts], MemoryService]
"""Called with the service's own settings, checked, and the parts."""


@dataclass(frozen=True, slots=True)
class _Registered:
    build: Build
    settings: type[Section]


_SERVICES: dict[str, _Registered] = {
    "short_term_memory": _Registered(short_term_memory.build, short_term_memory.ShortTermMemorySettings),
    "vector_hash_memory": _Registered(vector_hash_memory.build, vector_hash_memory.VectorHashMemorySettings),
    "vector_memory": _Registered(vector_memory.build, vector_memory.VectorMemorySettings),
    "graph_memory": _Registered(graph_memory.build, graph_memory.GraphMemorySettings),
    "agentic_memory": _Registered(agentic_memory.build, agentic_memory.AgenticMemorySettings),
    "full_context": _Registered(full_context.build, full_context.FullContextSettings),
    "no_memory": _Registered(no_memory.build, no_memory.NoMemorySettings),
}


def register_service(
    name: str, build: Build, settings: type[Section] = Section, *, replace: bool = False
) -> None:
    """Make a service known by a name, for configurations and ``build_service``; nothing else is needed.

    Args:
        name: letters, digits and ``_``, as a Python name.
        build: makes the service.
        settings: what can be set, each with its default; none by default.
        replace: take the place of a service of that name.

    Raises:
        ConfigError: the name is taken, or cannot be one.
    """
    if not name.isidentifier() or name.startswith("_"):
        raise ConfigError(f"a service needs a name of letters, digits and _, not {name!r}")
    if name in _SERVICES and not replace:
        raise ConfigError(f"there is a service {name!r} already; choose another name, or say replace=True")
    _SERVICES[name] = _Registered(build, settings)


def unregister_service(name: str) -> None:
    """Take a name back.

    Raises:
        ConfigError: there is no service of that name.
    """
    _registered(name)
    del _SERVICES[name]


def known_services() -> tuple[str, ...]:
    """Names, in the order they were registered."""
    return tuple(_SERVICES)


def build_service(name: str, settings: Mapping[str, Any] | None, parts: ServiceParts) -> MemoryService:
    """An empty memory.

    Args:
        name: of the service.
        settings: its own; None or {} for the defaults.
        parts: what it may be built of.

    Raises:
        ConfigError: no such service, a setting that cannot be used, or a part that the service needs is missing.
        InputError: a namespace that no store can hold.
    """
    return _registered(name).build(check_settings(name, settings), parts)


def check_settings(name: str, settings: Mapping[str, Any] | None) -> Section:
    """The settings of a service, as it reads them.

    Args:
        name: of the service.
        settings: its own; None or {} for the defaults.

    Raises:
        ConfigError: no such service, or a setting that is unknown or cannot be.
    """
    registered = _registered(name)
    if settings is not None and not isinstance(settings, Mapping):
        raise ConfigError(f"services.{name} must be a mapping of settings, not {settings!r}")
    return validated(registered.settings, settings or {}, f"services.{name}")


def _registered(name: str) -> _Registered:
    if name not in _SERVICES:
        raise ConfigError(f"unknown service {name!r}; use one of: {', '.join(known_services())}")
    return _SERVICES[name]
