from __future__ import annotations

import numpy as np
import pytest

from fairfr.metrics.gaps import GAP_RATES, deviation, gap


def test_gap_is_max_minus_min_in_percentage_points() -> None:
    assert gap(np.array([0.2, 0.5, 0.45])) == pytest.approx(30.0)


def test_gap_leaves_out_groups_without_a_value() -> None:
    assert gap(np.array([0.2, np.nan, 0.45])) == pytest.approx(25.0)


@pytest.mark.parametrize("rates", [[], [0.3], [0.3, np.nan], [np.nan, np.nan]])
def test_gaps_need_two_groups(rates: list[float]) -> None:
    assert np.isnan(gap(np.array(rates, dtype=np.float64)))
    assert np.isnan(deviation(np.array(rates, dtype=np.float64), 0.3, "aad"))


def test_deviations_of_a_hand_worked_case() -> None:
    rates = np.array([0.1, np.nan, 0.4])
    assert deviation(rates, 0.2, "aad") == pytest.approx(15.0)
    assert deviation(rates, 0.2, "mad") == pytest.approx(20.0)
    assert deviation(rates, 0.2, "std") == pytest.approx(np.sqrt((100 + 400) / 2))


def test_each_gap_compares_its_own_rate() -> None:
    assert GAP_RATES == {"eo": "tpr", "pe": "fpr", "dp": "acceptance"}
