"""Face vectors in saved models: counted in what a file really has, said where it is saved; names of people hashed."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar, Self

import numpy as np
import pytest
from made_faces import Faces
from safetensors.numpy import load_file

import fairfr
from fairfr.core.calibrator import FitContext
from fairfr.core.types import Bool, Need, Pairs, Prediction
from fairfr.library.face_vectors import count_face_vectors, holds_text
from fairfr.library.model_file import describe
from fairfr.pairs.view import PairView


def unit(rows: np.ndarray) -> np.ndarray:
    length = np.linalg.norm(rows.astype(np.float64), axis=1, keepdims=True)
    return rows / np.where(length > 0, length, 1)


def read_back(path: Path, embeddings: np.ndarray, pairs: np.ndarray) -> int:
    """How many of the vectors a stranger finds in the file: every row of the right width against every vector, and
    against the midpoint of every pair."""
    wanted = unit(embeddings)
    midpoints = unit(wanted[pairs[:, 0]] + wanted[pairs[:, 1]])
    found = np.zeros(len(embeddings), dtype=bool)
    for array in load_file(path).values():
        if array.ndim == 2 and array.shape[1] == embeddings.shape[1]:
            found |= is_near_a_row(wanted, array)
            found[pairs[is_near_a_row(midpoints, array)]] = True
    return int(found.sum())


def is_near_a_row(wanted: np.ndarray, array: np.ndarray) -> np.ndarray:
    cosine = wanted.astype(np.float64) @ unit(array).astype(np.float64).T
    nearest = unit(array)[cosine.argmax(axis=1)]
    return np.linalg.norm(wanted - nearest, axis=1) < 1e-6


CASES = [
    (fairfr.ACDensity(k=5), 299),  # every image that occurs in a pair
    (fairfr.ACDensity(k=5, max_references=40), None),
    (fairfr.Falcon(), 299),
    (fairfr.DemoNorm(), 60),  # one image of each person
    (fairfr.FairCal(K=200, n_init=1), None),
    (fairfr.ACLinear(), 0),
    (fairfr.Platt(), 0),
]


@pytest.mark.parametrize(("model", "expected"), CASES, ids=[repr(model) for model, _ in CASES])
def test_the_number_is_what_can_be_read_back(
    faces: Faces, tmp_path: Path, model: fairfr.Model, expected: int | None
) -> None:
    path = tmp_path / "m.fairfr"
    model.fit(faces.embeddings, faces.pairs, faces.same, groups={"g": faces.group}, identities=faces.who)
    model.save(path, with_faces=True)
    found = read_back(path, faces.embeddings, faces.pairs)
    assert model.holds_ == describe(path)["holds"] == fairfr.load(path).holds_ == {"face_vectors": found}
    if expected is None:
        assert 0 < found < 200
    else:
        assert found == expected


@dataclass
class Keeper:
    """A user's method that keeps its images in some form, and says nothing about it."""

    needs: ClassVar[frozenset[Need]] = frozenset({"embeddings"})
    native_probability: ClassVar[bool] = True

    form: str = "rows"

    def fit(self, view: PairView, same: Bool, ctx: FitContext) -> Self:
        rows, vectors = view.images()
        of_image = np.zeros((rows.max() + 1, vectors.shape[1]), dtype=np.float32)
        of_image[rows] = vectors
        left, right = (ends.astype(int) for ends in view.ends(np.arange(len(of_image), dtype=np.float64)))
        midpoints = (of_image[left] + of_image[right]) / 2
        noise = np.random.default_rng(0).normal(scale=1e-3, size=vectors.shape)
        forms = {
            "rows": vectors,
            "scaled": 31.5 * vectors.astype(np.float64),
            "columns": np.ascontiguousarray(vectors.T),
            "flat": vectors.ravel(),
            "side by side": np.column_stack([vectors, vectors]),
            "changed": vectors + noise,
            "midpoints": midpoints,
            "midpoints of length 1": unit(midpoints),
            "midpoints of strangers": vectors[:-2] + vectors[2:] + vectors[1:-1],
        }
        if self.form == "report":
            ctx.report["images"] = vectors
        else:
            self.kept_ = forms[self.form]
        return self

    def predict(self, view: PairView) -> Prediction:
        probability = np.clip(view.cosine, 0, 1)
        return Prediction(probability, probability)


@pytest.mark.parametrize(
    "form", ["rows", "scaled", "columns", "flat", "side by side", "report", "midpoints", "midpoints of length 1"]
)
def test_methods_of_ones_own_are_counted_too(faces: Faces, form: str) -> None:
    model = fairfr.as_model(Keeper)(form=form).fit(faces.embeddings, faces.pairs, faces.same)
    assert model.holds_ == {"face_vectors": len(np.unique(faces.pairs))}


def test_one_midpoint_counts_both_of_its_images(faces: Faces) -> None:
    vectors = unit(faces.embeddings).astype(np.float32)
    left, right = np.array([3, 5, 8], dtype=np.int32), np.array([4, 6, 3], dtype=np.int32)
    kept = (vectors[3] + vectors[4])[None] * np.float32(0.5)
    assert count_face_vectors([kept], vectors, Pairs(left, right)) == 2
    assert count_face_vectors([kept], vectors) == 0


@pytest.mark.parametrize("form", ["changed", "midpoints of strangers"])
def test_vectors_that_were_changed_are_none_of_the_training_images(faces: Faces, form: str) -> None:
    model = fairfr.as_model(Keeper)(form=form).fit(faces.embeddings, faces.pairs, faces.same)
    assert model.holds_ == {"face_vectors": 0}


def test_rows_of_zeros_and_of_no_numbers_are_nobodys() -> None:
    vectors = unit(np.random.default_rng(0).normal(size=(50, 12))).astype(np.float32)
    odd = np.zeros((40, 12))
    odd[3], odd[4, 2], odd[5] = np.nan, np.inf, vectors[7]
    many = np.repeat(vectors[:1], 5000, axis=0)
    assert count_face_vectors([odd, np.empty((0, 12)), np.float64(3.0).reshape(()), many], vectors) == 2


def test_saving_faces_is_warned_of_unless_it_is_meant(faces: Faces, tmp_path: Path) -> None:
    model = fairfr.ACDensity(k=5).fit(faces.embeddings, faces.pairs, faces.same)
    with pytest.warns(
        UserWarning, match=r"m\.fairfr has numbers made of 299 face vectors .* biometric data.*with_face_vectors=True"
    ):
        model.save(tmp_path / "m.fairfr")
    assert (tmp_path / "m.fairfr").exists()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model.save(tmp_path / "m.fairfr", with_face_vectors=True)
        model.save(tmp_path / "m.fairfr", with_faces=True)  # the older name
        fairfr.ACLinear().fit(faces.embeddings, faces.pairs, faces.same).save(tmp_path / "n.fairfr")


def test_numbers_are_told_in_words() -> None:
    assert holds_text({"face_vectors": 0}) == "no face vectors"
    told = "numbers made of 12,215 face vectors of training images: treat as biometric data"
    assert holds_text({"face_vectors": 12215}) == told
    assert holds_text({"face_vectors": 1}).startswith("numbers made of 1 face vector of")


# -- names of people ---------------------------------------------------------------------------------------------------


def fit_named(faces: Faces, names: np.ndarray, same: np.ndarray) -> fairfr.Model:
    return fairfr.DemoNorm(variant="M1").fit(
        faces.embeddings, faces.pairs, same, groups={"g": faces.group}, identities=names
    )


def test_names_of_people_are_not_in_the_file(faces: Faces, tmp_path: Path) -> None:
    names = np.array([f"Anna Example {i}" for i in faces.who])
    fit_named(faces, names, faces.same).save(tmp_path / "m.fairfr", with_faces=True)
    assert b"Anna" not in (tmp_path / "m.fairfr").read_bytes()


def test_people_are_known_again_by_their_names_in_another_table(faces: Faces, tmp_path: Path) -> None:
    """New images of the training's people: their own cohort member is left out only if their names are known again."""
    names = np.array([f"Anna Example {i}" for i in faces.who])
    fit_named(faces, names, faces.same).save(tmp_path / "m.fairfr", with_faces=True)
    model = fairfr.load(tmp_path / "m.fairfr")
    new = faces.embeddings[::-1] + 0.01
    pairs, groups, who = faces.pairs[:50], {"g": faces.group[::-1]}, names[::-1]
    known = model.decision_function(new, pairs, groups=groups, identities=who)
    strangers = model.decision_function(new, pairs, groups=groups, identities=[f"other {i}" for i in faces.who])
    cohort = np.concatenate([c.vectors for c in model.method_.cohorts_])
    whose = np.concatenate([c.identity for c in model.method_.cohorts_])
    code = {name: number for number, name in enumerate(sorted(set(names.tolist())))}
    vectors, cosine = unit(new), np.array([unit(new)[a] @ unit(new)[b] for a, b in pairs])
    for row, (left, _) in enumerate(pairs):
        met = cohort @ vectors[left]
        others = met[whose != code[who[left]]]
        np.testing.assert_allclose(known[row], (cosine[row] - others.mean()) / others.std(ddof=1), rtol=1e-5)
        np.testing.assert_allclose(strangers[row], (cosine[row] - met.mean()) / met.std(ddof=1), rtol=1e-5)


def test_the_same_name_is_another_hash_in_another_file(faces: Faces) -> None:
    names = np.array([f"person {i}" for i in faces.who])
    one = fit_named(faces, names, faces.same)
    again = fit_named(faces, names, faces.same)
    flipped = faces.same.copy()
    flipped[0] = not flipped[0]
    other = fit_named(faces, names, flipped)
    assert one.method_.people_.names.tolist() == again.method_.people_.names.tolist()
    assert not set(one.method_.people_.names.tolist()) & set(other.method_.people_.names.tolist())
