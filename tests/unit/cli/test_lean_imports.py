"""Imports of LanceDB without what a command never uses."""

from __future__ import annotations

import subprocess
import sys

PROGRAM = """
import sys, tempfile
from agentic_rag.cli.lean_imports import lean_imports

with lean_imports():
    import lancedb
    try:
        import pandas
    except ModuleNotFoundError as error:
        print(error)
from lance_namespace_urllib3_client.models import ListTablesRequest  # a class that is imported when it is used

print(ListTablesRequest(limit=3).limit, "overrides" in sys.modules)
table = lancedb.connect(tempfile.mkdtemp()).create_table("t", [{"n": 1}])
print(table.count_rows())
"""


def test_what_is_left_out_of_a_start_is_there_later() -> None:
    ran = subprocess.run(
        [sys.executable, "-c", PROGRAM], capture_output=True, text=True, timeout=120, check=False
    )
    assert ran.stdout.splitlines() == ["pandas is left out of this start", "3 False", "1"], ran.stderr
