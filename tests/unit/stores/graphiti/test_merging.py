"""Which extracted names Graphiti merges without asking the model, on 300 pairs of names.

``name_pairs.json`` was written before the rule and is divided by a hash; the rule was chosen on the first half.
``pytest -s`` prints the figures of docs/evaluation.md.
"""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Sequence
from pathlib import Path

import pytest

from agentic_rag.errors import ConfigError
from agentic_rag.stores.graphiti.library import EntityNode, node_operations
from agentic_rag.stores.graphiti.store import GraphitiStore
from agentic_rag.testing import HashingEmbedding
from agentic_rag_lab.evaluation.datasets import half_of
from graph_fixtures import opened

PAIRS = json.loads((Path(__file__).parent / "name_pairs.json").read_text(encoding="utf-8"))
MAX_MISSED = 0.1


@pytest.fixture
async def store(tmp_path: Path, embedding: HashingEmbedding) -> AsyncIterator[GraphitiStore]:
    async with opened(tmp_path, embedding) as made:
        yield made


def node(name: str) -> EntityNode:
    return EntityNode(name=name, group_id="notes", labels=["Entity"])


async def merged_with(store: GraphitiStore, known: Sequence[str], name: str) -> str | None:
    """The known name whose entity an extracted name becomes; None where the model, which is none, is asked."""
    nodes = [node(one) for one in known]
    try:
        resolved, uuids, _ = await node_operations.resolve_extracted_nodes(
            (await store.graphiti()).clients, [extracted := node(name)], existing_nodes_override=nodes
        )
    except ConfigError:
        return None
    (found,) = (one.name for one in nodes if one.uuid == resolved[0].uuid == uuids[extracted.uuid])
    return str(found)


@pytest.mark.parametrize("rule", ["ours", "Graphiti's"])
async def test_strangers_are_not_merged(
    store: GraphitiStore, rule: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    if rule != "ours":
        from graphiti_core.utils.maintenance import dedup_helpers

        monkeypatch.setattr(
            node_operations, "_resolve_with_similarity", dedup_helpers._resolve_with_similarity
        )
    for half in ("first", "second"):
        one = {kind: [pair for pair in PAIRS[kind] if half_of("\t".join(pair)) == half] for kind in PAIRS}
        wrong = [pair for pair in one["different"] if await merged_with(store, pair[:1], pair[1])]
        missed = [pair for pair in one["same"] if not await merged_with(store, pair[:1], pair[1])]
        print(
            f"\n{rule}, {half} half: merged {len(wrong)} of {len(one['different'])} different, "
            f"missed {len(missed)} of {len(one['same'])} same"
        )
        if rule == "ours":
            assert wrong == []
            assert len(missed) <= MAX_MISSED * len(one["same"]), missed
        else:
            assert wrong, "Graphiti tells them apart now: ours is not needed any more"


async def test_of_several_entities_of_one_spelling_the_one_written_so_is_meant(store: GraphitiStore) -> None:
    assert await merged_with(store, ["烏龍茶", "乌龙茶"], "乌龙茶") == "乌龙茶"
    assert await merged_with(store, ["烏龍茶", "乌龙茶"], "乌龍茶") is None, "the model decides"


@pytest.mark.parametrize(
    ("known", "name"),
    [("10-5 mol", "10⁻⁵ mol"), ("10n parts", "10ⁿ parts"), ("x(2) term", "x⁽²⁾ term"), ("Na+ 2", "Na⁺ 2")],
)
async def test_a_power_is_not_merged_with_its_plain_letters(
    store: GraphitiStore, known: str, name: str
) -> None:
    assert await merged_with(store, [known], name) is None


@pytest.mark.parametrize(("known", "name"), [("10^-5 mol", "10⁻⁵ mol"), ("CO2", "CO₂"), ("m^3", "m³")])
async def test_one_name_in_two_forms_of_its_signs_is_merged(
    store: GraphitiStore, known: str, name: str
) -> None:
    assert await merged_with(store, [known], name) == known
