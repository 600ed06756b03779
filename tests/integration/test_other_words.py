"""Questions in other words than the notes': the line that means it, or, where nothing tells that it does, the nearest lines."""

from __future__ import annotations

import logging
from pathlib import Path
from unittest.mock import AsyncMock, patch

import pytest
from typer.testing import CliRunner

from agentic_rag import Answer, RagConfig, open_rag
from agentic_rag.cli.app import app
from agentic_rag.errors import ModelError
from asked_vaults import asked, stored

VAULT = {
    "Bees/Hive care.md": "# Hive care\n\nFeed sugar syrup in spring. Spray vinegar to keep wasps away. Paint the boxes every third year.\n\n"
    "How I open a hive:\n1. Light the smoker\n2. Puff at the entrance\n3. Lift the lid slowly\n",
    "Bees/Honey 2024.md": "# Honey 2024\n\nThe extractor stayed at Olga's because ours broke its crank. We got 31 kg.\n",
    "People/Olga Brandt.md": "# Olga Brandt\n\nKeeps twelve hives near the mill. Lends us her truck.\n",
    "Reise/Fähre.md": "# Fähre nach Bornholm\n\nAb Sassnitz am 4. Juli um 8:20. Fahrräder kosten 9 € extra.\n",
    "Reise/Zelt.md": "# Zelt\n\nDie Heringe liegen in der blauen Kiste. Bei Sturm die langen nehmen, weil der Boden sandig ist.\n",
}


@pytest.fixture(scope="module")
def data_dir(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return stored(tmp_path_factory.mktemp("bees"), VAULT)


def first_lines(answer: Answer) -> str:
    return "\n".join(answer.text.splitlines()[:3])


@pytest.mark.parametrize(
    ("question", "text"),
    [
        ("Which liquid stops wasp attacks on the hive?", "Spray vinegar to keep wasps away."),
        ("Why was the honey spinner at somebody else's place in 2024?", "because ours broke its crank"),
        ("Was muss man für Räder auf der Fähre zahlen?", "Fahrräder kosten 9 € extra."),
        ("Warum nehmen wir im Zelt lange Heringe?", "weil der Boden sandig ist"),
    ],
)
async def test_the_line_that_means_it_is_among_the_first(data_dir: Path, question: str, text: str):
    assert text in first_lines(await asked(data_dir, question))


@pytest.mark.parametrize(
    "question",
    [
        "What is Olga Brandt's phone number?",
        "What does Olga Brandt charge for the truck?",
        "Wie teuer war das Zelt?",
    ],
)
async def test_what_no_note_says_is_not_answered_but_the_nearest_lines_are_shown(
    data_dir: Path, question: str
):
    answer = await asked(data_dir, question)
    head, *lines = answer.text.splitlines()
    assert answer.abstained
    assert head == "Not found in your notes. What comes nearest:"
    assert 1 <= len(lines) <= 3
    assert len(answer.citations) == len(lines)
    assert all(line.endswith(f"[{n}]") for n, line in enumerate(lines, 1))


async def test_what_is_about_something_else_has_no_nearest_line(data_dir: Path):
    answer = await asked(data_dir, "xqzv blorft nnrp")
    assert (answer.abstained, answer.text, answer.citations) == (True, "Not found in your notes.", [])


def test_the_command_line_shows_the_lines_instead_of_the_notes(data_dir: Path):
    shown = CliRunner().invoke(
        app, ["ask", "What is Olga Brandt's phone number?"], env={"AGENTIC_RAG_DATA_DIR": str(data_dir)}
    )
    assert "What comes nearest:" in shown.output
    assert "nearest, but perhaps about something else" not in shown.output
    assert "People/Olga Brandt.md" in shown.output


async def test_where_the_model_fails_the_words_alone_count(data_dir: Path, caplog: pytest.LogCaptureFixture):
    question = "Which liquid stops wasp attacks on the hive?"
    async with open_rag(RagConfig(data_dir=data_dir)) as rag:
        failing = AsyncMock(side_effect=ModelError("out of memory"))
        with (
            patch.object(type(rag.parts.embedding), "embed_passages", failing),
            caplog.at_level(logging.WARNING),
        ):
            answer = await rag.ask(question)
    assert answer.text
    assert "units are compared by their words alone: out of memory" in caplog.text


async def test_a_question_in_the_notes_words_needs_no_vectors_of_lines(data_dir: Path):
    async with open_rag(RagConfig(data_dir=data_dir)) as rag:
        with patch.object(type(rag.parts.embedding), "embed_passages", AsyncMock()) as embed:
            answer = await rag.ask("Where do the Heringe liegen?")
    assert "blauen Kiste" in answer.text
    embed.assert_not_called()
