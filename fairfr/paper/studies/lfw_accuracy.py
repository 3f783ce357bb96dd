"""Ten-fold verification accuracy with a threshold from the training folds, as the LFW protocol has it."""

from __future__ import annotations

import numpy as np

from fairfr.paper.printed import printed_study
from fairfr.report.held_out_folds import held_out_folds
from fairfr.report.readings import Reading, Run
from fairfr.report.study import ColumnSpec, Measurement, Study, StudyRow, StudyTable
from fairfr.report.study_runs import Setting, StudyRuns
from fairfr.report.tables.grid import Note

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
PRINTED = printed_study("lfw_accuracy")
TABLE = StudyTable(
    name="lfw_accuracy",
    printed=PRINTED,
    title="Verification accuracy",
    corner=("Embedding set",),
    methods={PRINTED_AS.get(method, method): label for method, label in METHODS.items()},
    shown=(ColumnSpec("%", 2),),
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
    return [
        StudyRow((runs.label(at),), _numbers(runs, at), paper=(PAPER[at],) if at in PAPER else None)
        for at in runs.settings_after(PAPER)
    ]


def _numbers(runs: StudyRuns, setting: Setting) -> dict[str, tuple[Measurement, ...]]:
    found = {method: runs.one(setting, method) for method in METHODS}
    return {PRINTED_AS.get(m, m): (accuracy(run, runs.reading),) for m, run in found.items() if run is not None}


def accuracy(run: Run, reading: Reading) -> Measurement:
    """Percent of pairs decided rightly, mean and std over folds; None without scores or thresholds."""
    found = [
        float(np.mean((fold.values >= fold.thresholds["accuracy"]) == fold.same))
        for fold in held_out_folds(run, reading)
        if "accuracy" in fold.thresholds
    ]
    return Measurement(100 * float(np.mean(found)), 100 * float(np.std(found))) if found else Measurement(None)


STUDY = Study("lfw_accuracy", lambda runs: [TABLE.grid(runs, rows(runs))], rows, printed=PRINTED)
