"""One rule: a group method puts a training pair into the group whose map the same pair would go through in test.

The methods are black boxes here. Three groups hold the same faces, each with labels of its own relation to the cosine,
so that equal cosines under different maps tell which map a pair went through; and turning round the labels of some
training pairs tells which maps these pairs had a say in.
"""

from __future__ import annotations

from itertools import permutations
from pathlib import Path

import numpy as np
import pytest

from fairfr.core.calibrator import Calibrator, FitContext
from fairfr.core.config import instantiate
from fairfr.core.types import EmbeddingSet, Grouping, Pairs, VerificationSet
from fairfr.pairs.table import PairTable
from fairfr.pairs.view import PairView
from fairfr.sweep.compose import read_method

METHODS = Path(__file__).parents[2] / "conf" / "method"
LEVELS = ("a", "b", "c")
FACES, PROBED = 40, 30


def make(path: Path, mixed: str = "global") -> Calibrator:
    """The method of a yaml on a data set that says ``mixed`` about the paper's Oracle."""
    method: Calibrator = instantiate(read_method(path, {"oracle_mixed": mixed}).estimator, "method.estimator")
    return method


def needs_groups(path: Path) -> bool:
    return "groups" in make(path).needs


GROUP_METHODS = [path for path in sorted(METHODS.rglob("*.yaml")) if needs_groups(path)]
# what a data set may say about the paper's Oracle
CASES = [
    pytest.param(path, mixed, id=f"{path.stem}-{mixed}" if path.stem == "oracle_paper" else path.stem)
    for path in GROUP_METHODS
    for mixed in (("global", "zero", "first", "combo") if path.stem == "oracle_paper" else ("global",))
]


@pytest.fixture(scope="module")
def data() -> VerificationSet:
    """Faces copied into every group, and the same 140 pairs of faces for every ordered two groups.

    To the metadata each group is one person. A cohort is then too small for its own statistics, and the DemoNorm
    variants that meet one show their fall-back, the only part of them that is fitted on pairs of a group.
    """
    rng = np.random.default_rng(8)
    faces = rng.standard_normal((FACES, 6)) + 0.7
    faces /= np.linalg.norm(faces, axis=1, keepdims=True)
    group = np.repeat(np.arange(3), FACES)
    ends = rng.integers(0, FACES, (2, 140))
    cells = [(ends[0] + FACES * left, ends[1] + FACES * right) for left in range(3) for right in range(3)]
    left, right = (np.concatenate(side).astype(np.int32) for side in zip(*cells, strict=True))
    vectors = np.tile(faces, (3, 1)).astype(np.float32)
    cosine = np.einsum("ij,ij->i", vectors[left], vectors[right])
    # every cell has its own threshold
    limit = np.array([0.15, 0.45, 0.6])
    same = cosine + rng.normal(scale=0.15, size=len(left)) > (2 * limit[group[left]] + limit[group[right]]) / 3
    images = np.array([f"{LEVELS[g]}{i:02}" for g in range(3) for i in range(FACES)])
    return VerificationSet(
        id="made",
        source="files",
        backbone="net",
        digest="0",
        images=images,
        identity=group.astype(np.int32),
        pairs=Pairs(left, right),
        same=same,
        fold=(np.arange(len(left)) % 140 < PROBED).astype(np.int16),
        fold_labels=("train", "test"),
        groupings={"g": Grouping("g", LEVELS, group.astype(np.int16))},
        grouping="g",
        embeddings=EmbeddingSet("net", "0", images, vectors),
    )


def scores(path: Path, mixed: str, data: VerificationSet, same: np.ndarray) -> np.ndarray:
    """Scores of the probed faces, (3, 3, PROBED) by left and right group: equal faces under every two groups."""
    method = make(path, mixed)
    table = PairTable(data)
    train, test = np.flatnonzero(data.fold == 0), np.flatnonzero(data.fold == 1)
    ctx = FitContext(0, data.id, data.backbone, "0", grouping="g")
    method.fit(PairView(table, train, method.needs), same[train], ctx)
    return method.predict(PairView(table, test, method.needs)).score.reshape(3, 3, PROBED)


@pytest.mark.parametrize(("path", "mixed"), CASES)
def test_pairs_are_fitted_into_the_group_whose_map_they_go_through(
    path: Path, mixed: str, data: VerificationSet
) -> None:
    before = scores(path, mixed, data, data.same)
    assert not any(np.allclose(before[g, g], before[h, h]) for g, h in permutations(range(3), 2))
    groups = data.groupings["g"].codes
    for left, right in [*permutations(range(3), 2), (0, 0)]:
        cell = (groups[data.pairs.left] == left) & (groups[data.pairs.right] == right)
        after = scores(path, mixed, data, data.same ^ cell)
        # what is common to all groups (GST's global threshold) falls out of the difference to a third one
        other = ({0, 1, 2} - {left, right}).pop()
        for g in {left, right}:
            goes_through = np.array_equal(before[left, right], before[g, g])
            moved = (after[g, g] - after[other, other]) - (before[g, g] - before[other, other])
            had_a_say = bool(np.abs(moved).max() > 1e-6)
            assert had_a_say == goes_through, f"pairs {LEVELS[left]}-{LEVELS[right]} and the map of {LEVELS[g]}"


def test_there_are_group_methods() -> None:
    assert {"gst", "gst_paper", "oracle", "oracle_paper", "demonorm", "demonorm_paper"} <= {
        path.stem for path in GROUP_METHODS
    }
