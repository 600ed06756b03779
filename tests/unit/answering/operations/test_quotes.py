"""Quotes: sentences of the results, verbatim, for any results."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agentic_rag.answering.operations.selection import Choice, best_quotes, has_statement
from agentic_rag.notes.readable import readable


def result(identity: str, content: str, score: float | None = 0.8, **metadata: Any) -> dict[str, Any]:
    return {
        "id": identity,
        "content": content,
        "type": "document",
        "metadata": {"document_id": identity, "title": identity, **metadata},
        "rerank_score": score,
        "facts": [],
    }


def test_the_sentence_that_shares_the_words_comes_first():
    text = "Trains run all night long. Oolong tea comes from the mountains of Fujian. Milk is white."
    quotes = best_quotes("Where does oolong tea come from?", [result("a", text)], limit=3)
    assert quotes[0].text == "Oolong tea comes from the mountains of Fujian."
    assert all(text[quote.start : quote.end] == quote.text for quote in quotes)


@pytest.mark.parametrize(
    "results",
    [
        [],
        [result("a", "")],
        [result("a", "  \n")],
        [result("a", "# Tea\n\n---\n")],
        [result("a", "- https://example.org/tea/oolong-tea")],
    ],
)
def test_where_nothing_is_said_nothing_is_quoted(results: list[dict[str, Any]]):
    assert best_quotes("tea", results, limit=3) == []


def test_a_property_is_quoted_where_its_name_is_asked_for():
    content = "---\nin_force: false\nauthor: Mei of the tea house\n---\n"
    properties = result("chart", content, kind="properties")
    assert [quote.text for quote in best_quotes("Is the chart in force?", [properties], limit=3)] == [
        "in_force: false"
    ]
    assert best_quotes("What did Mei say of the tea house?", [properties], limit=3) == []


def fact(name: str, target: str, cosine: float | None) -> dict[str, Any]:
    return {"name": name, "source": "Blade Runner", "target": target, "cosine": cosine}


PROPERTIES = '---\ncategories:\n  - "[[Movies]]"\nseen on: "[[Friday]]"\ndirector:\n  - "[[Ridley Scott]]"\nyear: 1982\n---\n'


@pytest.mark.parametrize(
    ("query", "facts", "said"),
    [
        (
            "Who made Blade Runner?",
            [fact("CATEGORIES", "Movies", 0.8), fact("DIRECTOR", "Ridley Scott", 0.9)],
            ["director: Ridley Scott"],
        ),
        ("When did we watch Blade Runner?", [fact("SEEN_ON", "Friday", 0.9)], ["seen on: Friday"]),
        ("Which year is Blade Runner from?", [fact("DIRECTOR", "Ridley Scott", 0.9)], ["year: 1982"]),
        ("Who made Blade Runner?", [fact("DIRECTOR", "Ridley Scott", None)], []),
        ("Who made Blade Runner?", [fact("HAS_TAG", "#film", 0.9)], []),
    ],
)
def test_a_property_is_quoted_where_its_fact_is_the_one_most_like_the_question(
    query: str, facts: list[dict[str, Any]], said: list[str]
):
    film = {**result("film", PROPERTIES, kind="properties"), "facts": facts}
    quotes = best_quotes(query, [film], limit=3)
    assert [readable(quote.text).replace('"', "") for quote in quotes] == said
    assert all(PROPERTIES[quote.start : quote.end] == quote.text for quote in quotes)


def test_what_the_graph_says_of_the_properties_is_not_quoted_where_the_notes_text_is_the_better_passage():
    text = result("text", "It was made by somebody of whom more is told below.", 0.9, document_id="film")
    film = result("film", PROPERTIES, 0.6, kind="properties")
    film["facts"] = [fact("DIRECTOR", "Ridley Scott", 0.9)]
    assert [quote.result["id"] for quote in best_quotes("Who made it?", [text, film], limit=3)] == ["text"]


@pytest.mark.parametrize(
    ("query", "said"),
    [
        ("Which brew time does it need?", "brew time: 3 minutes"),
        ("What is its quoted name?", "quoted name: Old Well"),
        ("Which cups go with it?", "cups: porcelain, glass"),
        ("How is the water?", "water: soft"),
        ("What is the source?", "source: https://example.org/tea:green"),
        ("谁写的作者?", "作者: 陆羽"),
    ],
)
def test_a_property_is_quoted_with_its_whole_value(query: str, said: str):
    content = (
        '---\nbrew time: 3 minutes\n"quoted name": Old Well\ncups:\n  - porcelain\n  - glass\n'
        "water: soft\nsource: https://example.org/tea:green\n作者: 陆羽\n---\n"
    )
    quotes = best_quotes(query, [result("card", content, kind="properties")], limit=3)
    assert [quote.unit.own() for quote in quotes] == [said]
    assert all(content[quote.start : quote.end] == quote.text for quote in quotes)


def test_a_callouts_title_is_not_quoted():
    text = "> [!warning] Oolong and hot water\n> Oolong is brewed with water that is not quite boiling."
    (said,) = best_quotes("oolong and hot water", [result("a", text)], limit=3)
    assert readable(said.text) == "Oolong is brewed with water that is not quite boiling."


def test_a_question_is_quoted_after_whatever_answers():
    text = "Which oolong tea is brewed hottest?\n\nThe darkest one is, with boiling water."
    asked = "Which oolong tea is brewed hottest?"
    quotes = best_quotes(asked, [result("a", text)], limit=3)
    assert [quote.text for quote in quotes] == ["The darkest one is, with boiling water.", asked]


def test_what_a_failure_callout_says_is_quoted_first_where_that_is_wanted():
    text = "The darkest oolong is brewed hottest.\n\n> [!failure] My answer\n> The greenest oolong, since it is fresh."
    for failed, first in (
        (True, "The greenest oolong, since it is fresh."),
        (False, "The darkest oolong is brewed hottest."),
    ):
        choice = Choice(failure_share=float(failed))
        quotes = best_quotes("oolong", [result("a", text)], limit=1, choice=choice)
        assert [readable(quote.text) for quote in quotes] == [first]


def test_the_same_words_in_two_notes_are_quoted_once():
    text = "Oolong tea comes from Fujian."
    quotes = best_quotes("oolong tea", [result("a", text), result("b", f"**{text}**")], limit=5)
    assert [quote.result["id"] for quote in quotes] == ["a"]


def test_the_same_property_of_two_notes_is_quoted_of_both():
    films = [result(name, "---\nrating: 7\n---\n", kind="properties") for name in "ab"]
    quotes = best_quotes("Which films have the rating 7?", films, limit=5)
    assert [quote.result["id"] for quote in quotes] == ["a", "b"]


@settings(max_examples=60)
@given(
    st.text(max_size=30),
    st.lists(
        st.lists(
            st.one_of(
                st.sampled_from(
                    [
                        "Oolong tea comes from Fujian.",
                        "乌龙茶来自福建。",
                        "# Tea",
                        "- [ ] todo",
                        "```\ncode\n```",
                        "| a |",
                        "\n\n",
                    ]
                ),
                st.text(max_size=30),
            ),
            max_size=6,
        ).map(" ".join),
        max_size=4,
    ),
)
def test_every_quote_is_verbatim(query: str, contents: list[str]):
    results = [result(str(n), content) for n, content in enumerate(contents)]
    for quote in best_quotes(query, results, limit=5):
        assert quote.result["content"][quote.start : quote.end] == quote.text
        assert quote.result is results[quote.order]
        assert quote.text.strip()
    assert [has_statement(one) for one in results] == [
        bool(best_quotes("", [one], limit=1)) for one in results
    ]


def test_a_row_that_its_columns_names_make_a_statement_is_quoted():
    text = "| Tea | Water in °C |\n|---|---|\n| Hojicha | 90 |\n| Gyokuro | 50 |\n"
    quotes = best_quotes("How hot is the water for hojicha?", [result("a", text)], limit=3)
    assert quotes[0].unit.display_text() == "Tea: Hojicha · Water in °C: 90"


def test_an_item_is_shown_with_the_items_above_it():
    text = "- Oolong\n  - is brewed with boiling water\n"
    quotes = best_quotes("How is oolong brewed?", [result("a", text)], limit=3)
    assert [quote.unit.display_text() for quote in quotes] == ["Oolong: is brewed with boiling water"]
