"""An audit: from arrays to rates, bounds, calibration and sentences."""

from __future__ import annotations

import datetime
import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
import numpy.typing as npt

from fairfr.auditing.group_rates import (
    KINDS,
    AtLeast,
    GroupRates,
    MeasuredRates,
    Rate,
    differentials,
    largest_ratio,
    measure_rates,
)
from fairfr.auditing.probabilities import GroupCalibration, Probabilities, measure_probabilities
from fairfr.auditing.sample import BadRows, Coded, Columns, Grouping, Sample, check_sample
from fairfr.auditing.sentences import AuditFinding, find
from fairfr.auditing.since import Change, changes_since
from fairfr.core.errors import ConfigError, DataError
from fairfr.core.text import shorten_list
from fairfr.core.types import F64, I32, UNKNOWN
from fairfr.library.arrays import as_numpy, check_names
from fairfr.numerics.rate_bounds import CONFIDENCE

if TYPE_CHECKING:
    import pandas as pd

VERSION = 1
LEVELS = (1e-2, 1e-3, 1e-4)

Names: TypeAlias = npt.ArrayLike | tuple[npt.ArrayLike, npt.ArrayLike]
"""One name for each pair, or a tuple (left, right): one for each of its two images. Blank where unknown."""


@dataclass(frozen=True, slots=True)
class AuditedFile:
    """The file that an audit read; without one, the name says where the pairs come from."""

    name: str
    sha256: str | None
    rows: int


@dataclass(frozen=True)
class Audit:
    """What was found. ``print`` shows the sentences.

    Attributes
    ----------
    findings : list of AuditFinding
        Each has a ``kind`` (sure, unclear or note) and a ``text``.
    rates : MeasuredRates
        The error rates of all pairs and of every group, at each threshold.
    probabilities : Probabilities or None
        The calibration of each method in every group; None without labels of both kinds.
    sample : Sample
        The pairs that were audited.
    file : AuditedFile
        What was read.
    created : str
        The date, as in 2026-11-18.
    since : tuple of Change or None
        The rates at the threshold in use beside those of an earlier audit, if one was named.
    """

    findings: list[AuditFinding]
    rates: MeasuredRates
    probabilities: Probabilities | None
    sample: Sample
    file: AuditedFile
    created: str
    since: tuple[Change, ...] | None = None

    def __str__(self) -> str:
        return "\n".join(f"{finding.kind + ':':<9}{finding.text}" for finding in self.findings)

    def to_dict(self) -> dict[str, Any]:
        """Everything as plain JSON: numbers, texts, lists; null where something has no value."""
        return audit_as_dict(self)

    def to_frame(self) -> pd.DataFrame:
        """The rates as a table: a row for each group and threshold. It needs pandas."""
        from fairfr.core.extras import explain_missing_extra

        with explain_missing_extra("Audit.to_frame"):
            import pandas as pd
        return pd.DataFrame([rate_as_dict(row, self.sample) for row in self.rates.rows])

    def to_html(self) -> str:
        """The page: one file that needs no other."""
        from fairfr.auditing.audit_page import audit_page

        return audit_page(self)


def audit(
    score: npt.ArrayLike,
    same: npt.ArrayLike | None,
    *,
    groups: Mapping[str, Names] | None = None,
    identities: Names | None = None,
    fold: npt.ArrayLike | None = None,
    probability: npt.ArrayLike | None = None,
    threshold: float | None = None,
    distance: bool = False,
    fmr: Sequence[float] = LEVELS,
) -> Audit:
    """Audit the scores of a matcher: error rates by group with bounds, and calibration by group.

    Parameters
    ----------
    score : array of shape (n_pairs,)
        The matcher's scores, or its distances.
    same : array of shape (n_pairs,) or None
        Whether a pair shows one person. None: what can be said without labels.
    groups : mapping, optional
        A name such as ``"race"`` to the groups of the pairs: an array of shape (n_pairs,) for both images, or a tuple
        of two for the left and the right images. A pair counts for a group if both images are in it.
    identities : tuple of two arrays of shape (n_pairs,), optional
        Who is on the left and on the right images. Without them pairs count as independent, and the audit says so.
    fold : array of shape (n_pairs,), optional
        Folds for the curves that turn scores into probabilities; without it there are five random ones of people.
    probability : array of shape (n_pairs,), optional
        Probabilities that the matcher gives, to be judged.
    threshold : float, optional
        The threshold in use: pairs with a score from it upwards are accepted (distances: from it downwards).
    distance : bool, default False
        Whether ``score`` is a distance, lower for more similar images.
    fmr : sequence of float, default (1e-2, 1e-3, 1e-4)
        Wanted false match rates, for which thresholds are set on these pairs.

    Returns
    -------
    Audit
        With ``to_frame()`` (rates), ``to_dict()`` (everything, as JSON) and ``to_html()`` (the page).

    Raises
    ------
    DataError
        For scores that are not finite, labels that contradict identities, and shapes that do not fit.
    """
    values = _numbers(score, "score")
    n = len(values)
    label = people = folds = said = None
    if same is not None:
        label = _labels(same, n)
    if identities is not None:
        people = _two_columns(identities, n, "identities")
    if fold is not None:
        folds = _coded(fold, n, "fold").codes
    if probability is not None:
        said = _numbers(probability, "probability", n)
    columns = Columns(
        score=values,
        label=label,
        place=_numbered,
        groupings=tuple(_grouping(name, of, n) for name, of in (groups or {}).items()),
        identity=people,
        fold=folds,
        probability=said,
        is_distance=distance,
    )
    return audit_columns(columns, AuditedFile("arrays", None, n), threshold, fmr)


def audit_columns(
    columns: Columns,
    file: AuditedFile,
    threshold: float | None = None,
    fmr: Sequence[float] = LEVELS,
    bad_rows: BadRows = "refuse",
    since: Path | None = None,
) -> Audit:
    """Audit columns that were read, from arrays or from a file; ``since``: an earlier audit.json to compare with."""
    for level in fmr:
        if not 0 < level < 1:
            raise ConfigError(f"fmr {level:g}: a rate lies between 0 and 1, such as 1e-3.")
    if threshold is not None and not math.isfinite(threshold):
        raise ConfigError(f"threshold {threshold!r}: a finite number in the units of the scores.")
    sample = check_sample(columns, bad_rows)
    similarity = threshold
    if threshold is not None and sample.is_distance:
        similarity = -threshold
    rates = measure_rates(sample, similarity, sorted(set(fmr), reverse=True))
    changes = None
    if since is not None:
        changes = changes_since(since, rates.rows, threshold, sample.orientation)
    probabilities = measure_probabilities(sample)
    findings = find(sample, rates, probabilities)
    created = datetime.date.today().isoformat()
    return Audit(findings, rates, probabilities, sample, file, created, changes)


# -- arrays ----------------------------------------------------------------------------------------------------------


def _numbers(given: npt.ArrayLike, what: str, n: int | None = None) -> F64:
    array = as_numpy(given)
    if array.ndim != 1 or array.dtype.kind not in "fiub" or (n is not None and len(array) != n):
        wanted = "(n_pairs,)" if n is None else f"({n},)"
        raise DataError(f"{what} must be numbers of shape {wanted}, found {array.dtype} of shape {array.shape}.")
    return array.astype(np.float64)


def _labels(given: npt.ArrayLike, n: int) -> I32:
    array = as_numpy(given)
    if array.shape != (n,):
        raise DataError(f"same must have a label for each of the {n:,} pairs, found shape {array.shape}.")
    label = np.full(n, UNKNOWN, dtype=np.int32)
    readable = np.array([item in (0, 1) for item in array.tolist()], dtype=bool)
    label[readable] = array[readable].astype(np.int32)
    return label


def _grouping(name: str, given: Names, n: int) -> Grouping:
    if isinstance(given, tuple):
        return Grouping.of(name, *_two_columns(given, n, f"groups['{name}']"))
    return Grouping.of(name, _coded(given, n, f"groups['{name}']"))


def _two_columns(given: Any, n: int, what: str) -> tuple[Coded, Coded]:
    if not isinstance(given, tuple | list) or len(given) != 2:
        raise DataError(f"{what} must be two arrays: of the left and of the right images.")
    return _coded(given[0], n, what), _coded(given[1], n, what)


def _coded(given: npt.ArrayLike, n: int, what: str) -> Coded:
    names = check_names(given, n, what)
    levels, codes = np.unique(names, return_inverse=True)
    if len(levels) and levels[0] == "":
        return Coded((codes - 1).astype(np.int32), tuple(levels[1:].tolist()))
    return Coded(codes.astype(np.int32), tuple(levels.tolist()))


def _numbered(rows: Sequence[int]) -> str:
    return f"pairs {shorten_list([str(row) for row in rows], len(rows))}, counting from 0"


# -- as JSON ---------------------------------------------------------------------------------------------------------


def audit_as_dict(found: Audit) -> dict[str, Any]:
    """The content of audit.json."""
    sample = found.sample
    content: dict[str, Any] = {
        "version": VERSION,
        "created": found.created,
        "file": asdict(found.file),
        "pairs": pairs_as_dict(sample),
        "orientation": sample.orientation,
        "confidence": CONFIDENCE,
        "findings": [asdict(finding) for finding in found.findings],
        "rates": [rate_as_dict(row, sample) for row in found.rates.rows],
        "differentials": _differentials(found),
        "calibration": calibration_as_list(found.probabilities),
    }
    if found.since is not None:
        content["since"] = [_change_as_dict(change) for change in found.since]
    return content


def _change_as_dict(change: Change) -> dict[str, Any]:
    return {
        "grouping": change.grouping,
        "group": change.group,
        "kind": change.kind,
        "then": change.then.rate,
        "now": change.now.rate,
        "higher": change.higher,
        "lower": change.lower,
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


def _differentials(found: Audit) -> list[dict[str, Any]]:
    entries = []
    for level in found.rates.levels:
        for grouping in found.sample.groupings:
            groups = found.rates.at(level, grouping.id)
            entry: dict[str, Any] = {"grouping": grouping.id, "level": level, **asdict(differentials(groups))}
            for kind in KINDS:
                bound = largest_ratio(groups, kind, found.rates.people_known)
                entry[f"{kind}_at_least"] = None if bound is None else at_least_as_dict(bound)
            entries.append(entry)
    return entries


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
