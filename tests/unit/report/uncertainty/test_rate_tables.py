"""The tables of groups at one threshold, against rates counted by hand from the stored scores."""

from __future__ import annotations

import re
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from made_runs import change, results_of, run_of
from scipy.stats import binomtest

from fairfr.core.findings import Finding
from fairfr.metrics.ties import ties_code
from fairfr.report.tables.grid import UNSTEADY, Grid
from fairfr.report.uncertainty.rate_tables import _entry, open_range
from fairfr.report.uncertainty.setting_bootstrap import BootstrapCache
from fairfr.report.uncertainty.tables import uncertainty_tables
from fairfr.store.result_file import checksums
from fairfr.stored.run import Run

GROUPS = ("one", "two_parts", "three")


def tables(runs: list[Run], against: str | None = "beta", draws: int = 60) -> dict[str, Grid]:
    cache = BootstrapCache(results_of(runs, "synthetic"), draws, with_rates=True)
    return {grid.id.removesuffix("_rfw_facenet"): grid for grid in uncertainty_tables(cache, against)}


def at_fpr(run: Run, fpr: float) -> dict[str, tuple[float, float, float]]:
    """FPR and TPR of each group at one threshold, and TPR at its own, each read off a curve of all thresholds."""
    assert run.folder is not None
    frame = pd.read_parquet(run.folder / "scores.parquet")
    same, score, kind = frame["same"].to_numpy(), frame["score"].to_numpy(), frame["kind"].astype(str).to_numpy()
    thresholds = np.append(np.inf, np.unique(score)[::-1])

    def curve(chosen: Any) -> Any:
        return np.array([np.mean(score[chosen] >= threshold) for threshold in thresholds])

    shared = curve(~same)
    found = {}
    for group in GROUPS:
        false, true = curve(~same & (kind == group)), curve(same & (kind == group))
        found[group] = tuple(np.interp(fpr, *xy) for xy in ((shared, false), (shared, true), (false, true)))
    return found


def line(grid: Grid, section: int, label: str) -> list[Any]:
    return list(next(one.entries for one in grid.sections[section].lines if one.label == label))


def test_values_and_differences_are_those_of_the_stored_scores(fake_run: Any) -> None:
    runs = [fake_run("beta", noise=0.6), fake_run("ac_hinge", noise=0.4)]
    grids = tables(runs)
    for section, fpr in enumerate((1e-2, 1e-3)):
        theirs, ours = (at_fpr(run, fpr) for run in runs)
        entries = line(grids["one_threshold_groups"], section, "Ac_Hinge")
        for g, group in enumerate(GROUPS):
            rate, times, lost = entries[3 * g : 3 * g + 3]
            assert rate.value == pytest.approx(ours[group][0] / fpr)
            if theirs[group][0] > 0:
                assert times.value == pytest.approx(ours[group][0] / theirs[group][0])
            assert lost.value == pytest.approx(100 * (theirs[group][1] - ours[group][1]))
        _, _, gap, by, _, fixed, own, own_by, _, own_fixed = line(grids["one_threshold"], section, "Ac_Hinge")
        for at, value, minus, two in ((1, gap, by, fixed), (2, own, own_by, own_fixed)):
            rates, others = ([100 * of[group][at] for group in GROUPS] for of in (ours, theirs))
            assert value.value == pytest.approx(max(rates) - min(rates))
            assert minus.value == pytest.approx(max(rates) - min(rates) - max(others) + min(others))
            best, worst = int(np.argmax(others)), int(np.argmin(others))
            assert two.value == pytest.approx((rates[best] - rates[worst]) - (others[best] - others[worst]))


def test_a_method_against_itself_under_another_name_changes_nothing(fake_run: Any) -> None:
    runs = [fake_run("beta"), fake_run("mine")]  # the fixture draws its noise by the length of the name
    grids = tables(runs)
    for entry in line(grids["one_threshold"], 0, "Mine")[3:4] + line(grids["one_threshold_groups"], 0, "Mine")[2::3]:
        assert entry.value == 0 and entry.spread.strip() == "[+0.0, +0.0]" and entry.tone == "plain"


def test_rates_on_few_false_matches_are_marked(fake_run: Any) -> None:
    grids = tables([fake_run("beta"), fake_run("ac_hinge")])
    assert all(entry.spread.startswith(UNSTEADY) for entry in line(grids["one_threshold_groups"], 1, "Beta")[::3])
    assert any(note.text.startswith(UNSTEADY) for note in grids["one_threshold_groups"].notes)


@pytest.mark.parametrize("n_pairs", [100, 300])
def test_differences_of_gaps_are_undetermined_where_draws_lack_a_group(fake_run: Any, n_pairs: int) -> None:
    grids = tables([fake_run(method, noise=0.5, n_pairs=n_pairs) for method in ("beta", "ac_hinge")])
    for section in (0, 1):
        own_gap_change = line(grids["one_threshold"], section, "Ac_Hinge")[7]
        assert "[undetermined]" in own_gap_change.shown + own_gap_change.spread
        assert "nan" not in own_gap_change.shown + own_gap_change.spread


@pytest.mark.parametrize(("n_pairs", "marked"), [(600, True), (40_000, False)])
def test_gaps_at_equal_fmr_are_marked_where_a_group_has_few_impostors(
    fake_run: Any, n_pairs: int, marked: bool
) -> None:
    """One pair of 32 is an impostor pair of a group: of 40,000 pairs some 1,250, with 12 false matches at 1e-2."""
    grids = tables([fake_run(method, n_pairs=n_pairs) for method in ("beta", "ac_hinge")], draws=20)
    own = line(grids["one_threshold"], 0, "Ac_Hinge")[6:]
    assert [entry.spread.startswith(UNSTEADY) for entry in (own[0], own[1], own[3])] == [marked] * 3
    shared = line(grids["one_threshold"], 0, "Ac_Hinge")[2:6]
    assert not any(entry.spread.startswith(UNSTEADY) for entry in shared), "the common threshold rests on all pairs"


def test_beside_each_rate_stands_its_own_interval_at_least_as_wide_as_the_exact_one(fake_run: Any) -> None:
    runs = [fake_run("beta", n_pairs=3000), fake_run("ac_hinge", n_pairs=3000)]
    entries = line(tables(runs)["one_threshold_groups"], 0, "Beta")[::3]
    frame = pd.read_parquet(Path(str(runs[0].folder)) / "scores.parquet")
    impostors = frame[~frame["same"]]
    refused = impostors["score"].nlargest(int(0.01 * len(impostors)) + 1).iloc[-1]
    for group, entry in zip(GROUPS, entries, strict=True):
        score = impostors["score"][impostors["kind"].astype(str) == group]
        exact = binomtest(int((score > refused).sum()), len(score)).proportion_ci(method="exact")
        low, high = (float(end) for end in re.findall(r"\[(.*), (.*)\]", entry.spread)[0])
        assert low <= round(100 * exact.low, 2) and high >= round(100 * exact.high, 2)


def test_a_rate_that_no_threshold_meets_is_marked_and_not_compared(fake_run: Any) -> None:
    """Four impostors of each hundred share the highest score: rates there are interpolated, and would look alike."""
    runs = [fake_run("beta", n_pairs=3000, noise=0.8), fake_run("ac_hinge", n_pairs=3000, noise=0.2)]
    compared = tables(runs)
    change(runs[1], metric_warnings=[asdict(Finding(ties_code("tpr_at_fpr_1e-2"), "warning", "tied"))])
    grids = tables(runs)
    for id in ("one_threshold", "one_threshold_groups"):
        assert any(entry.tone != "plain" for entry in line(compared[id], 0, "Ac_Hinge"))
        entries = line(grids[id], 0, "Ac_Hinge")
        assert {entry.tone for entry in entries} == {"plain"}
        assert all("\u2021" in entry.shown for entry in entries if entry.value is not None)
        assert not any(entry.tied for entry in line(grids[id], 1, "Ac_Hinge"))
        assert any(note.text.startswith("\u2021") for note in grids[id].notes)


def test_nothing_is_coloured_where_two_methods_rank_every_fold_alike(fake_run: Any) -> None:
    """One map for each fold: the pooled order differs from that of the score, in no fold does it."""
    runs = [fake_run("beta", n_pairs=3000), fake_run("mine", n_pairs=3000)]
    assert runs[1].folder is not None
    path = runs[1].folder / "scores.parquet"
    frame = pd.read_parquet(path)
    frame["score"] = frame["score"] + frame["fold"].map({"a": 0.0, "b": 3.0, "c": 6.0}).astype(float)
    frame.to_parquet(path)
    runs[1] = run_of({**runs[1].result.to_json(), "files": checksums(runs[1].folder)}, runs[1].folder)
    grids = tables(runs)
    for id in ("one_threshold", "one_threshold_groups"):
        entries = line(grids[id], 0, "Mine")
        assert any(entry.spread and "+0.0, +0.0" not in entry.spread for entry in entries)
        assert {entry.tone for entry in entries} == {"plain"}


def test_the_rarest_rate_is_shown_only_where_it_expects_ten_false_matches(fake_run: Any) -> None:
    sections = tables([fake_run("beta"), fake_run("ac_hinge")])["one_threshold_groups"].sections
    assert [section.heading for section in sections] == ["FPR 1e-2", "FPR 1e-3"]


def test_without_a_method_to_compare_with_there_are_no_such_tables(fake_run: Any) -> None:
    assert not any("threshold" in id for id in tables([fake_run("beta"), fake_run("ac_hinge")], against=None))


@pytest.mark.parametrize(
    ("low", "high", "text"),
    [
        (0.5, 2.0, "[0.5, 2.0]"),
        (-0.001, 0.04, "[0.0, 0.0]"),
        (1.25, float("inf"), "> 1.2"),
        (float("-inf"), 3.0, "< 3.0"),
        (float("-inf"), float("inf"), "[undetermined]"),
    ],
)
def test_an_interval_that_reaches_infinity_has_one_end(low: float, high: float, text: str) -> None:
    assert open_range(low, high, 1) == text


def test_only_an_interval_on_one_side_is_coloured() -> None:
    assert _entry(np.array([0.5, 0.4, 0.6]), 1, better_below=1.0).tone == "improved"
    assert _entry(np.array([2.0, 1.4, 2.6]), 1, better_below=1.0).tone == "degraded"
    assert _entry(np.array([2.0, 0.4, 2.6]), 1, better_below=1.0).tone == "plain"
    assert _entry(np.array([-0.1, -0.3, -0.04]), 1, better_below=0.0).tone == "plain"  # [-0.3, -0.0]
    undefined = _entry(np.array([np.inf, 1.4, np.inf]), 1)
    assert undefined.text == "> 1.4" and undefined.value is None
