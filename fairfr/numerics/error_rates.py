"""The genuine pairs or the impostors of a group: their errors at any threshold, and the threshold of a wanted rate.

``fairfr.numerics.rate_bounds`` says how far off the rate of such errors may be.
"""

from __future__ import annotations

from dataclasses import replace
from functools import cached_property

import numpy as np

from fairfr.core.types import F64, I64
from fairfr.numerics.allowed_false_matches import People
from fairfr.numerics.rate_bounds import Errors, people_spread


class OneKind:
    """Genuine pairs, or impostors: their errors at any threshold.

    Parameters
    ----------
    similarity : ndarray of float, shape (n_pairs,)
        Higher for more similar images.
    people : People or None
        Who is met in the pairs; None if that is not known: pairs count as independent.
    genuine : bool
        Which of both they are.
    """

    def __init__(self, similarity: F64, people: People | None, genuine: bool) -> None:
        self.people = people
        self.genuine = genuine
        self._values = similarity

    def __len__(self) -> int:
        return len(self._values)

    @cached_property
    def most_wrong_first(self) -> I64:
        """The pairs, those first that are nearest to an error."""
        wrongness = self._values
        if not self.genuine:
            wrongness = -wrongness
        return np.argsort(wrongness, kind="stable")

    @cached_property
    def ascending(self) -> F64:
        """The similarities, lowest first."""
        in_order = self._values[self.most_wrong_first]
        if self.genuine:
            return in_order
        return in_order[::-1]

    def errors_at(self, threshold: float | None) -> Errors:
        """Impostors that are accepted, or genuine pairs that are not; a threshold of None accepts nothing."""
        below = len(self)
        if threshold is not None:
            below = int(np.searchsorted(self.ascending, threshold, side="left"))
        wrong = len(self) - below
        if self.genuine:
            wrong = below
        found = Errors(wrong, len(self))
        if self.people is None or len(self) == 0:
            return found
        return replace(found, spread=people_spread(self.people, self.most_wrong_first, wrong))


def threshold_at(impostors: F64, observed: F64, level: float) -> float | None:
    """The lowest observed similarity from which at most a share ``level`` of the impostors is accepted.

    Parameters
    ----------
    impostors : ndarray of float, shape (n_impostors,)
        Similarities in ascending order.
    observed : ndarray of float, shape (n_values,)
        The different similarities of all pairs, in ascending order.
    level : float
        The wanted false match rate.

    Returns
    -------
    float or None
        None where even the highest similarity is that of too many impostors.
    """
    n = len(impostors)
    accepted = n - np.searchsorted(impostors, observed, side="left")
    fits = accepted / n <= level
    if not fits.any():
        return None
    return float(observed[int(np.argmax(fits))])
