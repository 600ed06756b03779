"""The common parts of all benchmarks: folders, options, rows, and the table and file with the floors."""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Literal

import numpy as np
from rich.console import Console
from rich.table import Table

from agentic_rag_lab.evaluation.statistics import bootstrap_interval

HERE = Path(__file__).parent
EXAMPLE = HERE.parent / "examples" / "vault"
OWN = HERE / "datasets"
DATA = HERE.parents[1] / "shared" / "data"
"""Data of others, beside the clone."""
CALIBRATION = HERE.parent / "src/agentic_rag/models/multilingual-e5-small/calibration.json"
COMMAND = [sys.executable, "-c", "from agentic_rag.cli import main; main()"]
"""``agentic-rag``."""
Row = dict[str, Any]
Bound = Literal["max", "min"]


def options(told: str | None, quick: str, data: Path | None = None) -> argparse.ArgumentParser:
    """A parser for the options of every benchmark.

    Args:
        told: the benchmark's docstring; its first line becomes the description.
        quick: what the quick form leaves out.
        data: default folder of the data; None: the benchmark needs none.
    """
    parser = argparse.ArgumentParser(description=told.splitlines()[0] if told else None)
    parser.add_argument("--quick", action="store_true", help=quick)
    if data is not None:
        parser.add_argument(
            "--data", type=Path, default=data, metavar="DIR", help="folder of the judged sets"
        )
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the rows to this file")
    return parser


def row(
    what: str,
    unit: str,
    ours: float | None,
    *,
    bound: Bound = "max",
    floor: float | None = None,
    peer: str | None = None,
    theirs: float | None = None,
) -> Row:
    """One row; ``ours`` is None if the quick form omits it. A ratio above 1 means ours is better."""
    ok = None if ours is None or floor is None else (ours <= floor if bound == "max" else ours >= floor)
    ratio = None
    if ours and theirs:
        ratio = round(theirs / ours if bound == "max" else ours / theirs, 4)
    return {
        "what": what, "unit": unit, "ours": None if ours is None else round(ours, 4), "peer": peer,
        "theirs": None if theirs is None else round(theirs, 4), "ratio": ratio, "bound": bound, "floor": floor,
        "ok": ok,
    }  # fmt: skip


def share(
    what: str,
    bound: Bound,
    ours: Sequence[float],
    theirs: Sequence[float] = (),
    *,
    peer: str = "without",
    floor: float | None = None,
) -> Row:
    """A row with a share of queries, 1 or 0 each, and its 95 % interval; optionally beside a peer's."""
    held = bootstrap_interval(ours)
    return row(
        f"{what} ({held.low:.3f} to {held.high:.3f})",
        "share",
        held.value,
        bound=bound,
        floor=floor,
        peer=peer if theirs else None,
        theirs=sum(theirs) / len(theirs) if theirs else None,
    )


def seconds_of(command: Sequence[str], environment: Mapping[str, str] | None = None) -> float:
    """Seconds that a whole process takes, without its output; ``environment`` replaces this process's."""
    started = time.perf_counter()
    subprocess.run(command, env=environment, check=True, stdout=subprocess.DEVNULL)
    return time.perf_counter() - started


def percentiles(times: Sequence[float]) -> tuple[float, float]:
    """p50 and p95."""
    p50, p95 = np.percentile(times, [50, 95])
    return float(p50), float(p95)


def report(title: str, rows: Sequence[Row], file: Path | None) -> int:
    """Print the table, write the file if requested; 1 if a floor is missed, else 0."""
    with_peer = any(found["peer"] for found in rows)
    table = Table(title=title, title_justify="left")
    table.add_column("what")
    for name in ("ours", *(("theirs", "ratio") if with_peer else ()), "unit", "floor", "ok"):
        table.add_column(name, justify="left" if name == "unit" else "right")
    for found in rows:
        floor = (
            "" if found["floor"] is None else f"{'≤' if found['bound'] == 'max' else '≥'} {found['floor']:g}"
        )
        peer = [_shown(found["theirs"]), _shown(found["ratio"])] if with_peer else []
        met = {None: "", True: "yes", False: "NO"}[found["ok"]]
        table.add_row(found["what"], _shown(found["ours"]), *peer, found["unit"], floor, met)
    load = ", ".join(f"{value:.2f}" for value in os.getloadavg())
    table.caption = f"load of the machine: {load} on {os.cpu_count()} cores"
    Console(highlight=False).print(table)
    if file is not None:
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(
            json.dumps({"rows": list(rows)}, indent=2, ensure_ascii=False) + "\n", encoding="utf-8"
        )
    return int(any(found["ok"] is False for found in rows))


def _shown(value: float | None) -> str:
    if value is None:
        return "–"
    return f"{value:,.1f}" if abs(value) >= 100 else f"{value:.3g}"


@contextmanager
def data_folder(keep: Path | None) -> Iterator[Path]:
    """The folder of ``--keep``, or a temporary one."""
    with TemporaryDirectory() as folder:
        yield keep or Path(folder)
