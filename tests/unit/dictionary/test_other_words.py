"""What a passage says of the question in another language or in other words."""

from __future__ import annotations

import pytest

from agentic_rag.dictionary import other_words
from agentic_rag.text import tokens

FIRING = "窑里的温度升得太快,坯体就会开裂。"
TRAINS = "火车从车站开出,十点到。"
FILLER = ["nothing of the kind", "又一页笔记"]


def in_other_words(query: str, passages: list[str]) -> list[float]:
    return other_words.in_other_words(query, [tokens(passage) for passage in passages])


def test_a_translation_counts_and_nothing_does_not():
    said = in_other_words("Which temperature do I need?", [FIRING, TRAINS, *FILLER])
    assert said[0] > 0
    assert said[1:] == [0.0, 0.0, 0.0]
    assert in_other_words("温度要多少?", ["The temperature rises too fast.", "trains"])[0] > 0


def test_what_has_the_word_itself_is_judged_by_the_words_elsewhere():
    said = in_other_words("温度", [FIRING, "the temperature of the kiln", "trains"])
    assert said[0] == 0.0
    assert said[1] > 0


def test_a_synonym_counts_less_than_a_translation():
    passages = ["望远镜的口径", "I took the binoculars along.", *FILLER, *FILLER]
    translated, synonym = in_other_words("telescope", passages)[:2]
    assert translated > synonym > 0


def test_the_rarer_the_more():
    alone = in_other_words("temperature", [FIRING, TRAINS, *FILLER])[0]
    everywhere = in_other_words("temperature", [FIRING, FIRING, FIRING, FIRING])[0]
    assert alone > everywhere > 0


@pytest.mark.parametrize("query", ["", "?", "xqzvf", "ラーメン", "the of and"])
def test_a_question_of_unknown_words_tells_nothing(query: str):
    assert in_other_words(query, [FIRING, TRAINS, ""]) == [0.0, 0.0, 0.0]


def test_of_no_passages_nothing_is_said():
    assert in_other_words("temperature", []) == []
