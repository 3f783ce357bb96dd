"""Ten-fold verification accuracy with a threshold from the training folds, as the LFW protocol has it."""

from __future__ import annotations

from functools import partial

import numpy as np

from fairfr.paper.printed import printed_study
from fairfr.report.held_out_folds import held_out_folds
from fairfr.report.study import Study, row_of_each_setting
from fairfr.report.tables.grid import Note
from fairfr.report.tables.places import Form, Place
from fairfr.stored.results import Results
from fairfr.stored.run import Number

METHODS = {
    "cosine": "Cosine",
    "platt": "Platt",
    "ac_linear": "AC-Linear",
    "ac_density": "AC-Density",
    "ac_density_loo": "AC-Density (LOO)",
}
PAPER = {
    ("lfw", "arcface_r50_aligned"): "ArcFace-R50, regenerated",
    ("lfw", "adaface_aligned"): "AdaFace-IR101, regenerated",
    ("lfw", "vit_b"): "ViT-B, AdaFace-trained",
    ("lfw", "arcface_original"): "ArcFace, original embedding set",
}


def accuracy(results: Results, place: Place) -> Number | None:
    """Percent of pairs decided rightly, mean and std over folds; None without scores or thresholds."""
    run = results.find(place.where)
    assert run is not None
    shares = []
    for fold in held_out_folds(run):
        if "accuracy" in fold.thresholds:
            accepted = fold.values >= fold.thresholds["accuracy"]
            shares.append(float(np.mean(accepted == fold.same)))
    if not shares:
        return None
    return Number.derived(100 * float(np.mean(shares)), 100 * float(np.std(shares)), len(shares))


STUDY = Study(
    "lfw_accuracy",
    title="Verification accuracy",
    corner="Embedding set",
    methods=METHODS,
    run_as={"cosine": "baseline"},
    numbers=(Place("%", form=Form(digits=2, spread=True)),),
    rows=partial(row_of_each_setting, paper=PAPER),
    measure=accuracy,
    about=("Percent, mean and standard deviation over held-out folds; the threshold is set on the training folds.",),
    notes=(
        Note(
            "threshold",
            "The threshold of a fold is the one under which most training pairs are decided rightly, the highest of "
            "several, and is applied to the fold held out. For the cosine that is the LFW protocol. A calibrated "
            "method is fitted on the same training pairs, and sets its threshold on its own scores of them.",
        ),
    ),
    printed=printed_study("lfw_accuracy"),
)
