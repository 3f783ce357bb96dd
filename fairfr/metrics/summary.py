"""Fold values in few numbers: mean, spread, how many folds had a value, and the pooled value."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from fairfr.core.findings import Finding
from fairfr.core.names import ENOUGH_FALSE_MATCHES, FPR_LEVELS
from fairfr.core.types import MetricRow
from fairfr.metrics.by_group import ALL, POOLED


def summarise(rows: Iterable[MetricRow]) -> list[dict[str, Any]]:
    """One entry for each (grouping, rule, group, metric), in order of first appearance.

    Parameters
    ----------
    rows : iterable of MetricRow
        Those of all folds and of ``pooled``, as ``compute_metrics`` returns them.

    Returns
    -------
    list of dict
        ``grouping``, ``rule``, ``group``, ``metric``; ``mean`` and ``std`` (ddof 0) over the folds that have a value
        (NaN if none has); ``folds``, their number, and ``folds_total``; ``pooled``, the value over all pairs
        together; ``n_same`` and ``n_diff`` summed over all folds.
    """
    together: dict[tuple[str, str, str, str], list[MetricRow]] = {}
    for row in rows:
        together.setdefault((row.grouping, row.rule, row.group, row.metric), []).append(row)
    return [_summary(members) for members in together.values()]


def _summary(members: Sequence[MetricRow]) -> dict[str, Any]:
    first = members[0]
    folds = [row for row in members if row.fold != POOLED]
    pooled = [row.value for row in members if row.fold == POOLED]
    values = np.array([row.value for row in folds], dtype=np.float64)
    values = values[~np.isnan(values)]
    mean = std = float("nan")
    if len(values):
        mean = float(values.mean())
        std = float(values.std())
    return {
        "grouping": first.grouping,
        "rule": first.rule,
        "group": first.group,
        "metric": first.metric,
        "mean": mean,
        "std": std,
        "folds": len(values),
        "folds_total": len(folds),
        "pooled": pooled[0] if pooled else float("nan"),
        "n_same": sum(row.n_same for row in folds),
        "n_diff": sum(row.n_diff for row in folds),
    }


def few_impostors_findings(rows: Iterable[MetricRow]) -> list[Finding]:
    """A warning for each FPR so low that some fold expects fewer than ten false matches there.

    With so few, TPR at that FPR depends on single impostor pairs, and interpolation biases it upwards.
    """
    n_diff = {row.fold: row.n_diff for row in rows if row.grouping == ALL and row.fold != POOLED}
    if not n_diff:
        return []
    fewest = min(n_diff.values())
    findings = []
    for level, alpha in FPR_LEVELS.items():
        expected = alpha * fewest
        if expected < ENOUGH_FALSE_MATCHES:
            text = (
                f"TPR at FPR={level} rests on about {expected:.1f} false matches in a fold ({fewest:,} impostor pairs"
                "): expect noise and an upward bias, and prefer the pooled value."
            )
            findings.append(Finding("few-false-matches", "warning", text, {"different": fewest}))
    return findings
