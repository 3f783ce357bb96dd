"""What every method promises: each yaml under conf/method is tried, with nothing to register here."""

from __future__ import annotations

import builtins
import dataclasses
import sys
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from fairfr.core.calibrator import Calibrator, FitContext
from fairfr.core.config import instantiate
from fairfr.core.errors import ConfigError
from fairfr.core.extras import MissingExtraError
from fairfr.core.threads import SHARED_IMPORTS
from fairfr.core.types import EmbeddingSet, Pairs, Prediction, VerificationSet
from fairfr.pairs.table import PairTable
from fairfr.pairs.view import PairView
from fairfr.runner.settings import MethodSettings
from fairfr.sweep.compose import read_method

METHODS = Path(__file__).parents[2] / "conf" / "method"
PATHS = sorted(METHODS.rglob("*.yaml"))
BLIND_TO_THE_COSINE = {"midpoint_only"}
FOLD = 1
FLOAT64, FLOAT32 = 1e-9, 1e-5
LOW_LIMITS = {"people": 25, "max_images": 400, "max_clustered": 500, "K": 20, "max_references": 300, "most": 400}


@dataclass
class Fitted:
    """A method with the table it was fitted on, and its prediction of the held-out fold."""

    method: Calibrator
    table: PairTable
    test: PairView
    prediction: Prediction


def settings_of(path: Path) -> MethodSettings:
    return read_method(path)


def make(path: Path) -> Calibrator:
    method: Calibrator = instantiate(settings_of(path).estimator, "method.estimator")
    return method


def run(path: Path, data: VerificationSet, seed: int = 0, drawing: bool = False) -> Fitted:
    """Fit on all folds but one, on a table of its own, and predict that one.

    ``drawing``: with limits so low that a method that may take a random part of the data does.

    A method of extra/ whose library is not installed says so in a MissingExtraError, and is skipped.
    """
    method, table = make(path), PairTable(data)
    if drawing:
        present = {field.name for field in dataclasses.fields(method)}  # type: ignore[arg-type]
        method = replace(method, **{name: limit for name, limit in LOW_LIMITS.items() if name in present})  # type: ignore[type-var]
    train, test = np.flatnonzero(data.fold != FOLD), np.flatnonzero(data.fold == FOLD)
    ctx = FitContext(seed=seed, dataset="bfw", backbone="magface", fold="2", grouping=data.grouping)
    views = [PairView(table, rows, method.needs, type(method).__name__) for rows in (train, test)]
    try:
        assert method.fit(views[0], data.same[train], ctx) is method
        return Fitted(method, table, views[1], method.predict(views[1]))
    except MissingExtraError as error:
        if path.parent.name == "extra":
            pytest.skip(str(error))
        raise


def tolerance(method: Calibrator) -> float:
    """Networks compute in float32, and their sums depend on the size of the batch."""
    uses_torch = "torch" in Path(sys.modules[type(method).__module__].__file__ or "").read_text(encoding="utf-8")
    return FLOAT32 if uses_torch else FLOAT64


def as_bytes(prediction: Prediction) -> tuple[bytes, bytes | None]:
    probability = prediction.probability
    return prediction.score.tobytes(), None if probability is None else probability.tobytes()


def assert_close(one: Prediction, two: Prediction, within: float) -> None:
    np.testing.assert_allclose(one.score, two.score, rtol=within, atol=within)
    assert (one.probability is None) == (two.probability is None)
    if one.probability is not None and two.probability is not None:
        np.testing.assert_allclose(one.probability, two.probability, atol=within)


@pytest.fixture(scope="module", params=PATHS, ids=lambda path: path.stem)
def path(request: pytest.FixtureRequest) -> Path:
    chosen: Path = request.param
    return chosen


@pytest.fixture(scope="module")
def fitted(path: Path, data: VerificationSet) -> Fitted:
    return run(path, data)


# -- configuration -----------------------------------------------------------------------------------------------------


def test_the_yaml_makes_a_method(path: Path) -> None:
    method = make(path)
    assert isinstance(method, Calibrator)
    assert method.needs <= {"embeddings", "groups", "identities"}
    assert isinstance(method.native_probability, bool)


def test_the_id_is_the_name_of_the_file(path: Path) -> None:
    settings = settings_of(path)
    assert settings.id == path.stem
    assert settings.label


def test_fields_are_stored_as_given_and_kept_by_fit(path: Path, fitted: Fitted) -> None:
    fields = dataclasses.asdict(make(path))  # type: ignore[call-overload]
    given = {key: value for key, value in settings_of(path).estimator.items() if key != "_target_"}
    stored = {key: list(value) if isinstance(value, tuple) else value for key, value in fields.items()}
    assert given.items() <= stored.items()
    assert dataclasses.asdict(fitted.method) == fields  # type: ignore[call-overload]


def test_an_unknown_key_is_a_config_error(path: Path) -> None:
    make(path)
    with pytest.raises(ConfigError, match=r"unknown key 'method\.estimator\.no_such_key'"):
        instantiate({**settings_of(path).estimator, "no_such_key": 1}, "method.estimator")


def test_a_value_of_the_wrong_type_is_a_config_error(path: Path) -> None:
    estimator = settings_of(path).estimator
    wrong: Any = object()
    for field in dataclasses.fields(make(path)):  # type: ignore[arg-type]
        with pytest.raises(ConfigError, match=rf"method\.estimator\.{field.name}"):
            instantiate({**estimator, field.name: wrong}, "method.estimator")


# -- prediction --------------------------------------------------------------------------------------------------------


def test_fits_in_two_threads_are_as_alone(path: Path, data: VerificationSet, fitted: Fitted) -> None:
    """The same bytes, whatever another thread fits meanwhile, as a server of the library may."""
    with ThreadPoolExecutor(2) as pool:
        first, _, third = pool.map(lambda seed: run(path, data, seed), (0, 1, 0))
    for beside in (first, third):
        assert as_bytes(beside.prediction) == as_bytes(fitted.prediction)


def test_a_fit_imports_nothing_that_the_runner_has_not_imported(
    path: Path, data: VerificationSet, fitted: Fitted, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: set[str] = set()
    plain_import = builtins.__import__

    def note(name: str, globals: Any = None, *rest: Any) -> Any:
        if (globals or {}).get("__name__", "").startswith("fairfr."):
            asked.add(name)
        return plain_import(name, globals, *rest)

    monkeypatch.setattr(builtins, "__import__", note)
    run(path, data)
    monkeypatch.undo()
    imported = {*SHARED_IMPORTS, *getattr(fitted.method, "imports", ())}
    imported |= {"numpy", "scipy", "threadpoolctl"}  # every cell has them
    known = {*sys.stdlib_module_names, "fairfr"}
    assert {name for name in asked if name.partition(".")[0] not in known} <= imported


def test_prediction_is_finite_and_complete(fitted: Fitted) -> None:
    score, probability = fitted.prediction
    assert score.shape == (fitted.test.n_pairs,)
    assert score.dtype == np.float64
    assert np.isfinite(score).all()
    if probability is not None:
        assert probability.shape == score.shape
        assert probability.dtype == np.float64
        assert np.isfinite(probability).all()
        assert 0 <= probability.min() <= probability.max() <= 1


def test_a_native_probability_is_there(fitted: Fitted) -> None:
    """The converse does not hold: a method ranked by its score may bring an overlay of its own."""
    assert fitted.prediction.probability is not None or not fitted.method.native_probability


def test_prediction_tells_same_from_different(path: Path, fitted: Fitted) -> None:
    if path.stem in BLIND_TO_THE_COSINE:
        pytest.skip("an ablation that shows how little the place alone tells")
    same = fitted.table.data.same[fitted.table.data.fold == FOLD]
    score = fitted.prediction.score
    assert (score[same][:, None] > score[~same][None, :]).mean() > 0.7


def test_same_seed_same_bytes(path: Path, fitted: Fitted, data: VerificationSet) -> None:
    assert as_bytes(run(path, data).prediction) == as_bytes(fitted.prediction)


def test_predicting_again_gives_the_same_bytes(fitted: Fitted) -> None:
    assert as_bytes(fitted.method.predict(fitted.test)) == as_bytes(fitted.prediction)


@pytest.mark.parametrize("share", [0.5, 0.01])
def test_prediction_ignores_other_pairs(fitted: Fitted, share: float) -> None:
    n = fitted.test.n_pairs
    index = np.sort(np.random.default_rng(1).choice(n, max(1, int(share * n)), replace=False))
    score, probability = fitted.prediction
    whole = Prediction(score[index], None if probability is None else probability[index])
    assert_close(fitted.method.predict(fitted.test.subset(index)), whole, tolerance(fitted.method))


def test_swapping_left_and_right_changes_nothing(path: Path, fitted: Fitted, data: VerificationSet) -> None:
    if not getattr(fitted.method, "symmetric", True):
        pytest.skip("the method declares symmetric = False")
    swap = np.random.default_rng(2).random(data.n_pairs) < 0.5
    left, right = data.pairs.left, data.pairs.right
    pairs = Pairs(np.where(swap, right, left), np.where(swap, left, right))
    swapped = run(path, replace(data, pairs=pairs)).prediction
    # the fit too met swapped pairs: sums in another order, carried through a solver
    assert_close(swapped, fitted.prediction, max(1e-7, tolerance(fitted.method)))


def shuffled(data: VerificationSet, seed: int) -> tuple[VerificationSet, np.ndarray]:
    """The same images and pairs in another order, people numbered anew; and the old row of each pair."""
    assert data.embeddings is not None
    rng = np.random.default_rng(seed)
    images, rows = rng.permutation(len(data.images)), rng.permutation(data.n_pairs)
    row_of, code = np.argsort(images).astype(np.int32), rng.permutation(data.identity.max() + 1).astype(np.int32)
    set_ = replace(
        data,
        images=data.images[images],
        identity=code[data.identity[images]],
        pairs=Pairs(row_of[data.pairs.left[rows]], row_of[data.pairs.right[rows]]),
        same=data.same[rows],
        fold=data.fold[rows],
        groupings={id: replace(g, codes=g.codes[images]) for id, g in data.groupings.items()},
        embeddings=EmbeddingSet("cut", "0", data.images[images], data.embeddings.vectors[images]),
    )
    return set_, rows


def test_the_order_of_images_and_pairs_means_nothing(path: Path, data: VerificationSet) -> None:
    data = replace(data, grouping="gender")  # groups with more people than a low limit draws
    other, rows = shuffled(data, 4)
    one, two = run(path, data, drawing=True), run(path, other, drawing=True)
    place = np.argsort(rows[other.fold == FOLD])
    score, probability = two.prediction
    in_order = Prediction(score[place], None if probability is None else probability[place])
    # sums in another order, carried through a solver; FRAPPÉ carries them through thousands of steps in float32
    assert_close(in_order, one.prediction, 1e-4 if path.stem == "frappe" else 1e-6)


def test_what_is_not_needed_is_not_used(path: Path, fitted: Fitted, data: VerificationSet) -> None:
    """Label-free methods ignore shuffled groups; those without identities ignore shuffled identities."""
    rng = np.random.default_rng(3)
    shuffled = data
    if "groups" not in fitted.method.needs:
        groupings = {id: replace(g, codes=rng.permutation(g.codes)) for id, g in data.groupings.items()}
        shuffled = replace(shuffled, groupings=groupings)
    if "identities" not in fitted.method.needs:
        shuffled = replace(shuffled, identity=rng.permutation(data.identity))
    if "embeddings" not in fitted.method.needs:
        shuffled = replace(shuffled, embeddings=None, cosine=fitted.table.cosine)
    assert as_bytes(run(path, shuffled).prediction) == as_bytes(fitted.prediction)


def test_inputs_are_not_modified(path: Path, data: VerificationSet) -> None:
    assert data.embeddings is not None
    vectors, images = data.embeddings.vectors.copy(), data.images
    groupings = {id: replace(g, codes=g.codes.copy()) for id, g in data.groupings.items()}
    ours = replace(
        data,
        identity=data.identity.copy(),
        pairs=Pairs(data.pairs.left.copy(), data.pairs.right.copy()),
        same=data.same.copy(),
        groupings=groupings,
        embeddings=EmbeddingSet("cut", "0", images, vectors),
    )
    after = run(path, ours)
    assert np.array_equal(vectors, data.embeddings.vectors)
    assert np.array_equal(after.table.cosine, PairTable(data).cosine)
    for one, two in ((ours.identity, data.identity), (ours.same, data.same)):
        assert np.array_equal(one, two)
    for one, two in ((ours.pairs.left, data.pairs.left), (ours.pairs.right, data.pairs.right)):
        assert np.array_equal(one, two)
    for id, grouping in groupings.items():
        assert np.array_equal(grouping.codes, data.groupings[id].codes)
