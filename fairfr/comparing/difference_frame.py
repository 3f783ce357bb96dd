"""Paired differences between methods as a table: what "At one threshold" and the tables of intervals show."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, TypeAlias

import numpy as np

from fairfr.core.names import ALL, GAP, WORST
from fairfr.core.types import F64
from fairfr.numerics.bootstrap import BOOTSTRAP_METRICS, interval_to_infinity
from fairfr.numerics.rates_of_draws import gap_of_groups, ratio_of_groups
from fairfr.report.uncertainty.decision import Difference
from fairfr.report.uncertainty.decision_table import deciding_levels, differences
from fairfr.report.uncertainty.setting_bootstrap import DrawnRun, SettingBootstrap, is_tied

Measure: TypeAlias = tuple[str, str]
"""Metric and group."""
UNDECIDED = {"band_low": float("nan"), "band_high": float("nan"), "verdict": ""}
RATES = ("fpr_at_fpr", "tpr_at_fpr", "tpr_at_own_fpr")


def difference_rows(found: SettingBootstrap, reference: DrawnRun) -> Iterator[dict[str, Any]]:
    """A row for each measure of each other method; no difference at a rate that no threshold of one of them meets."""
    theirs = dict(_measures(found, reference))
    judged = differences(found, reference)
    for one in found.runs:
        if one is reference:
            continue
        tied = [level for level in found.levels if is_tied(level, one, reference)]
        verdicts = dict(_verdicts(found, judged[one.label]))
        for measure, ours in _measures(found, one):
            with np.errstate(invalid="ignore"):
                change = ours - theirs[measure]
            if any(measure[0].endswith(level) for level in tied):
                change = np.full(len(change), np.nan)
            low, high = interval_to_infinity(change[1:])
            yield {
                "method": one.label,
                "against": reference.label,
                "metric": measure[0],
                "group": measure[1],
                "value": ours[0],
                "reference": theirs[measure][0],
                "difference": change[0],
                "low": low,
                "high": high,
                **verdicts.get(measure, UNDECIDED),
            }


def _measures(found: SettingBootstrap, one: DrawnRun) -> Iterator[tuple[Measure, F64]]:
    """Each measure of a method, (1 + draws,): of the data, then of each draw."""
    for metric in BOOTSTRAP_METRICS:
        for place in (ALL, WORST):
            value, drawn = one.drawn(metric, place)
            yield (metric, place), np.append(value, drawn)
        for group in found.groups:
            yield (metric, group), np.append(*one.drawn(metric, group))
    if not found.groups:
        return
    for level in found.levels:
        yield from _at_one_threshold(found, one, level)


def _at_one_threshold(found: SettingBootstrap, one: DrawnRun, level: str) -> Iterator[tuple[Measure, F64]]:
    """Rates of the groups at one wanted rate, and how far they lie apart."""
    rates = {name: one.rates[f"{name}_{level}"] for name in RATES}
    for name, of_groups in rates.items():
        metric = f"{name}_{level}"
        if metric not in BOOTSTRAP_METRICS:
            for g, group in enumerate(found.groups):
                yield (metric, group), of_groups[:, g]
    yield (f"fpr_at_fpr_{level}", WORST), np.fmax.reduce(rates["fpr_at_fpr"], axis=1)
    yield (f"fpr_ratio_at_fpr_{level}", GAP), ratio_of_groups(rates["fpr_at_fpr"])
    yield (f"eo_gap_at_fpr_{level}", GAP), gap_of_groups(rates["tpr_at_fpr"])
    yield (f"own_eo_gap_at_fpr_{level}", GAP), gap_of_groups(rates["tpr_at_own_fpr"])


def _verdicts(found: SettingBootstrap, judged: Sequence[Difference]) -> Iterator[tuple[Measure, dict[str, Any]]]:
    """What the simultaneous band says of the measures that decide, in the units of ``_measures``."""
    units: dict[Measure, float] = {("brier", ALL): 1.0, ("auroc", ALL): 1.0}
    levels = deciding_levels(found)
    if levels:
        units[f"fpr_at_fpr_{levels[0]}", WORST] = found.levels[levels[0]]
        units[f"own_eo_gap_at_fpr_{levels[0]}", GAP] = 0.01
    for (measure, unit), one in zip(units.items(), judged, strict=True):
        low, high = one.band
        yield measure, {"band_low": unit * low, "band_high": unit * high, "verdict": one.verdict}
