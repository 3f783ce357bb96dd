"""Fitting on another data set: which rows, and who may not be met twice."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest

from fairfr.core.errors import ConfigError, DataError
from fairfr.core.types import EmbeddingSet, VerificationSet
from fairfr.folds.transfer import FitOnOtherDataset


@pytest.fixture(scope="module")
def lfw(synthetic_set: Callable[..., VerificationSet]) -> VerificationSet:
    return synthetic_set("lfw", scale=0.1)


def renamed(data: VerificationSet, prefix: str) -> VerificationSet:
    """The same pairs of other people, as far as names and vectors tell."""
    images = np.array([f"{prefix}{image}" for image in data.images])
    people = tuple(f"{prefix}{code}" for code in range(int(data.identity.max()) + 1))
    vectors = np.random.default_rng(0).normal(size=(len(images), 8)).astype(np.float32)
    return replace(
        data, source="files", images=images, people=people, embeddings=EmbeddingSet("n", "0", images, vectors)
    )


def test_strangers_one_fit_on_everything(lfw: VerificationSet) -> None:
    other = renamed(lfw, "x")
    splits = list(FitOnOtherDataset().split(replace(lfw, source="files"), other))
    assert {split.fit_id for split in splits} == {"all"} and [split.fold for split in splits] == list(lfw.fold_labels)
    assert all(split.train_rows().tolist() == list(range(other.n_pairs)) for split in splits)
    assert splits[0].findings[0].code == "fitted-elsewhere"


def test_stand_ins_of_two_benchmarks_have_nobody_in_common(
    lfw: VerificationSet, synthetic_set: Callable[..., VerificationSet]
) -> None:
    splits = list(FitOnOtherDataset().split(lfw, synthetic_set("rfw", scale=0.03)))
    assert splits[0].findings[0].counts["shared"] == 0


@pytest.mark.parametrize("by", ["image", "person", "vector"])
def test_whoever_is_on_both_sides_is_refused_allowed_or_left_out(lfw: VerificationSet, by: str) -> None:
    one, other = replace(lfw, source="files"), renamed(lfw, "x")
    assert one.embeddings is not None and other.embeddings is not None
    row = int(lfw.pairs.left[0])  # one image, one person, or one vector in common
    if by == "image":
        images = other.images.astype("<U60")
        images[row] = one.images[row]
        other = replace(other, images=images)
    elif by == "person":
        people = list(other.people or ())
        people[lfw.identity[row]] = "Somebody"
        one = replace(one, people=tuple(map(str, range(len(people)))))
        names = list(one.people or ())
        names[lfw.identity[row]] = "Somebody"
        one, other = replace(one, people=tuple(names)), replace(other, people=tuple(people))
    else:
        vectors = np.zeros((len(one.images), 8), dtype=np.float32)
        vectors[:, 0] = np.arange(len(vectors)) + 2  # nobody's
        vectors[row] = other.embeddings.vectors[row]
        one = replace(one, embeddings=EmbeddingSet("n", "0", one.images, vectors))
    person = lfw.identity[row]
    pairs = np.column_stack([lfw.identity[lfw.pairs.left], lfw.identity[lfw.pairs.right]])
    with_person = np.any(pairs == person, axis=1)
    with pytest.raises(DataError, match=rf"{with_person.sum():,} of {lfw.n_pairs:,} pairs of lfw .*leave_out=people"):
        list(FitOnOtherDataset().split(one, other))
    allowed = list(FitOnOtherDataset(shared="allow").split(one, other))
    assert allowed[0].findings[0].severity == "serious"
    assert allowed[0].findings[0].counts["shared"] == with_person.sum()
    for split in FitOnOtherDataset(leave_out="people").split(one, other):
        expected = ~with_person if with_person[split.test].any() else np.ones(lfw.n_pairs, dtype=bool)
        assert split.train_rows().tolist() == np.flatnonzero(expected).tolist()


def test_the_same_pairs_in_another_condition_leave_out_the_fold(lfw: VerificationSet) -> None:
    for code, split in enumerate(FitOnOtherDataset(leave_out="fold").split(lfw, lfw)):
        assert split.train_rows().tolist() == np.flatnonzero(lfw.fold != code).tolist()
        assert split.test.tolist() == np.flatnonzero(lfw.fold == code).tolist()
    with pytest.raises(ConfigError, match="has no fold"):
        list(FitOnOtherDataset(leave_out="fold").split(lfw, replace(lfw, fold_labels=tuple("abcdefghij"))))


def test_where_images_have_no_ids_it_says_that_nothing_can_be_seen(lfw: VerificationSet) -> None:
    images = np.array([f"row{i}_left" for i in range(len(lfw.images))])
    nameless = replace(lfw, images=images, identity=np.full_like(lfw.identity, -1), embeddings=None, source="files")
    (finding,) = next(FitOnOtherDataset(leave_out="fold").split(nameless, nameless)).findings
    assert finding.code == "people-unknown" and "kept apart" in finding.text and finding.severity == "note"
    (finding,) = next(FitOnOtherDataset().split(nameless, nameless)).findings
    assert finding.severity == "warning"
