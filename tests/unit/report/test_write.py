"""A report's files: a folder for each data source, and what its pages say of runs that they do not show."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from fairfr.report.readings import Run
from fairfr.report.selection import Selection
from fairfr.report.write import Wanted, write_report

Make = Callable[..., Run]
HIDDEN = "Not shown: 1 run differs from the default configuration. To show them:"


def written(results: list[Run], root: Path, *where: str) -> dict[str, str]:
    """The text of each source's index page."""
    wanted = Wanted(figures=False, selection=Selection.where(where))
    folders = write_report(results, root, "strict", wanted)
    return {folder.parent.name: (folder / "index.md").read_text(encoding="utf-8") for folder in folders}


def test_a_page_says_which_runs_it_does_not_show_and_how_to_see_them(result: Make, tmp_path: Path) -> None:
    variant = result("platt", overall={"auroc": 0.8}, key="variant", label="Platt")
    variant.stored["differs"] = {"method.estimator.C": 0.5}
    results = [result("platt", overall={"auroc": 0.9}, label="Platt"), variant]
    page = written(results, tmp_path)["files"]
    command = f"fairfr tables --reading strict --out-root {tmp_path} --where method.estimator.C=0.5"
    assert f"{HIDDEN} `{command}`" in page and "Platt (C=0.5)" not in page
    asked = written(results, tmp_path, "method.estimator.C=0.5")["files"]
    assert "Not shown" not in asked and "Platt (C=0.5)" in asked


def test_a_condition_that_one_source_meets_leaves_the_other_without_a_page(result: Make, tmp_path: Path) -> None:
    small = result("platt", overall={"auroc": 0.9}, source="synthetic")
    small.stored["differs"] = {"dataset.standin.scale": 0.2}
    results = [result("platt", overall={"auroc": 0.8}), small]
    assert written(results, tmp_path).keys() == {"files"}
    asked = written(results, tmp_path, "dataset.standin.scale=0.2")
    assert asked.keys() == {"synthetic"} and "All runs with standin.scale=0.2." in asked["synthetic"]
