"""How scores are read into numbers, and a stored run whose numbers are looked up under such a reading.

``STRICT`` is the reading of every report: both images in the group, ranked by score, beta overlay everywhere. A paper
may bring one of its own.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from fairfr.core.run_key import Parameters, variant_label
from fairfr.core.run_result import MetricSummary, RunResult
from fairfr.core.types import PairRule
from fairfr.metrics.catalogue import METRIC_BY_ID
from fairfr.metrics.ties import ON_PROBABILITY, ties_code


@dataclass(frozen=True, slots=True)
class Reading:
    """One way to read scores into numbers.

    Parameters
    ----------
    name : str
        What ``--reading`` and the folders of tables call it.
    rule : {"first", "both"}
        Which pairs belong to a group: those whose first image does, or those whose images both do.
    ranks_by_probability : bool
        Methods with a probability of their own are ranked by it; else every method is ranked by its score.
    raw_group_brier : bool
        The Brier score of a group is that of the raw score where a method has no probability of its own; else it is
        that of the beta overlay.
    words : str
        The same in words, for the notes of tables.
    """

    name: str
    rule: PairRule
    ranks_by_probability: bool
    raw_group_brier: bool
    words: str

    def __str__(self) -> str:
        return self.name


STRICT = Reading(
    name="strict",
    rule="both",
    ranks_by_probability=False,
    raw_group_brier=False,
    words="a pair belongs to a group when both images do; methods are ranked by their score; Brier and ECE of "
    "methods without a probability are those of a beta calibration on top.",
)


class Run:
    """A run as it is stored: its result, with its numbers looked up by name.

    ``folder`` is its run folder, if it is at hand. ``config_dirs``: folders that name methods and protocols beside
    ours, whose code it is compared with. ``variant``: parameters that set it apart where it is shown beside runs of the
    same method.
    """

    def __init__(self, result: RunResult, folder: Path | None = None, config_dirs: tuple[Path, ...] = ()) -> None:
        self.result = result
        self.folder = folder
        self.config_dirs = config_dirs
        self.variant: Parameters = {}

    @cached_property
    def _rows(self) -> dict[tuple[str, str, str, str], MetricSummary]:
        if self.result.metrics is None:
            return {}
        return {(r["grouping"], r["rule"], r["group"], r["metric"]): r for r in self.result.metrics.rows}

    @property
    def cell(self) -> tuple[str, str, str]:
        """Data set, backbone and method; a variant is a method of its own."""
        method = variant_label(self.result.method.id, self.variant)
        return self.result.dataset.id, self.result.backbone.id, method

    @property
    def label(self) -> str:
        """The method as a table calls it: ``AC-Density (k=500)``."""
        return variant_label(self.result.method.label, self.variant)

    @property
    def differs(self) -> Parameters:
        """The parameters that are not as in the yaml."""
        return self.result.origin.differs

    @property
    def gives_probability(self) -> bool:
        """Whether its method has a probability of its own; else its score is calibrated after it."""
        return self.result.method.native_probability

    def has_raw_brier(self, reading: Reading) -> bool:
        """Whether the Brier score of its groups is that of the raw score."""
        return reading.raw_group_brier and not self.gives_probability

    @property
    def needs_groups(self) -> bool:
        return "groups" in self.result.method.needs

    @property
    def has_groups(self) -> bool:
        """Whether its data has a grouping."""
        return bool(self.result.data.grouping)

    @property
    def n_folds(self) -> int:
        """How many held-out parts its means are over: the protocol's splits, which need not be the data's folds."""
        row = self.row("auroc", "all", STRICT) or {}
        return int(row.get("folds_total") or len(self.result.data.folds))

    def row(
        self, metric: str, group: str, reading: Reading, grouping: str | None = None, rule: PairRule | None = None
    ) -> dict[str, Any] | None:
        """The summary of a metric for ``all`` pairs, the ``worst`` group, the ``gap`` or a named group.

        ``grouping``: another one than the data set's own. ``rule``: another than that of the reading.
        """
        if reading.ranks_by_probability and self.gives_probability and f"{metric}_on_probability" in METRIC_BY_ID:
            metric = f"{metric}_on_probability"
        if self.has_raw_brier(reading) and metric == "brier" and group != "all":
            metric = "brier_raw"
        if group == "all":
            return self._rows.get(("all", "all", "all", metric))
        grouping = grouping or self.result.data.grouping
        return self._rows.get((grouping or "", rule or reading.rule, group, metric))

    def mean(self, metric: str, group: str, reading: Reading) -> float | None:
        """Its mean over folds; None where there is no number."""
        row = self.row(metric, group, reading)
        return None if row is None else row["mean"]

    def is_tied(self, alpha: str, reading: Reading) -> bool:
        """Whether more impostors share the highest value of a fold than this FPR allows (fairfr.metrics.ties)."""
        metric = f"tpr_at_fpr_{alpha}"
        codes = {ties_code(metric)}  # of the score; a tie there is one of the probability too
        if reading.ranks_by_probability and self.gives_probability:
            codes.add(ties_code(metric + ON_PROBABILITY))
        warnings = () if self.result.metrics is None else self.result.metrics.warnings
        return any(finding.code in codes for finding in warnings)

    def mean_by_score(self, metric: str, group: str, reading: Reading) -> float | None:
        """As ``mean``, of the score where the reading takes the probability."""
        row = self.row(metric, group, STRICT, rule=reading.rule)
        return None if row is None else row["mean"]
