"""Words that stand for one another: what the shipped table knows, and how surely."""

from __future__ import annotations

import gzip
from importlib import resources

import pytest

from agentic_rag.dictionary import AND_BACK, TABLE, Dictionary, dictionary

SMALL = Dictionary(
    "\n".join(
        [
            "温度/溫度\ttemperatur",
            "热度/熱度\theat/temperatur",
            "夜空\tnight sky",
        ]
    )
)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("At which temperatures?", ["temperatur"]),
        ("the NIGHT sky tonight", ["night sky"]),
        ("nights, and the sky", ["night sky"]),  # words that say nothing part no phrase
        ("夜空的温度", ["夜空", "温度"]),
        ("溫度?温度!", ["溫度", "温度"]),
        ("what, 什么", []),
        ("", []),
        ("Größe, ラーメン, 🪐", []),
    ],
)
def test_words_of_a_text_in_either_language(text: str, words: list[str]):
    assert SMALL.words(text) == words


def test_a_translation_is_as_sure_as_the_chinese_word_has_few_meanings():
    assert SMALL.related("temperatur") == pytest.approx(
        {"温度": 1.0, "溫度": 1.0, "热度": 0.5, "熱度": 0.5, "heat": 0.25 * AND_BACK}
    )
    assert list(SMALL.related("temperatur"))[:2] == ["温度", "溫度"], "the surest first"
    assert SMALL.related("热度")["temperatur"] == 0.5
    assert SMALL.related("nothing") == {}


def test_words_of_one_language_are_related_by_what_both_mean():
    """温度 means temperature alone, which is said by two words."""
    assert SMALL.related("温度") == pytest.approx(
        {"temperatur": 1.0, "热度": 0.5 * AND_BACK, "熱度": 0.5 * AND_BACK}
    )


def test_no_word_is_related_to_itself():
    known = dictionary()
    for word in [*known.words("kiln telescope galaxy crack"), *known.words("望远镜的温度开裂")]:
        assert word not in known.related(word)
        assert all(0 < share <= 1.0000001 for share in known.related(word).values())


@pytest.mark.parametrize(
    ("word", "other"),
    [("telescop", "望远 远镜"), ("望远 远镜", "telescop"), ("望遠 遠鏡", "telescop"), ("beij", "北京"), ("fragil", "brittl")],
)  # fmt: skip
def test_the_shipped_table_translates_both_ways(word: str, other: str):
    assert other in dictionary().related(word)


def test_the_longest_word_is_taken_and_a_question_word_is_none():
    assert dictionary().words("为什么双筒望远镜看不见?") == ["双筒 筒望 望远 远镜", "看不 不见"]


def test_every_line_of_the_shipped_table_is_whole():
    table = (resources.files("agentic_rag.dictionary") / TABLE).read_bytes()
    lines = gzip.decompress(table).decode().splitlines()
    assert len(lines) > 80_000
    for line in lines:
        forms, meanings = line.split("\t")
        assert all(forms.split("/")), line
        assert all(meanings.split("/")), line
