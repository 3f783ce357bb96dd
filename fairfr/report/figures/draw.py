"""The paper's figures from stored scores: reliability by group, and the worst group by method and setting.

Drawn on Figure objects of their own, never through pyplot: nothing global changes, and no window system is needed.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from fairfr.report.figures.overview import overview_figure
from fairfr.report.figures.reliability import FEWEST_PAIRS, reliability_figure
from fairfr.report.readings import Reading
from fairfr.report.runs import Runs
from fairfr.report.scores import Scores, where
from fairfr.report.studies.study import all_studies
from fairfr.report.studies.study_runs import StudyRuns

if TYPE_CHECKING:
    from matplotlib.figure import Figure

log = logging.getLogger("fairfr")

DPI = 200
SCORE_ONLY = ("beta", "platt")
ADAPTIVE = ("ac_density", "ac_linear")


def draw(runs: Runs, reading: Reading, folder: Path) -> list[Path]:
    """Write every figure that the runs allow, as PNG and PDF, and return the files.

    ``reliability_<dataset>_<backbone>`` needs a beta (else Platt) and an AC-Density (else AC-Linear) run with their
    scores; ``worst_group_auroc`` needs results alone.
    """
    written: list[Path] = []
    for setting in runs.settings:
        score_only, adaptive = _first_at_hand(runs, setting, SCORE_ONLY), _first_at_hand(runs, setting, ADAPTIVE)
        if score_only is not None and adaptive is not None and score_only.levels:
            figure = reliability_figure(score_only, adaptive, reading)
            if figure is None:
                place = where(adaptive.result)
                log.warning("%s: no group has %d pairs, so there is no reliability figure", place, FEWEST_PAIRS)
                continue
            written += _save(figure, folder / f"reliability_{'_'.join(setting)}")
    overview = overview_figure(runs, reading)
    if overview is not None:
        written += _save(overview, folder / "worst_group_auroc")
    return written


def draw_studies(studies: Mapping[str, StudyRuns], folder: Path) -> list[Path]:
    """``study_<name>`` of every study that has a figure, as PNG and PDF."""
    figures = {name: all_studies()[name].figure(runs) for name, runs in studies.items()}
    return [path for name, drawn in figures.items() if drawn for path in _save(drawn, folder / f"study_{name}")]


def _first_at_hand(runs: Runs, setting: tuple[str, str], methods: tuple[str, ...]) -> Scores | None:
    found = (Scores.at_hand(runs.get(*setting, method)) for method in methods)
    return next((scores for scores in found if scores is not None), None)


def _save(figure: Figure, stem: Path) -> list[Path]:
    from matplotlib import rc_context

    stem.parent.mkdir(parents=True, exist_ok=True)
    paths = [stem.with_name(f"{stem.name}.{ending}") for ending in ("png", "pdf")]
    for path in paths:
        # publishers refuse Type 3 fonts, matplotlib's default; the option exists only as a global, hence the context
        with rc_context({"pdf.fonttype": 42}):
            figure.savefig(path, dpi=DPI)
    return paths
