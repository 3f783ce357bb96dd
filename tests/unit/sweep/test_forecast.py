"""Time left of a sweep, against cases worked by hand."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from fairfr.store.reading import write_result
from fairfr.sweep.forecast import Forecast, Place, places, stored_seconds
from fairfr.sweep.progress import CellState

LFW, RFW = Place("lfw", "magface", "frappe"), Place("rfw", "magface", "frappe")
PLATT = Place("lfw", "magface", "platt")


def nothing(place: Place) -> float | None:
    return None


def test_nothing_is_said_before_anything_is_known() -> None:
    assert Forecast(nothing).left([LFW], [], 1, 0.0) is None
    assert Forecast(nothing).left([], [(LFW, CellState("", 0.0, 10))], 1, 5.0) is None


def test_stored_runs_count_first_and_are_corrected_by_what_the_sweep_measures() -> None:
    forecast = Forecast({LFW: 100.0, RFW: 300.0}.get)
    assert forecast.left([LFW, RFW], [], 1, 0.0) == 400.0
    forecast.add(LFW, 150.0)
    assert forecast.left([RFW, RFW], [], 1, 0.0) == pytest.approx(2 * 300.0 * 1.5)


def test_without_stored_runs_the_cells_that_are_most_alike_count() -> None:
    forecast = Forecast(nothing)
    forecast.add(LFW, 60.0)
    forecast.add(PLATT, 2.0)
    assert forecast.left([LFW._replace(backbone="adaface")], [], 1, 0.0) == 60.0, "same data set and method"
    assert forecast.left([RFW], [], 1, 0.0) == 60.0, "same method"
    assert forecast.left([Place("rfw", "magface", "gst")], [], 1, 0.0) == 31.0, "the mean of all"


def test_a_method_that_ran_on_a_larger_set_is_expected_to_take_less_on_a_smaller_one() -> None:
    forecast = Forecast(nothing)
    for method, on_bfw, on_lfw in (("platt", 10.0, 2.0), ("gst", 30.0, 6.0), ("ac_mlp", 700.0, None)):
        forecast.add(Place("bfw", "magface", method), on_bfw)
        if on_lfw is not None:
            forecast.add(Place("lfw", "magface", method), on_lfw)
    assert forecast.expected(Place("lfw", "magface", "ac_mlp")) == pytest.approx(700.0 * 8 / 40)
    assert forecast.expected(Place("rfw", "magface", "ac_mlp")) == 700.0, "nothing ran on RFW"
    assert forecast.expected(Place("lfw", "magface", "fsn")) == 4.0, "the mean of what ran on LFW"


def test_running_cells_count_by_their_folds_and_workers_share_the_rest() -> None:
    forecast = Forecast({LFW: 100.0}.get)
    half = CellState("", 0.0, 10, 5)
    assert forecast.left([LFW, LFW], [(LFW, half)], 1, 40.0) == 40.0 + 200.0
    assert forecast.left([LFW, LFW], [(LFW, half)], 2, 40.0) == 120.0
    assert forecast.left([], [(LFW, half)], 2, 40.0) == 40.0, "one cell is not shared"
    assert forecast.left([PLATT], [(LFW, half)], 1, 40.0) == 40.0 + 80.0, "as long as what runs"


def test_a_cell_that_outlasts_what_was_expected_makes_the_rest_unknown() -> None:
    forecast = Forecast({LFW: 100.0}.get)
    assert forecast.left([], [(LFW, CellState("", 0.0, 10))], 1, 30.0) == 70.0
    assert forecast.left([], [(LFW, CellState("", 0.0, 10))], 1, 130.0) is None


def test_a_cell_on_its_way_to_mlflow_says_nothing_about_the_others() -> None:
    stored = CellState("", 0.0, 10, 10, is_stored=True)
    assert Forecast(nothing).left([PLATT], [(LFW, stored)], 1, 30.0) is None
    assert Forecast({PLATT: 5.0}.get).left([PLATT], [(LFW, stored)], 1, 30.0) == 5.0


def test_places_follow_overrides_settings_and_ids() -> None:
    chosen = {"dataset": "rfw", "backbone": "magface", "method": "ac_density"}
    jobs = [
        ["dataset=lfw", "seed=1"],
        ["setting=bfw_adaface", "method=ablation/midpoint_only"],
        ["dataset=custom", "++dataset.id=bank", "method=platt", "++method.estimator.C=a=b"],
    ]
    found = places(jobs, chosen, {"bfw_adaface": {"dataset": "bfw", "backbone": "adaface"}}.__getitem__)
    assert found == [
        Place("lfw", "magface", "ac_density"),
        Place("bfw", "adaface", "midpoint_only"),
        Place("bank", "magface", "platt"),
    ]


def store(out: Path, place: Place, key: str, when: float, **result: Any) -> None:
    folder = out / "runs" / place.dataset / place.backbone / place.method / key
    folder.mkdir(parents=True)
    names = {noun: {"id": id} for noun, id in place._asdict().items()}
    rest = {"status": "completed", "source": "files", "finished": "", "identity": {}, "differs": {}}
    write_result(folder, {**names, "key": key, **rest, **result})
    os.utime(folder, (when, when))


def test_the_newest_completed_runs_of_the_cell_count_else_those_of_the_method_on_the_data_set(tmp_path: Path) -> None:
    assert stored_seconds(tmp_path, LFW) is None
    other = LFW._replace(backbone="adaface")
    store(tmp_path, other, "a", 1.0, seconds=7.0)
    assert stored_seconds(tmp_path, LFW) == 7.0
    for i, seconds in enumerate([1000.0, 1.0, 2.0, 30.0, 8.0, 5.0]):
        store(tmp_path, LFW, f"k{i}", 10.0 + i, seconds=seconds)
    assert stored_seconds(tmp_path, LFW) == 5.0, "the median of the newest five"
    store(tmp_path, LFW, "failed", 99.0, status="failed")
    (tmp_path / "runs/lfw/magface/frappe/k5/result.json").write_text("damaged")
    assert stored_seconds(tmp_path, LFW) == 8.0
    assert stored_seconds(tmp_path, Place("lfw", "", "frappe")) is None
