"""The paper's reading of scores, which reproduces its tables, and the runs that get it unless one is asked for."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from fairfr.core.readings import shared_reading, usual_reading
from fairfr.core.run_result import RunResult
from fairfr.report.run import STRICT, Reading, Run

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


def reading_of(run: Run) -> Reading:
    """How the scores of a run are read where no reading is asked for."""
    return READINGS[usual_reading(run.result)]


def is_of_paper(run: Run) -> bool:
    """Whether a run is on one of the paper's data sets with one of its backbones."""
    return reading_of(run) == PAPER_READING


def reading_shared_by(results: Iterable[RunResult]) -> Reading:
    """The reading of runs that are shown together: the paper's only where it is that of each."""
    return READINGS[shared_reading(results)]
