"""The chart in ``evaluation/results``: time over size, one line per system."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import matplotlib as mpl

from fusion_benchmark.timing import Times

mpl.use("Agg")
from matplotlib import pyplot as plt

COLOURS = {
    "ours, RRF": "#1b6e5a",
    "ours, weighted": "#7fb8a4",
    "ours, RRF, 100 kept": "#1b6e5a",
    "ours, RRF, hits in order": "#1b6e5a",
    "ours, RRF of ids": "#1b6e5a",
    "ranx rrf": "#b5533c",
    "ranx wsum + min-max": "#e0a090",
    "LangChain EnsembleRetriever": "#d8a657",
    "LlamaIndex QueryFusionRetriever": "#7a5ea8",
    "Haystack DocumentJoiner": "#4a7fb5",
    "LanceDB RRFReranker": "#777777",
}
STYLES = {"ours, RRF, 100 kept": "o:", "ours, RRF, hits in order": "o--", "ours, RRF of ids": "o-."}


def draw(file: Path, measured: Mapping[int, Mapping[str, Times]]) -> None:
    """Medians; ours is bold, dotted with a limit of 100, dashed without information on the sources."""
    plt.rcParams.update({"font.size": 10, "axes.spines.top": False, "axes.spines.right": False, "figure.dpi": 110})  # fmt: skip
    figure, axes = plt.subplots(figsize=(7.6, 4.4))
    for name, colour in COLOURS.items():
        points = [(size, times[name].p50) for size, times in measured.items() if name in times]
        if points:
            style = STYLES.get(name, "o-")
            width = 2.4 if name.startswith("ours") else 1.2
            axes.plot(
                *zip(*points, strict=True), style, color=colour, linewidth=width, markersize=4, label=name
            )
    axes.set_xscale("log")
    axes.set_yscale("log")
    axes.set_xlabel("hits a list, two lists")
    axes.set_ylabel("milliseconds, median")
    axes.legend(frameon=False, fontsize=8, loc="center left", bbox_to_anchor=(1, 0.5))
    file.parent.mkdir(parents=True, exist_ok=True)
    figure.tight_layout()
    figure.savefig(file)
    plt.close(figure)
