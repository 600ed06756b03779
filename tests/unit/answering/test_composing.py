"""The form of an answer: the unit that is to the point, or the list, steps or section that is asked for."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from agentic_rag.answering.composing import compose_answer, of_notes, that_can_answer
from agentic_rag.answering.evidence import score_units
from agentic_rag.answering.forms.lines import MAX_LINES, ComposedAnswer
from agentic_rag.answering.source_notes import note_of_chunks, source_notes
from agentic_rag.ingest.chunking import chunk_document
from agentic_rag.questions.question import Question
from agentic_rag_readers.chats.messages import Message, parse_day
from retrieved import NOTES, chunks_of, documents_of, results_of
from word_counts import count_words


def answer_of(question: str, notes: dict[str, str]) -> ComposedAnswer:
    documents = documents_of(*notes, notes=notes)
    results = results_of(documents)
    read = Question.of(question)
    units = score_units(read, source_notes(results, [0.9] * len(results), documents))
    return compose_answer(read, that_can_answer(read, units))


def texts(question: str, **notes: str) -> list[str]:
    return [
        line.text for line in answer_of(question, {f"{name}.md": text for name, text in notes.items()}).lines
    ]


PESTO = NOTES["Pesto.md"]
BOLD = "# Coffee\n\n- Espresso\n  - 18 g\n  - 30 s\n- Filter\n  - 60 g\n"


@pytest.mark.parametrize(
    ("question", "note", "expected"),
    [
        # steps in order, whole
        ("How do I make pesto?", PESTO, ["1. Wash the basil", "2. Grind it", "3. Add oil"]),
        ("pesto怎么做？", PESTO, ["1. Wash the basil", "2. Grind it", "3. Add oil"]),
        (
            "How do I clean the mill?",
            "# Mill\n\n## How to clean the mill\n\n### 1. Open it\n\nUse a key.\n\n### 2. Brush it\n\nSlowly.\n",
            ["1. Open it", "2. Brush it"],
        ),
        # a list, whole
        ("Which ingredients are in pesto?", PESTO, ["- basil", "- oil"]),
        ("What is on the shopping list?", NOTES["Shopping.md"], ["- milk", "- eggs", "- yeast"]),
        # below an item
        ("What of espresso?", BOLD, ["- Espresso: 18 g", "- Espresso: 30 s"]),
        # under a heading
        ("How do I restart the mail server?", NOTES["Snippet.md"], ["systemctl restart postfix"]),
        ("boat name", "# Name of the boat\n\nSeeschwalbe\n", ["Seeschwalbe"]),
        # headings below the one that is asked for
        ("Which sections has the guide?", "# Guide\n\n## Start\n\nA b c d.\n\n## End\n\nE f g h.\n", ["- Start", "- End"]),
        # a definition
        ("What is oolong?", "Oolong grows fast. Oolong is a tea.\n", ["Oolong is a tea."]),
        ("什么是萎凋？", "萎凋需要时间。萎凋是失水的过程。\n", ["萎凋是失水的过程。"]),
        # a sentence is kept though the next one points back to it
        ("What is Lu Yu?", "Lu Yu is a writer. He lived long.\n", ["Lu Yu is a writer."]),
    ],
)  # fmt: skip
def test_the_form_that_is_asked_for(question: str, note: str, expected: list[str]):
    assert texts(question, Note=note) == expected


SHED = "---\nkind: hut\nbuilt: 2011\nkey: hook 4\n---\n# Shed\n\nBehind the house.\n\n## Opening up\n\nLift the bolt. Push hard.\n"
CAT = "---\ncolour: grey\nage: 9\n---\n"
VALVES = "# Valves\n\n## Opening\n1. Turn left\n2. Wait\n\n## Draining the valves\n```sh\ndrain --all\n```\n"


@pytest.mark.parametrize(
    ("question", "title", "note", "expected"),
    [
        # a thing or person whose note says in properties what it is
        ("What is the Shed?", "Shed", SHED, ["Behind the house.", "Shed: kind: hut; built: 2011; key: hook 4"]),
        ("Who is Mog Tibb?", "Mog Tibb", CAT, ["Mog Tibb: colour: grey; age: 9"]),
        ("Who is Mog?", "Mog Tibb", CAT, ["Mog Tibb: colour: grey; age: 9"]),
        ("Mog是谁？", "Mog Tibb", f"{CAT}Sleeps.\n", ["Mog Tibb: colour: grey; age: 9", "Sleeps."]),
        # steps that a paragraph tells, and code under its own heading beside a list of other steps
        ("How do I lift the bolt?", "Shed", SHED, ["Lift the bolt.", "Push hard."]),
        ("How do I drain the valves?", "Valves", VALVES, ["drain --all"]),
        # what answers a question of the note
        ("Do we need a permit?", "Pier", "# Pier\n\nQ: Do we need a permit?\nA: Only in summer.\n", ["Pier: A: Only in summer."]),
    ],
)  # fmt: skip
def test_what_a_note_says_of_itself_and_of_how_it_is_done(
    question: str, title: str, note: str, expected: list[str]
):
    assert texts(question, **{title: note}) == expected


@pytest.mark.parametrize(
    ("question", "form"),
    [
        ("Which oven bakes hotter, Smeg or Aga?", "compare"),
        ("Is the Smeg cheaper than the Aga?", "compare"),
        ("Is the Smeg cheaper than 900?", "yesno"),
    ],
)
def test_two_things_that_are_set_side_by_side(question: str, form: str):
    assert Question.of(question).form == form


def test_both_sides_of_a_comparison():
    both = texts("compare the rating of Dune and Emma", Dune=NOTES["Dune.md"], Emma=NOTES["Emma.md"])
    assert sorted(both) == ["Dune: rating: 5", "Emma: rating: 4"]


GAMES = {
    "Ada": "---\nname: Ada\nmaker: Kiln\nprice: 9\nstore: Web\n---\n\nText.\n",
    "Bol": "---\nname: Bol\nmaker: Loom\nprice: 20\nstore: Web\n---\n\nText.\n",
}


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("compare Ada and Bol", ["Ada: maker: Kiln; price: 9", "Bol: maker: Loom; price: 20"]),
        ("Ada 和 Bol 有什么区别？", ["Ada: maker: Kiln; price: 9", "Bol: maker: Loom; price: 20"]),
        ("Which is cheaper, Ada or Bol?", ["Ada: maker: Kiln; price: 9", "Bol: maker: Loom; price: 20"]),
        ("What is the price of Ada and of Bol?", ["Ada: price: 9", "Bol: price: 20"]),
        ("compare the price of Ada and Bol", ["Ada: price: 9", "Bol: price: 20"]),
    ],
)
def test_notes_side_by_side(question: str, expected: list[str]):
    assert sorted(texts(question, **GAMES)) == expected


def test_notes_without_shared_properties_side_by_side():
    both = texts("What is the difference between Oak and Ash?", Oak="Oak is hard.\n", Ash="Ash bends well.\n")
    assert sorted(both) == ["Ash: Ash bends well.", "Oak: Oak is hard."]


def test_a_block_is_cited_as_a_whole_and_other_lines_by_themselves():
    lines = answer_of("What is on the shopping list?", {"Shopping.md": NOTES["Shopping.md"]}).lines
    assert {(line.start, line.end) for line in lines} == {(lines[0].start, lines[0].end)}
    plain = lines[0].to_dict()
    assert (plain["quote"], plain["heading_path"]) == ("milk\n- eggs\n- yeast", ["Shopping list"])
    assert {
        "chunk_id",
        "document_id",
        "path",
        "title",
        "start",
        "end",
        "score",
        "url",
        "page",
        "region",
    } <= set(plain)


LONG = MAX_LINES + 9


@pytest.mark.parametrize(
    ("question", "note"),
    [
        (
            "What is on the shopping list?",
            "# Shopping list\n\n" + "".join(f"- item {n}\n" for n in range(LONG)),
        ),
        (
            "What is left to do in Shopping?",
            "# Shopping\n\n" + "".join(f"- [ ] item {n}\n" for n in range(LONG)),
        ),
        (
            "Which items are in the red box?",
            "# Shopping\n\n| item | box |\n|---|---|\n"
            + "".join(f"| item {n} | red |\n" for n in range(LONG)),
        ),
    ],
    ids=["list", "tasks", "rows"],
)
def test_of_a_long_list_it_is_said_how_much_is_not_shown(question: str, note: str) -> None:
    answer = answer_of(question, {"Shopping.md": note})
    assert len(answer.lines) == MAX_LINES
    assert answer.tail == "… and 9 more"


def test_an_answer_stops_where_the_question_is_answered():
    note = "# Ferry\n\nThe ferry leaves at nine.\n\nThe crew is small. The sea is grey. Bread is sold.\n"
    assert texts("When does the ferry leave?", Ferry=note) == ["The ferry leaves at nine."]


@pytest.mark.parametrize(
    ("note", "expected"),
    [
        ("The pump is a Lowara. It was fitted in 2011.\n", "The pump is a Lowara. It was fitted in 2011."),
        (
            "Das Rad ist grün. Es wurde 2011 in Kiel gekauft und fitted.\n",
            "Das Rad ist grün. Es wurde 2011 in Kiel gekauft und fitted.",
        ),
        ("The pump is old. We had it fitted in 2011.\n", "We had it fitted in 2011."),
        ("- The pump is a Lowara.\n- It was fitted in 2011.\n", "Pump: It was fitted in 2011."),
    ],
    ids=["it", "es", "names it itself", "an item is alone"],
)
def test_a_sentence_that_speaks_of_the_one_before_is_shown_with_it(note: str, expected: str) -> None:
    assert expected in texts("When was it fitted?", Pump=note)


RULES = """# Workshop

Never bring into the paint room:

- open flames
- food or drink

A fine of 20 € is due for:

1. smoking
2. leaving the saw on

There are four rooms:

- saw room
- paint room
- office
- store
"""


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("Can I take food into the paint room?", ["Never bring into the paint room: food or drink"]),
        ("What is the fine for smoking?", ["A fine of 20 € is due for: smoking"]),
        ("How many rooms does the workshop have?", ["There are four rooms:"]),
        ("How many rooms are there in total in the workshop?", ["There are four rooms:"]),
    ],
)
def test_an_item_is_shown_behind_the_line_that_introduces_its_list(
    question: str, expected: list[str]
) -> None:
    assert texts(question, Workshop=RULES) == expected


DEPLOY = """# Building a feature

## 1. Plan

Talk about it early.

## 2. Deploy

We deploy the app by hand. Later a pipeline will do it, and it will:

- run the tests
- block a merge

If a deploy breaks the app, revert first. The log says why.

**Angry clients.** Stay calm. Say what comes next. Call a manager.

1. Mark the message of the client
2. Star it
"""


HANDBOOK = """# Boat club

## Winter

The harbour has a few house rules. They keep the place tidy.

The house rules are:

- close the gate
- log each trip

What I mended:

- the rudder
- two sails

## Meeting of the crew

### Cadence

Monthly

### Purpose

Members discuss the state of the boats.

## Alarm AB-7

The alarm AB-7 rings often in spring. It stops by itself.

1. Look at the pump
2. Empty the filter

## Insurers

We compared in May.

| Insurer | Premium |
| --- | --- |
| Nordlicht | 480 |
| Kompass | 510 |

## Terms

Skippers
: See Skipper.

Skipper
: Whoever steers the boat.

*Ownership* implies paying for the boat.
*Membership* implies sailing the boat.

An owner may have a membership, and membership brings no ownership.
"""


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("How many house rules do we have?", ["The house rules are:", "- close the gate", "- log each trip"]),
        ("What did I mend?", ["What I mended:", "- the rudder", "- two sails"]),
        ("How often is the meeting of the crew?", ["Cadence: Monthly"]),
        ("How do I deal with the alarm AB-7?", ["1. Look at the pump", "2. Empty the filter"]),
        (
            "Which insurers did we compare?",
            ["Insurer: Nordlicht · Premium: 480", "Insurer: Kompass · Premium: 510"],
        ),
        ("What is a skipper?", ["Skipper: Whoever steers the boat."]),
        (
            "What is the difference between ownership and membership?",
            [
                "Handbook: Ownership implies paying for the boat.",
                "Handbook: Membership implies sailing the boat.",
            ],
        ),
    ],
)
def test_what_stands_over_a_list_a_table_or_a_bare_value_gives_it_meaning(
    question: str, expected: list[str]
) -> None:
    assert texts(question, Handbook=HANDBOOK) == expected


KENNEL = """# Kennel

## Rex (born 2019)

- one tablet each morning
- weighs 31 kg

## Bella

- drops twice a day with food
- weighs 12 kg

## Offers for the fence

| Firm | Price |
| --- | --- |
| Zaun & Co | 1500 € |
| Holzer | 2300 € |

The fence was 1200 € and the gate 300 €, 1500 € in total.

## Log

- 2025-03-02 wormed
- 2025-09-14 wormed
- 2026-03-08 wormed; the next worming is on 2026-09-01
- 2026-04-02 bath
"""


@pytest.mark.parametrize(
    ("question", "first"),
    [
        ("How much does Bella weigh?", "weighs 12 kg"),
        ("What does Rex take each day?", "one tablet each morning"),
        ("How much was the fence in total?", "The fence was 1200 € and the gate 300 €, 1500 € in total."),
        ("When were they wormed the last time?", "2026-03-08 wormed; the next worming is on 2026-09-01"),
        ("When were they first wormed?", "2025-03-02 wormed"),
        ("When is the next worming?", "2026-03-08 wormed; the next worming is on 2026-09-01"),
        ("How many times were they wormed?", "3 entries:"),
    ],
)
def test_the_section_the_sum_and_the_time_that_are_asked_for(question: str, first: str) -> None:
    answer = answer_of(question, {"Kennel.md": KENNEL})
    shown = answer.head or answer.lines[0].text
    assert first in shown


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        (
            "What will the pipeline do?",
            ["Later a pipeline will do it, and it will:", "- run the tests", "- block a merge"],
        ),
        (
            "What to do if a deploy breaks the app?",
            ["If a deploy breaks the app, revert first.", "The log says why."],
        ),
        (
            "How do we deal with angry clients?",
            [f"Angry clients: {one}." for one in ("Stay calm", "Say what comes next", "Call a manager")],
        ),
    ],
)
def test_what_is_done_in_a_case_and_what_a_sentence_leads_to(question: str, expected: list[str]) -> None:
    assert [line for line in texts(question, Feature=DEPLOY) if line in expected] == expected
    assert "1. Plan" not in texts(question, Feature=DEPLOY)


@pytest.mark.parametrize(
    "paragraph",
    [
        "The first task is about learning how we work. Small and boring is perfect. Ask a lot.",
        "Small and boring is perfect. A large one hides how we work. Ask a lot.",
    ],
)
def test_what_stands_beside_it_may_say_why(paragraph: str) -> None:
    answer = " ".join(texts("Why is small and boring perfect?", Tasks=f"# Tasks\n\n{paragraph}\n"))
    assert "how we work" in answer


def test_the_address_of_a_note_answers_only_what_asks_for_it() -> None:
    note = "---\npermalink: /running-pack/\n---\n# Pack\n\n- Weight - 9 oz\n"
    assert not any("permalink" in line for line in texts("What is the running pack like?", Pack=note))
    assert texts("What is the permalink of the pack?", Pack=note) == ["permalink: /running-pack/"]


def test_a_text_of_two_notes_is_shown_once() -> None:
    rule = "# {}\n\nThe lift is closed for goods.\n"
    assert texts("Is the lift closed on Mondays?", Rules=rule.format("Rules"), Copy=rule.format("Copy")) == [
        "The lift is closed for goods."
    ]


@pytest.mark.parametrize(
    "headings", [("Article 1", "Article 2"), ("第一条", "第二条"), ("Q1: May I?", "Q2: How?")]
)
def test_headings_that_name_nothing_are_no_list(headings: tuple[str, str]) -> None:
    note = "# House rules\n\n" + "".join(f"## {one}\n\nNo dogs in the hall.\n\n" for one in headings)
    assert not any(line.startswith("- ") for line in texts("Which house rules are there?", Rules=note))


def test_without_candidates_there_is_no_answer():
    assert compose_answer(Question.of("What is Dune?"), []) == ComposedAnswer()


def test_notes_by_their_date_with_what_each_says():
    notes = {
        "2024-03-15.md": "Cleaned the chimney.\n",
        "2024-03-14.md": "---\nmood: 3\n---\nWalked.\n",
        "empty.md": "#tag\n",
    }
    read = [note_of_chunks(chunks_of(path, text)) for path, text in notes.items()]
    assert [line.text for line in of_notes(read).lines] == [
        "2024-03-14: Walked.",
        "2024-03-15: Cleaned the chimney.",
    ]
    assert of_notes([]) == ComposedAnswer()
    properties = note_of_chunks(chunks_of("2024-03-16.md", "---\nmood: 3\n---\n"))
    assert [line.text for line in of_notes([properties]).lines] == ["mood: 3"]


PEOPLE = {
    "Ann Lee": "---\nborn: 1986\n---\n\nSecond lead of the circle.\n\nA nurse before.\n",
    "Bo": "Bo is no relation of Ann Lee. Ann Lee met Bo.\n",
}


@pytest.mark.parametrize("question", ["Who is Ann Lee?", "who was Ann Lee", "Ann Lee是谁？"])
def test_a_person_is_told_by_their_own_note(question: str):
    assert texts(question, **PEOPLE) == ["Second lead of the circle."]


def test_each_sentence_of_a_message_says_who_wrote_it_and_when():
    at = datetime(2024, 6, 2, 10, 2, tzinfo=UTC)
    messages = (
        Message("1", "Ann", at, "The boat is launched! The boat leaks at the stern."),
        Message("2", "Ben", None, "The boat has no stern."),
    )
    document = parse_day("whatsapp/Sailing/2024-06-02", "Sailing.zip", "Sailing", messages, None)
    chunks = chunk_document(document, max_tokens=60, count_tokens=count_words)
    documents = {document.id: list(chunks)}
    read, results = Question.of("What of the boat?"), results_of(documents)
    answer = compose_answer(read, score_units(read, source_notes(results, [0.9] * len(results), documents)))
    assert {line.text for line in answer.lines} == {
        "Ann (2 June 2024, 10:02): The boat is launched!",
        "Ann (2 June 2024, 10:02): The boat leaks at the stern.",
        "Ben: The boat has no stern.",
    }
    assert {line.to_dict()["quote"] for line in answer.lines} == {
        "Ann: The boat is launched!",
        "The boat leaks at the stern.",
        "Ben: The boat has no stern.",
    }
