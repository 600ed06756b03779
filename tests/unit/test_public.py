"""The public names, and that importing the package has no side effects."""

from __future__ import annotations

import subprocess
import sys

import pytest

import agentic_rag

THIRD_PARTY = [
    "graphiti_core", "httpx", "jieba", "lancedb", "langchain_core", "langgraph", "markdown_it", "neo4j",
    "numpy", "onnxruntime", "openai", "pyarrow", "pydantic", "rich", "scipy", "sentencepiece", "typer", "yaml",
]  # fmt: skip

WATCHED = """
import sys
opened = []
def watch(event, arguments):
    source = event == "open" and str(arguments[0]).endswith((".py", ".pyc")) or "__pycache__" in str(arguments[:1])
    if event.startswith(("socket.", "sqlite3.", "subprocess.")) or event == "open" and not source:
        opened.append((event, arguments))
sys.addaudithook(watch)
import agentic_rag
outside = [
    name for name in sys.modules
    if "." not in name and name not in sys.stdlib_module_names and name != "agentic_rag" and not name.startswith("_")
]
print(repr((opened, outside, [name for name in sys.modules if name.startswith("agentic_rag.")])))
"""


def fresh(code: str) -> str:
    return subprocess.run(
        [sys.executable, "-I", "-c", code], capture_output=True, text=True, check=True, timeout=60
    ).stdout.strip()


def test_importing_the_package_opens_nothing_and_imports_no_library():
    opened, outside, own = eval(fresh(WATCHED))
    assert opened == []
    assert not set(outside) & set(THIRD_PARTY)
    assert own == []


def test_errors_and_configuration_need_no_store_and_no_model():
    loaded = fresh(
        "import sys, agentic_rag.settings.config, agentic_rag.errors; print(' '.join(sys.modules))"
    ).split()
    assert not {"lancedb", "graphiti_core", "langgraph", "onnxruntime", "numpy", "openai"} & set(loaded)


@pytest.mark.parametrize("name", agentic_rag.__all__)
def test_every_public_name_is_there(name: str):
    assert getattr(agentic_rag, name) is not None


def test_all_is_what_is_public():
    assert dir(agentic_rag) == sorted(agentic_rag.__all__)
    assert set(agentic_rag._HOMES) == set(agentic_rag.__all__)
    namespace: dict[str, object] = {}
    exec("from agentic_rag import *", namespace)
    assert set(agentic_rag.__all__) <= set(namespace)


def test_an_unknown_name_is_no_attribute():
    with pytest.raises(AttributeError, match="no_such_name"):
        _ = agentic_rag.no_such_name
