"""How a name is met among the words of a question."""

from __future__ import annotations

import pytest

from agentic_rag.questions.words import Likeness, Words, longest_first, parts, uncovered_words


@pytest.mark.parametrize(
    ("name", "question", "likeness", "written"),
    [
        ("Elden Ring", "How much is elden rings?", "stem", "elden rings"),
        ("author", "who wrote it", "stem", "wrote"),
        ("totalPages", "the total pages", "stem", "total pages"),
        ("Would rewatch", "which shows would I rewatch?", "stem", "would I rewatch"),
        ("Café", "to the cafe", "stem", "cafe"),
        ("可乐", "那可乐呢", "stem", "可乐"),
        ("finished", "the finishing line", "stem", "finishing"),
        ("direct", "the director", "stem", None),
        ("direct", "the director", "beginning", "director"),
        ("pesto", "the pestoo", "stem", None),
        ("breaking", "braeking bad", "beginning", None),
        ("breaking", "braeking bad", "slip", "braeking"),
        ("Valve", "made by velve", "slip", "velve"),
        ("Drama", "about a dream", "slip", None),
        ("characters", "the charcaterz", "slip", "charcaterz"),
        ("tea", "the team", "slip", None),
        ("tea", "a steam", "slip", None),
        ("New World", "world of the new", "slip", None),
        ("", "anything", "slip", None),
        ("???", "anything", "slip", None),
        ("name", "", "slip", None),
    ],
)
def test_a_name_is_met(name: str, question: str, likeness: Likeness, written: str | None):
    place = Words.of(question).find(name, likeness)
    assert (None if place is None else question[place.start : place.end]) == written


@pytest.mark.parametrize("question", ["Which games?", "哪些游戏？", "ﬁle of ①", "İstanbul", "\ud800 x", ""])
def test_places_are_those_of_the_question(question: str):
    words = Words.of(question)
    assert len(words.text) == len(question)
    assert all(0 <= word.start < word.end <= len(question) for word in words.words)


def test_the_longer_name_is_met_first():
    assert sorted(["Emma", "Dune", "Dune Messiah"], key=longest_first) == ["Dune Messiah", "Dune", "Emma"]


def test_parts_of_a_name():
    assert parts("totalPages") == parts("total pages")
    assert parts("可乐") == ("可乐",)
    assert parts("…") == ()


def test_what_nothing_accounts_for():
    question = "which gmaes are on Steam"
    words = Words.of(question)
    place = words.find("Steam")
    assert place is not None
    generic = frozenset({"which", "are", "on"})
    assert [word.text for word in uncovered_words(words, [place], generic)] == ["gmaes"]
    assert [word.text for word in uncovered_words(Words.of("wich gmaes ar on Steam"), [], generic)] == [
        "gmaes",
        "steam",
    ]
