"""The table of the dictionary: what of an entry is kept, and that the shipped one is made of the source there is."""

from __future__ import annotations

import gzip
import sys
from importlib import import_module, resources
from pathlib import Path
from typing import Any

import pytest

from agentic_rag.dictionary import TABLE

sys.path.append(str(Path(__file__).parents[3] / "evaluation"))
make_dictionary = import_module("make_dictionary")


def entry(simplified: str, *definitions: str, traditional: str | None = None) -> dict[str, Any]:
    return {
        "simplified": simplified,
        "traditional": traditional or simplified,
        "definitions": list(definitions),
    }


@pytest.mark.parametrize(
    ("given", "line"),
    [
        (entry("温度", "temperature", "CL:個|个[ge4]", traditional="溫度"), "温度/溫度\ttemperatur"),
        (entry("望远镜", "binoculars; telescopes (optics)"), "望远 远镜\tbinocular/telescop"),
        (entry("开裂", "to split open"), "开裂\tsplit open"),
        (entry("北京", "Beijing, capital of the People's Republic of China"), "北京\tbeij"),
        (entry("茶", "tea"), None),
        (entry("卡拉OK", "karaoke"), None),
        (entry("某某", "variant of 某[mou3]", "surname Mou", "see 某", "(old)", "of it"), None),
        (entry("长句", "a great many words that explain a thing at length"), None),
    ],
)
def test_a_word_and_its_short_meanings(given: dict[str, Any], line: str | None):
    assert list(make_dictionary.lines([given])) == ([] if line is None else [line])


def test_homographs_are_one_word_and_words_stand_in_order():
    found = make_dictionary.lines(
        [entry("行长", "bank president"), entry("东西", "thing"), entry("东西", "east and west")]
    )
    assert list(found) == ["东西\teast west/thing", "行长\tbank presid"]


@pytest.mark.slow
def test_the_shipped_table_is_the_one_that_is_made():
    shipped = gzip.decompress((resources.files("agentic_rag.dictionary") / TABLE).read_bytes()).decode()
    assert list(make_dictionary.lines(make_dictionary.CcCedict().get_entries())) == shipped.splitlines()
