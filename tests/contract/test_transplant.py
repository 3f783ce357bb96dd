"""What a fitted method knows holds on any table: each yaml under conf/method is tried.

Fitted on a table of training pairs alone, a method predicts held-out pairs in a table that holds only them, with images
and groups in another order, as it does inside one table. Saved, it predicts the same bits in another process. Of
strangers it says what its card states.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from safetensors.numpy import load_file

import fairfr
from fairfr.core.calibrator import Calibrator, FitContext
from fairfr.core.config import instantiate
from fairfr.core.extras import MissingExtraError
from fairfr.core.types import EmbeddingSet, FoldSplit, Grouping, Pairs, Prediction, VerificationSet
from fairfr.library.image_pairs import HERE
from fairfr.pairs.table import PairTable
from fairfr.pairs.vectors import fingerprints, unit_rows
from fairfr.pairs.view import PairView
from fairfr.runner.held_out import score_held_out
from fairfr.sweep.compose import read_method

METHODS = Path(__file__).parents[2] / "conf" / "method"
PATHS = sorted(METHODS.rglob("*.yaml"))
FOLD = 1
DENSITY = [path for path in PATHS if path.stem in ("ac_density", "ac_density_loo", "density_score")]


def estimator(path: Path) -> dict[str, Any]:
    return read_method(path).estimator


def is_missing(path: Path, error: MissingExtraError) -> bool:
    """Whether a method of extra/ lacks its library."""
    return path.parent.name == "extra" and "pip install" in str(error)


def tolerance(path: Path) -> float:
    """Networks compute in float32."""
    module = estimator(path)["_target_"].rpartition(".")[0]
    source = Path(*module.split(".")).with_suffix(".py")
    return 1e-5 if "torch" in (METHODS.parents[1] / source).read_text(encoding="utf-8") else 1e-9


@pytest.fixture(scope="module")
def data(data: VerificationSet) -> VerificationSet:
    """People have names, but nobody knows who is on every fifth image."""
    identity = np.where(np.arange(len(data.images)) % 5 == 0, -1, data.identity).astype(np.int32)
    return replace(data, identity=identity, people=tuple(f"person {code}" for code in range(data.identity.max() + 1)))


@pytest.fixture(params=PATHS, ids=lambda path: path.stem)
def path(request: pytest.FixtureRequest) -> Path:
    chosen: Path = request.param
    return chosen


# -- transplant --------------------------------------------------------------------------------------------------------


def part_of(data: VerificationSet, rows: np.ndarray, images: np.ndarray) -> VerificationSet:
    """Some pairs over some images, in the given order."""
    assert data.embeddings is not None
    row_of = np.full(len(data.images), -1, dtype=np.int32)
    row_of[images] = np.arange(len(images))
    return replace(
        data,
        images=data.images[images],
        identity=data.identity[images],
        pairs=Pairs(row_of[data.pairs.left[rows]], row_of[data.pairs.right[rows]]),
        same=data.same[rows],
        fold=data.fold[rows],
        groupings={id: replace(g, codes=g.codes[images]) for id, g in data.groupings.items()},
        embeddings=EmbeddingSet("cut", "0", data.images[images], data.embeddings.vectors[images]),
    )


def used_images(data: VerificationSet, rows: np.ndarray) -> np.ndarray:
    return np.unique(np.concatenate([data.pairs.left[rows], data.pairs.right[rows]]))


def elsewhere(data: VerificationSet, rows: np.ndarray) -> VerificationSet:
    """A table of some pairs alone: images in another order, people and groups numbered anew, one group more."""
    rng = np.random.default_rng(1)
    part = part_of(data, rows, rng.permutation(used_images(data, rows)))
    assert data.people is not None
    code = rng.permutation(len(data.people)).astype(np.int32)
    people = tuple(data.people[i] for i in np.argsort(code))
    identity = np.where(part.identity < 0, -1, code[part.identity]).astype(np.int32)
    groupings = {}
    for id, grouping in part.groupings.items():
        levels = ("never met", *reversed(grouping.levels))
        codes = np.where(grouping.codes < 0, -1, len(grouping.levels) - grouping.codes)
        groupings[id] = Grouping(id, levels, codes.astype(np.int16))
    return replace(part, identity=identity, people=people, groupings=groupings)


def fit(path: Path, view: PairView, same: np.ndarray, data: VerificationSet, references: int | None) -> Calibrator:
    method: Calibrator = instantiate(read_method(path, {"max_references": references}).estimator, "method.estimator")
    ctx = FitContext(0, "bfw", "magface", "2", grouping=data.grouping)
    try:
        return method.fit(view, same, ctx)
    except MissingExtraError as error:
        if is_missing(path, error):
            pytest.skip(str(error))
        raise


def view_of(path: Path, data: VerificationSet, rows: np.ndarray) -> PairView:
    needs = instantiate(estimator(path), "method.estimator").needs
    return PairView(PairTable(data), rows, needs)


def both_ways(path: Path, data: VerificationSet, references: int | None = None) -> tuple[Prediction, Prediction]:
    """The prediction of the held-out fold inside one table, and across two."""
    train, test = np.flatnonzero(data.fold != FOLD), np.flatnonzero(data.fold == FOLD)
    table = PairTable(data)
    needs = instantiate(estimator(path), "method.estimator").needs
    method = fit(path, PairView(table, train, needs), data.same[train], data, references)
    assert_free(method)
    inside = method.predict(PairView(table, test, needs))
    alone = part_of(data, train, used_images(data, train))
    method = fit(path, view_of(path, alone, np.arange(len(train))), alone.same, data, references)
    other = elsewhere(data, test)
    return inside, method.predict(view_of(path, other, np.arange(len(test))))


def assert_free(method: Calibrator) -> None:
    """No attribute of a fitted state reaches a table, a view or a set of pairs."""
    for name, value in vars(method).items():
        if name.endswith("_"):
            assert not reached(value, (PairTable, PairView, VerificationSet, EmbeddingSet)), name


def reached(value: object, kinds: tuple[type, ...], depth: int = 0) -> list[object]:
    if isinstance(value, kinds):
        return [value]
    if depth > 6 or isinstance(value, str | bytes | np.ndarray):
        return []
    if isinstance(value, dict):
        inner = list(value.values())
    elif isinstance(value, list | tuple):
        inner = list(value)
    else:
        slots = [name for cls in type(value).__mro__ for name in getattr(cls, "__slots__", ()) if name != "__weakref__"]
        inner = [*getattr(value, "__dict__", {}).values(), *(getattr(value, name) for name in slots)]
    return [found for item in inner for found in reached(item, kinds, depth + 1)]


def assert_alike(one: Prediction, two: Prediction, within: float) -> None:
    np.testing.assert_allclose(one.score, two.score, rtol=within, atol=within)
    assert (one.probability is None) == (two.probability is None)
    if one.probability is not None and two.probability is not None:
        np.testing.assert_allclose(one.probability, two.probability, rtol=0, atol=within)


def test_a_fitted_method_leaves_its_table(path: Path, data: VerificationSet) -> None:
    assert_alike(*both_ways(path, data), tolerance(path))


@pytest.mark.parametrize("path", DENSITY, ids=lambda path: path.stem)
def test_references_drawn_at_random_leave_their_table(path: Path, data: VerificationSet) -> None:
    assert_alike(*both_ways(path, data, references=300), tolerance(path))


# -- models ------------------------------------------------------------------------------------------------------------


@dataclass
class Given:
    """What a user has: arrays, and names."""

    embeddings: np.ndarray
    pairs: np.ndarray
    same: np.ndarray
    groups: dict[str, np.ndarray]
    identities: np.ndarray

    @property
    def names(self) -> dict[str, np.ndarray]:
        return {**self.groups, "identities": self.identities}

    @property
    def labels(self) -> dict[str, Any]:
        return {"groups": self.groups, "identities": self.identities}


@pytest.fixture(scope="module")
def given(data: VerificationSet) -> Given:
    assert data.embeddings is not None
    assert data.people is not None
    groups = {}
    for id in ("ethnicity", "gender"):
        grouping = data.groupings[id]
        groups[id] = np.array([*grouping.levels, None], dtype=object)[grouping.codes]
    who = np.array([*data.people, None], dtype=object)[data.identity]
    pairs = np.column_stack([data.pairs.left, data.pairs.right])
    return Given(data.embeddings.vectors * 7.5, pairs, data.same, groups, who)


@pytest.fixture(scope="module")
def fitted(given: Given) -> Callable[[Path], fairfr.Model]:
    @cache
    def model(path: Path) -> fairfr.Model:
        spec = estimator(path)
        cls = getattr(fairfr, spec.pop("_target_").rpartition(".")[2])
        return cls(**spec).fit(given.embeddings, given.pairs, given.same, **given.labels)

    def model_or_skip(path: Path) -> fairfr.Model:
        try:
            return model(path)
        except MissingExtraError as error:
            if is_missing(path, error):
                pytest.skip(str(error))
            raise

    return model_or_skip


READ_BACK = """
import sys
from pathlib import Path
import numpy as np
import fairfr
from fairfr.sweep.compose import read_method
folder = Path(sys.argv[1])
with np.load(folder / "given.npz") as given:
    embeddings, pairs, identities = given["embeddings"], given["pairs"], given["identities"]
    groups = {id: given[id] for id in ("ethnicity", "gender")}
for path in sorted(folder.glob("*.fairfr")):
    score, probability = fairfr.load(path).prediction(embeddings, pairs, groups=groups, identities=identities)
    np.savez(path.with_suffix(".npz"), score=score, probability=probability)
"""


def test_saved_models_predict_the_same_bits_in_a_fresh_process(
    given: Given, fitted: Callable[[Path], fairfr.Model], tmp_path: Path
) -> None:
    """One process for all of them: what takes its time are the imports."""
    names = {id: np.where(values == None, "", values).astype(str) for id, values in given.names.items()}  # noqa: E711
    np.savez(tmp_path / "given.npz", embeddings=given.embeddings, pairs=given.pairs, **names)
    expected = {}
    for path in PATHS:
        try:
            fitted(path).save(tmp_path / f"{path.stem}.fairfr", with_faces=True)
        except pytest.skip.Exception:
            continue
        expected[path.stem] = fitted(path).prediction(given.embeddings, given.pairs, **given.labels)
    done = subprocess.run([sys.executable, "-c", READ_BACK, str(tmp_path)], capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stderr
    assert len(expected) >= len([path for path in PATHS if path.parent.name != "extra"])
    for stem, (score, probability) in expected.items():
        found = np.load(tmp_path / f"{stem}.npz")
        assert np.isfinite(score).all()
        assert found["score"].tobytes() == score.tobytes(), stem
        assert found["probability"].tobytes() == probability.tobytes(), stem


def listed_content() -> dict[str, str]:
    """The column of docs/methods.md that says what a method's file has, by the method's name."""
    page = (METHODS.parents[1] / "docs" / "methods.md").read_text(encoding="utf-8")
    rows = [line.strip("|").split("|") for line in page.splitlines() if line.startswith("| [`")]
    return {row[0].split("`")[1].rpartition("/")[2]: row[5].strip() for row in rows}


def test_the_docs_say_what_a_saved_model_has(
    path: Path, given: Given, fitted: Callable[[Path], fairfr.Model], tmp_path: Path
) -> None:
    """Against the file: every row of its arrays, whatever the method says of itself."""
    model = fitted(path)
    model.save(tmp_path / "m.fairfr", with_faces=True)
    arrays = load_file(tmp_path / "m.fairfr")
    vectors = unit_rows(given.embeddings, np.unique(given.pairs)).astype(np.float64)
    known = {vector.round(4).tobytes() for vector in vectors + 0.0}
    d, found = vectors.shape[1], set()
    for array in arrays.values():
        if array.ndim == 2 and array.shape[1] == d and array.dtype.kind == "f":
            length = np.linalg.norm(array.astype(np.float64), axis=1, keepdims=True)
            unit = array / np.where(length > 0, length, 1)
            found |= known & {row.astype(np.float64).round(4).tobytes() for row in unit + 0.0}
            found |= _ends_of_midpoints(given, vectors, unit)
    said = listed_content()[path.stem]
    assert (said == "face vectors") == (len(found) > 0.1 * len(vectors))
    assert (said == "cluster centres") == any(name.startswith(("clusters_.centres", "means_")) for name in arrays)
    # rounding to four digits may part a few vectors from their copies
    assert 0.9 * model.holds_["face_vectors"] <= len(found) <= model.holds_["face_vectors"]


def _ends_of_midpoints(given: Given, vectors: np.ndarray, rows: np.ndarray) -> set[bytes]:
    """Both images of each pair whose midpoint is a row, spelled as above."""
    place = np.searchsorted(np.unique(given.pairs), given.pairs)
    midpoints = unit_rows(vectors[place[:, 0]] + vectors[place[:, 1]], np.arange(len(place)))
    stored = {row.astype(np.float64).round(4).tobytes() for row in rows + 0.0}
    is_stored = [midpoint.astype(np.float64).round(4).tobytes() in stored for midpoint in midpoints + 0.0]
    return {vector.round(4).tobytes() for vector in vectors[np.unique(place[is_stored])] + 0.0}


def test_the_model_is_the_method(path: Path, given: Given, data: VerificationSet, fitted: Any) -> None:
    """A model's probability is that of the runner: the method's own, or the beta overlay on its training scores."""

    model = fitted(path)
    again = data.n_pairs + np.arange(data.n_pairs)
    twice = replace(
        data,
        pairs=Pairs(np.tile(data.pairs.left, 2), np.tile(data.pairs.right, 2)),
        same=np.tile(data.same, 2),
        fold=np.repeat([0, 1], data.n_pairs).astype(np.int16),
        fold_labels=("a", "b"),
    )
    # ids as the library gives them, so that what is drawn is drawn alike
    vectors = unit_rows(given.embeddings, np.arange(len(given.embeddings)))
    twice = replace(
        twice, images=fingerprints(vectors), embeddings=EmbeddingSet("cut", "0", fingerprints(vectors), vectors)
    )
    split = [FoldSplit("all", np.arange(data.n_pairs), again), FoldSplit("rest", again, np.arange(data.n_pairs))]

    def context(fold: str) -> FitContext:
        return FitContext(0, HERE, HERE, fold, grouping=data.grouping)

    runner = score_held_out(
        PairTable(twice), split, lambda: instantiate(estimator(path), "method.estimator"), context
    ).frame
    score, probability = model.prediction(given.embeddings, given.pairs, **given.labels)
    np.testing.assert_allclose(score, runner.score[again], rtol=0, atol=max(1e-7, tolerance(path)))
    np.testing.assert_allclose(probability, runner.probability[again], rtol=0, atol=max(1e-7, tolerance(path)))


# -- strangers ---------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def strangers(given: Given) -> tuple[np.ndarray, np.ndarray]:
    """Faces that nobody has met, paired with each other and with those of training."""
    rng = np.random.default_rng(5)
    new = given.embeddings[:40] + 4 * rng.standard_normal((40, given.embeddings.shape[1]))
    embeddings = np.concatenate([new, given.embeddings[40:80]])
    return embeddings, np.column_stack([np.arange(40), rng.permutation(80)[:40]])


@pytest.mark.filterwarnings(
    "ignore:.*are unlike those of training", "ignore:'never met_never met' of .* not in training"
)
def test_strangers_get_an_answer(path: Path, fitted: Any, strangers: Any) -> None:
    embeddings, pairs = strangers
    unseen = {id: np.array(["never met"] * 80) for id in ("ethnicity", "gender")}
    score, probability = fitted(path).prediction(
        embeddings, pairs, groups=unseen, identities=[f"new {i}" for i in range(80)]
    )
    assert np.isfinite(score).all()
    assert 0 <= probability.min() <= probability.max() <= 1


@pytest.mark.filterwarnings(
    "ignore:.*are unlike those of training", "ignore:'never met_never met' of .* not in training"
)
def test_a_group_that_was_never_met_is_an_unknown_one(path: Path, fitted: Any, strangers: Any) -> None:
    """No method of conf/method has anything to say about it; the cards say what it does instead."""
    embeddings, pairs = strangers
    nobody = {"identities": np.full(80, None)}
    unseen = {id: np.array(["never met"] * 80) for id in ("ethnicity", "gender")}
    unknown = {id: np.full(80, np.nan) for id in ("ethnicity", "gender")}
    one = fitted(path).prediction(embeddings, pairs, groups=unseen, **nobody)
    two = fitted(path).prediction(embeddings, pairs, groups=unknown, **nobody)
    for a, b in zip(one, two, strict=True):
        np.testing.assert_array_equal(a, b)


def test_an_identity_that_was_never_met_changes_nothing(path: Path, fitted: Any, given: Given, strangers: Any) -> None:
    embeddings, pairs = strangers
    groups = {id: np.concatenate([names[:40], names[40:80]]) for id, names in given.groups.items()}
    new = pairs[pairs.max(axis=1) < 40]
    named = fitted(path).prediction(embeddings, new, groups=groups, identities=[f"new {i}" for i in range(80)])
    nameless = fitted(path).prediction(embeddings, new, groups=groups)
    for a, b in zip(named, nameless, strict=True):
        np.testing.assert_array_equal(a, b)
