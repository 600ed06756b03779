"""How the bundled model's texts are put into runs."""

from __future__ import annotations

import pytest

from agentic_rag.models import bundled
from agentic_rag.models.bundled import BATCH_TEXTS, BATCH_TOKENS


def rows(*lengths: int) -> list[list[int]]:
    return [[7] * length for length in lengths]


@pytest.mark.parametrize("workers", [1, 2, 3, 8])
@pytest.mark.parametrize("lengths", [[5], [94] * 64, [20] * 64, [510] * 5, [*range(1, 90)], [3] * 7])
def test_every_text_is_in_one_run_within_the_bounds(
    workers: int, lengths: list[int], monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(bundled, "WORKERS", workers)
    batches = bundled._batches(rows(*lengths))
    assert sorted(index for batch in batches for index in batch) == list(range(len(lengths)))
    for batch in batches:
        assert 1 <= len(batch) <= BATCH_TEXTS
        assert len(batch) == 1 or len(batch) * max(lengths[i] for i in batch) <= BATCH_TOKENS


@pytest.mark.parametrize("workers", [2, 3, 4])
def test_no_worker_gets_more_than_one_text_more(workers: int, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(bundled, "WORKERS", workers)
    for texts in range(40, 90):
        runs = [len(batch) for batch in bundled._batches(rows(*[94] * texts))]
        loads = [sum(runs[n::workers]) for n in range(workers)]
        assert max(loads) - min(loads) <= 1


def test_no_text_is_no_run():
    assert bundled._batches([]) == [[]]
