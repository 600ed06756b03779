"""Cost of a Ray cluster compared with the plain ingest on the same single core.

Notes of one passage, with a model that takes about a tenth of the bundled model's processor time, which makes the
engine's overhead more visible. Measured are scan and parsing, and the seconds from the first embedded text to the end,
without the start of cluster, workers and model. Processor time is also given, because other load on the machine does
not change it.
"""

from __future__ import annotations

import sys
from pathlib import Path
from tempfile import TemporaryDirectory

from bench_scale import written
from distributed_efficiency import MEMORY_FLOOR
from distributed_runs import Watched, one_core, short_notes, watched
from figures import Row, row

NOTES, QUICK_NOTES = 20_000, 500
OVERHEAD_FLOOR = 1.15


def run(quick: bool) -> list[Row]:
    """All rows."""
    count = QUICK_NOTES if quick else NOTES
    runs: dict[int, Watched] = {}
    with TemporaryDirectory() as scratch, one_core():
        folder = Path(scratch)
        written(folder / "vault", short_notes(count))
        for nodes in (0, 1):
            runs[nodes] = watched(folder / "vault", folder / f"by{nodes}", "burning", nodes)
            print(
                f"{nodes} nodes: {runs[nodes].whole:.1f} s; {runs[nodes].told.stages}",
                file=sys.stderr,
                flush=True,
            )
    plain, ray = runs[0], runs[1]
    called = f"overhead: {count:,} notes on one core"
    return [
        row(f"{called}: plain", "s", plain.whole),
        row(f"{called}: a cluster of one worker", "s", ray.whole),
        row("overhead: as a multiple", "×", ray.whole / plain.whole, floor=None if quick else OVERHEAD_FLOOR),
        row("overhead: processor time, plain", "s", plain.processor),
        row("overhead: processor time, a cluster of one worker", "s", ray.processor),
        row("overhead: notes a second stored by the driver", "1/s",
            count / (ray.told.stages["vectors"] + ray.told.stages["graph"])),
        row("overhead: most memory of the worker", "MB", max(ray.worker_memory), floor=MEMORY_FLOOR),
        row("overhead: most memory of the driver", "MB", ray.driver_memory, peer="plain",
            theirs=plain.driver_memory),
    ]  # fmt: skip
