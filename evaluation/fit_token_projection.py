"""Fit the projection of the bundled model's token vectors, as shipped in the package.

Raw token vectors of one model are all similar: their common part, and the few directions of largest variance,
    carry language and position, not meaning. So the mean is subtracted, the first ``SKIPPED`` principal
    components are dropped, and the next ``TOKEN_DIMENSION`` are kept. Reads passages only, no questions or
    judgements: the vaults that choose parameters, and two judged sets (by default in ../shared/data), with
    equally many tokens of each. ``--write`` replaces the projection in the package.
"""

from __future__ import annotations

import argparse
import asyncio
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

import numpy as np

import encoder_graph
from agentic_rag.domain import search_text
from agentic_rag.domain.ports import FloatArray
from agentic_rag.models.bundled import TOKEN_DIMENSION, raw_tokens
from judged_sets import CHOOSING_VAULTS, DATA, available, judged_set, vault_set

SETS = ("cmrc2018/trial", "hotpot_train100")
TOKENS = 15_000
"""Tokens per set."""
SKIPPED = 4


def projection(parts: Sequence[FloatArray]) -> tuple[FloatArray, FloatArray]:
    """Mean (dimension,) and components (dimension, TOKEN_DIMENSION) of unit token vectors."""
    dice = np.random.default_rng(0)
    pool = np.concatenate([part[dice.permutation(len(part))[:TOKENS]] for part in parts])
    mean = pool.mean(axis=0)
    centred = (pool - mean).astype(np.float64)
    variances, directions = np.linalg.eigh(centred.T @ centred / len(centred))
    ordered = directions[:, np.argsort(-variances)]
    kept = ordered[:, SKIPPED : SKIPPED + TOKEN_DIMENSION]
    signs = np.sign(kept[np.abs(kept).argmax(axis=0), np.arange(kept.shape[1])])
    return mean.astype(np.float32), (kept * signs).astype(np.float32)


async def passages(data: Path) -> list[list[str]]:
    """Texts of each set, in the form in which they are embedded."""
    with tempfile.TemporaryDirectory() as folder:
        found = [await vault_set(name, Path(folder)) for name in CHOOSING_VAULTS]
    found += [await judged_set(name, data) for name in SETS]
    return [[search_text(chunk) for chunk in one.chunks] for one in found]


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--data", type=Path, default=DATA, metavar="DIR")
    parser.add_argument("--write", action="store_true", help="replace the projection in the package")
    given = parser.parse_args(arguments)
    if missing := set(SETS) - set(available(SETS, given.data)):
        print(
            f"error: {given.data} lacks {', '.join(sorted(missing))}; name a folder with --data",
            file=sys.stderr,
        )
        return 2
    texts = asyncio.run(passages(given.data))
    mean, components = projection([raw_tokens(of_set) for of_set in texts])
    print(
        f"{sum(map(len, texts))} passages; mean of length {np.linalg.norm(mean):.3f}; {components.shape} components"
    )
    if given.write:
        print(f"written to {encoder_graph.write(mean, components)}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
