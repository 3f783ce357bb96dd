"""The table of AC-Density's forms."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from made_runs import change, run_of

from fairfr.core.types import Source
from fairfr.paper.studies import STUDIES
from fairfr.paper.studies.density_forms import STUDY
from fairfr.report.study import runs_by_study
from fairfr.report.tables.grid import Grid
from fairfr.stored.reading import PAPER_READING, STRICT
from fairfr.stored.run import Run
from fairfr.stored.selection import Selection


@pytest.fixture
def form(fake_run: Any) -> Any:
    """``form(method, limit)``: a run with a config that says so."""

    def make(
        method: str,
        limit: int | None,
        finished: str = "2026-01-01",
        dataset: str = "rfw",
        differs: Any = None,
        **more: Any,
    ) -> Run:
        where = f"{dataset}_{limit}_{finished}"
        run = fake_run(method, dataset=where, **more)
        stored = {**run.result.to_json(), "finished": finished, "dataset": {"id": dataset, "label": dataset.upper()}}
        stored["method"] = {**stored["method"], "native_probability": True}
        stored["identity"] = {"method": {"estimator": {"max_references": limit}}}
        stored["differs"] = differs or {}
        stored["study"] = "density_forms"
        return run_of(stored, run.folder)

    return make


def density_forms(results: list[Run], source: Source, selection: Selection | None = None) -> list[Grid]:
    """The study's tables of these runs."""
    found = runs_by_study(STUDIES, results, source, PAPER_READING, selection or Selection())
    return STUDY.tables(found["density_forms"]) if found else []


def lines(grid: Grid) -> dict[str, Any]:
    return {line.label: line.entries for section in grid.sections for line in section.lines}


def test_eight_forms_stand_in_order(form: Any) -> None:
    results = [form(m, limit) for limit in (6000, None) for m in ("ac_density_loo", "ac_density")]
    (grid,) = density_forms(results, "synthetic")
    assert grid.id == "study_density_forms" and "SYNTHETIC" in grid.caption
    assert list(lines(grid)) == [
        f"{neighbours}, {references}, {ranking}"
        for neighbours in ("self", "LOO")
        for references in ("all", "6,000")
        for ranking in ("clipped", "unclipped")
    ]


def test_numbers_are_those_of_the_run(form: Any) -> None:
    run = form("ac_density", None)
    (grid,) = density_forms([run], "synthetic")
    clipped, unclipped = lines(grid).values()
    frame = pd.read_parquet(run.folder / "scores.parquet")
    for cells, reading in ((clipped, PAPER_READING), (unclipped, STRICT)):
        wanted = [run.read(reading).mean(metric) for metric in ("auroc", "tpr_at_fpr_1e-3", "brier", "ece_15")]
        assert [cell.value for cell in cells[:4]] == wanted
    assert clipped[0].value != unclipped[0].value  # clipping makes ties
    assert clipped[4].value == pytest.approx(np.mean(frame["probability"] - frame["same"]))
    assert unclipped[4].value == pytest.approx(np.mean(frame["score"] - frame["same"]))
    assert clipped[5].value == pytest.approx((frame["score"][~frame["same"]] >= 1).mean()) and clipped[5].value > 0


def test_the_newest_run_of_a_form_counts_and_others_stay_away(form: Any, fake_run: Any) -> None:
    old, new = form("ac_density", 50, noise=0.9), form("ac_density", 50, finished="2026-02-01", noise=0.2)
    failed = form("ac_density_loo", 50)
    change(failed, status="failed")
    real = form("ac_density", None, source="files")
    (grid,) = density_forms([new, old, failed, real, fake_run("baseline")], "synthetic")
    assert list(lines(grid)) == ["self, 50, clipped", "self, 50, unclipped"]
    assert lines(grid)["self, 50, clipped"][0].value == new.read(PAPER_READING).mean("auroc")
    assert density_forms([fake_run("beta")], "synthetic") == []


def test_another_limit_belongs_here_and_other_changes_only_where_asked_for(form: Any) -> None:
    limit = form("ac_density", 50, differs={"method.estimator.max_references": 50})
    seed = form("ac_density", 60, differs={"method.estimator.max_references": 60, "seed": 1})
    other = form("ac_density", 70, differs={"method.estimator.k": 5})
    runs = [limit, seed, other]

    def shown(selection: Selection | None = None) -> list[str]:
        (grid,) = density_forms(runs, "synthetic", selection)
        return [label for label in lines(grid) if label.endswith(" clipped")]

    assert shown() == ["self, 50, clipped"]
    assert shown(Selection.where(["seed=1"])) == ["self, 60, clipped"]
    assert shown(Selection(everything=True)) == [f"self, {n}, clipped" for n in (50, 60, 70)]


def test_without_scores_the_bias_is_empty(form: Any) -> None:
    run = form("ac_density", None)
    (run.folder / "scores.parquet").unlink()
    cells = next(iter(lines(density_forms([run], "synthetic")[0]).values()))
    assert cells[0].text and [cell.text for cell in cells[4:]] == ["", ""]
