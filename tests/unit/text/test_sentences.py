"""Sentence spans: true and apparent sentence ends, and that no text is lost."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentic_rag.text.sentences import split_lines, split_sentences
from growth import assert_linear


def sentences(text: str) -> list[str]:
    return [text[start:end] for start, end in split_sentences(text)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("One. Two! Three? Four", ["One.", "Two!", "Three?", "Four"]),
        ("Dr. Chen met Mr. Li. They talked.", ["Dr. Chen met Mr. Li.", "They talked."]),
        ("J. R. R. Tolkien wrote it. So what?", ["J. R. R. Tolkien wrote it.", "So what?"]),
        ("He lives in the U.S. He likes it.", ["He lives in the U.S.", "He likes it."]),
        ("The U.S. Government paid 3.5 million.", ["The U.S. Government paid 3.5 million."]),
        ("Fruit, e.g. apples, i.e. food. Good.", ["Fruit, e.g. apples, i.e. food.", "Good."]),
        ("See Fig. 3 and No. 5. No. I mean it.", ["See Fig. 3 and No. 5.", "No.", "I mean it."]),
        ("Version v1.2.3 of example.com is out.", ["Version v1.2.3 of example.com is out."]),
        ('"Really?" he said. "Yes." She left.', ['"Really?" he said.', '"Yes."', "She left."]),
        ("Wow... okay. Then… Next.", ["Wow... okay.", "Then…", "Next."]),
        ("It was **bold.** Then plain.", ["It was **bold.**", "Then plain."]),
        ("It was I. The end.", ["It was I.", "The end."]),
    ],
)
def test_english(text: str, expected: list[str]) -> None:
    assert sentences(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Am 3. Advent kam Ida. Sie blieb.", ["Am 3. Advent kam Ida.", "Sie blieb."]),
        ("Sonntag, 14. Juni: Fest. Danach Ruhe.", ["Sonntag, 14. Juni: Fest.", "Danach Ruhe."]),
        ("Gasse 41, 2. Stock links. Laut.", ["Gasse 41, 2. Stock links.", "Laut."]),
        ("Es waren 12. Alle kamen.", ["Es waren 12.", "Alle kamen."]),
        ("Wir zahlten 140. August war leer.", ["Wir zahlten 140.", "August war leer."]),
        ("I am 30. Then I moved.", ["I am 30.", "Then I moved."]),
    ],
)
def test_german_ordinals(text: str, expected: list[str]) -> None:
    assert sentences(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("他喝茶。她喝咖啡！真的？是", ["他喝茶。", "她喝咖啡！", "真的？", "是"]),
        ("她说：“好。”然后走了。", ["她说：“好。”", "然后走了。"]),
        ("你好!真的?是的.然后", ["你好!", "真的?", "是的.", "然后"]),
        ("他想……没有。", ["他想……没有。"]),
        ("これは文です。「はい。」終わり！", ["これは文です。", "「はい。」", "終わり！"]),
        ("यह है। वह है।", ["यह है।", "वह है।"]),
        ("مرحبا. كيف حالك؟ جيد.", ["مرحبا.", "كيف حالك؟", "جيد."]),
    ],
)
def test_other_scripts(text: str, expected: list[str]) -> None:
    assert sentences(text) == expected


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_line_ends_count_only_where_a_block_ends(end: str) -> None:
    text = end.join(
        ["# Title", "soft", "wrapped.", "", "- a", "- b", "1. First thing", "> quoted", "> on", "| c | d |"]
    )
    expected = [
        "# Title",
        f"soft{end}wrapped.",
        "- a",
        "- b",
        "1. First thing",
        f"> quoted{end}> on",
        "| c | d |",
    ]
    assert sentences(text) == expected


def test_property_and_speaker_lines_stand_alone() -> None:
    assert sentences("year: 1957\nrating: 7\nauthor:: Ann") == ["year: 1957", "rating: 7", "author:: Ann"]
    assert sentences("**Asia**: Tokyo\n**North America:** Boston\nand\n**so** on") == [
        "**Asia**: Tokyo",
        "**North America:** Boston\nand\n**so** on",
    ]
    assert sentences("地点：北京\n**时间**：明天") == ["地点：北京", "**时间**：明天"]
    assert sentences("Caroline: Hi there\nMelanie: Hello") == ["Caroline: Hi there", "Melanie: Hello"]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            "See [[Da Hong Pao#3. The roast]] first. Then ask.",
            ["See [[Da Hong Pao#3. The roast]] first.", "Then ask."],
        ),
        ("It is [[Yes! Minister|the series]] I like.", ["It is [[Yes! Minister|the series]] I like."]),
        ("The note [Foo. Bar](foo.md) tells. It ends.", ["The note [Foo. Bar](foo.md) tells.", "It ends."]),
        ("An open [[link. It ends.", ["An open [[link.", "It ends."]),
        ("[[A. B]]. Next one.", ["[[A. B]].", "Next one."]),
        (
            "kind:: recipe\nThe soup needs leeks.\nserves:: 4\nIt keeps.",
            ["kind:: recipe", "The soup needs leeks.", "serves:: 4", "It keeps."],
        ),
    ],
)
def test_links_stay_whole_and_fields_stand_alone(text: str, expected: list[str]) -> None:
    assert sentences(text) == expected


def test_blank_text_has_no_sentence() -> None:
    assert split_sentences("") == []
    assert split_sentences(" \n\t\r\n ") == []


@given(st.text(alphabet=st.sampled_from('aB1.!?。！\n\r "”*-#>|:中A\x00é')))
def test_spans_cover_all_that_is_visible(text: str) -> None:
    spans = split_sentences(text)
    end = 0
    for start, stop in spans:
        assert end <= start < stop
        assert not text[end:start].strip()
        assert text[start:stop] == text[start:stop].strip()
        end = stop
    assert not text[end:].strip()


@pytest.mark.parametrize("piece", ["A. ", ".", "a\r", "x\n>", "。"])
def test_time_is_linear(piece: str) -> None:
    assert_linear(split_sentences, piece)


WRAPPED = """\
The weir was built by the firm of Lindt in the year of the flood and
Berlin paid for it, as the letters of the council show. The rest was
borrowed."""
COLUMN = """\
The weir was built
by Lindt in May and
Ida paid for it."""


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("rye flour\nsea salt\r\n2 kg of plums\n", ["rye flour", "sea salt", "2 kg of plums"]),
        ("To buy\n\nmilk\neggs", ["To buy", "milk", "eggs"]),
        ("牛奶\n鸡蛋十个\n面包", ["牛奶", "鸡蛋十个", "面包"]),
        ("Ida Lindt\n4 Mill Lane\nYork", ["Ida Lindt", "4 Mill Lane", "York"]),
        ("Milk.\nEggs.", ["Milk.", "Eggs."]),
        (
            "Meeting of the council\nThe mill is let to Ida from May on, for ten years. She pays\nquarterly.",
            [
                "Meeting of the council",
                "The mill is let to Ida from May on, for ten years.",
                "She pays\nquarterly.",
            ],
        ),
        (WRAPPED, [WRAPPED[: WRAPPED.index(" The rest")], "The rest was\nborrowed."]),
        (COLUMN, [COLUMN]),
        ("one\x0b\n\x1c\ntwo", ["one", "two"]),
        ("", []),
    ],
)
def test_lines_that_stand_for_themselves(text: str, expected: list[str]) -> None:
    assert [text[start:end] for start, end in split_lines(text)] == expected


@given(st.text(alphabet="aB1.。\n\r \u2028\x0c牛", max_size=60))
def test_lines_lose_no_letter(text: str) -> None:
    spans = split_lines(text)
    assert "".join("".join(text[a:b].split()) for a, b in spans) == "".join(text.split())
    assert all(text[a:b].strip() == text[a:b] for a, b in spans)


def test_lines_take_linear_time() -> None:
    assert_linear(split_lines, "a.)))  b\n")
