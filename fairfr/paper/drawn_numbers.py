"""The numbers that our runs would have given with other people drawn: a claim judged on each draw has an interval."""

from __future__ import annotations

import numpy as np

from fairfr.core.types import F64
from fairfr.paper.numbers import DIGITS, GROUP_DIGITS
from fairfr.report.quantity import LIFTED, Quantity
from fairfr.report.study_table import PrintedRow
from fairfr.report.tables.columns import TOLERANCE
from fairfr.report.tables.order import BASELINE, Setting
from fairfr.report.uncertainty.bootstrap import BOOTSTRAP_METRICS
from fairfr.report.uncertainty.setting_bootstrap import BootstrapCache, SettingBootstrap


class BootstrapNumbers:
    """Numbers of one ``draw`` at a time: the fold mean, moved by as much as the pooled value moves in that draw.

    Data sets with the same people (one list of pairs, several backbones) share their draws, so that differences
    between methods and backbones are paired. Only what the bootstrap measures is there; all else is absent.
    """

    exact = False
    absent = "no draws give"

    def __init__(self, bootstraps: BootstrapCache) -> None:
        self._bootstraps = bootstraps
        self._values: dict[tuple[Quantity, str, str, str], F64 | None] = {}
        self._groups: dict[tuple[str, str, str, str], dict[str, F64]] = {}
        self.draw = 0
        self.draws = 0
        self.restart()

    def restart(self) -> None:
        """Before a claim is judged: ``draws`` becomes the number that all values asked for since then have."""
        self.draw = 0
        self.draws = self._bootstraps.draws

    def value(self, quantity: Quantity, dataset: str, backbone: str, method: str) -> float | None:
        key = (quantity, dataset, backbone, method)
        if key not in self._values:
            self._values[key] = self._drawn(quantity, (dataset, backbone), method)
        drawn = self._values[key]
        if drawn is None:
            return None
        self.draws = min(self.draws, len(drawn))
        return float(drawn[self.draw])

    def by_group(self, metric: str, dataset: str, backbone: str, method: str) -> dict[str, float]:
        key = (metric, dataset, backbone, method)
        if key not in self._groups:
            means: dict[str, F64] = {}
            if metric in BOOTSTRAP_METRICS:
                found = self._bootstraps.of((dataset, backbone))
                if found is not None:
                    means = _group_draws(found, metric, method)
            self._groups[key] = {group: np.round(100 * drawn, GROUP_DIGITS) for group, drawn in means.items()}
        groups = self._groups[key]
        self.draws = min([self.draws, *(len(drawn) for drawn in groups.values())])
        return {group: float(drawn[self.draw]) for group, drawn in groups.items() if not np.isnan(drawn[self.draw])}

    def negatives(self, dataset: str) -> tuple[float, float] | None:
        return None

    def parameters(self) -> int | None:
        return None

    def study(self, name: str) -> tuple[PrintedRow, ...]:
        return ()

    def _drawn(self, quantity: Quantity, setting: Setting, method: str) -> F64 | None:
        found = self._bootstraps.of(setting)
        if found is None or method not in found.measured or quantity.metric not in BOOTSTRAP_METRICS:
            return None
        if quantity.group == LIFTED:
            return _levels(found, quantity.metric, method)
        mean = found.runs[method].mean(quantity.metric, quantity.group, found.reading)
        if mean is None:
            return None
        row = next(row for row in found.rows if row.id == method)
        pooled, drawn = found.value(row, quantity.metric, quantity.group)
        moved: F64 = np.round(mean + drawn - pooled, DIGITS)
        if np.isnan(moved).any():
            return None
        return moved


def _group_draws(found: SettingBootstrap, metric: str, method: str) -> dict[str, F64]:
    """Each group's fold mean in each draw, (draws,); empty without this method's scores."""
    if method not in found.measured:
        return {}
    pooled, drawn = found.measured[method].groups(metric)
    means = {group: found.runs[method].mean(metric, group, found.reading) for group in found.groups}
    return {group: mean + drawn[:, g] - pooled[g] for g, (group, mean) in enumerate(means.items()) if mean is not None}


def _levels(found: SettingBootstrap, metric: str, method: str) -> F64 | None:
    """K/N of levels.py in each draw, (draws,)."""
    before, after = (_group_draws(found, metric, m) for m in (BASELINE.id, method))
    if not before or not after:
        return None
    baseline = np.stack(list(before.values()), axis=1)
    ours = np.stack([after.get(group, np.full(len(baseline), np.nan)) for group in before], axis=1)
    worst_first = np.argsort(baseline, axis=1, kind="stable")
    lifted = np.take_along_axis(ours > baseline + TOLERANCE, worst_first, axis=1)
    share: F64 = np.cumprod(lifted, axis=1).sum(axis=1) / len(before)
    return share
