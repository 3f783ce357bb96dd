"""The nearest images of every image of a table: one search serves every fold."""

from __future__ import annotations

from functools import partial
from typing import NamedTuple

import numpy as np

from fairfr.core.types import F32, F64, I64, Pairs
from fairfr.pairs.mutual import mutual_neighbours
from fairfr.pairs.neighbours import Midpoints
from fairfr.pairs.shares import in_threads

SLACK = 1e-5  # more than float32 rounds a cosine: what was not listed may come that much nearer than the last


class NearImages(NamedTuple):
    """Of some images, the rows (c, w) of their nearest images, the highest cosine first, and these cosines (c, w).

    -1 and NaN stand for images that do not count. No image that is not listed has a cosine above ``limit`` (c,).
    """

    row: I64
    cosine: F64
    limit: F64

    def take(self, images: I64, position: I64) -> NearImages:
        """Of some images; rows become their ``position``, -1 for images that do not count."""
        row = position[self.row[images]]
        return NearImages(row, np.where(row < 0, np.nan, self.cosine[images]), self.limit[images])


def near_images(vectors: F32, width: int, threads: int) -> NearImages:
    """The ``width`` nearest images of each image, itself included. Cosines are of float64, whatever found them."""
    from fairfr.pairs._cosines import cosines

    n = len(vectors)
    alone = np.arange(n, dtype=np.int32)
    row = mutual_neighbours(Midpoints(vectors, Pairs(alone, alone)), min(width, n), threads)
    cosine = np.empty(row.shape)
    in_threads(threads, np.arange(n), partial(cosines, vectors, row, cosine))
    order = np.argsort(-cosine, axis=1, kind="stable")
    row, cosine = np.take_along_axis(row, order, axis=1), np.take_along_axis(cosine, order, axis=1)
    return NearImages(row, cosine, cosine[:, -1] + SLACK if width < n else np.full(n, -np.inf))
