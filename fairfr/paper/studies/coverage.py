"""What a group loses that the calibration data hardly covers: its own AUROC and Brier by the share of pairs kept."""

from __future__ import annotations

from itertools import groupby
from typing import TYPE_CHECKING

from fairfr.paper.printed import printed_study
from fairfr.report.figures.curves import Curve, curve_figure, curve_through
from fairfr.report.quantity import group_heading
from fairfr.report.study import Study
from fairfr.report.study_runs import Setting, StudyRuns
from fairfr.report.study_table import ColumnSpec, Measurement, StudyRow, StudyTable, measure_methods
from fairfr.report.tables.grid import Note
from fairfr.stored.run import Run

if TYPE_CHECKING:
    from matplotlib.figure import Figure

METHODS = {
    "platt": "Platt",
    "ac_linear": "AC-Linear",
    "ac_density": "AC-Density",
    "ac_density_loo": "AC-Density (LOO)",
}
PAPER = ("rfw", "arcface_original", "african")
TABLE = StudyTable(
    title="AUROC and Brier score of a group whose calibration pairs are thinned out",
    corner=("Pairs kept",),
    methods=METHODS,
    columns=(ColumnSpec("AUROC"), ColumnSpec("Brier")),
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
    found = []
    for setting in runs.settings:
        for group in runs.values("group", runs.find(setting)):
            section = f"{runs.label(setting)}, {group_heading(group)}"
            for keep in reversed(runs.values("keep", runs.find(setting, group=group))):
                label = (f"{100 * keep:g}%",)
                printed = None
                if (*setting, group.casefold()) == PAPER:
                    printed = label
                found.append(StudyRow(label, _numbers(runs, setting, group, keep), section, printed))
    return found


def _numbers(runs: StudyRuns, setting: Setting, group: str, keep: float) -> dict[str, tuple[Measurement, ...]]:
    def find(method: str) -> Run | None:
        return runs.one(setting, method, group=group, keep=keep, repeat=0)

    def measure(run: Run) -> tuple[Measurement, ...]:
        return tuple(_of_group(runs, run, metric) for metric in ("auroc", "brier"))

    return measure_methods(METHODS, find, measure)


def _of_group(runs: StudyRuns, run: Run, metric: str) -> Measurement:
    """Of the group that was thinned out, whichever way its name is capitalised."""
    wanted = str(runs.value(run, "group")).casefold()
    grouping = str(runs.value(run, "splitter.grouping") or run.result.data.grouping)
    names = {name.casefold(): name for name in run.result.data.groups[grouping]}
    return Measurement.of(run.number(metric, names[wanted], grouping))


def figure(runs: StudyRuns) -> Figure | None:
    """AUROC and Brier over the share that is kept, for each group that was thinned out."""
    panels = {}
    for section, several in groupby(rows(runs), key=lambda row: row.section):
        of_section = list(several)
        for position, column in enumerate(TABLE.columns):
            curves = _curves(of_section, position)
            if curves:
                panels[f"{section}: {column.heading}"] = curves
    return curve_figure(panels, "Pairs of the group kept (%)", "", runs, log=True)


def _curves(rows: list[StudyRow], position: int) -> list[Curve]:
    """A curve for each method, of the quantity at this position."""
    curves = []
    for method, label in METHODS.items():
        points = []
        for row in rows:
            if method in row.values:
                points.append((float(row.label[0].rstrip("%")), row.values[method][position]))
        curve = curve_through(label, points)
        if curve is not None:
            curves.append(curve)
    return curves


STUDY = Study("coverage", TABLE, rows, printed_study("coverage"), figure=figure, rule="both")
