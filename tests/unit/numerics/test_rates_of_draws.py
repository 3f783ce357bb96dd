"""Rates by group at one threshold, against pairs that are written out as often as they were drawn."""

from __future__ import annotations

import numpy as np
import pytest

from fairfr.metrics.roc_metrics import OperatingPoint
from fairfr.numerics.rates_of_draws import gap_of_groups, pair_weights, rates_of_draws, ratio_of_groups

LEVELS = {"1e-1": 0.1, "3e-2": 0.03}


def made(ties: bool) -> tuple[np.ndarray, ...]:
    """300 pairs of 40 units in three groups, the last of them small, and some in none; two methods."""
    rng = np.random.default_rng(3)
    ends = rng.integers(40, size=(2, 300)).astype(np.int32)
    same = rng.random(300) < 0.4
    group = rng.choice([-1, 0, 1, 2], p=[0.1, 0.5, 0.35, 0.05], size=300).astype(np.int16)
    values = same + rng.normal(0, 0.7, (2, 300)) + 0.3 * (group == 1)
    if ties:
        values = np.round(values, 1)
    multiplicity = np.stack([np.bincount(rng.integers(40, size=40), minlength=40) for _ in range(6)]).astype(np.int16)
    return multiplicity, ends, same, values, group


def curve(same: np.ndarray, values: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Thresholds, accepted impostors and genuine pairs, by counting at each."""
    thresholds = np.array([np.inf, *np.unique(values)[::-1]])
    accepted = [(np.sum(values[~same] >= t), np.sum(values[same] >= t)) for t in thresholds]
    n_false, n_true = np.array(accepted, dtype=float).T
    return thresholds, n_false, n_true


def written_out(
    same: np.ndarray, values: np.ndarray, group: np.ndarray, alpha: float
) -> tuple[list[float], list[float], list[float]]:
    """FPR and TPR by group at one threshold, and TPR at the group's own, of pairs that all count once."""
    thresholds, n_false, _ = curve(same, values)
    fpr, tpr, own = [], [], []
    for g in range(3):
        mine = group == g
        at = np.array([(values[mine & ~same] >= t).mean() if np.any(mine & ~same) else np.nan for t in thresholds])
        hit = np.array([(values[mine & same] >= t).mean() if np.any(mine & same) else np.nan for t in thresholds])
        fpr.append(np.interp(alpha, n_false / n_false[-1], at))
        tpr.append(np.interp(alpha, n_false / n_false[-1], hit))
        _, of_group, genuine = curve(same[mine], values[mine])
        if of_group[-1] and genuine[-1]:
            own.append(np.interp(alpha, of_group / of_group[-1], genuine / genuine[-1]))
        else:
            own.append(np.nan)
    return fpr, tpr, own


@pytest.mark.parametrize("ties", [False, True])
def test_weighted_rates_are_those_of_pairs_written_out(ties: bool) -> None:
    multiplicity, ends, same, values, group = made(ties)
    found = rates_of_draws(multiplicity, ends, same, values, group, LEVELS)
    for method in range(2):
        for row in range(7):
            times = np.ones(300, dtype=int)
            if row:
                count = multiplicity[row - 1].astype(int)
                times = np.array([count[a] if a == b else count[a] * count[b] for a, b in ends.T])
            copies = np.repeat(np.arange(300), times)
            for level, alpha in LEVELS.items():
                wanted = written_out(same[copies], values[method][copies], group[copies], alpha)
                for name, rates in zip(("fpr_at_fpr", "tpr_at_fpr", "tpr_at_own_fpr"), wanted, strict=True):
                    np.testing.assert_allclose(found[method][f"{name}_{level}"][row], rates, atol=1e-12)


def test_the_data_s_own_rates_are_those_that_results_report() -> None:
    multiplicity, ends, same, values, group = made(ties=True)
    found = rates_of_draws(multiplicity, ends, same, values, group, LEVELS)[0]
    point = OperatingPoint.from_pairs(same, values[0], 0.1, "interp")
    for g in range(3):
        rates = point.rates(same[group == g], values[0][group == g])
        assert found["fpr_at_fpr_1e-1"][0, g] == pytest.approx(rates.fpr)
        assert found["tpr_at_fpr_1e-1"][0, g] == pytest.approx(rates.tpr)


def test_equal_rankings_have_equal_rates_to_the_last_bit() -> None:
    multiplicity, ends, same, values, group = made(ties=True)
    twice = np.stack([values[0], np.exp(values[0])])
    one, two = rates_of_draws(multiplicity, ends, same, twice, group, LEVELS)
    for name in one:
        assert np.array_equal(one[name], two[name], equal_nan=True)


def test_a_group_that_was_not_drawn_has_no_rate() -> None:
    multiplicity, ends, same, values, group = made(ties=False)
    mine = np.isin(np.arange(40), ends[:, group == 2])
    multiplicity[0, mine] = 0
    found = rates_of_draws(multiplicity, ends, same, values, group, LEVELS)[0]
    assert np.isnan([found[name][1, 2] for name in found]).all()
    assert np.isfinite([found[name][0, 2] for name in found]).all()
    assert ratio_of_groups(found["fpr_at_fpr_1e-1"])[1] == np.inf
    assert gap_of_groups(found["tpr_at_own_fpr_1e-1"])[1] == np.inf


def test_a_group_without_impostors_has_no_threshold_of_its_own() -> None:
    multiplicity, ends, same, values, group = made(ties=False)
    same[group == 1] = True
    found = rates_of_draws(multiplicity, ends, same, values, group, LEVELS)[0]
    assert np.isnan(found["tpr_at_own_fpr_1e-1"][:, 1]).all() and np.isnan(found["fpr_at_fpr_1e-1"][:, 1]).all()
    assert np.isfinite(found["tpr_at_fpr_1e-1"][:, 1]).all()


def test_without_groups_there_are_no_rates() -> None:
    multiplicity, ends, same, values, group = made(ties=False)
    found = rates_of_draws(multiplicity, ends, same, values, np.full_like(group, -1), LEVELS)[0]
    assert found["fpr_at_fpr_1e-1"].shape == (7, 0)
    assert np.isnan(ratio_of_groups(found["fpr_at_fpr_1e-1"])).all()
    assert np.isnan(gap_of_groups(found["fpr_at_fpr_1e-1"])).all()


def test_ratio_and_gap_of_groups_by_hand() -> None:
    rates = np.array([[0.2, 0.1, 0.4], [0.2, 0.0, 0.4], [0.2, np.nan, 0.4]])
    assert ratio_of_groups(rates).tolist() == [4.0, np.inf, np.inf]
    assert gap_of_groups(rates).tolist() == pytest.approx([0.3, 0.4, np.inf])


def test_a_pair_of_two_units_counts_by_the_product() -> None:
    ends = np.array([[0, 1, 1], [1, 1, 2]], dtype=np.int32)
    assert pair_weights(np.array([2, 3, 0], dtype=np.int16), ends).tolist() == [6, 3, 0]
