from __future__ import annotations

import pytest

from agentic_rag.errors import ConfigError
from agentic_rag_lab.designs.scoring import (
    CORRECT_FROM,
    abstains,
    agrees,
    multi_answer_f1,
    normalise,
    score,
    token_f1,
)
from agentic_rag_lab.evaluation.locomo import CATEGORIES


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


def test_f1_is_the_harmonic_mean_of_precision_and_recall() -> None:
    precision, recall = 2 / 3, 2 / 4
    expected = 2 * precision * recall / (precision + recall)
    assert token_f1("old red car", "red car with wheels") == pytest.approx(expected)


def test_f1_counts_a_repeated_word_as_often_as_both_have_it() -> None:
    assert token_f1("dog dog dog", "dog dog cat") == pytest.approx(2 * (2 / 3) * (2 / 3) / (2 / 3 + 2 / 3))


def test_a_date_is_right_in_either_order() -> None:
    assert token_f1("January 5, 2024", "5 January 2024") == pytest.approx(1.0)


@pytest.mark.parametrize(("predicted", "truth"), [("", "x"), ("x", ""), ("", ""), ("dog", "cat")])
def test_what_shares_no_word_is_worth_nothing(predicted: str, truth: str) -> None:
    assert token_f1(predicted, truth) == 0.0


def test_chinese_is_compared_by_character() -> None:
    precision, recall = 2 / 2, 2 / 4
    expected = 2 * precision * recall / (precision + recall)
    assert token_f1("谷歌", "谷歌公司") == pytest.approx(expected)


def test_multi_hop_takes_the_best_part_for_each_part_of_the_truth() -> None:
    assert multi_answer_f1("Rome, Berlin", "Paris, Rome") == pytest.approx((0 + 1) / 2)
    assert multi_answer_f1("old Rome", "Paris, Rome") == pytest.approx((0 + 2 * 0.5 * 1 / 1.5) / 2)


def test_multi_hop_does_not_punish_parts_too_many() -> None:
    assert score("multi-hop", "Rome, Berlin, Paris", "Paris, Rome").f1 == 1.0


def test_single_hop_punishes_them() -> None:
    precision, recall = 2 / 3, 2 / 2
    expected = 2 * precision * recall / (precision + recall)
    assert score("single-hop", "Rome, Berlin, Paris", "Paris, Rome").f1 == pytest.approx(expected)


def test_open_domain_is_compared_with_the_first_answer() -> None:
    assert score("open-domain", "Likely no", "Likely no; she does not like it").f1 == 1.0
    assert score("temporal", "Likely no", "Likely no; she does not like it").f1 < 1.0


@pytest.mark.parametrize("said", ["Not mentioned in the conversation", "There is No information available."])
def test_adversarial_is_right_where_it_says_so(said: str) -> None:
    marks = score("adversarial", said, "Not mentioned in the conversation")
    assert (marks.f1, marks.exact_match, marks.is_correct) == (1.0, 1.0, True)


def test_adversarial_is_wrong_with_any_answer() -> None:
    marks = score("adversarial", "Contemporary", "Not mentioned in the conversation")
    assert (marks.f1, marks.exact_match, marks.is_correct) == (0.0, 0.0, False)


def test_an_answerable_question_is_not_answered_by_abstention() -> None:
    assert score("single-hop", "Not mentioned in the conversation", "the conversation").f1 == 0.0


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


def test_without_category() -> None:
    assert score(None, "Google", "Google").is_correct
    assert score(None, "Not mentioned in the conversation", "Not mentioned in the conversation").f1 == 1.0
    assert score(None, "Google", "Not mentioned in the conversation").f1 == 0.0


def test_every_category_of_locomo_has_a_rule() -> None:
    for category in CATEGORIES.values():
        truth = "Not mentioned" if category == "adversarial" else "Rome"
        assert score(category, truth, truth).f1 == 1.0


def test_an_unknown_category_names_the_known_ones() -> None:
    with pytest.raises(
        ConfigError, match="'trivia'; use one of: multi-hop, temporal, open-domain, single-hop, adversarial"
    ):
        score("trivia", "x", "x")


def test_abstention_is_told_whatever_the_case() -> None:
    assert abstains("NOT MENTIONED")
    assert not abstains("he mentioned nothing")


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
