"""Telegram's chats: texts in pieces, forwarded messages, polls, notices left out."""

from datetime import UTC, datetime
from typing import Any

from agentic_rag_readers.chats.telegram import looks_like_telegram, telegram_threads


def message(identity: int, text: Any, sender: str | None = "Mara", **more: Any) -> dict[str, Any]:
    return {
        "id": identity,
        "type": "message",
        "date": "2024-05-01T10:00:00",
        "date_unixtime": "1714550400",
        "from": sender,
        "from_id": "user1",
        "text": text,
        "text_entities": [],
        **more,
    }


def chat(*messages: Any, **more: Any) -> dict[str, Any]:
    return {"name": "Hiking", "type": "private_group", "id": 1, "messages": list(messages), **more}


def lines(*messages: Any) -> list[str]:
    (thread,) = telegram_threads(chat(*messages))
    return [one.line for one in thread.messages]


def test_one_chat():
    (thread,) = telegram_threads(
        chat(message(7, "The key is at the bakery."), {"id": 8, "type": "service", "text": ""})
    )
    (only,) = thread.messages
    assert (thread.id, thread.title, only.key, only.line) == (
        "1",
        "Hiking",
        "7",
        "Mara: The key is at the bakery.",
    )
    assert only.time == datetime(2024, 5, 1, 10, tzinfo=UTC)


def test_pieces_of_a_text_forwarding_and_polls():
    pieces = [
        "See ",
        {"type": "link", "text": "https://a.example"},
        " ",
        {"type": "bold", "text": "now"},
        3,
        None,
    ]
    poll = {"question": "Where?", "answers": [{"text": "Hut", "voters": 1}, {"text": "Lake", "voters": 0}]}
    assert lines(
        message(1, pieces),
        message(2, "At six", forwarded_from="Jon"),
        message(3, "", poll=poll),
        message(4, "Bye", None),
    ) == [
        "Mara: See https://a.example now3",
        "Mara: (forwarded from Jon) At six",
        "Mara: Where? Hut, Lake",
        "Deleted account: Bye",
    ]


def test_media_are_counted_and_named_where_the_export_names_them():
    (thread,) = telegram_threads(
        chat(
            message(1, "", photo="(File not included. Change data exporting settings to download.)"),
            message(2, "the plan", file="files/plan.pdf", file_name="plan.pdf", media_type="document"),
        )
    )
    assert [(one.line, one.attachments) for one in thread.messages] == [
        ("", ("",)),
        ("Mara: the plan [attached: plan.pdf]", ("plan.pdf",)),
    ]


def test_all_chats_of_an_account():
    saved = {"type": "saved_messages", "id": 9, "messages": [message(1, "note")]}
    account = {
        "about": "Here is the data you requested.",
        "chats": {"about": "", "list": [chat(message(1, "x")), saved, "broken"]},
        "left_chats": {"list": [chat(message(1, "y"), name="Old", id=2)]},
    }
    assert looks_like_telegram(account)
    assert [(thread.id, thread.title) for thread in telegram_threads(account)] == [
        ("1", "Hiking"),
        ("9", "saved messages"),
        ("2", "Old"),
    ]


def test_missing_fields_and_other_json():
    assert looks_like_telegram(chat())
    assert lines({"date": "x", "text": None}, "text") == ["", ""]
    others: list[object] = [
        [],
        {},
        {"messages": []},
        chat({"role": "user", "content": "x"}),
        {"chats": []},
        7,
    ]
    assert not any(map(looks_like_telegram, others))


def test_places_contacts_and_checklists():
    contact = {"first_name": "Gustav", "last_name": "Rahn", "phone_number": "+49 1"}
    written = chat(
        message(1, "", contact_information=contact),
        message(2, "", location_information={"latitude": 1}, place_name="Pier Nine", address="Quay 4"),
        message(3, "", todo_list={"title": "Pack", "items": [{"id": 1, "text": "oars"}, {"id": 2, "text": "rope"}]}),
        message(4, "", location_information={"latitude": 1}),
    )  # fmt: skip
    (thread,) = telegram_threads(written)
    assert [one.line for one in thread.messages] == [
        "Mara: Gustav Rahn +49 1", "Mara: Pier Nine Quay 4", "Mara: Pack oars, rope", "",
    ]  # fmt: skip
    assert [len(one.attachments) for one in thread.messages] == [0, 0, 0, 1]
