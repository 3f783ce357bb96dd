"""The threshold at a wanted false-positive rate, against scikit-learn's ROC curve."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics import roc_curve

from fairfr.methods._fpr_thresholds import MIN_PAIRS_TO_SAMPLE, SAMPLE_EVERY, Corners, ThresholdFinder

CORNERS: tuple[Corners, ...] = ("source", "all")


def threshold_at_fpr(score: np.ndarray, same: np.ndarray, fpr: float, corners: Corners = "source") -> float | None:
    return ThresholdFinder(fpr, corners).find(score, same)


def threshold_reaching_fpr(
    score: np.ndarray, same: np.ndarray, fpr: float, corners: Corners = "source"
) -> float | None:
    return ThresholdFinder(fpr, corners, pick="reaching").find(score, same)


def by_roc_curve(score: np.ndarray, same: np.ndarray, fpr: float, corners: Corners) -> float:
    """The rule itself: corners of the curve or all points, finite thresholds only, the smallest among the nearest."""
    rate, _, threshold = roc_curve(same, score, drop_intermediate=corners == "source")
    rate, threshold = rate[np.isfinite(threshold)], threshold[np.isfinite(threshold)]
    distance = np.abs(rate - fpr)
    return float(threshold[distance == distance.min()].min())


@pytest.mark.parametrize("fpr", [0.0, 1e-3, 0.05, 0.3, 1.0])
@pytest.mark.parametrize("decimals", [16, 2, 1])
@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("corners", CORNERS)
def test_equals_the_rule_on_random_scores(corners: Corners, seed: int, decimals: int, fpr: float) -> None:
    rng = np.random.default_rng(seed)
    same = rng.random(800) < 0.4
    score = np.round(rng.standard_normal(800) + same, decimals)
    assert threshold_at_fpr(score, same, fpr, corners) == by_roc_curve(score, same, fpr, corners)


@settings(max_examples=300)
@given(
    pairs=st.lists(st.tuples(st.integers(-4, 4), st.booleans()), min_size=2, max_size=25),
    fpr=st.sampled_from([0.0, 0.05, 0.1, 0.25, 0.5, 0.75, 1.0]),
    corners=st.sampled_from(CORNERS),
)
def test_equals_the_rule_on_small_sets_with_ties(pairs: list[tuple[int, bool]], fpr: float, corners: Corners) -> None:
    score = np.array([value for value, _ in pairs], dtype=np.float64)
    same = np.array([label for _, label in pairs])
    if same.all() or not same.any():
        assert threshold_at_fpr(score, same, fpr, corners) is None
    else:
        assert threshold_at_fpr(score, same, fpr, corners) == by_roc_curve(score, same, fpr, corners)


def test_by_hand() -> None:
    # accepted at >= 0.8: no impostor of two; at >= 0.4: one; between them one genuine pair makes a corner
    score = np.array([0.9, 0.8, 0.4, 0.3, 0.2])
    same = np.array([True, True, False, True, False])
    assert threshold_at_fpr(score, same, 0.0) == 0.8
    assert threshold_at_fpr(score, same, 0.5) == 0.3
    assert threshold_at_fpr(score, same, 1.0) == 0.2


def test_where_the_classes_separate_corners_leave_only_the_smallest_genuine_score() -> None:
    score = np.append([0.9, 0.8, 0.7], np.linspace(0.4, 0.0, 20))
    same = np.arange(23) < 3
    assert threshold_at_fpr(score, same, 0.05, "source") == 0.7  # no impostor is accepted
    assert threshold_at_fpr(score, same, 0.05, "all") == 0.4  # one of twenty is


def test_what_corners_did_is_counted() -> None:
    apart = (np.array([0.9, 0.8, 0.4, 0.3, 0.2]), np.array([True, True, False, False, False]))
    overlapping = (np.array([0.9, 0.8, 0.4, 0.3, 0.2]), np.array([True, True, False, True, False]))
    one_class = (np.array([0.5, 0.4]), np.array([True, True]))
    for corners, moved, smallest in (("source", 1, 2), ("all", 0, 1)):
        thresholds = ThresholdFinder(0.4, corners)
        found = [thresholds.find(*pairs) for pairs in (apart, overlapping, one_class)]
        assert found == [0.8 if corners == "source" else 0.4, 0.3, None]
        assert thresholds.counts == {"defined": 2, "at_smallest_genuine": smallest, "moved_by_corners": moved}


@pytest.mark.parametrize("same", [[], [True, True], [False, False]])
def test_undefined_without_both_classes(same: list[bool]) -> None:
    assert threshold_at_fpr(np.arange(len(same), dtype=float), np.array(same, dtype=bool), 0.05) is None


def test_order_of_the_pairs_does_not_matter() -> None:
    rng = np.random.default_rng(4)
    score, same = np.round(rng.standard_normal(200), 1), rng.random(200) < 0.5
    order = rng.permutation(200)
    assert threshold_at_fpr(score[order], same[order], 0.05) == threshold_at_fpr(score, same, 0.05)


def test_reaching_by_hand() -> None:
    # five impostors; the corners are at .8 (FPR 0), .7 and .6 (both .2) and .1 (1)
    score = np.array([0.9, 0.8, 0.7, 0.6, 0.5, 0.4, 0.3, 0.1])
    same = np.array([True, True, False, True, False, False, False, False])
    assert threshold_at_fpr(score, same, 0.05) == 0.8
    assert threshold_reaching_fpr(score, same, 0.05) == 0.7
    assert threshold_reaching_fpr(score, same, 0.2) == 0.7
    assert threshold_reaching_fpr(score, same, 0.21) == 0.1


def test_reaching_takes_the_smallest_score_where_scores_separate() -> None:
    score, same = np.array([0.9, 0.8, 0.3, 0.2, 0.1]), np.array([True, True, False, False, False])
    assert threshold_at_fpr(score, same, 0.05) == 0.8
    assert threshold_reaching_fpr(score, same, 0.05) == 0.1
    assert threshold_reaching_fpr(score, same, 0.05, "all") == 0.3


@settings(max_examples=200)
@given(
    pairs=st.lists(st.tuples(st.integers(-4, 4), st.booleans()), min_size=1, max_size=25),
    fpr=st.sampled_from([0.05, 0.25, 0.5, 0.75]),
    corners=st.sampled_from(CORNERS),
)
def test_reaching_accepts_at_least_the_rate(pairs: list[tuple[int, bool]], fpr: float, corners: Corners) -> None:
    score = np.array([value for value, _ in pairs], dtype=np.float64)
    same = np.array([label for _, label in pairs])
    found = threshold_reaching_fpr(score, same, fpr, corners)
    if same.all() or not same.any():
        assert found is None
        return
    assert found is not None
    assert np.mean(score[~same] >= found) >= fpr
    # it is the first: no earlier point reaches the rate
    rate, _, threshold = roc_curve(same, score, drop_intermediate=corners == "source")
    assert (rate[threshold > found] < fpr).all()


def by_the_whole_curve(score: np.ndarray, same: np.ndarray, fpr: float, corners: Corners) -> tuple[float, dict]:
    found, among_all = (by_roc_curve(score, same, fpr, of) for of in (corners, "all"))
    smallest = int(found == score[same].min())
    return found, {"defined": 1, "at_smallest_genuine": smallest, "moved_by_corners": int(found != among_all)}


@pytest.mark.parametrize("corners", ["source", "all"])
@pytest.mark.parametrize("decimals", [2, 4, 12])
@pytest.mark.parametrize("fpr", [0.0001, 0.05, 0.5, 0.999])
def test_of_many_pairs_only_those_near_the_threshold_are_sorted(corners: Corners, decimals: int, fpr: float) -> None:
    rng = np.random.default_rng(decimals)
    same = rng.random(MIN_PAIRS_TO_SAMPLE) < 0.3
    score = np.round(rng.normal(same * 2.0, 1.0), decimals)
    thresholds = ThresholdFinder(fpr, corners)
    expected, counts = by_the_whole_curve(score, same, fpr, corners)
    assert thresholds.find(score, same) == expected
    assert thresholds.counts == counts


def test_a_part_that_cannot_decide_gives_way_to_the_whole_curve() -> None:
    separated = np.arange(MIN_PAIRS_TO_SAMPLE) < MIN_PAIRS_TO_SAMPLE // 2
    rare = np.arange(MIN_PAIRS_TO_SAMPLE) % SAMPLE_EVERY == 1  # no impostor is in the sample
    score = np.random.default_rng(0).permutation(np.linspace(0, 0.5, MIN_PAIRS_TO_SAMPLE))
    for same, scores in (
        (separated, score + separated),
        (~rare, score),
        (np.arange(MIN_PAIRS_TO_SAMPLE) > MIN_PAIRS_TO_SAMPLE - 3, score),
    ):
        thresholds = ThresholdFinder(0.05, "source")
        expected, counts = by_the_whole_curve(scores, same, 0.05, "source")
        assert thresholds.find(scores, same) == expected
        assert thresholds.counts == counts


def test_the_whole_of_many_pairs_is_not_sorted(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(0)
    same = rng.random(2 * MIN_PAIRS_TO_SAMPLE) < 0.5
    score = rng.normal(same * 1.0, 1.0)
    lengths, argsort = [], np.argsort
    monkeypatch.setattr(np, "argsort", lambda values: lengths.append(len(values)) or argsort(values))
    ThresholdFinder(0.05, "source").find(score, same)
    assert sum(lengths) < MIN_PAIRS_TO_SAMPLE // 2
