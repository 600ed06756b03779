"""German nouns that are written together, and their parts."""

from __future__ import annotations

import pytest

from agentic_rag.text import tokens
from agentic_rag.text.compounds import says_noun


@pytest.mark.parametrize(
    ("noun", "text"),
    [
        ("Hallenschlüssel", "Schlüssel für die Halle"),
        ("Kinderzimmer", "Das Zimmer der Kinder"),
        ("Mietvertrag", "Vertrag über die Miete"),
        ("Geburtstagsgeschenk", "Zum Geburtstag: Geschenke"),
        ("Bremsen", "Scheibenbremsen von Tektro"),
        ("Versicherungen", "Die Autoversicherung"),
    ],
)
def test_parts_and_kinds_say_a_noun(noun: str, text: str) -> None:
    assert says_noun(set(tokens(text)), tokens(noun)[0])


@pytest.mark.parametrize(
    ("noun", "text"),
    [
        ("Hallenschlüssel", "Schlüssel zum Keller"),
        ("Hallenschlüssel", "Die Halle ist zu"),
        ("Zahnarzttermin", "Termin beim Friseur"),
        ("Strom", "Stromrechnung"),
        ("Rad", "Fahrrad"),  # three letters end too many words
        ("Kellerschlüssel", "Kellerschlüssel"),  # the same word is compared by its letters
    ],
)
def test_a_part_alone_says_nothing(noun: str, text: str) -> None:
    assert not says_noun(set(tokens(text)), tokens(noun)[0])
