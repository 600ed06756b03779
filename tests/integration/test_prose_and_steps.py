"""Answers from running text, steps and lists of everyday notes in English, German and Chinese: what a pronoun speaks of, what
stands below a label, sums as they are written, and what is asked of a thing but stands nowhere."""

from __future__ import annotations

from pathlib import Path

import pytest

from asked_vaults import asked, stored

VAULT = {
    "Cousins.md": "Marta is our cousin in Ghent, a bookbinder. I saw her last in spring. She has a nut allergy and avoids marzipan.\n\n"
    "Pavel is eleven. He plays the oboe, rented for 18 euros a month. His school is in Leith.\n",
    "Greenhouse.md": "The greenhouse pump is a Lowara from 2011 and stands behind the door. It was looked at on 4 May 2025 by Ines "
    "Holt, £60.\n\nWe had a quote for a new roof in March. The firm wanted £2,300. We agreed in June to wait until spring 2027, "
    "because of the cost.\n",
    "Kettle.md": "# Kettle\n\nThe kettle is a red Bosch.\n\nWhen it leaks:\n\n- unplug it\n- empty the tank\n- turn the seal round\n",
    "Ferry.md": "# Ferry\n\nThe crossing was rough. Lunch on board with Tove, fish soup.\n\n- speed 18 knots, 220 passengers\n- length 84 m\n",
    "Choir evening.md": "# Spring concert\n\nProgramme\n\n- Locus iste\n- Two Irish airs\n- The Lark\n- Evening hymn\n- Ubi caritas\n\n"
    "Doors open at seven. The hall holds 240.\n",
    "House rules.md": "Visitors come twice a week at most. Shoes stay at the door.\n",
    "Supplier.md": "# Why we left Norrbo\n\nWe ended the contract with Norrbo Paint in May.\n\nReasons:\n- the price rose by 12 %\n"
    "- two late deliveries\n- no blue any more\n",
    "Ledger.md": "# Ledger\n\n| Item | No. | Net | Fitted |\n|---|---|---|---|\n| Hinge | H-20 | £40 | £95 |\n| Lock | L-31 | £310 | £620 |\n"
    "| Window | W-7 | £480 | £1,150 |\n| Gate | G-2 | £505 | £890 |\n",
    "People.md": "# People\n\n| Name | Role | Ext. |\n|---|---|---|\n| Olga Reyes | payroll | 314 |\n| Sam Okoro | front desk | 201 |\n",
    "Insurance log.md": "- Thu: called the insurer, claim no. TX-40418\n- Fri: sent the photos\n",
    "Verträge.md": "# Verträge\n\n| Vertrag | Anbieter | Beitrag |\n|---|---|---|\n| Strom | Nordwatt | 84,90 € |\n"
    "| Kredit | Volksbank | 1.250 € |\n| Miete | Wobag | 912,50 € |\n",
    "Umbau.md": "# Umbau Dachboden\n\nDer Umbau hat sieben Wochen gedauert. Gesamtkosten 9.480 €. Die Leiter kam verspätet an.\n",
    "Fahrrad.md": "# Fahrrad\n\nDas Rad ist dunkelgrün, Rahmen 54.\n\nWenn die Kette springt:\n1. Rad umdrehen\n2. Kette abnehmen\n"
    "3. Ritzel säubern\n",
    "Urlaub.md": "# Bornholm\n\n14. bis 28. August, Ferienhaus Havblik in Gudhjem.\n\nWetter gut.\n",
    "Verein.md": "# Vorstand\n\n- Kasse: geprüft\n- Hauptversammlung: Freitag, 9. April 2027, 19 Uhr, Vereinsheim\n- Bus: verkauft\n",
    "Suppe.md": "---\nportionen: 5\ndauer: 50 min\n---\nErbsen, Speck, 2 l Brühe, eine Stunde köcheln.\n",
    "水壶.md": "# 水壶\n\n水壶是绿色的，容量1.5升。\n",
}


@pytest.fixture(scope="module")
def data_dir(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return stored(tmp_path_factory.mktemp("prose"), VAULT)


@pytest.mark.parametrize(
    ("question", "said"),
    [
        pytest.param(
            "What is Marta allergic to?", ["nut allergy"], id="she speaks of the person named before"
        ),
        pytest.param("What instrument does Pavel play?", ["oboe"], id="he speaks of the person named before"),
        pytest.param("What year is the greenhouse pump from?", ["2011"], id="a year asked for by its noun"),
        pytest.param(
            "What did we decide about the greenhouse roof?", ["spring 2027"], id="a decision in its paragraph"
        ),
        pytest.param("The kettle leaks, what do I do?", ["unplug", "seal"], id="steps below a label"),
        pytest.param("How do I empty the kettle properly?", ["unplug", "seal"], id="how well says nothing"),
        pytest.param("How fast is the ferry?", ["18 knots"], id="a measure by its unit"),
        pytest.param(
            "What are we singing at the spring concert?", ["Locus iste", "Ubi caritas"], id="a whole list"
        ),
        pytest.param(
            "Why did we leave Norrbo Paint?", ["12 %", "late deliveries", "no blue"], id="a list of reasons"
        ),
        pytest.param(
            "Which items are over £500 fitted?", ["Lock", "Window", "Gate"], id="a limit on the named column"
        ),
        pytest.param("What is Olga's extension?", ["314"], id="a column with a short name"),
        pytest.param("What's the claim number?", ["TX-40418"], id="a number written in short"),
        pytest.param("How often may visitors come?", ["twice a week"], id="may is no month"),
        pytest.param(
            "Welche Verträge kosten mehr als 900 €?", ["Kredit", "Miete"], id="sums as on the continent"
        ),
        pytest.param("Wie lange hat der Umbau gedauert?", ["sieben Wochen"], id="a German duration"),
        pytest.param("Welche Farbe hat das Fahrrad?", ["dunkelgrün"], id="a colour by its words"),
        pytest.param("Was mache ich, wenn die Kette springt?", ["umdrehen", "Ritzel"], id="German steps"),
        pytest.param(
            "Wann waren wir auf Bornholm?", ["14. bis 28. August"], id="a day that looks like a list"
        ),
        pytest.param("Wann ist die nächste Hauptversammlung?", ["9. April 2027"], id="next is not nearest"),
        pytest.param("Für wie viele reicht die Suppe?", ["5"], id="portions"),
        pytest.param("水壶是什么颜色？", ["绿"], id="a colour in Chinese"),
    ],
)
async def test_it_is_answered(data_dir: Path, question: str, said: list[str]) -> None:
    answer = await asked(data_dir, question)
    assert not answer.abstained, answer.text
    assert [text for text in said if text not in answer.text] == [], answer.text


@pytest.mark.parametrize(
    "question",
    [
        "How much was the lunch on the ferry?",
        "What did Tove charge?",
        "Was hat die neue Leiter gekostet?",
        "What is Pavel's phone number?",
        "Which colour is the greenhouse pump?",
        "How heavy is the ferry?",
    ],
)
async def test_what_stands_nowhere_is_not_found(data_dir: Path, question: str) -> None:
    answer = await asked(data_dir, question)
    assert answer.abstained, answer.text


async def test_steps_do_not_begin_in_the_middle_of_their_paragraph(data_dir: Path) -> None:
    answer = await asked(data_dir, "Was mache ich, wenn die Kette springt?")
    assert "Hauptversammlung" not in answer.text
    assert answer.text.index("umdrehen") < answer.text.index("Ritzel")


async def test_a_limit_leaves_out_what_is_below_it(data_dir: Path) -> None:
    answer = await asked(data_dir, "Welche Verträge kosten mehr als 900 €?")
    assert "Strom" not in answer.text
