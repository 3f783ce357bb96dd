"""Both engines, and every path to a mean distance, against distances between built midpoints in float64."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fairfr.core.types import Pairs, VerificationSet
from fairfr.pairs import _scan, neighbours
from fairfr.pairs.neighbours import Engine, Midpoints, Neighbours
from fairfr.pairs.table import PairTable

MakeSet = Callable[..., VerificationSet]
ENGINES: tuple[Engine, ...] = ("scan", "faiss")
WAYS: tuple[Engine, ...] = (*ENGINES, "auto")  # few queries, unless images repeat, have a way of their own
NOISE = 2e-5  # float32 products of unit vectors


def unit(rows: np.ndarray) -> np.ndarray:
    return (rows / np.linalg.norm(rows, axis=1, keepdims=True)).astype(np.float32)


def nearest(vectors: np.ndarray, queries: Pairs, references: Pairs, *rest: object) -> Neighbours:
    """Both kinds of midpoints over the same vectors."""
    return neighbours.nearest_midpoints(Midpoints(vectors, queries), Midpoints(vectors, references), *rest)  # type: ignore[arg-type]


def distances(vectors: np.ndarray, queries: Pairs, references: Pairs) -> np.ndarray:
    """Distance of every query midpoint to every reference midpoint, (q, r), by building them."""
    wide = vectors.astype(np.float64)
    q = (wide[queries.left] + wide[queries.right]) / 2
    r = (wide[references.left] + wide[references.right]) / 2
    return np.sqrt(((q[:, None, :] - r[None, :, :]) ** 2).sum(axis=2))


def brute_mean(
    data: VerificationSet, queries: np.ndarray, references: np.ndarray, k: int, include_self: bool
) -> np.ndarray:
    assert data.embeddings is not None
    out = np.full(len(queries), np.nan)
    all_distances = distances(data.embeddings.vectors, data.pairs.take(queries), data.pairs.take(references))
    for i, query in enumerate(queries):
        kept = all_distances[i] if include_self else all_distances[i][references != query]
        if len(kept):
            out[i] = np.sort(kept)[:k].mean()
    return out


@dataclass
class Case:
    """A set whose images may repeat, with some of its pairs as queries and some as references."""

    vectors: np.ndarray
    left: np.ndarray
    right: np.ndarray
    queries: np.ndarray
    references: np.ndarray


@st.composite
def cases(draw: st.DrawFn) -> Case:
    n, d, p = draw(st.integers(2, 40)), draw(st.integers(2, 12)), draw(st.integers(2, 50))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    left, right = rng.integers(n, size=p), rng.integers(n, size=p)
    share = draw(st.sampled_from([0.2, 0.5, 0.8, 1.0]))
    references = np.sort(rng.choice(p, max(1, int(share * p)), replace=False))
    queries = np.sort(rng.choice(p, draw(st.integers(1, p)), replace=False))
    return Case(unit(rng.standard_normal((n, d))), left, right, queries, references)


def pairs_of(case: Case, rows: np.ndarray) -> Pairs:
    return Pairs(case.left[rows].astype(np.int32), case.right[rows].astype(np.int32))


# -- the engines -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("engine", WAYS)
@given(case=cases(), k=st.integers(1, 30))
def test_engines_find_the_nearest(engine: Engine, case: Case, k: int) -> None:
    queries, references = pairs_of(case, case.queries), pairs_of(case, case.references)
    found = nearest(case.vectors, queries, references, k, engine)
    k = min(k, len(references))
    expected = distances(case.vectors, queries, references)
    assert found.position.shape == found.distance.shape == (len(queries), k)
    assert all(len(set(row)) == k for row in found.position.tolist())
    np.testing.assert_allclose(found.distance, np.take_along_axis(expected, found.position, axis=1), atol=NOISE)
    # squares: at distance 0 the order of neighbours is only known to the root of the noise
    np.testing.assert_allclose(found.distance**2, np.sort(expected, axis=1)[:, :k] ** 2, atol=NOISE)


@given(case=cases(), k=st.integers(1, 30))
def test_engines_agree(case: Case, k: int) -> None:
    queries, references = pairs_of(case, case.queries), pairs_of(case, case.references)
    one, two = (nearest(case.vectors, queries, references, k, engine) for engine in ENGINES)
    np.testing.assert_allclose(one.distance**2, two.distance**2, atol=NOISE)


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("threads", [1, 3])
def test_blocks_and_threads_change_nothing(monkeypatch: pytest.MonkeyPatch, engine: Engine, threads: int) -> None:
    rng = np.random.default_rng(3)
    vectors = unit(rng.standard_normal((60, 16)))
    ends = rng.integers(60, size=(2, 400)).astype(np.int32)
    queries, references = Pairs(*ends[:, :150]), Pairs(*ends[:, 150:])
    whole = nearest(vectors, queries, references, 12, engine)
    monkeypatch.setattr(_scan, "BLOCK", 41)
    monkeypatch.setattr(neighbours, "FAISS_BLOCK", 23)
    parts = nearest(vectors, queries, references, 12, engine, threads)
    np.testing.assert_allclose(parts.distance, whole.distance, atol=NOISE)
    expected = np.sort(distances(vectors, queries, references), axis=1)[:, :12]
    np.testing.assert_allclose(parts.distance, expected, atol=NOISE)


@pytest.mark.parametrize("engine", WAYS)
def test_very_near_neighbours_keep_their_digits(engine: Engine) -> None:
    rng = np.random.default_rng(4)
    centre = rng.standard_normal(64)
    vectors = unit(centre + 1e-3 * rng.standard_normal((30, 64)))
    queries = Pairs(np.arange(10, dtype=np.int32), np.arange(10, 20, dtype=np.int32))
    references = Pairs(np.arange(20, 25, dtype=np.int32), np.arange(25, 30, dtype=np.int32))
    found = nearest(vectors, queries, references, 5, engine)
    expected = distances(vectors, queries, references)
    assert expected.max() < 5e-3
    np.testing.assert_allclose(found.distance, np.take_along_axis(expected, found.position, axis=1), rtol=1e-9)


@pytest.mark.parametrize("engine", WAYS)
def test_a_midpoint_is_at_distance_zero_from_itself_and_from_its_mirror_image(engine: Engine) -> None:
    rng = np.random.default_rng(5)
    vectors = unit(rng.standard_normal((20, 32)))
    left, right = np.arange(10, dtype=np.int32), np.arange(10, 20, dtype=np.int32)
    for references in (Pairs(left, right), Pairs(right, left)):
        found = nearest(vectors, Pairs(left, right), references, 1, engine)
        assert found.position[:, 0].tolist() == list(range(10))
        assert (found.distance == 0).all()


@pytest.mark.parametrize(("n_images", "engine"), [(10, "scan"), (400, "faiss")])
def test_auto_takes_the_scan_where_images_repeat(
    monkeypatch: pytest.MonkeyPatch, n_images: int, engine: Engine
) -> None:
    rng = np.random.default_rng(6)
    vectors = unit(rng.standard_normal((n_images, 8)))
    pairs = Pairs(*rng.integers(n_images, size=(2, 200)).astype(np.int32))
    expected = nearest(vectors, pairs, pairs, 3, engine)
    other = "_search_faiss" if engine == "scan" else "_search_scan"
    monkeypatch.setattr(neighbours, other, lambda *_: pytest.fail("the slower engine was taken"))
    assert nearest(vectors, pairs, pairs, 3, "auto").distance.tobytes() == expected.distance.tobytes()


@pytest.mark.parametrize("block", [301, 4096])
@pytest.mark.parametrize("spread", [1.0, 1e-3])
def test_a_few_queries_are_searched_in_float64(monkeypatch: pytest.MonkeyPatch, spread: float, block: int) -> None:
    rng = np.random.default_rng(9)
    vectors = unit(rng.standard_normal(24) + spread * rng.standard_normal((700, 24)))
    ends = rng.permuted(np.tile(np.arange(700), (2, 3)), axis=1).astype(np.int32)
    queries, references = Pairs(*ends[:, :100]), Pairs(*ends[:, 100:])
    for name, size in (("MAX_PRODUCT_QUERIES", 100), ("REFERENCE_BLOCK", block)):
        monkeypatch.setattr(neighbours, name, size)
    expected = distances(vectors, queries, references)
    found = nearest(vectors, queries, references, 20, "auto")
    # also where float32 products of vectors that all point one way would leave the order open
    np.testing.assert_array_equal(found.position, np.argsort(expected, axis=1, kind="stable")[:, :20])
    np.testing.assert_allclose(found.distance, np.sort(expected, axis=1)[:, :20], rtol=1e-9)
    by_faiss = nearest(vectors, queries, references, 20, "faiss")
    same = (found.position == by_faiss.position).all(axis=1)
    assert same.any() and found.distance[same].tobytes() == by_faiss.distance[same].tobytes()
    monkeypatch.setattr(neighbours, "MAX_PRODUCT_QUERIES", 99)
    monkeypatch.setattr(neighbours, "_search_product", lambda *_: pytest.fail("too many for this way"))
    nearest(vectors, queries, references, 20, "auto")


@pytest.mark.parametrize("k", [1, 20, 70, 700])
@pytest.mark.parametrize("block", [500, 8192])
@pytest.mark.parametrize(
    "order",
    ["mixed", "near ones first", "near ones last", "all one way", "within a millionth", "in a plane", "all alike"],
)
def test_the_scan_leaves_no_neighbour_out(monkeypatch: pytest.MonkeyPatch, order: str, block: int, k: int) -> None:
    """Products are in float32: where references crowd, or all vectors point one way, rounding must not choose."""
    rng = np.random.default_rng(10)
    vectors = rng.standard_normal((300, 24))
    vectors[:60] += 3 * rng.standard_normal(24)
    if order == "all one way":
        vectors += 1e4
    if order == "within a millionth":
        vectors = 1e6 * rng.standard_normal(24) + vectors
    if order == "in a plane":
        vectors[:, 2:] = 0
    if order == "all alike":
        vectors[:] = vectors[0]
    vectors = unit(vectors)
    ends = rng.integers(300, size=(2, 3000)).astype(np.int32)
    near = (ends < 60).all(axis=0)
    if order != "mixed":
        ends = ends[:, np.argsort(near if order == "near ones last" else ~near, kind="stable")]
    queries, references = Pairs(*rng.integers(100, size=(2, 80)).astype(np.int32)), Pairs(*ends)
    monkeypatch.setattr(_scan, "BLOCK", block)
    found = nearest(vectors, queries, references, k, "scan", 2)
    assert all(len(set(row)) == k for row in found.position.tolist())
    expected = np.sort(distances(vectors, queries, references), axis=1)[:, :k]
    np.testing.assert_allclose(found.distance.mean(axis=1), expected.mean(axis=1), atol=1e-12)


def test_the_scan_knows_where_float32_decides_nothing() -> None:
    """20 references at one place: which of them are among the nearest cannot be told, so float64 is asked."""
    rng = np.random.default_rng(12)
    vectors = unit(rng.standard_normal((50, 32)))
    apart = rng.permutation(50)[:40].reshape(2, 20).astype(np.int32)
    copies = np.tile(apart[:, :1], 20)
    queries = Midpoints(vectors, Pairs(*apart))
    for ends, certain in ((apart, True), (copies, False)):
        assert (_scan.scan(queries, Midpoints(vectors, Pairs(*ends)), 3, 1)[2] == certain).all()


# -- mean distance -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("engine", ENGINES)
@given(case=cases(), k=st.integers(1, 25), include_self=st.booleans())
def test_mean_distance_equals_brute_force(
    make_set: MakeSet, engine: Engine, case: Case, k: int, include_self: bool
) -> None:
    data = make_set(case.vectors, case.left, case.right)
    found = PairTable(data).mean_knn_distance_within(case.queries, case.references, k, include_self, engine)
    expected = brute_mean(data, case.queries, case.references, k, include_self)
    np.testing.assert_allclose(found, expected, atol=1e-4)


@pytest.fixture(scope="module")
def faces(make_set: MakeSet) -> VerificationSet:
    """300 pairs over 120 images; fold 0 lies crowded in one place, far more pairs than any list of neighbours."""
    rng = np.random.default_rng(7)
    vectors = rng.standard_normal((120, 16))
    vectors[:40] = 2 * rng.standard_normal(16) + 0.3 * vectors[:40]
    fold = np.repeat([0, 1, 2], 100)
    low, high = np.where(fold == 0, 0, 40), np.where(fold == 0, 40, 120)
    left, right = rng.integers(low, high), rng.integers(low, high)
    return make_set(unit(vectors), left, right, fold=fold)


@dataclass
class Calls:
    """What a table was asked to do on the way to a mean."""

    graphs: int = 0
    searched: int = 0


def counted(table: PairTable, monkeypatch: pytest.MonkeyPatch) -> Calls:
    calls = Calls()
    search, graph = table._search, table._neighbour_graph

    def counted_search(queries: np.ndarray, *rest: object) -> np.ndarray:
        calls.searched += len(queries)
        return search(queries, *rest)  # type: ignore[arg-type]

    def counted_graph(*arguments: object) -> object:
        calls.graphs += 1
        return graph(*arguments)  # type: ignore[arg-type]

    monkeypatch.setattr(table, "_search", counted_search)
    monkeypatch.setattr(table, "_neighbour_graph", counted_graph)
    return calls


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("include_self", [True, False])
def test_queries_left_short_by_the_shared_graph_are_searched_anew(
    faces: VerificationSet, monkeypatch: pytest.MonkeyPatch, engine: Engine, include_self: bool
) -> None:
    table = PairTable(faces)
    calls = counted(table, monkeypatch)
    train, test = np.flatnonzero(faces.fold != 0), np.flatnonzero(faces.fold == 0)
    for queries in (train, test):
        found = table.mean_knn_distance_within(queries, train, 5, include_self, engine)
        np.testing.assert_allclose(found, brute_mean(faces, queries, train, 5, include_self), atol=NOISE)
    assert calls.graphs == 2
    assert calls.searched >= len(test)  # the held-out crowd sees only itself in the graph


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("include_self", [True, False])
def test_the_shared_graph_serves_every_fold(
    faces: VerificationSet, monkeypatch: pytest.MonkeyPatch, engine: Engine, include_self: bool
) -> None:
    table = PairTable(faces)
    calls = counted(table, monkeypatch)
    for held_out in (1, 2):
        train = np.flatnonzero(faces.fold != held_out)
        queries = np.flatnonzero(faces.fold == 0)
        found = table.mean_knn_distance_within(queries, train, 5, include_self, engine)
        np.testing.assert_allclose(found, brute_mean(faces, queries, train, 5, include_self), atol=NOISE)
    assert calls.searched == 0


@pytest.mark.parametrize("include_self", [True, False])
def test_few_references_are_searched_directly(
    faces: VerificationSet, monkeypatch: pytest.MonkeyPatch, include_self: bool
) -> None:
    table = PairTable(faces)
    calls = counted(table, monkeypatch)
    references, queries = np.arange(3, 300, 4), np.arange(300)
    found = table.mean_knn_distance_within(queries, references, 20, include_self)
    np.testing.assert_allclose(found, brute_mean(faces, queries, references, 20, include_self), atol=NOISE)
    assert (calls.graphs, calls.searched) == (0, 300)


@pytest.mark.parametrize("references", [np.arange(300), np.arange(3, 300, 4)])
@pytest.mark.parametrize("include_self", [True, False])
def test_how_many_queries_are_answered_at_once_changes_no_bit(
    faces: VerificationSet, monkeypatch: pytest.MonkeyPatch, references: np.ndarray, include_self: bool
) -> None:
    queries = np.arange(0, 300, 2)
    whole = PairTable(faces).mean_knn_distance_within(queries, references, 5, include_self)
    monkeypatch.setattr("fairfr.pairs.table.QUERIES_AT_ONCE", 7)
    assert PairTable(faces).mean_knn_distance_within(queries, references, 5, include_self).tobytes() == whole.tobytes()


def test_one_table_answers_for_any_k_in_any_order(faces: VerificationSet) -> None:
    table, train = PairTable(faces), np.flatnonzero(faces.fold != 2)
    for k in (3, 12, 1, 150, 3):
        found = table.mean_knn_distance_within(train, train, k, False)
        np.testing.assert_allclose(found, brute_mean(faces, train, train, k, False), atol=NOISE)
        assert table._graph is not None
        assert table._graph.position.shape[1] > k  # a wider question makes a wider graph


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("include_self", [True, False])
@pytest.mark.parametrize("n_references", [1, 4, 30])
def test_fewer_references_than_k_give_the_mean_over_what_there_is(
    make_set: MakeSet, n_references: int, include_self: bool, engine: Engine
) -> None:
    rng = np.random.default_rng(8)
    data = make_set(unit(rng.standard_normal((50, 6))), rng.integers(50, size=40), rng.integers(50, size=40))
    references, queries = np.arange(n_references), np.arange(40)
    found = PairTable(data).mean_knn_distance_within(queries, references, 35, include_self, engine)
    expected = brute_mean(data, queries, references, 35, include_self)
    np.testing.assert_allclose(found, expected, atol=NOISE)
    assert np.isnan(found).sum() == (n_references == 1 and not include_self)


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("include_self", [True, False])
@pytest.mark.parametrize("copies", [2, 40])
def test_duplicate_midpoints(make_set: MakeSet, copies: int, include_self: bool, engine: Engine) -> None:
    """A repeated pair is its own neighbour once, and its copies' neighbour as often as there are copies."""
    rng = np.random.default_rng(9)
    vectors = unit(rng.standard_normal((30, 6)))
    left = np.concatenate([np.zeros(copies, dtype=np.int64), rng.integers(30, size=30)])
    right = np.concatenate([np.ones(copies, dtype=np.int64), rng.integers(30, size=30)])
    left[1], right[1] = 1, 0  # a mirrored copy
    data = make_set(vectors, left, right)
    rows = np.arange(len(left))
    for references in (rows, rows[1:], rows[: len(rows) // 3]):
        found = PairTable(data).mean_knn_distance_within(rows, references, 5, include_self, engine)
        np.testing.assert_allclose(found, brute_mean(data, rows, references, 5, include_self), atol=NOISE)
