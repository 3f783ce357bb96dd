"""Every metric there is. A new one is one pure function and one entry here."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Literal, TypeAlias

from fairfr.core.names import FPR_LEVELS
from fairfr.core.provenance import code_digest
from fairfr.core.types import F64, Bool
from fairfr.metrics.calibration import brier, brier_raw, ece, ks
from fairfr.metrics.differentials import GAP_RATES
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
class GapOf:
    """The gap between groups in another metric, named by its id; it has no value for a single group."""

    metric: str


PairFunction: TypeAlias = Callable[[Bool, F64], float]


@dataclass(frozen=True, slots=True)
class Metric:
    """What a metric is called, how and on what it is computed, and which direction is good.

    ``compute`` is a pure function of (same, values) or of their ROC curve, a rate at the operating point, or a gap.
    ``better`` alone decides what worst group and best method mean; None has neither.
    """

    id: str
    compute: PairFunction | FromRoc | RateAt | GapOf
    on: On
    better: Better | None
    label: str

    @property
    def has_worst(self) -> bool:
        """Whether a worst group can be named."""
        return self.better is not None and not isinstance(self.compute, GapOf)


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
    for text, alpha in FPR_LEVELS.items():
        at = f"FPR={text}{note}"
        rates: tuple[tuple[Rate, Better | None, str], ...] = (
            ("tpr", "higher", f"TPR@{at}"),
            ("fpr", None, f"FPR at global {at}"),
            ("acceptance", None, f"Acceptance at global {at}"),
        )
        for rate, better, label in rates:
            yield Metric(f"{rate}_at_fpr_{text}{suffix}", RateAt(rate, alpha), on, better, label)
        for name, rate in GAP_RATES.items():
            gap = GapOf(f"{rate}_at_fpr_{text}{suffix}")
            yield Metric(f"{name}_gap_at_fpr_{text}{suffix}", gap, on, "lower", f"{name.upper()} gap at {at}")


METRICS: tuple[Metric, ...] = (
    *_ranking("score"),
    *_ranking("probability"),
    Metric("brier", brier, "probability", "lower", "Brier"),
    Metric("brier_raw", brier_raw, "score", "lower", "Brier (raw score)"),
    Metric("ece_15", ece, "probability", "lower", "ECE-15"),
    Metric("ks", ks, "probability", "lower", "KS"),
)

METRIC_BY_ID: dict[str, Metric] = {metric.id: metric for metric in METRICS}


def metrics_version() -> str | None:
    """A digest of the code that measures: runs that were measured by different code are not in one table."""
    return code_digest("fairfr.metrics.by_group.compute_metrics", ("fairfr.metrics.ties",))
