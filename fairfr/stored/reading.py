"""How scores are read into numbers: which pairs are in a group, what ranks them, and on what Brier scores are."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from fairfr.core.readings import shared_reading, usual_reading
from fairfr.core.run_result import RunResult
from fairfr.core.types import PairRule
from fairfr.metrics.catalogue import METRIC_BY_ID
from fairfr.metrics.ties import ON_PROBABILITY

RAW = "_raw"


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

    def stored_metric(self, metric: str, group: str, native_probability: bool) -> str:
        """The name under which a run stores what this reading calls ``metric``."""
        on_probability = metric + ON_PROBABILITY
        if self.ranks_by_probability and native_probability and on_probability in METRIC_BY_ID:
            return on_probability
        if self.raw_group_brier and not native_probability and metric == "brier" and group != "all":
            return "brier_raw"
        return metric

    def shown_metric(self, stored: str, group: str, native_probability: bool) -> str:
        """The other way round: what this reading calls a metric that a run stores.

        One in whose place it takes another is called after what it is measured on: ``auroc_by_score``.
        """
        for metric in (stored.removesuffix(ON_PROBABILITY), stored.removesuffix(RAW)):
            if metric != stored and self.stored_metric(metric, group, native_probability) == stored:
                return metric
        if self.stored_metric(stored, group, native_probability) == stored:
            return stored
        if stored == "brier":
            return "brier_by_probability"
        return f"{stored}_by_score"


STRICT = Reading(
    name="strict",
    rule="both",
    ranks_by_probability=False,
    raw_group_brier=False,
    words="a pair belongs to a group when both images do; methods are ranked by their score; Brier and ECE of "
    "methods without a probability are those of a beta calibration on top.",
)
PAPER_READING = Reading(
    name="paper",
    rule="first",
    ranks_by_probability=True,
    raw_group_brier=True,
    words="a pair belongs to its first image's group; methods with a probability of their own are ranked by it; the "
    "worst-group Brier score of the others is that of their raw score; GST, DemoNorm and Oracle are the variants that "
    "reproduce the paper's rows.",
)
READINGS: Mapping[str, Reading] = {reading.name: reading for reading in (PAPER_READING, STRICT)}


def reading_of(result: RunResult) -> Reading:
    """How the scores of a run are read where no reading is asked for."""
    return READINGS[usual_reading(result)]


def reading_shared_by(results: Iterable[RunResult]) -> Reading:
    """The reading of runs that are shown together: the paper's only where it is that of each."""
    return READINGS[shared_reading(results)]
