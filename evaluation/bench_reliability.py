"""Durability of killed ingests, isolation of tenants, and resistance to hostile requests.

    python evaluation/bench_reliability.py [--quick] [--part NAME] [--json FILE]

``kills``: an ingest is killed 50 times at random moments, over a vault that changes. ``tenants``: 10,000 calls of
    four datasets and users, sixteen at a time, on every graph and vector store that can be started here.
    ``hostile``: 10,000 requests to a running service and its MCP tools. Each part is a module
    ``reliability_NAME`` beside this one. Neo4j is started if ``NEO4J_FOR_TESTS`` names the folder built by ``make
    test-servers``. Exits 1 when a floor is missed.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

from figures import Row, options, report

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))
import reliability_hostile
import reliability_kills
import reliability_tenants

PARTS = {
    "kills": reliability_kills.run,
    "tenants": reliability_tenants.run,
    "hostile": reliability_hostile.run,
}


def main(arguments: Sequence[str] | None = None) -> int:
    parser = options(__doc__, "a few kills and some hundred calls, on the embedded stores alone")
    parser.add_argument("--part", action="append", choices=PARTS, help="only this one; may be given again")
    given = parser.parse_args(arguments)
    rows: list[Row] = []
    for part in given.part or PARTS:
        rows += PARTS[part](given.quick)
    return report("reliability", rows, given.json)


if __name__ == "__main__":
    sys.exit(main())
