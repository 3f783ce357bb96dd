"""The paper's order: which rows and columns its tables have, and what they are called there."""

from __future__ import annotations

from typing import NamedTuple, TypeAlias

from fairfr.report.readings import STRICT, Reading

Setting: TypeAlias = tuple[str, str]
"""A data set and a backbone."""


class Row(NamedTuple):
    """A method of our tables. ``paper`` is the variant that a paper-reading table takes for it if it has run.

    ``printed`` is the id of the paper's row that it is compared with: its own, that of the method it is a form of, or
    None where the paper's tables have no such row.
    """

    id: str
    label: str
    strict: str
    paper: str
    printed: str | None = None

    def method(self, reading: Reading) -> str:
        """The method that the row asks for."""
        return self.strict if reading == STRICT else self.paper

    def methods(self, reading: Reading) -> tuple[str, ...]:
        """The methods that can fill the row, best first: the plain one where the paper's variant has not run."""
        return tuple(dict.fromkeys((self.method(reading), self.strict)))


def _row(id: str, label: str, paper: str | None = None) -> Row:
    return Row(id, label, id, paper or id, printed=id)


BASELINE = _row("baseline", "Baseline")
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
DENSITY = _row("ac_density", "AC-Density")
DENSITY_LOO = Row("ac_density_loo", "AC-Density (LOO)", "ac_density_loo", "ac_density_loo", printed=DENSITY.id)
ADAPTIVE = (_row("ac_mlp", "AC-MLP"), _row("ac_linear", "AC-Linear"), DENSITY, DENSITY_LOO)
ROWS = (*LABEL_FREE, *GROUP_AWARE, *ADAPTIVE)
PAPER_ROWS = tuple(row for row in ROWS if row.printed == row.id)
SCORE_ONLY = (Row("platt", "Platt", "platt", "platt"), Row("beta", "Beta", "beta", "beta"))
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
HEADLINE: tuple[Setting, ...] = tuple((dataset, backbone) for dataset in DATASETS for backbone in HEADLINE_BACKBONES)
SETTINGS: tuple[Setting, ...] = tuple(
    (dataset, backbone)
    for dataset in DATASETS
    for backbone in BACKBONES
    if backbone != "arcface_fairface" or dataset == "lfw"
)
