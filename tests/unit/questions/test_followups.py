"""A question that leans on the conversation is completed from it, and what was carried over is told."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date

import pytest

from agentic_rag.questions.followups import MAX_TURNS, CompletedQuestion, Turn, complete_question
from agentic_rag.questions.words import Place

TODAY = date(2024, 6, 30)
TITLES = ("Elden Ring", "New World", "Breaking Bad", "Dune", "Pesto", "Japan trip", "Lin Mei", "Ann Lee")
KINDS = {("Dune", "book"), ("Breaking Bad", "show"), ("Elden Ring", "game")}


def titles_in(text: str) -> Sequence[tuple[str, Place]]:
    places = [(text.casefold().find(title.casefold()), title) for title in TITLES]
    return [
        (text[at : at + len(title)], Place(at, at + len(title))) for at, title in sorted(places) if at >= 0
    ]


def after(query: str, *turns: str | Turn) -> CompletedQuestion:
    conversation = [turn if isinstance(turn, Turn) else Turn(turn) for turn in turns]
    return complete_question(
        query, conversation, titles_in, lambda title, word: (title, word) in KINDS, TODAY
    )


TEA = "Where does oolong tea come from?"
PRICE = "How much does Elden Ring cost?"
MANY = "Which games cost more than 20 dollars?"
DAY = "What did I do on 2024-03-15?"


@pytest.mark.parametrize(
    ("query", "before", "question"),
    [
        # another thing
        ("and New World?", PRICE, "How much does New World cost?"),
        ("what about New World?", PRICE, "How much does New World cost?"),
        ("New World?", PRICE, "How much does New World cost?"),
        ("How about the New World?", PRICE, "How much does New World cost?"),
        ("那可乐呢？", "雪碧多少钱？", "可乐多少钱？"),
        ("那可乐呢？", "雪碧什么时候买的？", "可乐什么时候买的？"),
        ("And gaiwans?", "Who wrote the Classic of Tea?", "Who wrote the gaiwans?"),
        ("And in 2023?", "What did I do in 2024?", "What did I do in 2023?"),
        ("And the water?", "How much is broadband a month?", "How much is water a month?"),
        ("and the hall?", "What colour is the living room?", "What colour is the hall?"),
        ("and Ben?", "When did Ann start?", "When did Ben start?"),
        # the verb behind the thing stays
        ("and the fence?", "How much does the shed cost?", "How much does the fence cost?"),
        ("And usage fees?", "Which code do membership fees go to?", "Which code do usage fees go to?"),
        ("How far did I sail that day?", "Where did I sleep in Howth?", "How far did I sail that day?"),
        ("and the running vest?", "What does my pack weigh?", "What does my running vest weigh?"),
        ("and the tractor?", "How much oil does the van need?", "How much oil does the tractor need?"),
        ("and the sauna?", "When does the pool open on Sundays?", "When does the sauna open on Sundays?"),
        ("and the pump?", "When did the old boiler break down?", "When did the pump break down?"),
        ("and the sauna?", "Is the pool heated?", "Is the sauna heated?"),
        ("and the ladder?", "Where is the spare key?", "Where is the ladder?"),
        ("And Ben's?", "What is Ann's rate?", "What is Ben's rate?"),
        ("And the beetroot?", "Where do I buy it? When did I sow carrots?", "When did I sow beetroot?"),
        # another topic of the same person, or another person the same topic
        ("And what about the ferry?", "What did Ann say about the boat?", "What did Ann say about the ferry?"),
        ("and the old ferry?", "What did Lin Mei say about the boat?", "What did Lin Mei say about the old ferry?"),
        ("And Ben?", "What did Ann say about the boat?", "What did Ben say about the boat?"),
        # another side of the same thing
        ("and the budget?", "When is the Japan trip?", "Japan trip budget?"),
        ("and the sauce?", "How do I make Pesto?", "Pesto sauce?"),
        ("und wann?", "Wer hat Dune geschrieben?", "Dune wann?"),
        # a pronoun
        ("and who wrote it?", "When did I read Dune?", "and who wrote Dune?"),
        ("its price?", "When did I buy Elden Ring?", "Elden Ring's price?"),
        ("and its rating?", "When did I buy Elden Ring?", "and Elden Ring's rating?"),
        ("When did he live?", "Who wrote the Classic of Tea?", "When did Classic of Tea live?"),
        ("And when was it made?", TEA, "And when was tea made?"),
        ("它多少钱？", "艾尔登法环什么时候买的？", "艾尔登法环多少钱？"),
        ("它的价格呢？", "艾尔登法环什么时候买的？", "艾尔登法环的价格呢？"),
        ("他活在什么时候?", "茶经是谁写的?", "茶经活在什么时候?"),
        # another day
        ("and the day after?", DAY, "What did I do 2024-03-16?"),
        ("and the day before?", DAY, "What did I do 2024-03-14?"),
        ("and the week before?", DAY, "What did I do 2024-03-08?"),
        ("and the 20th?", DAY, "What did I do 2024-03-20?"),
        ("第二天呢？", "2024年3月15日我做了什么？", "2024-03-16我做了什么？"),
        ("and last week?", "What did I do yesterday?", "What did I do last week?"),
        # another day or month of the same year
        ("and in April?", "What did I do in March 2023?", "What did I do in April 2023?"),
        ("what about May?", "What did I do in March 2023?", "What did I do in May 2023?"),
        ("and on April 5th?", "What did I do on March 3rd, 2023?", "What did I do on April 5th 2023?"),
        ("and in April?", "What did I do in 2023?", "What did I do in April 2023?"),
        ("那四月呢？", "2023年3月我做了什么？", "2023年四月我做了什么？"),
        ("4月呢？", "2023年我做了什么？", "2023年4月我做了什么？"),
        ("and in April?", "What did I do in March?", "What did I do in April?"),
        # the same day
        ("Who was there?", DAY, "Who was there (on 2024-03-15)?"),
        ("Did I call the plumber?", DAY, "Did I call the plumber (on 2024-03-15)?"),
        ("what else?", DAY, "what else (on 2024-03-15)?"),
        ("吃了什么？", "2024年3月15日我做了什么？", "2024年3月15日 吃了什么？"),
        ("and what did I eat then?", DAY, "and what did I eat then (on 2024-03-15)?"),
        # of a selection
        ("and the cheapest?", MANY, f"{MANY[:-1]}, and the cheapest?"),
        ("which of them are on Steam?", MANY, f"{MANY[:-1]}, which of them are on Steam?"),
        # the earlier question goes before it in the search alone
        ("why?", "Did I like Breaking Bad?", "why?"),
        ("and how many episodes?", "What rating did I give Breaking Bad?", "Breaking Bad: how many episodes?"),
    ],
)  # fmt: skip
def test_what_a_question_points_to_is_named(query: str, before: str, question: str):
    found = after(query, before)
    assert found.question == question
    assert found.carried_parts
    assert set(found.carried_parts) <= {"thing", "attribute", "days", "selection", "question"}


@pytest.mark.parametrize(
    ("query", "leans"),
    [
        ("And when was it made?", True),
        ("Does it, in the long run, damage porcelain teapots?", True),
        ("Why would they move the railway station there?", True),
        ("Who?", True),
        ("它来自哪里？", True),
        ("其作者是谁，还写过别的什么书吗？", True),
        ("Why does that happen to leaves in the long afternoon?", True),
        ("Who is the leader?", True),
        ("In which year?", True),
        ("那福建的乌龙茶呢，怎么冲泡？", True),
        ("What is withering?", False),
        ("Who was Lin Mei?", False),
        ("什么是萎凋？", False),
        ("其他茶类需要萎凋吗？", False),
        ("吉他和钢琴哪个便宜？", False),
        ("Is there a Japanese tea that is steamed instead of panned?", False),
        (TEA, False),
        ("福建的乌龙茶怎么冲泡才好喝？", False),
        ("Who sells porcelain teapots in Kyoto?", False),
        ("How much does New World cost?", False),
        ("How long do I boil pasta?", False),
    ],
)
def test_a_follow_up_points_back_or_says_too_little(query: str, leans: bool):
    found = after(query, TEA)
    assert bool(found.carried_parts) is leans
    if not leans:
        assert found == CompletedQuestion(query)
        assert found.search == query


def test_what_points_by_itself_keeps_its_words():
    query = "Why does that happen to leaves in the long afternoon?"
    assert (after(query, TEA).question, after(query, TEA).search) == (query, f"{TEA} {query}")


@pytest.mark.parametrize(
    "query", ["And when?", "它多少钱？", "and the cheapest?", "and the day after?", "", "?"]
)
def test_without_a_conversation_nothing_is_carried(query: str):
    assert after(query) == CompletedQuestion(query)


@pytest.mark.parametrize("query", ["", "?", "\ud800?", "and?", "呢？"])
def test_what_says_nothing_is_searched_with_the_question_before_it(query: str):
    assert TEA in after(query, TEA).search


def test_the_earlier_question_is_searched_and_not_asked():
    found = after("And when?", TEA)
    assert (found.question, found.search) == ("And when?", f"{TEA} And when?")
    assert found.carried_parts == {"question": TEA}


@pytest.mark.parametrize(
    ("query", "answer", "question"),
    [
        ("how long is that book?", "I read Dune, after Breaking Bad. [1]", "how long is Dune?"),
        ("how long is that show?", "I read Dune, after Breaking Bad. [1]", "how long is Breaking Bad?"),
    ],
)
def test_a_note_of_the_answer_is_what_its_kind_points_to(query: str, answer: str, question: str):
    found = after(query, Turn("What was the last one?", answer))
    assert (found.question, found.search) == (question, question)


def test_the_person_who_was_asked_for_is_taken_from_the_answer():
    found = after("What is his phone number?", Turn("Who checks the hood?", "Lin Mei checks it. [1]"))
    assert found.question == "What is Lin Mei's phone number?"


def test_a_day_is_not_carried_to_a_thing_of_the_answer():
    found = after("how long is that book?", Turn("What did I read on 2024-03-15?", "Dune. [1]"))
    assert (found.question, "days" in found.carried_parts) == ("how long is Dune?", False)


@pytest.mark.parametrize(
    "query", ["Where is the boat?", "How old is the cat?", "What is the password?", "船在哪里？"]
)
def test_a_day_is_not_carried_to_what_is_now(query: str):
    assert after(query, DAY) == CompletedQuestion(query)
    assert after(query, "2024年3月15日我做了什么？") == CompletedQuestion(query)


def test_one_of_several_that_were_asked_for_is_one_of_the_same():
    first = after("and the cheapest?", MANY)
    second = after("and the most expensive?", MANY, "and the cheapest?")
    assert first.carried_parts == {"selection": MANY}
    assert second.question == f"{MANY[:-1]}, and the most expensive?"


def test_a_turn_is_read_with_those_before_it():
    found = after(
        "And what else?", "Which pots hold heat?", "Who wrote the Classic of Tea?", "When did he live?"
    )
    assert found.search == "Who wrote the Classic of Tea? When did Classic of Tea live? And what else?"
    assert after("and who wrote it?", "When did I read Dune?", "why?").question == "and who wrote Dune?"


def test_a_long_conversation_adds_each_turn_once():
    """A question that names nothing to point to grows with the turns, and never with their square."""
    asked = ["Who was he?", *(f"What did he say in {year}?" for year in range(700, 720))]
    search = after("And what else?", *asked).search
    assert search == " ".join([*asked[-MAX_TURNS:], "And what else?"])
    named = ["Who wrote the Classic of Tea?", *(f"What did he say in {year}?" for year in range(700, 705))]
    assert after("And what else?", *named).search.count("?") == len(named) + 1


DRINKS = Turn("Which recipes do I have?", "Read as: notes in recipes/\n2 notes:\n- Pesto [1]\n- Dune [2]")


@pytest.mark.parametrize(
    ("query", "turns", "question"),
    [
        ("how do I make the first one?", [DRINKS], "how do I make Pesto?"),
        ("the second", [DRINKS], "Dune"),
        ("第二个怎么做？", [DRINKS], "Dune怎么做？"),
        ("最后一个多少钱？", [DRINKS], "Dune多少钱？"),
        ("how do I make the third one?", [DRINKS], "how do I make the third one?"),
        # of a note that is asked about, what was asked before is not asked again
        ("how many pages?", ["Who wrote Dune?", "and its rating?"], "Dune: how many pages?"),
        ("要多久？", ["Pesto怎么做？", "盐呢？"], "Pesto 要多久？"),
        ("and New World?", ["Who made Elden Ring?", "how long?"], "New World: how long?"),
        # the one note that the answer to a selection names
        ("what does it cost?", [Turn("Which is the cheapest of my games?", "- Elden Ring — price: 9 [1]")], "what does Elden Ring cost?"),
    ],
)  # fmt: skip
def test_what_a_list_or_a_note_was_asked_before(query: str, turns: Sequence[str | Turn], question: str):
    assert after(query, *turns).question == question


OF_NOTES = "Which shows have I seen?"
FIRST = "Who joined first?"


@pytest.mark.parametrize(
    ("query", "turn", "question"),
    [
        # among several, a comparative is a superlative
        ("Which of them is cheaper?", Turn(OF_NOTES), "Which shows have I seen, Which of them is cheapest?"),
        (
            "which one is more expensive?",
            Turn(OF_NOTES),
            "Which shows have I seen, which one is most expensive?",
        ),
        ("and the older?", Turn(OF_NOTES), "Which shows have I seen, and the oldest?"),
        ("其中哪个更长？", Turn("我看过哪些剧？"), "我看过哪些剧, 其中哪个最长？"),
        (
            "Which of them has a number?",
            Turn(OF_NOTES),
            "Which shows have I seen, Which of them has a number?",
        ),
        # the one note that was the answer
        ("In which city?", Turn(FIRST, "- Lin Mei — joined: 2018 [1]"), "Lin Mei: In which city?"),
        ("多少钱？", Turn("最贵的游戏是哪个？", "- Elden Ring — price: 60 [1]"), "Elden Ring 多少钱？"),
        ("How long is it?", Turn("Which show is the best?", "- Dune — rating: 9"), "How long is Dune?"),
        # the person of the answer, and not the thing of the question
        ("When did she join?", Turn("Who owns Dune?", "Lin Mei: Dune: owner [1]"), "When did Lin Mei join?"),
        (
            "Where does he live?",
            Turn("Who wrote Pesto?", "Ann Lee, of Pesto [1]"),
            "Where does Ann Lee live?",
        ),
        ("他住哪？", Turn("Dune 是谁写的？", "Dune: Lin Mei [1]"), "Lin Mei住哪？"),
        # a day without a year stays one
        ("And the day after?", Turn("What happened on 14 March?"), "What happened on 15 March?"),
        ("前一天呢？", Turn("3月14日发生了什么？"), "3月13日发生了什么？"),
        ("and the day before?", Turn("What did I do on March 1?"), "What did I do on 29 February?"),
    ],
)
def test_what_the_answer_named_is_carried(query: str, turn: Turn, question: str) -> None:
    assert after(query, turn).question == question
