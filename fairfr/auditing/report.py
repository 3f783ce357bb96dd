"""What the page and the JSON of an audit and of an evaluation have in common."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from fairfr.auditing.group_rates import KINDS, AtLeast, GroupRates, MeasuredRates, Rate
from fairfr.auditing.probabilities import GroupCalibration, Probabilities
from fairfr.auditing.sample import Sample
from fairfr.auditing.sentences import AuditFinding
from fairfr.numerics.rate_bounds import CONFIDENCE

if TYPE_CHECKING:
    import pandas as pd

VERSION = 1


@dataclass(frozen=True, slots=True)
class AuditedFile:
    """The file that was read; without one, the name says where the pairs come from."""

    name: str
    sha256: str | None
    rows: int


@dataclass(frozen=True)
class Report:
    """What was measured on the pairs of a file.

    Attributes
    ----------
    findings : list of AuditFinding
        Each has a ``kind`` (sure, unclear or note) and a ``text``.
    rates : MeasuredRates
        The error rates of all pairs and of every group, at each threshold.
    probabilities : Probabilities or None
        The calibration of each method in every group; None without labels of both kinds.
    sample : Sample
        The pairs.
    file : AuditedFile
        What was read.
    created : str
        The date, as in 2026-11-18.
    """

    findings: list[AuditFinding]
    rates: MeasuredRates
    probabilities: Probabilities | None
    sample: Sample
    file: AuditedFile
    created: str

    def __str__(self) -> str:
        return "\n".join(f"{finding.kind + ':':<9}{finding.text}" for finding in self.findings)

    def to_frame(self) -> pd.DataFrame:
        """The rates as a table: a row for each group and threshold. It needs pandas."""
        from fairfr.core.extras import explain_missing_extra

        with explain_missing_extra(f"{type(self).__name__}.to_frame"):
            import pandas as pd
        return pd.DataFrame([rate_as_dict(row, self.sample) for row in self.rates.rows])


# -- as JSON ---------------------------------------------------------------------------------------------------------


def report_as_dict(found: Report) -> dict[str, Any]:
    """What every report says first: of which file and which pairs it is, and what was found."""
    return {
        "version": VERSION,
        "created": found.created,
        "file": asdict(found.file),
        "pairs": pairs_as_dict(found.sample),
        "orientation": found.sample.orientation,
        "confidence": CONFIDENCE,
        "findings": [asdict(finding) for finding in found.findings],
    }


def pairs_as_dict(sample: Sample) -> dict[str, Any]:
    """What the pairs are: counts only, nobody's name."""
    genuine = impostors = None
    across: dict[str, Any] = {}
    if sample.same is not None:
        genuine = int(np.count_nonzero(sample.same))
        impostors = len(sample) - genuine
        for grouping in sample.groupings:
            across[grouping.id] = {
                "genuine": int(np.count_nonzero(grouping.across & sample.same)),
                "impostors": int(np.count_nonzero(grouping.across & ~sample.same)),
            }
    return {
        "used": len(sample),
        "genuine": genuine,
        "impostors": impostors,
        "left_out": dict(sample.left_out),
        "repeated": sample.repeated,
        "across": across,
        "identities": "unknown" if sample.people is None else "known",
        "people": sample.n_people,
    }


def rate_as_dict(row: GroupRates, sample: Sample) -> dict[str, Any]:
    """One row of ``rates``."""
    return {
        "grouping": row.grouping,
        "group": row.group,
        "level": row.level,
        "threshold": None if row.threshold is None else sample.shown(row.threshold),
        "impostors": row.fmr.errors.pairs,
        "genuine": row.fnmr.errors.pairs,
        "false_matches": row.fmr.errors.errors,
        "false_non_matches": row.fnmr.errors.errors,
        "fmr": plain(row.fmr.errors.rate),
        "fnmr": plain(row.fnmr.errors.rate),
        "fmr_interval": _interval(row.fmr),
        "fnmr_interval": _interval(row.fnmr),
        "fmr_phi": math.sqrt(row.fmr.errors.spread),
        "fnmr_phi": math.sqrt(row.fnmr.errors.spread),
        "few": [kind for kind in KINDS if row.rate(kind).is_few],
        "pairs_needed": row.needed,
        "at_impostor_level": plain(row.impostor_like),
    }


def _interval(rate: Rate) -> list[float] | None:
    if rate.errors.pairs == 0:
        return None
    return list(rate.interval)


def plain(value: float | None) -> float | None:
    """None in place of what JSON has no number for."""
    if value is None or not math.isfinite(value):
        return None
    return float(value)


def at_least_as_dict(bound: AtLeast) -> dict[str, Any]:
    """One bound on a ratio of rates."""
    return {
        "higher": bound.higher.group,
        "lower": bound.lower.group,
        "x": bound.times,
        "if_people_vary": bound.if_people_vary,
        "phi_at_one": bound.phi_at_one,
        "comparisons": bound.comparisons,
        "confidence": CONFIDENCE,
    }


def calibration_as_list(probabilities: Probabilities | None) -> list[dict[str, Any]]:
    """Each method in each group."""
    if probabilities is None:
        return []
    return [_calibration_as_dict(row) for row in probabilities.groups]


def _calibration_as_dict(row: GroupCalibration) -> dict[str, Any]:
    entry: dict[str, Any] = {"method": row.method, "grouping": row.grouping, "group": row.group}
    for name in ("said", "true", "log_loss", "brier", "ece", "cllr", "cllr_min", "auroc", "eer"):
        entry[name] = plain(getattr(row, name))
    entry |= dict.fromkeys(("slope", "slope_interval", "intercept", "intercept_interval"))
    if row.line is not None:
        entry["slope"] = row.line.slope
        entry["intercept"] = row.line.intercept
    if row.line is not None and row.intervals_known:
        entry["slope_interval"] = list(row.line.slope_interval)
        entry["intercept_interval"] = list(row.line.intercept_interval)
    entry |= dict.fromkeys(("ecce", "ecce_sigma", "ecce_p", "ecce_detectable"))
    if row.test is not None:
        entry["ecce"] = row.test.ecce
        entry["ecce_sigma"] = row.test.sigma
        entry["ecce_p"] = plain(row.test.p_value)
        entry["ecce_detectable"] = row.test.detectable
    entry["reason"] = row.reason
    return entry
