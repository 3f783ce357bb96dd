"""What MLflow shows of a run is what the tables print, in fractions."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from fairfr.core.run_result import RunResult
from fairfr.core.types import MetricRow
from fairfr.metrics.cell_metrics import summarise
from fairfr.store.parquet_files import write_metrics
from fairfr.sweep.mlflow_metrics import listed_metrics

LEVELS = ["a/b", "white"]


def stored(rows: list[MetricRow], native: bool = True, dataset: str = "lfw") -> RunResult:
    metrics = [{**row, "mean": None if np.isnan(row["mean"]) else row["mean"]} for row in summarise(rows)]
    data = {"grouping": "ethnicity", "groups": {"ethnicity": LEVELS, "gender": ["f"]}}
    method = {"id": "platt", "native_probability": native}
    place = {"dataset": {"id": dataset}, "backbone": {"id": "magface"}, "method": method}
    about = {
        "key": "k",
        "status": "completed",
        "source": "files",
        "finished": "2026-01-01",
        "identity": {},
        "differs": {},
    }
    return RunResult.from_json({**about, **place, "data": data, "seconds": 1.5, "metrics": metrics})


def number(row: tuple[str, str, str, str], *by_fold: float) -> list[MetricRow]:
    grouping, rule, group, metric = row
    return [MetricRow(str(fold), grouping, rule, group, metric, value, 1, 1) for fold, value in enumerate(by_fold)]


@pytest.mark.parametrize("native", [True, False])
def test_listed_metrics_are_the_numbers_of_the_table(native: bool, tmp_path: Path) -> None:
    """The paper ranks native-probability methods by probability, and reads the others' raw Brier in the worst group."""
    means = {
        ("all", "all", "all", "auroc"): 0.91,
        ("all", "all", "all", "auroc_on_probability"): 0.92,
        ("all", "all", "all", "brier"): 0.21,
        ("ethnicity", "first", "worst", "auroc"): 0.71,
        ("ethnicity", "first", "worst", "auroc_on_probability"): 0.72,
        ("ethnicity", "both", "worst", "auroc"): 0.61,
        ("ethnicity", "first", "worst", "brier"): 0.31,
        ("ethnicity", "first", "worst", "brier_raw"): 0.32,
        ("ethnicity", "both", "worst", "brier"): float("nan"),
        ("gender", "first", "worst", "auroc"): 0.11,
        ("all", "all", "all", "fpr_at_fpr_1e-3"): 0.001,
    }
    result = stored([row for key, mean in means.items() for row in number(key, mean)], native)
    assert listed_metrics(result, tmp_path) == {
        "auroc": [0.92 if native else 0.91],
        "worst_auroc": [0.72 if native else 0.71],
        "brier": [0.21],
        "worst_brier": [0.31 if native else 0.32],
        "paper/auroc": [0.92 if native else 0.91],
        "paper/worst_auroc": [0.72 if native else 0.71],
        "paper/brier": [0.21],
        "paper/worst_brier": [0.31 if native else 0.32],
        "strict/auroc": [0.91],
        "strict/worst_auroc": [0.61],
        "strict/brier": [0.21],
        "seconds": [1.5],
    }


def test_short_names_have_the_reading_of_the_tables(tmp_path: Path) -> None:
    """The paper's settings are read as in the paper, own data strictly."""
    rows = number(("ethnicity", "first", "worst", "auroc_on_probability"), 0.72)
    rows += number(("ethnicity", "both", "worst", "auroc"), 0.61)
    assert listed_metrics(stored(rows, dataset="lfw"), tmp_path)["worst_auroc"] == [0.72]
    assert listed_metrics(stored(rows, dataset="mine"), tmp_path)["worst_auroc"] == [0.61]


def test_gaps_are_fractions_as_everything_else(tmp_path: Path) -> None:
    rows = number(("ethnicity", "both", "gap", "eo_gap_at_fpr_1e-3"), 10.0, 14.0)
    assert listed_metrics(stored(rows), tmp_path)["strict/eo_gap_at_fpr_1e-3"] == [pytest.approx(0.12)]


def test_error_rates_at_one_threshold_are_the_worst_groups_the_ratio_and_the_gap_at_own_thresholds(
    tmp_path: Path,
) -> None:
    rows = number(("all", "all", "all", "fpr_at_fpr_1e-3"), 0.001)
    rows += number(("ethnicity", "both", "worst", "fpr_at_fpr_1e-3"), 0.004)
    rows += number(("ethnicity", "both", "worst", "tpr_at_own_fpr_1e-3"), 0.7)
    for metric in ("fpr_ratio_at_fpr_1e-3", "own_eo_gap_at_fpr_1e-3"):
        rows += number(("ethnicity", "both", "gap", metric), 5.0)
    for metric in ("fpr_spread_at_fpr_1e-3", "fpr_aad_at_fpr_1e-3", "tpr_mean_at_fpr_1e-3", "ks_std"):
        rows += number(("ethnicity", "both", "gap", metric), 5.0)
    found = {name: values for name, values in listed_metrics(stored(rows), tmp_path).items() if "strict/" in name}
    assert found == {
        "strict/worst_fpr_at_fpr_1e-3": [0.004],
        "strict/fpr_ratio_at_fpr_1e-3": [5.0],
        "strict/own_eo_gap_at_fpr_1e-3": [pytest.approx(0.05)],
    }


def test_groups_have_one_prefix_and_names_that_mlflow_takes(tmp_path: Path) -> None:
    rows = [row for at, level in enumerate(LEVELS) for row in number(("ethnicity", "both", level, "brier"), 0.1 + at)]
    named = listed_metrics(stored(rows), tmp_path)
    assert named["group/strict/brier/a.x2f.b"] == [0.1] and named["group/strict/brier/white"] == [1.1]
    assert not any(name.startswith("group/paper") for name in named), "no number under the paper's rule"


def test_folds_are_steps_and_the_mean_stays_one_number(tmp_path: Path) -> None:
    """A fold without a value keeps its place: the third fold is the third step."""
    rows = number(("all", "all", "all", "brier"), 0.1, 0.2, 0.4)
    rows += number(("ethnicity", "first", "worst", "brier"), 0.3, float("nan"), 0.5)
    rows.append(MetricRow("pooled", "all", "all", "all", "brier", 0.9, 3, 3))
    write_metrics(tmp_path / "metrics.parquet", rows)
    named = listed_metrics(stored(rows), tmp_path)
    assert named["fold/paper/brier"] == named["fold/strict/brier"] == [0.1, 0.2, 0.4]
    assert named["fold/paper/worst_brier"] == [0.3, None, 0.5]
    assert named["paper/brier"] == [pytest.approx(0.7 / 3)] and named["paper/worst_brier"] == [pytest.approx(0.4)]
