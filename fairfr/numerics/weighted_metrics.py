"""Weighted metrics of many draws, compiled: apart, because importing numba costs half a second.

Weights are whole numbers (how often a pair was drawn), and areas are summed in integers: equal rankings have equal
areas to the last bit, so that a paired difference of zero is exactly zero.
"""

from __future__ import annotations

import numpy as np

from fairfr.core.types import F64, I16, I32, I64
from fairfr.pairs.compiled import compiled


@compiled()
def weighted_metrics(
    multiplicity: I16, ends: I32, place: I32, run: I32, losses: F64, n_slots: int, alpha: float
) -> F64:
    """AUROC, TPR at the global FPR ``alpha`` and mean loss of each slot in each draw; NaN without both classes.

    Parameters
    ----------
    multiplicity
        How often each unit was drawn, (draws, units).
    ends
        The two units of each pair, (p, 2), pairs by falling value like all that follows.
    place
        Group and label of each pair, (p,): twice its slot, plus one if it is genuine. Slots 1 .. n_slots - 1 are
        groups, n_slots is none; slot 0 is all pairs.
    run
        Number of the run of equal values that each pair is in, (p,).
    losses
        Loss of each pair among all pairs and in its group, (p, 2).

    Returns
    -------
    F64
        (draws, n_slots, 3).
    """
    out = np.full((len(multiplicity), n_slots, 3), np.nan)
    weight = np.empty(len(place), dtype=np.int64)
    drawn = np.empty(len(place), dtype=np.int64)
    for draw in range(len(multiplicity)):
        n_drawn = _weigh(multiplicity[draw], ends, weight, drawn)
        totals, loss = _totals(weight[:n_drawn], drawn[:n_drawn], place, losses, n_slots)
        area, tpr = _rank(weight[:n_drawn], drawn[:n_drawn], place, run, totals, alpha)
        for s in range(n_slots):
            n_false = totals[2 * s]
            n_true = totals[2 * s + 1]
            if n_true > 0 and n_false > 0:
                out[draw, s, 0] = area[s] / (2.0 * n_true * n_false)
                out[draw, s, 1] = tpr[s] / n_true
                out[draw, s, 2] = loss[s] / (n_true + n_false)
    return out


@compiled()
def _weigh(multiplicity: I16, ends: I32, weight: I64, drawn: I64) -> int:
    """Fill ``weight`` and ``drawn``, the positions of pairs that were drawn at all; return how many there are."""
    n_drawn = 0
    for i in range(len(ends)):
        left = ends[i, 0]
        right = ends[i, 1]
        w = np.int64(multiplicity[left])
        if left != right:
            w *= multiplicity[right]
        # written always and counted if drawn: a branch here would be guessed wrong half the time
        weight[n_drawn] = w
        drawn[n_drawn] = i
        n_drawn += 1 if w > 0 else 0
    return n_drawn


@compiled()
def _totals(weight: I64, drawn: I64, place: I32, losses: F64, n_slots: int) -> tuple[I64, F64]:
    """Weight of each place, (2 * (n_slots + 1),), and summed loss of each slot, (n_slots + 1,)."""
    totals = np.zeros(2 * (n_slots + 1), dtype=np.int64)
    loss = np.zeros(n_slots + 1)
    for k in range(len(drawn)):
        i = drawn[k]
        w = weight[k]
        totals[place[i]] += w
        loss[0] += w * losses[i, 0]
        loss[place[i] >> 1] += w * losses[i, 1]
    totals[0] = totals[2::2].sum()
    totals[1] = totals[3::2].sum()
    return totals, loss


@compiled()
def _rank(weight: I64, drawn: I64, place: I32, run: I32, totals: I64, alpha: float) -> tuple[I64, F64]:
    """Doubled area under the counts and accepted genuine weight at FPR ``alpha``, by slot.

    An impostor gains the genuine weight before and after its run of equal values: together twice the mid-rank. At
    ``alpha`` the accepted weight is interpolated between the two thresholds that bracket it among all pairs.
    """
    accepted = np.zeros(len(totals) // 2, dtype=np.int64)
    area = np.zeros(len(totals) // 2, dtype=np.int64)
    at_alpha = np.zeros(len(totals) // 2)
    allowed = alpha * totals[0]
    n_false = 0
    crossed = False
    start = 0
    while start < len(drawn):
        stop = start + 1
        while stop < len(drawn) and run[drawn[stop]] == run[drawn[start]]:
            stop += 1
        gained = _add_impostors(weight, drawn, place, start, stop, accepted, area)
        if not crossed and n_false + gained > allowed:
            crossed = True
            share = (allowed - n_false) / gained
            at_alpha += (1 - share) * accepted
            _accept(weight, drawn, place, start, stop, accepted)
            at_alpha += share * accepted
        else:
            _accept(weight, drawn, place, start, stop, accepted)
        if gained > 0:
            _add_impostors(weight, drawn, place, start, stop, accepted, area)
        n_false += gained
        start = stop
    return area, at_alpha


@compiled(inline="always")
def _accept(weight: I64, drawn: I64, place: I32, start: int, stop: int, accepted: I64) -> None:
    """Add the genuine pairs of a run to the accepted weight of their slots."""
    for k in range(start, stop):
        at = place[drawn[k]]
        if at & 1:
            accepted[0] += weight[k]
            accepted[at >> 1] += weight[k]


@compiled(inline="always")
def _add_impostors(weight: I64, drawn: I64, place: I32, start: int, stop: int, accepted: I64, area: I64) -> int:
    """Add each impostor's share of the area, given the genuine weight above it; return the run's impostor weight."""
    gained = 0
    for k in range(start, stop):
        at = place[drawn[k]]
        if not at & 1:
            area[0] += weight[k] * accepted[0]
            area[at >> 1] += weight[k] * accepted[at >> 1]
            gained += weight[k]
    return gained
