"""WhatsApp's texts of both telephones: clocks, orders of day and month, notices, files, marks without a sight."""

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentic_rag_readers.chats.messages import Thread
from agentic_rag_readers.chats.whatsapp import looks_like_whatsapp, whatsapp_thread

ANDROID = """12/05/2024, 09:14 - Messages and calls are end-to-end encrypted. Tap to learn more.
12/05/2024, 09:15 - Ines: Shall we meet at the boat house?
12/05/2024, 09:16 - Karl: Yes at seven, bring the blue tent

and the stove: please
12/05/2024, 09:17 - Karl changed the subject from "A" to "Trip: Alps"
12/05/2024, 09:20 - Ines: <Media omitted>
13/05/2024, 18:02 - +41 79 123 45 67: The ferry costs 14 francs <This message was edited>
13/05/2024, 18:03 - Karl: This message was deleted
13/05/2024, 18:04 - Karl: IMG-20240513-WA0001.jpg (Datei angehängt)
the ferry
13/05/2024, 18:05 - Karl: plan b.pdf (file attached)
"""
IOS = (
    "\u200e[12.05.24, 09:14:00] Trip: \u200eMessages and calls are end-to-end encrypted.\r\n"
    "[13.05.24, 09:15:33] ~\u202fInes: Shall we meet?\r\n"
    "\u200e[13.05.24, 09:16:01] Karl: \u200e<attached: 00000012-PHOTO-2024-05-13.jpg>\r\n"
    "\u200e[13.05.24, 09:16:02] Karl: \u200eimage omitted\r\n"
    "\u200e[13.05.24, 09:16:03] Karl: plan.pdf • \u200e2 pages \u200edocument omitted\r\n"
    "[13.05.24, 09:17:00] \u202aKarl\u202c: Seven \u200e<This message was edited>\r\n"
)


def thread(text: str) -> Thread:
    assert looks_like_whatsapp(text)
    return whatsapp_thread(text, "WhatsApp Chat with Ines")


def times(*heads: str) -> list[str]:
    found = thread("\n".join(f"{head}A: x" for head in heads)).messages
    return [f"{one.time:%Y-%m-%d %H:%M:%S}" for one in found if one.time is not None]


def test_android():
    chat = thread(ANDROID)
    assert chat.title == "Ines"
    assert chat.warning is None
    assert [(one.line, one.attachments) for one in chat.messages] == [
        ("Ines: Shall we meet at the boat house?", ()),
        ("Karl: Yes at seven, bring the blue tent\n\nand the stove: please", ()),
        ("", ("",)),
        ("+41 79 123 45 67: The ferry costs 14 francs", ()),
        ("", ()),
        ("Karl: the ferry [attached: IMG-20240513-WA0001.jpg]", ("IMG-20240513-WA0001.jpg",)),
        ("Karl: [attached: plan b.pdf]", ("plan b.pdf",)),
    ]
    assert chat.messages[0].time == datetime(2024, 5, 12, 9, 15, tzinfo=UTC)
    assert chat.messages[0].key == "09:15:00"


def test_ios():
    assert [(one.sender, one.text, one.attachments) for one in thread(IOS).messages] == [
        ("Ines", "Shall we meet?", ()),
        ("Karl", "", ("00000012-PHOTO-2024-05-13.jpg",)),
        ("Karl", "", ("",)),
        ("Karl", "", ("plan.pdf",)),
        ("Karl", "Seven", ()),
    ]
    assert thread(IOS).messages[0].time == datetime(2024, 5, 13, 9, 15, 33, tzinfo=UTC)


@pytest.mark.parametrize(
    ("head", "time"),
    [
        ("5/13/24, 9:15\u202fPM - ", "2024-05-13 21:15:00"),
        ("5/13/24, 12:15 AM - ", "2024-05-13 00:15:00"),
        ("13/5/24 9:15 p. m. - ", "2024-05-13 21:15:00"),
        ("13/05/24, 12:15 pm - ", "2024-05-13 12:15:00"),
        ("[2024/5/13 下午9:15:33] ", "2024-05-13 21:15:33"),
        ("[2024/05/13, 9:15:33] ", "2024-05-13 09:15:33"),
        ("[5/13/24, 9:15:33\u202fAM] ", "2024-05-13 09:15:33"),
        ("2024-05-13, 09:15 - ", "2024-05-13 09:15:00"),
        ("13-05-24 09:15:33: ", "2024-05-13 09:15:33"),
        ("13.05.24, 09.15 – ", "2024-05-13 09:15:00"),
    ],
)
def test_clocks_and_separators(head: str, time: str):
    assert times(head) == [time]


def test_the_order_of_day_and_month_is_that_of_the_whole_file():
    # Said by a later day, by the order of messages, then guessed by the telephone's way of writing.
    assert times("05/06/2024, 09:15 - ", "13/06/2024, 09:15 - ")[0] == "2024-06-05 09:15:00"
    assert times("05/06/2024, 09:15 - ", "05/13/2024, 09:15 - ")[0] == "2024-05-06 09:15:00"
    assert times("02/01/24, 9:15 - ", "01/02/24, 9:15 - ") == ["2024-01-02 09:15:00", "2024-02-01 09:15:00"]
    assert times("05/06/2024, 09:15 - ") == ["2024-06-05 09:15:00"]
    assert times("5/6/24, 9:15 AM - ") == ["2024-05-06 09:15:00"]
    guess = thread("05/06/2024, 09:15 - A: x").warning
    assert guess == "its dates are read as day/month/year, as no day in it is after the 12th"
    assert thread("05/05/2024, 09:15 - A: x").warning is None


def test_a_date_that_does_not_exist_costs_the_time_alone():
    found = thread("13/05/2024, 09:15 - A: x\n31/02/2024, 09:15 - A: y\n13/05/2024, 29:15 - A: z").messages
    assert [(one.line, one.time is None) for one in found] == [
        ("A: x", False),
        ("A: y", True),
        ("A: z", True),
    ]


def test_other_texts_are_none():
    others = (
        "",
        "  \n",
        "Notes of 12/05/2024",
        "12/05/2024 was fine",
        "- 12/05/2024, 09:15 - Ann: x",
        "# A\n12/05/2024, 09:15 - A: x",
    )
    assert not any(map(looks_like_whatsapp, others))


@pytest.mark.parametrize(
    ("name", "title"),
    [
        ("WhatsApp Chat with Ann Lee", "Ann Lee"),
        ("WhatsApp Chat - Ann (2)", "Ann"),
        ("WhatsApp-Chat mit Ann", "Ann"),
        ("Chat de WhatsApp con Ann", "Chat de WhatsApp con Ann"),
        ("(2)", "(2)"),
    ],
)
def test_the_title_is_that_of_the_file(name: str, title: str):
    assert whatsapp_thread("13/05/2024, 09:15 - A: x", name).title == title


def test_a_long_message_takes_linear_time():
    whole = "x . : < [ • " * 200_000 + " " * 1_000_000
    assert len(thread(f"13/05/2024, 09:15 - A: {whole}").messages[0].text) > 2_000_000


@given(st.lists(st.text("0129/.,:-[] \n\u200e\u202fapmAnn<>•下午", max_size=30), max_size=5))
def test_no_text_ends_the_reader(lines: list[str]):
    whole = "13/05/2024, 09:15 - A: x\n" + "\n".join(f"1/1/24, 1:0{line}" for line in lines)
    assert thread(whole).messages[0].sender == "A"


def test_the_notice_of_a_change_is_left_out_in_any_language():
    chat = (
        "03.05.24, 21:14 - Mara: Um acht. \u200e<Diese Nachricht wurde bearbeitet.>\n"
        "03.05.24, 21:15 - Mara: Um neun. <This message was edited>\n"
        "03.05.24, 21:16 - Mara: Siehe <b> und <Anhang B>\n"
    )
    assert [one.text for one in whatsapp_thread(chat, "x").messages] == [
        "Um acht.", "Um neun.", "Siehe <b> und <Anhang B>",
    ]  # fmt: skip
