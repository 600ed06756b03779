"""The contents of the two stores of a data folder, read without the package, for comparison and search."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import lancedb
import numpy as np

from agentic_rag import Rag
from agentic_rag.domain.ports import FloatArray
from agentic_rag.stores.lancedb.manifests import of_generation

KEYS = ("uuid", "chunk_id", "item", "key", "group_id")
"""The first of these that a table has names its rows."""
WHEN_WRITTEN = ("created_at", "expired_at", "reference_time")


@dataclass
class Stored:
    """Rows without their vectors by table and key, and the vectors apart."""

    rows: dict[str, dict[str, dict[str, Any]]] = field(default_factory=dict)
    vectors: dict[str, dict[str, FloatArray]] = field(default_factory=dict)
    versions: dict[str, int] = field(default_factory=dict)

    @property
    def text(self) -> str:
        """Everything in it as one text, to look for what must not be there."""
        return json.dumps(self.rows, ensure_ascii=False, default=str, sort_keys=True)

    def row_counts(self) -> dict[str, int]:
        return {name: len(rows) for name, rows in self.rows.items()}


async def tables(data_dir: Path, *, every_generation: bool = False) -> Stored:
    """Every LanceDB table in force of a data folder, whole, by the name it had before any reindex.

    ``every_generation``: those that are not in force as well, each by its full name.
    """
    stored = Stored()
    database = await lancedb.connect_async(str(data_dir / "vectors"))
    names = (await database.list_tables(limit=1000)).tables
    in_force = await _generations(database) if "datasets" in names else {}
    for full_name in sorted(names):
        name, generation = of_generation(full_name)
        if every_generation:
            name = full_name
        elif generation != in_force.get(_group_with_vectors(name) or "", 0):
            continue
        table = await database.open_table(full_name)
        stored.versions[name] = await table.version()
        found = await table.query().to_list()
        key = next(k for k in KEYS if not found or k in found[0])
        stored.vectors[name] = {row[key]: np.asarray(row.pop("vector")) for row in found if "vector" in row}
        for row in found:
            for column in WHEN_WRITTEN:
                row.pop(column, None)
            if name == "datasets":
                held = json.loads(row["manifest"])
                row["manifest"] = {key: held[key] for key in ("model", "dimension", "metric")}
        stored.rows[name] = {row[key]: row for row in found}
        assert len(stored.rows[name]) == len(found), f"{name} holds a key twice"
        table.close()
    database.close()
    return stored


async def _generations(database: Any) -> dict[str, int]:
    """By group id."""
    rows = await (await database.open_table("datasets")).query().to_list()
    return {row["group_id"]: json.loads(row["manifest"]).get("generation", 0) for row in rows}


def _group_with_vectors(name: str) -> str | None:
    """The group of a table that holds vectors."""
    found = re.fullmatch(r"chunks_(.+)|graph_(.+)_facts", name)
    return (found[1] or found[2]) if found else None


async def everything(rag: Rag) -> Stored:
    """The tables of an open ``Rag``."""
    return await tables(rag.config.data_dir)


def loose(stored: Stored) -> list[str]:
    """What hangs loose in the graph, and chunks without an episode or the other way round."""
    of = {
        kind: [
            row for name, rows in stored.rows.items() if name.endswith(f"_{kind}") for row in rows.values()
        ]
        for kind in ("entities", "episodes", "facts", "mentions")
    }
    entities, episodes = ({row["uuid"] for row in of[kind]} for kind in ("entities", "episodes"))
    named = {end for fact in of["facts"] for end in (fact["source_uuid"], fact["target_uuid"])}
    named |= {mention["target_uuid"] for mention in of["mentions"]}
    found = [f"an entity that is missing, or that nothing names: {uuid}" for uuid in named ^ entities]
    telling = {mention["source_uuid"] for mention in of["mentions"]}
    telling |= {uuid for fact in of["facts"] for uuid in fact["episodes"]}
    found += [f"an episode that is missing: {uuid}" for uuid in telling - episodes]
    chunks = {key for name, rows in stored.rows.items() if name.startswith("chunks_") for key in rows}
    names = {str(row["name"]) for row in of["episodes"]}
    return found + [f"a chunk or an episode alone: {name}" for name in names ^ chunks]


def assert_whole(stored: Stored) -> None:
    """Nothing hangs loose in the graph."""
    assert loose(stored) == []


def differences(
    one: Stored, other: Stored, *, labels: bool = False, rounded: float = 0.0
) -> list[tuple[Any, ...]]:
    """Unequal ids, texts and facts; with ``labels``, unequal labels of entities as well.

    Vectors may differ by 1e-6, and by the share ``rounded`` of each of their values.
    """
    ignored = set() if labels else {"labels"}
    found: list[tuple[Any, ...]] = []
    for name in sorted(one.rows.keys() | other.rows.keys()):
        left, right = one.rows.get(name, {}), other.rows.get(name, {})
        found += [(name, key, left.get(key) or right.get(key)) for key in left.keys() ^ right.keys()]
        for key in left.keys() & right.keys():
            columns = left[key].keys() - ignored
            unlike = {
                c: (left[key][c], right[key].get(c)) for c in columns if left[key][c] != right[key].get(c)
            }
            found += [(name, key, left[key].get("name"), unlike)] if unlike else []
    for name, vectors in one.vectors.items():
        others = other.vectors.get(name, {})
        near = {
            key: np.allclose(vector, others[key], rtol=rounded, atol=1e-6)
            for key, vector in vectors.items()
            if key in others
        }
        found += [(name, key, "vector") for key, same in near.items() if not same]
    return found


def assert_same(one: Stored, other: Stored, *, labels: bool = False) -> None:
    """No ``differences``."""
    found = differences(one, other, labels=labels)
    assert not found, found[:3]
