"""The report takes any paper: one with a reading, a row order and a table of its own needs no change elsewhere."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from made_runs import run_of

from fairfr.report.paper_spec import Paper
from fairfr.report.tables.grid import Grid, Spanner
from fairfr.report.tables.places import at_setting, number, row_places, sections
from fairfr.report.write import ReportOptions, write_report
from fairfr.stored.order import BASELINE, MethodRow, TableOrder
from fairfr.stored.reading import Reading
from fairfr.stored.results import Results
from fairfr.stored.run import Run

SETTING = ("toys", "net")
SORTER = MethodRow("sorter", "Sorter", "sorter", "sorter_toy")
# the first image decides the group, yet scores rank: neither the strict convention nor that of any other paper
READING = Reading("toy", rule="first", ranks_by_probability=False, raw_group_brier=False, words="as toys are read.")
ORDER = TableOrder(blocks=(("", (SORTER, BASELINE)),), datasets={"toys": "Toys"}, settings=(SETTING,))


def _tables(results: Results) -> Iterable[Grid]:
    """One table: the worst group's AUROC, in the paper's order of rows."""
    rows = row_places(results.blocks([SETTING]))
    found = sections(results, rows, [number("worst AUROC", "auroc", "worst")], at_setting("", SETTING))
    return [Grid("toy_table", "Toys", ("Method",), (Spanner("", ("worst AUROC",)),), found)]


PAPER = Paper(READING, ORDER, covers=lambda run: run.cell[0] == "toys", tables=_tables)


def _run(method: str, dataset: str, first: float, both: float) -> Run:
    """A completed run whose worst group differs by the pair rule, and by what ranks."""
    counts = {"std": 0.0, "folds": 2, "folds_total": 2, "n_same": 50, "n_diff": 50}
    metrics: list[dict[str, Any]] = []
    for rule, mean in (("first", first), ("both", both)):
        place = {"grouping": "kind", "rule": rule, "group": "worst", **counts}
        metrics.append({**place, "metric": "auroc", "mean": mean})
        metrics.append({**place, "metric": "auroc_on_probability", "mean": 0.111})
    stored = {
        "key": f"files-{dataset}-{method}",
        "status": "completed",
        "source": "files",
        "finished": "2026-01-01",
        "dataset": {"id": dataset, "label": dataset},
        "backbone": {"id": "net", "label": "Net"},
        "method": {"id": method, "label": method, "needs": [], "native_probability": True},
        "data": {"grouping": "kind", "groups": {"kind": ["a", "b"]}, "folds": ["0", "1"]},
        "metrics": metrics,
    }
    return run_of(stored)


def test_a_paper_with_its_own_reading_rows_and_table(tmp_path: Path) -> None:
    results = [
        _run("baseline", "toys", first=0.7, both=0.6),
        _run("sorter", "toys", first=0.1, both=0.2),
        _run("sorter_toy", "toys", first=0.8, both=0.5),
        _run("baseline", "mine", first=0.9, both=0.4),
    ]
    pages = write_report(results, tmp_path, None, ReportOptions(figures=False), PAPER)
    folders = {page.folder.name: page.folder for page in pages}
    assert folders.keys() == {"toy", "strict"}, "own data is read strictly, the paper's as the paper does"
    table = (folders["toy"] / "toy_table.md").read_text(encoding="utf-8").replace("*", "")
    rows = [line.strip("| ").split(" | ") for line in table.splitlines() if "Sorter" in line or "Baseline" in line]
    assert rows == [["Sorter", "0.800"], ["Baseline", "0.700"]]
    assert not (folders["strict"] / "toy_table.md").exists()
    summary = (folders["strict"] / "appendix_summary_mine_net.md").read_text(encoding="utf-8")
    assert "40.00" in summary and "Strict convention" in summary
    assert "as toys are read." in (folders["toy"] / "index.md").read_text(encoding="utf-8")


def test_a_reading_that_is_asked_for_is_that_of_all_runs(tmp_path: Path) -> None:
    results = [_run("baseline", "toys", first=0.7, both=0.6), _run("baseline", "mine", first=0.9, both=0.4)]
    (page,) = write_report(results, tmp_path, READING, ReportOptions(figures=False), PAPER)
    assert page.folder == tmp_path / "tables" / "files" / "toy"
    assert "90.00" in (page.folder / "appendix_summary_mine_net.md").read_text(encoding="utf-8")
