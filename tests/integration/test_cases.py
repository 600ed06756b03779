"""Small vaults that once were answered wrongly, each for its whole kind: the right values, on the bundled model."""

from __future__ import annotations

import asyncio
import re
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from agentic_rag import Answer, RagConfig, open_rag

CASES = Path(__file__).parents[2].parent / "shared" / "cases"
pytestmark = pytest.mark.skipif(not CASES.is_dir(), reason=f"no folder with cases at {CASES}")


class Vaults:
    """The cases' vaults, each ingested once, as a dataset of its number."""

    def __init__(self, data_dir: Path) -> None:
        self._data_dir = data_dir
        self._ingested: set[str] = set()

    def ask(self, case: str, question: str) -> Answer:
        """The answer of an ordinary question to a case's vault."""
        return asyncio.run(self._ask(case, question))

    async def _ask(self, case: str, question: str) -> Answer:
        async with open_rag(RagConfig(data_dir=self._data_dir)) as rag:
            if case not in self._ingested:
                (folder,) = CASES.glob(f"{case}-*")
                await rag.ingest([folder / "vault"], dataset=f"case-{case}")
                self._ingested.add(case)
            return await rag.ask(question, dataset=f"case-{case}")


@pytest.fixture(scope="module")
def vaults(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Vaults]:
    folder = tmp_path_factory.mktemp("cases")
    yield Vaults(folder)
    shutil.rmtree(folder, ignore_errors=True)


def claims(answer: Answer) -> list[str]:
    """The cited lines without list marks and numbers of citations; none where what is shown is only the nearest."""
    if answer.abstained:
        return []
    lines = (line for line in answer.text.splitlines() if re.search(r"\[\d+\]$", line))
    return [re.sub(r"^- |\s*\[\d+\]$", "", line) for line in lines]


def paths(answer: Answer) -> set[str]:
    return {citation["path"] for citation in answer.citations}


@pytest.mark.parametrize(
    ("question", "path", "lines"),
    [
        ("What is on the shopping list?", "Shopping.md", ["milk", "eggs", "yeast"]),
        ("What is on my reading list?", "Reading list.md", ["Dune", "Emma", "Ulysses"]),
        ("How do I restart the mail server?", "Snippet.md", ["systemctl restart postfix"]),
        ("Which films do I want to see?", "Movie list.md", ["Metropolis", "Solaris", "Stalker"]),
        ("What is the name of the boat?", "Boat.md", ["Seeschwalbe"]),
    ],
)
def test_a_short_list_or_block_is_quoted_whole_and_no_other_note(
    vaults: Vaults, question: str, path: str, lines: list[str]
) -> None:
    answer = vaults.ask("01", question)
    assert claims(answer) == lines
    assert paths(answer) == {path}


@pytest.mark.parametrize(
    ("question", "headings", "line"),
    [
        ("How do I change my e-mail address?", ["Help", "How do I change my e-mail address?"], "Write to the desk"),
        ("How do I cancel my plan?", ["Help", "How do I cancel my plan?"], "Send a signed letter"),
        ("What is Bilal Khan's phone number?", ["Team", "Bilal Khan"], "Phone: 555-0102"),
        ("What is the timeout in production?", ["Deploy", "Production", "Limits"], "Timeout is 90 seconds."),
        ("What does error E4304 mean?", ["Payment errors", "E4304"], "The shop is not enabled for this currency."),
        ("When does the ferry leave in summer?", ["Ferry", "Summer"], "The ferry leaves at seven."),
    ],
)  # fmt: skip
def test_the_sentence_under_the_heading_that_is_named_is_first(
    vaults: Vaults, question: str, headings: list[str], line: str
) -> None:
    answer = vaults.ask("02", question)
    assert line in claims(answer)[0]
    assert answer.citations[0]["heading_path"] == headings
    assert answer.citations[0]["quote"].startswith(line)


@pytest.mark.parametrize(
    ("question", "line"),
    [
        ("How much milk for waffles?", "Waffles: 300 ml of milk"),
        ("How many eggs for pancakes?", "Pancakes: two eggs"),
        ("What is the port of Nimbus?", "Nimbus: port: 9090"),
        ("How large is the cellar?", "Cellar: size: 35 m2"),
        ("Is the attic heated?", "Attic: heated: no"),
    ],
)  # fmt: skip
def test_a_list_item_is_shown_below_its_parent_and_alone(vaults: Vaults, question: str, line: str) -> None:
    shown = claims(vaults.ask("03", question))
    assert len(shown) == 1
    assert shown[0].endswith(line)


@pytest.mark.parametrize(
    ("question", "path", "lines"),
    [
        ("Which tasks are still open for the boat?", "Boat.md", ["☐ Order new rope", "☐ Paint the mast", "◐ Sew the sail"]),
        ("What have I already done on the boat?", "Boat.md", ["☑ Scrape the hull", "☑ Sell the old dinghy"]),
        ("What is being done in the garden?", "Garden.md", ["◐ Dig the pond"]),
    ],
)  # fmt: skip
def test_tasks_are_told_by_their_state(vaults: Vaults, question: str, path: str, lines: list[str]) -> None:
    answer = vaults.ask("05", question)
    assert [claim.split(" ⏫")[0] for claim in claims(answer)] == lines
    assert paths(answer) == {path}


DAY = "Journal/2024-03-15.md"


@pytest.mark.parametrize(
    ("question", "path", "lines"),
    [
        ("What did I do on March 15th, 2024?", DAY, ["Cleaned the chimney.", "Called Ruth about the roof."]),
        ("2024年3月15日我做了什么？", DAY, ["Cleaned the chimney.", "Called Ruth about the roof."]),
        ("What did I do on 2024-03-15?", DAY, ["Cleaned the chimney.", "Called Ruth about the roof."]),
        ("What did I do on January 5th, 2024?", "Daily/2024-01-05.md", ["Met Rosa at the harbour"]),
        ("What did I do on the fifth of January 2024?", "Daily/2024-01-05.md", ["Met Rosa at the harbour"]),
        ("What did I do on 5 Jan 2024?", "Daily/2024-01-05.md", ["Met Rosa at the harbour"]),
        ("What did I do on 5.1.2024?", "Daily/2024-01-05.md", ["Met Rosa at the harbour"]),
        ("2024年1月5日我做了什么？", "Daily/2024-01-05.md", ["Met Rosa at the harbour"]),
    ],
)
def test_a_day_is_answered_by_its_note_alone(
    vaults: Vaults, question: str, path: str, lines: list[str]
) -> None:
    answer = vaults.ask("06", question)
    assert paths(answer) == {path}
    assert all(line in answer.text for line in lines)


@pytest.mark.parametrize(
    ("question", "first", "last", "lines"),
    [
        ("What did I work on between 8 and 12 April 2024?", "2024-04-08", "2024-04-12", ["bench", "vice"]),
        ("What did I work on before March 2024?", "0000", "2024-02-29", ["door", "window"]),
        ("2024年4月我做了什么？", "2024-04-01", "2024-04-30", ["bench", "vice", "lathe"]),
        ("What did I do in April 2024?", "2024-04-01", "2024-04-30", ["bench", "vice", "lathe"]),
    ],
)
def test_a_span_is_answered_by_no_note_outside_it(
    vaults: Vaults, question: str, first: str, last: str, lines: list[str]
) -> None:
    answer = vaults.ask("06", question)
    days = [Path(path).stem for path in paths(answer)]
    assert days
    assert all(first <= day <= last for day in days)
    assert all(f"Worked on the {line} in the shed." in answer.text for line in lines)


@pytest.mark.parametrize(
    ("question", "lines"),
    [
        ("Which planet has the shortest day?", ["Jupiter, under ten hours."]),
        ("Where do the slates come from?", ["The slates come from Wales."]),
        ("What is the limit for the roof?", []),
    ],
)
def test_comments_are_no_part_of_an_answer(vaults: Vaults, question: str, lines: list[str]) -> None:
    answer = vaults.ask("14", question)
    assert claims(answer) == lines
    assert not re.search(r"<!--|%%|SR:|7000|4200|9000", answer.text)


@pytest.mark.parametrize("question", ["Which notes are tagged #recipe?", "#recipe"])
def test_the_notes_of_a_tag_and_of_those_below_it(vaults: Vaults, question: str) -> None:
    answer = vaults.ask("21", question)
    assert paths(answer) == {"a.md", "b.md", "d.md"}
    assert len(claims(answer)) == 3


def test_a_footnote_belongs_to_its_sentence(vaults: Vaults) -> None:
    answer = vaults.ask("25", "Who checks the hood?")
    assert claims(answer) == ["The hood is checked yearly. (By the firm Lindt and Co in June.)"]
    assert answer.citations[0]["quote"].startswith("The hood is checked yearly.")


def test_of_a_drawing_its_texts_alone_are_read(vaults: Vaults) -> None:
    answer = vaults.ask("28", "excalidraw")
    assert claims(answer) == ["The intake valve opens at 40 bar"]
    assert "EXCALIDRAW VIEW" not in answer.text


@pytest.mark.parametrize("question", ["数据库备份什么时候运行？", "數據庫備份什麼時候運行？"])
def test_a_question_in_either_form_of_han_characters(vaults: Vaults, question: str) -> None:
    assert claims(vaults.ask("08", question)) == ["数据库的备份每天凌晨三点运行一次。"]
