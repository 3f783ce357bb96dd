"""Nearest images of a whole table, and what a fold may take of them."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from fairfr.core.types import VerificationSet
from fairfr.pairs import table as tables
from fairfr.pairs.near_images import near_images
from fairfr.pairs.table import PairTable
from fairfr.pairs.view import PairView

NEEDS = frozenset({"embeddings"})


def unit(n: int, d: int = 12) -> np.ndarray:
    rows = np.random.default_rng(0).standard_normal((n, d)) + 0.3
    return (rows / np.linalg.norm(rows, axis=1, keepdims=True)).astype(np.float32)


@pytest.mark.parametrize(("width", "threads"), [(1, 1), (7, 2), (90, 1), (200, 1)])
def test_they_are_those_of_all_cosines_sorted(width: int, threads: int) -> None:
    vectors = unit(90)
    found = near_images(vectors, width, threads)
    every = vectors.astype(np.float64) @ vectors.T.astype(np.float64)
    expected = -np.sort(-every, axis=1)[:, :width]
    np.testing.assert_allclose(found.cosine, expected, rtol=0, atol=1e-14)
    np.testing.assert_allclose(np.take_along_axis(every, found.row, axis=1), found.cosine, rtol=0, atol=1e-14)
    others = every.copy()
    np.put_along_axis(others, found.row, -np.inf, axis=1)
    assert np.all(others.max(axis=1) <= found.limit), "nobody who is not listed is nearer"


@pytest.fixture
def view(make_set: Callable[..., VerificationSet], monkeypatch: pytest.MonkeyPatch) -> PairView:
    monkeypatch.setattr(tables, "NEAR_IMAGES_FROM", 0)
    monkeypatch.setattr(tables, "NEAR_IMAGES_STEP", 4)
    left, right = np.random.default_rng(1).integers(0, 40, (2, 120))
    left, right = (np.append(ends, np.arange(40)) for ends in (left, right))
    inner = (left < 28) & (right < 28)  # the other images belong to held-out pairs alone
    data = make_set(unit(40), left, right, fold=np.where(inner, np.arange(160) % 3, 3))
    return PairView(PairTable(data), np.flatnonzero(inner), NEEDS)


def test_a_view_counts_its_own_images_only(view: PairView) -> None:
    rows, vectors = view.images()
    every = vectors.astype(np.float64) @ vectors.T.astype(np.float64)
    asked = np.arange(0, len(rows), 2)
    near = view.near_images(asked, 5)
    assert near is not None and len(rows) == 28 and (near.row < 0).any(), "some of the nearest are held out"
    for image, row, cosine in zip(asked, near.row, near.cosine, strict=True):
        counts = row >= 0
        assert counts.sum() >= 5 and np.all(np.isnan(cosine[~counts]))
        expected = np.argsort(-every[image])[: counts.sum()]
        np.testing.assert_array_equal(row[counts], expected)
        np.testing.assert_allclose(cosine[counts], every[image, expected], rtol=0, atol=1e-14)


def test_a_search_serves_others_until_the_table_is_used_by_another_cell(
    view: PairView, monkeypatch: pytest.MonkeyPatch
) -> None:
    searches: list[int] = []

    def counted(vectors: np.ndarray, width: int, threads: int) -> object:
        searches.append(width)
        return near_images(vectors, width, threads)

    monkeypatch.setattr(tables, "near_images", counted)
    asked = np.arange(12)
    for depth in (6, 5, 3):
        assert view.near_images(asked, depth) is not None
    assert len(searches) == 1, "a little more or less is the same search"
    view._table.forget_neighbours()
    view.near_images(asked, 5)
    assert len(searches) == 2


def test_where_folds_ask_for_few_images_each_looks_for_itself(view: PairView) -> None:
    assert view.near_images(np.arange(9), 5) is None, "in four folds: fewer than all 40"
    assert view.subset(np.arange(3)).near_images(np.arange(2), 5) is None
