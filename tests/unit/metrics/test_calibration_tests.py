"""Tests of calibration where pairs share people: by definition, against scikit-learn, and by simulation."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats
from sklearn.linear_model import LogisticRegression

from fairfr.metrics.calibration_tests import calibration_test, ecce, fit_log_odds
from fairfr.numerics.allowed_false_matches import People

Table = tuple[np.ndarray, np.ndarray, People]


def independent(n: int) -> People:
    return People.of(np.arange(n), n + np.arange(n))


def population(seed: int, shift: float = 0.0) -> Table:
    """Each of 150 people meets 20 others; people decide a part of the log odds. ``shift`` is said wrongly."""
    rng = np.random.default_rng(seed)
    left = np.repeat(np.arange(150), 20)
    right = (left + rng.integers(1, 150, len(left))) % 150
    effect = rng.normal(size=150)
    seen = rng.normal(size=len(left))
    share = np.mean(1 / (1 + np.exp(-(seen[:, None] + np.sqrt(2) * rng.normal(size=(1, 400))))), axis=1)
    same = rng.random(len(left)) < 1 / (1 + np.exp(-(seen + effect[left] + effect[right])))
    logit = np.log(share / (1 - share)) + shift
    return same, 1 / (1 + np.exp(-logit)), People.of(left, right)


def test_ecce_in_a_loop() -> None:
    same = np.array([False, True, True, False, True])
    probability = np.array([0.1, 0.9, 0.4, 0.4, 0.6])
    # by rising probability: -.1; (1 - .4) + (0 - .4) for the two equal ones; 1 - .6; 1 - .9
    sums = np.array([0, -0.1, 0.1, 0.5, 0.6]) / 5
    assert ecce(same, probability) == pytest.approx(sums.max() - sums.min())


def test_ecce_ignores_the_order_of_pairs() -> None:
    rng = np.random.default_rng(0)
    same, probability = rng.random(200) < 0.5, np.round(rng.random(200), 1)
    order = rng.permutation(200)
    assert ecce(same[order], probability[order]) == pytest.approx(ecce(same, probability))


def test_true_probabilities_of_independent_pairs_are_rarely_rejected() -> None:
    p_values = []
    for seed in range(200):
        rng = np.random.default_rng(seed)
        p = rng.random(400)
        p_values.append(calibration_test(rng.random(400) < p, p, independent(400)).p_value)
    assert np.mean(np.array(p_values) < 0.05) <= stats.binom.ppf(0.999, 200, 0.05) / 200
    assert np.mean(p_values) == pytest.approx(0.5, abs=0.1)


def test_true_probabilities_of_pairs_that_share_people_are_rarely_rejected() -> None:
    found = [population(seed) for seed in range(120)]
    shared = np.array([calibration_test(*table).p_value for table in found])
    alone = np.array([calibration_test(same, p, independent(len(p))).p_value for same, p, _ in found])
    assert np.mean(shared < 0.05) < 0.12
    assert np.mean(alone < 0.05) > 0.25, "where people are not known, truth would be rejected too often"


def test_wrong_probabilities_are_found() -> None:
    same, p, people = population(0, shift=1.0)
    found = calibration_test(same, p, people)
    assert found.p_value < 0.01
    assert found.ecce > found.sigma
    assert found.ecce == ecce(same, p)
    assert found.detectable == 5 * found.sigma


def test_sigma_of_independent_pairs_is_binomial() -> None:
    rng = np.random.default_rng(3)
    p = rng.random(5000)
    found = calibration_test(rng.random(5000) < p, p, independent(5000))
    assert found.sigma == pytest.approx(np.sqrt((p * (1 - p)).sum()) / 5000, rel=0.05)


def test_the_line_is_scikit_learns() -> None:
    same, p, people = population(1, shift=0.5)
    logit = np.log(p / (1 - p))
    reference = LogisticRegression(C=np.inf, tol=1e-10).fit(logit[:, None], same)
    line = fit_log_odds(same, logit, people)
    assert line is not None
    assert line.intercept == pytest.approx(reference.intercept_[0], abs=1e-5)
    assert line.slope == pytest.approx(reference.coef_[0, 0], abs=1e-5)


def test_the_intervals_of_independent_pairs_are_those_of_the_information_matrix() -> None:
    rng = np.random.default_rng(4)
    logit = rng.normal(size=20_000)
    same = rng.random(20_000) < 1 / (1 + np.exp(-logit))
    line = fit_log_odds(same, logit, None)
    assert line is not None
    fitted = 1 / (1 + np.exp(-(line.intercept + line.slope * logit)))
    X = np.column_stack([np.ones(20_000), logit])
    covariance = np.linalg.inv(X.T @ (X * (fitted * (1 - fitted))[:, None]))
    assert line.covariance == pytest.approx(covariance, rel=0.05, abs=5e-6)
    low, high = line.slope_interval
    assert (low + high) / 2 == pytest.approx(line.slope)
    assert (high - low) / 2 == pytest.approx(1.96 * np.sqrt(line.covariance[1, 1]), rel=1e-3)


def test_people_widen_the_intervals() -> None:
    same, p, people = population(2)
    logit = np.log(p / (1 - p))
    shared, alone = fit_log_odds(same, logit, people), fit_log_odds(same, logit, None)
    assert shared is not None
    assert alone is not None
    assert np.diff(shared.intercept_interval) > 1.5 * np.diff(alone.intercept_interval)


@pytest.mark.parametrize("logit", [np.repeat([-1.0, 1.0], 50), np.zeros(100)], ids=["separated", "constant"])
def test_where_no_line_is_best_there_is_none(logit: np.ndarray) -> None:
    assert fit_log_odds(np.arange(100) >= 50, logit, None) is None
