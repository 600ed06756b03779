"""Cards: what is asked of each kind of unit, and units of which nothing is asked."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentic_rag.answering.operations.card_forms import GAP, drafts_of
from agentic_rag.answering.operations.cards import board_cards
from agentic_rag.answering.operations.selection import Choice


def result(text: str, title: str = "Salt", **metadata: Any) -> dict[str, Any]:
    return {
        "id": title,
        "content": text,
        "metadata": {"title": title, "document_id": title, **metadata},
        "facts": [],
        "rerank_score": 0.8,
    }


def cards(text: str, title: str = "Salt", **metadata: Any) -> list[tuple[str, str]]:
    return [(draft.card.asks, draft.card.answer) for draft in drafts_of(result(text, title, **metadata))]


STEPS = "# Salt\n\n## Steps\n\n1. Fill the pan with brine.\n2. Let the sun dry it.\n3. Rake the crystals together.\n"
LONG = "## 操作\n\n- 鸡蛋打进碗里，加一点盐搅匀\n- 锅里放油烧热，倒进蛋液炒散盛出\n- 再放油，下番茄块炒出汁水来\n"


@pytest.mark.parametrize(
    ("text", "title", "asked"),
    [
        (
            "Salt is what is left when a brine has dried in the sun.",
            "Salt",
            [("What is Salt?", "Salt is what is left when a brine has dried in the sun.")],
        ),
        (
            "盐田是引海水进来晒成盐的一片平地。",
            "盐田",
            [("盐田是什么？", "盐田是引海水进来晒成盐的一片平地。")],
        ),
        (
            "- **Brine**: water that holds much salt\n- **Bittern**: what is left when the salt has fallen out\n",
            "Salt pans",
            [
                ("Salt pans: what is “Brine”?", "water that holds much salt"),
                ("Salt pans: what is “Bittern”?", "what is left when the salt has fallen out"),
            ],
        ),
        (
            "---\ngrows in: Guérande\ntags: [salt]\ncreated: 2024-05-01\n---\n",
            "Fleur de sel",
            [("What does “Fleur de sel” give for “grows in”?", "Guérande")],
        ),
        (
            "| Brine | Salt (%) | Use |\n|---|---|---|\n| Weak | 3 | [[Pickles]] |\n| 2024-05-01 | 9 | trial |\n",
            "Brines",
            [("What does “Brines” give for Weak: Salt (%), Use?", "Salt (%): 3 · Use: Pickles")],
        ),
        (
            STEPS,
            "Salt",
            [
                (
                    "Salt › Steps: what are the 3 steps, in order?",
                    "1: Fill the pan with brine. · 2: Let the sun dry it. · 3: Rake the crystals together.",
                )
            ],
        ),
        (
            "Salt is taken from three sources:\n\n- the sea\n- rock\n- salt lakes\n",
            "Salt",
            [("Salt: Salt is taken from three sources – which 3?", "the sea, rock, salt lakes")],
        ),
        (
            "## 计算\n\n- 鸡蛋 2 个\n- 盐 5g\n",
            "番茄炒蛋",
            [("「番茄炒蛋」要用多少鸡蛋？", "2 个"), ("「番茄炒蛋」要用多少盐？", "5g")],
        ),
        (
            "- Sun —dries→ Brine\n- Sun —dries→ Pans\n",
            "Pans",
            [(f"Pans: Sun —dries→ {GAP}. What fills the gap?", "Brine, Pans")],
        ),
        (
            "Salt boils at about 1,400 °C under the pressure of the air.",
            "Salt",
            [(f"Salt boils at about {GAP} under the pressure of the air. What fills the gap?", "1,400 °C")],
        ),
        (
            "Most of the crystals form within 15 days of dry weather.",
            "2024-05-01 Sea salt",
            [
                (
                    f"Sea salt: Most of the crystals form within {GAP} of dry weather. What fills the gap?",
                    "15 days",
                )
            ],
        ),
        (
            "Rock salt is mined in hills that are called the **Salt Range** 盐岭 of the Punjab.",
            "Rock",
            [
                (
                    f"Rock salt is mined in hills that are called the {GAP} of the Punjab. What fills the gap?",
                    "Salt Range 盐岭",
                )
            ],
        ),
        (
            "The **Planck constant** is written as $h$ and the frequency as $\\nu$.",
            "Physics",
            [
                (
                    f"Physics: The {GAP} is written as $h$ and the frequency as $\\nu$. What fills the gap?",
                    "Planck constant",
                )
            ],
        ),
        (
            "| Option | Type | Description |\n|---|---|---|\n| Theme | Menu | Chooses how the pages of the site are shown to others. |\n",
            "Site",
            [
                (
                    "What does “Site” give for Theme: Description?",
                    "Chooses how the pages of the site are shown to others.",
                )
            ],
        ),
    ],
)
def test_what_is_asked_of_a_unit(text: str, title: str, asked: list[tuple[str, str]]) -> None:
    assert cards(text, title) == asked


def test_of_many_steps_the_next_one_is_asked_for() -> None:
    longer = LONG + "- 倒回鸡蛋，加糖和盐，翻几下就出锅\n- 撒葱花\n- 端上桌，趁热拌着米饭来吃\n"
    assert (
        "「番茄炒蛋 › 操作」：“鸡蛋打进碗里，加一点盐搅匀”的下一步是什么？",
        "锅里放油烧热，倒进蛋液炒散盛出",
    ) in cards(longer, "番茄炒蛋")


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("I got this wrong in **Salt quiz** and, from the other side, in brine.", id="diary"),
        pytest.param("我在**测验**里把盐的沸点写成了 1000 度。", id="diary in Chinese"),
        pytest.param("- [ ] copy the table of **brine** strengths 10 times in 5 days.", id="task"),
        pytest.param("Does the **brine** boil within 5 minutes?", id="question"),
        pytest.param("It boils at about 108 °C when the brine is full.", id="pronoun"),
        pytest.param("But the **brine** is drawn off within 5 days of rain.", id="connective"),
        pytest.param("它在一百零八度沸腾,比清水高一些。", id="pronoun in Chinese"),
        pytest.param("**Brine** pans and the old **salt road**", id="no sentence"),
        pytest.param("and the brine is drawn off 5 days before the last salts fall.", id="cut off before"),
        pytest.param("Brine is drawn off before the bitter salts fall out.", id="nothing specific"),
        pytest.param("This page is about **brine** and takes 5 minutes to read.", id="of itself"),
        pytest.param("**Note**: the pans are closed for 5 days in winter.", id="label"),
        pytest.param("- **Pans**: [[Guérande]], [[Aveiro]], [[Trapani]]\n- **Roads**: [[Gabelle road]], [[Via Salaria]]\n", id="links"),
        pytest.param("## See also\n\n- **Brine**: water that holds much salt\n- **Pan**: a flat field of clay\n", id="aside"),
        pytest.param("Lists:\n\n1. Item 1\n2. Item 2\n3. Item 3\n", id="placeholders"),
        pytest.param("Use the **Brine** plugin from the list of pans for that.", id="an interface"),
        pytest.param("---\nmail: ann@example.org\nhours: 03:38, 02:42\n---\n", id="no fact"),
        pytest.param("```\nSalt is what is left when a brine has dried.\n```\n", id="code"),
        pytest.param("---\ntags: [salt]\ncreated: 2024-05-01\nsource: https://example.org\npublic: true\n---\n", id="upkeep"),
        pytest.param("> [!failure] My answer\n> Rock salt melts at 5 °C in the Alps of the Tyrol.\n", id="failure"),
    ],
)  # fmt: skip
def test_of_what_states_nothing_by_itself_nothing_is_asked(text: str) -> None:
    assert cards(text) == []


def test_a_title_that_has_the_answer_is_not_put_before_the_gap() -> None:
    assert cards("Most crystals form in pans of **clay** by the warm sea.", "Clay pans") == []


CHOICE = Choice(16, per_document=2, margin=4.0)


def test_a_board_asks_first_what_shares_words_with_the_question() -> None:
    notes = [
        result("Salt boils at about 1,400 °C under the pressure of the air.", "Salt"),
        result("The gabelle was raised by 30 % under the king of that time.", "Gabelle"),
    ]
    first, second = board_cards("Test me on the gabelle", notes, limit=5, choice=CHOICE)
    assert [first.result["id"], second.result["id"]] == ["Gabelle", "Salt"]


def test_what_stands_in_several_notes_is_asked_of_none() -> None:
    notes = [result("The pans are closed for 5 days in winter.", title) for title in ("Salt", "Brine")]
    assert board_cards("Test me", notes, limit=5, choice=CHOICE) == []


def test_no_note_gets_more_cards_than_chosen_and_none_twice() -> None:
    table = "| Brine | Salt |\n|---|---|\n" + "".join(f"| Kind {c} | {n} |\n" for n, c in enumerate("abcdef"))
    quotes = board_cards("Test me", [result(table, "Brines")], limit=5, choice=CHOICE)
    assert len(quotes) == 2
    assert len({quote.card for quote in quotes}) == 2


SOMETHING = st.text(
    st.sampled_from("Salt is a **brine** [[Gabelle|tax]] 15 days 盐水是 |-1(.。:?“\n"), max_size=90
)


@given(st.one_of(st.text(max_size=80), SOMETHING), st.text(max_size=10))
def test_any_text_gives_cards_with_an_answer(text: str, title: str) -> None:
    note = result(text, title)
    for quote in board_cards("", [note], limit=9, choice=CHOICE):
        assert quote.card is not None
        assert quote.card.asks.endswith(("?", "？"))
        assert quote.card.answer.strip()
        assert note["content"][quote.start : quote.end] == quote.text
