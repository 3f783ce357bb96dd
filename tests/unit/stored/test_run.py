"""Two readings of one set of scores."""

from __future__ import annotations

from typing import Any

import pytest
from made_runs import run_of

from fairfr.stored.reading import PAPER_READING, STRICT
from fairfr.stored.run import Run

# Every number says where it comes from.
VALUES = {
    ("all", "all", "all", "auroc"): 0.01,
    ("all", "all", "all", "auroc_on_probability"): 0.02,
    ("all", "all", "all", "tpr_at_fpr_1e-3"): 0.03,
    ("all", "all", "all", "tpr_at_fpr_1e-3_on_probability"): 0.04,
    ("all", "all", "all", "brier"): 0.05,
    ("all", "all", "all", "brier_raw"): 0.06,
    ("eth", "first", "worst", "auroc"): 0.11,
    ("eth", "first", "worst", "auroc_on_probability"): 0.12,
    ("eth", "first", "worst", "brier"): 0.13,
    ("eth", "first", "worst", "brier_raw"): 0.14,
    ("eth", "both", "worst", "auroc"): 0.21,
    ("eth", "both", "worst", "auroc_on_probability"): 0.22,
    ("eth", "both", "worst", "brier"): 0.23,
    ("eth", "both", "worst", "brier_raw"): 0.24,
    ("eth", "first", "gap", "eo_gap_at_fpr_1e-3"): 0.31,
    ("eth", "first", "gap", "eo_gap_at_fpr_1e-3_on_probability"): 0.32,
    ("eth", "both", "gap", "eo_gap_at_fpr_1e-3"): 0.33,
    ("other", "first", "worst", "auroc"): 0.99,
}


def result(native: bool, grouping: str | None = "eth", needs: tuple[str, ...] = ()) -> Run:
    rows: list[dict[str, Any]] = [
        {"grouping": g, "rule": r, "group": w, "metric": m, "mean": value} for (g, r, w, m), value in VALUES.items()
    ]
    method = {"native_probability": native, "needs": list(needs)}
    return run_of({"method": method, "data": {"grouping": grouping}, "metrics": rows})


@pytest.mark.parametrize(
    ("native", "reading", "metric", "group", "wanted"),
    [
        (True, PAPER_READING, "auroc", "all", 0.02),  # ranked by its probability
        (True, STRICT, "auroc", "all", 0.01),  # ranked by its score
        (False, PAPER_READING, "auroc", "all", 0.01),
        (False, STRICT, "auroc", "all", 0.01),
        (True, PAPER_READING, "tpr_at_fpr_1e-3", "all", 0.04),
        (True, PAPER_READING, "auroc", "worst", 0.12),  # the first image's group
        (True, STRICT, "auroc", "worst", 0.21),  # both images in the group
        (False, PAPER_READING, "auroc", "worst", 0.11),
        (True, PAPER_READING, "brier", "all", 0.05),
        (False, PAPER_READING, "brier", "all", 0.05),  # overlay
        (False, PAPER_READING, "brier", "worst", 0.14),  # raw score, as in Table 2, Panel B
        (True, PAPER_READING, "brier", "worst", 0.13),
        (False, STRICT, "brier", "worst", 0.23),
        (True, PAPER_READING, "eo_gap_at_fpr_1e-3", "gap", 0.32),
        (True, STRICT, "eo_gap_at_fpr_1e-3", "gap", 0.33),
    ],
)
def test_where_a_number_comes_from(native: bool, reading: Any, metric: str, group: str, wanted: float) -> None:
    assert result(native).read(reading).mean(metric, group) == wanted


def test_a_number_that_does_not_exist_is_none() -> None:
    assert result(True).read(PAPER_READING).mean("auroc", "nobody") is None
    assert result(True, grouping=None).mean("auroc", "worst") is None
    failed = run_of({"method": {"native_probability": True, "needs": []}, "status": "failed"})
    assert failed.mean("auroc") is None and failed.mean("auroc", "worst") is None


def test_the_dagger_comes_from_needs() -> None:
    assert result(True, needs=("embeddings", "groups")).needs_groups
    assert not result(True, needs=("embeddings",)).needs_groups
