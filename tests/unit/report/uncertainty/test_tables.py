"""The tables of intervals: every row shows its own run."""

from __future__ import annotations

from typing import Any

import pytest
from made_runs import change

from fairfr.paper.numbers import BootstrapNumbers, RunNumbers
from fairfr.paper.order import ORDER, PAPER_READING
from fairfr.paper.printed import AUROC
from fairfr.report.run import STRICT, Reading, Run
from fairfr.report.runs import SelectedRuns
from fairfr.report.tables.grid import Grid, Line
from fairfr.report.tables.layout import Layout
from fairfr.report.uncertainty.setting_bootstrap import BootstrapCache
from fairfr.report.uncertainty.tables import uncertainty_tables

DRAWS = 20


@pytest.fixture
def gst_and_its_variant(fake_run: Any) -> list[Run]:
    """Both forms of GST, far apart, called the same."""
    runs = [fake_run("baseline", noise=0.5), fake_run("gst", noise=0.9), fake_run("gst_paper", noise=0.3)]
    for run in runs[1:]:
        method = {"id": run.result.method.id, "label": "GST", "needs": ["groups"], "native_probability": False}
        change(run, method=method)
    return runs


def cache(runs: list[Run], reading: Reading) -> BootstrapCache:
    return BootstrapCache(Layout(SelectedRuns(runs, "synthetic"), reading, ORDER), DRAWS)


def labels(lines: tuple[Line, ...]) -> list[str]:
    return [line.label for line in lines]


def tables(runs: list[Run], reading: Reading) -> dict[str, Grid]:
    return {grid.id: grid for grid in uncertainty_tables(cache(runs, reading))}


@pytest.mark.parametrize("reading", [PAPER_READING, STRICT])
def test_a_variant_and_its_plain_method_each_show_their_own_run(
    gst_and_its_variant: list[Run], reading: Reading
) -> None:
    means = tables(gst_and_its_variant, reading)["uncertainty_rfw_facenet"].sections[0].lines
    assert len(means) == 3
    for line in means:
        fold_mean, pooled = (float(line.entries[column].value) for column in (0, 2))
        assert pooled == pytest.approx(fold_mean, abs=0.01), line.label
    plain, variant = "GST (gst)", "GST"
    if reading == STRICT:
        plain, variant = "GST", "GST (gst_paper)"
    auroc = {line.label: float(line.entries[2].value) for line in means}
    assert auroc[plain] < auroc["Baseline"] < auroc[variant]


@pytest.mark.parametrize("reading", [PAPER_READING, STRICT])
def test_no_two_rows_of_a_table_have_one_label(gst_and_its_variant: list[Run], reading: Reading) -> None:
    for grid in tables(gst_and_its_variant, reading).values():
        for section in grid.sections:
            assert len(set(labels(section.lines))) == len(section.lines) >= 2, grid.id


def test_methods_of_one_label_are_told_apart_by_their_ids(fake_run: Any) -> None:
    runs = [fake_run("baseline"), fake_run("mine", noise=0.2), fake_run("his", noise=0.9)]
    for run in runs[1:]:
        change(run, method={"id": run.result.method.id, "label": "Mine", "native_probability": False})
    means = tables(runs, STRICT)["uncertainty_rfw_facenet"].sections[0].lines
    auroc = {line.label: float(line.entries[2].value) for line in means}
    assert auroc["Mine (his)"] < auroc["Baseline"] < auroc["Mine (mine)"]


def test_claims_are_drawn_from_the_run_that_the_reading_takes(gst_and_its_variant: list[Run]) -> None:
    place = ("rfw", "facenet", "gst")
    drawn = BootstrapNumbers(cache(gst_and_its_variant, PAPER_READING)).value(AUROC, *place)
    ours = RunNumbers(SelectedRuns(gst_and_its_variant, "synthetic"), PAPER_READING).value(AUROC, *place)
    assert drawn == pytest.approx(ours, abs=0.03)
    without_variant = cache(gst_and_its_variant[:2], PAPER_READING)
    assert BootstrapNumbers(without_variant).value(AUROC, *place) is None
