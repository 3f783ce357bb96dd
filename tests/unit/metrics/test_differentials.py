from __future__ import annotations

import numpy as np
import pytest

from fairfr.metrics.differentials import GAP_RATES, max_min_gap


def test_gap_is_max_minus_min_in_percentage_points() -> None:
    assert max_min_gap(np.array([0.2, 0.5, 0.45])) == pytest.approx(30.0)


def test_gap_leaves_out_groups_without_a_value() -> None:
    assert max_min_gap(np.array([0.2, np.nan, 0.45])) == pytest.approx(25.0)


@pytest.mark.parametrize("rates", [[], [0.3], [0.3, np.nan], [np.nan, np.nan]])
def test_gaps_need_two_groups(rates: list[float]) -> None:
    assert np.isnan(max_min_gap(np.array(rates, dtype=np.float64)))


def test_each_gap_compares_its_own_rate() -> None:
    assert GAP_RATES == {"eo": "tpr", "pe": "fpr", "dp": "acceptance"}
