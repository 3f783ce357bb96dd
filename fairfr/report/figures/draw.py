"""A report's figures: false matches and reliability by group, the worst group by method and setting, and studies.

Drawn on Figure objects of their own, never through pyplot: nothing global changes, and no window system is needed.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from fairfr._methods import METHODS
from fairfr.core.text import slug
from fairfr.report.figures.fmr_by_group import setting_figure
from fairfr.report.figures.overview import overview_figure
from fairfr.report.figures.reliability import FEWEST_PAIRS, reliability_figure, run_reliability_figure
from fairfr.report.study import Study
from fairfr.stored.results import Results
from fairfr.stored.run import Run
from fairfr.stored.scores import RunScores, setting_label

if TYPE_CHECKING:
    from matplotlib.figure import Figure

log = logging.getLogger("fairfr")

DPI = 200
SCORE_ONLY = ("beta", "platt")
ADAPTIVE = ("ac_density", "ac_linear")
SHIPPED = frozenset(METHODS.values())
"""The classes of the methods that come with fairfr."""


def draw_figures(results: Results, folder: Path) -> list[Path]:
    """Write every figure that the runs allow, as PNG and PDF, and return the files.

    ``reliability_<dataset>_<backbone>`` needs a beta (else Platt) and an AC-Density (else AC-Linear) run with their
    scores; ``reliability_<dataset>_<backbone>_<method>`` is of a method that fairfr does not have, beside the same beta
    run if there is one; ``fmr_by_group_<dataset>_<backbone>`` needs scores with groups; ``worst_group_auroc`` results
    alone.
    """
    written: list[Path] = []
    for setting in results.order.sorted(results.settings):
        by_group = setting_figure(results, setting)
        if by_group is not None:
            written += save(by_group, folder / slug(f"fmr_by_group_{'_'.join(setting)}"))
        score_only = _first_available(results, setting, SCORE_ONLY)
        adaptive = _first_available(results, setting, ADAPTIVE)
        for run in results.every({"setting": setting}):
            if is_own_method(run):
                written += _draw_own(run, score_only, folder)
        if score_only is not None and adaptive is not None and score_only.levels:
            figure = reliability_figure(score_only, adaptive)
            if figure is None:
                place = setting_label(adaptive.run)
                log.warning("%s: no group has %d pairs, so there is no reliability figure", place, FEWEST_PAIRS)
                continue
            written += save(figure, folder / slug(f"reliability_{'_'.join(setting)}"))
    overview = overview_figure(results)
    if overview is not None:
        written += save(overview, folder / "worst_group_auroc")
    return written


def is_own_method(run: Run) -> bool:
    """Whether a run is of a user's method, not of one that comes with fairfr."""
    target = str(run.result.identity.get("method", {}).get("estimator", {}).get("_target_", ""))
    return bool(target) and target not in SHIPPED


def _draw_own(run: Run, score_only: RunScores | None, folder: Path) -> list[Path]:
    scores = RunScores.if_available(run)
    if scores is None:
        return []
    figure = None
    if score_only is not None and scores.levels:
        figure = reliability_figure(score_only, scores)
    name = slug(f"reliability_{'_'.join(run.cell)}")
    return save(figure or run_reliability_figure(scores), folder / name)


def draw_studies(studies: Iterable[Study], runs: Mapping[str, Results], folder: Path) -> list[Path]:
    """``study_<name>`` of every study that has runs and a figure, as PNG and PDF."""
    written: list[Path] = []
    for study in studies:
        if study.name not in runs:
            continue
        figure = study.figure(runs[study.name])
        if figure is not None:
            written += save(figure, folder / f"study_{study.name}")
    return written


def _first_available(results: Results, setting: tuple[str, str], methods: tuple[str, ...]) -> RunScores | None:
    for method in methods:
        scores = RunScores.if_available(results.find({"setting": setting, "method": method}))
        if scores is not None:
            return scores
    return None


def save(figure: Figure, stem: Path) -> list[Path]:
    """``<stem>.png`` and ``.pdf``."""
    from matplotlib import rc_context

    stem.parent.mkdir(parents=True, exist_ok=True)
    paths = [stem.with_name(f"{stem.name}.{ending}") for ending in ("png", "pdf")]
    for path in paths:
        # publishers refuse Type 3 fonts, matplotlib's default; the option exists only as a global, hence the context
        with rc_context({"pdf.fonttype": 42}):
            figure.savefig(path, dpi=DPI)
    return paths
