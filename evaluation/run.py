"""Score sources, fusions and the whole graph on labelled queries; the same as ``agentic-rag eval``.

    python evaluation/run.py DATASET_DIR|locomo.json [--systems a,b,…] [--json FILE] [--markdown FILE] [--charts DIR]

``--help`` lists the other options; docs/evaluation.md says what the figures mean.
"""

from __future__ import annotations

import sys

from agentic_rag.cli import main

if __name__ == "__main__":
    sys.argv.insert(1, "eval")
    main()
