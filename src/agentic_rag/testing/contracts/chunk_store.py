"""What every ``ports.ChunkStore`` promises. Vectors have ``DIMENSION`` components."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone
from typing import Any

import numpy as np
import pytest

from agentic_rag.dates.instants import parse_as_of
from agentic_rag.domain import Chunk, filterable
from agentic_rag.domain.filters import Comparison, Not, matches, parse_filters
from agentic_rag.domain.ports import (
    ChunkStore,
    EmbeddedDocument,
    FloatArray,
    PieceStore,
    Restriction,
    StagedRows,
)
from agentic_rag.errors import InputError, ManifestMismatch

DIMENSION = 4


OPEN = Restriction()


EAST, NORTH = np.eye(DIMENSION, dtype=np.float32)[:2]


HOSTILE = [
    "'", "''", '"', "\\", "\\'", "a'b\"c\\d", "' OR 1=1 --", "'; DROP TABLE chunks; --", "') OR ('1'='1",
    "\0", "a\0b", "🍵", "👩‍👩‍👧", "\ud800", "\udfff x", "", " ", "\n", "%", "_", "*", "null", "true", "1",
    "$eq", '["k","v"]', "é", "e\u0301", "茶" * 300,
]  # fmt: skip


def chunk(document: str, key: str = "0", text: str = "tea", **fields: Any) -> Chunk:
    defaults: dict[str, Any] = {"start": 0, "end": len(text), "ordinal": 0, "title": "", "path": document}
    return Chunk(f"{document}#{key}", document, text, **{**defaults, "kind": "paragraph", **fields})


def documents_of(*chunks: Chunk, vector: FloatArray = EAST) -> list[EmbeddedDocument]:
    """The chunks as documents, all with one vector."""
    by_document: dict[str, list[Chunk]] = {}
    for one in chunks:
        by_document.setdefault(one.document_id, []).append(one)
    return [
        EmbeddedDocument(name, tuple(own), np.tile(vector, (len(own), 1)))
        for name, own in by_document.items()
    ]


async def dense(
    store: ChunkStore, vector: FloatArray = EAST, limit: int = 10, **restriction: Any
) -> list[str]:
    found = await store.search_dense("notes", vector, limit=limit, restriction=Restriction(**restriction))
    return [scored.chunk.id for scored in found]


async def sparse(store: ChunkStore, text: str, limit: int = 10, **restriction: Any) -> list[str]:
    found = await store.search_sparse("notes", text, limit=limit, restriction=Restriction(**restriction))
    return [scored.chunk.id for scored in found]


async def matching(store: ChunkStore, **restriction: Any) -> list[str]:
    return await store.matching_chunk_ids("notes", Restriction(**restriction), limit=1000)


async def piece(store: ChunkStore, *chunks: Chunk, vector: FloatArray = EAST) -> StagedRows:
    assert isinstance(store, PieceStore)
    return await store.stage("notes", documents_of(*chunks, vector=vector))


TEXTS = {
    "zh": "苹果是水果，乌龙茶来自福建。",
    "ja": "東京でラーメンを食べました。",
    "en": "Oolong leaves are brewed in Fujian's mountains.",
    "digits": "Room 404 costs 3.50 in 2023.",
    "letters": "Vitamin C and plan B.",
    "file": "see report_final-v2.pdf",
    "code": "call parse_filters or LanceChunkStore.search_dense",
    "accents": "a résumé",
    "wide": "ＡＢＣ１２３",
    "ko": "한국어 문장",
}


QUERY_RESULTS: list[tuple[str, str | None]] = [
    ("水果", "zh"), ("苹果", "zh"), ("福建", "zh"), ("東京", "ja"), ("ラーメン", "ja"), ("한국어", "ko"),
    ("OOLONG", "en"), ("brewing", "en"), ("mountain", "en"), ("Fujian", "en"),
    ("404", "digits"), ("3.50", "digits"), ("2023", "digits"), ("C", "letters"), ("b", "letters"),
    ("report_final-v2.pdf", "file"), ("report_final", "file"), ("v2", "file"), ("pdf", "file"),
    ("parse_filters", "code"), ("filters", "code"), ("lancechunkstore", "code"), ("search_dense", "code"),
    ("LanceChunkStore.search_dense", "code"), ("résumé", "accents"), ("ABC123", "wide"), ("abc123", "wide"),
    ("chunk", "code"), ("search", "code"), ("resume", "accents"), ("ABC", "wide"), ("乌龙", "zh"), ("龙茶", "zh"),
    ("What is the price of 404?", "digits"), ("为什么是水果", "zh"),
    # Not found, by design: the beginning of a word, signs.
    ("oolo", None), ("🍵", None), ("...", None),
]  # fmt: skip
"""Query, and the one text of ``TEXTS`` that it finds."""


HOSTILE_QUERIES = [
    *HOSTILE, "   ", "\r\n\t", "tea AND NOT OR", "+tea -leaf && || ! ( ) { } [ ] ^ ~ * ? : \\ /", '"tea', "tea'",
    "tea\0tea", "SELECT * FROM chunks", "tea " * 5000, "茶" * 20_000, "a" * 20_000, "%s %d {0} $1", "\ud800 tea",
]  # fmt: skip


class ChunkStoreContract:
    """What every ``ports.ChunkStore`` promises. Vectors have ``DIMENSION`` components."""

    @pytest.fixture
    def store(self) -> Any:
        """An empty ``ChunkStore`` for vectors of ``DIMENSION`` components, or an iterator that yields one."""
        raise NotImplementedError("override this fixture")

    async def test_pieces_replace_documents_when_they_are_committed(self, store: ChunkStore):
        if not isinstance(store, PieceStore):
            pytest.skip("rows are sent by the process that writes them")
        await store.replace_documents("notes", documents_of(chunk("a"), chunk("a", "1"), chunk("b")))
        await store.prepare_staging("notes")
        pieces = [
            await piece(store, chunk("a", text="oolong", metadata={"year": 2024}), chunk("c"), vector=NORTH),
            await piece(store, chunk("d"), vector=NORTH),
        ]
        assert sorted(await store.get_chunks("notes", ["a#0", "c#0"])) == ["a#0"], "nothing is found before"
        assert await matching(store, filters=parse_filters({"year": 2024})) == []
        await store.commit_staged("notes", pieces)
        assert await store.document_ids("notes") == {"a", "b", "c", "d"}
        assert await store.count("notes") == 4
        assert (await store.get_chunks("notes", ["a#0"]))["a#0"].text == "oolong"
        assert await matching(store, filters=parse_filters({"year": {"$gte": 2024}})) == ["a#0"]
        assert (await dense(store, NORTH))[:3] == ["a#0", "c#0", "d#0"]
        assert await sparse(store, "oolong") == ["a#0"]
        # As after a crash before they were marked done.
        await store.commit_staged(
            "notes", [await piece(store, chunk("a"), chunk("a", "2")), await piece(store, chunk("c"))]
        )
        assert sorted(await store.get_chunks("notes", ["a#0", "a#1", "a#2", "c#0"])) == ["a#0", "a#2", "c#0"]
        await store.commit_staged(
            "notes", [await store.stage("notes", [EmbeddedDocument("a", (), np.zeros((0, 4)))])]
        )
        assert await store.document_ids("notes") == {"b", "c", "d"}

    async def test_a_chunk_comes_back_as_it_was(self, store: ChunkStore):
        whole = Chunk(
            id="茶/乌龙.md#0",
            document_id="茶/乌龙.md",
            text="Oolong\0 🍵 from 福建.\r\n",
            start=7,
            end=29,
            ordinal=3,
            title="乌龙",
            path="茶/乌龙.md",
            kind="list",
            heading_path=("Top", "Über"),
            date=datetime(2024, 2, 29, 12, 30, 15, 123456, tzinfo=UTC),
            url="obsidian://open?vault=a%20b",
            metadata={
                "year": 2024,
                "tags": ["a", None, 1.5],
                "nested": {"k": [True]},
                "none": None,
                "\0'\ud800": "",
            },
        )
        await store.replace_documents("notes", documents_of(whole))
        assert await store.get_chunks("notes", [whole.id, "no such"]) == {whole.id: whole}
        vectors = await store.get_vectors("notes", [whole.id, "no such"])
        assert list(vectors) == [whole.id]
        assert vectors[whole.id].dtype == np.float32
        assert vectors[whole.id].tolist() == EAST.tolist()

    async def test_documents_come_back_whole_and_in_order(self, store: ChunkStore):
        numbers = [3, 0, 11, 2, 1]
        parts = [chunk("a", str(n), text=f"part {n}", ordinal=n) for n in numbers]
        others = [chunk("b"), chunk("笔记/茶"), chunk("' OR 1=1 --")]
        await store.replace_documents("notes", documents_of(*parts, *others))
        read = await store.document_chunks("notes", ["a", "笔记/茶", "no such", "a"])
        assert {name: [one.ordinal for one in its] for name, its in read.items()} == {
            "a": sorted(numbers),
            "笔记/茶": [0],
        }
        assert read["a"][1].text == "part 1"
        assert (await store.document_chunks("notes", ["' OR 1=1 --"])).keys() == {"' OR 1=1 --"}
        assert await store.document_chunks("notes", []) == {}
        assert await store.document_chunks("none", ["a"]) == {}
        assert await store.document_chunks("notes", ["\ud800", "a#0", "%"]) == {}
        await store.remove_documents("notes", ["a"])
        assert (await store.document_chunks("notes", ["a", "b"])).keys() == {"b"}

    async def test_an_unknown_dataset_is_empty(self, store: ChunkStore):
        assert await store.count("none") == 0
        assert await store.document_ids("none") == set()
        assert await store.get_chunks("none", ["a"]) == {}
        assert await store.get_vectors("none", ["a"]) == {}
        assert await store.search_dense("none", EAST, limit=3, restriction=OPEN) == []
        assert await store.search_sparse("none", "tea", limit=3, restriction=OPEN) == []
        assert await store.matching_chunk_ids("none", OPEN, limit=3) == []
        await store.remove_documents("none", ["a"])
        await store.optimize("none")
        assert (await store.stats("none")).tables == ()
        assert await store.datasets() == []

    async def test_stats_tell_rows_model_and_what_is_not_indexed(self, store: ChunkStore):
        await store.replace_documents("notes", documents_of(chunk("a"), chunk("a", "1"), chunk("b")))
        for _ in range(2):
            stats = await store.stats("notes")
            table = stats.tables[0]
            assert (table.name, table.rows) == ("chunks", 3)
            assert (stats.dimension, stats.metric) == (DIMENSION, "cosine")
            assert all(index.indexed_rows + index.unindexed_rows == 3 for index in table.indexes)
            await store.optimize("notes")
        assert table.unindexed_rows == 0
        await store.remove_documents("notes", ["a", "b"])
        assert (await store.stats("notes")).tables[0].rows == 0

    async def test_replacing_twice_changes_nothing(self, store: ChunkStore):
        documents = documents_of(chunk("a"), chunk("a", "1"), chunk("b"))
        await store.replace_documents("notes", documents)
        await store.replace_documents("notes", documents)
        assert await store.count("notes") == 2 + 1
        assert await store.document_ids("notes") == {"a", "b"}

    async def test_a_replaced_document_has_its_new_chunks_and_no_other(self, store: ChunkStore):
        await store.replace_documents("notes", documents_of(chunk("a"), chunk("a", "1"), chunk("b")))
        changed = chunk("a", "1", "coffee")
        await store.replace_documents("notes", documents_of(changed, chunk("a", "2"), vector=NORTH))
        assert await matching(store) == ["a#1", "a#2", "b#0"]
        assert (await store.get_chunks("notes", ["a#1"]))["a#1"] == changed
        assert (await store.get_vectors("notes", ["a#1"]))["a#1"].tolist() == NORTH.tolist()
        assert await sparse(store, "coffee") == ["a#1"]

    async def test_a_document_without_chunks_is_emptied(self, store: ChunkStore):
        await store.replace_documents("notes", documents_of(chunk("a"), chunk("b")))
        empty = EmbeddedDocument("a", (), np.zeros((0, DIMENSION), dtype=np.float32))
        await store.replace_documents("notes", [empty])
        assert await store.document_ids("notes") == {"b"}
        await store.replace_documents("notes", [])
        assert await store.count("notes") == 1

    async def test_removal_takes_every_chunk_and_ignores_unknown_ids(self, store: ChunkStore):
        await store.replace_documents(
            "notes", documents_of(chunk("a"), chunk("a", "1"), chunk("b"), chunk("a'"))
        )
        await store.remove_documents("notes", ["a", "no such", "' OR 1=1 --", "\ud800"])
        assert await matching(store) == ["a'#0", "b#0"]
        await store.remove_documents("notes", [])
        await store.remove_documents("notes", ["a'", "b"])
        assert await store.count("notes") == 0
        assert await store.datasets() == ["notes"]

    async def test_hostile_ids_are_exact_or_refused(self, store: ChunkStore):
        """A lone surrogate is no Unicode, so it can name nothing; any other text is an id like another."""
        await store.replace_documents("notes", documents_of(chunk("other")))
        for name in filter(None, HOSTILE):
            if any("\ud800" <= sign <= "\udfff" for sign in name):
                with pytest.raises(InputError, match="surrogate"):
                    await store.replace_documents("notes", documents_of(chunk(name)))
                assert await store.get_chunks("notes", [f"{name}#0"]) == {}
                continue
            await store.replace_documents("notes", documents_of(chunk(name)))
            assert set(await store.get_chunks("notes", [f"{name}#0", f"{name}#1"])) == {f"{name}#0"}, name
            await store.remove_documents("notes", [name])
            assert await store.document_ids("notes") == {"other"}, name

    async def test_what_makes_no_sense_is_refused_and_changes_nothing(self, store: ChunkStore):
        await store.replace_documents("notes", documents_of(chunk("a")))
        one = documents_of(chunk("b"))[0]
        with pytest.raises(InputError, match="document id"):
            await store.replace_documents("notes", [one, one])
        with pytest.raises(InputError, match="chunk id"):
            await store.replace_documents("notes", documents_of(chunk("b"), chunk("b")))
        with pytest.raises(InputError, match="not one of document"):
            await store.replace_documents("notes", [EmbeddedDocument("c", one.chunks, one.vectors)])
        with pytest.raises(InputError, match="surrogate"):
            await store.replace_documents("notes", documents_of(chunk("b", text="\ud800")))
        with pytest.raises(ManifestMismatch, match=r"\(1, 3\)"):
            await store.replace_documents(
                "notes", [EmbeddedDocument("b", one.chunks, np.ones((1, 3), dtype=np.float32))]
            )
        assert await store.document_ids("notes") == {"a"}

    async def test_a_query_vector_of_another_length_is_refused(self, store: ChunkStore):
        await store.replace_documents("notes", documents_of(chunk("a")))
        with pytest.raises(ManifestMismatch, match=r"\(3,\)"):
            await dense(store, np.ones(3, dtype=np.float32))

    @pytest.mark.parametrize("name", ["", "  ", "a\0b", "\ud800"])
    async def test_a_name_that_names_nothing_is_refused(self, store: ChunkStore, name: str):
        with pytest.raises(InputError, match="dataset needs a name"):
            await store.count(name)
        with pytest.raises(InputError, match="dataset needs a name"):
            await store.replace_documents(name, documents_of(chunk("a")))

    async def test_datasets_are_apart_whatever_their_script(self, store: ChunkStore):
        names = [
            "notes",
            "Notes 2",
            "笔记",
            "ノート",
            "café",
            "a/b",
            "a'b",
            "u_e7ac94e8aeb0",
            "x" * 200,
            "🍵",
        ]
        for name in names:
            await store.replace_documents(name, documents_of(chunk(f"document of {name}")))
        assert await store.datasets() == sorted(names)
        for name in names:
            assert await store.document_ids(name) == {f"document of {name}"}

    async def test_a_name_is_the_same_however_it_is_composed(self, store: ChunkStore):
        await store.replace_documents("cafe\u0301", documents_of(chunk("a")))
        assert await store.count("café") == 1
        assert await store.datasets() == ["café"]

    async def test_dense_is_cosine_descending(self, store: ChunkStore):
        half = np.array([1, 1, 0, 0], dtype=np.float32) / np.sqrt(np.float32(2))
        for name, vector in {"east": EAST, "between": half, "north": NORTH, "west": -EAST}.items():
            await store.replace_documents("notes", documents_of(chunk(name), vector=vector))
        found = await store.search_dense("notes", EAST, limit=10, restriction=OPEN)
        assert [one.chunk.document_id for one in found] == ["east", "between", "north", "west"]
        assert [one.score for one in found] == pytest.approx([1, 1 / np.sqrt(2), 0, -1], abs=2e-4)

    async def test_equal_scores_are_in_id_order_also_where_the_limit_cuts(self, store: ChunkStore):
        many = [chunk(f"d{number:03}") for number in reversed(range(60))]
        await store.replace_documents("notes", documents_of(*many))
        first = [f"d{number:03}#0" for number in range(5)]
        assert await dense(store, limit=5) == first
        assert await sparse(store, "tea", limit=5) == first
        assert await store.matching_chunk_ids("notes", OPEN, limit=5) == first
        assert len(await dense(store, limit=100)) == 60

    async def test_a_limit_of_none_gives_none(self, store: ChunkStore):
        await store.replace_documents("notes", documents_of(chunk("a")))
        assert await dense(store, limit=0) == []
        assert await sparse(store, "tea", limit=0) == []
        assert await store.matching_chunk_ids("notes", OPEN, limit=0) == []

    async def test_sparse_prefers_more_and_rarer_words(self, store: ChunkStore):
        texts = ["tea oolong", "tea tea", "tea milk", "tea sugar", "water sugar"]
        await store.replace_documents(
            "notes", documents_of(*[chunk(str(n), text=text) for n, text in enumerate(texts)])
        )
        found = await store.search_sparse("notes", "oolong tea", limit=10, restriction=OPEN)
        assert [one.chunk.text for one in found] == ["tea oolong", "tea tea", "tea milk", "tea sugar"]
        assert all(one.score > 0 for one in found)

    async def test_sparse_reads_title_and_headings_too(self, store: ChunkStore):
        titled = chunk("a", title="Oolong", heading_path=("Brewing", "Water"))
        await store.replace_documents("notes", documents_of(titled, chunk("b")))
        for word in ("oolong", "brewing", "water"):
            assert await sparse(store, word) == ["a#0"]

    async def test_filters_act_before_the_limit(self, store: ChunkStore):
        near = [chunk(f"near{n:02}", metadata={"lang": "en"}) for n in range(20)]
        await store.replace_documents("notes", documents_of(*near))
        await store.replace_documents(
            "notes",
            documents_of(chunk("far", text="tea and more words", metadata={"lang": "zh"}), vector=-EAST),
        )
        only = parse_filters({"lang": "zh"})
        assert await dense(store, limit=1, filters=only) == ["far#0"]
        assert await sparse(store, "tea", limit=1, filters=only) == ["far#0"]
        assert await matching(store, filters=only) == ["far#0"]
        assert await dense(store, filters=parse_filters({"lang": "fr"})) == []

    @pytest.mark.parametrize(
        ("as_of", "passing"),
        [
            ("2024-01-01", ["none#0", "old#0"]),
            ("2024-06-29", ["none#0", "old#0"]),
            ("2024-06-30", ["day#0", "none#0", "old#0"]),
            ("2024-06-30T12:00:00", ["day#0", "none#0", "old#0"]),
            ("2024-06-30T11:59:59.999999", ["none#0", "old#0"]),
            ("2024-06-30T20:00:00+08:00", ["day#0", "none#0", "old#0"]),
            ("0800-01-01", ["none#0"]),
            ("9999-12-31", ["day#0", "late#0", "none#0", "old#0"]),
        ],
    )
    async def test_as_of_leaves_out_what_came_later(self, store: ChunkStore, as_of: str, passing: list[str]):
        dates = {
            "old": datetime(1500, 1, 1, tzinfo=UTC),
            "day": datetime(2024, 6, 30, 12, tzinfo=UTC),
            "late": datetime(3000, 1, 1, tzinfo=UTC),
            "none": None,
        }
        await store.replace_documents(
            "notes", documents_of(*[chunk(name, date=date) for name, date in dates.items()])
        )
        moment = parse_as_of(as_of)
        assert await matching(store, as_of=moment) == passing
        assert sorted(await dense(store, as_of=moment)) == passing
        assert sorted(await sparse(store, "tea", as_of=moment)) == passing

    async def test_a_moment_without_a_zone_is_utc(self, store: ChunkStore):
        noon = datetime(2024, 6, 30, 12)
        await store.replace_documents("notes", documents_of(chunk("a", date=noon)))
        assert await matching(store, as_of=noon) == ["a#0"]
        assert await matching(store, as_of=noon - timedelta(microseconds=1)) == []
        assert await matching(store, as_of=noon.replace(tzinfo=timezone(timedelta(hours=1)))) == []

    async def test_filters_and_as_of_hold_together(self, store: ChunkStore):
        old, new = datetime(2020, 1, 1, tzinfo=UTC), datetime(2024, 1, 1, tzinfo=UTC)
        await store.replace_documents(
            "notes",
            documents_of(
                chunk("a", date=old, metadata={"n": 1}),
                chunk("b", date=new, metadata={"n": 1}),
                chunk("c", date=old, metadata={"n": 2}),
            ),
        )
        either = parse_filters({"$or": [{"n": 1}, {"n": 3}]})
        assert await matching(store, filters=either, as_of=datetime(2022, 1, 1, tzinfo=UTC)) == ["a#0"]

    async def test_a_chunks_place_is_filtered_like_its_metadata(self, store: ChunkStore):
        spring = datetime(2024, 3, 10, tzinfo=UTC)
        placed = {
            "path": "tea/oolong.md",
            "title": "Oolong",
            "heading_path": ("Oolong", "Steps"),
            "date": spring,
        }
        own = {"title": "of its own", "date": None, "year": [2023, None], "nested": {"a": 1}, "none": []}
        await store.replace_documents(
            "notes",
            documents_of(
                chunk("a", **placed),
                chunk("b", **placed, metadata=own),
                chunk("c", date=spring + timedelta(hours=9)),
            ),
        )
        for wanted, passing in [
            ({"document_id": "a"}, "a"),
            ({"path": "tea/oolong.md"}, "ab"),
            ({"title": "Oolong"}, "a"),
            ({"title": "of its own"}, "b"),
            ({"heading_path": "Steps"}, "ab"),
            ({"kind": "paragraph"}, "abc"),
            ({"date": "2024-03-10"}, "ab"),
            ({"date": {"$gte": "2024-03-10"}}, "abc"),
            ({"date": {"$lt": "2024-03-11"}}, "abc"),
            ({"date": {"$exists": True}}, "abc"),
            ({"folder": "tea"}, "ab"),
            ({"path": {"$contains": "OOLONG"}}, "ab"),
            ({"$not": {"title": {"$contains": "oo"}}}, "bc"),
        ]:
            assert await matching(store, filters=parse_filters(wanted)) == [
                f"{name}#0" for name in passing
            ], wanted
        assert await store.filter_keys("notes") == {
            *("document_id", "path", "folder", "title", "heading_path", "kind", "date", "year")
        }
        assert await store.filter_keys("nothing") == set()

    async def test_a_text_is_found_by_a_part_of_it(self, store: ChunkStore):
        rows: list[dict[str, Any]] = [
            {"genre": "Tactical RPG", "year": 2023},
            {"genre": ["puzzle", "乌龙茶 RPG"], "year": 2023.5},
            {"genre": 'the "it\'s" game', "done": True},
            {},
        ]
        await store.replace_documents(
            "notes", documents_of(*(chunk(f"d{n}", metadata=m) for n, m in enumerate(rows)))
        )
        for key, part, passing in [
            ("genre", "rpg", [0, 1]),
            ("genre", "ＲＰＧ", [0, 1]),
            ("genre", "乌龙", [1]),
            ("genre", '"IT\'S"', [2]),
            ("genre", "' OR 1=1 --", []),
            ("genre", "", [0, 1, 2]),
            ("year", "2023", [0, 1]),
            ("done", "true", [2]),
            ("nothing", "", []),
        ]:
            wanted = Comparison(key, "$contains", part)
            assert await matching(store, filters=wanted) == [f"d{n}#0" for n in passing], wanted
            others = [n for n in range(len(rows)) if n not in passing]
            assert await matching(store, filters=Not(wanted)) == [f"d{n}#0" for n in others], wanted

    async def test_a_tag_selects_those_below_it(self, store: ChunkStore):
        several: list[Any] = [["food/Pasta", "tea"], "#food", ["#foods", 7], ["Food"], []]
        await store.replace_documents(
            "notes",
            documents_of(*(chunk(f"d{n}", metadata={"tags": tags}) for n, tags in enumerate(several))),
        )
        for wanted, passing in [
            ("food", [0, 1]),
            ("food/Pasta", [0]),
            ("foods", [2]),
            ("Pasta", []),
            (7, [2]),
        ]:
            found = await matching(store, filters=Comparison("tags", "$eq", wanted))
            assert found == [f"d{n}#0" for n in passing], wanted

    async def test_hostile_filters_match_exactly_and_change_nothing(self, store: ChunkStore):
        rows = (
            [{text: text} for text in HOSTILE if text]
            + [{"k": text} for text in HOSTILE]
            + [{}, {"k": HOSTILE}]
        )
        chunks = [chunk(f"d{number:03}", metadata=row) for number, row in enumerate(rows)]
        await store.replace_documents("notes", documents_of(*chunks))
        for text in HOSTILE:
            for key in {text or "k", "k"}:
                for operator in ("$eq", "$ne", "$gt", "$lte", "$contains"):
                    wanted = Comparison(key, operator, text)  # type: ignore[arg-type]
                    expected = [one.id for one in chunks if matches(wanted, filterable(one))]
                    assert await matching(store, filters=wanted) == expected, wanted
        assert await store.count("notes") == len(rows)

    async def test_filters_of_any_allowed_depth_and_width(self, store: ChunkStore):
        await store.replace_documents(
            "notes", documents_of(*[chunk(f"d{n}", metadata={"n": n}) for n in range(5)])
        )
        deep: dict[str, Any] = {"n": 1}
        for number in range(30):
            deep = {("$and", "$or")[number % 2]: [deep, {"n": {"$lt": 3}}]}
        negated: dict[str, Any] = {"n": 1}
        for _ in range(60):
            negated = {"$not": negated}
        wide = {"n": {"$in": list(range(1, 3000))}}
        assert await matching(store, filters=parse_filters(deep)) == ["d0#0", "d1#0", "d2#0"]
        assert await matching(store, filters=parse_filters(negated)) == ["d1#0"]
        assert await matching(store, filters=parse_filters(wide)) == ["d1#0", "d2#0", "d3#0", "d4#0"]

    async def test_a_profile_is_the_mean_of_some_chunks_and_follows_writes(self, store: ChunkStore):
        assert await store.profile("notes") is None
        await store.replace_documents("notes", documents_of(chunk("a")))
        await store.replace_documents("notes", documents_of(chunk("b"), vector=-EAST))
        profile = await store.profile("notes")
        assert profile is not None
        assert (profile.chunks, profile.centre.tolist(), profile.centre.dtype) == (
            2,
            [0.0] * DIMENSION,
            np.float32,
        )
        await store.remove_documents("notes", ["b"])
        profile = await store.profile("notes")
        assert profile is not None
        assert (profile.chunks, profile.centre.tolist()) == (1, EAST.tolist())
        await store.remove_documents("notes", ["a"])
        assert await store.profile("notes") is None

    async def test_full_text(self, store: ChunkStore):
        await store.replace_documents(
            "notes", documents_of(*[chunk(name, text=text) for name, text in TEXTS.items()])
        )
        for query, found in QUERY_RESULTS:
            assert await sparse(store, query) == ([f"{found}#0"] if found else []), query

    async def test_any_text_can_be_searched_for(self, store: ChunkStore):
        await store.replace_documents("notes", documents_of(chunk("a"), chunk("b", text="water")))
        for query in HOSTILE_QUERIES:
            assert set(await sparse(store, query)) <= {"a#0", "b#0"}, query[:40]
        for query in ("tea AND NOT OR", '"tea', "tea'", "\ud800 tea", "tea " * 5000):
            assert await sparse(store, query) == ["a#0"], query[:40]
        assert await store.count("notes") == 2

    async def test_optimising_changes_no_answer(self, store: ChunkStore):
        chunks = [chunk(name, text=text, metadata={"n": n}) for n, (name, text) in enumerate(TEXTS.items())]
        await store.replace_documents("notes", documents_of(*chunks))
        few = parse_filters({"n": {"$gte": 3}})
        queries = ("水果", "404 tea filters", "C")
        before = [await sparse(store, query) for query in queries], await dense(store, filters=few)
        await store.optimize("notes")
        await store.optimize("notes")
        assert ([await sparse(store, query) for query in queries], await dense(store, filters=few)) == before
        await store.replace_documents(
            "notes", documents_of(chunk("new", text="水果 404", metadata={"n": 99}))
        )
        assert set(await sparse(store, "水果")) == {"zh#0", "new#0"}
        assert await matching(store, filters=parse_filters({"n": {"$gt": 50}})) == ["new#0"]
