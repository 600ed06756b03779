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
assert lancedb.AsyncTable and pandas.DataFrame
"""


def test_a_question_starts_without_what_it_does_not_need() -> None:
    needless = ["pandas", "aiohttp", "lance_namespace_urllib3_client.api", "agentic_rag.memory.reading.slots"]
    subprocess.run([sys.executable, "-c", PROGRAM, *needless], check=True)
