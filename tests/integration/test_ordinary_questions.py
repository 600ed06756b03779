"""Ordinary questions whose answer needs the meaning of words: a kind of notes that a note defines, a property by its sense,
a price by what was paid, a birthday in any year."""

from __future__ import annotations

from pathlib import Path

import pytest

from asked_vaults import asked, stored

VAULT = {
    "Wetsuits/Long John.md": "---\nthickness: 3\n---\nWithout sleeves.\n",
    "Wetsuits/Spring suit.md": "---\nthickness: 2\n---\nFor summer.\n",
    "Currents/Rip.md": "Runs out to sea.\n",
    "Currents/Longshore.md": "Runs along the beach.\n",
    "Gear/Wetsuits.md": "Wetsuits are garments of neoprene that keep a surfer warm.\n",
    "Glossary.md": "- **Currents**: water that moves in one direction.\n- **Swell**: waves from a distant storm.\n",
    "Wax/Tropical.md": "Hard.\n",
    "Wax/Cold.md": "Soft.\n",
    "板子/短板.md": "---\n难度: 5\n打磨时间: 90分钟\n---\n转弯快。\n",
    "板子/长板.md": "---\n难度: 2\n打磨时间: 150分钟\n---\n稳。\n",
    "器材.md": "| 器材 | 数量 | 单价 |\n|---|---|---|\n| 脚绳 | 6 | 80 |\n| 板蜡 | 20 | 25 |\n",
}


CREW = {
    "Colleagues/Ruth Amsel.md": "---\nborn: 1979-02-14\njoined: 2020-05-01\nwatch_duty: Friday\n---\nKeeps two parrots, Rum and Tar.\n",
    "Colleagues/Ivo Brandt.md": "---\nborn: 1991-02-03\njoined: 2016-11-01\n---\nOnce rowed to Elba.\n",
    "Colleagues/Nell Ford.md": "---\nborn: 1985-09-30\njoined: 2022-02-01\n---\nMends sails.\n",
    "Boats/Gull.md": '---\nskipper: "[[Ruth Amsel]]"\nlength: 9\nshore_crew: Ivo Brandt\n---\nGull is a wooden cutter.\n\n'
    "| Part | State |\n|---|---|\n| mast | open |\n\n- [ ] scrape the hull\n- [x] oil the tiller\n",
    "Boats/Tern.md": '---\nskipper: "[[Ivo Brandt]]"\nlength: 7\n---\nTern is a dinghy for children.\n',
    "Boats/Race of Gull.md": "---\nlength: 5\n---\nGull came third.\n",
    "Log/2025-06-02.md": "- Paid £45 for the anchor light\n- Who pays the harbour dues of Tern?\n",
    "Travel/Elba.md": "---\nexpenses: 310\n---\nWarm.\n",
    "Travel/Corfu.md": "---\nexpenses: 940\n---\nLoud.\n",
    "同事/秦岚.md": "---\n生日: 1990-05-06\n入职: 2019-04-01\n不吃: 香菜\n---\n养猫。\n",
    "同事/罗毅.md": "---\n生日: 1986-05-20\n入职: 2021-08-01\n---\n会修船。\n",
    "航次/四月.md": "---\n花费: 700\n船员: [叔叔]\n---\n去了舟山。\n",
    "航次/九月.md": "---\n花费: 1200\n---\n风大，晕船。\n",
    "码头/三号码头.md": "水浅，夜里太吵。\n",
}


@pytest.fixture(scope="module")
def data_dir(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return stored(tmp_path_factory.mktemp("surf"), VAULT)


@pytest.fixture(scope="module")
def crew(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return stored(tmp_path_factory.mktemp("crew"), CREW)


@pytest.mark.parametrize(
    ("question", "first"),
    [
        # the definition of a word that names a kind of notes too; the kind where they are the writer's, or nothing defines it
        ("What are wetsuits?", "Wetsuits are garments of neoprene that keep a surfer warm."),
        ("What are currents?", "Currents: water that moves in one direction."),
        ("What are my wetsuits?", "Read as: notes in Wetsuits/"),
        ("What are the currents?", "Read as: notes in Currents/"),
        ("What are waxes?", "Read as: notes in Wax/"),
        # what is compared, by the sense of the superlative
        ("最贵的器材是什么？", "理解为: entries with 器材 of notes in 器材.md by 单价, largest first"),
        ("哪款板子花的时间最长？", "理解为: notes in 板子/ by 打磨时间, largest first"),
        ("哪款板子最难？", "理解为: notes in 板子/ by 难度, largest first"),
    ],
)
async def test_the_first_line(data_dir: Path, question: str, first: str) -> None:
    answer = await asked(data_dir, question)
    assert answer.text.splitlines()[0].split(" [")[0] == first


@pytest.mark.parametrize(
    ("question", "lines"),
    [
        # a day of a month, in any year; who: all classes of people
        ("Who was born in February?", {"Ivo Brandt", "Ruth Amsel"}),
        ("Who joined in May?", {"Ruth Amsel"}),
        ("谁的生日在五月？", {"罗毅", "秦岚"}),
        ("谁入职最早？", {"秦岚"}),
        ("谁先入职？", {"秦岚"}),
        ("航次去过哪些地方？", {"四月", "九月"}),
        # tasks, and not the rows of a table with the same state
        ("What tasks are open for Gull?", {"☐ scrape the hull"}),
        # the kind of notes by the meaning of its name, and what cost is by what was paid
        ("Which trip cost the most?", {"Corfu"}),
        ("哪次航次花钱最多？", {"九月"}),
    ],
)
async def test_what_is_listed(crew: Path, question: str, lines: set[str]) -> None:
    answer = await asked(crew, question)
    assert {
        line.removeprefix("- ").split(" —")[0].split(" [")[0]
        for line in answer.text.splitlines()
        if line.startswith("- ")
    } == lines


@pytest.mark.parametrize(
    ("question", "part"),
    [
        ("What are Ruth's parrots called?", "Rum and Tar"),
        ("Who is on watch duty, Ruth?", "Friday"),
        ("Who is the shore crew of Gull?", "shore_crew: Ivo Brandt"),
        ("How much did the anchor light cost?", "£45"),
        ("What did we pay for the anchor light?", "£45"),
        ("三号码头为什么不好？", "太吵"),
        ("秦岚对什么不吃？", "香菜"),
        ("What is the difference between Gull and Tern?", "Gull: skipper: Ruth Amsel; length: 9"),
    ],
)
async def test_what_is_said(crew: Path, question: str, part: str) -> None:
    answer = await asked(crew, question)
    assert part in answer.text


@pytest.mark.parametrize(
    "question",
    ["How much does Ivo earn?", "叔叔的生日是哪天？", "叔叔的身高是多少？", "How much does Nell earn?"],
)
async def test_what_no_note_says(crew: Path, question: str) -> None:
    answer = await asked(crew, question)
    assert answer.abstained


OFFICE = {
    "Desks.md": "# Desks\n\nPlease ask #chairs about the budget of a chair and what it covers.\n\n"
    "People spend up to €450 on a chair. A lamp is extra.\n\nAsk Nora about the allowance for lunch.\n\n"
    "Everybody has an allowance of £12 for lunch.\n",
    "Building.md": "# Building\n\nThe lift is serviced quarterly. The lift was serviced by 2 men in 2023.\n\n"
    "Porters keep the building clean, and 3 of them work at night.\n\n电梯每季度检修一次。电梯在2023年检修了3小时。\n",
    "Parking.md": "# Parking\n\nWe pay a $60 parking subsidy to all who drive.\n",
    "Cars.md": "# Parking subsidy FAQ\n\n**Q: Can I use the subsidy for a bike?**\n\n"
    "A: No, the $90 benefit is for cars that are parked here.\n",
    "Board.md": "# Board\n\nMinutes of the board are written by hand, and the minutes are shared in #board-notes.\n\n"
    "## Sharing minutes\n\n1. Open the item `Board minutes` and press Share.\n2. Ensure that a Password is set.\n",
    "Payroll.md": "# Payroll\n\nTimesheets go to payroll, which you can ask about your timesheet.\n\n"
    "Timesheets must be sent within 5 days of the end of a week.\n",
    "Changes.md": "# Changes\n\n## Sorting rules\n\nThis came with 3.4.1. It needs a licence.\n\n"
    "Write to us which version you have.\n\n## 日程视图\n\n此功能在 2.7 引入，旧版本没有。\n",
    "Reasons.md": "# Rent\n\nThe rent is high because the river is near. The rent is €900 in 2024.\n",
    "Travel.md": "# Travel\n\nFor a visa, bring the forms B7 and C2 to the consulate.\n\n- What do I need?\n- Is a visa there?\n",
}


@pytest.fixture(scope="module")
def office(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return stored(tmp_path_factory.mktemp("office"), OFFICE)


@pytest.mark.parametrize(
    ("question", "part"),
    [
        # a noun that is an amount of money
        ("What is the budget for a chair?", "€450"),
        ("What's the allowance for lunch?", "£12"),
        # how often is answered by a frequency, and not by a number
        ("How often is the lift serviced?", "quarterly"),
        ("电梯多久检修一次？", "每季度"),
        # until when may be a span
        ("By when must timesheets be sent?", "within 5 days"),
        # a channel is a place
        ("Where are minutes of the board shared?", "#board-notes"),
        # one sentence says all of it, the other only stands below it
        ("How much is the parking subsidy?", "$60"),
        # the number of a version
        ("With which version did sorting rules come?", "3.4.1"),
        ("日程视图是哪个版本引入的？", "2.7"),
        # a reason is no amount
        ("Why is the rent so high?", "the river is near"),
        # what somebody needs is no list that needs something
        ("Which forms do I need for a visa?", "B7 and C2"),
    ],
)
async def test_the_value_that_is_wanted(office: Path, question: str, part: str) -> None:
    answer = await asked(office, question)
    assert part in answer.text.splitlines()[0]


@pytest.mark.parametrize("question", ["What is the salary of a porter?", "What is the rent of the building?"])
async def test_an_amount_of_money_that_no_note_states(office: Path, question: str) -> None:
    answer = await asked(office, question)
    assert answer.abstained
