"""Which vectors are copies of one another."""

from __future__ import annotations

import numpy as np
import pytest

from fairfr.pairs.copies import TOLERANCE, near_duplicates


def unit(rows: np.ndarray) -> np.ndarray:
    return (rows / np.linalg.norm(rows, axis=1, keepdims=True)).astype(np.float32)


@pytest.mark.parametrize("d", [3, 512])
def test_exactly_those_that_all_distances_say(d: int) -> None:
    rng = np.random.default_rng(0)
    vectors = unit(rng.normal(size=(300, d)))
    vectors[7] = vectors[100].astype(np.float16)  # rounded
    vectors[200] = vectors[3]
    vectors[201] = vectors[3]
    vectors[50] = unit(vectors[51:52] + np.float32(5 * TOLERANCE / np.sqrt(d)))[0]  # near, but another image
    gaps = np.linalg.norm(vectors[:, None].astype(np.float64) - vectors[None], axis=2)
    expected = {(a, b) for a, b in np.argwhere(gaps <= TOLERANCE).tolist() if a < b}
    assert {(7, 100), (3, 200), (3, 201), (200, 201)} <= expected
    assert {
        tuple(sorted(pair)) for pair in zip(*(side.tolist() for side in near_duplicates(vectors)), strict=True)
    } == expected
