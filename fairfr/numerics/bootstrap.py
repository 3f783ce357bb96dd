"""A bootstrap over identities: which pairs are connected, how often each is drawn, and the metrics of each draw.

Pairs share people, so pairs are not independent and drawing them one by one gives intervals that are too narrow.
Identities are drawn instead, with replacement and as many as there are. A pair inside one identity counts as often
as the identity was drawn; a pair across two identities counts as often as the *product* says, for each copy of one
meets each copy of the other. It is the bootstrap for crossed effects (pigeonhole bootstrap; Owen 2007, Annals of
Applied Statistics 1), known to err on the wide side: where pairs share no person, a product of two counts varies three
times as much as one count. So an identity met in a single pair has no draw of its own: it shares nothing with any
other pair, and joins the identity it meets there. Where no identity is met twice, this is the ordinary bootstrap
over pairs.

Who is on an image comes from the data. Where it is unknown, images linked by genuine pairs count as one person; a
person whose genuine pairs are not connected then counts as several, and intervals come out too narrow.

The worst of several groups, each a little off by chance, lies beyond the worst of their true values: its interval
covers what such a minimum is on average. *Simultaneous* intervals cover the true values of all groups together, and
so the true worst one.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from fairfr.core.types import F64, I16, I32, I64, UNKNOWN, Bool
from fairfr.pairs.overlap import connected_components, infer_identities

HIGHER_IS_BETTER = {"auroc": True, "tpr_at_fpr_1e-3": True, "brier": False}
BOOTSTRAP_METRICS = tuple(HIGHER_IS_BETTER)
"""As the catalogue of metrics names them."""
SEED = 0
ROUNDING = 1e-9


@dataclass(frozen=True, slots=True)
class BootstrapDraws:
    """How often each unit was drawn, ``multiplicity`` (draws, units), and the units of each pair, ``ends`` (2, p)."""

    multiplicity: I16
    ends: I32


@dataclass(frozen=True, slots=True)
class DrawnMetrics:
    """Values by draw, slot and metric: ``drawn`` (draws, 1 + groups, 3), ``plain`` (1 + groups, 3) of the data.

    Slot 0 is all pairs. Metrics in the order of ``METRICS``.
    """

    plain: F64
    drawn: F64

    def worst(self, metric: str) -> tuple[float, F64]:
        """The least favourable group, in the data and again in each draw, (draws,); NaN where no group has a value."""
        at = BOOTSTRAP_METRICS.index(metric)
        extremum = np.fmin if HIGHER_IS_BETTER[metric] else np.fmax
        groups = np.concatenate([self.plain[None, 1:, at], self.drawn[:, 1:, at]])
        found: F64 = extremum.reduce(groups, axis=1, initial=np.nan)
        return float(found[0]), found[1:]

    def groups(self, metric: str) -> tuple[F64, F64]:
        """Every group in the data, (groups,), and in each draw, (draws, groups)."""
        at = BOOTSTRAP_METRICS.index(metric)
        return self.plain[1:, at], self.drawn[:, 1:, at]

    def all_pairs(self, metric: str) -> tuple[float, F64]:
        at = BOOTSTRAP_METRICS.index(metric)
        return float(self.plain[0, at]), self.drawn[:, 0, at]


def identities(left: I64, right: I64, same: Bool, codes: tuple[I32, I32] | None = None) -> I64:
    """Identity of each image, (n,): the known one, else that of images it is linked to by genuine pairs.

    ``codes``, (p,) each: the people on the left and right images, -1 where unknown; None: all are.
    """
    n = int(max(left.max(), right.max())) + 1
    code = np.full(n, UNKNOWN, dtype=np.int64)
    if codes is not None:
        code[left], code[right] = codes
    return infer_identities(code, left[same], right[same])


def resampling_units(left: I64, right: I64, same: Bool, codes: tuple[I32, I32] | None = None) -> I32:
    """What is drawn as a whole: the units of each pair's two ends, (2, p). See the module's docstring."""
    person = identities(left, right, same, codes)
    a = person[left]
    b = person[right]
    pairs_of = np.bincount(a, minlength=person.max() + 1) + np.bincount(b[a != b], minlength=person.max() + 1)
    alone = (a != b) & ((pairs_of[a] == 1) | (pairs_of[b] == 1))
    unit = connected_components(len(pairs_of), a[alone], b[alone])
    return np.stack([unit[a], unit[b]]).astype(np.int32)


def draw_bootstrap(ends: I32, draws: int, seed: int = SEED) -> BootstrapDraws:
    """Draw units with replacement, as many as there are, ``draws`` times; ``ends`` (2, p): the units of pairs."""
    n = int(ends.max()) + 1
    rng = np.random.default_rng(seed)
    multiplicity = np.empty((draws, n), dtype=np.int16)
    for draw in range(draws):
        multiplicity[draw] = np.bincount(rng.integers(n, size=n), minlength=n)
    return BootstrapDraws(multiplicity, ends)


def metrics_of_draws(
    draws: BootstrapDraws, same: Bool, values: F64, group: I16, losses: F64, alpha: float
) -> DrawnMetrics:
    """Metrics of one method in each draw and in the data.

    Parameters
    ----------
    same, values
        (p,) each; higher ``values`` rank first.
    group
        (p,): 0 .. groups - 1, or -1 for none.
    losses
        (2, p): what a pair adds to the Brier score of all pairs, and to that of its group.
    alpha
        The FPR at which TPR is read, from a threshold that all groups share.
    """
    from fairfr.numerics.weighted_metrics import weighted_metrics

    order = np.argsort(-values, kind="stable")
    run = np.cumsum(np.diff(values[order], prepend=np.inf) != 0).astype(np.int32)
    n_slots = int(group.max(initial=-1)) + 2
    place = (2 * np.where(group < 0, n_slots, group + 1) + same)[order].astype(np.int32)
    once = np.ones((1, draws.multiplicity.shape[1]), dtype=np.int16)
    ends = np.ascontiguousarray(draws.ends.T[order])
    loss = np.ascontiguousarray(losses.T[order])
    plain = weighted_metrics(once, ends, place, run, loss, n_slots, alpha)
    drawn = weighted_metrics(draws.multiplicity, ends, place, run, loss, n_slots, alpha)
    return DrawnMetrics(plain[0], drawn)


def percentile_interval(drawn: F64, level: float = 0.95) -> tuple[float, float]:
    """Percentile interval of those of ``drawn`` (draws,) that have a value; NaN if none has."""
    known = drawn[~np.isnan(drawn)]
    if len(known) == 0:
        return float("nan"), float("nan")
    low, high = np.quantile(known, [(1 - level) / 2, (1 + level) / 2])
    return float(low), float(high)


def interval_to_infinity(drawn: F64, level: float = 0.95) -> tuple[float, float]:
    """As ``percentile_interval``, of ``drawn`` (draws,) that may be infinite; one without a value counts at both ends.

    Where all are finite, both are equal.
    """
    if len(drawn) == 0 or np.isfinite(drawn).all():
        return percentile_interval(drawn, level)
    cut = int((1 - level) / 2 * (len(drawn) - 1))
    rising = np.sort(np.where(np.isnan(drawn), -np.inf, drawn))
    falling = np.sort(np.where(np.isnan(drawn), np.inf, drawn))[::-1]
    return float(rising[cut]), float(falling[cut])


def simultaneous_band(points: F64, drawn: F64, level: float = 0.95) -> F64:
    """Where all of several differences lie together, (2, k): ``points`` (k,) of the data, ``drawn`` (draws, k).

    In each draw the largest distance of a difference from its point, in standard deviations, is found; the band is as
    many standard deviations wide on either side as ``level`` of these maxima need. A difference that is not finite in
    every draw has NaN.
    """
    known = np.isfinite(drawn).all(axis=0) & np.isfinite(points)
    spread = np.std(drawn[:, known], axis=0, ddof=1)
    moves = spread > 0
    distance = np.abs(drawn[:, known] - points[known])[:, moves] / spread[moves]
    width = 0.0
    if moves.any():
        width = float(np.quantile(distance.max(axis=1), level))
    band = np.full((2, len(points)), np.nan)
    band[:, known] = points[known] + width * np.stack([-spread, spread])
    return band


def simultaneous_intervals(drawn: F64, level: float = 0.95) -> F64:
    """Simultaneous percentile intervals of several groups, (2, groups), from ``drawn`` (draws, groups).

    Each interval cuts the same share off both tails of its group, the largest share with which ``level`` of the draws
    lie inside in every group (Mandel and Betensky 2008, Computational Statistics & Data Analysis 52). It follows the
    skewness of each group and stays within its range; how groups move together is in the draws. A draw in which a
    group has no value says nothing about it; a group without any has NaN. Without groups there are no intervals.
    """
    tail = np.ones(drawn.shape)
    ordered = [np.sort(column[~np.isnan(column)]) for column in drawn.T]
    for g, values in enumerate(ordered):
        here = ~np.isnan(drawn[:, g])
        below = np.searchsorted(values, drawn[here, g], side="right")
        above = len(values) - np.searchsorted(values, drawn[here, g], side="left")
        tail[here, g] = np.minimum(below, above) / max(len(values), 1)
    cut = float(np.quantile(tail.min(axis=1, initial=1.0), 1 - level, method="lower"))
    bounds = np.full((2, drawn.shape[1]), np.nan)
    for g, values in enumerate(ordered):
        if len(values):
            first = max(int(np.ceil(cut * len(values) - ROUNDING)) - 1, 0)
            first = min(first, (len(values) - 1) // 2)
            bounds[:, g] = values[first], values[len(values) - 1 - first]
    return bounds


def worst_group_interval(bounds: F64, higher: bool) -> tuple[float, float]:
    """Where the true worst value of all groups lies if every group's lies within its ``bounds`` (2, groups).

    ``higher``: higher is better.
    """
    known = bounds[:, ~np.isnan(bounds[0])]
    if known.shape[1] == 0:
        return float("nan"), float("nan")
    low, high = known.min(axis=1) if higher else known.max(axis=1)
    return float(low), float(high)
