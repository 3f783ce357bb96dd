"""Are probabilities right in every group: those that were handed over, and those of curves of the score.

Curves are cross-fitted: each pair gets its probability from a curve that was fitted on other people's pairs.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from fairfr.auditing.sample import Sample
from fairfr.core.names import ALL
from fairfr.core.types import F64, I64, UNKNOWN, Bool
from fairfr.library.prior import log_likelihood_ratio, with_prior
from fairfr.metrics.calibration import brier, ece
from fairfr.metrics.calibration_tests import CalibrationTest, LogOddsLine, calibration_test, ecce, fit_log_odds
from fairfr.metrics.likelihood_ratios import cllr, cllr_min, eer, log_loss
from fairfr.numerics.allowed_false_matches import People
from fairfr.numerics.beta import fit_beta
from fairfr.numerics.regression import fit_logistic
from fairfr.numerics.roc import auroc_of, roc_curve
from fairfr.pairs.design import DenseDesign
from fairfr.pairs.vectors import COSINE_RANGE

GIVEN = "given"
SCORE = "score"
CURVES = ("platt", "beta", "isotonic")
MOST_PAIRS = 1_000_000
FOLDS = 5
SEED = 0
FEWEST = 20
"""Pairs of each kind, below which a group's probabilities are not judged."""

Curve = Callable[[F64], F64]


@dataclass(frozen=True, slots=True)
class GroupCalibration:
    """How the probabilities of one method fit one group; None where it has no value, and ``reason`` says why."""

    method: str
    grouping: str | None
    group: str
    said: float | None = None
    true: float | None = None
    log_loss: float | None = None
    brier: float | None = None
    ece: float | None = None
    cllr: float | None = None
    cllr_min: float | None = None
    auroc: float | None = None
    eer: float | None = None
    line: LogOddsLine | None = None
    intervals_known: bool = False
    test: CalibrationTest | None = None
    reason: str | None = None


@dataclass(frozen=True, slots=True)
class Judged:
    """The probabilities of one method, (p,): ``llr`` are their log odds without those of the share ``prior``.

    ``llr`` is None for scores that are no probabilities.
    """

    method: str
    value: F64
    llr: F64 | None = None
    prior: float = 0.5

    @classmethod
    def of(cls, method: str, probability: F64, n_genuine: int, n_impostors: int) -> Judged:
        """Probabilities at the share of genuine pairs among so many of both kinds."""
        llr = log_likelihood_ratio(probability, n_genuine, n_impostors)
        return cls(method, probability, llr, n_genuine / (n_genuine + n_impostors))

    def at_prior(self, method: str, prior: float) -> Judged:
        """The same at another share of genuine pairs."""
        return Judged(method, with_prior(self.value, self.prior, prior), self.llr, prior)

    @property
    def log_odds(self) -> F64:
        """Of the probabilities, within what so many pairs can show."""
        assert self.llr is not None
        log_odds: F64 = self.llr + math.log(self.prior / (1 - self.prior))
        return log_odds


@dataclass(frozen=True)
class Probabilities:
    """``of`` (p,) by method, for the pairs ``rows`` of the sample; ``groups``, every measurement."""

    rows: I64
    of: dict[str, F64]
    groups: tuple[GroupCalibration, ...]

    @property
    def judged(self) -> str | None:
        """The method whose probabilities the findings speak of: those given, else of the lowest log loss."""
        if GIVEN in self.of:
            return GIVEN
        return self._best_curve

    @property
    def shown(self) -> list[str]:
        """The methods whose reliability is drawn: those given, and the best curve of the score."""
        return [method for method in self.of if method not in CURVES or method == self._best_curve]

    @property
    def _best_curve(self) -> str | None:
        loss = {row.method: row.log_loss for row in self.groups if row.grouping is None and row.method in CURVES}
        known = {method: value for method, value in loss.items() if value is not None}
        return min(known, key=known.__getitem__, default=None)


def measure_probabilities(sample: Sample) -> Probabilities | None:
    """Measure the calibration of every method in every group; None without labels of both kinds."""
    if sample.same is None or sample.same.all() or not sample.same.any():
        return None
    rows, part = most_pairs(sample)
    assert part.same is not None
    values: dict[str, F64] = {}
    if part.probability is not None:
        values[GIVEN] = part.probability
    values |= _cross_fitted(part, part.same)
    n_genuine = int(np.count_nonzero(part.same))
    judged = [Judged.of(method, value, n_genuine, len(part) - n_genuine) for method, value in values.items()]
    return measure_judged(rows, part, [*judged, Judged(SCORE, part.similarity)])


def most_pairs(sample: Sample) -> tuple[I64, Sample]:
    """The rows whose probabilities are looked at, and the sample of these alone: all of them up to a million."""
    rows = np.arange(len(sample))
    if len(rows) <= MOST_PAIRS:
        return rows, sample
    rows = np.sort(np.random.default_rng(SEED).choice(rows, MOST_PAIRS, replace=False))
    return rows, sample.part(rows)


def measure_judged(rows: I64, part: Sample, judged: Sequence[Judged]) -> Probabilities:
    """Measure every method in every group of ``part``, which are the ``rows`` of the whole sample."""
    groups = []
    for grouping, group, chosen in _subsets(part):
        people = part.people_of(chosen)
        for one in judged:
            groups.append(_measured(part, one, (grouping, group, chosen), people))
    return Probabilities(rows, {one.method: one.value for one in judged if one.llr is not None}, tuple(groups))


def _subsets(sample: Sample) -> Iterator[tuple[str | None, str, Bool]]:
    yield None, ALL, np.ones(len(sample), dtype=bool)
    for grouping in sample.groupings:
        for code, level in enumerate(grouping.levels):
            yield grouping.id, level, grouping.inside == code


# -- curves of the score ---------------------------------------------------------------------------------------------


def _cross_fitted(sample: Sample, same: Bool) -> dict[str, F64]:
    """Held-out probabilities (p,) of each curve."""
    low = min(COSINE_RANGE[0], sample.similarity.min())
    high = max(COSINE_RANGE[1], sample.similarity.max())
    score = (2 * sample.similarity - low - high) / (high - low)
    found = {curve: np.full(len(same), math.nan) for curve in CURVES}
    fits: dict[str, Callable[[F64, Bool], Curve]] = {"platt": _platt, "beta": _beta, "isotonic": _isotonic}
    share = float(same.mean())
    for train, test in _folds(sample, same):
        if same[train].all() or not same[train].any() or not test.any():
            continue
        trained = float(same[train].mean())
        for curve, fit in fits.items():
            probability = fit(score[train], same[train])(score[test])
            if sample.fold is None and sample.people is not None:
                # leaving out people takes out impostors and genuine pairs in different shares
                probability = with_prior(probability, trained, share)
            found[curve][test] = probability
    return {curve: values for curve, values in found.items() if not np.isnan(values).any()}


def _folds(sample: Sample, same: Bool) -> Iterator[tuple[Bool, Bool]]:
    """Which pairs are fitted on, and which get their probability, (p,) each."""
    if sample.fold is not None and len(np.unique(sample.fold)) > 1:
        for code in np.unique(sample.fold):
            test = sample.fold == code
            yield ~test, test
        return
    rng = np.random.default_rng(SEED)
    if sample.people is None:
        fold = _dealt_by_label_and_group(sample, same, rng)
        for code in range(FOLDS):
            yield fold != code, fold == code
        return
    left, right = sample.people
    fold_of_person = rng.permutation(int(max(left.max(), right.max())) + 1) % FOLDS
    for code in range(FOLDS):
        held_out = fold_of_person == code
        yield ~held_out[left] & ~held_out[right], held_out[left]


def _dealt_by_label_and_group(sample: Sample, same: Bool, rng: np.random.Generator) -> I64:
    """A fold for each pair, (p,): each has the same share of every kind of pair in every group."""
    stratum = same.astype(np.int64)
    for grouping in sample.groupings:
        stratum = stratum * (len(grouping.levels) + 1) + grouping.inside - UNKNOWN
    order = np.lexsort((rng.random(len(stratum)), stratum))
    fold = np.empty(len(stratum), dtype=np.int64)
    fold[order] = np.arange(len(stratum)) % FOLDS
    return fold


def _platt(score: F64, same: Bool) -> Curve:
    model = fit_logistic(DenseDesign(score), same)
    return lambda values: model.probability(DenseDesign(values))


def _beta(score: F64, same: Bool) -> Curve:
    return fit_beta(score, same).probability


def _isotonic(score: F64, same: Bool) -> Curve:
    from sklearn.isotonic import IsotonicRegression

    curve = IsotonicRegression(y_min=0.0, y_max=1.0, out_of_bounds="clip").fit(score, same.astype(np.float64))
    return lambda values: np.asarray(curve.predict(values), dtype=np.float64)


# -- how right they are ----------------------------------------------------------------------------------------------


def _measured(
    sample: Sample, judged: Judged, subset: tuple[str | None, str, Bool], people: People | None
) -> GroupCalibration:
    grouping, group, chosen = subset
    method = judged.method
    assert sample.same is not None
    same = sample.same[chosen]
    value = judged.value[chosen]
    n_same = int(np.count_nonzero(same))
    if min(n_same, len(same) - n_same) < FEWEST:
        return GroupCalibration(
            method, grouping, group, reason=f"fewer than {FEWEST} genuine pairs or impostors in the group"
        )
    ranking = replace(
        GroupCalibration(method, grouping, group),
        cllr_min=cllr_min(same, value),
        auroc=auroc_of(roc_curve(same, value)),
        eer=eer(same, value),
    )
    if judged.llr is None:
        return replace(ranking, reason="a score is no probability")
    log_odds = judged.log_odds[chosen]
    reason = None
    if people is None:
        reason = "people are not known: no interval and no test"
    return replace(
        ranking,
        said=float(value.mean()),
        true=float(same.mean()),
        log_loss=log_loss(same, log_odds),
        brier=brier(same, value),
        ece=ece(same, value),
        cllr=cllr(same, judged.llr[chosen]),
        line=fit_log_odds(same, log_odds, people),
        intervals_known=people is not None,
        test=_tested(same, value, people),
        reason=reason,
    )


def _tested(same: Bool, probability: F64, people: People | None) -> CalibrationTest:
    """The test over people; where they are not known, its error alone counts."""
    if people is not None:
        return calibration_test(same, probability, people)
    sigma = math.sqrt(float(np.sum(probability * (1 - probability)))) / len(same)
    return CalibrationTest(ecce(same, probability), sigma, math.nan)
