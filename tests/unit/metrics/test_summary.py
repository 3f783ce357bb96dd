from __future__ import annotations

import numpy as np
import pytest

from fairfr.core.types import MetricRow
from fairfr.metrics.summary import few_impostors_findings, summarise

NAN = float("nan")


def rows_of(*values: float, group: str = "a", pooled: float = 0.9) -> list[MetricRow]:
    folds = [MetricRow(str(i), "g", "both", group, "auroc", value, 10 + i, 20) for i, value in enumerate(values)]
    return [*folds, MetricRow("pooled", "g", "both", group, "auroc", pooled, 99, 99)]


def test_mean_and_population_std_are_over_folds_and_not_the_pooled_value() -> None:
    (summary,) = summarise(rows_of(0.5, 0.7))
    assert summary == {
        "grouping": "g",
        "rule": "both",
        "group": "a",
        "metric": "auroc",
        "mean": pytest.approx(0.6),
        "std": pytest.approx(0.1),
        "folds": 2,
        "folds_total": 2,
        "pooled": 0.9,
        "n_same": 21,
        "n_diff": 40,
    }


def test_folds_without_a_value_are_skipped_but_counted() -> None:
    (summary,) = summarise(rows_of(0.5, NAN, 0.7))
    assert (summary["folds"], summary["folds_total"]) == (2, 3)
    assert summary["mean"] == pytest.approx(0.6)
    assert (summary["n_same"], summary["n_diff"]) == (33, 60)


def test_without_any_value_the_mean_is_nan() -> None:
    (summary,) = summarise(rows_of(NAN, NAN))
    assert np.isnan(summary["mean"])
    assert np.isnan(summary["std"])
    assert summary["folds"] == 0
    assert summary["pooled"] == 0.9


def test_groups_are_kept_apart_in_order_of_appearance() -> None:
    summaries = summarise([*rows_of(0.5, group="b"), *rows_of(0.6, group="a")])
    assert [(summary["group"], summary["mean"]) for summary in summaries] == [("b", 0.5), ("a", 0.6)]


def global_rows(*n_diff: int) -> list[MetricRow]:
    folds = [MetricRow(str(i), "all", "all", "all", "auroc", 0.9, 50, n) for i, n in enumerate(n_diff)]
    return [*folds, MetricRow("pooled", "all", "all", "all", "auroc", 0.9, 50, sum(n_diff))]


def test_few_negatives_are_warned_of_by_the_smallest_fold() -> None:
    (warning,) = few_impostors_findings(global_rows(20000, 1200))
    assert (warning.code, warning.severity, warning.counts) == ("few-false-matches", "warning", {"different": 1200})
    assert "1e-3" in warning.text
    assert "1,200" in warning.text
    assert "1.2 false matches" in warning.text


def test_very_few_negatives_are_warned_of_at_both_rates() -> None:
    assert len(few_impostors_findings(global_rows(300, 300))) == 2


def test_enough_negatives_give_no_warning() -> None:
    assert few_impostors_findings(global_rows(10000, 10000)) == []
    assert few_impostors_findings([]) == []
