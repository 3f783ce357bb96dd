"""The tables of uncertainty, from runs with stored scores."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from made_runs import in_reading, results_of, run_of

from fairfr.numerics.bootstrap import (
    simultaneous_intervals,
)
from fairfr.report.tables.grid import Grid
from fairfr.report.uncertainty.setting_bootstrap import BootstrapCache, bootstrap_setting
from fairfr.report.uncertainty.tables import uncertainty_tables
from fairfr.stored.reading import PAPER_READING, READINGS, Reading
from fairfr.stored.run import Run

CELL = ("rfw", "facenet")


def test_data_without_groups_has_uncertainty_too(fake_run: Any) -> None:
    assert simultaneous_intervals(np.empty((100, 0))).shape == (2, 0)
    made = [fake_run(method, grouping=None, groups={}) for method in ("baseline", "platt")]
    grids = tables(made)
    entries = column(grids["uncertainty_rfw_facenet"], "AUROC", "Platt")
    assert entries[2].value > 0.5 and entries[3].text.startswith("[")
    assert not any(entry.text.startswith("[") for entry in entries[4:]), "no worst group"


def tables(results: list[Run], reading: Reading = PAPER_READING, draws: int = 100) -> dict[str, Grid]:
    return {
        grid.id: grid
        for grid in uncertainty_tables(BootstrapCache(in_reading(results_of(results, "synthetic"), reading), draws))
    }


def column(grid: Grid, heading: str, label: str) -> list[Any]:
    lines = next(section.lines for section in grid.sections if section.heading == heading)
    return list(next(line.entries for line in lines if line.label == label))


@pytest.mark.parametrize("reading", READINGS.values())
def test_means_and_pooled_values_are_those_of_the_result(fake_run: Any, reading: Any) -> None:
    results = [fake_run(method) for method in ("baseline", "ac_density")]
    grid = tables(results, reading)["uncertainty_rfw_facenet"]
    metrics = (("AUROC", "auroc"), ("TPR@1e-3", "tpr_at_fpr_1e-3"), ("Brier", "brier"))
    for result, label in zip(results, ("Baseline", "AC-Density"), strict=True):
        for heading, metric in metrics:
            cells = column(grid, heading, label)
            for place, at in (("all", 0), ("worst", 4)):
                number = result.read(reading).number(metric, place)
                assert [cell.value for cell in cells[at : at + 3]] == pytest.approx(
                    [number.mean, number.std, number.pooled]
                )
                low, high = (float(text) for text in cells[at + 3].text.strip("[]").split(","))
                assert low <= high


def test_a_method_against_itself_has_no_difference(fake_run: Any) -> None:
    baseline = fake_run("baseline")
    twin = run_of(
        {**baseline.result.to_json(), "method": {**baseline.result.to_json()["method"], "id": "fsn"}}, baseline.folder
    )
    grid = tables([baseline, twin])["differences_rfw_facenet"]
    assert len(grid.sections) == 3
    for section in grid.sections:
        for at in (0, 4):
            difference, span, share = section.lines[0].entries[at : at + 3]
            assert difference.value == 0.0 and difference.tone == "plain" and share.value == 0.5
            assert [float(text) for text in span.text.strip("[]").split(",")] == [0.0, 0.0]


def test_a_clearly_better_method_is_marked_and_brier_counts_downwards(fake_run: Any) -> None:
    grid = tables([fake_run("baseline", noise=1.5), fake_run("faircal", noise=0.9), fake_run("ac_density", noise=0.2)])
    differences = grid["differences_rfw_facenet"]
    for heading, sign in (("AUROC", 1), ("Brier", -1)):
        for other in ("Baseline", "FairCal"):
            cells = column(differences, f"{heading}, minus {other}", "AC-Density")
            assert sign * cells[0].value > 0 and cells[0].tone == "improved" and cells[2].value == 1.0
    bold = [line.label for line in grid["uncertainty_rfw_facenet"].sections[0].lines if line.entries[0].bold]
    assert bold == ["AC-Density"]


def test_captions_and_notes_say_what_a_reader_must_know(fake_run: Any) -> None:
    grid = tables([fake_run("baseline"), fake_run("gst_paper")])["uncertainty_rfw_facenet"]
    assert "SYNTHETIC" in grid.caption and "Paper convention" in grid.caption and "100 draws" in grid.caption
    notes = " ".join(map(str, grid.notes))
    assert "a fold expects 0.1 false matches" in notes and "0123456789abcdef" in notes
    assert [line.dagger for line in grid.sections[0].lines] == [False, True]


def test_runs_on_other_pairs_are_left_out_and_named(fake_run: Any) -> None:
    grid = tables([fake_run("baseline"), fake_run("fsn"), fake_run("ac_linear", digest="other")])
    assert [line.label for line in grid["uncertainty_rfw_facenet"].sections[0].lines] == ["Baseline", "FSN"]
    assert any(
        "other pairs" in str(note) and "AC-Linear" in str(note) for note in grid["uncertainty_rfw_facenet"].notes
    )


def test_fewer_draws_on_many_pairs_are_stated(fake_run: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("fairfr.report.uncertainty.setting_bootstrap.MOST_WORK", 600 * 20)
    grid = tables([fake_run("baseline")])["uncertainty_rfw_facenet"]
    assert "20 draws over units" in grid.caption and any("20 draws instead of 100" in str(note) for note in grid.notes)


def test_without_scores_there_is_no_table(fake_run: Any) -> None:
    assert tables([Run(fake_run("baseline").result)]) == {}
    assert list(tables([fake_run("fsn")])) == ["uncertainty_rfw_facenet", "uncertainty_groups_rfw_facenet"]


@pytest.mark.parametrize(
    ("keep", "said"),
    [
        (0, "units (the data names no identities): images linked by genuine pairs"),
        (60, "identities, as the data names them for 50% of the images; elsewhere images linked by genuine pairs"),
        (120, "identities, as the data names them;"),
    ],
)
def test_the_tables_say_who_was_drawn(fake_run: Any, keep: int, said: str) -> None:
    grids = tables([fake_run("baseline", known_people=keep), fake_run("fsn", known_people=keep)])
    assert len(grids) == 3
    for grid in grids.values():
        assert any(said in str(note) for note in grid.notes)
        assert ("draws over identities" in grid.caption) == bool(keep)


def test_identities_that_join_several_components_are_fewer_units(fake_run: Any) -> None:
    apart, joined = (
        bootstrap_setting(
            results_of([fake_run(m, known_people=120, per_person=n)], "synthetic", PAPER_READING),
            CELL,
            10,
        )
        for m, n in (("baseline", 1), ("fsn", 4))
    )
    assert apart is not None and joined is not None
    assert joined.units == 30 < apart.units


def test_groups_have_simultaneous_intervals_and_the_worst_group_two(fake_run: Any) -> None:
    grids = tables([fake_run("baseline"), fake_run("ac_density")])
    means, groups = grids["uncertainty_rfw_facenet"], grids["uncertainty_groups_rfw_facenet"]
    assert groups.columns == ("One", "Two parts", "Three")
    for heading, pick in (("AUROC", min), ("TPR@1e-3", min), ("Brier", max)):
        entries = column(groups, heading, "AC-Density")
        spans = [[float(text) for text in entry.spread.strip(" []").split(",")] for entry in entries]
        assert all(low <= entry.value <= high for (low, high), entry in zip(spans, entries, strict=True))
        worst = column(means, heading, "AC-Density")[8].text
        assert [float(text) for text in worst.strip("[]").split(",")] == [pick(end) for end in zip(*spans, strict=True)]
    assert "expected worst" in means.columns[7] and "true worst" in means.columns[8]
    assert any("need not cover" in str(note) for note in means.notes)
