"""Every product of the factored pair matrix equals the product of the matrix itself."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fairfr.core.types import Pairs, VerificationSet
from fairfr.pairs.design import DenseDesign, PairDesign
from fairfr.pairs.table import PairTable

MakeSet = Callable[..., VerificationSet]


@dataclass
class Case:
    """A design in one of its forms, beside the matrix it stands for."""

    design: PairDesign
    matrix: np.ndarray
    rng: np.random.Generator


def dense_midpoints(vectors: np.ndarray, pairs: Pairs) -> np.ndarray:
    return (vectors[pairs.left].astype(np.float64) + vectors[pairs.right].astype(np.float64)) / 2


@st.composite
def random_pairs(draw: st.DrawFn, max_pairs: int = 40) -> tuple[np.ndarray, Pairs, np.random.Generator]:
    """Vectors (n, d) and pairs over them: few images and many pairs, or the reverse; images repeat or stay unused."""
    n, d, p = draw(st.integers(1, 25)), draw(st.integers(1, 6)), draw(st.integers(1, max_pairs))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    vectors = rng.standard_normal((n, d)).astype(np.float32)
    ends = rng.integers(n, size=(2, p)).astype(np.int32)
    return vectors, Pairs(ends[0], ends[1]), rng


@st.composite
def cases(draw: st.DrawFn) -> Case:
    vectors, pairs, rng = draw(random_pairs())
    design = PairDesign(vectors, pairs, dense=draw(st.sampled_from([True, False, None])))
    matrix = dense_midpoints(vectors, pairs)
    for _ in range(draw(st.integers(0, 2))):
        columns = rng.standard_normal((draw(st.integers(1, 2)), len(pairs)))
        design = design.append(*columns)
        matrix = np.column_stack([matrix, *columns])
    return Case(design, matrix, rng)


@given(case=cases())
def test_matvec_equals_dense_product(case: Case) -> None:
    weights = case.rng.standard_normal(case.matrix.shape[1])
    np.testing.assert_allclose(case.design.matvec(weights), case.matrix @ weights, atol=1e-12)


@given(case=cases())
def test_rmatvec_equals_dense_product(case: Case) -> None:
    values = case.rng.standard_normal(len(case.matrix))
    np.testing.assert_allclose(case.design.rmatvec(values), case.matrix.T @ values, atol=1e-12)


@given(case=cases(), weighted=st.booleans())
def test_gram_equals_dense_gram(case: Case, weighted: bool) -> None:
    # signed weights: nothing in the algebra may take a root of them
    weights = case.rng.standard_normal(len(case.matrix)) if weighted else None
    expected = case.matrix.T @ case.matrix if weights is None else case.matrix.T @ np.diag(weights) @ case.matrix
    np.testing.assert_allclose(case.design.gram(weights), expected, atol=1e-11)


@given(case=cases(), data=st.data())
def test_rows_and_shape_equal_those_of_the_matrix(case: Case, data: st.DataObject) -> None:
    assert case.design.shape == case.matrix.shape
    index = data.draw(st.lists(st.integers(0, len(case.matrix) - 1), max_size=10))
    rows = case.design.rows(np.array(index, dtype=np.int64))
    np.testing.assert_allclose(rows, case.matrix[np.array(index, dtype=np.int64)], atol=1e-15)


@given(case=cases())
def test_append_leaves_the_original_alone(case: Case) -> None:
    case.design.append(np.ones(len(case.matrix)))
    assert case.design.shape == case.matrix.shape


@given(random_pairs(), st.integers(1, 4))
def test_columns_are_a_plain_matrix(drawn: tuple[np.ndarray, Pairs, np.random.Generator], width: int) -> None:
    rng = drawn[2]
    matrix = rng.standard_normal((len(drawn[1]), width))
    weights, values = rng.standard_normal(width), rng.standard_normal(len(matrix))
    design = DenseDesign(matrix)
    assert design.shape == matrix.shape
    np.testing.assert_allclose(design.matvec(weights), matrix @ weights, atol=1e-12)
    np.testing.assert_allclose(design.rmatvec(values), matrix.T @ values, atol=1e-12)
    np.testing.assert_allclose(design.gram(), matrix.T @ matrix, atol=1e-12)
    np.testing.assert_allclose(design.gram(values), matrix.T @ np.diag(values) @ matrix, atol=1e-12)


def test_one_column_may_be_given_flat() -> None:
    assert DenseDesign(np.arange(5.0)).shape == (5, 1)


@pytest.mark.parametrize(("n_pairs", "dense"), [(3, True), (20, False)])
def test_the_smaller_form_is_kept(n_pairs: int, dense: bool) -> None:
    left = np.arange(n_pairs, dtype=np.int32) % 3
    pairs = Pairs(left, left + 1)
    assert PairDesign(np.eye(6, dtype=np.float32), pairs).dense is dense


def test_moments_are_float64_of_the_float32_vectors() -> None:
    vectors = np.full((2, 1), np.float32(0.1))
    design = PairDesign(vectors, Pairs(np.zeros(3, np.int32), np.ones(3, np.int32)))
    assert design.gram()[0, 0] == pytest.approx(3 * float(np.float32(0.1)) ** 2, rel=1e-15)


# -- grams of folds ----------------------------------------------------------------------------------------------------


@given(drawn=random_pairs(), n_folds=st.integers(2, 4))
def test_training_grams_are_sums_of_fold_grams(
    make_set: MakeSet, drawn: tuple[np.ndarray, Pairs, np.random.Generator], n_folds: int
) -> None:
    vectors, pairs, rng = drawn
    fold = rng.integers(n_folds, size=len(pairs))
    table = PairTable(make_set(vectors, pairs.left, pairs.right, fold=fold))
    matrix = dense_midpoints(vectors, pairs)
    for held_out in range(n_folds):
        train = np.flatnonzero(fold != held_out)
        gram = table.midpoints(train).gram()
        np.testing.assert_allclose(gram, matrix[train].T @ matrix[train], atol=1e-11)


@given(drawn=random_pairs(), data=st.data())
def test_grams_of_parts_of_folds_are_direct(
    make_set: MakeSet, drawn: tuple[np.ndarray, Pairs, np.random.Generator], data: st.DataObject
) -> None:
    vectors, pairs, rng = drawn
    table = PairTable(make_set(vectors, pairs.left, pairs.right, fold=rng.integers(3, size=len(pairs))))
    chosen = data.draw(st.sets(st.integers(0, len(pairs) - 1), min_size=1))
    rows = np.array(sorted(chosen), dtype=np.int64)
    matrix = dense_midpoints(vectors, pairs)[rows]
    column = rng.standard_normal(len(rows))
    beside = np.column_stack([matrix, column])
    np.testing.assert_allclose(table.midpoints(rows).gram(), matrix.T @ matrix, atol=1e-11)
    np.testing.assert_allclose(table.midpoints(rows).append(column).gram(), beside.T @ beside, atol=1e-11)


def test_a_weighted_gram_never_comes_from_the_shared_one(make_set: MakeSet) -> None:
    rng = np.random.default_rng(0)
    vectors, left, right = rng.standard_normal((6, 3)), np.arange(5), np.arange(1, 6)
    table = PairTable(make_set(vectors, left, right))
    matrix, weights = dense_midpoints(vectors.astype(np.float32), table.data.pairs), rng.random(5)
    design = table.midpoints(np.arange(5))
    design.gram()
    np.testing.assert_allclose(design.gram(weights), matrix.T @ np.diag(weights) @ matrix, atol=1e-12)


def test_a_training_gram_does_not_depend_on_held_out_pairs(make_set: MakeSet) -> None:
    rng = np.random.default_rng(1)
    vectors = rng.standard_normal((40, 8)).astype(np.float32)
    left, right, fold = rng.integers(20, size=60), rng.integers(20, size=60), np.arange(60) % 3
    other_left = np.where(fold == 2, left + 20, left)  # the held-out pairs get other images
    train = np.flatnonzero(fold != 2)
    grams = [
        PairTable(make_set(vectors, ends, right, fold=fold)).midpoints(train).gram() for ends in (left, other_left)
    ]
    assert grams[0].tobytes() == grams[1].tobytes()


@pytest.mark.parametrize("dense", [False, True])
def test_batches_of_scaled_midpoints_equal_those_of_the_matrix_bit_for_bit(dense: bool) -> None:
    rng = np.random.default_rng(2)
    vectors = rng.standard_normal((30, 7)).astype(np.float32)
    pairs = Pairs(*rng.integers(30, size=(2, 50)).astype(np.int32))
    design, index = PairDesign(vectors, pairs, dense=dense), rng.integers(50, size=20)
    mean, scale, length = rng.normal(size=7), rng.uniform(1, 2, 7), rng.uniform(1, 2, 20)
    rows, room = design.rows(index), np.full((20, 9), 5, dtype=np.float32)
    design.standardised(index, mean, scale, room)
    assert np.array_equal(room[:, :7], ((rows - mean) / scale).astype(np.float32))
    design.directions(index, length, room)
    assert np.array_equal(room[:, :7], (rows / length[:, None]).astype(np.float32))
    assert np.all(room[:, 7:] == 5)
