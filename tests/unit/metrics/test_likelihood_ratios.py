"""Cost of likelihood ratios and equal error rate: by hand, and against scikit-learn."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import brentq
from sklearn.isotonic import IsotonicRegression
from sklearn.metrics import log_loss, roc_curve

from fairfr.metrics.likelihood_ratios import cllr, cllr_min, eer


def test_saying_nothing_costs_one_bit() -> None:
    assert cllr(np.array([True, False, False]), np.zeros(3)) == pytest.approx(1)


def test_cllr_by_hand() -> None:
    same = np.array([True, True, False])
    llr = np.array([np.log(3), np.inf, np.log(1 / 7)])
    genuine = (np.log2(1 + 1 / 3) + 0) / 2
    impostor = np.log2(1 + 1 / 7)
    assert cllr(same, llr) == pytest.approx((genuine + impostor) / 2)
    assert cllr(same, np.array([-np.inf, 0, 0])) == np.inf


def test_without_one_of_the_kinds_nothing_is_known() -> None:
    for same in (np.ones(3, bool), np.zeros(3, bool)):
        assert np.isnan([cllr(same, np.zeros(3)), cllr_min(same, np.arange(3.0)), eer(same, np.arange(3.0))]).all()


def test_cllr_is_the_log_loss_at_equal_shares() -> None:
    rng = np.random.default_rng(0)
    same = np.arange(400) < 200
    p = np.clip(rng.beta(2, 2, 400) * 0.5 + same * 0.4, 0.01, 0.99)
    assert cllr(same, np.log(p / (1 - p))) == pytest.approx(log_loss(same, p) / np.log(2))


def test_cllr_min_is_that_of_the_isotonic_curve_and_below_every_other() -> None:
    rng = np.random.default_rng(1)
    same = rng.random(500) < 0.2
    score = np.round(rng.normal(same * 1.5), 1)
    curve = IsotonicRegression(out_of_bounds="clip").fit_transform(score, same)
    share = same.mean()
    with np.errstate(divide="ignore"):
        llr = np.log(curve / (1 - curve)) - np.log(share / (1 - share))
    lowest = cllr_min(same, score)
    assert lowest == pytest.approx(cllr(same, llr))
    for slope in (0.5, 1.0, 1.5, 2.0):
        assert lowest <= cllr(same, slope * (score - 0.75))
    assert cllr_min(same, np.exp(score)) == pytest.approx(lowest)
    assert cllr_min(np.array([False, True]), np.array([0.1, 0.2])) == 0


def test_eer_is_where_the_rates_cross() -> None:
    rng = np.random.default_rng(2)
    same = rng.random(3000) < 0.3
    score = np.round(rng.normal(same * 1.2), 2)
    fpr, tpr, _ = roc_curve(same, score, drop_intermediate=False)
    crossing = brentq(lambda x: 1 - x - np.interp(x, fpr, tpr), 0, 1)
    assert eer(same, score) == pytest.approx(crossing, abs=1e-9)
    assert eer(np.array([False, True]), np.array([0.0, 1.0])) == 0
    assert eer(np.array([False, True]), np.zeros(2)) == pytest.approx(0.5)
