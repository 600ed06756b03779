from __future__ import annotations

import pytest

from agentic_rag.lab.agreement import agrees


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
