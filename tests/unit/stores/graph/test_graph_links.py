"""The links of a large changing graph: the loaded links, merged with later writes."""

from __future__ import annotations

import asyncio
import random
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from agentic_rag.domain import Chunk, DocumentGraph, Entity, Fact, Mention
from agentic_rag.domain.identity import entity_key, entity_uuid, episode_uuid
from agentic_rag.stores.graph import links
from agentic_rag.stores.graph.link_columns import VALUES_AT_ONCE, Values
from agentic_rag.stores.graph.link_index import NOTHING, LinkIndex
from agentic_rag.stores.graph.links import LinkReader
from agentic_rag.stores.graph.schemas import Kind
from agentic_rag.stores.graph.tables import GraphTables
from agentic_rag.stores.graphiti.library import EntityEdge
from agentic_rag.stores.graphiti.store import GraphitiStore
from agentic_rag.stores.lancedb import reindex
from agentic_rag.stores.lancedb.connection import lance_connection
from agentic_rag.testing import HashingEmbedding

Opened = tuple[GraphitiStore, GraphTables]
WORDS = ("one", "two", "three", "four")
NAMES = ["Tea", "Milk", "Fujian", "Oolong", "Sencha"]
EARLY, LATE = datetime(2024, 1, 1, tzinfo=UTC), datetime(2025, 1, 1, tzinfo=UTC)


def drawn(note: str, chance: random.Random) -> DocumentGraph:
    """A note of chunks by their words, each with some of the names."""
    words = chance.sample(WORDS, 2)
    date = chance.choice([None, EARLY, LATE])
    title = f"{note}, {chance.choice(['first', 'second'])} version"
    properties = chance.choice([{}, {"aliases": f"other {note}"}])
    chunks = tuple(
        Chunk(
            id=f"{note}#{word}", document_id=note, text=word, start=0, end=len(word), ordinal=number, title=title,
            path=f"{note}.md", kind="paragraph", heading_path=(), date=date, url=None, metadata=properties,
        )
        for number, word in enumerate(words)
    )  # fmt: skip
    mentions, facts = [], []
    for one in chunks:
        # By its words, as in a vault: what a chunk mentions changes when the chunk does.
        of_words = random.Random(one.id)
        source, target, other = (entity_key(name) for name in of_words.sample(NAMES, 3))
        mentions.append(Mention(chunk_id=one.id, entity=other))
        facts.append(
            Fact(chunk_id=one.id, source=source, name="LIKES", target=target, text=f"{source} likes {target}")
        )
    entities = tuple(Entity(entity_key(name), name, labels=chance.choice([(), ("Drink",)])) for name in NAMES)
    return DocumentGraph(note, chunks, entities, tuple(facts), tuple(mentions))


@pytest.fixture
async def opened(tmp_path: Path) -> AsyncIterator[Opened]:
    """A store, and the tables under it."""
    embedding = HashingEmbedding(16)
    async with lance_connection(str(tmp_path / "lance")) as connection:
        store = await GraphitiStore.open(connection=connection, folder=tmp_path, embedding=embedding)
        yield store, GraphTables(connection, model=embedding.name, dimension=16)
        await store.close()


async def change_two(store: GraphitiStore, notes: Sequence[str], chance: random.Random) -> None:
    """Remove two of the notes, or write them anew."""
    some = chance.sample(notes, 2)
    if chance.random() < 0.3:
        await store.remove_documents("notes", some)
    else:
        await store.replace_documents("notes", [drawn(note, chance) for note in some])


async def test_while_changes_are_not_read_the_tables_are_asked(
    opened: Opened, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(links, "ALWAYS_FRESH_CHUNKS", 0)
    monkeypatch.setattr(links, "MAX_LAG_SECONDS", 1e9)
    store, tables = opened
    await store.replace_documents("notes", [mentioning("note0", "Tea")])
    resting = LinkReader(tables, tmp_path)
    whole = await resting.latest("notes")
    assert await resting.latest("notes") is whole
    await store.replace_documents("notes", [mentioning("note1", "Milk")])
    assert await resting.latest("notes") is NOTHING
    assert await resting.links("notes") is whole.links, "the walk goes on along those that were read"


def values(known: LinkIndex) -> list[object]:
    found = known.links
    arrays = (found.dates.astype(str), found.mentioning, found.mentioned_entities)
    titles, aliases = (
        [of[place] for place in found.documents.tolist()] for of in (found.titles, found.aliases)
    )
    texts = (found.chunk_ids, titles, aliases, found.names, found.labels)
    return [
        *(array.tolist() for array in arrays),
        *map(list, texts),
        known.chunks_of_episodes([episode_uuid("notes", f"note0#{word}") for word in WORDS]),
    ]


@pytest.fixture
def from_tables(monkeypatch: pytest.MonkeyPatch) -> list[object]:
    """Grows by one whenever the links are read from the tables as a whole."""
    calls: list[object] = []
    whole = LinkReader._from_tables
    monkeypatch.setattr(LinkReader, "_from_tables", lambda *a: calls.append(a) or whole(*a))
    return calls


async def test_they_are_brought_up_to_date(
    opened: Opened, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, from_tables: list[object]
) -> None:
    """Those that a process holds, and those of the file that was written before any of the changes."""
    monkeypatch.setattr(links, "ALWAYS_FRESH_CHUNKS", 0)
    monkeypatch.setattr(links, "MAX_LAG_SECONDS", 0.0)
    chance = random.Random(9)
    notes = [f"note{n}" for n in range(6)]
    store, tables = opened
    await store.replace_documents("notes", [drawn(note, chance) for note in notes[:5]])
    await store.optimize("notes")
    holding = LinkReader(tables, tmp_path)
    await holding.latest("notes")
    for _ in range(12):
        await change_two(store, notes, chance)
        anew = values(await LinkReader(tables, tmp_path / "no file").latest("notes"))
        del from_tables[:]
        held, from_file = (await holding.latest("notes"), await LinkReader(tables, tmp_path).latest("notes"))
        assert values(held) == values(from_file) == anew
        assert not from_tables
    monkeypatch.setattr(links, "MAX_CHANGED_DOCUMENTS", 1)
    await store.replace_documents("notes", [drawn(note, chance) for note in notes])
    await holding.latest("notes")
    assert from_tables, "so much has changed that to read everything is as quick"
    await store.remove_documents("notes", notes)
    assert not (await holding.latest("notes")).links.chunk_ids


def mentioning(note: str, *names: str, text: str = "one") -> DocumentGraph:
    """A note of one chunk, which mentions these."""
    drawn_note = drawn(note, random.Random(0))
    chunk = replace(drawn_note.chunks[0], id=f"{note}#one", text=text)
    entities = tuple(Entity(entity_key(name), name) for name in names)
    mentions = tuple(Mention(chunk_id=chunk.id, entity=entity_key(name)) for name in names)
    return DocumentGraph(note, (chunk,), entities, (), mentions)


async def relinked(store: GraphitiStore) -> None:
    """As by a new note that another one had meant all along: its text and so its rows stay, but for a mention."""
    await store.replace_documents("notes", [mentioning("note0", "Milk")])


async def stated(store: GraphitiStore) -> None:
    """A fact by Graphiti's own hand, of a chunk that stays as it is."""
    driver = (await store.graphiti()).driver
    await driver.graph_operations_interface.save_facts(driver, [edge()])


async def reindexed(store: GraphitiStore) -> None:
    """Entities lie in another table then, in versions that tell nothing of when they were written."""
    await store.replace_documents("notes", [mentioning("note2", "Tea", "Sencha")])
    await reindex.reindex([store], HashingEmbedding(16), "notes")


def edge() -> EntityEdge:
    return EntityEdge(
        uuid="an edge", group_id="notes", source_node_uuid=entity_uuid("notes", "milk"),
        target_node_uuid=entity_uuid("notes", "oolong"), created_at=EARLY, name="LIKES", fact="milk likes oolong",
        fact_embedding=[0.1] * 16, episodes=[episode_uuid("notes", "note0#one")],
    )  # fmt: skip


@pytest.mark.parametrize("change", [relinked, stated, reindexed])
async def test_changes_that_no_written_chunk_tells(
    change: Callable[[GraphitiStore], Awaitable[None]],
    opened: Opened,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(links, "ALWAYS_FRESH_CHUNKS", 0)
    monkeypatch.setattr(links, "MAX_LAG_SECONDS", 0.0)
    store, tables = opened
    notes = [mentioning("note0", "Tea", "Milk"), mentioning("note1", "Tea", "Oolong")]
    await store.replace_documents("notes", notes)
    await store.optimize("notes")
    holding = LinkReader(tables, tmp_path)
    before = values(await holding.latest("notes"))
    await change(store)
    tables.refresh()
    anew = values(await LinkReader(tables, tmp_path / "no file").latest("notes"))
    assert anew != before
    assert values(await holding.latest("notes")) == anew
    assert values(await LinkReader(tables, tmp_path).latest("notes")) == anew


async def test_reading_in_the_middle_of_a_commit(
    opened: Opened, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Chunks are written before mentions; what was read in between is put right by the next reading."""
    monkeypatch.setattr(links, "ALWAYS_FRESH_CHUNKS", 0)
    monkeypatch.setattr(links, "MAX_LAG_SECONDS", 0.0)
    store, _ = opened
    async with lance_connection(str(tmp_path / "lance")) as another:
        tables = GraphTables(another, model=HashingEmbedding(16).name, dimension=16)
        await store.replace_documents(
            "notes", [mentioning("note0", "Tea", "Milk"), mentioning("note1", "Tea")]
        )
        holding = LinkReader(tables, tmp_path / "no file")
        await holding.latest("notes")
        whole = GraphTables.replace

        async def replace_and_read(of: GraphTables, group: str, kind: Kind, *rest: Any) -> None:
            await whole(of, group, kind, *rest)
            if kind == "episodes":
                tables.refresh()
                await holding.latest("notes")

        with monkeypatch.context() as patch:
            patch.setattr(GraphTables, "replace", replace_and_read)
            await store.replace_documents("notes", [mentioning("note0", "Milk", text="two")])
        tables.refresh()
        anew = await LinkReader(tables, tmp_path / "no file").latest("notes")
        assert values(await holding.latest("notes")) == values(anew)


async def test_a_question_that_gives_up_waiting_leaves_them_for_the_next(
    opened: Opened, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store, tables = opened
    await store.replace_documents("notes", [mentioning("note0", "Tea", "Milk")])
    read, begun, go_on = LinkReader._from_tables, asyncio.Event(), asyncio.Event()

    async def slowly(reader: LinkReader, group: str) -> Any:
        assert not begun.is_set(), "it was begun again"
        begun.set()
        await go_on.wait()
        return await read(reader, group)

    monkeypatch.setattr(LinkReader, "_from_tables", slowly)
    reader = LinkReader(tables, tmp_path)
    for _ in range(3):
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(reader.links("notes"), 0.05)
    go_on.set()
    assert await asyncio.wait_for(reader.links("notes"), 10) is not None


async def test_the_next_process_reads_them_from_a_file(
    opened: Opened, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, from_tables: list[object]
) -> None:
    monkeypatch.setattr(links, "ALWAYS_FRESH_CHUNKS", 3)
    chance, file = random.Random(8), tmp_path / "links-notes.cache"
    store, tables = opened

    async def read(*, from_file: bool) -> list[object]:
        del from_tables[:]
        known = await LinkReader(tables, tmp_path).latest("notes")
        assert (not from_tables) is from_file
        return values(known)

    await store.replace_documents("notes", [drawn(f"note{n}", chance) for n in range(4)])
    assembled = await read(from_file=False)
    await store.optimize("notes")
    assert file.is_file()
    assert await read(from_file=True) == assembled
    for kind in ("entities", "mentions"):
        await (await store.connection.table(f"graph_notes_{kind}")).optimize()
    assert await read(from_file=True) == assembled, "compacted, they hold the same"

    kept = file.stat().st_ino
    await store.optimize("notes")
    assert file.stat().st_ino == kept, "what is as new as the tables is not written again"

    whole = file.read_bytes()
    for damaged in (b"", whole[:40], whole[: len(whole) // 2], whole[:-600] + bytes(9) + whole[-591:]):
        file.write_bytes(damaged)
        assert await read(from_file=False) == assembled
    file.write_bytes(whole)

    await store.replace_documents("notes", [drawn("note0", random.Random(9))])
    changed = await read(from_file=True)
    assert changed != assembled
    await store.optimize("notes")
    assert not from_tables, "the file was brought up to date"
    assert await read(from_file=True) == changed
    await store.remove_documents("notes", ["note1"])
    assert await read(from_file=True) != changed
    await store.remove_documents("notes", ["note0", "note2"])
    await store.optimize("notes")
    assert not file.exists(), "what is small is read from the tables, and no file tells of what was removed"


async def test_a_process_that_holds_older_ones_takes_the_file(
    opened: Opened, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, from_tables: list[object]
) -> None:
    monkeypatch.setattr(links, "ALWAYS_FRESH_CHUNKS", 0)
    monkeypatch.setattr(links, "MAX_LAG_SECONDS", 0.0)
    chance = random.Random(10)
    store, tables = opened
    await store.replace_documents("notes", [drawn("note0", chance)])
    holding = LinkReader(tables, tmp_path)
    await holding.latest("notes")
    await store.replace_documents("notes", [drawn("note1", chance)])
    await store.optimize("notes")
    anew = values(await LinkReader(tables, tmp_path / "no file").latest("notes"))
    del from_tables[:]
    monkeypatch.setattr(links, "brought_up_to_date", None)
    assert values(await holding.latest("notes")) == anew
    assert not from_tables


def test_values_are_made_when_they_are_asked_for() -> None:
    many = [f"text {n}" for n in range(2 * VALUES_AT_ONCE + 1)]
    texts: Values[str] = Values(pa.array(many))
    assert len(texts) == len(many)
    assert list(texts) == many
    assert (texts[7], texts[-1], list(texts[3:5])) == (many[7], many[-1], many[3:5])
    with pytest.raises(IndexError):
        texts[len(many)]
