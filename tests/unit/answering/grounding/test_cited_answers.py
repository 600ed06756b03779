"""A chat model's answer held to its passages, as a whole."""

from __future__ import annotations

import pytest

from agentic_rag.answering.grounding.cited_answers import CitedAnswer, cited_answer
from agentic_rag.models.bundled import BundledEmbedding

MODEL = BundledEmbedding()
PASSAGES = [
    "Theanine\nL-theanine is the amino acid behind the sweet side of tea. Sakato Yajiro isolated it from gyokuro in Kyoto "
    "in 1949.",
    "Gyokuro\nGyokuro is shaded for about twenty days. Brew it at 50 °C for 120 seconds with 5 g of leaf.",
    "审评\n绿茶浸泡四分钟，红茶五分钟。审评用三克茶。",
]


async def _held(answer: str, question: str = "What is theanine?") -> CitedAnswer:
    return await cited_answer(answer, question, PASSAGES, MODEL)


@pytest.mark.parametrize(
    "answer",
    [
        "Theanine is an amino acid [1].",
        "Theanine was isolated in 1949. [1] Gyokuro is shaded for about 20 days.[2]",
        "Yes. Theanine is an amino acid [1].",
        "绿茶浸泡4分钟。[3]审评用3克茶[3]。",
        "| Tea | Leaf | Water |\n|---|---|---|\n| Gyokuro | 5 g [2] | 50 °C |",
        "1. How long is gyokuro shaded?\n   → about twenty days [2]",
        "Theanine —isolated by→ Sakato Yajiro: he isolated it from gyokuro in 1949 [1].",
        "Brew it [2]:\n\n```text\nGyokuro 5 g 50 °C\n```\n[2]".replace(" [2]:", ":"),
    ],
)
async def test_what_is_supported_is_left_as_it_is(answer: str) -> None:
    held = await _held(answer)
    assert (held.text, held.reason) == (answer, None)


async def test_the_sentences_before_a_mark_are_cited_only_as_far_as_it_supports_them() -> None:
    held = await _held(
        "Theanine is an amino acid. It was isolated from gyokuro, e.g. in Kyoto. It is found in coffee. It dates from 1949 [1]."
    )
    assert held.text == (
        "Theanine is an amino acid [1]. It was isolated from gyokuro, e.g. in Kyoto [1]. It dates from 1949 [1]."
    )
    assert held.left_out == {"uncited": 1}


async def test_a_wrong_mark_is_replaced_by_the_passage_that_says_it() -> None:
    held = await _held("Gyokuro is shaded for about twenty days [1]. Theanine is an amino acid [42].")
    assert held.text == "Gyokuro is shaded for about twenty days [2]. Theanine is an amino acid [1]."
    assert held.numbers == (2, 1)


async def test_a_mark_of_a_passage_that_shares_nothing_goes() -> None:
    held = await _held("Gyokuro is shaded for about twenty days [2, 3].")
    assert held.text == "Gyokuro is shaded for about twenty days [2]."


async def test_headings_and_leading_lines_go_with_what_they_lead_in() -> None:
    held = await _held(
        "## Radiation\n\nTheanine is radioactive [1].\n\n## Brewing\n\nHere is what the notes say:\n- Brew it at 50 °C [2].\n- Use 9 g [2]."
    )
    assert held.text == "## Brewing\n\nHere is what the notes say:\n- Brew it at 50 °C [2]."
    assert held.left_out == {"unsupported": 1, "amount": 1}


async def test_a_heading_that_no_passage_speaks_of_is_left_out() -> None:
    held = await _held("## Theanine cures cancer\n\nTheanine is an amino acid [1].")
    assert held.text == "Theanine is an amino acid [1]."


async def test_that_the_notes_are_silent_needs_no_citation() -> None:
    answer = "Theanine is an amino acid [1]. The notes do not say whether it is healthy."
    assert (await _held(answer)).text == answer
    smuggled = "Theanine is an amino acid [1]. The notes do not say it, but it cures cancer."
    assert (await _held(smuggled)).text == "Theanine is an amino acid [1]."


@pytest.mark.parametrize(
    "answer",
    [
        "",
        "[1]",
        "It also cures cancer. Theanine is radioactive [42].",
        "The notes do not say.",
        "Gyokuro is not shaded [2].",
    ],
)
async def test_nothing_is_left_where_nothing_is_supported(answer: str) -> None:
    held = await _held(answer)
    assert (held.text, held.numbers) == ("", ())


async def test_half_a_sentence_that_nothing_supports_takes_the_other_half_with_it() -> None:
    held = await _held(
        "Sakato Yajiro isolated it in 1949 [1], and it was named after a goddess [1]. It is sweet [1]."
    )
    assert held.text == "It is sweet [1]."


async def test_the_reasons_are_counted_in_words() -> None:
    held = await _held("Theanine is an amino acid [1]. It was isolated in 1994 [1]. It cures cancer.")
    assert held.claims == 3
    assert held.reason == (
        "2 of 3 statements left out: 1 with an amount that its passage does not have; "
        "1 without a citation, and no passage supports it"
    )
