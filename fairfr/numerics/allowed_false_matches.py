"""How many false matches held-out impostors may show, so that a wanted rate is kept with a wanted confidence.

Pairs that share a person go wrong together: where a few people make most false matches, their number varies more than a
binomial one. It is taken for negative binomial, with a variance of mean + phi² mean²; phi² is estimated from how the
highest impostors fall on people and on pairs of people. The estimate itself is uncertain, so its upper limit counts.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from fairfr.core.types import F64, I64

MOST_LOOKED_AT = 100  # of the impostors, the highest ones,
SHARE_LOOKED_AT = 20  # or one in twenty where they are fewer


@dataclass(frozen=True)
class People:
    """Who is met in n pairs: ``left`` and ``right`` (n,), codes of people."""

    left: I64
    right: I64

    @classmethod
    def of(cls, left: npt.NDArray[Any], right: npt.NDArray[Any]) -> People:
        _, code = np.unique(np.concatenate([left, right]), return_inverse=True)
        return cls(code[: len(left)], code[len(left) :])

    def __len__(self) -> int:
        return int(max(self.left.max(initial=-1), self.right.max(initial=-1))) + 1

    @cached_property
    def everything(self) -> Shared:
        """How all the pairs fall on people and on pairs of people."""
        return self.shared()

    @cached_property
    def members(self) -> tuple[Any, Any]:
        """Which pairs each person is in, (people, n), and which show the same two people, (couples, n); sparse."""
        from scipy.sparse import csr_array

        n = len(self.left)
        pair = np.arange(n)
        apart = np.flatnonzero(self.left != self.right)
        person = np.concatenate([self.left, self.right[apart]])
        persons = csr_array((np.ones(len(person)), (person, np.append(pair, apart))), (len(self), n))
        low = np.minimum(self.left, self.right)[apart]
        high = np.maximum(self.left, self.right)[apart]
        names, couple = np.unique(low * len(self) + high, return_inverse=True)
        couples = csr_array((np.ones(len(couple)), (couple, apart)), (len(names), n))
        return persons, couples

    def shared(self, chosen: I64 | slice = slice(None)) -> Shared:
        """How some of the pairs fall on people and on pairs of people."""
        left = self.left[chosen]
        right = self.right[chosen]
        n = len(self)
        one_person = left == right
        met = np.bincount(left, minlength=n) + np.bincount(right[~one_person], minlength=n)
        couple = np.minimum(left, right) * n + np.maximum(left, right)
        couples, count = np.unique(couple, return_counts=True)
        twice = (count * (count - 1)).astype(np.float64)
        first = couples // n
        second = couples % n
        apart = first != second
        in_couples = np.bincount(first, twice, n) + np.bincount(second[apart], twice[apart], n)
        return Shared(met, met * (met - 1.0) - in_couples, float(twice.sum()))


@dataclass(frozen=True, slots=True)
class Shared:
    """``met`` (N,): pairs of each person; ``ordered`` (N,): ordered couples of its pairs that share only that person;
    ``same_two``: ordered couples of pairs that show the same two people."""

    met: I64
    ordered: F64
    same_two: float


def most_allowed(people: People | None, order: I64, rate: float, confidence: float) -> int:
    """The largest number of false matches that keeps ``rate``; -1 where not even none does.

    ``order`` (n,): the impostors, highest score first. ``people`` None: pairs count as independent.
    """
    n = len(order)
    k = np.arange(int(rate * n) + 2)
    spread = None
    if people is not None:
        spread = excess(people, order, rate, confidence)
    if spread is None:
        fits = _binomial(k, n, rate) <= 1 - confidence
    else:
        tail = (1 - confidence) / 2
        fits = (_binomial(k, n, rate) <= tail) & (_negative_binomial(k, n * rate, spread) <= tail)
    return int(np.count_nonzero(fits)) - 1


def fewest_impostors(people: People | None, rate: float, confidence: float) -> int:
    """So many impostors are needed at the least: about 3 / rate at 95 %, or 3.7 / rate where pairs share people."""
    tail = 1 - confidence
    if people is not None and people.everything.ordered.sum() + people.everything.same_two > 0:
        tail /= 2
    return int(np.ceil(np.log(tail) / np.log1p(-rate)))


def excess(people: People, order: I64, rate: float, confidence: float) -> float | None:
    """Upper limit of phi²: how much more false matches vary than binomial ones; None where no pairs share people."""
    from scipy.special import chdtri

    n = len(order)
    every = people.everything
    by_one = float(every.ordered.sum())
    by_two = every.same_two
    if by_one + by_two == 0:
        return None
    k = max(2, round(max(n * rate, min(MOST_LOOKED_AT, n / SHARE_LOOKED_AT))))
    share = k / n
    top = people.shared(order[:k])
    f = _more_than_chance((top.ordered / every.met).sum(), (every.ordered / every.met).sum(), share)
    g = _more_than_chance(top.same_two, by_two, share)
    if rate < share < 1:  # further out in the tail, likeness between pairs of one person counts for more
        power = np.log(rate) / np.log(share)
        f = (1 + f) ** power - 1
        g = (1 + g) ** power - 1
    phi = (f * by_one + g * by_two) / n**2
    residual = top.met - share * every.met
    effective = float(len(people))
    if residual.any():
        effective = float((residual**2).sum() ** 2 / (residual**4).sum())
    freedom = 2 / max(1 / effective - 1 / len(people), 2 / len(people))
    # chdtri gives the quantile by its upper tail
    return float(phi * freedom / chdtri(freedom, confidence))


def _more_than_chance(found: float, all_of_them: float, share: float) -> float:
    """How much more often two impostors of one kind are both among the highest than by chance; 0 at the least."""
    if all_of_them == 0:
        return 0.0
    return max(0.0, found / (share**2 * all_of_them) - 1)


def _binomial(k: I64, n: int, rate: float) -> F64:
    from scipy.special import bdtr

    out: F64 = bdtr(k.astype(np.float64), n, rate)
    return out


def _negative_binomial(k: I64, mean: float, spread: float) -> F64:
    """P(at most k) where the variance is mean + spread mean²."""
    from scipy.special import betainc, pdtr

    if spread == 0:
        poisson: F64 = pdtr(k.astype(np.float64), mean)
        return poisson
    out: F64 = betainc(1 / spread, k + 1.0, 1 / (1 + spread * mean))
    return out
