"""Isolation of tenants: datasets and users side by side, on every back end.

Four tenants have a dataset and a user each, under confusable names. Their notes have the same file names, titles and
words; in addition, each note and memory has a unique word. Calls of all tenants run interleaved, sixteen at a time:
searches, questions, facts, memories, small ingests, deletions. Half of the questions are for another tenant's word, or
for shared words alone. Another tenant's word in a result, citation, fact or memory is a leak; afterwards every stored
row is checked as well. Vectors are synthetic (``HashingEmbedding``), because the stores, the graph and the memory are
tested, not the model.
"""

from __future__ import annotations

import asyncio
import random
import re
import sys
import time
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest

from agentic_rag import Rag, RagConfig, open_rag
from agentic_rag.domain.identity import group_id, memory_dataset
from agentic_rag.retrieval.ports import SourceQuery
from agentic_rag.testing import HashingEmbedding
from figures import Row, row
from graph_servers import falkordb_server, neo4j_server
from stored import tables
from vector_stores import EXTRAS, milvus_lite, postgres_server, skip_without

CALLS, QUICK_CALLS = 10_000, 300
AT_ONCE = 16
NAMES = (("notes", "ada"), ("note", "Ada"), ("notes.1", "ada "), ("笔记", "阿达"))
"""Names of datasets and users; "notes.1" is the name of a table of "notes" after a reindex."""
NOTES = 24
"""Permanent notes per tenant; others come and go."""
TOP_K = 20
GRAPHS = {"falkordb": falkordb_server, "neo4j": neo4j_server}
_TITLES = ("Harbour", "Lighthouse", "Ferry", "Oolong", "Roasting", "Violin")
_WORD = re.compile(r"\bzq[a-z]{18}\b")
_OWNER = len("zq") + 10
"""Letters of a word that identify its owner."""


def own_word(number: int, place: int) -> str:
    """A word that occurs in only one memory of one person; letters only, so that no tokeniser splits it."""
    digits = f"{number:05d}{place:04d}"
    return "zq" + "".join("bcdfghjklm"[int(digit)] + "aeiou"[int(digit) % 5] for digit in digits)


@dataclass
class Tenant:
    """A dataset and a user, and the words that their searches must find now."""

    number: int
    folder: Path
    chance: random.Random
    kept: set[str] = field(default_factory=set)
    """Words of permanent notes."""
    new: dict[str, Path] = field(default_factory=dict)
    """Words of temporary notes."""
    memories: dict[str, str] = field(default_factory=dict)
    """Ids of messages, by word."""
    gone: set[str] = field(default_factory=set)
    writes: asyncio.Lock = field(default_factory=asyncio.Lock)
    """One ingest at a time, because a concurrent one would be refused."""
    places: Iterator[int] = field(default_factory=lambda: count(1))

    @property
    def dataset(self) -> str:
        return NAMES[self.number][0]

    @property
    def user(self) -> str:
        return NAMES[self.number][1]

    def word(self) -> str:
        """A new unique word."""
        return own_word(self.number, next(self.places))

    def owns(self, word: str) -> bool:
        return word[:_OWNER] == own_word(self.number, 0)[:_OWNER]

    def foreign(self, text: str) -> set[str]:
        """Words of other tenants in a text."""
        return {word for word in _WORD.findall(text) if not self.owns(word)}

    def write(self, name: str, word: str) -> Path:
        """Write a note; other tenants have one of the same name, with the same words but one."""
        title = f"{_TITLES[len(name) % len(_TITLES)]} {name}"
        text = (
            f"---\nowner: tenant{self.number}\n---\n# {title}\n\nThe meeting at the harbour was about the lighthouse and "
            f"the ferry. Lin Mei knows [[{word}]] since the meeting.\n"
        )
        file = self.folder / f"{name}.md"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
        return file

    async def opened(self, rag: Rag) -> None:
        """Store the permanent notes, one temporary note and one memory."""
        for number in range(NOTES):
            word = self.word()
            self.write(f"kept/{number}", word)
            self.kept.add(word)
        await rag.ingest(self.folder / "kept", dataset=self.dataset)
        await written(rag, self, "")
        await remembered(rag, self, "")


@dataclass(frozen=True)
class Given:
    """The output of a call."""

    text: str = ""
    """Text of results, citations and facts, or of memories."""
    must_hold: bool = False
    """Whether the requested word of the tenant must occur in it."""
    degraded: bool = False


Call = Callable[[Rag, Tenant, str], Awaitable[Given]]


def _question(tenant: Tenant, word: str) -> str:
    asked = (
        "What does Lin Mei know about {}?",
        "{} meeting at the harbour",
        "Where is the ferry to {}?",
        "{}",
    )
    return tenant.chance.choice(asked).format(word or "the lighthouse")


async def searched(rag: Rag, tenant: Tenant, word: str) -> Given:
    strategy: Any = tenant.chance.choice(("dense", "sparse", "hybrid"))
    found = await rag.search(_question(tenant, word), dataset=tenant.dataset, strategy=strategy, top_k=TOP_K)
    return Given(str(found), must_hold=strategy != "dense")


async def filtered(rag: Rag, tenant: Tenant, word: str) -> Given:
    """A search filtered by the owner property; another tenant's finds nothing."""
    whose = tenant.chance.randrange(len(NAMES))
    filters = {"owner": f"tenant{whose}"}
    found = await rag.search(_question(tenant, word), dataset=tenant.dataset, filters=filters, top_k=TOP_K)
    return Given(str(found), must_hold=whose == tenant.number)


async def asked(rag: Rag, tenant: Tenant, word: str) -> Given:
    question = _question(tenant, word)
    user = tenant.chance.choice((None, tenant.user))
    answer = await rag.ask(question, dataset=tenant.dataset, user_id=user, top_k=TOP_K)
    echoed = answer.text.replace(word, "") if word else answer.text
    degraded = any(one["status"] == "degraded" for one in answer.outcomes.values() if isinstance(one, dict))
    return Given(f"{answer.results} {answer.citations} {echoed}", must_hold=True, degraded=degraded)


async def walked(rag: Rag, tenant: Tenant, word: str) -> Given:
    found = await rag.graph_engine.find(SourceQuery(tenant.dataset, word or "Lin Mei"), TOP_K)
    return Given(str(found.hits), must_hold=True)


async def related(rag: Rag, tenant: Tenant, word: str) -> Given:
    facts = await rag.related_facts(word or "Lin Mei", dataset=tenant.dataset, limit=TOP_K)
    return Given(str(facts), must_hold=True)


async def recalled(rag: Rag, tenant: Tenant, word: str) -> Given:
    response = await rag.memory.search(_question(tenant, word), tenant.user, max_results=TOP_K)
    return Given(str(response.memories), must_hold=True, degraded=bool(response.degraded_agents))


async def listed(rag: Rag, tenant: Tenant, word: str) -> Given:
    return Given(str(await rag.memory.list(tenant.user)), must_hold=True)


async def remembered(rag: Rag, tenant: Tenant, _: str) -> Given:
    word = tenant.word()
    kept = await rag.memory.remember(
        f"I met Lin Mei at the harbour about the lighthouse {word}.", tenant.user
    )
    tenant.memories[word] = kept.evidence_id
    return Given(str(kept))


async def forgotten(rag: Rag, tenant: Tenant, _: str) -> Given:
    if len(tenant.memories) < 2:
        return await remembered(rag, tenant, "")
    word = tenant.chance.choice(sorted(tenant.memories))
    await rag.memory.forget(tenant.user, [tenant.memories.pop(word)])
    tenant.gone.add(word)
    return Given()


async def written(rag: Rag, tenant: Tenant, _: str) -> Given:
    async with tenant.writes:
        word = tenant.word()
        file = tenant.write(f"new/visit {len(tenant.new) + len(tenant.gone)}", word)
        report = await rag.ingest(tenant.folder / "new", dataset=tenant.dataset)
        tenant.new[word] = file
        return Given(str(report.to_dict()))


async def deleted(rag: Rag, tenant: Tenant, _: str) -> Given:
    async with tenant.writes:
        if tenant.new:
            word = tenant.chance.choice(sorted(tenant.new))
            tenant.new.pop(word).unlink()
            await rag.ingest(tenant.folder / "new", dataset=tenant.dataset)
            tenant.gone.add(word)
        return Given()


NOTE_CALLS: dict[Call, int] = {searched: 510, filtered: 100, asked: 60, walked: 60, related: 60}
MEMORY_CALLS: dict[Call, int] = {recalled: 160, listed: 27}
WRITE_CALLS: dict[Call, int] = {remembered: 12, forgotten: 3, written: 6, deleted: 2}
MIX = NOTE_CALLS | MEMORY_CALLS | WRITE_CALLS
"""Frequency of each call, per thousand."""


async def _called(
    rag: Rag, tenants: list[Tenant], call: Call, chance: random.Random, found: Counter[str]
) -> None:
    tenant = chance.choice(tenants)
    held: Any = tenant.memories if call in MEMORY_CALLS else tenant.kept | tenant.new.keys()
    whose = chance.choice(("own", "own", "other", "nobody"))
    other = chance.choice([one for one in tenants if one is not tenant])
    words = sorted(held) if whose == "own" else sorted(other.kept | other.memories.keys())
    word = "" if whose == "nobody" else chance.choice(words)
    gone = set(tenant.gone)
    try:
        given = await call(rag, tenant, word)
    except Exception as error:  # noqa: BLE001  # a call that fails is what is counted
        print(f"{call.__name__} of {tenant.dataset!r}: {type(error).__name__}: {error}", file=sys.stderr)
        found["failed"] += 1
        return
    said = set(_WORD.findall(given.text))
    found["leaks"] += bool(tenant.foreign(given.text))
    found["stale"] += bool(gone & said)
    found["degraded"] += given.degraded
    held = tenant.memories if call in MEMORY_CALLS else tenant.kept | tenant.new.keys()
    if whose == "own" and given.must_hold and not given.degraded and word in held:
        found["asked"] += 1
        if word not in given.text:
            found["missing"] += 1
            print(f"{call.__name__} of {tenant.dataset!r}: without {word}", file=sys.stderr)


async def _mixed(rag: Rag, calls: int, folder: Path) -> tuple[list[Tenant], Counter[str]]:
    chance = random.Random(calls)
    tenants = [Tenant(number, folder / str(number), random.Random(number)) for number in range(len(NAMES))]
    for tenant in tenants:
        await tenant.opened(rag)
    plan = iter(chance.choices(list(MIX), weights=list(MIX.values()), k=calls))
    found: Counter[str] = Counter()

    async def worker() -> None:
        for call in plan:
            await _called(rag, tenants, call, chance, found)

    await asyncio.gather(*(worker() for _ in range(AT_ONCE)))
    return tenants, found


async def _rows_of_others(rag: Rag, tenants: list[Tenant], *, server: bool) -> tuple[int, int]:
    """Number of stored rows, and of those with a word of another tenant."""
    looked = wrong = 0
    stored = await tables(rag.config.data_dir)
    groups = {group_id(name): one for one in tenants for name in (one.dataset, memory_dataset(one.user))}
    for name, rows in stored.rows.items():
        table = re.sub(r"^(chunks|values|graph)_|_(entities|episodes|facts|mentions)$", "", name)
        tenant = groups.get(re.sub(r"^(chunks|values|graph)_", "", table))
        if tenant is not None:
            looked += len(rows)
            wrong += sum(bool(tenant.foreign(str(one))) for one in rows.values())
    async for group, text in _server_rows(rag) if server else _chunks(rag, tenants):
        looked += 1
        wrong += bool(groups[group].foreign(text))
    return looked, wrong


async def _server_rows(rag: Rag) -> AsyncIterator[tuple[str, str]]:
    for statement in (
        "MATCH (n) RETURN n.group_id AS g, n.name AS name, n.content AS content, n.summary AS summary",
        "MATCH ()-[r]->() RETURN r.group_id AS g, r.name AS name, r.fact AS content",
    ):
        rows, _, _ = await rag.knowledge.graphiti.driver.execute_query(statement)  # type: ignore[attr-defined]
        for one in rows:
            yield str(one["g"]), str(one)


async def _chunks(rag: Rag, tenants: list[Tenant]) -> AsyncIterator[tuple[str, str]]:
    """All chunks of the current vector store, by a search that they all match."""
    for tenant in tenants:
        for one in await rag.search("meeting harbour", dataset=tenant.dataset, strategy="dense", top_k=1000):
            yield group_id(tenant.dataset), str(one)


@contextmanager
def _back_end(name: str, folder: Path) -> Iterator[dict[str, Any]]:
    """The settings of a back end; skips as a test would if it cannot be started."""
    if name in GRAPHS:
        with GRAPHS[name](folder) as server:
            yield {"graph": server.settings}
        return
    if name == "embedded":
        yield {}
        return
    skip_without(name)
    if name == "milvus":
        with milvus_lite(folder) as file:
            yield {"vectors": {"backend": name, "uri": file}}
    elif name == "pgvector":
        with postgres_server() as uri:
            yield {"vectors": {"backend": name, "uri": uri}}
    else:
        yield {"vectors": {"backend": name, "uri": str(folder / name)}}


async def _measured(name: str, settings: dict[str, Any], calls: int, folder: Path) -> list[Row]:
    config = RagConfig.model_validate({"data_dir": folder / "data", **settings})
    started = time.perf_counter()
    async with open_rag(config, embedding=HashingEmbedding()) as rag:
        tenants, found = await _mixed(rag, calls, folder / "notes")
        looked, others = await _rows_of_others(rag, tenants, server=name in GRAPHS)
    print(f"{name}: {dict(found)} in {time.perf_counter() - started:.0f} s", file=sys.stderr)
    of = f"tenants on {name}"
    return [
        row(f"{of}: leaks in {calls} calls of {len(NAMES)}, synthetic vectors", "calls", found["leaks"], floor=0),
        row(f"{of}: rows with another's words, of {looked} stored", "rows", others, floor=0),
        row(f"{of}: own results missing, of {found['asked']} asked for ({found['degraded']} degraded calls left out)",
            "calls", found["missing"], floor=0),
        row(f"{of}: deleted or forgotten and still given", "calls", found["stale"], floor=0),
        row(f"{of}: calls that failed", "calls", found["failed"], floor=0),
    ]  # fmt: skip


def run(quick: bool) -> list[Row]:
    """All rows; a back end that cannot be started has one without a figure."""
    rows: list[Row] = []
    for name in ["embedded"] if quick else ["embedded", *GRAPHS, *EXTRAS]:
        with TemporaryDirectory() as scratch:
            try:
                with _back_end(name, Path(scratch)) as settings:
                    rows += asyncio.run(
                        _measured(name, settings, QUICK_CALLS if quick else CALLS, Path(scratch))
                    )
            except pytest.skip.Exception as error:
                rows.append(row(f"tenants on {name}: not measured, {error.msg}", "calls", None))
    return rows
