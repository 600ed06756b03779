"""Entries to text: the two adapters of the memory test pipeline's page, and those registered from outside."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from agentic_rag.errors import ConfigError, InputError
from agentic_rag_lab.designs import data_parser
from agentic_rag_lab.designs.data_parser import DataParser, register_adapter

HELLO = [
    {"speaker": "Alice", "text": "Hello", "date_time": "2023-08-01"},
    {"speaker": "Bob", "text": "Hi", "date_time": "2023-08-01"},
]


@pytest.fixture
def shouting(monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.setattr(data_parser, "_ADAPTERS", dict(data_parser._ADAPTERS))
    register_adapter("shouting", lambda entry: str(entry["text"]).upper())
    return "shouting"


def test_to_dialogs_as_the_page_shows_it() -> None:
    entry = {"data": {"dialogs": HELLO}}
    assert DataParser("to_dialogs").extract(entry) == "(2023-08-01)Alice: Hello\n(2023-08-01)Bob: Hi"


def test_to_refactor_as_the_page_shows_it() -> None:
    entry = {
        "dialogs": HELLO,
        "triple": ("Alice", "works at", "Google"),
        "refactor": "Alice works at Google",
        "embedding": [0.12, 0.34],
    }
    assert DataParser("to_refactor").extract(entry) == "Alice works at Google"


@pytest.mark.parametrize(
    ("dialog", "line"),
    [
        ({"speaker": "Alice", "text": "Hello"}, "Alice: Hello"),
        ({"speaker": "Alice", "text": "Hello", "date_time": "last May"}, "(last May)Alice: Hello"),
        ({"speaker": "", "text": "Hello", "date_time": "2023-08-01"}, "(2023-08-01)Hello"),
    ],
)
def test_a_line_without_date_or_speaker(dialog: dict[str, str], line: str) -> None:
    assert DataParser("to_dialogs").extract({"data": {"dialogs": [dialog]}}) == line


def test_dialogs_that_an_entry_carries_itself() -> None:
    assert DataParser("to_dialogs").extract({"dialogs": HELLO[:1]}) == "(2023-08-01)Alice: Hello"


@pytest.mark.parametrize(
    ("adapter", "entry", "named"),
    [
        ("to_dialogs", {"refactor": "Alice works at Google"}, "'data.dialogs'"),
        ("to_dialogs", {"data": {"dialogs": []}}, "'data.dialogs'"),
        ("to_dialogs", {"data": {"dialogs": ["Hello"]}}, "'Hello'"),
        ("to_dialogs", {"data": {"dialogs": [{"speaker": "Alice"}]}}, "'text'"),
        ("to_dialogs", {"data": {"dialogs": [{"text": "Hello"}]}}, "'speaker'"),
        ("to_refactor", {"data": {"dialogs": HELLO}}, "'refactor'"),
    ],
)
def test_an_entry_without_what_the_adapter_reads(adapter: str, entry: Mapping[str, Any], named: str) -> None:
    with pytest.raises(InputError, match=named):
        DataParser(adapter).extract(entry)


def test_a_taken_name_is_replaced_only_on_purpose(shouting: str) -> None:
    before = DataParser(shouting)
    with pytest.raises(ConfigError, match="replace=True"):
        register_adapter(shouting, lambda entry: "")
    register_adapter(shouting, lambda entry: "quiet", replace=True)
    assert DataParser(shouting).extract({"text": "hello"}) == "quiet"
    assert before.extract({"text": "hello"}) == "HELLO"


def test_bad_names() -> None:
    with pytest.raises(ConfigError, match="needs a name"):
        register_adapter(" ", lambda entry: "")
