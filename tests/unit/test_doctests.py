"""The examples in docstrings give the shown output."""

from __future__ import annotations

import doctest
import importlib
from pathlib import Path

import pytest

import agentic_rag

ROOT = Path(agentic_rag.__file__).parents[1]
MODULES = sorted(
    ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")
    for package in (
        "agentic_rag",
        "agentic_rag_backends",
        "agentic_rag_lab",
        "agentic_rag_readers",
        "agentic_rag_service",
    )
    for path in (ROOT / package).rglob("*.py")
    if ">>> " in path.read_text("utf-8")
)


def test_there_are_examples() -> None:
    assert len(MODULES) > 20


@pytest.mark.parametrize("name", MODULES)
def test_examples(name: str) -> None:
    found = doctest.testmod(importlib.import_module(name), optionflags=doctest.ELLIPSIS)
    assert (found.failed, found.attempted > 0) == (0, True)
