"""Imports of a command before its first question."""

from __future__ import annotations

import subprocess
import sys

PROGRAM = """
import sys
from agentic_rag.cli.options import warm
from agentic_rag.settings.config import RagConfig
warm(RagConfig())
import agentic_rag.cli.ask
for name in sys.argv[1:]:
    assert name not in sys.modules, name
import lancedb, pandas
from lance_namespace import ListTablesResponse
assert lancedb.AsyncTable and pandas.DataFrame
assert ListTablesResponse(tables=["chunks"]).tables == ["chunks"]
try:
    ListTablesResponse(tables=1)
except ValueError as error:
    assert "valid list" in str(error), error
assert ListTablesResponse.from_dict({"tables": []}).page_token is None
"""


def test_a_question_starts_without_what_it_does_not_need() -> None:
    of_lance = [f"lance_namespace_urllib3_client.{part}" for part in ("api", "models.list_tables_response")]
    of_ours = ["agentic_rag.memory.reading.slots", "agentic_rag.stores.lancedb.reindex"]
    needless = ["pandas", "aiohttp", "openai", "neo4j", "graphiti_core", *of_lance, *of_ours]
    subprocess.run([sys.executable, "-c", PROGRAM, *needless], check=True)
