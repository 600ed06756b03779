"""The charts in ``evaluation/results``."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import matplotlib as mpl
import numpy as np
from matplotlib.figure import Figure

from figures import Row
from retrieval_benchmark.quality import Judgements

mpl.use("Agg")
from matplotlib import pyplot as plt

COLOURS = {"hybrid": "#1b6e5a", "dense": "#7fb8a4", "sparse": "#d8a657"}


def draw(
    folder: Path, scale: Mapping[int, Mapping[str, float]], judgements: Judgements | None, rows: list[Row]
) -> None:
    """Draw every chart that has figures."""
    folder.mkdir(parents=True, exist_ok=True)
    plt.rcParams.update({"font.size": 10, "axes.spines.top": False, "axes.spines.right": False, "figure.dpi": 110})  # fmt: skip
    if scale:
        _latency(folder / "retrieval_latency.png", scale)
    if judgements is not None and judgements.ndcg:
        _ndcg(folder / "retrieval_ndcg.png", judgements)
        _roc(folder / "retrieval_roc.png", judgements)
    _embedding(folder / "retrieval_embedding.png", rows)


def _latency(file: Path, scale: Mapping[int, Mapping[str, float]]) -> None:
    figure, (left, right) = plt.subplots(1, 2, figsize=(9, 3.6))
    sizes = sorted(scale)
    for name, colour in (("filtered", "#1b6e5a"), ("unfiltered", "#7fb8a4"), ("bare", "#999999")):
        told = {"filtered": "hybrid with filter", "unfiltered": "hybrid", "bare": "bare LanceDB calls, with filter"}[name]  # fmt: skip
        left.plot(sizes, [scale[s][f"{name} p95"] for s in sizes], "o-", color=colour, label=f"{told}, p95")
        left.plot(sizes, [scale[s][f"{name} p50"] for s in sizes], "o:", color=colour, alpha=0.6)
        right.plot(sizes, [scale[s][f"{name} queries/s"] for s in sizes], "o-", color=colour, label=told)
    for axes, what in ((left, "milliseconds a query (dotted: p50)"), (right, "queries a second, 32 at once")):
        axes.set_xscale("log")
        axes.set_ylim(bottom=0)
        axes.set_xlabel("chunks")
        axes.set_ylabel(what)
    left.legend(frameon=False, fontsize=8)
    _saved(figure, file)


def _ndcg(file: Path, judgements: Judgements) -> None:
    figure, axes = plt.subplots(figsize=(7, 3.4))
    names = list(judgements.ndcg)
    for place, strategy in enumerate(COLOURS):
        values = [judgements.ndcg[name][strategy] for name in names]
        bars = axes.bar(np.arange(len(names)) + (place - 1) * 0.27, values, 0.25, color=COLOURS[strategy], label=strategy)  # fmt: skip
        axes.bar_label(bars, fmt="%.3f", fontsize=7, padding=1)
    axes.set_xticks(range(len(names)), names)
    axes.set_ylabel("nDCG@10")
    axes.legend(frameon=False, ncols=3, loc="upper left")
    axes.set_ylim(0, 1)
    _saved(figure, file)


def _roc(file: Path, judgements: Judgements) -> None:
    figure, axes = plt.subplots(figsize=(4.4, 4))
    for pair, colour in (("latin", "#1b6e5a"), ("cjk", "#d8a657")):
        relevant, others = np.array(judgements.relevant[pair]), np.array(judgements.others[pair])
        if len(relevant) and len(others):
            at = np.linspace(0, 1, 201)[:, None]
            axes.plot((others >= at).mean(axis=1), (relevant >= at).mean(axis=1), color=colour, label=pair)
    axes.plot([0, 1], [0, 1], ":", color="#999999")
    axes.set_xlabel("irrelevant results above the threshold")
    axes.set_ylabel("relevant results above it")
    axes.legend(frameon=False, loc="lower right")
    _saved(figure, file)


def _embedding(file: Path, rows: list[Row]) -> None:
    gains = [r for r in rows if "gain over one thread" in r["what"] and r["ours"] is not None]
    if not gains:
        return
    figure, axes = plt.subplots(figsize=(5, 3.2))
    names = [r["what"].split("about ")[1].split(":")[0] for r in gains]
    for place, (key, told, colour) in enumerate((("ours", "two threads", "#1b6e5a"), ("theirs", "two processes", "#d8a657"))):  # fmt: skip
        bars = axes.bar(np.arange(len(names)) + (place - 0.5) * 0.36, [r[key] for r in gains], 0.34, color=colour, label=told)  # fmt: skip
        axes.bar_label(bars, fmt="%.2f", fontsize=8)
    axes.set_xticks(range(len(names)), names)
    axes.set_ylabel("times one thread")
    axes.legend(frameon=False, loc="lower right")
    _saved(figure, file)


def _saved(figure: Figure, file: Path) -> None:
    figure.tight_layout()
    figure.savefig(file)
    plt.close(figure)
