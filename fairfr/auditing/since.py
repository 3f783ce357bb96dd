"""Then and now: the rates at a threshold in use, beside those of an earlier audit."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from fairfr.auditing.group_rates import CURRENT, KINDS, GroupRates, Kind
from fairfr.core.config import from_mapping
from fairfr.core.errors import ConfigError, DataError
from fairfr.data.files import DataFile
from fairfr.numerics.rate_bounds import CONFIDENCE, Errors, at_least_times


@dataclass(frozen=True)
class Change:
    """One rate of one group, then and now: now it is at least ``higher`` times, and then it was at least ``lower``
    times the other. A bound up to 1 says nothing.
    """

    grouping: str | None
    group: str
    kind: Kind
    then: Errors
    now: Errors
    higher: float
    lower: float


@dataclass(frozen=True)
class _StoredRate:
    """What is read of a row of ``rates``."""

    grouping: str | None
    group: str
    threshold: float
    impostors: int
    genuine: int
    false_matches: int
    false_non_matches: int
    fmr_phi: float
    fnmr_phi: float

    def errors(self, kind: Kind) -> Errors:
        if kind == "fmr":
            return Errors(self.false_matches, self.impostors, self.fmr_phi**2)
        return Errors(self.false_non_matches, self.genuine, self.fnmr_phi**2)


def changes_since(
    path: Path, rows: Sequence[GroupRates], threshold: float | None, orientation: str
) -> tuple[Change, ...]:
    """Compare the rates at the threshold in use with those of an earlier audit.

    Parameters
    ----------
    path : Path
        The earlier ``audit.json``.
    rows : sequence of GroupRates
        The rates of now; those at the threshold in use are compared.
    threshold : float or None
        The threshold in use, in the user's units. It must be that of then.
    orientation : {"score", "distance"}
        What the threshold is on. It must be that of then.

    Returns
    -------
    tuple of Change
        For each group of both audits; all bounds hold together with 95 % confidence.
    """
    if threshold is None:
        raise ConfigError("--since compares rates at the threshold in use: name it with --threshold T.")
    before = _rates_then(path, threshold, orientation)
    pairs = []
    for row in rows:
        then = before.get((row.grouping, row.group))
        if row.level != CURRENT or then is None:
            continue
        for kind in KINDS:
            both = (then.errors(kind), row.rate(kind).errors)
            if min(found.pairs for found in both) > 0:
                pairs.append((row, kind, both))
    alpha = (1 - CONFIDENCE) / 2
    changes = []
    for row, kind, (earlier, later) in pairs:
        higher = at_least_times(later, earlier, len(pairs), alpha)
        lower = at_least_times(earlier, later, len(pairs), alpha)
        changes.append(Change(row.grouping, row.group, kind, earlier, later, higher, lower))
    return tuple(changes)


def _rates_then(path: Path, threshold: float, orientation: str) -> dict[tuple[str | None, str], _StoredRate]:
    """The rates at the threshold in use of an earlier audit, by grouping and group."""
    text = DataFile.at(path).read()
    try:
        content = json.loads(text)
        then = content["orientation"]
        read = [_stored_rate(row) for row in content["rates"] if row["level"] == CURRENT]
    except (ValueError, KeyError, TypeError, OverflowError, RecursionError, ConfigError) as error:
        raise DataError(
            f"{path} is not an audit.json of fairfr audit ({type(error).__name__}). Name the file that an earlier "
            "audit wrote."
        ) from None
    if not read:
        raise DataError(f"{path} has no rates at a threshold in use. Make that audit again, with --threshold.")
    if then != orientation or not math.isclose(read[0].threshold, threshold, rel_tol=1e-9):
        raise DataError(
            f"{path} is about the {then} {read[0].threshold:g}, and this audit about the {orientation} {threshold:g}. "
            "Give both the same threshold."
        )
    return {(row.grouping, row.group): row for row in read}


def _stored_rate(row: Mapping[str, Any]) -> _StoredRate:
    names = _StoredRate.__dataclass_fields__
    found: _StoredRate = from_mapping(_StoredRate, {name: row[name] for name in names})
    for kind in KINDS:
        errors = found.errors(kind)
        if not 0 <= errors.errors <= errors.pairs or not 0 <= errors.spread < math.inf:
            raise ValueError("impossible counts")
    return found
