"""PairClassifier with scikit-learn's own tools."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.calibration import CalibrationDisplay
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV, GroupKFold, cross_val_predict, cross_val_score

import fairfr
from fairfr.core.errors import ConfigError, DataError


@pytest.fixture(scope="module")
def faces() -> dict[str, NDArray[Any]]:
    """40 people with 4 images each; genuine pairs, and impostors inside one of five blocks of people."""
    rng = np.random.default_rng(0)
    embeddings = np.repeat(rng.normal(size=(40, 8)), 4, axis=0) + 0.7 * rng.normal(size=(160, 8))
    person = np.arange(160) // 4
    block = person // 8
    pairs = rng.integers(0, 160, (4000, 2))
    pairs = pairs[(block[pairs[:, 0]] == block[pairs[:, 1]]) & (pairs[:, 0] < pairs[:, 1])]
    pairs = np.unique(pairs, axis=0)
    return {
        "embeddings": embeddings,
        "pairs": pairs,
        "same": person[pairs[:, 0]] == person[pairs[:, 1]],
        "block": block[pairs[:, 0]],
    }


def test_cross_validation_is_the_same_as_fits_by_hand(faces: dict[str, NDArray[Any]]) -> None:
    classifier = fairfr.PairClassifier(fairfr.ACHinge(), faces["embeddings"])
    found = cross_val_predict(
        classifier, faces["pairs"], faces["same"], cv=GroupKFold(5), groups=faces["block"], method="predict_proba"
    )
    for held_out in range(5):
        test = faces["block"] == held_out
        model = fairfr.ACHinge().fit(faces["embeddings"], faces["pairs"][~test], faces["same"][~test])
        expected = model.predict_proba(faces["embeddings"], faces["pairs"][test])
        np.testing.assert_array_equal(found[test], expected)


def test_a_grid_search_sets_the_models_parameters(faces: dict[str, NDArray[Any]]) -> None:
    classifier = fairfr.PairClassifier(fairfr.ACLinear(), faces["embeddings"])
    search = GridSearchCV(classifier, {"model__C": [1e-4, 1.0]}, cv=GroupKFold(5), scoring="neg_brier_score")
    search.fit(faces["pairs"], faces["same"], groups=faces["block"])
    assert search.best_params_ == {"model__C": 1.0}
    assert search.best_estimator_.model_.C == 1.0
    assert classifier.model.C == 1.0
    assert not hasattr(classifier, "model_")
    scores = search.cv_results_["mean_test_score"]
    assert scores[0] < scores[1]


def test_clones_share_the_vectors_and_nothing_that_was_learned(faces: dict[str, NDArray[Any]]) -> None:
    fitted = fairfr.PairClassifier(fairfr.ACLinear(C=0.5), faces["embeddings"]).fit(faces["pairs"], faces["same"])
    copy = clone(fitted)
    assert copy.embeddings is faces["embeddings"]
    assert copy.model is not fitted.model
    assert copy.model.C == 0.5
    assert copy.get_params()["model__C"] == 0.5
    with pytest.raises(NotFittedError):
        copy.predict(faces["pairs"])


def test_a_calibration_curve_is_drawn_from_it(faces: dict[str, NDArray[Any]]) -> None:
    classifier = fairfr.PairClassifier(fairfr.ACHinge(), faces["embeddings"]).fit(faces["pairs"], faces["same"])
    shown = CalibrationDisplay.from_estimator(classifier, faces["pairs"], faces["same"], n_bins=5)
    np.testing.assert_array_equal(shown.y_prob, classifier.predict_proba(faces["pairs"])[:, 1])


@pytest.mark.parametrize("shape", [(-1,), (-1, 1)])
def test_cosines_are_enough_without_embeddings(faces: dict[str, NDArray[Any]], shape: tuple[int, ...]) -> None:
    unit = faces["embeddings"] / np.linalg.norm(faces["embeddings"], axis=1, keepdims=True)
    cosine = (unit[faces["pairs"][:, 0]] * unit[faces["pairs"][:, 1]]).sum(axis=1)
    classifier = fairfr.PairClassifier(fairfr.Platt()).fit(cosine.reshape(shape), faces["same"])
    expected = fairfr.Platt().fit_scores(cosine, faces["same"]).probability_scores(cosine)
    np.testing.assert_array_equal(classifier.predict_proba(cosine.reshape(shape))[:, 1], expected)
    auroc = cross_val_score(classifier, cosine.reshape(shape), faces["same"], scoring="roc_auc").mean()
    assert auroc == pytest.approx(fairfr.metrics.auroc(faces["same"], cosine), abs=0.02)


def test_labels_come_back_as_they_were_given(faces: dict[str, NDArray[Any]]) -> None:
    for labels in (faces["same"], faces["same"].astype(int)):
        classifier = fairfr.PairClassifier(fairfr.ACLinear(), faces["embeddings"]).fit(faces["pairs"], labels)
        predicted = classifier.predict(faces["pairs"])
        assert predicted.dtype == labels.dtype
        assert (predicted == labels).mean() == classifier.score(faces["pairs"], labels) > 0.9


def test_groups_of_images_reach_the_method(faces: dict[str, NDArray[Any]]) -> None:
    groups = {"half": np.where(np.arange(160) < 80, "first", "second")}
    classifier = fairfr.PairClassifier(fairfr.Oracle(), faces["embeddings"], groups=groups)
    found = classifier.fit(faces["pairs"], faces["same"]).predict_proba(faces["pairs"])[:, 1]
    model = fairfr.Oracle().fit(faces["embeddings"], faces["pairs"], faces["same"], groups=groups)
    np.testing.assert_array_equal(found, model.probability(faces["embeddings"], faces["pairs"], groups=groups))


def test_two_arrays_are_told_what_to_call(faces: dict[str, NDArray[Any]]) -> None:
    with pytest.raises(DataError, match=r"Platt\(\).fit_scores\(cosine, same\)"):
        fairfr.Platt().fit([0.1, 0.9], [False, True])
    with pytest.raises(DataError, match=r"fairfr.PairClassifier\(fairfr.ACLinear\(\), embeddings\)"):
        fairfr.ACLinear().fit(faces["pairs"], faces["same"])
    with pytest.raises(DataError, match=r"PairClassifier\(model, embeddings\)"):
        fairfr.PairClassifier(fairfr.Platt()).fit(faces["pairs"], faces["same"])


def test_what_is_no_model_is_told_what_would_be(faces: dict[str, NDArray[Any]]) -> None:
    for wrong in (fairfr.ACLinear, GroupKFold(), None):
        with pytest.raises(ConfigError, match=r"not a model of fairfr, such as PairClassifier\(fairfr\.Beta\(\)\)"):
            fairfr.PairClassifier(wrong, faces["embeddings"]).fit(faces["pairs"], faces["same"])
