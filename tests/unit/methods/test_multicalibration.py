"""Multicalibration, where the optional mcgrad is installed."""

import importlib.util
import sys

import numpy as np
import pytest
from sklearn.decomposition import PCA

from fairfr.core.calibrator import FitContext
from fairfr.core.extras import MissingExtraError
from fairfr.methods.multicalibration import Multicalibration, principal_axes
from fairfr.methods.platt import Platt
from fairfr.pairs.table import PairTable
from fairfr.pairs.view import PairView

needs_mcgrad = pytest.mark.skipif(importlib.util.find_spec("mcgrad") is None, reason="mcgrad is not installed")


@pytest.fixture
def view_and_labels(two_places):
    def make(n_pairs=1500, seed=0):
        data = two_places(n_pairs, 6, seed)
        view = PairView(PairTable(data), np.arange(n_pairs), Multicalibration.needs, "Multicalibration")
        return view, data.same

    return make


def context():
    return FitContext(seed=0, dataset="toy", backbone="net", fold="1")


def test_principal_axes_equal_scikit_learn_up_to_sign(view_and_labels):
    view, _ = view_and_labels(300)
    design = view.midpoints()
    expected = PCA(3).fit(design.rows(np.arange(300))).components_
    np.testing.assert_allclose(np.abs(np.sum(principal_axes(design, 3) * expected, axis=1)), 1, atol=1e-9)


def test_a_missing_package_is_named_with_its_remedy(view_and_labels, monkeypatch):
    monkeypatch.setitem(sys.modules, "mcgrad", None)
    view, same = view_and_labels(50)
    with pytest.raises(MissingExtraError, match=r"Multicalibration needs the extra: pip install 'fairfr\[multi"):
        Multicalibration().fit(view, same, context())


@needs_mcgrad
@pytest.mark.filterwarnings("default")
def test_places_are_better_calibrated_than_by_platt_and_seeds_repeat(view_and_labels):
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
def test_one_class_only_leaves_platt(view_and_labels):
    view, same = view_and_labels(60)
    everyone = np.ones_like(same)
    expected = Platt().fit(view, everyone, context()).predict(view).probability
    found = Multicalibration(components=2).fit(view, everyone, context()).predict(view).probability
    np.testing.assert_array_equal(found, expected)
