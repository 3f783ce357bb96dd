from __future__ import annotations

import numpy as np
import pytest
from sklearn.metrics import brier_score_loss

from fairfr.metrics.calibration import brier, brier_raw, ece, ks


def test_brier_equals_the_library_value() -> None:
    rng = np.random.default_rng(0)
    same, probability = rng.random(300) < 0.3, rng.random(300)
    assert brier(same, probability) == pytest.approx(brier_score_loss(same, probability), abs=1e-15)


def test_brier_of_a_hand_worked_case() -> None:
    assert brier(np.array([True, False]), np.array([0.7, 0.4])) == pytest.approx((0.09 + 0.16) / 2)


def test_brier_raw_clips_scores_to_probabilities() -> None:
    same = np.array([True, False, False, True])
    assert brier_raw(same, np.array([3.0, -2.0, 0.5, -0.1])) == pytest.approx((0 + 0 + 0.25 + 1) / 4)


def test_ece_of_a_hand_worked_case() -> None:
    # Two bins: {0.1, 0.3} holds one genuine pair, {0.6, 0.8} two.
    same = np.array([False, True, True, True])
    probability = np.array([0.1, 0.3, 0.6, 0.8])
    assert ece(same, probability, bins=2) == pytest.approx(0.5 * abs(0.2 - 0.5) + 0.5 * abs(0.7 - 1.0))


def test_ece_puts_probability_one_in_the_last_bin() -> None:
    # One bin of (1.0, 0.95) with one genuine pair; apart they would give (0 + 0.95) / 2.
    assert ece(np.array([True, False]), np.array([1.0, 0.95])) == pytest.approx(0.475)
    assert ece(np.array([False, True]), np.array([1.0, 0.95])) == pytest.approx(0.475)


def test_ece_bins_are_closed_on_the_left() -> None:
    # 0.5 is an edge of two bins: alone in the upper one, its error cannot cancel against 0.4's.
    same, probability = np.array([True, False]), np.array([0.5, 0.4])
    assert ece(same, probability, bins=2) == pytest.approx(0.45)
    assert ece(same, probability, bins=1) == pytest.approx(0.05)


def test_ece_has_fifteen_bins_unless_told() -> None:
    same, probability = np.array([True, False]), np.array([1.5 / 15, 0.5 / 15])
    assert ece(same, probability) == pytest.approx((1 - 1.5 / 15 + 0.5 / 15) / 2)
    assert ece(same, probability) == ece(same, probability, bins=15)


def test_ece_is_not_the_top_label_form() -> None:
    # 40 % genuine at 0.2 and all at 0.8. Read as the more likely label both are certain to 0.8 and right in 60 % and
    # 100 %, on average 80 %: the top-label form would call that perfect.
    same = np.array([True, True, False, False, False] + 5 * [True])
    assert ece(same, np.repeat([0.2, 0.8], 5)) == pytest.approx(0.2)


def test_equal_mass_ece_fills_bins_equally() -> None:
    same = np.array([False, True, False, True])
    probability = np.array([0.01, 0.02, 0.03, 0.9])
    assert ece(same, probability, bins=2, equal_mass=True) == pytest.approx(
        0.5 * abs(0.015 - 0.5) + 0.5 * abs(0.465 - 0.5)
    )


def test_equal_mass_ece_keeps_equal_probabilities_together() -> None:
    same = np.array([True, False, True, False])
    assert ece(same, np.full(4, 0.5), bins=2, equal_mass=True) == pytest.approx(0.0)
    assert ece(same[[0, 2, 1, 3]], np.full(4, 0.5), bins=2, equal_mass=True) == pytest.approx(0.0)


def test_ks_of_a_hand_worked_case() -> None:
    # Rising: 0.2 (impostor), 0.4 (genuine), 0.9 (genuine): running sums 0.2, -0.4, -0.5.
    same = np.array([True, False, True])
    assert ks(same, np.array([0.9, 0.2, 0.4])) == pytest.approx(0.5 / 3)


def test_ks_starts_from_the_smallest_probability() -> None:
    # Running sums 0.4, 0.3; from the largest down they would be -0.1, 0.3.
    same = np.array([False, True])
    assert ks(same, np.array([0.4, 0.9])) == pytest.approx(0.4 / 2)


def test_ks_reads_only_the_ends_of_tied_runs() -> None:
    # Inside the run the sum would reach 1.0 or -1.0, depending on the order.
    same = np.array([True, True, False, False])
    for order in ([0, 1, 2, 3], [2, 3, 0, 1], [0, 2, 1, 3]):
        assert ks(same[order], np.full(4, 0.5)) == pytest.approx(0.0)


def test_certain_and_right_is_perfect() -> None:
    same = np.array([True, False, True])
    probability = same.astype(np.float64)
    assert brier(same, probability) == ece(same, probability) == ks(same, probability) == 0.0


def test_certain_and_wrong_is_the_worst() -> None:
    same = np.array([True, True])
    probability = np.zeros(2)
    assert brier(same, probability) == ece(same, probability) == ks(same, probability) == 1.0


@pytest.mark.parametrize("metric", [brier, brier_raw, ece, ks])
def test_calibration_of_no_pairs_is_undefined(metric) -> None:
    assert np.isnan(metric(np.zeros(0, dtype=bool), np.zeros(0)))


@pytest.mark.parametrize("metric", [brier, brier_raw, ece, ks])
def test_calibration_is_defined_for_one_class(metric) -> None:
    assert np.isfinite(metric(np.ones(3, dtype=bool), np.array([0.2, 0.5, 1.0])))
