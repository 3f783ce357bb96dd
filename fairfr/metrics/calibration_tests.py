"""Are probabilities right, as far as pairs that share people can tell: a test, and a line through the log odds.

The errors of pairs that share a person are not independent, so variances are dyadic
(``fairfr.numerics.rate_bounds.dyadic_variance``).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from fairfr.core.types import F64, I64, Bool
from fairfr.numerics.allowed_false_matches import People
from fairfr.numerics.rate_bounds import dyadic_variance
from fairfr.numerics.regression import sigmoid
from fairfr.numerics.roc import last_of_ties

BINS = 100
DRAWS = 4000
NORMAL_95 = 1.959963984540054
DETECTABLE = 5  # standard deviations: an error of this size is nearly always found
MOST_STEPS = 100
MOST_HALVINGS = 30
SMALLEST_STEP = 1e-9


@dataclass(frozen=True, slots=True)
class CalibrationTest:
    """Whether the observed error could be chance.

    ``ecce`` is the range of the cumulated differences of label and probability, taken by rising probability;
    ``p_value`` how often chance alone gives such a range; ``sigma`` the standard deviation of the whole sum.
    """

    ecce: float
    sigma: float
    p_value: float

    @property
    def detectable(self) -> float:
        """An error of this size would nearly always have been found."""
        return DETECTABLE * self.sigma


@dataclass(frozen=True, slots=True)
class LogOddsLine:
    """The logistic line of the label on the log odds of the probability: (0, 1) where it is calibrated.

    ``covariance`` (2, 2) belongs to (intercept, slope).
    """

    intercept: float
    slope: float
    covariance: F64

    @property
    def intercept_interval(self) -> tuple[float, float]:
        """95 % interval."""
        return self._interval(self.intercept, 0)

    @property
    def slope_interval(self) -> tuple[float, float]:
        """95 % interval."""
        return self._interval(self.slope, 1)

    def _interval(self, value: float, at: int) -> tuple[float, float]:
        margin = NORMAL_95 * float(np.sqrt(self.covariance[at, at]))
        return value - margin, value + margin


def ecce(same: Bool, probability: F64) -> float:
    """Estimated cumulative calibration error (Arrieta-Ibarra et al. 2022): the range of the cumulated differences.

    Parameters
    ----------
    same : ndarray of bool, shape (n_pairs,)
        Whether a pair shows one person.
    probability : ndarray of float, shape (n_pairs,)
        Probability that it does, in [0, 1].

    Returns
    -------
    float
        The largest minus the smallest of 0 and the sums of ``same - probability`` over the pairs with the k lowest
        probabilities, divided by n_pairs, read only where a run of equal probabilities ends. NaN without pairs.
    """
    if len(same) == 0:
        return float("nan")
    order = np.argsort(probability, kind="stable")
    ends = last_of_ties(probability[order])
    return _range(_cumulated(same[order], probability[order])[ends])


def calibration_test(same: Bool, probability: F64, people: People, seed: int = 0) -> CalibrationTest:
    """Test whether probabilities are right on average at every level.

    Parameters
    ----------
    same : ndarray of bool, shape (n_pairs,)
        Whether a pair shows one person.
    probability : ndarray of float, shape (n_pairs,)
        Probability that it does, in [0, 1].
    people : People
        Who is met in the pairs.
    seed : int, default 0
        Of the draws that give the p-value.

    Returns
    -------
    CalibrationTest
        Its ``p_value`` compares the range at the ends of 100 bins with the ranges of 4,000 random walks that have the
        covariance of the bins' sums over people.
    """
    from scipy.sparse import csr_array

    n = len(same)
    order = np.argsort(probability, kind="stable")
    p = probability[order]
    y = same[order]
    variance = p * (1 - p)
    bin_of, ends = _bins_of_equal_variance(variance, last_of_ties(p))
    residual = csr_array((y - p, (np.arange(n), bin_of)), (n, len(ends)))
    in_order = People(people.left[order], people.right[order])
    covariance = dyadic_variance(in_order, residual) / n**2
    cumulated = _cumulated(y, p)
    observed = _range(cumulated[ends])
    drawn = _ranges_by_chance(covariance, seed)
    sigma = np.sqrt(max(covariance.sum(), variance.sum() / n**2))
    p_value = (1 + np.count_nonzero(drawn >= observed)) / (DRAWS + 1)
    return CalibrationTest(_range(cumulated[last_of_ties(p)]), float(sigma), float(p_value))


def _cumulated(same: Bool, probability: F64) -> F64:
    sums: F64 = np.cumsum(same - probability) / len(same)
    return sums


def _range(sums: F64) -> float:
    return float(max(0.0, sums.max()) - min(0.0, sums.min()))


def _bins_of_equal_variance(variance: F64, may_end: I64) -> tuple[I64, I64]:
    """The bin of each pair, and the last pair of each bin; equal probabilities share a bin.

    ``may_end``: the last pair of each run of equal probabilities.
    """
    total = np.cumsum(variance)[may_end]
    wanted = np.arange(1, BINS) / BINS * total[-1]
    ends = np.unique(np.append(may_end[np.searchsorted(total, wanted)], may_end[-1]))
    return np.searchsorted(ends, np.arange(len(variance))), ends


def _ranges_by_chance(covariance: F64, seed: int) -> F64:
    values, vectors = np.linalg.eigh(covariance)
    root = vectors * np.sqrt(np.maximum(values, 0.0))
    steps = np.random.default_rng(seed).standard_normal((DRAWS, len(values))) @ root.T
    walks = np.cumsum(steps, axis=1)
    ranges: F64 = walks.max(axis=1, initial=0.0) - walks.min(axis=1, initial=0.0)
    return ranges


def fit_log_odds(same: Bool, log_odds: F64, people: People | None) -> LogOddsLine | None:
    """Fit the line ``a + b log_odds`` to the labels by maximum likelihood.

    Parameters
    ----------
    same : ndarray of bool, shape (n_pairs,)
        Whether a pair shows one person.
    log_odds : ndarray of float, shape (n_pairs,)
        Log odds of the probabilities; finite.
    people : People or None
        Who is met in the pairs; None where that is unknown: pairs count as independent.

    Returns
    -------
    LogOddsLine or None
        With the sandwich covariance over people. None where no line is best: the log odds separate the labels, or are
        all the same.
    """
    design = np.column_stack([np.ones(len(log_odds)), log_odds])
    share = float(np.clip(same.mean(), 1e-9, 1 - 1e-9))
    starts = [np.array([0.0, 1.0]), np.array([np.log(share / (1 - share)), 0.0])]
    line = min(starts, key=lambda start: _loss(design, same, start))
    for _ in range(MOST_STEPS):
        fitted = sigmoid(design @ line)
        hessian = design.T @ (design * (fitted * (1 - fitted))[:, None])
        if np.linalg.cond(hessian) > 1e14:
            return None
        step = np.asarray(np.linalg.solve(hessian, design.T @ (same - fitted)), dtype=np.float64)
        if np.abs(step).max() < SMALLEST_STEP:
            break
        lower = _halved(design, same, line, step)
        if lower is None:
            break  # at the minimum, as far as rounding lets it be found
        line = lower
    return LogOddsLine(float(line[0]), float(line[1]), _sandwich(design, same, line, people))


def _halved(design: F64, same: Bool, line: F64, step: F64) -> F64 | None:
    """The first of ``line`` + step, half a step, ... that lowers the loss; None where none does."""
    before = _loss(design, same, line)
    for halvings in range(MOST_HALVINGS):
        tried: F64 = line + step / 2**halvings
        if _loss(design, same, tried) < before:
            return tried
    return None


def _loss(design: F64, same: Bool, line: F64) -> float:
    logit = design @ line
    return float(np.sum(np.logaddexp(0.0, logit) - same * logit))


def _sandwich(design: F64, same: Bool, line: F64, people: People | None) -> F64:
    fitted = sigmoid(design @ line)
    bread = np.linalg.inv(design.T @ (design * (fitted * (1 - fitted))[:, None]))
    scores = design * (same - fitted)[:, None]
    meat = scores.T @ scores
    if people is not None:
        dyadic = dyadic_variance(people, scores)
        if np.isfinite(dyadic).all() and np.linalg.eigvalsh(dyadic).min() > 0:
            meat = dyadic
    covariance: F64 = bread @ meat @ bread
    return covariance
