"""What follows from the catalogue of metrics: direction and false positive rate."""

from __future__ import annotations

import pytest

from fairfr.metrics.catalogue import METRICS
from fairfr.report.quantity import LIFTED, Quantity, group_heading


@pytest.mark.parametrize(
    ("metric", "group", "higher", "alpha"),
    [
        ("auroc", "all", True, None),
        ("brier", "worst", False, None),
        ("tpr_at_fpr_1e-3", "all", True, "1e-3"),
        ("tpr_at_fpr_1e-2_on_probability", "worst", True, "1e-2"),
        ("eo_gap_at_fpr_1e-2", "gap", False, "1e-2"),
        ("fpr_at_fpr_1e-3", "asian", False, "1e-3"),
        ("brier", LIFTED, True, None),
    ],
)
def test_direction_and_rate(metric: str, group: str, higher: bool | None, alpha: str | None) -> None:
    quantity = Quantity(metric, group)
    assert (quantity.higher_is_better, quantity.alpha) == (higher, alpha)


def test_every_metric_of_the_catalogue_is_a_quantity() -> None:
    for metric in METRICS:
        quantity = Quantity(metric.id)
        assert quantity.higher_is_better is {"higher": True, "lower": False, None: None}[metric.better]
        assert (quantity.alpha is not None) == ("_fpr_1e-" in metric.id)


def test_names_of_groups_are_made_readable_and_stay_apart() -> None:
    assert group_heading("asian_female") == "Asian female"
    assert len({group_heading(name) for name in ("a_b", "a b", "a/b", "A_b", "a__b")}) == 5
