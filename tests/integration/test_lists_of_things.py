"""Answers to questions for several things: rows by one of their cells, tasks by their state, lists below a sentence, and what is
asked of a note that a property would only select; and properties by the verbs that ask for them."""

from __future__ import annotations

from pathlib import Path

import pytest

from asked_vaults import asked, stored

VAULT = {
    "Watch bill.md": "# Watch bill\n\n| night | first | second |\n|---|---|---|\n| Mon | Bram | Ilse |\n| Tue | Ilse | Bram |\n"
    "| Wed | Otto | Bram |\n| Thu | Bram | Otto |\n",
    "Moorings.md": "# Moorings\n\n| Berth | Boat | Power | Length |\n|---|---|---|---|\n| A1 | Sula | yes | 9 m |\n| A2 | Petrel | no | 7 m |\n"
    "| B1 | Gannet | yes | 12 m |\n| B2 | Dunlin | no | 6 m |\n\nWe moved one boat from a berth without power to one with.\n",
    "Varnish plan.md": "# Varnish plan\n\n- [x] sand the rails\n- [ ] mask the portholes\n- [ ] two coats on the hatch\n- [x] buy turpentine\n",
    "Regatta crew.md": "The crew of the September regatta, as agreed in July.\n\n- Helm: Ilse Brandt\n- Trim: Otto Reuss\n- Bow: Nia Powell\n\n"
    "We meet at six on the pontoon.\n",
    "Sula log.md": "---\nboat: Sula\nkind: log\n---\n# Sula, log of July\n\nMy duties: rig check on Friday, bilge pump on Saturday, engine oil on Sunday.\n\n"
    "The anchor chain was too short, 25 metres.\n",
    "Ditty box.md": "What goes in there before we cast off: palm, needles, whipping twine, beeswax, a marlinspike and two shackles.\n\n"
    "Grandfather made it of teak.\n\nIn winter it stays at home.\n",
    "想去的岛.md": "想去:\n- 涠洲岛, 看日落\n- 嵊泗, 吃海鲜\n- 东山岛, 骑车\n\n去过了:\n- 鼓浪屿\n",
    "家务.md": "# 家务\n\n- [ ] 洗窗帘\n- [x] 换灯泡\n- [ ] 修水龙头\n- [x] 擦油烟机\n",
    "Chart plotters.md": "# Chart plotters\n\n| unit | where | system |\n|---|---|---|\n| helm | cockpit | Navix 4.2 |\n| spare | locker | Navix 3.9 |\n"
    "| old | attic | Seatrak 2.1 |\n",
    "Berth lease.md": "---\nlandlord: Harbour Trust\nbegin: 2021-04-01\nend: 2028-03-31\nrate: 410 EUR\n---\nThe trust complained in May about "
    "the noise, three evenings running.\n",
    "Survey.md": "---\nkind: report\nstand: Entwurf\nstatus: waiting for the yard\n---\nThe surveyor came twice.\n",
    "Fuel 2026.md": "Diesel of the season: 30 litres on 2 June, 44 litres on 19 July, 25 litres on 8 August.\n",
    "Harbour dues 2026.md": "# Harbour dues 2026\n\n| month | Sula | Petrel |\n|---|---|---|\n| Jun | 118 | 96 |\n| Jul | 131 | 99 |\n| Aug | 140 | 104 |\n",
    "2026-07-05.md": "Rain all day, we stayed in port and mended the sprayhood.\n",
    "2026-07-06.md": "Wind from the west, four reefs of washing on the line.\n",
    "Werkzeug.md": "# Werkzeug an Bord\n\n| Teil | Platz | verliehen |\n|---|---|---|\n| Bolzenschneider | Backskiste | ja |\n| Ratsche | Salon | nein |\n"
    "| Fettpresse | Backskiste | ja |\n",
}


@pytest.fixture(scope="module")
def data_dir(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return stored(tmp_path_factory.mktemp("lists"), VAULT)


@pytest.mark.parametrize(
    ("question", "stated", "left_out"),
    [
        pytest.param(
            "On which nights is Bram second?", ["Tue", "Wed"], ["Mon", "Thu"], id="a value in its own column"
        ),
        pytest.param(
            "Which boats have power?", ["Sula", "Gannet"], ["Petrel", "Dunlin"], id="a column that says yes"
        ),
        pytest.param(
            "Which boats have no power?",
            ["Petrel", "Dunlin"],
            ["Sula", "Gannet"],
            id="a column that says no",
        ),
        pytest.param(
            "Which of the varnish jobs are still open?",
            ["portholes", "hatch"],
            ["sand", "turpentine"],
            id="open tasks",
        ),
        pytest.param(
            "Which varnish jobs are ticked off?",
            ["sand", "turpentine"],
            ["portholes", "hatch"],
            id="done tasks",
        ),
        pytest.param(
            "Who's on the regatta crew?",
            ["Ilse Brandt", "Otto Reuss", "Nia Powell"],
            ["pontoon"],
            id="a list below a sentence",
        ),
        pytest.param(
            "What are my duties on the Sula?",
            ["rig check", "bilge pump", "engine oil"],
            ["boat: Sula"],
            id="asked of the one note that a property selects",
        ),
        pytest.param(
            "What's in the ditty box?", ["palm", "beeswax", "marlinspike"], [], id="a sentence that lists"
        ),
        pytest.param(
            "想去但还没去的地方有哪些？", ["涠洲岛", "嵊泗", "东山岛"], ["窗帘"], id="places are no tasks"
        ),
        pytest.param("家务里哪些已经勾掉了？", ["灯泡", "油烟机"], ["窗帘"], id="done tasks in Chinese"),
        pytest.param(
            "Welche Teile sind verliehen?", ["Bolzenschneider", "Fettpresse"], ["Ratsche"], id="yes in German"
        ),
    ],
)
async def test_all_of_them_are_listed(
    data_dir: Path, question: str, stated: list[str], left_out: list[str]
) -> None:
    answer = await asked(data_dir, question)
    assert not answer.abstained, answer.text
    assert [text for text in stated if text not in answer.text] == [], answer.text
    assert [text for text in left_out if text in answer.text] == [], answer.text


@pytest.mark.parametrize(
    ("question", "stated"),
    [
        pytest.param("When does the berth lease run out?", "2028-03-31", id="what runs out has an end"),
        pytest.param("When did the berth lease start?", "2021-04-01", id="what starts has a beginning"),
        pytest.param("What does the berth lease cost?", "410 EUR", id="what costs has a rate"),
        pytest.param("Is the survey finished?", "waiting for the yard", id="what is finished has a status"),
        pytest.param("How many plotters have Navix?", "2 entries", id="a name with its versions"),
        pytest.param(
            "How much diesel did we take in July 2026?", "44 litres", id="a day that stands in the text"
        ),
        pytest.param(
            "How high were the harbour dues of the Petrel in July 2026?", "Petrel: 99", id="a month in a cell"
        ),
        pytest.param("Who is second on Wednesday?", "second: Bram", id="a weekday in short"),
    ],
)
async def test_a_property_has_another_name_than_the_verb(data_dir: Path, question: str, stated: str) -> None:
    answer = await asked(data_dir, question)
    assert not answer.abstained, answer.text
    assert stated in answer.text, answer.text
