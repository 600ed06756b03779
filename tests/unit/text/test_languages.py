"""The language of a question by its function words."""

from __future__ import annotations

import pytest

from agentic_rag.text.languages import function_words, language


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("Wer ist Anna?", "german"),
        ("Was hat die Malerin gekostet?", "german"),
        ("Où est la clé de notre cave ?", "french"),
        ("¿Dónde está la llave de nuestra casa?", "spanish"),
        ("Где лежит ключ от нашего дома?", "russian"),
        # English, or too little to tell
        ("compare the price of Ada and Bol", None),
        ("What does the van need for the MOT?", None),
        ("Anna", None),
        ("钥匙在哪里？", None),
        ("", None),
    ],
)
def test_the_language_that_has_most_of_the_words(text: str, name: str | None):
    assert language(text) == name


def test_function_words_are_folded_and_none_of_english():
    assert {"unser", "für", "fur"} & function_words("Wo ist unser Brot für morgen?") == {"unser", "fur"}
    assert function_words("Where is our bread for tomorrow?") == frozenset()
