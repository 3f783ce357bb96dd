"""Which input makes Adaptive Calibration work: worst-group AUROC of methods that see more and more of a pair."""

from __future__ import annotations

from functools import partial

from fairfr.paper.printed import printed_study
from fairfr.report.study import Study, row_of_each_setting
from fairfr.report.tables.grid import Note
from fairfr.report.tables.places import number

METHODS = {
    "platt": "Platt",
    "beta": "Beta",
    "midpoint_only": "m",
    "density_score": "[rho, s]",
    "ac_linear": "AC-Linear",
    "ac_density": "AC-Density",
    "ac_density_loo": "AC-Density (LOO)",
}
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


STUDY = Study(
    "components",
    title="Component ablation: worst-group AUROC",
    corner="Setting",
    methods=METHODS,
    run_as={"beta": "beta_paper"},  # the study's beta is the unconstrained one
    numbers=(number("AUROC", "auroc", "worst", digits=4),),
    rows=partial(row_of_each_setting, paper=PAPER),
    about=("Means over held-out folds of the worst group of each; pairs of two groups are in none.",),
    notes=(
        Note(
            "inputs",
            "m: logistic regression on the midpoint alone. [rho, s]: on local density and cosine. Beta is the "
            "unconstrained one, which may change the order of pairs. The embedding sets are the study's own.",
        ),
    ),
    printed=printed_study("components"),
    in_part=True,
    rule="both",
)
