"""How many pairs a calibrator needs: AUROC over the number of training pairs, test folds fixed."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from fairfr.paper.printed import printed_study
from fairfr.report.figures.curves import curve_figure, study_curves
from fairfr.report.study import Study, StudyRow
from fairfr.report.tables.grid import Note
from fairfr.report.tables.places import Place, number
from fairfr.stored.results import Results
from fairfr.stored.run import Number

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


def rows(results: Results) -> Iterator[StudyRow]:
    """A row for each size, by data set and backbone."""
    for setting in results.settings:
        for size in results.values("size", {"setting": setting}):
            printed = None
            if setting == PAPER:
                printed = (str(size),)
            where = {"setting": setting, "size": size}
            yield StudyRow(f"{size:,}", where, results.name(setting), paper=printed)


def over_samples(results: Results, place: Place) -> Number | None:
    """Mean and std over the folds of all samples; each has the same number of folds."""
    found = [run.number("auroc") for run in results.every(place.where)]
    known = [one for one in found if one is not None and one.mean is not None]
    if not known:
        return None
    means = np.array([one.mean for one in known], dtype=np.float64)
    variances = np.array([one.std for one in known], dtype=np.float64) ** 2
    std = np.sqrt(np.mean(variances + (means - means.mean()) ** 2))
    return Number.derived(float(means.mean()), float(std), sum(one.folds for one in known))


def figure(results: Results) -> Figure | None:
    """A learning curve for each data set and backbone, with a band of one standard deviation."""
    return curve_figure(study_curves(STUDY, results, "size"), "Training pairs", "AUROC", results)


STUDY = Study(
    "calibration_size",
    title="Global AUROC by the number of training pairs",
    corner="Training pairs",
    methods=METHODS,
    numbers=(number("AUROC", "auroc", digits=4, spread=True),),
    rows=rows,
    measure=over_samples,
    about=("Mean and standard deviation over held-out folds and samples; the test folds are the published ones.",),
    notes=(
        Note(
            "samples",
            "A sample keeps the share of genuine pairs, and is part of every larger one. The paper draws three samples "
            "of each size for AC-MLP and one for the others; its standard deviations, like these, are over folds and "
            "samples together, and no confidence intervals.",
        ),
    ),
    printed=printed_study("calibration_size"),
    figure=figure,
)
