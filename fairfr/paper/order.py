"""The paper's order, which rows and columns its tables have, and its reading of scores, which reproduces them."""

from __future__ import annotations

from itertools import product

from fairfr.stored.order import BASELINE, MethodRow, Setting, TableOrder
from fairfr.stored.reading import PAPER_READING, reading_of
from fairfr.stored.run import Run


def _row(id: str, label: str, paper: str | None = None) -> MethodRow:
    return MethodRow(id, label, id, paper or id, printed=id)


LABEL_FREE = (
    BASELINE,
    _row("faircal", "FairCal"),
    _row("falcon", "FALCON"),
    _row("frappe", "FRAPPÉ"),
    _row("fsn", "FSN"),
)
GROUP_AWARE = (
    _row("gst", "GST", "gst_paper"),
    _row("demonorm", "DemoNorm", "demonorm_paper"),
    _row("oracle", "Oracle", "oracle_paper"),
)
GROUP_AWARE_IDS = frozenset(row.id for row in GROUP_AWARE)
DENSITY = _row("ac_density", "AC-Density")
DENSITY_LOO = MethodRow("ac_density_loo", "AC-Density (LOO)", "ac_density_loo", "ac_density_loo", printed=DENSITY.id)
ADAPTIVE = (_row("ac_mlp", "AC-MLP"), _row("ac_linear", "AC-Linear"), DENSITY, DENSITY_LOO)
ROWS = (*LABEL_FREE, *GROUP_AWARE, *ADAPTIVE)
PAPER_ROWS = tuple(row for row in ROWS if row.printed == row.id)
SCORE_ONLY = (MethodRow("platt", "Platt", "platt", "platt"), MethodRow("beta", "Beta", "beta", "beta"))
"""Calibrators of the score alone: no rows of the headline tables, but what a probability has to be better than."""
BEYOND = ("ac_hinge", "ac_cohort")
"""Methods of ours: no rows of the paper, and nothing that is said of the paper counts them."""
BEYOND_HEADING = "Beyond the paper"
GROUP_AWARE_HEADING = "Demographic-aware (require group labels at inference)"

DATASETS = {"rfw": "RFW", "bfw": "BFW", "lfw": "LFW"}
HEADLINE_BACKBONES = {"arcface_r100": "R100", "adaface": "AdaFace", "magface": "MagFace"}
BACKBONES = {
    "arcface_r100": "ArcFace R100",
    "adaface": "AdaFace",
    "magface": "MagFace",
    "arcface_r50": "ArcFace R50",
    "arcface_fairface": "ArcFace (FairFace)",
    "facenet": "FaceNet",
}
HEADLINE: tuple[Setting, ...] = tuple(product(DATASETS, HEADLINE_BACKBONES))
_NOT_PRINTED = (("rfw", "arcface_fairface"), ("bfw", "arcface_fairface"))  # the paper has this backbone on LFW alone
SETTINGS: tuple[Setting, ...] = tuple(
    setting for setting in product(DATASETS, BACKBONES) if setting not in _NOT_PRINTED
)
TWO_FORMS = (
    "AC-Density is the form of the paper's text, in which a training pair is its own nearest neighbour; AC-Density "
    "(LOO) leaves it out. It is unclear which of the two the paper reports, so both are shown and either may be bold."
)
ORDER = TableOrder(
    blocks=(("", LABEL_FREE), (GROUP_AWARE_HEADING, GROUP_AWARE), ("", ADAPTIVE)),
    datasets=DATASETS,
    backbones=BACKBONES,
    settings=SETTINGS,
    group_aware=GROUP_AWARE,
    beyond=BEYOND,
    beyond_heading=BEYOND_HEADING,
    highlighted=ADAPTIVE,
    highlighted_label="adaptive calibration",
    duels={"faircal": ("ac_density", "ac_density_loo", "ac_linear")},
    row_notes={DENSITY_LOO.id: TWO_FORMS},
    experiments={HEADLINE: "headline", SETTINGS: "appendix"},
)


def is_of_paper(run: Run) -> bool:
    """Whether a run is on one of the paper's data sets with one of its backbones."""
    return reading_of(run.result) == PAPER_READING


def setting_name(setting: Setting) -> str:
    """RFW R100, as the tables call a column."""
    dataset, backbone = setting
    return f"{DATASETS[dataset]} {HEADLINE_BACKBONES.get(backbone, backbone)}"
