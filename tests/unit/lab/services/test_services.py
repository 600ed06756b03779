"""Services by name: registration, settings, and errors for wrong settings."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from pydantic import Field

from agentic_rag.errors import ConfigError, InputError
from agentic_rag.settings.parameters import Section
from agentic_rag_lab.designs import services
from agentic_rag_lab.designs.memory import MemoryService
from agentic_rag_lab.designs.services import build_service, known_services, register_service
from agentic_rag_lab.designs.services.parts import ServiceParts
from agentic_rag_lab.designs.services.text_memory import TextMemory

BUILT_IN = (
    "short_term_memory",
    "vector_hash_memory",
    "vector_memory",
    "graph_memory",
    "agentic_memory",
    "orchestrated_memory",
    "full_context",
    "no_memory",
)


class Settings(Section):
    size: int = Field(2, ge=1)


@pytest.fixture
def parrot(monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.setattr(services, "_SERVICES", dict(services._SERVICES))
    register_service("parrot", lambda settings, parts: TextMemory(settings.size), Settings)
    return "parrot"


def test_built_in_services() -> None:
    assert known_services() == BUILT_IN


@pytest.mark.parametrize("name", BUILT_IN)
@pytest.mark.parametrize("settings", [None, {}])
def test_every_service_has_defaults(name: str, settings: Any, parts: ServiceParts) -> None:
    assert isinstance(build_service(name, settings, parts), MemoryService)


def test_an_unknown_service_lists_the_known(parts: ServiceParts) -> None:
    with pytest.raises(
        ConfigError, match="unknown service 'long_term'; use one of: short_term_memory, vector_h"
    ):
        build_service("long_term", {}, parts)


@pytest.mark.parametrize(
    ("name", "settings", "told"),
    [
        ("short_term_memory", {"max_dialog": 0}, r"'services\.short_term_memory\.max_dialog'.*given: 0"),
        ("short_term_memory", {"max": 3}, r"'services\.short_term_memory\.max': no such .* max_dialog"),
        ("vector_hash_memory", {"nbits": 100}, r"'services\.vector_hash_memory\.nbits'.*multiple of 8"),
        (
            "agentic_memory",
            {"operation": "dance"},
            r"services\.agentic_memory\.operation: .*document_retrieval",
        ),
        ("full_context", {"topk": 3}, r"'services\.full_context\.topk': no such setting"),
        ("no_memory", "x", r"services\.no_memory must be a mapping"),
    ],
)
def test_a_wrong_setting_is_named_with_its_key(
    name: str, settings: Any, told: str, parts: ServiceParts
) -> None:
    with pytest.raises(ConfigError, match=told):
        build_service(name, settings, parts)


@pytest.mark.parametrize("name", ["vector_memory", "graph_memory", "agentic_memory"])
def test_a_namespace_that_no_store_can_hold(name: str, parts: ServiceParts) -> None:
    with pytest.raises(InputError, match="a dataset needs a name"):
        build_service(name, {}, replace(parts, namespace=" "))


def test_a_taken_name_is_refused(parrot: str, parts: ServiceParts) -> None:
    with pytest.raises(ConfigError, match="there is a service 'parrot' already"):
        register_service(parrot, lambda settings, parts: TextMemory(1))
    register_service(parrot, lambda settings, parts: TextMemory(1), replace=True)
    with pytest.raises(ConfigError, match=r"'services\.parrot\.size': no such setting"):
        build_service(parrot, {"size": 1}, parts)


@pytest.mark.parametrize("name", ["", "two words", "_own", "a-b"])
def test_a_name_that_cannot_be_one(name: str) -> None:
    with pytest.raises(ConfigError, match="a service needs a name"):
        register_service(name, lambda settings, parts: TextMemory(1))
