"""Calibration by group of given probabilities and of curves of the score."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.metrics import log_loss, roc_auc_score

from fairfr.auditing.probabilities import CURVES, GIVEN, SCORE, GroupCalibration, Probabilities, measure_probabilities
from fairfr.auditing.sample import Coded, Grouping, Sample


def matcher(seed: int = 0, n: int = 4000, given_shift: float = 0.0) -> Sample:
    """Two groups with the same curve; what is given is right, but for ``given_shift`` in the second."""
    rng = np.random.default_rng(seed)
    codes = rng.integers(2, size=n).astype(np.int32)
    score = rng.normal(0, 0.4, n).clip(-1, 1)
    truth = 1 / (1 + np.exp(-5 * score))
    given = 1 / (1 + np.exp(-5 * score - given_shift * codes))
    left, right = rng.integers(400, size=n), 400 + rng.integers(400, size=n)
    grouping = Grouping.of("g", Coded(codes, ("a", "b")))
    return Sample(score, rng.random(n) < truth, groupings=(grouping,), people=(left, right), probability=given)


def measured(sample: Sample) -> Probabilities:
    found = measure_probabilities(sample)
    assert found is not None
    return found


def row(found: Probabilities, method: str, group: str) -> GroupCalibration:
    return next(one for one in found.groups if one.method == method and one.group == group)


def test_numbers_are_scikit_learns() -> None:
    sample = matcher()
    assert sample.same is not None
    inside = sample.groupings[0].inside == 1
    given = row(measured(sample), GIVEN, "b")
    p, y = sample.probability[inside], sample.same[inside]  # type: ignore[index]
    assert given.said == pytest.approx(p.mean())
    assert given.true == pytest.approx(y.mean())
    assert given.brier == pytest.approx(np.mean((p - y) ** 2))
    assert given.log_loss == pytest.approx(log_loss(y, p), abs=1e-6)
    assert given.auroc == pytest.approx(roc_auc_score(y, p))


def test_a_shift_in_one_group_is_found_there_alone() -> None:
    found = measured(matcher(given_shift=1.0))
    right, wrong = row(found, GIVEN, "a"), row(found, GIVEN, "b")
    assert right.test is not None
    assert wrong.test is not None
    assert wrong.test.p_value < 0.001 < right.test.p_value
    assert wrong.line is not None
    assert wrong.line.intercept_interval[1] < 0
    assert found.judged == GIVEN


def test_curves_are_held_out_and_right() -> None:
    sample = matcher(1)
    found = measured(sample)
    for curve in CURVES:
        everything = row(found, curve, "all")
        assert everything.test is not None
        assert everything.test.p_value > 0.01, curve
        assert everything.said == pytest.approx(everything.true, abs=0.02)
    score = row(found, SCORE, "all")
    assert score.brier is None
    assert score.auroc == pytest.approx(roc_auc_score(sample.same, sample.similarity))


def test_held_out_people_are_not_in_training() -> None:
    """A curve that could look labels up would be right everywhere: each person's pairs have one label of chance."""
    rng = np.random.default_rng(2)
    n = 600
    person = np.arange(n)
    sample = Sample(rng.random(n), rng.random(n) < 0.5, people=(person, person))
    found = measured(sample)
    assert row(found, "isotonic", "all").auroc < 0.6  # type: ignore[operator]


def test_folds_of_the_file_are_used() -> None:
    """In fold 0 high scores are genuine, in fold 1 low ones: each curve is fitted on the other fold, and wrong."""
    score = np.tile(np.linspace(-0.9, 0.9, 200), 2)
    fold = np.repeat([0, 1], 200).astype(np.int32)
    same = np.where(fold == 0, score > 0, score < 0)
    found = measured(Sample(score, same, fold=fold))
    assert row(found, "isotonic", "all").auroc < 0.2  # type: ignore[operator]


def test_where_people_are_unknown_there_is_neither_interval_nor_p_value() -> None:
    sample = matcher(3)
    found = measured(Sample(sample.similarity, sample.same, groupings=sample.groupings))
    platt = row(found, "platt", "a")
    assert platt.test is not None
    assert np.isnan(platt.test.p_value)
    assert not platt.intervals_known
    assert platt.reason is not None


def test_small_groups_say_why_they_have_no_value() -> None:
    sample = matcher(4, n=60)
    assert "fewer than 20" in (row(measured(sample), GIVEN, "a").reason or "")
    assert measure_probabilities(Sample(sample.similarity, np.zeros(60, dtype=bool))) is None
