"""Memory services by name: builds the service named in ``register_memory_service`` from given parts.

``short_term_memory``, ``full_context`` and ``no_memory`` store texts; ``vector_hash_memory`` stores signatures of
their vectors; ``vector_memory`` stores vectors in the chunk store; ``graph_memory`` and ``agentic_memory`` store
sessions in both stores (``session_memory``) and differ in the search; ``orchestrated_memory`` uses the product's
memory agents.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from agentic_rag.errors import ConfigError
from agentic_rag.settings.parameters import Section, validate
from agentic_rag_lab.designs.memory import MemoryService
from agentic_rag_lab.designs.services.orchestrated_memory import build_orchestrated_memory
from agentic_rag_lab.designs.services.parts import RankedSettings, ServiceParts
from agentic_rag_lab.designs.services.session_memory import (
    AgenticMemorySettings,
    build_agentic_memory,
    build_graph_memory,
)
from agentic_rag_lab.designs.services.text_memory import (
    FullContext,
    NoMemory,
    ShortTermMemorySettings,
    TextMemory,
)
from agentic_rag_lab.designs.services.vector_hash_memory import VectorHashMemory, VectorHashMemorySettings
from agentic_rag_lab.designs.services.vector_memory import VectorMemory

Build = Callable[[Any, ServiceParts], MemoryService]
"""Called with the service's validated settings and the parts."""


_SERVICES: dict[str, tuple[Build, type[Section]]] = {
    "short_term_memory": (lambda settings, parts: TextMemory(settings.max_dialog), ShortTermMemorySettings),
    "vector_hash_memory": (VectorHashMemory, VectorHashMemorySettings),
    "vector_memory": (VectorMemory, RankedSettings),
    "graph_memory": (build_graph_memory, RankedSettings),
    "agentic_memory": (build_agentic_memory, AgenticMemorySettings),
    "orchestrated_memory": (build_orchestrated_memory, RankedSettings),
    "full_context": (lambda settings, parts: FullContext(), Section),
    "no_memory": (lambda settings, parts: NoMemory(), Section),
}


def register_service(
    name: str, build: Build, settings: type[Section] = Section, *, replace: bool = False
) -> None:
    """Register a service by name, for configurations and ``build_service``.

    Args:
        name: letters, digits and ``_``, as a Python name.
        build: makes the service.
        settings: settings class, every setting with a default; empty by default.
        replace: replace an existing service of that name.

    Raises:
        ConfigError: the name is taken or invalid.
    """
    if not name.isidentifier() or name.startswith("_"):
        raise ConfigError(f"a service needs a name of letters, digits and _, not {name!r}")
    if name in _SERVICES and not replace:
        raise ConfigError(f"there is a service {name!r} already; choose another name, or say replace=True")
    _SERVICES[name] = build, settings


def known_services() -> tuple[str, ...]:
    """Registered names, in order of registration."""
    return tuple(_SERVICES)


def build_service(name: str, settings: Mapping[str, Any] | None, parts: ServiceParts) -> MemoryService:
    """An empty memory; ``settings`` are the service's own, None or {} for the defaults.

    Raises:
        ConfigError: an unknown service, an invalid setting, or a missing part that the service needs.
        InputError: a namespace that the stores do not support.
    """
    build, _ = _registration(name)
    return build(check_settings(name, settings), parts)


def check_settings(name: str, settings: Mapping[str, Any] | None) -> Section:
    """The validated settings of a service; None or {} for the defaults.

    Raises:
        ConfigError: an unknown service, or an unknown or invalid setting.
    """
    _, kind = _registration(name)
    if settings is not None and not isinstance(settings, Mapping):
        raise ConfigError(f"services.{name} must be a mapping of settings, not {settings!r}")
    return validate(kind, settings or {}, f"services.{name}")


def _registration(name: str) -> tuple[Build, type[Section]]:
    if name not in _SERVICES:
        raise ConfigError(f"unknown service {name!r}; use one of: {', '.join(known_services())}")
    return _SERVICES[name]
