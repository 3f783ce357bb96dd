"""How many pairs a calibrator needs: AUROC over the number of training pairs, test folds fixed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from fairfr.paper.printed import printed_study
from fairfr.report.figures.curves import Curve, curve_figure, curve_through
from fairfr.report.readings import Reading, Run
from fairfr.report.study import ColumnSpec, Measurement, Study, StudyRow, StudyTable
from fairfr.report.study_runs import Setting, StudyRuns
from fairfr.report.tables.grid import Note

if TYPE_CHECKING:
    from matplotlib.figure import Figure

METHODS = {
    "platt": "Platt",
    "ac_mlp": "AC-MLP",
    "ac_linear": "AC-Linear",
    "ac_density": "AC-Density",
    "ac_density_loo": "AC-Density (LOO)",
}
PAPER = ("lfw", "adaface_aligned")
PRINTED = printed_study("calibration_size")
TABLE = StudyTable(
    name="calibration_size",
    printed=PRINTED,
    title="Global AUROC by the number of training pairs",
    corner=("Training pairs",),
    methods=METHODS,
    shown=(ColumnSpec("AUROC"),),
    about=("Mean and standard deviation over held-out folds and samples; the test folds are the published ones.",),
    notes=(
        Note(
            "samples",
            "A sample keeps the share of genuine pairs, and is part of every larger one. The paper draws three samples "
            "of each size for AC-MLP and one for the others; its standard deviations, like these, are over folds and "
            "samples together, and no confidence intervals.",
        ),
    ),
)


def rows(runs: StudyRuns) -> list[StudyRow]:
    """A row for each size, by data set and backbone."""
    return [
        StudyRow((f"{size:,}",), _numbers(runs, at, size), runs.label(at), (str(size),) if at == PAPER else None)
        for at in runs.settings
        for size in runs.values("size", runs.find(at))
    ]


def _numbers(runs: StudyRuns, setting: Setting, size: int) -> dict[str, tuple[Measurement, ...]]:
    found = {method: runs.find(setting, method, size=size) for method in METHODS}
    return {method: (_over_samples(samples, runs.reading),) for method, samples in found.items() if samples}


def _over_samples(runs: Sequence[Run], reading: Reading) -> Measurement:
    """Mean and std over the folds of all samples; each has the same number of folds."""
    found = [row for run in runs if (row := run.row("auroc", "all", reading)) is not None and row["mean"] is not None]
    if not found:
        return Measurement(None)
    means, stds = (np.array([row[name] for row in found]) for name in ("mean", "std"))
    return Measurement(float(means.mean()), float(np.sqrt(np.mean(stds**2 + (means - means.mean()) ** 2))))


def figure(runs: StudyRuns) -> Figure | None:
    """A learning curve for each data set and backbone, with a band of one standard deviation."""
    panels = {runs.label(at): _curves(runs, at) for at in runs.settings}
    return curve_figure({title: curves for title, curves in panels.items() if curves}, "Training pairs", "AUROC", runs)


def _curves(runs: StudyRuns, setting: Setting) -> list[Curve]:
    sizes = runs.values("size", runs.find(setting))
    numbers = {size: _numbers(runs, setting, size) for size in sizes}
    points = {
        label: [(size, numbers[size][method][0]) for size in sizes if method in numbers[size]]
        for method, label in METHODS.items()
    }
    return [curve for label, found in points.items() if (curve := curve_through(label, found)) is not None]


STUDY = Study("calibration_size", lambda runs: [TABLE.grid(runs, rows(runs))], rows, figure, printed=PRINTED)
