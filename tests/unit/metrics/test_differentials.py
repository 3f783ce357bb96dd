from __future__ import annotations

import statistics

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fairfr.metrics.differentials import (
    DEVIATIONS,
    GAP_RATES,
    max_min_gap,
    max_min_ratio,
    max_to_geometric_mean,
)


def test_gap_is_max_minus_min_in_percentage_points() -> None:
    assert max_min_gap(np.array([0.2, 0.5, 0.45])) == pytest.approx(30.0)


def test_gap_leaves_out_groups_without_a_value() -> None:
    assert max_min_gap(np.array([0.2, np.nan, 0.45])) == pytest.approx(25.0)


@pytest.mark.parametrize("rates", [[], [0.3], [0.3, np.nan], [np.nan, np.nan]])
def test_gaps_need_two_groups(rates: list[float]) -> None:
    assert np.isnan(max_min_gap(np.array(rates, dtype=np.float64)))


def test_each_gap_compares_its_own_rate() -> None:
    assert GAP_RATES == {"eo": "tpr", "pe": "fpr", "dp": "acceptance"}


def test_ratios_of_a_hand_worked_case() -> None:
    rates = np.array([0.001, np.nan, 0.008, 0.001])
    assert max_min_ratio(rates) == pytest.approx(8.0)
    assert max_to_geometric_mean(rates) == pytest.approx(4.0)  # the geometric mean is 0.002


@pytest.mark.parametrize("ratio", [max_min_ratio, max_to_geometric_mean])
@pytest.mark.parametrize("rates", [[0.0, 0.3], [0.0, 0.0], [0.3], [0.3, np.nan]])
def test_a_ratio_needs_two_groups_that_all_have_errors(ratio: object, rates: list[float]) -> None:
    assert callable(ratio)
    assert np.isnan(ratio(np.array(rates)))


def test_equal_groups_are_at_parity() -> None:
    rates = np.full(4, 0.02)
    assert max_min_ratio(rates) == 1
    assert max_to_geometric_mean(rates) == pytest.approx(1)


def test_deviations_of_a_hand_worked_case() -> None:
    # mean 4 %, distances 3, 1, 1, 3
    values = np.array([0.01, 0.03, np.nan, 0.05, 0.07])
    found = {name: deviation(values) for name, deviation in DEVIATIONS.items()}
    assert found == pytest.approx({"mean": 4.0, "aad": 2.0, "mad": 3.0, "std": 5**0.5})


@pytest.mark.parametrize("values", [[], [0.3], [0.3, np.nan]])
def test_deviations_need_two_groups(values: list[float]) -> None:
    for deviation in DEVIATIONS.values():
        assert np.isnan(deviation(np.array(values, dtype=np.float64)))


@given(st.lists(st.floats(0, 1), min_size=2, max_size=8))
def test_deviations_are_ordered_and_turn_with_nothing(values: list[float]) -> None:
    found = {name: deviation(np.array(values)) for name, deviation in DEVIATIONS.items()}
    assert found["mean"] == pytest.approx(100 * statistics.fmean(values))
    assert found["std"] == pytest.approx(100 * statistics.pstdev(values), abs=1e-9)
    assert found["aad"] <= found["std"] + 1e-9 <= found["mad"] + 2e-9
    assert found["mad"] <= max_min_gap(np.array(values)) + 1e-9


@given(st.lists(st.floats(1e-6, 1), min_size=2, max_size=8))
def test_the_highest_rate_over_the_geometric_mean_lies_between_one_and_max_over_min(rates: list[float]) -> None:
    values = np.array(rates)
    assert 1 - 1e-9 <= max_to_geometric_mean(values) <= max_min_ratio(values) * (1 + 1e-9)
    assert max_to_geometric_mean(values) == pytest.approx(max(rates) / statistics.geometric_mean(rates))
