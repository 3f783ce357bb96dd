"""Which input makes Adaptive Calibration work: worst-group AUROC of methods that see more and more of a pair."""

from __future__ import annotations

from fairfr.paper.printed import printed_study
from fairfr.report.study import Study
from fairfr.report.study_runs import Setting, StudyRuns
from fairfr.report.study_table import ColumnSpec, Measurement, StudyRow, StudyTable, measure_methods
from fairfr.report.tables.grid import Note
from fairfr.stored.run import Run

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
TABLE = StudyTable(
    title="Component ablation: worst-group AUROC",
    corner=("Setting",),
    methods=METHODS,
    columns=(ColumnSpec("AUROC"),),
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
    found = []
    for setting in runs.settings_after(PAPER):
        printed = None
        if setting in PAPER:
            printed = (PAPER[setting],)
        found.append(StudyRow((runs.label(setting),), _numbers(runs, setting), paper=printed))
    return found


def _numbers(runs: StudyRuns, setting: Setting) -> dict[str, tuple[Measurement, ...]]:
    def find(method: str) -> Run | None:
        return runs.one(setting, RUN_AS.get(method, method))

    def measure(run: Run) -> tuple[Measurement, ...]:
        return (Measurement.of(run.number("auroc", "worst")),)

    return measure_methods(METHODS, find, measure)


STUDY = Study("components", TABLE, rows, printed_study("components"), in_part=True, rule="both")
