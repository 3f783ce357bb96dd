"""Every metric there is. A new one is one pure function and one entry here."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Literal, TypeAlias

from fairfr.core.provenance import code_digest
from fairfr.core.types import F64, Bool
from fairfr.metrics.calibration import brier, brier_raw, ece, ks
from fairfr.metrics.differentials import (
    DEVIATIONS,
    GAP_RATES,
    Spread,
    max_min_gap,
    max_min_ratio,
    max_to_geometric_mean,
)
from fairfr.metrics.fpr_levels import ALL_FPR_LEVELS
from fairfr.metrics.roc_metrics import Rate
from fairfr.numerics.roc import RocCurve, auroc_of, pauc_of

On: TypeAlias = Literal["score", "probability"]
Better: TypeAlias = Literal["higher", "lower"]


@dataclass(frozen=True, slots=True)
class RateAt:
    """A rate at the global operating point: computed by ``OperatingPoint.rates``."""

    rate: Rate
    alpha: float


@dataclass(frozen=True, slots=True)
class FromRoc:
    """A number read off the ROC curve, which is made once for all metrics that need it."""

    measure: Callable[[RocCurve], float]


@dataclass(frozen=True, slots=True)
class OwnTprAt:
    """The TPR of a subset at the threshold where its own FPR is ``alpha``, interpolated as at the global one."""

    alpha: float


@dataclass(frozen=True, slots=True)
class OverGroups:
    """One number for the groups' values of another metric, named by its id; it has no value for a single group."""

    metric: str
    spread: Spread


PairFunction: TypeAlias = Callable[[Bool, F64], float]


@dataclass(frozen=True, slots=True)
class Metric:
    """What a metric is called, how and on what it is computed, and which direction is good.

    ``compute`` is a pure function of (same, values) or of their ROC curve, a rate at an operating point, or one number
    for all groups.
    ``better`` alone decides what worst group and best method mean; None has neither.
    """

    id: str
    compute: PairFunction | FromRoc | RateAt | OwnTprAt | OverGroups
    on: On
    better: Better | None
    label: str

    @property
    def has_worst(self) -> bool:
        """Whether a worst group can be named."""
        return self.better is not None and not isinstance(self.compute, OverGroups)


def _ranking(on: On) -> Iterator[Metric]:
    """Metrics that need only the order of values, on the score or on the probability.

    Both, because clipping and saturation make ties, so that a probability may rank worse than its score.
    """
    suffix = ""
    note = ""
    if on == "probability":
        suffix = "_on_probability"
        note = " (probability)"
    yield Metric(f"auroc{suffix}", FromRoc(auroc_of), on, "higher", f"AUROC{note}")
    yield Metric(f"pauc{suffix}", FromRoc(pauc_of), on, "higher", f"pAUC, FPR<=0.1{note}")
    for level in ALL_FPR_LEVELS:
        yield from _at_level(level, on, suffix, note)


def _at_level(level: str, on: On, suffix: str, note: str) -> Iterator[Metric]:
    """Rates at one false positive rate, and how far groups lie apart in them."""
    alpha = ALL_FPR_LEVELS[level]
    words = f"FPR={level}{note}"

    def named(start: str) -> str:
        return f"{start}_at_fpr_{level}{suffix}"

    yield Metric(named("tpr"), RateAt("tpr", alpha), on, "higher", f"TPR@{words}")
    yield Metric(named("fpr"), RateAt("fpr", alpha), on, "lower", f"FPR at global {words}")
    yield Metric(named("acceptance"), RateAt("acceptance", alpha), on, None, f"Acceptance at global {words}")
    own = f"tpr_at_own_fpr_{level}{suffix}"
    yield Metric(own, OwnTprAt(alpha), on, "higher", f"TPR at own {words}")
    for name, rate in GAP_RATES.items():
        gap = OverGroups(named(rate), max_min_gap)
        yield Metric(named(f"{name}_gap"), gap, on, "lower", f"{name.upper()} gap at {words}")
    yield Metric(named("own_eo_gap"), OverGroups(own, max_min_gap), on, "lower", f"EO gap at own {words}")
    ratio = OverGroups(named("fpr"), max_min_ratio)
    yield Metric(named("fpr_ratio"), ratio, on, "lower", f"FPR max/min at {words}")
    spread = OverGroups(named("fpr"), max_to_geometric_mean)
    yield Metric(named("fpr_spread"), spread, on, "lower", f"FPR max/geometric mean at {words}")
    for kind, deviation in DEVIATIONS.items():
        of_fpr = OverGroups(named("fpr"), deviation)
        yield Metric(named(f"fpr_{kind}"), of_fpr, on, "lower", f"FPR over groups, {kind} at {words}")
        of_tpr = OverGroups(named("tpr"), deviation)
        better: Better = "lower"
        if kind == "mean":
            better = "higher"
        yield Metric(named(f"tpr_{kind}"), of_tpr, on, better, f"TPR over groups, {kind} at {words}")


def _ks_over_groups() -> Iterator[Metric]:
    for name, deviation in DEVIATIONS.items():
        yield Metric(f"ks_{name}", OverGroups("ks", deviation), "probability", "lower", f"KS over groups, {name}")


METRICS: tuple[Metric, ...] = (
    *_ranking("score"),
    *_ranking("probability"),
    Metric("brier", brier, "probability", "lower", "Brier"),
    Metric("brier_raw", brier_raw, "score", "lower", "Brier (raw score)"),
    Metric("ece_15", ece, "probability", "lower", "ECE-15"),
    Metric("ks", ks, "probability", "lower", "KS"),
    *_ks_over_groups(),
)

METRIC_BY_ID: dict[str, Metric] = {metric.id: metric for metric in METRICS}


def metrics_version() -> str | None:
    """A digest of the code that measures: runs that were measured by different code are not in one table."""
    return code_digest("fairfr.metrics.cell_metrics.compute_metrics", ("fairfr.metrics.ties",))
