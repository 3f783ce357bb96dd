"""AC-Density end to end against a plain form built from scikit-learn."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.neighbors import NearestNeighbors
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from fairfr.core.calibrator import FitContext
from fairfr.core.errors import ConfigError, DataError
from fairfr.core.types import EmbeddingSet, Pairs, Prediction, VerificationSet
from fairfr.methods._density import fit_density
from fairfr.methods.ac_density import ACDensity
from fairfr.pairs.table import PairTable
from fairfr.pairs.view import PairView

NEEDS = ACDensity.needs
FOLD = 2


@pytest.fixture(scope="module", params=["rfw", "bfw"])
def data(request: pytest.FixtureRequest, synthetic_set: Callable[..., VerificationSet]) -> VerificationSet:
    """Images that barely repeat, and images that repeat often; 32 dimensions of the stand-in, to be quick."""
    whole = synthetic_set(request.param, scale=0.04 if request.param == "rfw" else 0.02)
    assert whole.embeddings is not None
    vectors = whole.embeddings.vectors[:, :32]
    vectors = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    rows = np.sort(np.random.default_rng(0).choice(whole.n_pairs, 900, replace=False))
    return replace(
        whole,
        pairs=whole.pairs.take(rows),
        same=whole.same[rows],
        fold=whole.fold[rows],
        embeddings=EmbeddingSet("cut", "0", whole.images, vectors),
    )


def context(fold: str = "2", **changes: int) -> FitContext:
    return FitContext(seed=changes.pop("seed", 0), dataset="d", backbone="b", fold=fold, **changes)  # type: ignore[arg-type]


def split(data: VerificationSet) -> tuple[np.ndarray, np.ndarray]:
    return np.flatnonzero(data.fold != FOLD), np.flatnonzero(data.fold == FOLD)


def fitted(data: VerificationSet, ctx: FitContext, **options: object) -> tuple[ACDensity, Prediction]:
    table = PairTable(data)
    train, test = split(data)
    method = ACDensity(**options)  # type: ignore[arg-type]
    method.fit(PairView(table, train, NEEDS, "ACDensity"), data.same[train], ctx)
    return method, method.predict(PairView(table, test, NEEDS, "ACDensity"))


def plain_density(midpoints: np.ndarray, queries: np.ndarray, references: np.ndarray, k: int, loo: bool) -> np.ndarray:
    """Mean distance to the k nearest references; with ``loo``, a query is not its own neighbour."""
    k = min(k, len(references))
    search = NearestNeighbors(n_neighbors=min(k + loo, len(references)), algorithm="brute").fit(midpoints[references])
    distance, position = search.kneighbors(midpoints[queries])
    itself = references[position] == queries[:, None]
    distance[itself] = np.inf if loo else 0.0
    distance = np.sort(distance, axis=1)[:, :k]
    return np.where(np.isinf(distance), np.nan, distance).mean(axis=1)


def plain_ac_density(data: VerificationSet, references: np.ndarray, k: int, loo: bool) -> np.ndarray:
    assert data.embeddings is not None
    wide = data.embeddings.vectors.astype(np.float64)
    left, right = wide[data.pairs.left], wide[data.pairs.right]
    midpoints, cosine = (left + right) / 2, (left * right).sum(axis=1)
    train, test = split(data)
    base = LogisticRegression().fit(cosine[train, None], data.same[train])
    residual = data.same[train] - base.predict_proba(cosine[train, None])[:, 1]

    def features(rows: np.ndarray) -> np.ndarray:
        density = plain_density(midpoints, rows, references, k, loo)
        return np.column_stack([midpoints[rows], density, cosine[rows]])

    ridge = make_pipeline(StandardScaler(), Ridge(alpha=1.0)).fit(features(train), residual)
    out: np.ndarray = base.predict_proba(cosine[test, None])[:, 1] + ridge.predict(features(test))
    return out


@pytest.mark.parametrize("engine", ["auto", "scan", "faiss"])
@pytest.mark.parametrize("self_neighbour", [True, False])
def test_equals_the_plain_form(data: VerificationSet, self_neighbour: bool, engine: str) -> None:
    _, prediction = fitted(data, context(), self_neighbour=self_neighbour, engine=engine)
    expected = plain_ac_density(data, split(data)[0], 20, not self_neighbour)
    np.testing.assert_allclose(prediction.score, expected, atol=1e-5)
    np.testing.assert_allclose(prediction.probability, np.clip(expected, 0, 1), atol=1e-5)


def reference_rows(data: VerificationSet, method: ACDensity) -> np.ndarray:
    """The pairs of the set that the method took as references, found by the vectors of both images."""
    assert data.embeddings is not None
    references = method.density_.references

    def ends(vectors: np.ndarray, pairs: Pairs) -> list[bytes]:
        sides = zip(vectors[pairs.left], vectors[pairs.right], strict=True)
        return [left.tobytes() + right.tobytes() for left, right in sides]

    row_of = {key: row for row, key in enumerate(ends(data.embeddings.vectors, data.pairs))}
    assert len(row_of) == data.n_pairs
    return np.array([row_of[key] for key in ends(references.vectors, references.pairs)])


@pytest.mark.parametrize("self_neighbour", [True, False])
def test_a_subsample_of_references_equals_the_plain_form(data: VerificationSet, self_neighbour: bool) -> None:
    ctx = context()
    method, prediction = fitted(data, ctx, self_neighbour=self_neighbour, max_references=120)
    references = reference_rows(data, method)
    assert len(references) == ctx.report["references"] == 120
    assert set(references) <= set(split(data)[0])
    expected = plain_ac_density(data, references, 20, not self_neighbour)
    np.testing.assert_allclose(prediction.score, expected, atol=1e-5)


@pytest.mark.parametrize("max_references", [None, 120])
def test_a_pair_alone_is_predicted_as_among_others(data: VerificationSet, max_references: int | None) -> None:
    method, prediction = fitted(data, context(), max_references=max_references)
    view = PairView(PairTable(data), split(data)[1], NEEDS)
    for position in (0, 7, 31):
        alone = method.predict(view.subset(np.array([position])))
        assert alone.score[0] == pytest.approx(prediction.score[position], abs=1e-5)


def test_the_subsample_is_seeded(data: VerificationSet) -> None:
    def rows(**changes: object) -> list[int]:
        chosen: list[int] = reference_rows(data, fitted(data, context(**changes), max_references=50)[0]).tolist()  # type: ignore[arg-type]
        return chosen

    assert rows() == rows()
    assert rows() != rows(seed=1)
    assert rows() != rows(fold="3")


def test_all_training_pairs_are_references_where_the_limit_allows(data: VerificationSet) -> None:
    train = split(data)[0]
    for limit in (len(train), len(train) + 1):
        method, _ = fitted(data, context(), max_references=limit)
        assert reference_rows(data, method).tolist() == train.tolist()


@pytest.mark.parametrize("self_neighbour", [True, False])
def test_fewer_references_than_k_are_all_used(data: VerificationSet, self_neighbour: bool) -> None:
    method, prediction = fitted(data, context(), self_neighbour=self_neighbour, max_references=7)
    # with the query left out, some training means are over six
    assert np.isfinite(prediction.score).all()
    if self_neighbour:
        expected = plain_ac_density(data, reference_rows(data, method), 20, False)
        np.testing.assert_allclose(prediction.score, expected, atol=1e-5)


def test_the_self_neighbour_makes_training_density_smaller(data: VerificationSet) -> None:
    published, left_out = context(), context()
    fitted(data, published)
    fitted(data, left_out, self_neighbour=False)
    assert published.report["mean_distance_train"] < 0.97 * left_out.report["mean_distance_train"]


def test_the_score_is_not_clipped(data: VerificationSet) -> None:
    _, prediction = fitted(data, context())
    assert prediction.probability is not None
    outside = (prediction.score < 0) | (prediction.score > 1)
    assert outside.any()
    assert np.array_equal(prediction.probability[~outside], prediction.score[~outside])
    assert set(prediction.probability[outside]) <= {0.0, 1.0}


@pytest.mark.parametrize(("self_neighbour", "n_pairs"), [(True, 0), (False, 1)])
def test_no_other_pair_to_measure_distances_to_is_an_error(
    data: VerificationSet, self_neighbour: bool, n_pairs: int
) -> None:
    view = PairView(PairTable(data), np.arange(n_pairs), NEEDS)
    with pytest.raises(DataError, match=f"local density found {n_pairs} training pairs"):
        fit_density(ACDensity(self_neighbour=self_neighbour), view, context())


@pytest.mark.parametrize("options", [{"k": 0}, {"alpha": -1.0}, {"C": 0.0}])
def test_impossible_options_are_refused(options: dict[str, float]) -> None:
    with pytest.raises(ConfigError, match=f"method.estimator.{next(iter(options))} must be"):
        ACDensity(**options)  # type: ignore[arg-type]
