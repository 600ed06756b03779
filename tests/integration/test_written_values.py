"""What is asked for by a form of its own (a telephone number, a version, a temperature), what belongs to somebody else, what is
left to do, and German dates, questions and compounds."""

from __future__ import annotations

from pathlib import Path

import pytest

from asked_vaults import asked, stored

VAULT = {
    "People/Rosa Lindt.md": "# Rosa Lindt\n\nRosa Lindt leads the choir. Her phone is 0171 555 2043, her mail rosa@choir.example.\n",
    "People/Emil Brandt.md": "# Emil Brandt\n\nEmil Brandt tunes the organ every spring. Last visit in April 2023.\n",
    "House/Dishwasher.md": "# Dishwasher\n\nBought at Kessler in 2021. Serial number: DW-88213-K. It leaks at the door.\n",
    "House/Bicycle.md": "# Bicycle\n\nBlue frame, bought from a neighbour in 2019. The bell is broken.\n",
    "Tech/Photo server.md": "# Photo server\n\nThe photo server runs Immich on the old laptop. The database is Postgres 15.4.\n",
    "Tech/Scanner.md": "# Scanner\n\nThe scanner needs a driver from the vendor. It sends pages to the share.\n",
    "Recipes/Rye bread.md": "# Rye bread\n\n- 500 g rye flour\n- 12 g salt\n\nBake at 240 °C for 15 minutes, then at 200 °C for 40.\n",
    "Recipes/Plum cake.md": "# Plum cake\n\n- 1 kg plums\n- 150 g sugar\n\nBake it for 45 minutes.\n",
    "Pay.md": "# Pay\n\n| Person | Role | Remark |\n|---|---|---|\n| Ines | baker | salary 2,900 EUR |\n| Paul | driver | drives the van, lives near Ines |\n",
    "Trips/Harz weekend.md": "# Harz weekend\n\nHut booked from 3 to 5 May.\n\n- [x] book the hut\n- [ ] borrow a map\n- [ ] wax the boots\n",
    "Reise/Hochzeit Clara.md": "# Hochzeit von Clara\n\nAm 14. Juni heiratet Clara in Lübeck. Wir wohnen im 3. Stock des Hotels Anker.\n\n"
    "- [x] Zimmer buchen\n- [ ] Geschenk kaufen\n- [ ] Anzug reinigen\n",
    "Reise/Fähre.md": "# Fähre\n\nDie Überfahrt war rau. Der Kaffee an Bord hat 4 Euro gekostet.\n",
    "Ereignisse/Stromausfall.md": "# Stromausfall\n\nDer Stromausfall hat 5 Stunden gedauert.\n\n- Kerzen für 12 Euro gekauft\n- Gefriertruhe 30 Minuten geprüft\n",
    "Haus/Schlüssel.md": "# Schlüssel\n\nDer Schlüssel zum Keller liegt in der Schublade. Wegen der Zähne: nächster Termin beim Zahnarzt am 4. Mai.\n",
    "Haus/Rad.md": "# Rad\n\nDas Rad hat seit März Scheibenbremsen von Tektro.\n",
    "搬家.md": "# 搬家\n\n六月搬到南山路。\n\n- [x] 订搬家公司\n- [ ] 改宽带地址\n- [ ] 退钥匙\n",
    "苹果派.md": "# 苹果派\n\n| 步骤 | 温度(℃) | 分钟 |\n|---|---|---|\n| 预烤 | 190 | 10 |\n| 烤熟 | 175 | 35 |\n",
}


@pytest.fixture(scope="module")
def data_dir(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return stored(tmp_path_factory.mktemp("written"), VAULT)


@pytest.mark.parametrize(
    ("question", "value"),
    [
        ("What is Rosa Lindt's phone number?", "0171 555 2043"),
        ("What is the e-mail address of Rosa Lindt?", "rosa@choir.example"),
        ("What is the serial number of the dishwasher?", "DW-88213-K"),
        ("Which version of Postgres does the photo server run?", "15.4"),
        ("What temperature does the rye bread need?", "240 °C"),
        ("苹果派预烤的温度是多少？", "190"),
        ("What is Ines's salary?", "2,900"),
        ("What still has to be done for the Harz weekend?", "borrow a map"),
        ("Was ist für die Hochzeit noch zu tun?", "Anzug reinigen"),
        ("搬家还要做什么？", "退钥匙"),
        ("Wann heiratet Clara?", "14. Juni"),
        ("In welchem Stock wohnen wir bei der Hochzeit?", "3. Stock"),
        ("Was hat der Kaffee auf der Fähre gekostet?", "4 Euro"),
        ("Wie lange hat der Stromausfall gedauert?", "5 Stunden"),
        ("Wo liegt der Kellerschlüssel?", "in der Schublade"),
        ("Wann ist der Zahnarzttermin?", "4. Mai"),
        ("Von wem sind die Bremsen am Rad?", "Tektro"),
    ],
)
async def test_a_value_of_the_form_that_is_asked_for(data_dir: Path, question: str, value: str) -> None:
    answer = await asked(data_dir, question)
    assert not answer.abstained
    assert value in answer.text


@pytest.mark.parametrize(
    "question",
    [
        "What is Emil Brandt's phone number?",
        "What is the e-mail address of Emil Brandt?",
        "What is the serial number of the bicycle?",
        "Which version of the driver does the scanner need?",
        "What temperature does the plum cake need?",
        "How many calories has the plum cake?",
        "What is the mileage of the bicycle?",
        "What is Paul's salary?",
        "How much does Emil Brandt charge?",
        "Wann ist der Friseurtermin?",
    ],
)
async def test_what_no_note_states_is_not_answered_with_another_number(data_dir: Path, question: str) -> None:
    assert (await asked(data_dir, question)).abstained


@pytest.mark.parametrize(
    ("question", "done"),
    [("What still has to be done for the Harz weekend?", "book the hut"), ("搬家还要做什么？", "订搬家公司")],
)
async def test_what_is_done_is_not_left_to_do(data_dir: Path, question: str, done: str) -> None:
    assert done not in (await asked(data_dir, question)).text
