"""Front ends' own prompts, in the forms in which they send them; the wordings are ours."""

from __future__ import annotations

import json
from contextlib import suppress

import pytest

from agentic_rag_service.openai.background import MAX_TITLE, background_answer, title
from agentic_rag_service.openai.conversation import Turn
from agentic_rag_service.openai.parameters import UnsupportedParameter
from growth import assert_linear

QUESTION = "What does shading do to theanine?"
CHAT = f"USER: {QUESTION}\nASSISTANT: It keeps it high. [1]"


def _open_webui(output: str, *, history: str = CHAT, end: str = "") -> list[Turn]:
    """One message of the user: the task, the JSON object to return, the transcript."""
    text = f"### Task:\nDo it.\n### Output:\nJSON: {output}\n### Chat History:\n<chat_history>\n{history}\n</chat_history>{end}"
    return [Turn("user", text)]


def _with_system(system: str, text: str) -> list[Turn]:
    """A system prompt and one message of the user."""
    return [Turn("system", system), Turn("user", text)]


@pytest.mark.parametrize(
    ("output", "answer"),
    [
        ('{ "title": "a title" }', {"title": QUESTION}),
        ('{ "tags": ["tag1", "tag2"] }', {"tags": []}),
        ('{ "follow_ups": ["Question 1?"] }', {"follow_ups": []}),
        ('{\n  "queries": ["query1"]\n}', {"queries": [QUESTION]}),
        ('{"text": "<completion>"}', {"text": ""}),
    ],
)
def test_open_webui_gets_the_object_that_its_prompt_names(output: str, answer: dict[str, object]) -> None:
    found = background_answer(_open_webui(output, end="\n<type>General</type>\n<text>What</text>"))
    assert found is not None
    assert json.loads(found) == answer


def test_open_webui_is_told_to_call_no_tool() -> None:
    turns = _with_system('Choose tools: { "tool_calls": [{"name": "search"}] }', f"Query: {QUESTION}")
    assert background_answer(turns) == '{"tool_calls": []}'


def test_the_conversation_does_not_choose_the_object() -> None:
    history = 'USER: Explain { "tags": [] }\nASSISTANT: No.'
    found = background_answer(_open_webui('{ "title": "…" }', history=history))
    assert found == '{"title": "Explain { \\"tags\\": [] }"}'


def test_the_last_question_is_the_query() -> None:
    history = f"{CHAT}\nUSER: And to\ncatechins?\nASSISTANT: Less."
    found = background_answer(_open_webui('{ "queries": [] }', history=history))
    assert found == '{"queries": ["And to\\ncatechins?"]}'
    assert background_answer(_open_webui('{ "queries": [] }', history=" ")) == '{"queries": []}'


def test_lobe_chat_gets_a_title() -> None:
    transcript = f"user: {QUESTION}\nassistant: It keeps it high."
    assert background_answer(_with_system("Output ONLY the title text.", transcript)) == QUESTION
    assert background_answer(_with_system("用十个字写一个标题", transcript)) == QUESTION
    tagged = f"<conversation>\n<user>\n{QUESTION}\n</user>\n<assistant>\nHigh.\n</assistant>\n</conversation>"
    assert (
        background_answer(_with_system("Output ONLY the title text.", f"<task>Do it.</task>\n{tagged}"))
        == QUESTION
    )


ASKED = [Turn("user", QUESTION), Turn("assistant", "It keeps it high. [1]")]
NAMED = f"Name this conversation in at most 10 characters, no quotes.\n\n```\n{QUESTION}\n---\nHigh.\n```"


@pytest.mark.parametrize(
    "turns",
    [
        [*ASKED, Turn("user", "Write a title of four to five words for our conversation, no punctuation.")],
        [*ASKED, Turn("user", "用四到五个字概括这段对话的主题，不要标点")],
        [
            Turn(
                "user",
                f"A title for the conversation, 5 words or less.\n\nConversation:\nUser: {QUESTION}\nAI: High.",
            )
        ],
        [Turn("user", NAMED)],
        [Turn("user", f"Title this chat, topic first, max 6 words:\nHuman: {QUESTION}\nAssistant: High.")],
        _with_system(
            "Make a 10-word title of the given session.",
            json.dumps([{"role": "user", "mainText": QUESTION}, {"role": "assistant", "mainText": "High."}]),
        ),
        _with_system("把给定的对话变成一个10字以内的标题。", f"user: {QUESTION}\nassistant: High."),
        _with_system(
            f"A title for this conversation in 5 words.\n||>User:\n{QUESTION}\n||>Response:\nHigh.", "Now"
        ),
    ],
)
def test_a_request_for_a_title_gets_the_beginning_of_the_first_question(turns: list[Turn]) -> None:
    assert background_answer(turns) == QUESTION


def test_a_request_for_a_title_of_nothing_is_refused() -> None:
    with pytest.raises(UnsupportedParameter, match="choose another model"):
        background_answer([Turn("user", "Write a title of five words for this conversation.")])


@pytest.mark.parametrize(
    "turns",
    [
        _with_system("Translate the text to zh-CN. Output ONLY the translated text.", "Green tea"),
        _with_system("Summarise what is between the tags.", f"<chat_history>{CHAT}</chat_history>"),
        _with_system(f"Make one question of it.\n<chatHistory>\n{CHAT}\n</chatHistory>", "Follow up: why?"),
        _with_system("Summarise the conversation.", CHAT),
        [
            *_with_system("Which language?", "{hello}"),
            Turn("assistant", "en-US"),
            Turn("user", "{茶\nand tea}"),
        ],
        [
            *_with_system("Name it.", "输入: {a cook} [zh-CN]"),
            Turn("assistant", "厨师"),
            Turn("user", "输入: {tea} [en-US]"),
        ],
        _open_webui('{ "prompt": "a picture" }'),
        _open_webui("a text"),
    ],
)
def test_what_does_not_follow_from_the_conversation_is_refused(turns: list[Turn]) -> None:
    with pytest.raises(UnsupportedParameter, match="choose another model for such tasks") as error:
        background_answer(turns)
    assert error.value.param == "messages"


@pytest.mark.parametrize(
    "turns",
    [
        [Turn("user", QUESTION)],
        [Turn("user", 'What is { "title": "x" } in my notes?')],
        [Turn("user", "What is <chat_history>?")],
        _with_system("You are a tea master. Give every answer a title.", QUESTION),
        _with_system("Translate terms where needed.", QUESTION),
        _with_system("Output only what you know.", QUESTION),
        [Turn("user", "user: and assistant: in a chat")],
        [Turn("user", "What is the name of the speaker, and what did the session last, in 3 words?")],
        [Turn("user", "Give me the title of the talk on gyokuro in five words.")],
        [*ASKED, Turn("user", "What was the topic of the discussion with Lin Mei?")],
        [*ASKED, Turn("user", "Which name did our conversation not mention? Answer in 5 words.")],
        [Turn("user", "{{title}} in a template")],
        [Turn("user", "{tea}")],
        [*_with_system("Be brief.", "{tea}"), Turn("assistant", "Tea."), Turn("user", QUESTION)],
        [Turn("user", "Hi"), Turn("assistant", "Hello"), *_open_webui('{ "title": "x" }')],
    ],
)
def test_a_question_of_the_user_is_none_of_them(turns: list[Turn]) -> None:
    assert background_answer(turns) is None


@pytest.mark.parametrize(
    ("transcript", "expected"),
    [
        ("", ""),
        ("ASSISTANT: Hello", "ASSISTANT: Hello"),
        ("user:\n\n  many   spaces\nsecond line", "many spaces"),
        ("user: " + "word " * 30, "word word word word word word word word word…"),
        ("user: " + "茶" * 80, "茶" * (MAX_TITLE - 1) + "…"),
    ],
)
def test_a_title_is_the_users_first_line(transcript: str, expected: str) -> None:
    assert title(transcript) == expected
    assert len(title(transcript)) <= MAX_TITLE


NAMING = "Name this conversation in at most 10 characters."


@pytest.mark.parametrize(
    ("piece", "form"),
    [
        ("a", "{}"),
        ("<conversation>", "{}"),
        ("<user>", "<conversation>{}</conversation>\nGive it a title."),
        ("7", f"{NAMING}\n{{}}"),
        ("七", f"{NAMING}\n{{}}"),
        ("`", f"{NAMING}\n{{}}"),
        ("?a", f"{NAMING} {{}}"),
    ],
)
def test_a_long_prompt_is_recognised_in_linear_time(piece: str, form: str) -> None:
    def answers(text: str) -> None:
        for turns in (_with_system(form.format(text), "What is tea?"), [Turn("user", form.format(text))]):
            with suppress(UnsupportedParameter):
                background_answer(turns)

    assert_linear(answers, piece)


def test_deep_brackets_are_no_transcript() -> None:
    assert background_answer(_with_system(NAMING, "[" * 100_000)) == title("[" * 100_000)


def test_the_first_closed_transcript_counts() -> None:
    text = "<conversation>\n<chat_history>\nuser: One\n</CHAT_HISTORY>\nGive it a title."
    assert background_answer([Turn("user", text)]) == "One"
