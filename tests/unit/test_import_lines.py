"""Imports that no other check reads: in notebooks, and in programs that benchmarks and scripts have as text."""

from __future__ import annotations

import re
from importlib import import_module
from pathlib import Path

import pytest

PROJECT = Path(__file__).parents[2]
LINE = re.compile(r"\bfrom (agentic_rag[\w.]*) import (\w+(?:, \w+)*)")
FILES = sorted(
    file
    for folder, pattern in (
        ("evaluation", "*.py"),
        ("notebooks", "*.ipynb"),
        ("graphs", "*.py"),
        ("scripts", "*"),
    )
    for file in (PROJECT / folder).rglob(pattern)
    if file.is_file() and file.suffix != ".pyc"
)


@pytest.mark.parametrize("file", FILES, ids=lambda file: str(file.relative_to(PROJECT)))
def test_what_is_imported_is_there(file: Path) -> None:
    for module, names in LINE.findall(file.read_text("utf-8")):
        found = import_module(module)
        for name in names.split(", "):
            assert hasattr(found, name) or import_module(f"{module}.{name}")
