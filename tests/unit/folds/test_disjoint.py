"""Folds that share no image, and folds that share no person."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest

from fairfr.core.errors import ConfigError
from fairfr.core.types import EmbeddingSet, FoldSplit, VerificationSet
from fairfr.folds._membership import unique_image_codes
from fairfr.folds.disjoint import EndpointDisjoint, IdentityDisjoint


@pytest.fixture(scope="module")
def rfw(synthetic_set: Callable[..., VerificationSet]) -> VerificationSet:
    return synthetic_set("rfw", scale=0.1)


def in_use(data: VerificationSet, rows: np.ndarray, of_image: np.ndarray) -> set[int]:
    pairs = data.pairs.take(rows)
    return set(of_image[np.concatenate([pairs.left, pairs.right])].tolist())


def check_disjoint(data: VerificationSet, splits: list[FoldSplit], of_image: np.ndarray) -> None:
    tested = np.concatenate([split.test for split in splits])
    assert sorted(tested.tolist()) == list(range(data.n_pairs))
    for split in splits:
        assert not in_use(data, split.train_rows(), of_image) & in_use(data, split.test, of_image)


def by_hand(splits: list[FoldSplit], data: VerificationSet) -> np.ndarray:
    """Pairs of each class and group in each fold."""
    group = data.groupings[str(data.grouping)].of(data.pairs, "both")
    return np.array([np.bincount(2 * group[s.test] + data.same[s.test], minlength=2 * 4) for s in splits])


def test_images_are_in_one_fold_and_classes_and_groups_are_balanced(rfw: VerificationSet) -> None:
    splits = list(EndpointDisjoint().split(rfw))
    check_disjoint(rfw, splits, np.arange(len(rfw.images)))
    counts = by_hand(splits, rfw)
    (finding,) = splits[0].findings
    assert finding.counts["imbalance"] == np.abs(counts - counts.mean(axis=0)).max() <= 2
    assert finding.counts["dropped"] == finding.counts["cut"] == 0
    assert all(len(s.train_rows()) + len(s.test) == rfw.n_pairs for s in splits)
    assert 0 < finding.counts["moved"] < rfw.n_pairs / 2, "most pairs stay where they were published"
    assert f"{finding.counts['moved']:,} of {rfw.n_pairs:,} pairs" in finding.text


def test_copies_of_an_image_count_as_one_whatever_they_are_called(rfw: VerificationSet) -> None:
    assert rfw.embeddings is not None
    vectors = rfw.embeddings.vectors.copy()
    a, b = int(rfw.pairs.left[0]), int(rfw.pairs.left[np.flatnonzero(rfw.fold != rfw.fold[0])[0]])
    vectors[b] = vectors[a].astype(np.float16)  # as another file format would have it
    copied = replace(rfw, embeddings=EmbeddingSet("net", "0", rfw.images, vectors))
    image = unique_image_codes(copied)
    assert image[a] == image[b] and len(set(image.tolist())) == len(rfw.images) - 1
    check_disjoint(copied, list(EndpointDisjoint().split(copied)), image)


def test_people_of_a_test_fold_are_never_fitted_on_though_everybody_hangs_together(rfw: VerificationSet) -> None:
    splits = list(IdentityDisjoint().split(rfw))
    check_disjoint(rfw, splits, rfw.identity)
    (finding,) = splits[0].findings
    assert finding.counts["cut"] > 0, "impostor pairs connect most people of an ethnicity"
    assert finding.counts["dropped"] == rfw.n_pairs - min(len(s.train_rows()) + len(s.test) for s in splits) > 0
    assert all(len(s.train_rows()) > rfw.n_pairs / 2 for s in splits)


def test_training_pairs_that_are_left_out_must_not_change_the_share_of_genuine_pairs_in_silence(
    rfw: VerificationSet, make_set: Callable[..., VerificationSet]
) -> None:
    """Probabilities of a fold follow the share that they were fitted with: it is the number that a warning gives."""
    rng = np.random.default_rng(0)
    n_people = 90
    person = np.repeat(np.arange(n_people), 2)
    left = np.r_[np.arange(0, 2 * n_people, 2), rng.integers(0, 2 * n_people, 100)]
    right = np.r_[np.arange(1, 2 * n_people, 2), rng.integers(0, 2 * n_people, 100)]
    wanted = np.r_[np.ones(n_people, dtype=bool), person[left[n_people:]] != person[right[n_people:]]]
    vectors = rng.normal(size=(2 * n_people, 4)).astype(np.float32)
    same = person[left] == person[right]
    data = make_set(vectors, left[wanted].tolist(), right[wanted].tolist(), same[wanted])
    linked = replace(data, identity=person)
    splits = list(IdentityDisjoint(5).split(linked))
    shares = np.array([linked.same[split.train_rows()].mean() for split in splits])
    whole = linked.same.mean()
    odds = shares / (1 - shares) / (whole / (1 - whole))
    furthest = shares[np.argmax(np.abs(np.log(odds)))]
    (finding,) = splits[0].findings
    assert odds.max() > 1.25 and finding.severity == "warning"
    assert f"{100 * furthest:.3g} % of a fold's training pairs are genuine, {100 * whole:.3g} % of all" in finding.text

    same_share = next(iter(EndpointDisjoint().split(rfw))).findings[0]
    assert same_share.severity == "note" and "genuine" not in same_share.text


def test_folds_that_are_disjoint_already_stay_as_they_are(synthetic_set: Callable[..., VerificationSet]) -> None:
    bfw = synthetic_set("bfw", scale=0.05)
    splits = list(IdentityDisjoint().split(bfw))
    assert splits[0].findings[0].counts["moved"] == 0
    for split in splits:
        assert {bfw.fold_labels[fold] for fold in bfw.fold[split.test]} == {split.id}


def test_unknown_people_are_known_by_genuine_pairs(rfw: VerificationSet) -> None:
    nobody = replace(rfw, identity=np.full_like(rfw.identity, -1))
    genuine = rfw.same
    for split in IdentityDisjoint().split(nobody):
        tested = in_use(rfw, split.test[genuine[split.test]], rfw.identity)
        fitted = in_use(rfw, split.train_rows()[genuine[split.train_rows()]], np.arange(len(rfw.images)))
        images = in_use(rfw, split.test[genuine[split.test]], np.arange(len(rfw.images)))
        assert tested and not fitted & images


def test_how_many_folds(rfw: VerificationSet, make_set: Callable[..., VerificationSet]) -> None:
    assert [split.id for split in EndpointDisjoint(3).split(rfw)] == ["0", "1", "2"]
    vectors = np.eye(4, dtype=np.float32)
    one_fold = make_set(vectors, [0, 2], [1, 3], np.array([True, False]))
    with pytest.raises(ConfigError, match="folds=1: at least two"):
        list(EndpointDisjoint(1).split(one_fold))
    assert len(list(EndpointDisjoint(2).split(one_fold))) == 2
    with pytest.raises(ConfigError, match="cannot be dealt to 3 folds without common images: they form 2"):
        list(EndpointDisjoint(3).split(one_fold))


def test_pairs_without_folds_get_ten(rfw: VerificationSet) -> None:
    without = replace(rfw, fold=np.zeros_like(rfw.fold), fold_labels=("all",))
    splits = list(IdentityDisjoint().split(without))
    assert [split.id for split in splits] == [str(number) for number in range(10)]
    check_disjoint(without, splits, rfw.identity)
    assert "10 made of all pairs" in splits[0].findings[0].text and "published" not in splits[0].findings[0].text
