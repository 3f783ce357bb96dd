"""What a group loses that the calibration data hardly covers: its own AUROC and Brier by the share of pairs kept."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from fairfr.paper.printed import printed_study
from fairfr.report.figures.curves import curve_figure, study_curves
from fairfr.report.quantity import group_heading
from fairfr.report.study import Study, StudyRow
from fairfr.report.tables.grid import Note
from fairfr.report.tables.places import Place, number
from fairfr.stored.results import Results
from fairfr.stored.run import Number

if TYPE_CHECKING:
    from matplotlib.figure import Figure

METHODS = {
    "platt": "Platt",
    "ac_linear": "AC-Linear",
    "ac_density": "AC-Density",
    "ac_density_loo": "AC-Density (LOO)",
}
PAPER = ("rfw", "arcface_original", "african")
GROUP = "splitter.group"


def rows(results: Results) -> Iterator[StudyRow]:
    """A row for each share, by data set, backbone and group."""
    for setting in results.settings:
        for group in results.values(GROUP, {"setting": setting}):
            section = f"{results.name(setting)}, {group_heading(group)}"
            for keep in reversed(results.values("keep", {"setting": setting, GROUP: group})):
                label = f"{100 * keep:g}%"
                printed = None
                if (*setting, group.casefold()) == PAPER:
                    printed = (label,)
                where = {"setting": setting, GROUP: group, "keep": keep, "repeat": 0}
                yield StudyRow(label, where, section, paper=printed)


def of_thinned_group(results: Results, place: Place) -> Number | None:
    """Of the group that was thinned out, whichever way its name is capitalised."""
    run = results.find(place.where)
    assert run is not None and place.quantity is not None
    grouping = str(run.value("splitter.grouping") or run.result.data.grouping)
    names = {name.casefold(): name for name in run.result.data.groups[grouping]}
    return run.number(place.quantity.metric, names[str(run.value(GROUP)).casefold()], grouping)


def figure(results: Results) -> Figure | None:
    """AUROC and Brier over the share that is kept, for each group that was thinned out."""
    panels = study_curves(STUDY, results, "keep", scale=100)
    return curve_figure(panels, "Pairs of the group kept (%)", "", results, log=True)


STUDY = Study(
    "coverage",
    title="AUROC and Brier score of a group whose calibration pairs are thinned out",
    corner="Pairs kept",
    methods=METHODS,
    numbers=(number("AUROC", "auroc", digits=4), number("Brier", "brier", digits=4)),
    rows=rows,
    measure=of_thinned_group,
    about=("Means over held-out folds of the group's own pairs; the test folds are the published ones.",),
    notes=(
        Note(
            "kept",
            "A pair counts to the group if one of its images does; what is kept has the share of genuine pairs of the "
            "whole, and is part of every larger share. Measured are the pairs inside the group.",
        ),
    ),
    printed=printed_study("coverage"),
    figure=figure,
    rule="both",
)
