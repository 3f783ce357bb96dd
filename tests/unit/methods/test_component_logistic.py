"""The component ablation against scikit-learn on built features."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.spatial.distance import cdist
from sklearn.linear_model import LogisticRegression

from fairfr.core.calibrator import FitContext
from fairfr.core.errors import ConfigError
from fairfr.methods.ac_linear import ACLinear
from fairfr.methods.component_logistic import ComponentLogistic
from fairfr.pairs.table import PairTable
from fairfr.pairs.view import PairView


@pytest.fixture(scope="module")
def views(synthetic_set):
    data = synthetic_set("rfw", scale=0.03)
    table = PairTable(data)
    rows = [np.flatnonzero(data.fold != 0), np.flatnonzero(data.fold == 0)]
    train, test = (PairView(table, r, frozenset({"embeddings"})) for r in rows)
    return data, train, data.same[rows[0]], test


def fitted(views, inputs):
    data, train, same, test = views
    ctx = FitContext(seed=0, dataset=data.id, backbone="magface", fold="0")
    return ComponentLogistic(inputs=inputs).fit(train, same, ctx).predict(test).probability


def midpoints(view):
    return view.midpoints().rows(np.arange(view.n_pairs))


def test_the_midpoint_alone_equals_scikit_learn(views):
    _, train, same, test = views
    expected = LogisticRegression().fit(midpoints(train), same).predict_proba(midpoints(test))[:, 1]
    np.testing.assert_allclose(fitted(views, ("midpoint",)), expected, atol=1e-5)


def test_density_and_score_equal_scikit_learn_with_distances_by_brute_force(views):
    _, train, same, test = views
    references = midpoints(train)

    def features(view):
        distance = cdist(midpoints(view), references)
        return np.column_stack([np.sort(distance, axis=1)[:, :20].mean(axis=1), view.cosine])

    expected = LogisticRegression().fit(features(train), same).predict_proba(features(test))[:, 1]
    np.testing.assert_allclose(fitted(views, ("density", "cosine")), expected, atol=1e-5)


def test_midpoint_and_score_are_ac_linear(views):
    data, train, same, test = views
    ctx = FitContext(seed=0, dataset=data.id, backbone="magface", fold="0")
    expected = ACLinear().fit(train, same, ctx).predict(test).probability
    np.testing.assert_array_equal(fitted(views, ("midpoint", "cosine")), expected)


def test_no_inputs_are_refused():
    with pytest.raises(ConfigError, match="inputs is empty"):
        ComponentLogistic(inputs=())
