"""Ours against the paper's: the rank correlation."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from fairfr.paper.against import spearman


def test_spearman_is_scipys() -> None:
    rng = np.random.default_rng(0)
    for _ in range(20):
        first, second = rng.integers(0, 6, (2, 11)) / 10  # many ties
        assert spearman(first.tolist(), second.tolist()) == pytest.approx(stats.spearmanr(first, second).statistic)


def test_spearman_is_empty_where_it_is_undefined() -> None:
    assert spearman([0.1, 0.2], [0.1, 0.2]) is None
    assert spearman([0.1, 0.1, 0.1], [0.1, 0.2, 0.3]) is None
    assert spearman([0.1, 0.2, 0.3], [0.5, 0.5, 0.5]) is None
    assert spearman([0.3, 0.2, 0.1], [1, 2, 3]) == pytest.approx(-1)
