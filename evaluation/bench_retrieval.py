"""The retrieval engine: speed from 10,000 to 1,000,000 chunks, exactness, quality, and comparison with peers.

    python evaluation/bench_retrieval.py [--quick] [--only PART,…] [--data DIR] [--keep DIR] [--json FILE]

Parts: scale, peers, embedding, cold, quality, filters. Chunks beyond the judged sets are synthetic:
recombined texts, vectors between two real ones with noise. Embedding the question is not counted in
scale and peers; its own figures are in embedding. Needs judged sets that are not part of this project
(by default ../shared/data); their vectors are kept in evaluation/.cache. ``--quick`` leaves out the
million and scifact, and compares with peers on fewer chunks. Exits 1 when a floor is missed, 2 without
the data.
"""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
import tempfile
from pathlib import Path

from agentic_rag.models.bundled import BundledEmbedding
from figures import DATA, EXAMPLE, HERE, Row, options, report, row
from judged_sets import available
from retrieval_benchmark import peers, quality, throughput

PARTS = ("scale", "peers", "embedding", "cold", "quality", "filters")
SIZES = (10_000, 100_000, 1_000_000)
P95 = {100_000: 25.0, 1_000_000: 60.0}
AT_ONCE = {100_000: 100.0}
RECALL, OVERHEAD, GROWTH = 0.95, 1.2, 6.0


def scale(sizes: tuple[int, ...], data: Path, folder: Path, queries: int) -> dict[int, dict[str, float]]:
    """Figures by size; building and searching run in separate processes."""
    found: dict[int, dict[str, float]] = {}
    for size in sizes:
        built = folder / f"{size}.json"
        if not built.is_file():
            built.write_text(_part("build", size, folder, data, queries), encoding="utf-8")
        found[size] = json.loads(built.read_text(encoding="utf-8"))
        found[size] |= json.loads(_part("search", size, folder, data, queries))
    return found


def _part(what: str, size: int, folder: Path, data: Path, queries: int) -> str:
    """The JSON printed last by a process of ``retrieval_benchmark.scale``."""
    command = [sys.executable, "-m", "retrieval_benchmark.scale", what, str(size), str(folder / str(size)), str(data), str(queries)]  # fmt: skip
    done = subprocess.run(command, cwd=HERE, check=True, stdout=subprocess.PIPE, text=True)
    return done.stdout.strip().splitlines()[-1]


def scale_rows(found: dict[int, dict[str, float]]) -> list[Row]:
    """Ratios first; sizes that the quick form omits have no figure."""
    rows = [
        row(f"{size:,} chunks: engine over bare LanceDB calls, p50 with filter", "×", found.get(size, {}).get("overhead"), floor=OVERHEAD)
        for size in SIZES
    ]  # fmt: skip
    largest, least = found.get(SIZES[-1]), found.get(SIZES[0])
    grown = largest["filtered p50"] / least["filtered p50"] if largest and least else None
    rows.append(row("p50 with filter, a million over ten thousand chunks", "×", grown, floor=GROWTH))
    for size in SIZES:
        of = found.get(size, {})
        told = f"{size:,} chunks"
        rows += [
            row(f"{told}: hybrid with filter p95", "ms", of.get("filtered p95"), floor=P95.get(size), peer="bare LanceDB", theirs=of.get("bare p95")),
            row(f"{told}: hybrid with filter p50", "ms", of.get("filtered p50"), peer="bare LanceDB", theirs=of.get("bare p50")),
            row(f"{told}: hybrid p95", "ms", of.get("unfiltered p95")),
            row(f"{told}: hybrid with filter, 32 at once", "queries/s", of.get("filtered queries/s"), bound="min", floor=AT_ONCE.get(size), peer="bare LanceDB", theirs=of.get("bare queries/s")),
            row(f"{told}: recall@10 of the index", "", of.get("recall@10"), bound="min", floor=RECALL if size > SIZES[0] else None),
            row(f"{told}: recall@10 of the index with filter", "", of.get("recall@10 with filter"), bound="min"),
            row(f"{told}: written", "s", of.get("write s")),
            row(f"{told}: indexed", "s", of.get("index s")),
            row(f"{told}: on disk", "MB", of.get("disk MB")),
            row(f"{told}: peak memory, writing", "MB", of.get("memory MB")),
            row(f"{told}: peak memory, searching", "MB", of.get("search MB")),
        ]  # fmt: skip
    return rows


async def embedding_row() -> list[Row]:
    """Time of the question's embedding, which scale leaves out."""
    import time

    model, taken = BundledEmbedding(), []
    for number in range(60):
        started = time.perf_counter()
        await model.embed_queries([f"which teas are oxidised the longest, and why, number {number}?"])
        taken.append((time.perf_counter() - started) * 1e3)
    return [row("embedding one question, p50", "ms", sorted(taken[5:])[27])]


def run(parts: list[str], quick: bool, data: Path, keep: Path | None) -> list[Row]:
    """Rows of the parts."""
    rows: list[Row] = []
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        if "scale" in parts:
            tables = keep or folder
            tables.mkdir(parents=True, exist_ok=True)
            rows += scale_rows(scale(SIZES[:2] if quick else SIZES, data, tables, 120 if quick else 400))
        if "peers" in parts:
            rows += asyncio.run(peers.rows(20_000 if quick else 100_000, data, folder, 60 if quick else 200))
        if "embedding" in parts:
            rows += throughput.rows(1.5 if quick else 5.0)
            rows += asyncio.run(embedding_row())
        if "cold" in parts:
            rows += throughput.cold_rows(EXAMPLE)
        if "quality" in parts:
            names = available([n for n in quality.FLOORS if not (quick and n == "scifact/train")], data)
            rows += asyncio.run(quality.measured(names, data, folder))
        if "filters" in parts:
            rows.append(asyncio.run(quality.filter_row(folder, 2_000 if quick else 10_000)))
    return rows


def main() -> int:
    parser = options(__doc__, "smaller, the same comparisons", DATA)
    parser.add_argument("--only", metavar="PART,…", default=",".join(PARTS), help=", ".join(PARTS))
    parser.add_argument(
        "--keep", type=Path, metavar="DIR", help="keep the tables of scale there, and use those"
    )
    given = parser.parse_args()
    parts = given.only.split(",")
    if unknown := set(parts) - set(PARTS):
        parser.error(f"unknown part {', '.join(sorted(unknown))}; known are {', '.join(PARTS)}")
    if not available(["rgb/zh_fact", "cranfield"], given.data):
        print(f"error: {given.data} holds no judged sets; name their folder with --data", file=sys.stderr)
        return 2
    keep = given.keep.resolve() if given.keep else None
    return report("retrieval engine", run(parts, given.quick, given.data.resolve(), keep), given.json)


if __name__ == "__main__":
    sys.exit(main())
