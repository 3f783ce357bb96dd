"""An audit: from arrays to rates, bounds, calibration and sentences."""

from __future__ import annotations

import datetime
import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import numpy.typing as npt

from fairfr.auditing.given_arrays import Names, coded_names, given_columns, read_numbers
from fairfr.auditing.group_rates import KINDS, differentials, largest_ratio, measure_rates
from fairfr.auditing.probabilities import measure_probabilities
from fairfr.auditing.report import (
    AuditedFile,
    Report,
    at_least_as_dict,
    calibration_as_list,
    rate_as_dict,
    report_as_dict,
)
from fairfr.auditing.sample import BadRows, Columns, check_sample
from fairfr.auditing.sentences import find
from fairfr.auditing.since import Change, changes_since
from fairfr.core.errors import ConfigError

LEVELS = (1e-2, 1e-3, 1e-4)


@dataclass(frozen=True)
class Audit(Report):
    """What an audit found. ``print`` shows the sentences.

    Attributes
    ----------
    since : tuple of Change or None
        The rates at the threshold in use beside those of an earlier audit, if one was named.
    """

    since: tuple[Change, ...] | None = None

    def to_dict(self) -> dict[str, Any]:
        """Everything as plain JSON: numbers, texts, lists; null where something has no value."""
        return audit_as_dict(self)

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
    columns = given_columns(score, same, groups, identities)
    n = len(columns.score)
    if fold is not None:
        columns = replace(columns, fold=coded_names(fold, n, "fold").codes)
    if probability is not None:
        columns = replace(columns, probability=read_numbers(probability, "probability", n))
    columns = replace(columns, is_distance=distance)
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


# -- as JSON ---------------------------------------------------------------------------------------------------------


def audit_as_dict(found: Audit) -> dict[str, Any]:
    """The content of audit.json."""
    content = report_as_dict(found) | {
        "rates": [rate_as_dict(row, found.sample) for row in found.rates.rows],
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
