from __future__ import annotations

import pytest

from agentic_rag.memory.reading.instructions import how_tos, instruction

TOLD = [
    ("Always include units when I ask for measurements.", "when I ask for measurements"),
    ("Include units when I ask for measurements.", "when I ask for measurements"),
    ("Weave in a quote whenever I ask for advice.", "whenever I ask for advice"),
    ("Whenever I ask about deadlines, format dates in month-day-year style.", "Whenever I ask about deadlines"),
    ("When I share code, review it for security issues first.", "When I share code"),
    ("If I mention a date, please convert it to ISO format.", "If I mention a date"),
    ("Every time I ask about recipes, I want you to include calories.", "Every time I ask about recipes"),
    ("Use emojis sparingly in every reply.", "in every reply"),
    ("Make sure to cite your sources.", ""),
    ("From now on, use metric units.", ""),
    ("Keep answers under 100 words from now on.", ""),
    ("Never use emojis.", ""),
    ("每次我问价格时，都请给出人民币。", "每次我问价格时"),
    ("如果我问菜谱，请列出热量。", "如果我问菜谱"),
    ("以后请用中文回答。", ""),
    ("从现在开始，不要用表情符号。", ""),
]  # fmt: skip

NOT_TOLD = """
    Include the totals in the table.
    Use the second option.
    Remember to add milk to the list.
    Never mind.
    Always happy to help!
    I always forget names.
    I never use emojis when I write.
    If I run the tests, they fail.
    If I add a loop, performance drops.
    When I run this, Python throws an error.
    When I was a child, I lived in Rome.
    Every time I log in, the app crashes.
    The app crashes when I ask for a refund.
    It helps when I ask for advice.
    Make sure to check this code.
    From now on I live in Oslo.
    每次我登录都会崩溃。
    当我小的时候，我住在上海。
    以后我想住在上海。
""".strip().splitlines()


@pytest.mark.parametrize(("sentence", "trigger"), TOLD)
def test_standing_instructions(sentence: str, trigger: str) -> None:
    found = instruction(sentence, 7)
    assert found is not None
    assert (found.start, found.end, found.trigger) == (7, 7 + len(sentence), trigger)


@pytest.mark.parametrize("sentence", [line.strip() for line in NOT_TOLD])
def test_no_standing_instruction(sentence: str) -> None:
    assert instruction(sentence, 0) is None


def test_how_tos() -> None:
    text = "Hi.\n\nTo deploy the app:\n1. Run make build\n2. Push it\n\n## How to reset\n- Unplug\n- Wait\n\nThings:\n- milk\n- eggs\n"
    found = list(how_tos(text))
    assert [(one.trigger, one.steps) for one in found] == [
        ("To deploy the app", ("Run make build", "Push it")),
        ("How to reset", ("Unplug", "Wait")),
    ]
    assert text[found[0].start : found[0].end] == "To deploy the app:\n1. Run make build\n2. Push it"


def test_how_tos_in_chinese() -> None:
    (found,) = how_tos("如何重置路由器：\n第一步：拔掉电源\n第二步：等待\n")
    assert (found.trigger, found.steps) == ("如何重置路由器", ("拔掉电源", "等待"))


@pytest.mark.parametrize(
    "text",
    [
        "",
        "How to reset:",
        "How to reset:\n- Unplug",
        "- a\n- b",
        "How I met her.\nI ran.",
        "How to run:\n**Day 1**\n**Day 2**",
        "How to pay:\n1.5 euros\n2.5 euros",
    ],
)
def test_no_how_to(text: str) -> None:
    assert list(how_tos(text)) == []
