"""fairfr.compare: what it takes, what it refuses, and that every pair is scored by a fit without it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import pandas as pd
import pytest

import fairfr
from fairfr.core.types import Prediction
from fairfr.methods import _clusters

pytestmark = pytest.mark.filterwarnings("ignore::fairfr.FairfrWarning")


@dataclass
class Shifted:
    """The cosine minus the mean of the training cosines: which fold a pair was scored by can be read off it."""

    needs: ClassVar[frozenset[str]] = frozenset()
    native_probability: ClassVar[bool] = False
    factor: float = 1.0

    def fit(self, view: Any, same: Any, ctx: Any) -> Shifted:
        self.mean_ = float(view.cosine.mean())
        return self

    def predict(self, view: Any) -> Prediction:
        return Prediction(self.factor * (view.cosine - self.mean_))


def test_each_pair_is_scored_by_a_fit_on_the_other_folds(faces: Any) -> None:
    fold = np.arange(len(faces.same)) % 3
    found = fairfr.compare({"mine": fairfr.as_model(Shifted)()}, *faces.arrays, folds=fold)
    for label in range(3):
        held_out = fold == label
        wanted = faces.cosine[held_out] - faces.cosine[~held_out].mean()
        np.testing.assert_allclose(found.runs["mine"].score[held_out], wanted, atol=1e-6)


def test_models_stay_unfitted_and_parameters_count(faces: Any) -> None:
    models = {"a": fairfr.as_model(Shifted)(), "b": fairfr.as_model(Shifted)(factor=2.0)}
    found = fairfr.compare(models, *faces.arrays, folds=2)
    np.testing.assert_allclose(found.runs["b"].score, 2 * found.runs["a"].score)
    assert not hasattr(models["a"], "method_")


def test_folds_share_no_people(faces: Any) -> None:
    found = fairfr.compare({"beta": fairfr.Beta()}, *faces.arrays, identities=faces.who, folds=5)
    scores = found.scores()
    assert sorted(scores["pair"]) == list(range(len(faces.same)))
    people = faces.who[faces.pairs]
    for label in scores["fold"].unique():
        held_out = (scores["fold"] == label).to_numpy()
        assert not set(people[held_out].ravel()) & set(people[~held_out].ravel())


@pytest.mark.parametrize("by", ["vectors", "cosines"])
def test_without_people_folds_are_of_pairs_and_it_says_so(faces: Any, by: str) -> None:
    if by == "vectors":
        found = fairfr.compare({"beta": fairfr.Beta()}, *faces.arrays, folds=4)
    else:
        found = fairfr.compare({"beta": fairfr.Beta()}, cosine=faces.cosine, same=faces.same, folds=4)
    assert "people are unknown and folds are of pairs" in str(found)
    scores = found.scores()
    of_fold = scores.groupby("fold")["same"]
    assert of_fold.sum().max() - of_fold.sum().min() <= 1, "the same share of genuine pairs"
    assert of_fold.size().max() - of_fold.size().min() <= 2


def test_groups_by_image_and_by_pair_are_the_same(faces: Any) -> None:
    left, right = (faces.group[faces.pairs[:, side]] for side in (0, 1))
    by_image = fairfr.compare({"beta": fairfr.Beta()}, *faces.arrays, folds=3, **faces.known)
    people = tuple(faces.who[faces.pairs[:, side]] for side in (0, 1))
    by_pair = fairfr.compare(
        {"beta": fairfr.Beta()}, *faces.arrays, groups={"gender": (left, right)}, identities=people, folds=3
    )
    ours, theirs = by_pair.frame().drop(columns="key"), by_image.frame().drop(columns="key")
    assert ours.equals(theirs)
    assert set(ours["group"]) == {"all", "worst", "gap", "f", "m"}


def test_data_frames_series_and_lists_are_arrays(faces: Any) -> None:
    beta = {"beta": fairfr.Beta()}
    plain = fairfr.compare(beta, *faces.arrays, **faces.known, folds=3)
    frame = pd.DataFrame({"gender": faces.group})
    people = pd.Series(faces.who, index=np.arange(len(faces.who))[::-1])
    vectors, pairs, same = (pd.DataFrame(faces.embeddings), pd.DataFrame(faces.pairs), pd.Series(faces.same))
    of_pandas = fairfr.compare(beta, vectors, pairs, same, groups=frame, identities=people, folds=3)
    lists = (faces.embeddings.tolist(), faces.pairs.tolist(), faces.same.tolist())
    of_lists = fairfr.compare(beta, *lists, groups={"gender": list(faces.group)}, identities=list(people), folds=3)
    for other in (of_pandas, of_lists):
        assert other.scores().equals(plain.scores())
        pd.testing.assert_frame_equal(other.frame(), plain.frame())


def test_numbers_that_cannot_be_used_are_named(faces: Any) -> None:
    beta = {"beta": fairfr.Beta()}
    refused(fairfr.ConfigError, "n_jobs=0: must be a number of cores, -1 for all", beta, *faces.arrays, n_jobs=0)
    refused(fairfr.ConfigError, "n_jobs='2': must be a number", beta, *faces.arrays, n_jobs="2")
    refused(fairfr.ConfigError, "seed='a': must be a whole number", beta, *faces.arrays, seed="a")
    refused(fairfr.DataError, r"2 \* \(scores - low\)", beta, cosine=50 + 50 * faces.cosine, same=faces.same)


def test_the_way_out_of_interlinked_people_works(faces: Any) -> None:
    rng = np.random.default_rng(3)
    others = rng.integers(0, len(faces.who), (4000, 2))
    pairs = np.concatenate([faces.pairs, others[others[:, 0] != others[:, 1]]])
    same = faces.who[pairs[:, 0]] == faces.who[pairs[:, 1]]
    with pytest.raises(fairfr.DataError) as caught:
        fairfr.compare({"beta": fairfr.Beta()}, faces.embeddings, pairs, same, identities=faces.who, folds=5)
    recipe = str(caught.value)
    assert "part[pairs[:, 0]] == part[pairs[:, 1]]" in recipe and "folds=part[pairs[kept, 0]]" in recipe
    part = np.unique(faces.who, return_inverse=True)[1] % 5
    kept = part[pairs[:, 0]] == part[pairs[:, 1]]
    given = {"identities": faces.who, "folds": part[pairs[kept, 0]]}
    found = fairfr.compare({"beta": fairfr.Beta()}, faces.embeddings, pairs[kept], same[kept], **given)
    assert not any(finding.code == "identities-between-folds" for finding in found.findings)


def test_methods_that_share_clusters_find_them_once(faces: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    alone = fairfr.compare({"fsn": fairfr.FSN(K=5, engine="sklearn")}, *faces.arrays, folds=3).scores()
    found = []
    plain = _clusters._run_sklearn
    monkeypatch.setattr(_clusters, "_run_sklearn", lambda *given: found.append(1) or plain(*given))
    both = {"faircal": fairfr.FairCal(K=5, engine="sklearn"), "fsn": fairfr.FSN(K=5, engine="sklearn")}
    together = fairfr.compare(both, *faces.arrays, folds=3).scores()
    assert len(found) == 3
    assert together["fsn"].equals(alone["fsn"])


def test_aligned_vectors_are_pairs_of_images(faces: Any) -> None:
    left, right = (faces.embeddings[faces.pairs[:, side]] for side in (0, 1))
    fold = np.arange(len(faces.same)) % 3
    wanted = fairfr.compare({"ac": fairfr.ACHinge()}, *faces.arrays, folds=fold).scores()["ac"]
    found = fairfr.compare({"ac": fairfr.ACHinge()}, (left, right), None, faces.same, folds=fold).scores()["ac"]
    np.testing.assert_allclose(found, wanted, atol=1e-9)


def test_row_by_row_images_are_known_by_their_ids(faces: Any) -> None:
    """The bootstrap draws people of images; with ids the same image is met again."""
    ids = tuple(np.array([f"i{row:03}" for row in faces.pairs[:, side]]) for side in (0, 1))
    found = fairfr.compare(
        {"beta": fairfr.Beta()}, cosine=faces.cosine, same=faces.same, images=ids, folds=np.arange(len(faces.same)) % 3
    )
    assert len(found.data.images) == len(np.unique(faces.pairs))


def test_jobs_and_progress_change_no_number(faces: Any) -> None:
    alone = fairfr.compare({"fc": fairfr.FairCal()}, *faces.arrays, folds=3, progress=False).scores()
    both = fairfr.compare({"fc": fairfr.FairCal()}, *faces.arrays, folds=3, n_jobs=2).scores()
    np.testing.assert_allclose(alone["fc"], both["fc"], atol=1e-9)


def test_a_cohort_reaches_the_methods_that_take_one(faces: Any) -> None:
    cohort = np.random.default_rng(1).normal(size=(200, 12))
    methods = {"beta": fairfr.Beta(), "c": fairfr.ACCohort(cohort="both")}
    with_cohort = fairfr.compare(methods, *faces.arrays, folds=3, cohort=cohort).scores()
    alone = fairfr.compare({"c": fairfr.ACCohort()}, *faces.arrays, folds=3).scores()
    assert np.abs(with_cohort["c"] - alone["c"]).max() > 1e-4
    with pytest.raises(fairfr.ConfigError, match="none of the methods takes one"):
        fairfr.compare({"beta": fairfr.Beta()}, *faces.arrays, cohort=cohort)


def refused(error: type[Exception], match: str, methods: Any, *arrays: Any, **known: Any) -> None:
    with pytest.raises(error, match=match):
        fairfr.compare(methods, *arrays, **known)


def test_methods_that_cannot_be_used_are_named(faces: Any) -> None:
    refused(fairfr.ConfigError, r"fairfr.Beta\(\)", {"a": fairfr.Beta}, *faces.arrays)
    refused(fairfr.ConfigError, "as_model", {"a": Shifted()}, *faces.arrays)
    refused(fairfr.ConfigError, "must map names", fairfr.Beta(), *faces.arrays)
    refused(fairfr.ConfigError, "must map names", {}, *faces.arrays)
    refused(fairfr.ConfigError, "is no name", {3: fairfr.Beta()}, *faces.arrays)
    refused(fairfr.ConfigError, r"column of scores\(\)", {"same": fairfr.Beta()}, *faces.arrays)
    refused(fairfr.ConfigError, "C", {"a": fairfr.ACLinear(C="x")}, *faces.arrays)
    refused(fairfr.UnmetNeedError, r"methods\['a'\] \(Oracle\) needs groups", {"a": fairfr.Oracle()}, *faces.arrays)
    scores = {"cosine": faces.cosine, "same": faces.same}
    refused(fairfr.UnmetNeedError, "needs embeddings", {"a": fairfr.ACHinge()}, **scores)


def test_arrays_that_contradict_themselves_are_named(faces: Any) -> None:
    beta = {"beta": fairfr.Beta()}
    vectors, pairs, same = faces.arrays
    refused(fairfr.DataError, "methods, embeddings, pairs and same", beta, vectors, pairs)
    refused(fairfr.DataError, "either embeddings", beta, vectors, pairs, same, cosine=faces.cosine)
    refused(fairfr.DataError, "goes without pairs", beta, None, pairs, same, cosine=faces.cosine)
    refused(fairfr.DataError, "one label for each", beta, vectors, pairs, same[:-1])
    refused(fairfr.DataError, "labels swapped", beta, vectors, pairs, ~same)
    refused(fairfr.DataError, r"images\[0\] and images\[1\]", beta, vectors, pairs, same, images=["x"] * len(vectors))
    mixed = (faces.group[pairs[:, 0]], np.where(np.arange(len(pairs)) == 5, "x", faces.group[pairs[:, 1]]))
    refused(fairfr.DataError, r"groups\['gender'\] calls image", beta, *faces.arrays, groups={"gender": mixed})
    refused(fairfr.DataError, "'score' of their own", beta, *faces.arrays, groups={"score": faces.group})
    refused(fairfr.DataError, "another meaning", beta, *faces.arrays, groups={"g": ["worst"] * len(vectors)})


def test_folds_that_cannot_be_used_are_named(faces: Any) -> None:
    beta = {"beta": fairfr.Beta()}
    for folds in (1, 0, True, 2.5, "ten"):
        refused(fairfr.ConfigError, "a number from 2 on", beta, *faces.arrays, folds=folds)
    refused(fairfr.DataError, "folds must have one name for each", beta, *faces.arrays, folds=[1, 2, 3])
    refused(fairfr.DataError, "1 different label", beta, *faces.arrays, folds=np.ones(len(faces.same)))
    refused(fairfr.DataError, "of one kind", beta, *faces.arrays, folds=faces.same)
    refused(fairfr.ConfigError, "Ask for fewer folds: folds=", beta, *faces.arrays, identities=faces.who, folds=5000)
    everyone = np.array([(i, j) for i in range(0, 400, 5) for j in range(0, i, 5)])
    genuine = np.array([(i, i + 1) for i in range(0, 400, 5)])
    both = np.concatenate([everyone, genuine])
    refused(
        fairfr.DataError,
        "too interlinked|of one kind",
        beta,
        faces.embeddings,
        both,
        np.arange(len(both)) >= len(everyone),
        identities=faces.who,
        folds=10,
    )


def test_people_in_several_given_folds_are_warned_of(faces: Any) -> None:
    with pytest.warns(fairfr.FairfrWarning, match="80 of 80 identities are in more than one fold") as heard:
        fairfr.compare(
            {"beta": fairfr.Beta()}, *faces.arrays, identities=faces.who, folds=np.arange(len(faces.same)) % 2
        )
    assert all(warning.filename == __file__ for warning in heard), "the line that called"


def test_folds_are_ordered_as_numbers(faces: Any) -> None:
    fold = np.array(["10", "9", "2"])[np.arange(len(faces.same)) % 3]
    found = fairfr.compare({"beta": fairfr.Beta()}, *faces.arrays, folds=fold)
    assert found.data.fold_labels == ("2", "9", "10")
    assert found.scores()["fold"].tolist() == fold.tolist()


def test_repeated_pairs_are_warned_of(faces: Any) -> None:
    twice = np.concatenate([faces.pairs, faces.pairs[:, ::-1]])
    with pytest.warns(fairfr.FairfrWarning, match=r"4,315 pairs repeated \(first: pairs\[4315\]") as heard:
        fairfr.compare({"beta": fairfr.Beta()}, faces.embeddings, twice, np.tile(faces.same, 2), folds=2)
    assert heard[0].filename == __file__
