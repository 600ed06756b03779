from __future__ import annotations

import pytest

from agentic_rag.errors import ConfigError
from agentic_rag_lab.designs.scoring import CORRECT_FROM, agrees, multi_answer_f1, normalise, score, token_f1


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("The Lean Startup", ("lean", "startup")),
        ("19 January, 2023", ("19", "januari", "2023")),
        ("Bread and butter; a knife!", ("bread", "butter", "knife")),
        ("running runs", ("run", "run")),
        ("self-care", ("selfcar",)),
        ("'Bring it on Home'", ("bring", "it", "on", "home")),
        ("“Finding Freedom”", ("find", "freedom")),
        ("$5 + tax", ("5", "tax")),
        ("她住在北京。", ("她", "住", "在", "北", "京")),
        ("Google公司", ("googl", "公", "司")),
        ("The", ("the",)),
        ("", ()),
        ("?!", ()),
    ],
)
def test_what_is_compared(text: str, words: tuple[str, ...]) -> None:
    assert normalise(text) == words


def harmonic(precision: float, recall: float) -> float:
    return 2 * precision * recall / (precision + recall)


@pytest.mark.parametrize(
    ("predicted", "truth", "f1"),
    [
        ("old red car", "red car with wheels", harmonic(2 / 3, 2 / 4)),
        ("dog dog dog", "dog dog cat", harmonic(2 / 3, 2 / 3)),
        ("January 5, 2024", "5 January 2024", 1.0),
        ("谷歌", "谷歌公司", harmonic(2 / 2, 2 / 4)),
        *((predicted, truth, 0.0) for predicted, truth in [("", "x"), ("x", ""), ("", ""), ("dog", "cat")]),
    ],
)
def test_f1_is_the_harmonic_mean_of_precision_and_recall(predicted: str, truth: str, f1: float) -> None:
    """A repeated word counts as often as both have it, and Chinese by character."""
    assert token_f1(predicted, truth) == pytest.approx(f1)


def test_multi_hop_takes_the_best_part_for_each_part_of_the_truth() -> None:
    assert multi_answer_f1("Rome, Berlin", "Paris, Rome") == pytest.approx((0 + 1) / 2)
    assert multi_answer_f1("old Rome", "Paris, Rome") == pytest.approx((0 + 2 * 0.5 * 1 / 1.5) / 2)


NOT_MENTIONED = "Not mentioned in the conversation"


@pytest.mark.parametrize(
    ("category", "predicted", "truth", "f1"),
    [
        ("multi-hop", "Rome, Berlin, Paris", "Paris, Rome", 1.0),
        ("single-hop", "Rome, Berlin, Paris", "Paris, Rome", harmonic(2 / 3, 2 / 2)),
        ("open-domain", "Likely no", "Likely no; she does not like it", 1.0),
        ("temporal", "Likely no", "Likely no; she does not like it", harmonic(2 / 2, 2 / 7)),
        ("adversarial", NOT_MENTIONED, NOT_MENTIONED, 1.0),
        ("adversarial", "There is No information available.", NOT_MENTIONED, 1.0),
        ("adversarial", "Contemporary", NOT_MENTIONED, 0.0),
        ("single-hop", NOT_MENTIONED, "the conversation", 0.0),
        (None, "Google", "Google", 1.0),
        (None, NOT_MENTIONED, NOT_MENTIONED, 1.0),
        (None, "Google", NOT_MENTIONED, 0.0),
    ],
)
def test_the_category_decides_what_is_compared(
    category: str | None, predicted: str, truth: str, f1: float
) -> None:
    marks = score(category, predicted, truth)
    assert marks.f1 == pytest.approx(f1)
    if category in ("adversarial", None):
        assert (marks.exact_match, marks.is_correct) == (f1, f1 == 1.0)


def test_exact_match_is_by_normalised_words() -> None:
    assert score("single-hop", "a dance studio", "The dance studios").exact_match == 1.0
    assert score("single-hop", "dance", "dance studio").exact_match == 0.0
    assert score("single-hop", "", "").exact_match == 0.0


def test_correct_from_half_with_more_than_half_of_the_words() -> None:
    assert CORRECT_FROM == 0.5
    half = score("single-hop", "a red car", "red bus")
    assert (half.f1, half.is_correct) == (2 * 0.5 * 0.5 / (0.5 + 0.5), False)
    wordy = score("single-hop", "a close friend of mine who helped", "a close friend")
    assert (wordy.f1, wordy.is_correct) == (2 * (2 / 6) * 1 / (2 / 6 + 1), True)
    assert not score("single-hop", "red old car", "red bus").is_correct
    assert not score("multi-hop", "Rome", "Paris, Rome").is_correct
    assert score("multi-hop", "Paris; Rome, Berlin", "Paris, Rome").is_correct


@pytest.mark.parametrize(
    ("category", "predicted", "truth"),
    [
        ("open-domain", "Likely yes", "Likely no; since this one went badly"),
        ("open-domain", "a theme park", "National park; she likes the outdoors"),
        ("temporal", "25 May 2023", "7 May 2023"),
        ("single-hop", "three small children", "two small children"),
    ],
)
def test_opposites_share_words_and_are_wrong(category: str, predicted: str, truth: str) -> None:
    marks = score(category, predicted, truth)
    assert marks.f1 >= CORRECT_FROM
    assert not marks.is_correct


def test_an_unknown_category_names_the_known_ones() -> None:
    with pytest.raises(
        ConfigError, match="'trivia'; use one of: multi-hop, temporal, open-domain, single-hop, adversarial"
    ):
        score("trivia", "x", "x")


@pytest.mark.parametrize(
    ("predicted", "truth"),
    [
        ("Likely yes", "Yes, she is supportive"),
        ("Probably not", "Likely no"),
        ("She doesn't like it", "she does not like it"),
        ("13 June 2023", "June, 2023"),
        ("2023-05-07", "May 7, 2023"),
        ("2023年5月7日", "7 May 2023"),
        ("The friday before 23 July 2023", "21 July 2023"),
        ("The week before 19 June 2023", "June 2023"),
        ("two days before 9 May 2023", "7 May 2023"),
        ("The monday after 7 May 2023", "8 May 2023"),
        ("the week after 7 May 2023", "14 May 2023"),
        ("13 August 2023", "13 August"),
        ("my birthday ten years ago", "10 years ago"),
        ("2 dogs and 3 cats", "two dogs"),
        ("1,000 books", "1000 books"),
        ("两个孩子", "2个孩子"),
        ("sunsets", "sunsets over the ocean"),
        ("", "tea"),
    ],
)
def test_no_contradiction(predicted: str, truth: str) -> None:
    assert agrees(predicted, truth)


@pytest.mark.parametrize(
    ("predicted", "truth"),
    [
        ("Likely yes", "LIkely no; though she likes reading"),
        ("No", "Yes"),
        ("She likes it", "She does not like it"),
        ("她喜欢猫", "她不喜欢猫"),
        ("25 May 2023", "7 May 2023"),
        ("May 2023", "April, 2023"),
        ("9 January 2024", "January 9, 2023"),
        ("20 July 2023", "The Tuesday before 20 July 2023"),
        ("The saturday before 25 May 2023", "The sunday before 25 May 2023"),
        ("the week before 9 June 2023", "the week after 9 June 2023"),
        ("in early April", "in early May"),
        ("on Monday", "on Tuesday"),
        ("second week of June 2023", "first week of June 2023"),
        ("5 dogs since 7 May 2023", "3 dogs since 7 May 2023"),
        ("August", "13 August"),
        ("three children", "two children"),
        ("三个孩子", "两个孩子"),
        ("2.5 km", "25 km"),
    ],
)
def test_contradictions(predicted: str, truth: str) -> None:
    assert not agrees(predicted, truth)
