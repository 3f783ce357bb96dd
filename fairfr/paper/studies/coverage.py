"""What a group loses that the calibration data hardly covers: its own AUROC and Brier by the share of pairs kept."""

from __future__ import annotations

from itertools import groupby
from typing import TYPE_CHECKING

from fairfr.paper.printed import printed_study
from fairfr.report.figures.curves import Curve, curve_figure, curve_through
from fairfr.report.quantity import group_heading
from fairfr.report.readings import Run
from fairfr.report.study import ColumnSpec, Measurement, Study, StudyRow, StudyTable
from fairfr.report.study_runs import Setting, StudyRuns
from fairfr.report.tables.grid import Note

if TYPE_CHECKING:
    from matplotlib.figure import Figure

METHODS = {
    "platt": "Platt",
    "ac_linear": "AC-Linear",
    "ac_density": "AC-Density",
    "ac_density_loo": "AC-Density (LOO)",
}
PAPER = ("rfw", "arcface_original", "african")
PRINTED = printed_study("coverage")
TABLE = StudyTable(
    name="coverage",
    printed=PRINTED,
    title="AUROC and Brier score of a group whose calibration pairs are thinned out",
    corner=("Pairs kept",),
    methods=METHODS,
    shown=(ColumnSpec("AUROC"), ColumnSpec("Brier")),
    about=("Means over held-out folds of the group's own pairs; the test folds are the published ones.",),
    notes=(
        Note(
            "kept",
            "A pair counts to the group if one of its images does; what is kept has the share of genuine pairs of the "
            "whole, and is part of every larger share. Measured are the pairs inside the group.",
        ),
    ),
)


def rows(runs: StudyRuns) -> list[StudyRow]:
    """A row for each share, by data set, backbone and group."""
    return [
        StudyRow(
            (_percent(keep),),
            _numbers(runs, at, group, keep),
            f"{runs.label(at)}, {group_heading(group)}",
            (_percent(keep),) if (*at, group.casefold()) == PAPER else None,
        )
        for at in runs.settings
        for group in runs.values("group", runs.find(at))
        for keep in reversed(runs.values("keep", runs.find(at, group=group)))
    ]


def _numbers(runs: StudyRuns, setting: Setting, group: str, keep: float) -> dict[str, tuple[Measurement, ...]]:
    found = {method: runs.one(setting, method, group=group, keep=keep, repeat=0) for method in METHODS}
    return {m: tuple(_number(runs, run, metric) for metric in ("auroc", "brier")) for m, run in found.items() if run}


def _number(runs: StudyRuns, run: Run, metric: str) -> Measurement:
    """Of the group that was thinned out, whichever way its name is capitalised."""
    wanted = str(runs.value(run, "group")).casefold()
    grouping = runs.value(run, "splitter.grouping") or run.stored["data"]["grouping"]
    levels = run.stored["data"]["groups"][grouping]
    level = next(level for level in levels if level.casefold() == wanted)
    row = run.row(metric, level, runs.reading, grouping, "both")
    return Measurement(None if row is None else row["mean"])


def _percent(share: float) -> str:
    return f"{100 * share:g}%"


def figure(runs: StudyRuns) -> Figure | None:
    """AUROC and Brier over the share that is kept, for each group that was thinned out."""
    panels = {}
    for section, several in groupby(rows(runs), key=lambda row: row.section):
        of_section = list(several)
        for at, shown in enumerate(TABLE.shown):
            panels[f"{section}: {shown.heading}"] = _curves(of_section, at)
    return curve_figure({t: c for t, c in panels.items() if c}, "Pairs of the group kept (%)", "", runs, log=True)


def _curves(rows: list[StudyRow], at: int) -> list[Curve]:
    """A curve for each method, of the quantity at position ``at``."""
    points = {
        label: [(float(row.label[0].rstrip("%")), row.values[m][at]) for row in rows if m in row.values]
        for m, label in METHODS.items()
    }
    return [curve for label, found in points.items() if (curve := curve_through(label, found)) is not None]


STUDY = Study("coverage", lambda runs: [TABLE.grid(runs, rows(runs))], rows, figure, printed=PRINTED)
