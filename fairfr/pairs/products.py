"""Products of images with reference midpoints, rounded to 16 bits: they take half the room and time of float32."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from fairfr.core.types import F32, I16, I64
from fairfr.pairs.shares import in_threads

if TYPE_CHECKING:
    from fairfr.pairs.neighbours import Midpoints

IMAGE_BLOCK = 1024


@dataclass(frozen=True, slots=True)
class RoundedProducts:
    """H = Z.R - |R|^2 / 2 of images Z and references R about the references' mean, in whole numbers of 1 / ``scale``.

    The mean makes no difference to distances, but vectors that all point one way would leave rounding little to tell
    them by. ``images`` are rows [Z, 1]: the last column meets -|R|^2 / 2, so that a product is H itself.
    """

    images: F32
    references: Midpoints
    mean: F32
    scale: np.float32

    @classmethod
    def of(cls, vectors: F32, references: Midpoints) -> RoundedProducts:
        from fairfr.pairs._topk import LARGEST

        mean = _mean(references)
        images = np.ones((len(vectors), len(mean) + 1), dtype=np.float32)
        np.subtract(vectors, mean, out=images[:, :-1])
        # no midpoint is longer than the longer of its images
        longest = _longest(references.vectors, mean)
        reach = _longest(vectors, mean) * longest + longest**2 / 2
        return cls(images, references, mean, np.float32(LARGEST / (1.001 * reach + 1e-30)))

    def block(self, start: int, stop: int, threads: int) -> I16:
        """Products with some references, (images, references), filled up to whole lanes with what is nobody's
        neighbour."""
        from fairfr.pairs._topk import LARGEST, MULTIPLE, round_products

        midpoints = self._midpoints(np.arange(start, stop))
        n, d = midpoints.shape
        rows = np.zeros((-(-n // MULTIPLE) * MULTIPLE, d + 1), dtype=np.float32)
        rows[:n, :d] = midpoints
        rows[:n, d] = np.einsum("ij,ij->i", midpoints, midpoints) / -2
        rows[n:, d] = -LARGEST / self.scale
        out = np.empty((len(self.images), len(rows)), dtype=np.int16)
        for first in range(0, len(out), IMAGE_BLOCK):
            products = self.images[first : first + IMAGE_BLOCK] @ rows.T
            round_part = partial(round_products, products, self.scale, out[first : first + IMAGE_BLOCK])
            in_threads(threads, np.arange(len(products)), round_part)
        return out

    def _midpoints(self, rows: I64) -> F32:
        """About the mean, which is taken off first: of vectors that lie close together rounding would leave little."""
        vectors, pairs = self.references.vectors, self.references.pairs.take(rows)
        left: F32 = vectors[pairs.left] - self.mean
        right: F32 = vectors[pairs.right] - self.mean
        return (left + right) / np.float32(2)


def _mean(references: Midpoints) -> F32:
    """Mean of the reference midpoints, (d,), to float32: any place near it would do."""
    pairs, n = references.pairs, len(references.vectors)
    uses = np.bincount(pairs.left, minlength=n) + np.bincount(pairs.right, minlength=n)
    shares: F32 = (uses / (2 * len(references))).astype(np.float32)
    return shares @ references.vectors


def _longest(vectors: F32, mean: F32) -> float:
    """The largest distance from the mean."""
    parts = (vectors[start : start + IMAGE_BLOCK] - mean for start in range(0, len(vectors), IMAGE_BLOCK))
    return max(float(np.sqrt(np.einsum("ij,ij->i", part, part).max())) for part in parts)
