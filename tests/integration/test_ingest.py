"""Ingest into the real stores: incremental equals fresh, nothing is left behind, nothing is done twice."""

from __future__ import annotations

import asyncio
import json
import os
import random
import shutil
import subprocess
import sys
import threading
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from agentic_rag import Rag, RagConfig, open_rag
from agentic_rag.errors import InputError, StoreLocked
from agentic_rag.ingest.pipeline import IngestReport
from agentic_rag.retrieval.ports import SourceQuery
from agentic_rag.testing import HashingEmbedding
from stored import Stored, assert_same, assert_whole, everything
from written_files import write

SHARED_VAULTS = Path(__file__).parents[2].parent / "shared" / "data" / "vaults"

NOTES = {
    "teas/Oolong.md": (
        "---\naliases: [乌龙茶, blue tea]\ntags: [tea, fujian]\ndate: 2024-03-01\norigin: '[[Fujian]]'\n---\n"
        "# Oolong\n\nOolong is half oxidised. It comes from [[Fujian]] and [[Taiwan|an island]].\n\n"
        "## Roasting\n\nCharcoal roasting:: [[Roasting]]\n\nA long roast hides a poor leaf. #craft\n"
    ),
    "places/Fujian.md": "---\nyear: 2023\n---\n# Fujian\n\nFujian has mountains and a long coast. Oolong grows there.\n",
    "Roasting.md": "# Roasting\n\nRoasting dries the leaf.\n\n- slow\n- warm ^slow-warm\n\n> [!note] Careful\n> Not too hot.\n",
    "苹果.md": "---\ntags: [水果]\n---\n# 苹果\n\n苹果是水果。它和[[Oolong]]没有关系，但乌龙茶有苹果的香气。\n",
    "daily/2024-05-06.md": "# 2024-05-06\n\nDrank blue tea with Lin Mei. She prefers the 2023 harvest from Fujian.\n",
    "board.canvas": json.dumps(
        {
            "nodes": [
                {"id": "a", "type": "file", "file": "teas/Oolong.md", "x": 0, "y": 0, "width": 9, "height": 9},
                {"id": "b", "type": "text", "text": "What does roasting do?", "x": 9, "y": 0, "width": 9, "height": 9},
            ],
            "edges": [{"id": "e", "fromNode": "b", "toNode": "a", "label": "asks about"}],
        }
    ),
}  # fmt: skip


@pytest.fixture
def vault(tmp_path: Path) -> Path:
    return write(tmp_path / "vault", dict(NOTES))


@asynccontextmanager
async def opened(
    data_dir: Path, embedding: HashingEmbedding | None = None
) -> AsyncIterator[tuple[Rag, HashingEmbedding]]:
    embedding = embedding or HashingEmbedding()
    async with open_rag(RagConfig(data_dir=data_dir), embedding=embedding) as rag:
        yield rag, embedding


async def fresh(vault: Path, data_dir: Path, dataset: str = "default") -> Stored:
    """What a first ingest of the vault as it is now gives."""
    async with opened(data_dir) as (rag, _):
        await rag.ingest(vault, dataset=dataset)
        return await everything(rag)


def actions(report: IngestReport) -> dict[str, str]:
    return {file.path: file.action for file in report.files}


async def test_unchanged_costs_nothing(vault: Path, tmp_path: Path) -> None:
    async with opened(tmp_path / "data") as (rag, embedding):
        first = await rag.ingest(vault)
        before, calls = await everything(rag), len(embedding.embedded_texts)
        again = await rag.ingest(vault)
        after = await everything(rag)
    assert first.count("added") == len(NOTES)
    assert again.count("unchanged") == len(NOTES) == len(again.files)
    assert len(embedding.embedded_texts) == calls, "nothing is embedded again"
    assert after.versions == before.versions, "no table is written to"
    assert_same(before, after)
    assert (first.chunks, first.facts, first.entities) == (again.chunks, again.facts, again.entities)


@pytest.mark.parametrize("paths", [5, None, ["notes", 5]])
async def test_what_is_no_path_is_refused(paths: Any, tmp_path: Path) -> None:
    async with opened(tmp_path / "data") as (rag, _):
        with pytest.raises(InputError, match=r"not (5|None)"):
            await rag.ingest(paths)


async def test_progress_is_told_in_the_event_loop(vault: Path, tmp_path: Path) -> None:
    seen: list[tuple[str, int, int, bool]] = []

    def told(stage: str, done: int, total: int) -> None:
        seen.append((stage, done, total, threading.current_thread() is threading.main_thread()))

    async with opened(tmp_path / "data") as (rag, _):
        await rag.ingest(vault, progress=told)
    assert all(here for *_, here in seen)
    assert [done for stage, done, *_ in seen if stage == "read"] == list(range(1, len(NOTES) + 1))
    stored = [done for stage, done, *_ in seen if stage == "store"]
    assert stored == sorted(stored)
    assert stored[0] == 0
    assert stored[-1] == seen[-1][2] > 0


async def test_a_touched_file_is_unchanged(vault: Path, tmp_path: Path) -> None:
    async with opened(tmp_path / "data") as (rag, _):
        await rag.ingest(vault)
        os.utime(vault / "Roasting.md", (1, 1))
        assert (await rag.ingest(vault)).count("unchanged") == len(NOTES)


async def test_a_changed_note_replaces_what_it_gave(vault: Path, tmp_path: Path) -> None:
    async with opened(tmp_path / "data") as (rag, embedding):
        await rag.ingest(vault)
        write(vault, {"Roasting.md": "# Roasting\n\nSteam replaces charcoal, says [[Fujian]].\n"})
        embedding.embedded_texts.clear()
        report = await rag.ingest(vault)
        stored = await everything(rag)
    assert actions(report)["Roasting.md"] == "changed"
    assert report.count("unchanged") == len(NOTES) - 1
    assert "dries the leaf" not in stored.text
    assert "slow-warm" not in stored.text
    assert "Steam replaces charcoal" in stored.text
    assert not any("half oxidised" in text for text in embedding.embedded_texts), (
        "only what changed is embedded"
    )
    assert_whole(stored)
    assert_same(stored, await fresh(vault, tmp_path / "other"))


@pytest.mark.parametrize("how", ["removed", "renamed"])
async def test_a_note_that_is_gone_leaves_no_trace(vault: Path, tmp_path: Path, how: str) -> None:
    write(
        vault,
        {
            "Zanzibar clove.md": (
                "---\naliases: [Pemba spice]\nmarket: Stonetown\ntags: [zanzitag]\n---\n"
                "# Zanzibar clove\n\n## Curing\n\nDried on mats. See [[Oolong]]. Sold by Juma Hassan.\n"
            ),
            "mentions.md": "# mentions\n\nPemba spice goes into tea, and so does nothing else.\n",
        },
    )
    async with opened(tmp_path / "data") as (rag, _):
        await rag.ingest(vault)
        had = await everything(rag)
        assert all(name in had.text for name in ("Zanzibar clove", "Pemba spice", "Stonetown", "zanzitag"))
        if how == "removed":
            (vault / "Zanzibar clove.md").unlink()
        else:
            (vault / "Zanzibar clove.md").rename(vault / "Ngorongoro leaf.md")
            text = (vault / "Ngorongoro leaf.md").read_text(encoding="utf-8")
            (vault / "Ngorongoro leaf.md").write_text(
                text.replace("# Zanzibar clove", "# Ngorongoro leaf"), encoding="utf-8"
            )
        report = await rag.ingest(vault)
        stored = await everything(rag)
        assert await rag.search("Zanzibar clove", strategy="sparse") == []
    assert actions(report)["Zanzibar clove.md"] == "removed"
    assert "Zanzibar" not in stored.text
    for name in ("Stonetown", "zanzitag", "Juma Hassan"):
        assert (name in stored.text) == (how == "renamed"), name
    assert_whole(stored)
    assert_same(stored, await fresh(vault, tmp_path / "other"))


async def test_removing_the_folder_empties_both_stores(vault: Path, tmp_path: Path) -> None:
    async with opened(tmp_path / "data") as (rag, _):
        await rag.ingest(vault)
        for name in NOTES:
            (vault / name).unlink()
        report = await rag.ingest(vault)
        stored = await everything(rag)
    assert (report.documents, report.chunks, report.entities, report.facts) == (0, 0, 0, 0)
    left = {name: rows for name, rows in stored.rows.items() if rows and name != "datasets"}
    assert left == {}


PEOPLE = ["Lin Mei", "陈伯远", "Su Wen", "Kofi Annan"]
WORDS = "leaf water steam stone garden 茶叶 山 roast bitter sweet cup slow fire 香气".split()
TITLES = [
    "Oolong",
    "Green tea",
    "Kettle",
    "白茶",
    "Mountain spring",
    "Teapot",
    "紫砂壶",
    "Harvest",
    "Market day",
]
ALIASES = ["the brew", "pot of clay", "云雾", "First Flush", "silver needle", "spring water"]


def some_note(chance: random.Random, title: str) -> str:
    """A note that links, names others by title and alias, and changes its aliases now and then."""
    aliases = chance.sample(ALIASES, chance.choice([0, 0, 1, 2]))
    head = (
        f"---\naliases: [{', '.join(aliases)}]\ntags: [{chance.choice(['a', 'b', 'c'])}]\n---\n"
        if aliases
        else ""
    )
    sentences = []
    for _ in range(chance.randint(1, 5)):
        words = [*chance.choices(WORDS, k=5), chance.choice([*TITLES, *ALIASES, *PEOPLE])]
        chance.shuffle(words)
        sentences.append(" ".join(words).capitalize() + ".")
        if chance.random() < 0.4:
            sentences.append(f"See [[{chance.choice(TITLES)}{chance.choice(['', '#Part', '|that'])}]].")
        if chance.random() < 0.2:
            sentences.append(f"\n\n## Part {chance.randint(1, 3)}\n\n")
    return f"{head}# {title}\n\n{' '.join(sentences)}\n"


def edit(chance: random.Random, vault: Path) -> None:
    """One thing a person does to a vault."""
    notes = sorted(vault.rglob("*.md"))
    free = [title for title in TITLES if title not in {note.stem for note in notes}]
    step = chance.choice(["add", "add", "change", "change", "rename", "delete", "append", "move", "alias"])
    if step == "add" and free:
        title = chance.choice(free)
        write(vault, {f"{chance.choice(['', 'sub/'])}{title}.md": some_note(chance, title)})
        return
    if not notes:
        return
    note = chance.choice(notes)
    text = note.read_text(encoding="utf-8")
    if step == "change":
        note.write_text(some_note(chance, note.stem), encoding="utf-8")
    elif step == "append":
        note.write_text(f"{text}\n{chance.choice([*TITLES, *ALIASES])} again.\n", encoding="utf-8")
    elif step == "alias":
        body = text.partition("---\n# ")[2] if text.startswith("---") else text[2:]
        note.write_text(f"---\naliases: [{chance.choice(ALIASES)}]\n---\n# {body}", encoding="utf-8")
    elif step == "rename" and free:
        note.rename(note.with_name(f"{chance.choice(free)}.md"))
    elif step == "delete" and len(notes) > 2:
        note.unlink()
    elif step == "move":
        target = vault / chance.choice(["sub", "other"]) / note.name
        target.parent.mkdir(exist_ok=True)
        if not target.exists():
            note.rename(target)


@pytest.mark.slow
async def test_incremental_equals_fresh(tmp_path: Path) -> None:
    chance = random.Random(1)
    vault = tmp_path / "vault"
    write(vault, {f"{title}.md": some_note(chance, title) for title in TITLES[:4]})
    async with opened(tmp_path / "data") as (rag, _):
        await rag.ingest(vault)
        for step in range(1, 17):
            for _ in range(chance.choice([1, 1, 1, 2, 3])):
                edit(chance, vault)
            await rag.ingest(vault)
            if step in (8, 16):
                stored = await everything(rag)
                assert_whole(stored)
                assert_same(stored, await fresh(vault, tmp_path / f"fresh-{step}"))


@pytest.mark.slow
async def test_kill_9_is_mended_by_running_again(tmp_path: Path) -> None:
    chance = random.Random(9)
    vault, data = tmp_path / "vault", tmp_path / "data"
    write(vault, dict(NOTES))
    command = [sys.executable, "-c", KILLABLE, str(vault), str(data)]
    for _ in range(2):
        for _ in range(4):
            edit(chance, vault)
        with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as process:
            assert process.stdout is not None
            process.stdout.readline()  # imports are done, the ingest begins
            time.sleep(chance.uniform(0, 2))
            process.kill()
    async with opened(data) as (rag, _):
        await rag.ingest(vault)
        stored = await everything(rag)
    assert_whole(stored)
    assert_same(stored, await fresh(vault, tmp_path / "other"))


KILLABLE = """
import asyncio, sys
import agentic_rag.ingest.pipeline, agentic_rag.ingest.pipeline as pipeline
import agentic_rag.stores.graphiti.engine, lancedb
from agentic_rag import RagConfig, open_rag
from agentic_rag.testing import HashingEmbedding

pipeline.BATCH_DOCUMENTS = 2

async def main():
    async with open_rag(RagConfig(data_dir=sys.argv[2]), embedding=HashingEmbedding()) as rag:
        print("begins", flush=True)
        await rag.ingest(sys.argv[1])

asyncio.run(main())
"""


async def test_a_dataset_is_ingested_into_by_one_at_a_time(vault: Path, tmp_path: Path) -> None:
    async with opened(tmp_path / "data") as (rag, _), opened(tmp_path / "data") as (other, _):
        ended = await asyncio.gather(rag.ingest(vault), other.ingest(vault), return_exceptions=True)
        refused = [end for end in ended if isinstance(end, StoreLocked)]
        assert [str(error).split(",")[0] for error in refused] == [
            "dataset 'default' is being ingested into or removed from already"
        ]
        assert not [end for end in ended if isinstance(end, Exception) and end not in refused]
        assert (await rag.ingest(vault)).count("unchanged") == len(NOTES)
        assert_same(await everything(rag), await fresh(vault, tmp_path / "fresh"))


async def test_datasets_do_not_see_each_other(vault: Path, tmp_path: Path) -> None:
    other = write(
        tmp_path / "second", {"Oolong.md": "# Oolong\n\nA boat on the [[River]], and nothing to drink.\n"}
    )
    async with opened(tmp_path / "data") as (rag, _):
        await rag.ingest(vault, dataset="notes")
        before = await everything(rag)
        await rag.ingest(other, dataset="笔记")
        both = await everything(rag)
        assert await rag.ledger.datasets() == ["notes", "笔记"]
        found = await rag.search("Oolong", dataset="笔记")
        hits = (await rag.graph_engine.find(SourceQuery("笔记", "Oolong"), 20)).hits
        (other / "Oolong.md").unlink()
        await rag.ingest(other, dataset="笔记")
        after = await everything(rag)
    assert {result.metadata["document_id"] for result in found} == {"Oolong.md"}
    assert {hit["metadata"].get("document_id", "Oolong.md") for hit in hits} == {"Oolong.md"}
    for name, rows in before.rows.items():
        if name not in ("ledger", "datasets"):
            assert both.rows[name] == rows == after.rows[name], name
    assert_whole(both)
    assert "A boat on the" not in after.text


async def test_two_roots_share_a_dataset(vault: Path, tmp_path: Path) -> None:
    second = write(tmp_path / "second", {"Kettle.md": "# Kettle\n\nBoils water for Oolong.\n", "Roasting.md": "# Mine\n\nAnother.\n"})  # fmt: skip
    async with opened(tmp_path / "data") as (rag, _):
        await rag.ingest(vault)
        report = await rag.ingest(second)
        held = next(file for file in report.files if file.path == "Roasting.md")
        assert (held.action, held.reason) == (
            "skipped",
            f"{vault} holds a note of that id; choose another --dataset",
        )
        assert report.documents == len(NOTES) + 1
        again = await rag.ingest(vault)
        assert again.count("unchanged") + again.count("relinked") == len(NOTES)
        assert again.documents == len(NOTES) + 1, "the other root stays"
        both = await rag.ingest([vault, second])
        assert both.documents == len(NOTES) + 1
        stored = await everything(rag)
    assert_whole(stored)
    assert "dries the leaf" in stored.text
    assert "Another." not in stored.text


async def test_what_cannot_be_read_now_stays_stored(
    vault: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real_read, real_scandir = Path.read_bytes, os.scandir

    def read_bytes(path: Path) -> bytes:
        if path.name == "Roasting.md":
            raise PermissionError(13, "Permission denied")
        return real_read(path)

    def scandir(path: str | os.PathLike[str]) -> object:
        if Path(path).name == "places":
            raise PermissionError(13, "Permission denied")
        return real_scandir(path)

    async with opened(tmp_path / "data") as (rag, _):
        await rag.ingest(vault)
        before = await everything(rag)
        monkeypatch.setattr(Path, "read_bytes", read_bytes)
        monkeypatch.setattr(os, "scandir", scandir)
        report = await rag.ingest(vault)
        assert report.count("removed") == 0
        assert {Path(f.path).name for f in report.files if f.action == "skipped"} >= {"Roasting.md", "places"}
        monkeypatch.undo()
        assert_same(await everything(rag), before)


VAULTS = ("canvas-samples", "dataview-example", "obsidian-help-sandbox")
"""The larger of their kinds are parsed and chunked in test_shared_vaults.py."""


@pytest.mark.skipif(not SHARED_VAULTS.is_dir(), reason=f"no vaults to develop on at {SHARED_VAULTS}")
@pytest.mark.slow
async def test_real_vaults_are_stored(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # Their pictures take minutes, and say nothing of the stores.
    monkeypatch.setattr("agentic_rag_readers.formats.entries._OCR", "no_such_module")
    async with opened(tmp_path / "data") as (rag, _):
        for name in VAULTS:
            report = await rag.ingest(SHARED_VAULTS / name, dataset=name)
            assert report.count("failed") == 0, name
            assert report.chunks > 0, name
            assert report.entities > 0, name
        assert_whole(await everything(rag))


@pytest.mark.slow
async def test_the_bundled_model_gives_the_same_vectors_again(vault: Path, tmp_path: Path) -> None:
    """Alone, in another batch, or from the store: a text's vector is its own."""
    async with open_rag(RagConfig(data_dir=tmp_path / "data")) as rag:
        await rag.ingest(vault)
        write(
            vault,
            {"Kettle.md": "# Kettle\n\nBoils.\n", "Roasting.md": NOTES["Roasting.md"] + "\nAnd more.\n"},
        )
        await rag.ingest(vault)
        shutil.rmtree(vault / "daily")
        await rag.ingest(vault)
        stored = await everything(rag)
    async with open_rag(RagConfig(data_dir=tmp_path / "other")) as rag:
        await rag.ingest(vault)
        assert_same(stored, await everything(rag))
