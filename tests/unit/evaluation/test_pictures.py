"""Charts: an axis always has labels."""

from __future__ import annotations

import pytest

from agentic_rag_lab.evaluation.pictures import MOST_NAMED, logarithmic, new_figure


@pytest.mark.parametrize(
    "values", [[295.0, 865.0], [27.0, 138.0], [10.0], [0.0], [0.0, 7.0, 10_841.0], [1.0, 1_000_000.0], [0.4]]
)
def test_a_logarithmic_axis_has_numbers_on_both_sides_of_all_values(values: list[float]):
    pytest.importorskip("matplotlib")
    panel = new_figure(4.5, 3.1).subplots()
    logarithmic(panel, values)
    left, right = panel.get_xlim()
    assert left < min(values)
    assert right > max(values)
    named = [tick for tick in panel.get_xticks() if left <= tick <= right]
    assert 2 <= len(named) <= MOST_NAMED + 2
    assert len({label.get_text() for label in panel.get_xticklabels()}) == len(named)
