"""Which input makes Adaptive Calibration work: worst-group AUROC of methods that see more and more of a pair."""

from __future__ import annotations

from fairfr.paper.printed import printed_study
from fairfr.report.study import ColumnSpec, Measurement, Study, StudyRow, StudyTable
from fairfr.report.study_runs import Setting, StudyRuns
from fairfr.report.tables.grid import Note

METHODS = {
    "platt": "Platt",
    "beta": "Beta",
    "midpoint_only": "m",
    "density_score": "[rho, s]",
    "ac_linear": "AC-Linear",
    "ac_density": "AC-Density",
    "ac_density_loo": "AC-Density (LOO)",
}
RUN_AS = {"beta": "beta_paper"}  # the study's beta is the unconstrained one
PAPER = {
    ("rfw", "arcface_original"): "RFW, ArcFace",
    ("rfw", "arcface_r100_aligned"): "RFW, R100",
    ("rfw", "facenet_casia"): "RFW, FaceNet-C",
    ("rfw", "facenet_vggface2"): "RFW, FaceNet-V",
    ("lfw", "adaface_aligned"): "LFW, AdaFace",
    ("lfw", "vit_b"): "LFW, ViT-B",
    ("bfw", "sphereface"): "BFW, SphereFace",
    ("bfw", "arcface_r50_aligned"): "BFW, ArcFace-R50",
    ("bfw", "adaface_aligned"): "BFW, AdaFace",
    ("bfw", "vit_b"): "BFW, ViT-B",
}
PRINTED = printed_study("components")
TABLE = StudyTable(
    name="components",
    printed=PRINTED,
    title="Component ablation: worst-group AUROC",
    corner=("Setting",),
    methods=METHODS,
    shown=(ColumnSpec("AUROC"),),
    about=("Means over held-out folds of the worst group of each; pairs of two groups are in none.",),
    notes=(
        Note(
            "inputs",
            "m: logistic regression on the midpoint alone. [rho, s]: on local density and cosine. Beta is the "
            "unconstrained one, which may change the order of pairs. The embedding sets are the study's own.",
        ),
    ),
)


def rows(runs: StudyRuns) -> list[StudyRow]:
    """A row for each data set and backbone: the paper's in its order, then others by name."""
    return [
        StudyRow((runs.label(at),), _numbers(runs, at), paper=(PAPER[at],) if at in PAPER else None)
        for at in runs.settings_after(PAPER)
    ]


def _numbers(runs: StudyRuns, setting: Setting) -> dict[str, tuple[Measurement, ...]]:
    found = {method: runs.one(setting, RUN_AS.get(method, method)) for method in METHODS}
    values = {m: run.row("auroc", "worst", runs.reading, rule="both") for m, run in found.items() if run is not None}
    return {method: (Measurement(None if row is None else row["mean"]),) for method, row in values.items()}


STUDY = Study("components", lambda runs: [TABLE.grid(runs, rows(runs))], rows, in_part=True, printed=PRINTED)
