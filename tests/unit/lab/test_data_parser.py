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


def dialog(**turn: str) -> dict[str, Any]:
    return {"data": {"dialogs": [turn]}}


@pytest.mark.parametrize(
    ("adapter", "entry", "text"),
    [
        ("to_dialogs", {"data": {"dialogs": HELLO}}, "(2023-08-01)Alice: Hello\n(2023-08-01)Bob: Hi"),
        ("to_dialogs", dialog(speaker="Alice", text="Hello"), "Alice: Hello"),
        ("to_dialogs", dialog(speaker="Alice", text="Hello", date_time="last May"), "(last May)Alice: Hello"),
        ("to_dialogs", dialog(speaker="", text="Hello", date_time="2023-08-01"), "(2023-08-01)Hello"),
        ("to_dialogs", {"dialogs": HELLO[:1]}, "(2023-08-01)Alice: Hello"),
        (
            "to_refactor",
            {
                "dialogs": HELLO,
                "triple": ("Alice", "works at", "Google"),
                "refactor": "Alice works at Google",
            },
            "Alice works at Google",
        ),
    ],
    ids=["the page", "no date", "date in words", "no speaker", "dialogs of the entry", "refactor"],
)
def test_an_entry_becomes_text(adapter: str, entry: Mapping[str, Any], text: str) -> None:
    assert DataParser(adapter).extract(entry) == text


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
