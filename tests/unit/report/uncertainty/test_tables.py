"""The tables of intervals: every row shows its own run."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

import numpy as np
import pandas as pd
import pytest
from made_runs import change, in_reading, results_of, run_of

from fairfr.core.findings import Finding
from fairfr.metrics.ties import ties_code
from fairfr.paper.numbers import DrawnNumbers, OurNumbers
from fairfr.paper.printed import AUROC
from fairfr.report.tables.grid import Grid, Line
from fairfr.report.uncertainty.difference_lines import _difference_entries
from fairfr.report.uncertainty.setting_bootstrap import BootstrapCache
from fairfr.report.uncertainty.tables import uncertainty_tables
from fairfr.store.result_file import checksums
from fairfr.stored.reading import PAPER_READING, STRICT, Reading
from fairfr.stored.run import Run

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
    return BootstrapCache(in_reading(results_of(runs, "synthetic"), reading), DRAWS)


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


def test_methods_that_rank_alike_inside_folds_are_not_marked_as_different(fake_run: Any) -> None:
    runs = [fake_run("baseline"), fake_run("platforms"), fake_run("ac_hinge", noise=0.2)]
    frames = [pd.read_parquet(run.folder / "scores.parquet") for run in runs[:2]]
    frames[1]["score"] = frames[0]["score"] * 2 + frames[0]["split"].astype(str).map({"a": 0.0, "b": 0.4, "c": 0.8})
    frames[1].to_parquet(runs[1].folder / "scores.parquet", index=False)
    runs[1] = run_of({**runs[1].result.to_json(), "files": checksums(runs[1].folder)}, runs[1].folder)
    grid = tables(runs, STRICT)["differences_rfw_facenet"]
    auroc = {line.label: line.entries for line in grid.sections[0].lines}
    assert auroc["Platforms"][0].value < 0 and float(auroc["Platforms"][1].text.strip("[]").split(",")[1]) < 0
    assert {entry.tone for entry in auroc["Platforms"]} == {"plain"}
    assert auroc["Ac_Hinge"][0].tone == "improved"
    note = next(note for note in grid.notes if note.code == "ranked_alike")
    assert note.text.startswith("Baseline and Platforms rank the pairs of every fold in the same order.")


@pytest.mark.parametrize(("shift", "tone"), [(4e-5, "plain"), (6e-5, "improved"), (-6e-5, "degraded")])
def test_a_difference_is_marked_only_where_its_printed_interval_leaves_out_zero(shift: float, tone: str) -> None:
    drawn = np.full(100, shift)
    entries = _difference_entries(shift, drawn, higher=True, unmarked=False)
    assert entries[0].tone == tone
    assert _difference_entries(shift, drawn, higher=True, unmarked=True)[0].tone == "plain"


def test_tpr_that_no_threshold_meets_is_marked_and_not_compared(fake_run: Any) -> None:
    runs = [fake_run("baseline", noise=0.8), fake_run("ac_hinge", noise=0.2)]
    tied = Finding(ties_code("tpr_at_fpr_1e-3"), "warning", "tied")
    change(runs[1], metric_warnings=[asdict(tied)])
    grids = tables(runs, STRICT)
    for id in ("uncertainty", "uncertainty_groups", "differences"):
        by_metric = {section.heading.split(",")[0]: section for section in grids[f"{id}_rfw_facenet"].sections}
        line = next(one for one in by_metric["TPR@1e-3"].lines if one.label == "Ac_Hinge")
        assert not any(entry.bold or entry.tone != "plain" for entry in line.entries)
        assert all(entry.tied for entry in line.entries if entry.value is not None)
        assert not any(entry.tied for entry in by_metric["Brier"].lines[-1].entries)
        assert [note.text for note in grids[f"{id}_rfw_facenet"].notes if note.code == "ties"]


def test_claims_are_drawn_from_the_run_that_the_reading_takes(gst_and_its_variant: list[Run]) -> None:
    setting = ("rfw", "facenet")
    drawn = DrawnNumbers(cache(gst_and_its_variant, PAPER_READING)).value(AUROC, setting, "gst")
    ours = OurNumbers(results_of(gst_and_its_variant, "synthetic", PAPER_READING)).value(AUROC, setting, "gst")
    assert drawn == pytest.approx(ours, abs=0.03)
    without_variant = cache(gst_and_its_variant[:2], PAPER_READING)
    assert DrawnNumbers(without_variant).value(AUROC, setting, "gst") is None
