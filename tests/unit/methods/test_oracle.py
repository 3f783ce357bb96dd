"""Oracle against betacal, what each rule does with mixed pairs, and what happens where a group has too little."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from itertools import combinations_with_replacement
from pathlib import Path

import numpy as np
import pytest
from sklearn.metrics import roc_auc_score

from fairfr.core.calibrator import FitContext
from fairfr.core.config import instantiate
from fairfr.core.errors import ConfigError, UnmetNeedError
from fairfr.core.types import Grouping, Pairs, VerificationSet
from fairfr.methods.oracle import Oracle
from fairfr.pairs.table import PairTable
from fairfr.pairs.view import PairView
from fairfr.sweep.compose import read_method

MakeSet = Callable[..., VerificationSet]
Calibrate = Callable[[np.ndarray], np.ndarray]
LEVELS = ("a", "b", "c")


def run(
    data: VerificationSet, method: Oracle, train: np.ndarray, test: np.ndarray
) -> tuple[np.ndarray, dict[str, object]]:
    table = PairTable(data)
    ctx = FitContext(0, data.id, data.backbone, "0", grouping=data.grouping)
    method.fit(PairView(table, train, method.needs, "Oracle"), data.same[train], ctx)
    prediction = method.predict(PairView(table, test, method.needs, "Oracle"))
    np.testing.assert_array_equal(prediction.score, prediction.probability)
    return prediction.probability, ctx.report


def halves(data: VerificationSet) -> tuple[np.ndarray, np.ndarray]:
    rows = np.arange(data.n_pairs)
    return rows[data.fold != 0], rows[data.fold == 0]


def betacal(cosine: np.ndarray, same: np.ndarray) -> Calibrate:
    """The published implementation of beta calibration, on cosines mapped to [0, 1]."""
    with warnings.catch_warnings():  # it changes the filters
        from betacal import BetaCalibration

        model = BetaCalibration("abm").fit((cosine + 1) / 2, same)
    return lambda values: model.predict((values + 1) / 2)


def made_set(blocks: list[tuple[int, int, int, int]], seed: int = 0) -> VerificationSet:
    """A scores-only set of blocks (left group, right group, genuine pairs, impostor pairs), shuffled."""
    rng = np.random.default_rng(seed)
    rows = [(g, h, same) for g, h, genuine, impostor in blocks for same in [1] * genuine + [0] * impostor]
    left, right, same = np.array(rows)[rng.permutation(len(rows))].T
    p = len(rows)
    cosine = np.clip(rng.normal(0.1 * left + 0.1 * right + 0.3 * same, 0.15), -0.99, 0.99)
    return VerificationSet(
        id="made",
        source="files",
        backbone="scores",
        digest="0",
        images=np.arange(2 * p).astype(str),
        identity=np.full(2 * p, -1, dtype=np.int32),
        pairs=Pairs(np.arange(p, dtype=np.int32), np.arange(p, 2 * p, dtype=np.int32)),
        same=same.astype(bool),
        fold=np.zeros(p, dtype=np.int16),
        fold_labels=("0",),
        groupings={"g": Grouping("g", LEVELS, np.concatenate([left, right]).astype(np.int16))},
        grouping="g",
        embeddings=None,
        cosine=cosine,
    )


def ends_of(data: VerificationSet) -> tuple[np.ndarray, np.ndarray]:
    codes = data.groupings[data.grouping].codes
    return codes[data.pairs.left], codes[data.pairs.right]


def plain_oracle(data: VerificationSet, train: np.ndarray, test: np.ndarray, mixed: str) -> np.ndarray:
    cosine, (left, right) = PairTable(data).cosine, ends_of(data)
    curves: dict[tuple[int, int], Calibrate] = {}
    for pair in combinations_with_replacement(range(len(data.groupings[data.grouping].levels)), 2):
        rows = np.array([row for row in train if tuple(sorted((left[row], right[row]))) == pair], dtype=int)
        if len(rows) >= 10 and len(set(data.same[rows])) == 2:
            curves[pair] = betacal(cosine[rows], data.same[rows])
        elif len(rows) >= 10 and pair[0] != pair[1]:
            curves[pair] = partial(np.full_like, fill_value=data.same[rows].mean())
    firsts = {
        g: betacal(cosine[rows], data.same[rows])
        for g in set(left.tolist())
        if len(rows := train[left[train] == g]) >= 10 and len(set(data.same[rows])) == 2
    }
    everyone = betacal(cosine[train], data.same[train])
    out = []
    for row in test:
        g, h = sorted((int(left[row]), int(right[row])))
        curve = everyone
        if mixed == "first":
            curve = firsts.get(int(left[row]), everyone)
        elif g == h or mixed == "combo":
            curve = curves.get((g, h), everyone)
        elif mixed == "zero":
            out.append(0.0)
            continue
        out.append(float(curve(cosine[[row]])[0]))
    return np.array(out)


@pytest.mark.parametrize("mixed", ["global", "zero", "first", "combo"])
def test_agrees_with_a_plain_implementation(mixed: str) -> None:
    blocks = [
        (0, 0, 90, 90),
        (1, 1, 80, 120),
        (2, 2, 60, 70),
        (0, 1, 0, 60),
        (1, 0, 0, 40),
        (1, 2, 40, 50),
        (2, 0, 3, 5),
    ]
    data = made_set(blocks)
    rows = np.arange(data.n_pairs)
    train, test = rows[rows % 4 != 0], rows[rows % 4 == 0]
    probability, _ = run(data, Oracle(mixed=mixed), train, test)
    np.testing.assert_allclose(probability, plain_oracle(data, train, test, mixed), rtol=0, atol=1e-9)


def test_agrees_on_a_stand_in(synthetic_set: MakeSet) -> None:
    data = synthetic_set("rfw", scale=0.08)
    train, test = halves(data)
    probability, report = run(data, Oracle(), train, test)
    np.testing.assert_allclose(probability, plain_oracle(data, train, test, "global"), rtol=0, atol=1e-9)
    assert report["groups_by_global_map"] == 0


def test_ranks_inside_a_group_stay(synthetic_set: MakeSet) -> None:
    data = synthetic_set("bfw", scale=0.02)
    train, test = halves(data)
    probability, _ = run(data, Oracle(), train, test)
    cosine, same = PairTable(data).cosine[test], data.same[test]
    codes = data.groupings[data.grouping].of(data.pairs, "both")[test]
    for g in range(8):
        inside = codes == g
        baseline = roc_auc_score(same[inside], cosine[inside])
        assert roc_auc_score(same[inside], probability[inside]) == pytest.approx(baseline, abs=1e-12)


def test_all_rules_coincide_where_no_pair_is_mixed(synthetic_set: MakeSet) -> None:
    data = synthetic_set("rfw", scale=0.08)
    reference, _ = run(data, Oracle(), *halves(data))
    for mixed in ("zero", "first", "combo"):
        np.testing.assert_array_equal(run(data, Oracle(mixed=mixed), *halves(data))[0], reference)


MIXED = [(0, 0, 50, 50), (1, 1, 50, 50), (0, 1, 30, 30), (1, 0, 30, 30)]


@pytest.mark.parametrize("mixed", ["global", "zero", "first", "combo"])
def test_the_report_says_which_rule_it_was(mixed: str) -> None:
    data = made_set(MIXED)
    everything = np.arange(data.n_pairs)
    report = run(data, Oracle(mixed=mixed), everything, everything)[1]
    assert report["mixed"] == mixed
    assert report["rule"] == ("first" if mixed == "first" else "both")
    assert report["train_pairs_without_group"] == (0 if mixed == "first" else 120)


@pytest.mark.parametrize("mixed", ["global", "zero", "first", "combo"])
def test_the_papers_form_takes_the_rule_that_the_data_set_names(conf: Path, mixed: str) -> None:
    path = conf / "method" / "oracle_paper.yaml"
    assert instantiate(read_method(path, {"oracle_mixed": mixed}).estimator, "method.estimator") == Oracle(mixed=mixed)
    assert instantiate(read_method(path).estimator, "method.estimator") == Oracle(mixed="global")


def test_the_rule_must_be_known(conf: Path) -> None:
    unknown = read_method(conf / "method" / "oracle_paper.yaml", {"oracle_mixed": "second"}).estimator
    with pytest.raises(ConfigError, match="mixed=second is not one of global, zero, first, combo"):
        instantiate(unknown, "method.estimator")


def test_only_first_sees_which_image_is_left() -> None:
    data = made_set(MIXED)
    swapped = replace(data, pairs=Pairs(data.pairs.right, data.pairs.left))
    everything = np.arange(data.n_pairs)
    for mixed, differs in (("global", False), ("zero", False), ("combo", False), ("first", True)):
        one, other = (run(d, Oracle(mixed=mixed), everything, everything)[0] for d in (data, swapped))
        assert np.array_equal(one, other) is not differs
    assert Oracle(mixed="global").symmetric
    assert not Oracle(mixed="first").symmetric


@pytest.mark.parametrize(
    "block", [(1, 1, 30, 0), (1, 1, 0, 30), (1, 1, 4, 5), (1, 1, 0, 0)], ids=["genuine", "impostor", "few", "absent"]
)
def test_group_with_too_little_uses_the_global_map_and_is_counted(block: tuple[int, int, int, int]) -> None:
    data = made_set([(0, 0, 50, 50), block, (2, 2, 50, 50), (0, 2, 20, 20)])
    left, right = ends_of(data)
    rows = np.arange(data.n_pairs)
    probability, report = run(data, Oracle(mixed="zero"), rows, rows)
    everyone = betacal(data.cosine, data.same)(data.cosine)
    inside = (left == 1) & (right == 1)
    np.testing.assert_allclose(probability[inside], everyone[inside], rtol=0, atol=1e-9)
    assert report["groups_by_global_map"] == 1
    assert report["groups_by_global_map_names"] == ["b"]


def test_group_that_only_the_test_pairs_have_uses_the_global_map() -> None:
    data = made_set([(0, 0, 50, 50), (1, 1, 20, 20)])
    own = ends_of(data)[0]
    train, test = np.flatnonzero(own == 0), np.flatnonzero(own == 1)
    probability, report = run(data, Oracle(), train, test)
    expected = betacal(data.cosine[train], data.same[train])(data.cosine[test])
    np.testing.assert_allclose(probability, expected, rtol=0, atol=1e-9)
    assert report["groups_by_global_map_names"] == ["b", "c"]


def test_ten_pairs_are_enough_for_a_map_of_its_own() -> None:
    data = made_set([(0, 0, 50, 50), (1, 1, 5, 5)])
    assert run(data, Oracle(), np.arange(110), np.arange(110))[1]["groups_by_global_map_names"] == ["c"]


def test_unknown_groups_are_treated_like_mixed_pairs() -> None:
    data = made_set([(0, 0, 60, 60), (1, 1, 60, 60), (-1, 0, 10, 10), (0, -1, 10, 10), (-1, -1, 10, 10)])
    left, right = ends_of(data)
    rows = np.arange(data.n_pairs)
    everyone = betacal(data.cosine, data.same)(data.cosine)
    group_a = betacal(data.cosine[left == 0], data.same[left == 0])(data.cosine)
    unknown = (left == -1) | (right == -1)
    expected = {
        "global": everyone,
        "combo": everyone,
        "zero": np.zeros_like(everyone),
        "first": np.where(left == 0, group_a, everyone),
    }
    for mixed, values in expected.items():
        probability, report = run(data, Oracle(mixed=mixed), rows, rows)
        np.testing.assert_allclose(probability[unknown], values[unknown], rtol=0, atol=1e-9, err_msg=mixed)
        assert report["train_pairs_without_group"] == (40 if mixed == "first" else 60)


def test_combinations_of_one_class_give_their_base_rate_and_small_ones_the_global_map() -> None:
    data = made_set([(0, 0, 60, 60), (1, 1, 60, 60), (0, 1, 0, 6), (1, 0, 0, 6), (0, 2, 4, 5), (2, 1, 12, 0)])
    left, right = ends_of(data)
    rows = np.arange(data.n_pairs)
    probability, report = run(data, Oracle(mixed="combo"), rows, rows)
    np.testing.assert_allclose(probability[left + right == 1], 0.0, atol=1e-12)
    np.testing.assert_allclose(probability[(left == 2) & (right == 1)], 1.0, atol=1e-12)
    few = (left == 0) & (right == 2)
    everyone = betacal(data.cosine, data.same)(data.cosine)
    np.testing.assert_allclose(probability[few], everyone[few], rtol=0, atol=1e-9)
    assert report["combinations"] == 2
    assert report["combinations_by_global_map"] == 1


def test_combination_that_only_the_test_pairs_have_uses_the_global_map() -> None:
    data = made_set([(0, 0, 50, 50), (1, 1, 50, 50), (0, 1, 10, 10)])
    left, right = ends_of(data)
    train, test = np.flatnonzero(left == right), np.flatnonzero(left != right)
    probability, _ = run(data, Oracle(mixed="combo"), train, test)
    expected = betacal(data.cosine[train], data.same[train])(data.cosine[test])
    np.testing.assert_allclose(probability, expected, rtol=0, atol=1e-9)


def test_training_pairs_of_one_class_give_the_base_rate() -> None:
    data = made_set([(0, 0, 0, 30), (1, 1, 0, 30)])
    probability, report = run(data, Oracle(), np.arange(60), np.arange(60))
    assert probability.max() < 1e-12
    assert report["groups_by_global_map"] == 3


def test_says_that_groups_are_missing() -> None:
    data = replace(made_set(MIXED), grouping=None)
    with pytest.raises(UnmetNeedError, match=r"Oracle needs groups.*dataset\.grouping"):
        run(data, Oracle(), np.arange(9), np.arange(9))
