"""Ten-fold verification accuracy with a threshold from the training folds, as the LFW protocol has it."""

from __future__ import annotations

import numpy as np

from fairfr.paper.printed import printed_study
from fairfr.report.held_out_folds import held_out_folds
from fairfr.report.study import Study
from fairfr.report.study_runs import Setting, StudyRuns
from fairfr.report.study_table import ColumnSpec, Measurement, StudyRow, StudyTable, measure_methods
from fairfr.report.tables.grid import Note
from fairfr.stored.run import Run

METHODS = {
    "baseline": "Cosine",
    "platt": "Platt",
    "ac_linear": "AC-Linear",
    "ac_density": "AC-Density",
    "ac_density_loo": "AC-Density (LOO)",
}
PRINTED_AS = {"baseline": "cosine"}
PAPER = {
    ("lfw", "arcface_r50_aligned"): "ArcFace-R50, regenerated",
    ("lfw", "adaface_aligned"): "AdaFace-IR101, regenerated",
    ("lfw", "vit_b"): "ViT-B, AdaFace-trained",
    ("lfw", "arcface_original"): "ArcFace, original embedding set",
}
TABLE = StudyTable(
    title="Verification accuracy",
    corner=("Embedding set",),
    methods={PRINTED_AS.get(method, method): label for method, label in METHODS.items()},
    columns=(ColumnSpec("%", 2),),
    about=("Percent, mean and standard deviation over held-out folds; the threshold is set on the training folds.",),
    notes=(
        Note(
            "threshold",
            "The threshold of a fold is the one under which most training pairs are decided rightly, the highest of "
            "several, and is applied to the fold held out. For the cosine that is the LFW protocol. A calibrated "
            "method is fitted on the same training pairs, and sets its threshold on its own scores of them.",
        ),
    ),
)


def rows(runs: StudyRuns) -> list[StudyRow]:
    """A row for each embedding set: the paper's in its order, then others by name."""
    found = []
    for setting in runs.settings_after(PAPER):
        printed = None
        if setting in PAPER:
            printed = (PAPER[setting],)
        found.append(StudyRow((runs.label(setting),), _numbers(runs, setting), paper=printed))
    return found


def _numbers(runs: StudyRuns, setting: Setting) -> dict[str, tuple[Measurement, ...]]:
    def find(method: str) -> Run | None:
        return runs.one(setting, method)

    def measure(run: Run) -> tuple[Measurement, ...]:
        return (accuracy(run),)

    found = measure_methods(METHODS, find, measure)
    return {PRINTED_AS.get(method, method): numbers for method, numbers in found.items()}


def accuracy(run: Run) -> Measurement:
    """Percent of pairs decided rightly, mean and std over folds; None without scores or thresholds."""
    shares = []
    for fold in held_out_folds(run):
        if "accuracy" in fold.thresholds:
            accepted = fold.values >= fold.thresholds["accuracy"]
            shares.append(float(np.mean(accepted == fold.same)))
    if not shares:
        return Measurement(None)
    return Measurement(100 * float(np.mean(shares)), 100 * float(np.std(shares)))


STUDY = Study("lfw_accuracy", TABLE, rows, printed_study("lfw_accuracy"))
