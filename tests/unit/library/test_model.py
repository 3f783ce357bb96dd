"""Models: what they take, what they give, and the habits they share with scikit-learn."""

from __future__ import annotations

import inspect
import pickle
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, Self

import numpy as np
import pandas as pd
import pytest
import torch
import yaml
from made_faces import Faces
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression
from sklearn.utils.validation import check_is_fitted

import fairfr
from fairfr.core.calibrator import FitContext
from fairfr.core.errors import ConfigError, DataError, UnmetNeedError
from fairfr.core.types import Bool, Need, Prediction
from fairfr.library.model_card import card_text
from fairfr.library.model_card import inspect as inspect_file
from fairfr.methods._labels import hashed_names
from fairfr.pairs.view import PairView

CONF = Path(__file__).parents[3] / "conf" / "method"

# -- names -------------------------------------------------------------------------------------------------------------


def test_every_class_of_conf_method_is_there_and_listed() -> None:
    wanted = {yaml.safe_load(path.read_text())["estimator"]["_target_"] for path in CONF.rglob("*.yaml")}
    for target in wanted:
        name = target.rpartition(".")[2]
        cls = getattr(fairfr, name)
        assert issubclass(cls, fairfr.Model)
        assert f"{cls.method_class.__module__}.{cls.method_class.__name__}" == target
        assert name in dir(fairfr)
        assert getattr(fairfr, name) is cls


def test_a_wrong_name_is_told() -> None:
    with pytest.raises(AttributeError, match="Did you mean 'ACLinear'"):
        _ = fairfr.ACLinaer
    with pytest.raises(AttributeError, match="no attribute 'lod'"):
        _ = fairfr.lod
    with pytest.raises(ImportError):
        from fairfr import nothing_of_the_kind  # noqa: F401


def test_importing_fairfr_imports_none_of_its_libraries() -> None:
    code = "import sys, fairfr; print(sorted({'numpy', 'torch', 'sklearn', 'scipy', 'yaml'} & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_a_class_documents_itself() -> None:
    cls = fairfr.ACDensity
    assert list(inspect.signature(cls).parameters) == ["k", "alpha", "C", "self_neighbour", "engine", "max_references"]
    assert inspect.signature(cls).parameters["k"].default == 20
    assert "reference midpoints" in (cls.__doc__ or "")
    assert "alpha : float, default 1.0" in (cls.__doc__ or "")
    assert cls.__name__ == "ACDensity"


# -- scikit-learn's habits ---------------------------------------------------------------------------------------------


def test_parameters_are_kept_as_given_and_can_be_set() -> None:
    model = fairfr.ACDensity(k=7)
    default = {"alpha": 1.0, "C": 1.0, "self_neighbour": True, "engine": "auto", "max_references": None}
    assert model.get_params() == {"k": 7, **default}
    assert model.set_params(k=3, alpha=0.5) is model
    assert (model.k, model.alpha) == (3, 0.5)
    with pytest.raises(ValueError, match="no parameter 'kk'"):
        model.set_params(kk=1)
    with pytest.raises(TypeError, match="ACDensity has no parameter 'kk'"):
        fairfr.ACDensity(kk=1)
    with pytest.raises(TypeError, match=r"ACLinear has no parameter 'c'\. Did you mean 'C'\?"):
        fairfr.ACLinear(c=1)
    with pytest.raises(TypeError, match="Baseline has no parameter 'C': it takes none"):
        fairfr.Baseline(C=1)
    with pytest.raises(TypeError):
        fairfr.ACDensity(7)


def test_repr_tells_what_is_not_default() -> None:
    assert repr(fairfr.ACLinear()) == "ACLinear()"
    assert repr(fairfr.ACLinear(C=2.5)) == "ACLinear(C=2.5)"
    assert repr(fairfr.ComponentLogistic(inputs=["midpoint"])) == "ComponentLogistic(inputs=['midpoint'])"


def test_clone_gives_an_unfitted_twin(faces: Faces) -> None:
    model = fairfr.Platt(C=3.0).fit_scores(faces.cosine, faces.same)
    twin = clone(model)
    assert type(twin) is type(model)
    assert twin.get_params() == model.get_params()
    check_is_fitted(model)
    with pytest.raises(NotFittedError):
        check_is_fitted(twin)


def test_unfitted_models_say_so(faces: Faces, tmp_path: Path) -> None:
    model = fairfr.Platt()
    for use in (
        lambda: model.probability(faces.embeddings, faces.pairs),
        lambda: model.probability_scores(faces.cosine),
        lambda: model.save(tmp_path / "x"),
        lambda: model.classes_,
    ):
        with pytest.raises(NotFittedError, match="not fitted"):
            use()


def test_fitted_models_can_be_pickled_as_other_estimators_are(faces: Faces) -> None:
    model = fairfr.DemoNorm().fit(faces.embeddings, faces.pairs, faces.same, groups={"g": faces.group})
    again = pickle.loads(pickle.dumps(model))
    given = (faces.embeddings, faces.pairs)
    assert again.probability(*given, groups={"g": faces.group}).tobytes() == (
        model.probability(*given, groups={"g": faces.group}).tobytes()
    )


# -- what comes out ----------------------------------------------------------------------------------------------------


def test_ac_linear_is_logistic_regression_on_midpoint_and_cosine(faces: Faces) -> None:
    model = fairfr.ACLinear(C=0.7, solver="converged").fit(faces.embeddings, faces.pairs, faces.same)
    unit = faces.embeddings / np.linalg.norm(faces.embeddings, axis=1, keepdims=True)
    left, right = unit[faces.pairs[:, 0]], unit[faces.pairs[:, 1]]
    features = np.column_stack([(left + right) / 2, (left * right).sum(axis=1)])
    plain = LogisticRegression(C=0.7, tol=1e-10, max_iter=10_000).fit(features, faces.same)
    expected = plain.predict_proba(features)
    np.testing.assert_allclose(model.predict_proba(faces.embeddings, faces.pairs), expected, atol=1e-5)
    np.testing.assert_allclose(model.probability(faces.embeddings, faces.pairs), expected[:, 1], atol=1e-5)
    assert model.classes_.tolist() == plain.classes_.tolist() == [False, True]
    assert model.n_features_in_ == model.width_ == 16


def test_scores_alone_give_what_embeddings_give(faces: Faces) -> None:
    by_scores = fairfr.Platt().fit_scores(faces.cosine, faces.same)
    by_vectors = fairfr.Platt().fit(faces.embeddings, faces.pairs, faces.same)
    expected = by_vectors.probability(faces.embeddings, faces.pairs)
    np.testing.assert_allclose(by_scores.probability_scores(faces.cosine), expected, atol=1e-6)
    np.testing.assert_allclose(by_scores.probability(faces.embeddings, faces.pairs), expected, atol=1e-6)
    assert by_scores.width_ is None


@pytest.mark.parametrize("name", ["Baseline", "Falcon", "DemoNormGroup"])
def test_methods_without_a_probability_of_their_own_get_one(faces: Faces, name: str) -> None:
    given = {"groups": {"g": faces.group}}
    model = getattr(fairfr, name)().fit(faces.embeddings, faces.pairs, faces.same, **given)
    score, probability = model.prediction(faces.embeddings, faces.pairs, **given)
    order = np.argsort(score, kind="stable")
    assert (np.diff(probability[order]) >= 0).all()
    assert abs(probability.mean() - faces.same.mean()) < 0.02
    assert model.decision_function(faces.embeddings, faces.pairs, **given).tobytes() == score.tobytes()


def test_two_vectors_are_one_pair(faces: Faces) -> None:
    model = fairfr.ACLinear().fit(faces.embeddings, faces.pairs, faces.same)
    left, right = faces.embeddings[3], faces.embeddings[8]
    expected = model.probability(faces.embeddings, [[3, 8]])
    for pair in ((left, right), (left.tolist(), right.tolist()), (torch.tensor(left), torch.tensor(right))):
        found = model.probability(*pair)
        assert found.shape == (1,)
        np.testing.assert_allclose(found, expected, rtol=1e-12)
    with pytest.raises(DataError, match=r"embeddings must be numbers of shape \(n, d\)"):
        model.probability(left, faces.pairs)
    with pytest.raises(DataError, match="same shape"):
        model.probability(left, right[:5])


def test_predictions_are_probabilities_that_reach_the_threshold(faces: Faces) -> None:
    given = (faces.embeddings, faces.pairs)
    model = fairfr.Platt().fit(*given, faces.same)
    probability = model.probability(*given)
    assert model.predict(*given).tolist() == (probability >= 0.5).tolist()
    assert model.predict(*given, threshold=probability[7])[7]
    assert not model.predict(*given, np.nextafter(probability[7], 1))[7]
    rare = model.predict(*given, threshold=0.5, prior=0.05)
    assert rare.tolist() == (model.probability(*given, prior=0.05) >= 0.5).tolist()
    assert 0 < rare.sum() < model.predict(*given).sum()


def test_errors_can_be_caught_by_their_names_in_fairfr(faces: Faces) -> None:
    for name in ("FairfrError", "DataError", "ConfigError", "UnmetNeedError", "StorageError", "MissingExtraError"):
        assert issubclass(getattr(fairfr, name), fairfr.FairfrError) and name in dir(fairfr)
    with pytest.raises(fairfr.DataError) as caught:
        fairfr.Platt().fit_scores([2.0], [True])
    assert "DataError" not in str(caught.value)  # Python names the class in front of the message
    assert caught.value.named() == f"DataError: {caught.value}"


def test_no_pairs_no_probabilities(faces: Faces) -> None:
    model = fairfr.FairCal(K=5).fit(faces.embeddings, faces.pairs, faces.same)
    assert model.probability(faces.embeddings, np.empty((0, 2), dtype=int)).shape == (0,)
    assert model.predict_proba(faces.embeddings, np.empty((0, 2), dtype=int)).shape == (0, 2)


def test_the_seed_decides_what_is_drawn(faces: Faces) -> None:
    given = (faces.embeddings, faces.pairs, faces.same)
    one, same, other = (fairfr.FairCal(K=9).fit(*given, seed=seed).probability(*given[:2]) for seed in (0, 0, 1))
    assert one.tobytes() == same.tobytes()
    assert not np.allclose(one, other)


def test_references_can_be_limited(faces: Faces) -> None:
    given = (faces.embeddings, faces.pairs, faces.same)
    model = fairfr.ACDensity(max_references=50).fit(*given)
    assert model.report_["references"] == 50
    assert len(model.method_.density_.references) == 50
    with pytest.raises(TypeError, match="max_references"):
        fairfr.ACDensity().fit(*given, max_references=50)
    with pytest.raises(ConfigError, match="ACDensity: max_references must be at least 1, found 0"):
        fairfr.ACDensity(max_references=0).fit(*given)


# -- what goes in ------------------------------------------------------------------------------------------------------


def test_vectors_of_any_scale_are_the_same_faces(faces: Faces) -> None:
    plain = fairfr.ACLinear().fit(faces.embeddings, faces.pairs, faces.same).probability(faces.embeddings, faces.pairs)
    scaled = faces.embeddings * np.random.default_rng(1).uniform(1e-3, 1e3, (300, 1))
    model = fairfr.ACLinear().fit(scaled, faces.pairs, faces.same)
    np.testing.assert_allclose(model.probability(faces.embeddings, faces.pairs), plain, atol=1e-6)


@pytest.mark.parametrize("form", ["numpy", "float32", "torch", "pandas", "lists"])
def test_arrays_may_come_from_numpy_torch_or_pandas(faces: Faces, form: str) -> None:
    embeddings = faces.embeddings.astype(np.float32)
    as_given: dict[str, Any] = {
        "numpy": (embeddings.astype(np.float64), faces.pairs, faces.same),
        "float32": (np.asfortranarray(embeddings), faces.pairs.astype(np.uint16), faces.same.astype(np.float64)),
        "torch": (torch.tensor(embeddings, requires_grad=True), torch.tensor(faces.pairs), torch.tensor(faces.same)),
        "pandas": (
            pd.DataFrame(embeddings),
            pd.DataFrame(faces.pairs, columns=["left", "right"]),
            pd.Series(faces.same).astype("boolean"),
        ),
        "lists": (embeddings.tolist(), faces.pairs.tolist(), faces.same.astype(int).tolist()),
    }
    expected = fairfr.ACLinear().fit(embeddings, faces.pairs, faces.same).probability(embeddings, faces.pairs)
    given = as_given[form]
    found = fairfr.ACLinear().fit(*given).probability(*given[:2])
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-12)


def test_a_tensor_elsewhere_is_refused(faces: Faces) -> None:
    with pytest.raises(DataError, match=r"tensor\.cpu\(\)"):
        fairfr.ACLinear().fit(torch.zeros((300, 16), device="meta"), faces.pairs, faces.same)


@pytest.mark.parametrize("name", ["ACLinear", "FairCal", "Falcon", "DemoNorm", "GST"])
def test_row_by_row_is_the_same_as_by_row_numbers(faces: Faces, name: str) -> None:
    """Also where images are counted: an image that comes in many rows is one image."""
    parameters = {"FairCal": {"K": 8}, "DemoNorm": {"people": 15}}.get(name, {})
    left, right = (faces.embeddings[faces.pairs[:, i]] for i in (0, 1))

    def sides(values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        return values[faces.pairs[:, 0]], values[faces.pairs[:, 1]]

    one = getattr(fairfr, name)(**parameters).fit(
        faces.embeddings, faces.pairs, faces.same, groups={"g": faces.group}, identities=faces.who
    )
    two = getattr(fairfr, name)(**parameters).fit(
        (left, right), None, faces.same, groups={"g": sides(faces.group)}, identities=sides(faces.who)
    )
    assert one.training_ == two.training_
    expected = one.probability(faces.embeddings, faces.pairs, groups={"g": faces.group}, identities=faces.who)
    for model in (one, two):
        found = model.probability((left, right), groups={"g": sides(faces.group)}, identities=sides(faces.who))
        np.testing.assert_allclose(found, expected, rtol=0, atol=1e-6)


def test_the_order_of_rows_means_nothing(faces: Faces) -> None:
    order = np.random.default_rng(2).permutation(300)
    row_of = np.argsort(order)
    given = {"groups": {"g": faces.group}, "identities": faces.who}
    other = {"groups": {"g": faces.group[order]}, "identities": faces.who[order]}
    one = fairfr.DemoNorm(people=10).fit(faces.embeddings, faces.pairs, faces.same, **given)
    two = fairfr.DemoNorm(people=10).fit(faces.embeddings[order], row_of[faces.pairs], faces.same, **other)
    expected = one.probability(faces.embeddings, faces.pairs, **given)
    np.testing.assert_allclose(two.probability(faces.embeddings, faces.pairs, **given), expected, atol=1e-9)


def test_several_groups_are_their_product(faces: Faces) -> None:
    sex = np.where(faces.who % 2 == 0, "f", "m")
    both = np.array([f"{a}_{b}" for a, b in zip(faces.group, sex, strict=True)])
    one = fairfr.GST().fit(faces.embeddings, faces.pairs, faces.same, groups={"g": faces.group, "sex": sex})
    two = fairfr.GST().fit(faces.embeddings, faces.pairs, faces.same, groups={"g_x_sex": both})
    assert one.groups_ == ("g", "sex")
    found = one.probability(faces.embeddings, faces.pairs, groups={"sex": sex, "g": faces.group, "not needed": sex})
    expected = two.probability(faces.embeddings, faces.pairs, groups={"g_x_sex": both})
    assert found.tobytes() == expected.tobytes()


@pytest.mark.parametrize("unknown", [None, np.nan, "", pd.NA])
def test_unknown_names_are_unknown_however_they_are_written(faces: Faces, unknown: object) -> None:
    names = faces.group.astype(object)
    names[::4] = ""
    expected = fairfr.GST().fit(faces.embeddings, faces.pairs, faces.same, groups={"g": names})
    names[::4] = unknown
    model = fairfr.GST().fit(faces.embeddings, faces.pairs, faces.same, groups={"g": pd.Series(names)})
    assert model.method_.rule_.levels.names == ("a", "b", "c")
    assert model.method_.delta_.tolist() == expected.method_.delta_.tolist()


def test_numbers_are_the_same_names_with_and_without_gaps(faces: Faces) -> None:
    whole = fairfr.DemoNorm().fit(
        faces.embeddings, faces.pairs, faces.same, groups={"g": faces.group}, identities=faces.who
    )
    gaps = pd.Series(faces.who).where(faces.who != 59)  # pandas makes floats of them
    people = whole.method_.people_
    assert people.names.tolist() == sorted(hashed_names(np.arange(60).astype(str), people.salt).tolist())
    model = fairfr.DemoNorm().fit(faces.embeddings, faces.pairs, faces.same, groups={"g": faces.group}, identities=gaps)
    people = model.method_.people_
    assert people.names.tolist() == sorted(hashed_names(np.arange(59).astype(str), people.salt).tolist())


def test_groups_of_scores_are_those_of_both_images(faces: Faces) -> None:
    left, right = faces.group[faces.pairs[:, 0]], faces.group[faces.pairs[:, 1]]
    model = fairfr.Oracle().fit(faces.embeddings, faces.pairs, faces.same, groups={"g": faces.group})
    expected = model.probability(faces.embeddings, faces.pairs, groups={"g": faces.group})
    scored = fairfr.Oracle().fit_scores(faces.cosine, faces.same, groups={"g": (left, right)})
    found = scored.probability_scores(faces.cosine, groups={"g": (left, right)})
    np.testing.assert_allclose(found, expected, atol=1e-6)
    inside = left == right
    alone = scored.probability_scores(faces.cosine[inside], groups={"g": left[inside]})
    np.testing.assert_array_equal(alone, found[inside])


# -- refusals ----------------------------------------------------------------------------------------------------------

REFUSED: dict[str, tuple[dict[str, Any], str]] = {
    "one dimension": ({"embeddings": np.ones(300)}, r"embeddings must be numbers of shape \(n, d\)"),
    "text": ({"embeddings": np.full((300, 16), "x")}, r"embeddings must be numbers"),
    "zeros": ({"embeddings": {7: 0.0}}, r"embeddings\[7\] has only zeros"),
    "nan": ({"embeddings": {7: np.nan}}, r"embeddings\[7\] has a value that is not finite"),
    "infinite": ({"embeddings": {7: np.inf}}, r"embeddings\[7\] has a value that is not finite"),
    "three columns": ({"pairs": np.zeros((800, 3), dtype=int)}, r"pairs must be whole row numbers of shape \(p, 2\)"),
    "fractions": ({"pairs": np.zeros((800, 2))}, r"pairs must be whole row numbers"),
    "outside": ({"pairs": {3: 300}}, r"pairs\[3\] is \[300, 300\], but the embeddings have the rows 0 to 299"),
    "negative": ({"pairs": {3: -1}}, r"pairs\[3\] is \[-1, -1\]"),
    "too few labels": ({"same": np.ones(5, dtype=bool)}, r"one label for each of the 800 pairs, found shape \(5,\)"),
    "strange labels": ({"same": {2: 2}}, r"same\[2\] is .*2.*True or 1"),
    "one class": ({"same": np.ones(800, dtype=bool)}, "only pairs of one person"),
    "the other class": ({"same": np.zeros(800)}, "only pairs of two people"),
    "no pairs": ({"pairs": np.empty((0, 2), dtype=int), "same": []}, "no pairs at all"),
    "lonely embeddings": ({"pairs": None}, r"pairs=None goes with embeddings=\(left, right\)"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_nonsense_is_refused_with_a_sentence(faces: Faces, case: str) -> None:
    changes, message = REFUSED[case]
    given: dict[str, Any] = {"embeddings": faces.embeddings, "pairs": faces.pairs, "same": faces.same}
    given["pairs"] = np.where(faces.pairs == 7, 8, faces.pairs) if "embeddings" not in changes else faces.pairs
    for name, value in changes.items():
        if isinstance(value, dict):
            array = given[name].astype(int) if name == "same" else given[name].copy()
            for row, item in value.items():
                array[row] = item
            value = array
        given[name] = value
    with pytest.raises(DataError, match=message):
        fairfr.ACLinear().fit(**given)


def test_rows_that_no_pair_uses_are_not_looked_at(faces: Faces) -> None:
    spoiled = np.vstack([faces.embeddings, np.full((1, 16), np.nan)])
    fairfr.ACLinear().fit(spoiled, faces.pairs, faces.same)


def test_another_width_is_refused(faces: Faces) -> None:
    model = fairfr.ACLinear().fit(faces.embeddings, faces.pairs, faces.same)
    with pytest.raises(DataError, match="fitted on vectors of width 16, these have 9"):
        model.probability(faces.embeddings[:, :9], faces.pairs)
    with pytest.raises(DataError, match="same shape"):
        model.probability((faces.embeddings, faces.embeddings[:5]))


def test_missing_groups_are_told(faces: Faces) -> None:
    with pytest.raises(UnmetNeedError, match=r"GST needs groups: pass groups=\{'gender': names\}"):
        fairfr.GST().fit(faces.embeddings, faces.pairs, faces.same)
    model = fairfr.GST().fit(faces.embeddings, faces.pairs, faces.same, groups={"tone": faces.group})
    with pytest.raises(UnmetNeedError, match=r"groups=\{'tone': names\}"):
        model.probability(faces.embeddings, faces.pairs, groups={"gender": faces.group})
    with pytest.raises(DataError, match=r"groups\['tone'\] must have one name for each of the 300 images"):
        model.probability(faces.embeddings, faces.pairs, groups={"tone": faces.group[:5]})
    with pytest.raises(DataError, match="no image has a known group 'tone'"):
        fairfr.GST().fit(faces.embeddings, faces.pairs, faces.same, groups={"tone": np.full(300, None)})
    with pytest.raises(DataError, match="would both be called 'a_b_c'"):
        twins = {"x": np.where(faces.who % 2, "a_b", "a"), "y": np.where(faces.who % 2, "c", "b_c")}
        fairfr.GST().fit(faces.embeddings, faces.pairs, faces.same, groups=twins)
    with pytest.raises(DataError, match="groups must map"):
        fairfr.GST().fit(faces.embeddings, faces.pairs, faces.same, groups=faces.group)


def test_methods_that_need_vectors_refuse_scores(faces: Faces) -> None:
    with pytest.raises(UnmetNeedError, match=r"ACLinear needs embeddings.*fit\(embeddings, pairs, same\)"):
        fairfr.ACLinear().fit_scores(faces.cosine, faces.same)
    model = fairfr.ACLinear().fit(faces.embeddings, faces.pairs, faces.same)
    with pytest.raises(UnmetNeedError, match="ACLinear needs embeddings"):
        model.probability_scores(faces.cosine)


@pytest.mark.parametrize("wrong", [1.5, -40.0])
def test_scores_that_are_no_cosines_are_refused(faces: Faces, wrong: float) -> None:
    cosine = faces.cosine.copy()
    cosine[4] = wrong
    with pytest.raises(DataError, match=r"cosine\[4\] is .* within -1\.\.1.* 1 - d\^2 / 2"):
        fairfr.Platt().fit_scores(cosine, faces.same)


def test_a_score_that_is_not_a_number_is_no_distance(faces: Faces) -> None:
    cosine = faces.cosine.copy()
    cosine[4] = np.nan
    with pytest.raises(DataError, match=r"cosine\[4\] is nan, which is no score: .*Leave the pair out\.$"):
        fairfr.Platt().fit_scores(cosine, faces.same)


def test_a_euclidean_distance_becomes_the_cosine_as_the_message_says(faces: Faces) -> None:
    unit = faces.embeddings / np.linalg.norm(faces.embeddings, axis=1, keepdims=True)
    d = np.linalg.norm(unit[faces.pairs[:, 0]] - unit[faces.pairs[:, 1]], axis=1)
    np.testing.assert_allclose(1 - d**2 / 2, faces.cosine, atol=1e-5)


def test_distances_are_refused(faces: Faces) -> None:
    with pytest.raises(
        DataError, match=r"AUROC 0\.0.* are these distances, or are the labels swapped\? .* d is 1 - d,"
    ):
        fairfr.Isotonic().fit_scores((1 - faces.cosine) / 2, faces.same)
    with pytest.raises(DataError, match=r"AUROC 0\.0.* are the labels swapped\?"):
        fairfr.Beta().fit(faces.embeddings, faces.pairs, ~faces.same)


def test_another_scale_is_mapped_and_kept(faces: Faces, tmp_path: Path) -> None:
    """0..100 of a vendor against cosines: the same model, whichever way the scores are written."""
    percent = 50 * (faces.cosine + 1)
    plain = fairfr.Beta().fit_scores(faces.cosine, faces.same)
    model = fairfr.Beta().fit_scores(percent, faces.same, score_range=(0, 100))
    expected = plain.probability_scores(faces.cosine)
    np.testing.assert_allclose(model.probability_scores(percent), expected, atol=1e-9)
    model.save(tmp_path / "m.fairfr")
    again = fairfr.load(tmp_path / "m.fairfr")
    assert again.score_range_ == (0.0, 100.0)
    assert again.probability_scores(percent).tobytes() == model.probability_scores(percent).tobytes()
    with pytest.raises(DataError, match=r"cosine\[1\] is 100\.5, but score_range says that scores lie within 0\.\.100"):
        again.probability_scores([3.0, 100.5])
    with pytest.raises(DataError, match=r"fitted on scores within 0\.\.100, not on the cosines"):
        again.probability(faces.embeddings, faces.pairs)
    with pytest.raises(DataError, match=r"Pass 100 - d\."):
        fairfr.Beta().fit_scores(100 - percent, faces.same, score_range=(0, 100))
    assert model.fit_scores(faces.cosine, faces.same).score_range_ is None


@pytest.mark.parametrize("wrong", [(100, 0), (0, 0), (0, np.inf), (1,), 5, ("a", "b")])
def test_a_range_is_two_numbers(faces: Faces, wrong: Any) -> None:
    with pytest.raises(DataError, match="the lowest and the highest possible score"):
        fairfr.Beta().fit_scores(faces.cosine, faces.same, score_range=wrong)


def test_a_few_random_pairs_can_be_fitted() -> None:
    rng = np.random.default_rng(0)
    for _ in range(200):
        same = rng.permutation(np.arange(20) % 2 == 0)
        fairfr.Baseline().fit_scores(rng.random(20), same)


def test_a_cosine_may_overshoot_by_rounding(faces: Faces) -> None:
    model = fairfr.Platt().fit_scores(faces.cosine, faces.same)
    over, one = model.probability_scores([1.0000001, -1.0000001]), model.probability_scores([1.0, -1.0])
    assert over.tolist() == one.tolist()


def test_wrong_parameters_are_told_by_fit_in_the_words_of_the_class(faces: Faces) -> None:
    with pytest.raises(ConfigError, match="ACLinear: C must be above 0, found -1"):
        fairfr.ACLinear(C=-1).fit(faces.embeddings, faces.pairs, faces.same)
    with pytest.raises(ConfigError, match="ACDensity: k must be a whole number"):
        fairfr.ACDensity(k="many").fit(faces.embeddings, faces.pairs, faces.same)
    assert fairfr.ACDensity(k=np.int64(5)).fit(faces.embeddings, faces.pairs, faces.same).method_.k == 5


# -- methods of one's own ----------------------------------------------------------------------------------------------


@dataclass
class Squashed:
    """A user's method."""

    needs: ClassVar[frozenset[Need]] = frozenset()
    native_probability: ClassVar[bool] = True

    power: float = 3.0

    def fit(self, view: PairView, same: Bool, ctx: FitContext) -> Self:
        self.mean_ = float(view.cosine.mean())
        return self

    def predict(self, view: PairView) -> Prediction:
        probability = np.clip(view.cosine - self.mean_, 0, 1) ** self.power
        return Prediction(probability, probability)


def test_a_method_of_ones_own_is_a_model_too(faces: Faces, tmp_path: Path) -> None:
    model = fairfr.as_model(Squashed)(power=2.0).fit_scores(faces.cosine, faces.same)
    expected = np.clip(faces.cosine - faces.cosine.mean(), 0, 1) ** 2
    np.testing.assert_allclose(model.probability_scores(faces.cosine), expected, atol=1e-12)
    model.save(tmp_path / "own.fairfr")
    with pytest.raises(DataError, match=r"fitted by 'Squashed'.*fairfr\.load\(path, method=YourClass\)"):
        fairfr.load(tmp_path / "own.fairfr")
    again = fairfr.load(tmp_path / "own.fairfr", method=Squashed)
    assert again.probability_scores(faces.cosine).tobytes() == model.probability_scores(faces.cosine).tobytes()
    with pytest.raises(ConfigError, match="is not a method"):
        fairfr.as_model(dict)


def test_a_model_class_serves_where_a_method_class_does(faces: Faces, tmp_path: Path) -> None:
    made = fairfr.as_model(Squashed)
    assert fairfr.as_model(made) is made
    made().fit_scores(faces.cosine, faces.same).save(tmp_path / "own.fairfr")
    assert type(fairfr.load(tmp_path / "own.fairfr", method=made)) is made
    for no_class in ("Squashed", Squashed()):
        with pytest.raises(DataError, match=r"own\.fairfr .* is not a class: write method=Squashed, without quotes"):
            fairfr.load(tmp_path / "own.fairfr", method=no_class)  # type: ignore[arg-type]


def test_a_fitted_model_of_ones_own_survives_a_pickle(faces: Faces) -> None:
    model = fairfr.as_model(Squashed)(power=2.0).fit_scores(faces.cosine, faces.same)
    again = pickle.loads(pickle.dumps(model))
    assert type(again) is type(model) and again.get_params() == {"power": 2.0}
    assert again.probability_scores(faces.cosine).tobytes() == model.probability_scores(faces.cosine).tobytes()


WRONG_PROBABILITIES = {
    "nan": (lambda p: np.where(np.arange(len(p)) == 3, np.nan, p), r"1 non-finite probability values \(pair 3: nan\)"),
    "percent": (lambda p: 99.9 * (p * 0 + 1), r"outside \[0, 1\] \(pair 0: 99\.9\)"),
    "one short": (lambda p: p[1:], r"probability values of shape \(\d+,\) for \d+ pairs"),
    "list": (lambda p: p.tolist(), r"returned a list as probability"),
    "none": (lambda p: None, r"returned no probability"),
}


@pytest.mark.parametrize("how", WRONG_PROBABILITIES)
def test_what_predict_returns_is_checked(faces: Faces, how: str) -> None:
    change, message = WRONG_PROBABILITIES[how]

    @dataclass
    class Wrong(Squashed):
        def predict(self, view: PairView) -> Prediction:
            return Prediction(view.cosine, change(view.cosine.clip(0, 1)))

    model = fairfr.as_model(Wrong)().fit_scores(faces.cosine, faces.same)
    with pytest.raises(fairfr.MethodError, match=r"^Wrong\.predict .*" + message):
        model.probability_scores(faces.cosine)


# -- what the given pairs contradict, repeat or lack -------------------------------------------------------------------


def test_one_pair_with_both_labels_is_refused_whichever_way_round(faces: Faces) -> None:
    pairs = np.concatenate([faces.pairs, faces.pairs[7:8, ::-1]])
    same = np.append(faces.same, ~faces.same[7])
    with pytest.raises(
        DataError,
        match=r"pairs\[800\] and pairs\[7\] are the same two images, but same is False .*True .*\(1 pair in all\)",
    ):
        fairfr.ACLinear().fit(faces.embeddings, pairs, same)
    left, right = (faces.embeddings[pairs[:, side]] for side in (0, 1))
    with pytest.raises(DataError, match=r"pairs\[800\] and pairs\[7\] are the same two images"):
        fairfr.ACLinear().fit((left, right), None, same)


def test_repeated_pairs_and_pairs_of_one_image_are_warned_of(faces: Faces) -> None:
    given = (
        faces.embeddings,
        np.concatenate([faces.pairs, faces.pairs[7:9, ::-1]]),
        np.append(faces.same, faces.same[7:9]),
    )
    with pytest.warns(fairfr.FairfrWarning, match=r"2 pairs repeated \(first: pairs\[800\] repeats pairs\[7\]\)"):
        fairfr.Platt().fit(*given)
    given = faces.embeddings, np.concatenate([faces.pairs, [[4, 4]]]), np.append(faces.same, True)
    with pytest.warns(fairfr.FairfrWarning, match=r"1 pair of an image with itself.*first: pairs\[800\]"):
        fairfr.Platt().fit(*given)


def test_groups_that_training_lacked_or_had_once_are_warned_of(faces: Faces) -> None:
    model = fairfr.Oracle().fit(faces.embeddings, faces.pairs, faces.same, groups={"g": faces.group})
    new = np.where(faces.group == "a", "new", faces.group)
    with pytest.warns(fairfr.FairfrWarning, match=r"'new' of g was not in training \(there: 'a', 'b', 'c'\)"):
        model.probability(faces.embeddings, faces.pairs, groups={"g": new})
    once = faces.group.astype("<U5")
    once[faces.pairs[0, 0]] = "Asain"
    with pytest.warns(fairfr.FairfrWarning, match=r"'Asain' of g has one image only"):
        fairfr.Oracle().fit(faces.embeddings, faces.pairs, faces.same, groups={"g": once})


def test_a_fit_without_identities_says_so(faces: Faces, tmp_path: Path) -> None:
    model = fairfr.ACCohort().fit(faces.embeddings, faces.pairs, faces.same)
    assert model.report_["note"].startswith("fitted without identities")
    model.save(tmp_path / "m.fairfr", with_faces=True)
    card = card_text(inspect_file(tmp_path / "m.fairfr"))
    assert "note          fitted without identities" in card
    n_genuine = int(np.count_nonzero(faces.same))
    assert f"{n_genuine:,} genuine, {len(faces.same) - n_genuine:,} impostor" in card
    known = fairfr.ACCohort().fit(faces.embeddings, faces.pairs, faces.same, identities=faces.who)
    assert "note" not in known.report_
