"""Run a memory design on LoCoMo conversations; the same as ``agentic-rag bench``.

    python evaluation/memory_test_pipeline.py --config configs/locomo_tim_pipeline.yaml --task_id conv-26 --data locomo10.json

``--help`` lists the other options; docs/memory-designs.md says what the figures mean.
"""

from __future__ import annotations

import sys

from agentic_rag.cli import main

if __name__ == "__main__":
    sys.argv.insert(1, "bench")
    main()
