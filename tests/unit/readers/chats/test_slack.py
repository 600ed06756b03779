"""Slack's messages with names for ids, and what Slack shows for its marks."""

from datetime import UTC, datetime
from typing import Any

from agentic_rag_readers.chats.slack import DAY_FILE, Names, looks_like_slack, slack_thread

USERS = [
    {
        "id": "U1",
        "team_id": "T1",
        "name": "ann",
        "real_name": "Ann Lee",
        "profile": {"display_name": "annie"},
    },
    {"id": "U2", "name": "bob", "profile": {"real_name": "", "display_name": "Bob"}},
]
NAMES = Names.of({"users.json": USERS, "dms.json": [{"id": "D1", "members": ["U1", "U2", "U9"]}]}.get)


def message(text: str, user: str | None = "U1", **more: Any) -> dict[str, Any]:
    return {"type": "message", "user": user, "text": text, "ts": "1714550000.000100", **more}


def lines(*messages: Any) -> list[str]:
    return [one.line for one in slack_thread(list(messages), "general", NAMES).messages]


def test_a_day_of_a_channel():
    thread = slack_thread(
        [message("The server moves"), message("joined", subtype="channel_join")], "general", NAMES
    )
    (only,) = thread.messages
    assert (thread.id, thread.title, only.key, only.line) == ("T1/general", "general", "1714550000.000100", "Ann Lee: The server moves")  # fmt: skip
    assert only.time == datetime(2024, 5, 1, 7, 53, 20, 100, tzinfo=UTC)
    assert slack_thread([], "D1", NAMES).title == "Ann Lee and Bob and U9"
    assert slack_thread([], "general", Names()).id == "general"


def test_marks_are_read_as_slack_shows_them():
    text = "<@U2> <@U9|zed> <@U8> <#C1|random> <!here> <https://a.example|the site> <https://b.example> a &lt; b &amp; c < d"
    assert lines(message(text)) == [
        "Ann Lee: @Bob @zed @U8 #random @here the site (https://a.example) https://b.example a < b & c < d"
    ]


def test_programs_replies_and_files():
    assert lines(
        message("", None, subtype="bot_message", username="CI", attachments=[{"fallback": "Build 7 failed"}]),
        message("yes", "U3", thread_ts="1714540000.1", user_profile={"real_name": "Cy"}),
        message("the plan", files=[{"id": "F", "name": "plan.pdf", "url_private": "https://x"}]),
    ) == ["CI: Build 7 failed", "Cy: yes", "Ann Lee: the plan [attached: plan.pdf]"]


def test_missing_fields_and_other_json():
    assert looks_like_slack([{"type": "message", "ts": "1"}, 3])
    assert not any(map(looks_like_slack, ([], {}, [{"ts": "1"}], [{"type": "message"}])))
    assert lines({"type": "message", "ts": None}, "text", {"subtype": None, "text": 7}) == ["", "", "7"]
    assert Names.of({"users.json": [3, {}], "dms.json": [{"id": "D"}]}.get).channels == {}


def test_a_day_file_is_known_by_its_path():
    day = DAY_FILE.fullmatch("export/general/2024-05-01.json")
    assert day is not None
    assert (day["base"], day["channel"]) == ("export/", "general")
    assert DAY_FILE.fullmatch("2024-05-01.json") is None


def test_words_in_blocks_and_attachments_alone():
    rich = {
        "type": "rich_text",
        "elements": [
            {
                "type": "rich_text_section",
                "elements": [{"type": "text", "text": "Ask "}, {"type": "user", "user_id": "U2"}, {"type": "link", "url": "https://a.example"}],
            },
            {"type": "rich_text_list", "elements": [{"type": "rich_text_section", "elements": [{"type": "text", "text": "oars"}]}]},
        ],
    }  # fmt: skip
    section = {"type": "section", "text": {"type": "mrkdwn", "text": "Disk"}, "fields": [{"type": "mrkdwn", "text": "full"}]}  # fmt: skip
    posted = {"fallback": "Build 88 failed", "title": "Build 88", "text": "failed", "fields": [{"title": "Branch", "value": "heron"}]}  # fmt: skip
    assert lines(
        message("", blocks=[rich]),
        message("", None, username="CI", blocks=[section]),
        message("", None, username="CI", attachments=[posted]),
        message("see", attachments=[{"title": "A page", "text": "its words"}], blocks=[rich]),
    ) == [
        "Ann Lee: Ask @Bobhttps://a.example\noars",
        "CI: Disk\nfull",
        "CI: Build 88\nfailed\nBranch: heron",
        "Ann Lee: see\nA page\nits words",
    ]
