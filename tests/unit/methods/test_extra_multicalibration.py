"""Multicalibration, where the optional mcgrad is installed."""

import importlib.util
import sys

import numpy as np
import pytest
from sklearn.decomposition import PCA

from fairfr.core.calibrator import FitContext
from fairfr.core.errors import ConfigError
from fairfr.core.types import EmbeddingSet, Pairs, VerificationSet
from fairfr.methods.extra_multicalibration import Multicalibration, principal_axes
from fairfr.methods.platt import Platt
from fairfr.pairs.table import PairTable
from fairfr.pairs.view import PairView

needs_mcgrad = pytest.mark.skipif(importlib.util.find_spec("mcgrad") is None, reason="mcgrad is not installed")


def view_and_labels(n_pairs=1500, d=6, seed=0):
    """Pairs in two places; in the first one strangers look alike."""
    rng = np.random.default_rng(seed)
    same = rng.random(n_pairs) < 0.5
    centre = np.where(rng.random(n_pairs)[:, None] < 0.5, 2.5, 0.0) * np.eye(d)[0]
    person = rng.standard_normal((2, n_pairs, d))
    person[1] = np.where(same[:, None], person[0], person[1])
    vectors = (centre + person + 0.5 * rng.standard_normal((2, n_pairs, d))).reshape(-1, d)
    vectors = (vectors / np.linalg.norm(vectors, axis=1, keepdims=True)).astype(np.float32)
    images = np.arange(2 * n_pairs).astype(str)
    data = VerificationSet(
        id="toy",
        source="synthetic",
        backbone="net",
        digest="0",
        images=images,
        identity=np.full(2 * n_pairs, -1, np.int32),
        pairs=Pairs(np.arange(n_pairs, dtype=np.int32), np.arange(n_pairs, 2 * n_pairs, dtype=np.int32)),
        same=same,
        fold=np.zeros(n_pairs, np.int16),
        fold_labels=("1",),
        groupings={},
        grouping=None,
        embeddings=EmbeddingSet("net", "0", images, vectors),
    )
    return PairView(PairTable(data), np.arange(n_pairs), Multicalibration.needs, "Multicalibration"), same


def context():
    return FitContext(seed=0, dataset="toy", backbone="net", fold="1")


def test_principal_axes_equal_scikit_learn_up_to_sign():
    view, _ = view_and_labels(300)
    design = view.midpoints()
    expected = PCA(3).fit(design.rows(np.arange(300))).components_
    np.testing.assert_allclose(np.abs(np.sum(principal_axes(design, 3) * expected, axis=1)), 1, atol=1e-9)


def test_a_missing_package_is_named_with_its_remedy(monkeypatch):
    monkeypatch.setitem(sys.modules, "mcgrad", None)
    view, same = view_and_labels(50)
    with pytest.raises(ConfigError, match="pip install"):
        Multicalibration().fit(view, same, context())


@needs_mcgrad
@pytest.mark.filterwarnings("default")
def test_places_are_better_calibrated_than_by_platt_and_seeds_repeat():
    train, same = view_and_labels(seed=0)
    test, held_out = view_and_labels(seed=1)
    platt = Platt().fit(train, same, context()).predict(test).probability
    first, again = (
        Multicalibration(components=4).fit(train, same, context()).predict(test).probability for _ in range(2)
    )
    np.testing.assert_array_equal(first, again)
    assert first.min() >= 0
    assert first.max() <= 1
    assert np.mean((first - held_out) ** 2) < np.mean((platt - held_out) ** 2)


@needs_mcgrad
@pytest.mark.filterwarnings("default")
def test_one_class_only_leaves_platt():
    view, same = view_and_labels(60)
    everyone = np.ones_like(same)
    expected = Platt().fit(view, everyone, context()).predict(view).probability
    found = Multicalibration(components=2).fit(view, everyone, context()).predict(view).probability
    np.testing.assert_array_equal(found, expected)
