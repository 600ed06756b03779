"""What a question asks for: its form, its terms, and the kind of value that it wants."""

from __future__ import annotations

from datetime import date

import pytest

from agentic_rag.dates.spans import Span
from agentic_rag.questions.question import Question
from agentic_rag.questions.terms import DAYS
from agentic_rag.questions.wording import named_phrase


@pytest.mark.parametrize(
    ("text", "form", "wants"),
    [
        ("How do I make pesto?", "howto", set()),
        ("how to reset", "howto", set()),
        ("recipe for pesto", "howto", set()),
        ("怎么做可乐？", "howto", set()),
        ("宫保鸡丁的做法", "howto", set()),
        ("wie mache ich Pesto?", "howto", set()),
        ("Which films do I want?", "list", set()),
        ("What ingredients do I need?", "list", set()),
        ("有哪些材料？", "list", set()),
        ("compare Dune and Emma", "compare", set()),
        ("What is the difference between A and B?", "compare", set()),
        ("可乐和雪碧有什么区别？", "compare", set()),
        ("Is the attic heated?", "yesno", set()),
        ("可乐含酒精吗？", "yesno", set()),
        ("What is Dune?", "definition", set()),
        ("什么是萎凋？", "definition", set()),
        ("她的血型是什么？", "definition", set()),
        ("茶马古道是什么", "definition", set()),
        ("下雨了么？", "yesno", set()),
        ("你想要么？", "yesno", set()),
        ("Who is Ann?", "definition", set()),
        ("Who wrote Dune?", "fact", {"person"}),
        ("Wer hat Dune geschrieben?", "fact", {"person"}),
        ("How much milk?", "fact", {"amount"}),
        ("What is the price of Dune?", "fact", {"amount"}),
        ("多少钱？", "fact", {"money"}),
        ("What's the fee for the course?", "fact", {"money"}),
        ("What was the rent?", "fact", {"money"}),
        ("What is a budget?", "definition", set()),
        ("What is rent?", "definition", set()),
        ("What is Ann's salary?", "fact", {"money"}),
        ("What is the fee schedule?", "definition", set()),
        ("What is the capacity of the tank?", "fact", {"amount"}),
        ("How often does it rain?", "fact", {"frequency"}),
        ("How many times a week do we meet?", "fact", {"frequency"}),
        ("多久浇一次水？", "fact", {"frequency"}),
        ("Wie oft tagt der Rat?", "fact", {"frequency"}),
        ("Why does it cost so much?", "fact", set()),
        ("为什么要记录时间？", "fact", set()),
        ("文摘有哪几种？", "list", set()),
        ("By when do I pay?", "fact", {"date", "duration"}),
        ("How long does it soak?", "fact", {"duration"}),
        ("When did he live?", "fact", {"date"}),
        ("Where is the boat?", "fact", {"place"}),
        ("What does it do?", "fact", set()),
        ("pesto", "topic", set()),
        ("", "topic", set()),
        ("How quickly is a request reviewed?", "fact", {"duration"}),
        ("What time does the pool open?", "fact", {"time"}),
        ("one person answers all support mail", "topic", set()),
        ("Show all my books", "list", set()),
    ],
)
def test_the_form_of_the_answer_and_the_kind_of_value(text: str, form: str, wants: set[str]):
    question = Question.of(text)
    assert (question.form, set(question.wants)) == (form, wants)


@pytest.mark.parametrize("text", ["我读到第几页了？", "他住第几层？", "《兄弟》读到第几章"])
def test_the_number_that_is_asked_for_is_no_word_of_the_answer(text: str):
    assert not any("几" in term.token for term in Question.of(text).terms)


@pytest.mark.parametrize(
    ("text", "terms", "names", "generic"),
    [
        ("Who wrote Dune?", ["wrote", "dune"], ["dune"], []),
        ("Which films do I want?", ["film", "want"], [], ["want"]),
        ("How much milk for the waffles?", ["milk", "waffl"], [], []),
        ("What does error E4304 mean?", ["error", "e4304"], ["e4304"], []),
        ("what is “cost per use”?", ["cost", "per", "use"], ["cost", "per", "use"], ["use"]),
        ("ELDEN RING PRICE", ["elden", "ring", "price"], [], []),
        ("Wann war das Treffen?", ["treffen"], [], []),
        # German nouns have capitals and are no names; its verbs need not be repeated, but for what was done
        ("Wann legt unsere Fähre nach Bergen ab?", ["legt", "fahr", "bergen", "ab"], [], ["legt", "ab"]),
        ("Was hat die Malerin gekostet?", ["malerin", "gekostet"], [], []),
        ("Was steht in „Rote Mappe“ von Block 7?", ["steht", "rote", "mapp", "block", "7"], ["7"], ["steht"]),
        ("Und wo wohnt er?", ["wohnt"], [], []),
        # contractions
        ("Why can't I fill it, and who'd know?", ["fill"], [], []),
        ("怎么做可乐？", ["可乐"], [], []),
        ("莘庄那套押金是多少？", ["莘庄", "押金"], [], []),
        ("这张照片是谁拍的", ["照片", "拍"], [], []),
        ("", [], [], []),
        ("?!", [], [], []),
    ],
)
def test_terms_and_the_names_among_them(text: str, terms: list[str], names: list[str], generic: list[str]):
    found = Question.of(text).terms
    assert [term.token for term in found] == terms
    assert [term.token for term in found if term.is_name] == names
    assert [term.token for term in found if term.is_generic] == generic
    assert all(0 <= term.start < term.end <= len(text) for term in found)


def test_a_thing_of_the_conversation_has_not_to_be_named_again():
    (price, dune) = Question.of("What is the price of Dune?", carried_text="Dune").terms
    assert (price.is_generic, dune.is_generic, dune.is_name) == (False, True, False)


def test_days_stand_for_the_terms_that_name_them():
    text = "What did Ruth promise on 2024-03-15?"
    start = text.index("2024")
    days = Span(date(2024, 3, 15), date(2024, 3, 16))
    question = Question.of(text).of_days(days, start, start + 10)
    assert ([term.token for term in question.terms], question.days) == (["ruth", "promis", DAYS], days)


def test_chinese_terms_are_words_of_the_notes_or_of_the_model():
    question = Question.of("可乐放多少冰糖？")
    tokens = [(0, 2), (2, 3), (3, 5), (5, 7)]
    words = question.in_words(tokens, "可乐\n冰糖")
    assert [(term.token, term.start) for term in words.terms] == [("可乐", 0), ("放", 2), ("冰糖", 5)]
    by_model = question.in_words(tokens, "")
    assert "冰糖" in [term.token for term in by_model.terms]
    latin = Question.of("Who wrote Dune?")
    assert latin.in_words([], "tea") is latin


@pytest.mark.parametrize(
    ("text", "phrase"),
    [
        ("What is cost per use?", "cost per use"),
        ("什么是萎凋？", "萎凋"),
        ("What is the price?", None),
        ("Who is Ann?", None),
        ("", None),
    ],
)
def test_a_question_that_names_a_thing_alone(text: str, phrase: str | None):
    place = named_phrase(text)
    assert (None if place is None else text[slice(*place)]) == phrase
