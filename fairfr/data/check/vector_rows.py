"""Whether each image has a vector of its own: rows that slipped by one, repeated and constant vectors."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from fairfr.core.findings import Finding
from fairfr.core.text import plural, shorten_list
from fairfr.core.types import F32, F64, Bool, Pairs, VerificationSet
from fairfr.pairs.vectors import fingerprints, pair_cosines

MAX_NAMED_IMAGES = 3  # images named in a finding
SURE = 3.0  # standard errors
CONSTANT = 1e-6  # spread of a unit vector's numbers below which they are one number


def vector_findings(data: VerificationSet) -> Iterator[Finding]:
    """What is suspicious about the vectors as rows of a table; nothing without vectors."""
    if data.embeddings is None:
        return
    vectors = data.embeddings.vectors
    yield from _slipped(data, vectors)
    _, row, times = np.unique(fingerprints(vectors), return_inverse=True, return_counts=True)
    repeated = times[row] > 1
    if repeated.any():
        text = f"{_named(data, repeated)} the very vector of another image: one picture under two names, or a slip."
        yield Finding("repeated-vectors", "warning", text, {"images": int(repeated.sum())})
    constant = vectors.std(axis=1) < CONSTANT
    if constant.any() and vectors.shape[1] > 1:
        text = f"{_named(data, constant)} a vector of one number throughout, which says nothing about a face."
        yield Finding("constant-vectors", "warning", text, {"images": int(constant.sum())})


def _slipped(data: VerificationSet, vectors: F32) -> Iterator[Finding]:
    """Vectors that fit the labels better a row further up or down have probably slipped against their names.

    With right vectors, the image before (or after) a genuine partner is at best of the same person, so genuine pairs
    are more similar than the pairs of the rows beside them.
    """
    left = data.pairs.left[data.same]
    right = data.pairs.right[data.same]
    cosine = pair_cosines(vectors, Pairs(left, right))
    for step, beside in ((-1, "before"), (1, "after")):
        inside = (np.minimum(left, right) + step >= 0) & (np.maximum(left, right) + step < len(vectors))
        shifted = pair_cosines(vectors, Pairs(left[inside] + np.int32(step), right[inside] + np.int32(step)))
        if _is_higher(shifted, cosine[inside]):
            text = (
                f"Genuine pairs are less similar ({cosine[inside].mean():.3f} on average) than the images {beside} "
                f"them in the list ({shifted.mean():.3f}). Have the vectors slipped by a row against their names?"
            )
            yield Finding("vectors-slipped", "serious", text)
            return  # with two images of each person the other direction fits as well


def _is_higher(one: F64, other: F64) -> bool:
    """Whether the mean of paired numbers is higher beyond chance."""
    if len(one) < 2:
        return False
    difference = one - other
    return bool(difference.mean() > SURE * difference.std(ddof=1) / np.sqrt(len(difference)))


def _named(data: VerificationSet, chosen: Bool) -> str:
    names = [data.images[row] for row in np.flatnonzero(chosen)[: MAX_NAMED_IMAGES + 1].tolist()]
    count = int(chosen.sum())
    verb = "has" if count == 1 else "have"
    return f"{plural(count, 'image')} ({shorten_list(names, MAX_NAMED_IMAGES)}) {verb}"
