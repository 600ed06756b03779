"""Forms of writing that are one to a reader, on the bundled model: variants of Han characters, amounts, vowel signs."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from agentic_rag import RagConfig, open_rag_blocking
from agentic_rag.blocking import BlockingRag

NOTES = {
    "麵團發酵.md": "# 麵團發酵\n\n麵團在二十八度下發酵九十分鐘，體積變為兩倍。\n",
    "數據庫.md": "# 軟體開發\n\n數據庫的備份每天凌晨三點執行一次。見[[麵團發酵]]。\n",
    "头发.md": "# 理发\n\n头发每六周剪一次。\n",
    "Train.md": "# Train to Vienna\n\nOur seats are 12A and 14 C, in coach 260.\n",
    "Kettle.md": "# Kettle\n\nIt takes 230 V and heats the water in 4 minutes.\n",
    "Fan.md": "# Fan\n\nIt takes 12V from the battery of the boat.\n",
    "चाय.md": "# चाय\n\nअदरक वाली चाय में दो चम्मच चीनी डाली जाती है।\n",
    "ผีเสื้อ.md": "# ผีเสื้อ\n\nผีเสื้อกลางคืนกินน้ำหวานจากดอกไม้ตอนกลางคืน\n",
}


@pytest.fixture(scope="module")
def rag(tmp_path_factory: pytest.TempPathFactory) -> Iterator[BlockingRag]:
    folder = tmp_path_factory.mktemp("scripts")
    vault = folder / "vault"
    vault.mkdir()
    for name, text in NOTES.items():
        (vault / name).write_text(text, encoding="utf-8")
    with open_rag_blocking(RagConfig(data_dir=folder / "data")) as opened:
        opened.ingest([vault], dataset="notes")
        yield opened


@pytest.mark.parametrize(
    ("question", "line"),
    [
        ("面团发酵需要多久？", "麵團在二十八度下發酵九十分鐘"),
        ("麵團發酵需要多久？", "麵團在二十八度下發酵九十分鐘"),
        ("数据库的备份什么时候执行？", "數據庫的備份每天凌晨三點執行一次"),
        ("頭髮多久剪一次？", "头发每六周剪一次"),
        ("Which coach is seat 12 A in?", "Our seats are 12A and 14 C"),
        ("Which coach is seat 14C in?", "Our seats are 12A and 14 C"),
        ("What takes 230V?", "It takes 230 V"),
        ("What takes 12 V?", "It takes 12V"),
    ],
)
def test_an_answer_whatever_the_form(rag: BlockingRag, question: str, line: str) -> None:
    answer = rag.ask(question, dataset="notes")
    assert line in answer.text


@pytest.mark.parametrize(("name", "path"), [("面团", "麵團發酵.md"), ("頭髮", "头发.md")])
def test_a_relation_of_a_name_in_the_other_form(rag: BlockingRag, name: str, path: str) -> None:
    answer = rag.ask(name, dataset="notes", operation="concept_relation")
    assert path in {citation["path"] for citation in answer.citations}


@pytest.mark.parametrize(
    ("words", "path"),
    [
        ("चम्मच चीनी", "चाय.md"),
        ("น้ำหวาน", "ผีเสื้อ.md"),
        ("备份", "數據庫.md"),
        ("14C", "Train.md"),
        ("12 V", "Fan.md"),
    ],
)
def test_words_alone_find_it(rag: BlockingRag, words: str, path: str) -> None:
    found = rag.search(words, dataset="notes", strategy="sparse")
    assert found[0].chunk.document_id.endswith(path)
