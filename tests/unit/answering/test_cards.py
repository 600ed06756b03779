"""Cards: the questions made from a sentence or a table row, and texts without a question."""

from __future__ import annotations

import math
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agentic_rag.answering.cards import GAP, Card, cards, worth
from agentic_rag.answering.quotes import Quote

ENGLISH, CHINESE = " What fills the gap?", "空格里是什么？"


def quote(text: str, title: str = "Salt", content: str | None = None, **fields: Any) -> Quote:
    content = text if content is None else content
    start = content.index(text)
    result = {"id": "a", "content": content, "metadata": {"title": title}, "facts": [], **fields}
    return Quote(text, start, start + len(text), result, 1.0, 0)


def first(text: str, title: str = "Salt", query: str = "", **fields: Any) -> Card:
    return cards(query, quote(text, title, **fields))[0]


@pytest.mark.parametrize(
    ("text", "asks", "answer"),
    [
        (
            "Rock salt is mined in the **Salt Range** of the Punjab.",
            f"Rock salt is mined in the {GAP} of the Punjab.",
            "Salt Range",
        ),
        (
            "Rock salt was taxed in France by the [[Gabelle|gabelle]] of the kings.",
            f"Rock salt was taxed in France by the {GAP} of the kings.",
            "gabelle",
        ),
        (
            "Sea salt dries in flat pans within 15 days of summer.",
            f"Sea salt dries in flat pans within {GAP} days of summer.",
            "15",
        ),
        (
            "Table salt holds about forty parts of sodium in a hundred.",
            f"Table salt holds about {GAP} parts of sodium in a hundred.",
            "forty",
        ),
        (
            "Salt is what is left when a brine has dried in the sun.",
            f"{GAP} is what is left when a brine has dried in the sun.",
            "Salt",
        ),
    ],
)
def test_the_gap_is_a_term_that_tells(text: str, asks: str, answer: str):
    assert first(text) == Card(asks + ENGLISH, answer)


@pytest.mark.parametrize(
    ("text", "asks", "answer"),
    [
        ("盐在一千四百度左右沸腾,蒸气冷了又成盐。", f"盐在{GAP}左右沸腾,蒸气冷了又成盐。", "一千四百度"),
        ("盐田里先结晶的杂质叫石膏,后面才是盐。", f"盐田里先结晶的杂质叫{GAP},后面才是盐。", "石膏"),
    ],
)
def test_chinese_sentences_are_asked_in_chinese(text: str, asks: str, answer: str):
    assert first(text, "盐", "quiz me") == Card(asks + CHINESE, answer)


def test_a_word_that_begins_like_a_connective_is_none():
    assert first("还原焰里盐釉在**一千二百度**变亮。", "盐").answer == "一千二百度"


def test_what_the_sentence_does_not_name_the_title_does():
    card = first("Most of the crystals form within 15 days of dry weather.", "2024-05-01 Sea salt")
    assert card.asks == f"Sea salt: Most of the crystals form within {GAP} days of dry weather.{ENGLISH}"


@pytest.mark.parametrize(
    ("text", "asks", "answer"),
    [
        (
            "The loaf bakes 20 minutes at 250 °C and another 25 minutes at 220 °C.",
            f"Salt: The loaf bakes {GAP} minutes at 250 °C and another 25 minutes at 220 °C.",
            "20",
        ),
        (
            "The new roof of the house had cost 14 200 kr when it was done.",
            f"Salt: The new roof of the house had cost {GAP} kr when it was done.",
            "14 200",
        ),
    ],
)
def test_a_gap_is_a_whole_number(text: str, asks: str, answer: str):
    assert Card(asks + ENGLISH, answer) in cards("", quote(text))


def test_a_title_that_has_the_answer_is_not_put_before_the_gap():
    assert cards("", quote("Most crystals form in pans of **clay** by the sea.", "Clay pans")) == []


def test_what_the_question_says_already_is_asked_last():
    text = "The **gabelle** was a tax on salt, and **Colbert** raised the rate."
    assert first(text).answer == "gabelle"
    assert first(text, query="Test me on the gabelle").answer == "Colbert"


def test_who_a_sentence_begins_with_is_not_asked_for_where_it_says_something_else():
    assert first("[[Colbert]] raised the rate on salt in 1680 by law.").answer == "1680"


def test_a_name_in_the_other_script_goes_into_the_gap():
    card = first("Most of the crystals form as **fleur de sel** 盐之花 on the top of the pans.")
    assert card.answer == "fleur de sel 盐之花"
    assert "盐之花" not in card.asks


@pytest.mark.parametrize(
    "text",
    [
        "Most of the salt here is taken from the sea, see [[Salt pans]].",
        "Most of the salt here is taken from the sea ([[2024-05-01 Trip]]).",
        "Most of the salt here is taken from the sea (see [[Salt pans]]).",
        "这里的盐多半来自海水,参见 [[盐田]]。",
    ],
)
def test_a_place_to_look_something_up_is_no_answer(text: str):
    assert all("[[" not in card.asks and "Salt pans" not in card.answer for card in cards("", quote(text)))
    assert not any(card.answer in ("Salt pans", "盐田", "2024-05-01 Trip") for card in cards("", quote(text)))


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("I got this wrong in [[Salt quiz]] and, from the other side, in [[Brine]].", id="diary"),
        pytest.param("我在**测验**里把盐的沸点写成了一千度。", id="diary in Chinese"),
        pytest.param("<small>Salt notes for readers, version **4** of the text.</small>", id="html"),
        pytest.param("Salt notes for readers were brought to version 1.2.3 in 2024.", id="version"),
        pytest.param("- [ ] copy the table of **brine** strengths ten times.", id="task"),
        pytest.param("Does the **brine** boil before the water is gone?", id="question"),
        pytest.param("It boils at about 108 °C when the **brine** is full.", id="pronoun"),
        pytest.param("In the pans at noon it reaches 40 °C on a **dry** day.", id="pronoun inside"),
        pytest.param("But the **brine** is drawn off before the last salts fall.", id="connective"),
        pytest.param("它在**一百零八度**沸腾,比清水高一些。", id="pronoun in Chinese"),
        pytest.param("白盐几乎只靠这一步,后面没有**洗盐**。", id="this step"),
        pytest.param("**Brine** pans and the old **salt road**", id="no sentence"),
        pytest.param("and the **brine** is drawn off before the last salts fall.", id="cut off before"),
        pytest.param("Colbert said: “The **gabelle** is to be paid by all of them.", id="quotation cut off"),
        pytest.param("**Question**: In which year was the gabelle given up in 1790?", id="label"),
        pytest.param("Around **40 °C** is comfortable.", id="too short"),
        pytest.param("[^1]: The **gabelle** was divided by ten among all of them.", id="footnote"),
        pytest.param("Brine is drawn off before the bitter salts fall out.", id="nothing tells"),
    ],
)
def test_of_what_states_nothing_by_itself_no_card_is_made(text: str):
    assert cards("", quote(text)) == []
    assert worth(quote(text)) == -math.inf


def test_what_was_wrong_is_not_asked():
    content = "> [!failure] My answer\n> Rock salt is mined in the **Alps** of the Tyrol.\n"
    assert cards("", quote("Rock salt is mined in the **Alps** of the Tyrol.", content=content)) == []


TABLE = "| Brine | Salt (%) | Use |\n|---|---|---|\n| Weak | 3 | [[Pickles]] |\n| 2024-05-01 | 9 | trial |\n"


def test_a_row_is_asked_for_by_its_first_cell_and_the_names_of_the_columns():
    (card,) = cards("quiz me", quote("| Weak | 3 | [[Pickles]] |", "Brines", TABLE))
    assert card == Card(
        "What does “Brines” give for Weak: Salt (%), Use?", "Brine: Weak · Salt (%): 3 · Use: Pickles"
    )
    (card,) = cards("考考我盐水", quote("| Weak | 3 | [[Pickles]] |", "Brines", TABLE))
    assert card.asks == "「Brines」里，Weak 的 Salt (%)、Use 是什么？"


@pytest.mark.parametrize("row", ["| 2024-05-01 | 9 | trial |"])
def test_a_row_of_a_day_is_no_card(row: str):
    assert cards("", quote(row, "Brines", TABLE)) == []


def test_a_row_without_the_names_of_its_columns_is_no_card():
    assert cards("", quote("| Weak | 3 | 9 |")) == []


def test_worth_prefers_what_defines_and_names_its_note_to_what_is_said_of_a_day():
    defining = quote("Salt is what is left when a **brine** has dried.")
    plain = quote("Most of the crystals form within 15 days, not before.")
    dated = quote("Most of the crystals form within 15 days, not before.", "2024-05-01 Sea salt")
    assert worth(defining) > worth(plain) > worth(dated) > -math.inf


SOMETHING = st.text(st.sampled_from("salt **brine** [[Gabelle|tax]] 15 days 盐水是 |(.。:?“\n"), max_size=80)


@settings(deadline=None)  # the first Chinese text loads a dictionary
@given(st.one_of(st.text(max_size=80), SOMETHING), st.text(max_size=10))
def test_any_text_gives_cards_that_hide_their_answer(text: str, title: str):
    for card in cards("", quote(text, title)):
        assert card.asks.endswith(("?", "？"))
        if GAP in card.asks:
            assert card.answer
            assert "[[" not in card.asks
