"""Number of workers of a cluster."""

from __future__ import annotations

import pytest

from agentic_rag.models import bundled
from agentic_rag_backends.distributed.pool import workers


class Machines:
    """What ``workers`` asks of the module ``ray``."""

    def __init__(self, **resources: float) -> None:
        self._resources = resources

    def cluster_resources(self) -> dict[str, float]:
        return self._resources


@pytest.mark.parametrize(
    ("embed", "can_use_gpu", "resources", "expected"),
    [
        (True, True, {"CPU": 64.0, "GPU": 2.0}, (2, 1)),
        (False, True, {"CPU": 64.0, "GPU": 2.0}, (64, 0)),
        (True, False, {"CPU": 64.0, "GPU": 2.0}, (64, 0)),
        (True, True, {"CPU": 64.0}, (64, 0)),
        (True, True, {}, (1, 0)),
    ],
)
def test_only_what_embeds_takes_a_gpu(
    embed: bool,
    can_use_gpu: bool,
    resources: dict[str, float],
    expected: tuple[int, int],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(bundled, "can_use_gpu", lambda: can_use_gpu)
    assert workers(Machines(**resources), embed=embed) == expected
