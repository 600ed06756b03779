"""The report as JSON, as Markdown, and as charts."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from agentic_rag.errors import InputError, MissingExtra
from agentic_rag_lab.evaluation import pictures
from agentic_rag_lab.evaluation.datasets import EvalQuery
from agentic_rag_lab.evaluation.pictures import (
    MAX_NAMED,
    check_charts,
    draw,
    drawable,
    logarithmic,
    new_figure,
    of_report,
)
from agentic_rag_lab.evaluation.records import Record
from agentic_rag_lab.evaluation.report import EvalReport, mark, markdown
from agentic_rag_lab.evaluation.scores import (
    abstention_figures,
    mean_figures,
    measure_all,
    not_mentioned,
    system_figures,
)

CONTRACT = ["dataset", "queries", "systems"]


def made(
    systems: int = 2, *, categories: tuple[str | None, ...] = ("temporal", "a|b"), **changes: Any
) -> EvalReport:
    """A report over twelve queries; each system is a little better than the one before."""
    queries = [EvalQuery(f"q{n}", "t", {"a": 1}, category=categories[n % len(categories)]) for n in range(12)]
    answers = {
        f"system{place}": [
            Record("s", query.id, ("x",) * (n > place) + ("a",), 10.0 * (place + 1) + n, 1, 0.1 * n, n == 0)
            for n, query in enumerate(queries)
        ]
        for place in range(systems)
    }
    first = answers["system0"]
    values: dict[str, Any] = {
        "dataset": "tea",
        "queries": len(queries),
        "baseline": "system0",
        "systems": system_figures(queries, answers, "system0"),
        "abstention": {
            "answerable": 12,
            "unanswerable": 3,
            "systems": {"system0": abstention_figures(first, first[:3])},
        },
        "degenerate": {
            "ranking": {"random": mean_figures(measure_all(queries, [["x", "y", "a"]] * 12))},
            "abstention": {"not_mentioned": not_mentioned(12, 3)},
        },
        "repairs": ("q1: 'D1:1; D<b>2' → - (names *no* turn)",),
        "settings": {"fusion": {"k": 60}},
        "versions": {"agentic-rag": "1"},
        "records": Path("records.jsonl"),
        "reused_answers": 0,
    }
    return EvalReport(**{**values, **changes})


def test_json_begins_as_the_contract_says(tmp_path: Path) -> None:
    report = made()
    report.write_json(tmp_path / "new" / "a.json")
    written = json.loads((tmp_path / "new" / "a.json").read_text(encoding="utf-8"))
    assert written == report.to_dict()
    assert list(written)[:3] == CONTRACT
    assert set(written) == {
        *CONTRACT, "baseline", "abstention", "degenerate", "repairs", "settings", "versions"
    }  # fmt: skip
    figures = written["systems"]["system1"]
    for measure in ("mrr@10", "recall@10", "ndcg@10", "success@1", "all_gold@10"):
        assert list(figures[measure]) == ["value", "low", "high"]
    assert list(figures["latency_ms"]) == ["p50", "p95"]
    assert list(figures["against_baseline"]["mrr@10"]) == ["difference", "low", "high", "p", "p_holm"]


def test_a_difference_is_marked_only_where_it_is_sure() -> None:
    assert mark(None) == ""
    assert mark({"difference": 0.1, "p_holm": 0.049}) == " ▲"
    assert mark({"difference": -0.1, "p_holm": 0.001}) == " ▼"
    assert mark({"difference": 0.9, "p_holm": 0.05}) == ""


def test_markdown_has_every_part(tmp_path: Path) -> None:
    report = made(8)
    report.write_markdown(tmp_path / "a.md")
    text = (tmp_path / "a.md").read_text(encoding="utf-8")
    assert text == markdown(report)
    heads = [line for line in text.splitlines() if line.startswith("#")]
    assert heads == [
        "# tea: 12 queries",
        "## Against `system0`",
        "## By category",
        "## Abstention",
        "## Repairs: 1",
        "## Settings",
    ]
    assert " ▲" in text
    assert "| random (no search) |" in text
    assert "| always not_mentioned (right on 0.200 of all) | 1.000 | 1.000 |" in text
    assert "- q1: 'D1:1; D\\<b\\>2' → - (names \\*no\\* turn)" in text, "names cannot become markup"
    assert "| a\\|b | 6 | `system0` |" in text
    for table in text.split("\n\n"):
        if table.startswith("|"):
            assert len({line.replace("\\|", "").count("|") for line in table.splitlines()}) == 1


def test_markdown_of_the_least_there_can_be() -> None:
    text = markdown(made(1, categories=(None,), abstention={}, degenerate={}, repairs=()))
    assert "## Against" not in text
    assert "## By category" not in text
    assert "## Abstention" not in text
    assert "Everything was taken as it stood." in text


def test_a_file_that_cannot_be_written(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("", encoding="utf-8")
    for write in (made().write_json, made().write_markdown):
        with pytest.raises(InputError, match="cannot write"):
            write(tmp_path / "file" / "x")
    with pytest.raises(InputError, match="cannot write charts"):
        draw(of_report(made()), tmp_path / "file")


# ── pictures ────────────────────────────────────────────────────────────────────────────────────

PNG = b"\x89PNG\r\n"


@pytest.mark.parametrize("systems", [1, 2, 15])
def test_pictures(tmp_path: Path, systems: int) -> None:
    files = draw(of_report(made(systems)), tmp_path / "charts")
    assert [file.name for file in files] == ["quality.png", "cost.png"]
    assert all(file.read_bytes().startswith(PNG) for file in files)


def test_the_groups_are_the_categories_and_all_together() -> None:
    assert list(of_report(made()).groups)[:1] == ["overall"]
    assert list(of_report(made(categories=(None,), degenerate={})).groups) == ["overall"]


def test_names_in_any_script_are_drawn_or_numbered(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    report = made(categories=("时间", "$a$_b", "plain"), dataset="笔记 $x")
    draw(of_report(report), tmp_path)
    monkeypatch.setattr(pictures, "CJK_FONTS", ())
    draw(of_report(report), tmp_path)
    names = drawable({"category": ["$a$_b", "plain", "时间"], "dataset": ["笔记 $x"]})
    assert list(names.values()) == [r"\$a\$_b", "plain", "category 3", "dataset 1"]


def test_no_global_state_is_left_behind(tmp_path: Path) -> None:
    import matplotlib as mpl

    before = dict(mpl.rcParams)
    draw(of_report(made()), tmp_path)
    assert dict(mpl.rcParams) == before


def test_without_matplotlib_the_error_names_the_extra(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(__import__("sys").modules, "matplotlib.figure", None)
    with pytest.raises(MissingExtra, match=r"'\.\[charts\]'"):
        check_charts()
    with pytest.raises(MissingExtra, match="charts"):
        draw(of_report(made()), tmp_path)


@pytest.mark.parametrize(
    "values", [[295.0, 865.0], [27.0, 138.0], [10.0], [0.0], [0.0, 7.0, 10_841.0], [1.0, 1_000_000.0], [0.4]]
)
def test_a_logarithmic_axis_has_numbers_on_both_sides_of_all_values(values: list[float]):
    panel = new_figure(4.5, 3.1).subplots()
    logarithmic(panel, values)
    left, right = panel.get_xlim()
    assert left < min(values)
    assert right > max(values)
    named = [tick for tick in panel.get_xticks() if left <= tick <= right]
    assert 2 <= len(named) <= MAX_NAMED + 2
    assert len({label.get_text() for label in panel.get_xticklabels()}) == len(named)
