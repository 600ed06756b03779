#!/bin/sh
# Before Graphiti asks a model whether two names mean one thing, it compares them by itself: as sets of three letters, of
# names reduced to a-z, 0-9 and the apostrophe, without spaces. Where the difference is in what was dropped, the
# similarity is 1 and no threshold helps: C++ becomes C#, +10 becomes -10, 1.12 becomes 11.2, and every person of a
# company, written in Han characters before its Latin name, becomes the first one.
# Seen with graphiti-core 0.31.1 on kuzu 0.11.3, each pair in a graph of its own. httpx is installed beside it because
# graphiti-core imports it and does not require it.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check \
  graphiti-core==0.31.1 kuzu==0.11.3 httpx==0.28.1
GRAPHITI_TELEMETRY_ENABLED=false "$folder/venv/bin/python" -W ignore::DeprecationWarning - <<'PY'
import asyncio

from graphiti_core import Graphiti
from graphiti_core.cross_encoder.client import CrossEncoderClient
from graphiti_core.driver.kuzu_driver import KuzuDriver
from graphiti_core.embedder.client import EmbedderClient
from graphiti_core.llm_client import LLMClient, LLMConfig
from graphiti_core.nodes import EntityNode
from graphiti_core.utils.maintenance.node_operations import resolve_extracted_nodes

PAIRS = {
    ("C++ compiler", "C# compiler"): "merged",
    ("freezer at +10", "freezer at -10"): "merged",
    ("Release 1.12", "Release 11.2"): "merged",
    ("李雷 (Acme Research)", "韩梅梅 (Acme Research)"): "merged",
    ("Python language", "Pascal language"): "a model is asked",
}


class ModelAsked(Exception):
    pass


class Model(LLMClient):
    async def _generate_response(self, *args, **kwargs):
        raise ModelAsked


class Ranker(CrossEncoderClient):
    async def rank(self, query, passages):
        raise ModelAsked


class Letters(EmbedderClient):
    """How often each letter occurs: names of like letters are candidates for one another."""

    async def create(self, input_data):
        text = input_data if isinstance(input_data, str) else "".join(input_data)
        return [1.0 + text.lower().count(letter) for letter in "abcdefghijklmnopqrstuvwxyz"]


async def outcome(known, new):
    graph = Graphiti(
        graph_driver=KuzuDriver(":memory:"),
        llm_client=Model(LLMConfig(model="none")),
        embedder=Letters(),
        cross_encoder=Ranker(),
    )
    await graph.build_indices_and_constraints()
    node = EntityNode(name=known, group_id="notes")
    await node.generate_name_embedding(graph.embedder)
    await node.save(graph.driver)
    try:
        (resolved,), _, _ = await resolve_extracted_nodes(
            graph.clients, [EntityNode(name=new, group_id="notes")]
        )
    except ModelAsked:
        return "a model is asked"
    finally:
        await graph.close()
    return "merged" if resolved.uuid == node.uuid else "apart"


async def main():
    for (known, new), expected in PAIRS.items():
        seen = await outcome(known, new)
        print(f"{known} | {new}: {seen}")
        assert seen == expected, (known, new, seen)


asyncio.run(main())
PY
