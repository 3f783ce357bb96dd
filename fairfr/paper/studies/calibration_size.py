"""How many pairs a calibrator needs: AUROC over the number of training pairs, test folds fixed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from fairfr.paper.printed import printed_study
from fairfr.report.figures.curves import Curve, curve_figure, curve_through
from fairfr.report.study import Study
from fairfr.report.study_runs import Setting, StudyRuns
from fairfr.report.study_table import ColumnSpec, Measurement, StudyRow, StudyTable
from fairfr.report.tables.grid import Note
from fairfr.stored.run import Run

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
TABLE = StudyTable(
    title="Global AUROC by the number of training pairs",
    corner=("Training pairs",),
    methods=METHODS,
    columns=(ColumnSpec("AUROC"),),
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
    found = []
    for setting in runs.settings:
        for size in runs.values("size", runs.find(setting)):
            printed = None
            if setting == PAPER:
                printed = (str(size),)
            found.append(StudyRow((f"{size:,}",), _numbers(runs, setting, size), runs.label(setting), printed))
    return found


def _numbers(runs: StudyRuns, setting: Setting, size: int) -> dict[str, tuple[Measurement, ...]]:
    found: dict[str, tuple[Measurement, ...]] = {}
    for method in METHODS:
        samples = runs.find(setting, method, size=size)
        if samples:
            found[method] = (_over_samples(samples),)
    return found


def _over_samples(runs: Sequence[Run]) -> Measurement:
    """Mean and std over the folds of all samples; each has the same number of folds."""
    numbers = [run.number("auroc") for run in runs]
    known = [number for number in numbers if number is not None and number.mean is not None]
    if not known:
        return Measurement(None)
    means = np.array([number.mean for number in known], dtype=np.float64)
    variances = np.array([number.std for number in known], dtype=np.float64) ** 2
    std = np.sqrt(np.mean(variances + (means - means.mean()) ** 2))
    return Measurement(float(means.mean()), float(std))


def figure(runs: StudyRuns) -> Figure | None:
    """A learning curve for each data set and backbone, with a band of one standard deviation."""
    panels = {}
    for setting in runs.settings:
        curves = _curves(runs, setting)
        if curves:
            panels[runs.label(setting)] = curves
    return curve_figure(panels, "Training pairs", "AUROC", runs)


def _curves(runs: StudyRuns, setting: Setting) -> list[Curve]:
    sizes = runs.values("size", runs.find(setting))
    by_size = {size: _numbers(runs, setting, size) for size in sizes}
    curves = []
    for method, label in METHODS.items():
        points = [(size, numbers[method][0]) for size, numbers in by_size.items() if method in numbers]
        curve = curve_through(label, points)
        if curve is not None:
            curves.append(curve)
    return curves


STUDY = Study("calibration_size", TABLE, rows, printed_study("calibration_size"), figure=figure)
