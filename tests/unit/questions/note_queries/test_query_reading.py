"""Questions about many notes, read as queries to a small vault and carried out; and the others, which are none."""

from __future__ import annotations

from datetime import date

import pytest

from agentic_rag.notes.catalogue import Snapshot
from agentic_rag.questions.forms import asks_many
from agentic_rag.questions.note_queries.choosing import choose
from agentic_rag.questions.note_queries.query import Query, Selection, is_span
from agentic_rag.questions.note_queries.reading import read_query
from agentic_rag.questions.note_queries.vocabulary import Vocabulary
from agentic_rag.questions.times import named_time
from note_rows import nearest, snapshot_of

VAULT = snapshot_of()
TODAY = date(2024, 6, 30)


async def read(question: str, vault: Snapshot = VAULT) -> Query | None:
    return await read_query(question, Vocabulary.of(vault), nearest, named_time(question, TODAY, vault.days))


async def selected(question: str, vault: Snapshot = VAULT) -> Selection:
    query = await read(question, vault)
    assert query is not None
    return choose(query, vault.notes, vault.facts)


@pytest.mark.parametrize(
    ("question", "reading", "titles"),
    [
        # a class of notes: folder, category
        ("Which games do I have?", "notes in games/", ["Dota 2", "Elden Ring", "New World"]),
        ("list my books", "notes in books/", ["Dune", "Emma", "Persuasion"]),
        ("notes in games", "notes in games/", ["Dota 2", "Elden Ring", "New World"]),
        ("有哪些饮料？", "notes with 类别 = 饮料", ["可乐", "啤酒"]),
        # a number
        ("games that cost more than 20 dollars", "notes in games/ with price > 20", ["Elden Ring", "New World"]),
        ("Which games cost less than 50?", "notes in games/ with price < 50", ["Dota 2", "New World"]),
        ("which books are rated 4?", "notes in books/ with rating = 4", ["Emma", "Persuasion"]),
        ("which books have at least 300 pages?", "notes in books/ with pages ≥ 300", ["Dune", "Emma"]),
        ("which books have at most 320 pages?", "notes in books/ with pages ≤ 320", ["Emma", "Persuasion"]),
        ("which games are free?", "notes in games/ with price = 0", ["Dota 2"]),
        ("难度大于3的菜有哪些？", "notes with 难度 > 3", ["红烧肉"]),
        # a value
        ("which books by Jane Austen do I have?", "notes in books/ with author = Jane Austen", ["Emma", "Persuasion"]),
        ("which games are on Steam?", "notes in games/ with platform = Steam", ["Dota 2", "Elden Ring"]),
        # yes or no, and negation
        ("which games have I finished?", "notes in games/ with finished = true", ["Elden Ring"]),
        ("which games have I not finished?", "notes in games/ with finished = false", ["Dota 2", "New World"]),
        ("which games are not on Steam?", "notes in games/ with not platform = Steam", ["New World"]),
        ("which games are not free?", "notes in games/ with not price = 0", ["Elden Ring", "New World"]),
        ("不含酒精的饮料", "notes with 类别 = 饮料 and 酒精 = false", ["可乐"]),
        ("哪些饮料不含酒精？", "notes with 类别 = 饮料 and 酒精 = false", ["可乐"]),
        # a tag, and those below it
        ("which notes are tagged #rpg?", "notes tagged #rpg", ["Elden Ring", "New World"]),
        ("notes tagged rpg", "notes tagged #rpg", ["Elden Ring", "New World"]),
        ("#rpg", "notes tagged #rpg", ["Elden Ring", "New World"]),
        ("#RPG", "notes tagged #rpg", ["Elden Ring", "New World"]),
        # a date property
        ("which books did I read before 2024?", "notes in books/ with read and read < 2024-01-01", ["Dune"]),
        # an equality in Chinese
        ("哪些菜的难度是1？", "notes with 难度 = 1", ["可乐"]),
        ("难度为4的菜", "notes with 难度 = 4", ["红烧肉"]),
        ("哪些饮料的难度等于二？", "notes with 类别 = 饮料 and 难度 = 2", ["啤酒"]),
        # a range, and one of several values
        ("Which games are rated between 3 and 5?", "notes in games/ with rating ≥ 3 and rating ≤ 5", ["Dota 2", "Elden Ring"]),
        ("books with 250 to 350 pages", "notes in books/ with pages ≥ 250 and pages ≤ 350", ["Emma"]),
        ("难度在2到4之间的菜有哪些？", "notes with 难度 ≥ 2 and 难度 ≤ 4", ["啤酒", "红烧肉"]),
        ("which games are rated 2 or 5?", "notes in games/ with (rating = 2 or rating = 5)", ["Elden Ring", "New World"]),
        # what is compared is told by the comparative
        ("which games are cheaper than 50?", "notes in games/ with price < 50", ["Dota 2", "New World"]),
        ("哪些游戏比30贵？", "notes with price > 30", ["Elden Ring", "New World"]),
    ],
)  # fmt: skip
async def test_notes_by_their_class_and_conditions(question: str, reading: str, titles: list[str]):
    found = await selected(question)
    assert (found.query.target, found.query.ask) == ("notes", "list")
    assert found.query.text() == reading
    assert [entry.title for entry in found.entries] == titles


@pytest.mark.parametrize(
    ("question", "count"),
    [
        ("how many games do I have?", 3),
        ("how many books by Jane Austen?", 2),
        ("how many notes are tagged #rpg?", 2),
        ("多少种饮料？", 2),
    ],
)
async def test_how_many(question: str, count: int):
    found = await selected(question)
    assert (found.query.ask, found.count) == ("count", count)


@pytest.mark.parametrize(
    ("question", "order", "title"),
    [
        ("which game is the cheapest?", ("price", False), "Dota 2"),
        ("which game is the most expensive?", ("price", True), "Elden Ring"),
        ("which book has the most pages?", ("pages", True), "Dune"),
        ("which book has the fewest pages?", ("pages", False), "Persuasion"),
        ("which game is rated best?", ("rating", True), "Elden Ring"),
        ("the most expensive game", ("price", True), "Elden Ring"),
        ("the cheapest game on Steam", ("price", False), "Dota 2"),
        ("What is the shortest book?", ("pages", False), "Persuasion"),
        ("how much does the most expensive game cost?", ("price", True), "Elden Ring"),
        ("难度最高的饮料", ("难度", True), "啤酒"),
        ("难度最高的菜", ("难度", True), "红烧肉"),
        # the newest by the property with dates that the notes have
        ("newest book", ("read", True), "Emma"),
        ("the last book I read", ("read", True), "Emma"),
    ],
)
async def test_the_largest_or_smallest(question: str, order: tuple[str, bool], title: str):
    found = await selected(question)
    assert (found.query.ask, found.query.order) == ("extreme", order)
    assert found.entries[0].title == title
    assert str(found.entries[0].value) in found.entries[0].text


@pytest.mark.parametrize(
    ("question", "state", "texts"),
    [
        ("open tasks", "open", ["☐ call plumber", "☐ Order new rope", "◐ Sew the sail"]),
        ("which tasks are done?", "done", ["☑ water the garlic", "☑ Scrape the hull"]),
        ("Which tasks are still open for the boat?", "open", ["☐ Order new rope", "◐ Sew the sail"]),
        ("what have I already done on the boat?", "done", ["☑ Scrape the hull"]),
        ("which tasks of the boat are cancelled?", "cancelled", ["☒ Install radar"]),
        ("which tasks of the boat are in progress?", "doing", ["◐ Sew the sail"]),
        ("还有哪些任务没完成？", "open", ["☐ call plumber", "☐ Order new rope", "◐ Sew the sail"]),
    ],
)
async def test_tasks_by_their_state(question: str, state: str, texts: list[str]):
    found = await selected(question)
    assert (found.query.target, found.query.ask, found.query.state) == ("tasks", "list", state)
    assert [entry.text for entry in found.entries] == texts


@pytest.mark.parametrize(
    "question",
    [
        "At how many knots does the boat open its hatch?",
        "What did the boat open with?",
        "How does one get the boat to open?",
    ],
)
async def test_to_open_is_no_state_of_a_task(question: str):
    query = await read(question)
    assert query is None or query.target != "tasks"


async def test_tasks_are_counted():
    found = await selected("how many tasks are open?")
    assert (found.query.target, found.query.ask, found.count) == ("tasks", "count", 3)


@pytest.mark.parametrize(
    ("question", "texts"),
    [
        ("which rooms have a blue key?", ["Room: Attic; Size: 20; Key: blue", "Room: Hall; Size: 12; Key: blue"]),
        ("which rooms have a size over 15?", ["Room: Attic; Size: 20; Key: blue", "Room: Cellar; Size: 35; Key: red"]),
        # without a word that asks for several
        ("pantry before 2024", ["oatmeal (expires: 2023-05-05)", "beans (expires: 2023-11-30)"]),
        ("pantry since 2025", ["rice (expires: 2025-01-01)"]),
        ("pantry expires before June 2023", ["oatmeal (expires: 2023-05-05)"]),
        ("rooms with a size over 30", ["Room: Cellar; Size: 35; Key: red"]),
        # the column that a comparative compares
        ("Which rooms are larger than 15?", ["Room: Attic; Size: 20; Key: blue", "Room: Cellar; Size: 35; Key: red"]),
        ("which rooms are smaller than 15?", ["Room: Hall; Size: 12; Key: blue"]),
        ("rooms bigger than 30", ["Room: Cellar; Size: 35; Key: red"]),
    ],
)  # fmt: skip
async def test_entries_of_a_note(question: str, texts: list[str]):
    found = await selected(question)
    assert found.query.target == "entries"
    assert [entry.text for entry in found.entries] == texts


@pytest.mark.parametrize(
    ("question", "titles"),
    [
        ("What did I do on 2024-03-15?", ["2024-03-15"]),
        ("What did I do on March 15th, 2024?", ["2024-03-15"]),
        ("2024年3月15日我做了什么？", ["2024-03-15"]),
        ("What did I do in March 2024?", ["2024-03-14", "2024-03-15"]),
        ("What did I do before April 2024?", ["2024-03-14", "2024-03-15"]),
        ("What did I do on March 15th?", ["2024-03-15"]),
    ],
)
async def test_a_span_of_days_selects_by_the_notes_date(question: str, titles: list[str]):
    found = await selected(question)
    assert is_span(found.query.to_dict())
    assert [entry.title for entry in found.entries] == titles
    assert all(entry.named for entry in found.entries)


@pytest.mark.parametrize(
    ("question", "titles"),
    [
        ("What did I do on 2024-03-14 and on 2024-04-02?", ["2024-03-14", "2024-04-02"]),
        ("What did I do in February and in April 2024?", ["2024-04-02"]),
        ("2024年3月14日和4月2日我做了什么？", ["2024-03-14", "2024-04-02"]),
    ],
)
async def test_spans_that_are_named_together_select_by_each(question: str, titles: list[str]):
    found = await selected(question)
    assert is_span(found.query.to_dict())
    assert [entry.title for entry in found.entries] == titles


async def test_a_class_whose_notes_tell_no_time_does_not_answer_for_a_span():
    query = await read("which games did I finish in 2024?")
    assert query is not None
    assert is_span(query.to_dict())


async def test_what_a_span_does_not_express_is_left_to_the_units():
    query = await read("What did I write on 2024-04-02?")
    assert query is not None
    question = "What did the plumber say about pipes on 2024-03-15?"
    query = await read(question)
    assert query is not None
    assert [question[start:end] for start, end in query.residual] == ["plumber", "say", "pipes"]


async def test_what_no_note_fits_tells_the_nearest_reading():
    found = await selected("which games are tagged #nosuch?")
    assert (found.count, found.nearest) == (0, "notes in games/: 3")


@pytest.mark.parametrize(
    "question",
    [
        "", "?", "the", "\ud800", "#",
        "How much does Elden Ring cost?",
        "Who wrote Dune?",
        "What is the wifi password?",
        "How do I make pesto?",
        "Where is the boat?",
        "why is the sky blue?",
        "When does the ferry leave?",
        "What is Dune about?",
        "Is Elden Ring finished?",
        "Who is Jane Austen?",
        "How long is Emma?",
        "How old is the boat?",
        "Does Dota 2 cost money?",
        "What rating did I give Emma?",
        "What is the difference between Dune and Emma?",
        "compare Dune and Emma",
        "Tell me about Elden Ring",
        "Where can I buy rice?",
        "How do I install plugins?",
        "Which wine goes with fish?",
        "What did Ruth say about the roof?",
        "How many eggs for pancakes?",
        "which plumber did I call?",
        "What is the meaning of life?",
        "怎么做红烧肉？",
        "可乐多少钱？",
        "谁写了沙丘？",
        # a kind of things that the vault lacks, where what is compared is of several kinds
        "which shows are rated 5?",
        "how many films are rated 4?",
        "which albums have a rating over 3?",
        # one thing of the largest, or of a note
        "Who wrote the longest book?",
        "What is the best way to make tea?",
        "What did I take from the pantry before 2024?",
        # a property that the class lacks
        "which games have more than 300 pages?",
        "which drinks are rated above 3?",
    ],
)  # fmt: skip
async def test_a_question_about_one_thing_is_no_query(question: str):
    assert await read(question) is None


THINGS = snapshot_of(
    {
        "films/Alien.md": "---\nyear: 1979\nruntime: 117\nstatus: watched\ncreated: 2024-02-01\n---\nA ship.\n",
        "films/Heat.md": "---\nyear: 1995\nruntime: 170\nstatus: watched\ncreated: 2023-02-01\n---\nA city.\n",
        "films/Solaris.md": "---\nyear: 1972\nruntime: 167\nstatus: to watch\ncreated: 2024-05-01\n---\nA sea.\n",
        "novels/A.md": "---\nstatus: reading\n---\nOne.\n",
        "novels/B.md": "---\nstatus: finished\n---\nTwo.\n",
        "novels/C.md": "---\nstatus: finished\n---\nThree.\n",
        "novels/D.md": "---\nstatus: to-read\n---\nFour.\n",
        "shows/E.md": "---\nstatus: watching\nrating: 5\n---\nFive.\n",
        "shows/F.md": "---\nstatus: paused\nrating: 4\n---\nSix.\n",
        "图书/三体.md": "---\n状态: 已读\n---\n其一。\n",
        "图书/活着.md": "---\n状态: 在读\n---\n其二。\n",
        "Tools.md": "| Tool | Weight |\n|---|---|\n| Saw | 3 |\n| Vice | 12 |\n",
    }
)


@pytest.mark.parametrize(
    ("question", "reading", "titles"),
    [
        # what was done, by the property that says what goes on
        ("How many novels have I read?", "notes in novels/ with status = finished", ["B", "C"]),
        ("Which novels did I read?", "notes in novels/ with status = finished", ["B", "C"]),
        ("Which novels have I finished?", "notes in novels/ with status = finished", ["B", "C"]),
        ("Which novels am I reading?", "notes in novels/ with status = reading", ["A"]),
        ("Which films have I watched?", "notes in films/ with status = watched", ["Alien", "Heat"]),
        ("how many films did I watch?", "notes in films/ with status = watched", ["Alien", "Heat"]),
        ("我读过几本图书？", "notes in 图书/ with 状态 = 已读", ["三体"]),
        ("哪些图书在读？", "notes in 图书/ with 状态 = 在读", ["活着"]),
        # the year of the things, and not the notes' own date
        ("films between 1970 and 1980", "notes in films/ with year ≥ 1970 and year < 1981", ["Alien", "Solaris"]),
        ("films from 1995", "notes in films/ with year = 1995", ["Heat"]),
        ("films released in 1979", "notes in films/ with year = 1979", ["Alien"]),
        ("films watched in 2024", "notes in films/ with status = watched and date ≥ 2024-01-01 and date < 2025-01-01", ["Alien"]),
        ("oldest film", "notes in films/ by year, smallest first", ["Solaris", "Alien", "Heat"]),
        ("the last film", "notes in films/ by date, largest first", ["Solaris", "Alien", "Heat"]),
        # a noun that is a verb elsewhere
        ("which shows are rated 5?", "notes in shows/ with rating = 5", ["E"]),
        ("how many shows do I have?", "notes in shows/", ["E", "F"]),
        # another word for the notes that have the property
        ("which movies are longer than 150?", "notes with runtime > 150", ["Heat", "Solaris"]),
        ("which series are rated 4?", "notes with rating = 4", ["F"]),
        # rows, where no class of notes is named
        ("which devices are heavier than 10?", "entries with Weight > 10", ["Tools"]),
    ],
)  # fmt: skip
async def test_what_a_vault_says_of_things(question: str, reading: str, titles: list[str]):
    found = await selected(question, THINGS)
    assert found.query.text() == reading
    assert [entry.title for entry in found.entries] == titles


WORK = snapshot_of(
    {
        "people/Ann Lee.md": "---\ncity: Berlin\nborn: 1985-03-02\nemail: a@x.de\n---\nx\n",
        "people/Bob Ray.md": "---\ncity: Paris\nborn: 1992-07-12\nemail:\n---\nx\n",
        "people/Cid Moe.md": "---\ncity: Rome\nborn: 1979-01-30\nemail: c@x.de\n---\nx\n",
        "projects/Roof.md": '---\nstatus: active\ndeadline: 2024-06-20\nteam: ["[[Ann Lee]]", "[[Bob Ray]]"]\n---\nx\n',
        "projects/Boat.md": '---\nstatus: done\ndeadline: 2024-02-01\nteam: ["[[Ann Lee]]"]\n---\nx\n',
        "projects/Band.md": "---\nstatus: cancelled\n---\nx\n",
    }
)


@pytest.mark.parametrize(
    ("question", "reading", "titles"),
    [
        # one of several values, where no note has both; else both
        ("which people live in Berlin or Paris?", "notes in people/ with (city = Berlin or city = Paris)", ["Ann Lee", "Bob Ray"]),
        ("which projects are done or cancelled?", "notes in projects/ with (status = cancelled or status = done)", ["Band", "Boat"]),
        ("people in Rome, Paris or Berlin", "notes in people/ with (city = Berlin or city = Paris or city = Rome)",
         ["Ann Lee", "Bob Ray", "Cid Moe"]),
        ("which projects have Ann Lee and Bob Ray?", "notes in projects/ with team = Ann Lee and team = Bob Ray", ["Roof"]),
        # a property that they have or lack
        ("which projects have a deadline?", "notes in projects/ with deadline", ["Boat", "Roof"]),
        ("which projects have no deadline?", "notes in projects/ with no deadline", ["Band"]),
        ("which people have no email?", "notes in people/ with no email", ["Bob Ray"]),
        # people themselves
        ("who is the oldest person?", "notes in people/ by born, smallest first", ["Cid Moe", "Ann Lee", "Bob Ray"]),
    ],
)  # fmt: skip
async def test_what_a_vault_says_of_people_and_projects(question: str, reading: str, titles: list[str]):
    found = await selected(question, WORK)
    assert found.query.text() == reading
    assert [entry.title for entry in found.entries] == titles


DISHES = snapshot_of(
    {
        "菜谱/西红柿炒鸡蛋.md": "烹饪难度：★★\n\n## 原料\n\n- 西红柿\n- 鸡蛋\n- 盐\n",
        "菜谱/红烧肉.md": "烹饪难度：★★★★\n\n## 原料\n\n- 五花肉\n- 生抽\n- 蒜\n",
        "菜谱/凉拌黄瓜.md": "烹饪难度：★\n\n## 原料\n\n- 黄瓜\n- 生抽\n- 蒜\n- 盐\n",
        "饮料/奶茶.md": "烹饪难度：★★\n\n## 原料\n\n- 牛奶\n- 红茶\n",
        "饮料/酸梅汤.md": "烹饪难度：★★★\n\n## 原料\n\n- 乌梅\n- 冰糖\n",
    }
)


@pytest.mark.parametrize(
    ("question", "reading", "titles"),
    [
        # several words of the lists, each negated by itself
        ("哪些菜既有生抽又有蒜？", "notes in 菜谱/ with items ~ 生抽 and items ~ 蒜", ["凉拌黄瓜", "红烧肉"]),
        ("哪些菜用到鸡蛋和盐？", "notes in 菜谱/ with items ~ 鸡蛋 and items ~ 盐", ["西红柿炒鸡蛋"]),
        ("哪些菜需要生抽但不需要盐？", "notes in 菜谱/ with items ~ 生抽 and not items ~ 盐", ["红烧肉"]),
        # the class at the end
        ("用牛奶的饮料有哪些？", "notes in 饮料/ with items ~ 牛奶", ["奶茶"]),
        ("有什么饮料？", "notes in 饮料/", ["奶茶", "酸梅汤"]),
        # stars, and a part of the property's name
        ("哪些菜难度是两颗星？", "notes with 烹饪难度 = ★★", ["西红柿炒鸡蛋", "奶茶"]),
        ("难度是1的菜有哪些？", "notes in 菜谱/ with 烹饪难度 = ★", ["凉拌黄瓜"]),
    ],
)  # fmt: skip
async def test_what_recipes_say_in_their_lists(question: str, reading: str, titles: list[str]):
    found = await selected(question, DISHES)
    assert found.query.text() == reading
    assert [entry.title for entry in found.entries] == titles


async def test_the_noun_of_what_is_counted_is_no_item():
    assert (await selected("一共有多少道菜？", DISHES)).count == 3
    vault = snapshot_of({"a/x.md": "- 紫菜\n- 盐\n", "a/y.md": "- 面\n- 盐\n"})
    assert await read("一共有多少道菜？", vault) is None


@pytest.mark.parametrize("question", ["番茄有几个品种？", "盐有哪些用处？", "鸡蛋一共有多少个产地？"])
async def test_what_one_thing_has_is_no_item_of_notes(question: str):
    assert await read(question, DISHES) is None


@pytest.mark.parametrize("question", ["How many shows have I watched?", "which shows did I watch?"])
async def test_what_is_done_is_not_chosen_where_no_value_says_so(question: str):
    assert await read(question, THINGS) is None


@pytest.mark.parametrize(
    ("lane", "box", "state"),
    [("Doing", " ", "doing"), ("In progress", " ", "doing"), ("Done", " ", "done"), ("To do", " ", "open"),
     ("Doing", "x", "done"), ("Things that are done well", " ", "open"), ("进行中", " ", "doing"), ("已完成", " ", "done")],
)  # fmt: skip
async def test_the_lane_of_a_board_is_the_state_of_its_cards(lane: str, box: str, state: str):
    vault = snapshot_of({"Garden.md": f"# Garden\n\n## {lane}\n\n- [{box}] Dig the pond\n"})
    states = []
    for name in ("open", "doing", "done"):
        query = Query("tasks", state=name)
        states += [name] if choose(query, vault.notes, vault.facts).count else []
    assert state in states
    assert states in ([state], ["open", "doing"])


@pytest.mark.parametrize(
    ("question", "many"),
    [
        ("Which games do I have?", True),
        ("how many books?", True),
        ("哪些饮料？", True),
        ("list everything", True),
        ("Who wrote Dune?", False),
        ("How much is it?", False),
        ("", False),
    ],
)
def test_words_that_ask_for_several(question: str, many: bool):
    assert asks_many(question) is many
