"""What a method may see of pairs, and what it may not."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest

from fairfr.core.calibrator import FitContext
from fairfr.core.errors import MethodError, UndeclaredInputError
from fairfr.core.types import Need, VerificationSet
from fairfr.pairs.table import PairTable
from fairfr.pairs.view import PairView

ROWS = np.array([0, 2, 3, 7])


@pytest.fixture(scope="module")
def data(make_set: Callable[..., VerificationSet]) -> VerificationSet:
    rng = np.random.default_rng(0)
    vectors = rng.standard_normal((12, 5))
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    return make_set(vectors, np.arange(8), np.arange(8) + 3, fold=np.arange(8) // 4)


def view_of(data: VerificationSet, *needs: Need) -> PairView:
    return PairView(PairTable(data), ROWS, frozenset(needs), "Nosy")


FORBIDDEN: dict[str, tuple[Need, Callable[[PairView], object]]] = {
    "midpoints()": ("embeddings", lambda view: view.midpoints()),
    "images()": ("embeddings", lambda view: view.images()),
    "references()": ("embeddings", lambda view: view.references()),
    "groups('half')": ("groups", lambda view: view.groups("half")),
    "group_levels('half')": ("groups", lambda view: view.group_levels("half")),
    "identities()": ("identities", lambda view: view.identities()),
    "identity_names()": ("identities", lambda view: view.identity_names()),
}


@pytest.mark.parametrize("call", FORBIDDEN)
def test_undeclared_input_names_the_method_the_call_and_the_needs(data: VerificationSet, call: str) -> None:
    need, ask = FORBIDDEN[call]
    others: list[Need] = [n for n in ("embeddings", "groups", "identities") if n != need]
    with pytest.raises(UndeclaredInputError) as caught:
        ask(view_of(data, *others))
    message = str(caught.value)
    assert "Nosy" in message
    assert call in message
    assert f"needs={{'{others[0]}', '{others[1]}'}}" in message
    ask(view_of(data, need))


def test_mean_distance_is_an_input_from_embeddings(data: VerificationSet) -> None:
    table = PairTable(data)
    references = PairView(table, ROWS, frozenset({"embeddings"})).references()
    with pytest.raises(UndeclaredInputError, match=r"mean_knn_distance\(\) but declares needs=\{\}"):
        PairView(table, ROWS, frozenset()).mean_knn_distance(references, 2)


def test_a_subset_declares_no_more_than_the_whole(data: VerificationSet) -> None:
    with pytest.raises(UndeclaredInputError, match="Nosy"):
        view_of(data, "groups").subset(np.array([1])).midpoints()


def test_a_view_offers_no_labels(data: VerificationSet) -> None:
    view = view_of(data, "embeddings", "groups", "identities")
    offered = {name for name in dir(view) if not name.startswith("_")}
    assert offered == {
        "order_by_id", "cosine", "ends", "folds", "group_levels", "groups", "identities", "identity_names", "images",
        "mean_knn_distance", "mean_knn_distance_to_others", "midpoints", "n_pairs", "references", "subset",
    }  # fmt: skip
    assert not hasattr(view, "same")
    assert not hasattr(view, "fold")


def test_everything_is_about_the_rows_of_the_view(data: VerificationSet) -> None:
    assert data.embeddings is not None
    vectors = data.embeddings.vectors.astype(np.float64)
    left, right = data.pairs.left[ROWS], data.pairs.right[ROWS]
    view = view_of(data, "embeddings", "groups", "identities")
    assert view.n_pairs == 4
    np.testing.assert_allclose(view.cosine, (vectors[left] * vectors[right]).sum(axis=1), atol=1e-12)
    np.testing.assert_allclose(view.midpoints().rows(np.arange(4)), (vectors[left] + vectors[right]) / 2, atol=1e-12)
    used, of_used = view.images()
    assert used.tolist() == sorted({*left.tolist(), *right.tolist()}, key=lambda row: data.images[row])
    assert np.array_equal(of_used, data.embeddings.vectors[used])
    codes = view.groups("half")
    assert [ends.tolist() for ends in view.ends(codes)] == [codes[left].tolist(), codes[right].tolist()]
    assert view.group_levels("half") == ("lower", "upper")
    assert np.array_equal(view.identities(), data.identity)


def test_identities_have_names_that_hold_in_other_tables(data: VerificationSet) -> None:
    codes = np.array([1, -1, 0, *range(9)], dtype=np.int32)
    unnamed = replace(data, identity=codes)
    assert view_of(unnamed, "identities").identity_names().tolist()[:4] == ["1", "", "0", "0"]
    named = replace(unnamed, people=tuple("ABCDEFGHI"))
    assert view_of(named, "identities").identity_names().tolist()[:4] == ["B", "", "A", "A"]


def test_pairs_by_id_are_sorted_by_both_images_whichever_is_left(make_set: Callable[..., VerificationSet]) -> None:
    data = make_set(np.eye(12), [2, 11, 3, 10, 2], [10, 1, 2, 2, 1])  # as text, image-10 and image-11 precede image-2
    view = PairView(PairTable(data), np.arange(5), frozenset())
    assert view.order_by_id().tolist() == [1, 4, 0, 3, 2]
    assert view.subset(np.array([0, 2, 4])).order_by_id().tolist() == [2, 0, 1]


def test_a_subset_is_the_same_pairs(data: VerificationSet) -> None:
    view, index = view_of(data, "embeddings"), np.array([1, 3])
    subset = view.subset(index)
    assert subset.cosine.tolist() == view.cosine[index].tolist()
    np.testing.assert_array_equal(subset.midpoints().rows(np.arange(2)), view.midpoints().rows(index))


def test_references_may_be_some_of_the_pairs(data: VerificationSet) -> None:
    view = view_of(data, "embeddings")
    references = view.references(np.array([0, 2]))
    assert len(references) == 2
    np.testing.assert_array_equal(references.dense(0, 2), view.midpoints().rows(np.array([0, 2])).astype(np.float32))
    assert len(view.references()) == 4


def test_changing_what_a_view_returns_changes_nothing_behind_it(data: VerificationSet) -> None:
    view = view_of(data, "embeddings")
    before = view.cosine.copy()
    view.cosine[:] = 0
    assert view.cosine.tolist() == before.tolist()


def test_a_given_cosine_is_used_as_it_is(data: VerificationSet) -> None:
    given = np.linspace(-0.5, 0.5, 8)
    scores_only = replace(data, embeddings=None, cosine=given)
    assert PairView(PairTable(scores_only), ROWS, frozenset()).cosine.tolist() == given[ROWS].tolist()


@pytest.mark.parametrize("rows", [[2, 1], [1, 1]])
def test_rows_must_increase(data: VerificationSet, rows: list[int]) -> None:
    with pytest.raises(AssertionError, match="increasing"):
        PairView(PairTable(data), np.array(rows), frozenset())


def test_references_of_another_table_are_measured_as_ones_own(data: VerificationSet) -> None:
    view, other = view_of(data, "embeddings"), view_of(data, "embeddings")
    assert (
        view.mean_knn_distance(other.references(), 2).tolist() == view.mean_knn_distance(view.references(), 2).tolist()
    )
    with pytest.raises(AssertionError, match="same table"):
        view.mean_knn_distance_to_others(other.references(), 2)


NEAR_MISSES: dict[str, Callable[[PairView], object]] = {
    r"view\.groups is used as a value, .* Call it: view\.groups\('gender'\)": lambda view: view.groups == 1,
    r"Call it: view\.identities\(\)": lambda view: np.unique(view.identities),
    r"Call it: view\.folds\(\)": lambda view: list(view.folds),
    r"Call it: view\.midpoints\(\)": lambda view: view.midpoints.matvec(np.ones(3)),
    r"Call it: view\.images\(\)": lambda view: view.images[0],
    r"midpoints\(\) is an operator of shape \(\d+, \d+\), not an array": lambda view: np.asarray(view.midpoints()),
    r"view\.embeddings, which views do not have\. view\.images\(\) has the vectors": lambda view: view.embeddings,
    r"asked for view\.scores, .* is view\.cosine": lambda view: view.scores,
}


@pytest.mark.parametrize("said", NEAR_MISSES)
def test_a_near_miss_gets_a_sentence(data: VerificationSet, said: str) -> None:
    view = view_of(data, "embeddings", "groups", "identities")
    with pytest.raises((MethodError, UndeclaredInputError), match=said):
        NEAR_MISSES[said](view)


def test_random_numbers_without_a_purpose_get_a_sentence() -> None:
    ctx = FitContext(0, "set", "net", "1")
    with pytest.raises(MethodError, match=r"Call it: ctx\.rng\('purpose'\)"):
        ctx.rng.normal(size=3)  # type: ignore[attr-defined]
    assert ctx.rng("k").normal() == FitContext(0, "set", "net", "1").rng("k").normal()
