"""How far TPR at a low FPR can be trusted: conventions, ties, intervals, thresholds of other folds, and counts."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from fairfr.core.names import ENOUGH_FALSE_MATCHES, FPR_LEVELS
from fairfr.core.types import F64, Bool
from fairfr.metrics.roc_metrics import Convention, OperatingPoint, fpr_name
from fairfr.numerics.bootstrap import percentile_interval
from fairfr.report.held_out_folds import HeldOutFold, held_out_folds
from fairfr.report.study import CHAPTER, Study, run_keys
from fairfr.report.tables.grid import Entry, Grid, Line, Note, Section, Spanner, number_entry
from fairfr.report.uncertainty.setting_bootstrap import SettingBootstrap, bootstrap_runs
from fairfr.stored.order import MethodRow, Setting
from fairfr.stored.results import Results
from fairfr.stored.run import Run
from fairfr.stored.scores import RunScores

LEVEL = "1e-3"
ORDER = ("baseline", "platt", "beta", "isotonic", "ac_linear", "ac_density", "ac_density_loo")
DRAWS = 400
CONVENTIONS: tuple[Convention, ...] = ("interp", "conservative", "nearest")
OPEN = {"interp": "interpolated", "conservative": "at most", "nearest": "nearest"}
NOTES = (
    Note(
        "conventions",
        "Interpolated: linear in FPR between the two points of the ROC curve around 0.001, as the paper's tables here. "
        "At most: the largest FPR that does not exceed it. Nearest: the FPR nearest to it. Means over folds.",
    ),
    Note(
        "ties",
        "Ties broken: interpolated, with pairs of equal value ranked by their unclipped score, then by their cosine. "
        "Impostors at the top: those that share the highest value of their fold, mean over folds; where they are more "
        "than 0.001 of the impostors, no threshold has that FPR.",
    ),
    Note(
        "training",
        "From training: the threshold is the one with at most FPR 0.001 on the training pairs of each fold, applied to "
        "the fold held out. Its FPR there is what a deployed threshold really gives, mean over folds.",
    ),
    Note(
        "interval",
        f"Pooled: one threshold for the pairs of all folds together; 95 % interval of {DRAWS:,} draws of identities.",
    ),
)


def tables(results: Results) -> list[Grid]:
    """The readings of TPR by method, and the false matches there are to count by group."""
    readings = Grid(
        id="study_low_fpr",
        title=f"TPR at FPR={LEVEL} under several conventions",
        corner=("Method",),
        spanners=(
            Spanner("From the test fold", (*OPEN.values(), "ties broken")),
            Spanner("Pooled", ("TPR", "95 % interval")),
            Spanner("From training", ("TPR", "FPR")),
            Spanner("", ("impostors at the top",)),
        ),
        sections=tuple(_section(results, setting) for setting in results.settings),
        notes=(*NOTES, run_keys(results)),
        source=results.source,
        chapter=CHAPTER,
    )
    return [readings, _counts(results)]


def _section(results: Results, setting: Setting) -> Section:
    found = sorted(results.every({"setting": setting}), key=_place)
    available = []
    for run in found:
        scores = RunScores.if_available(run)
        if scores is not None:
            available.append((_row(run), scores))
    drawn = None
    if available:
        drawn = bootstrap_runs(available, DRAWS)
    return Section(results.name(setting), tuple(_line(run, drawn) for run in found))


def _place(run: Run) -> tuple[int, str]:
    """The position of a method: maps of the cosine first, then those that see more, then others by name."""
    method = run.result.method.id
    if method in ORDER:
        return ORDER.index(method), method
    return len(ORDER), method


def _row(run: Run) -> MethodRow:
    method = run.result.method.id
    return MethodRow(method, run.label, method, method)


def _line(run: Run, drawn: SettingBootstrap | None) -> Line:
    folds = list(held_out_folds(run))
    scores = RunScores.if_available(run)
    if not folds or scores is None:
        return Line(run.label, tuple(Entry() for _ in range(len(OPEN) + 6)))
    entries = []
    for convention in CONVENTIONS:
        mean = _mean(_tpr(fold.same, fold.values, convention) for fold in folds)
        entries.append(number_entry(mean, 3))
    broken = _mean(_tpr(fold.same, _untied(fold, scores), "interp") for fold in folds)
    entries.append(number_entry(broken, 3))
    entries += [*_pooled(run, drawn), *_from_training(folds), number_entry(_mean(map(_at_the_top, folds)), 1)]
    return Line(run.label, tuple(entries))


def _tpr(same: Bool, values: F64, convention: Convention) -> float:
    return OperatingPoint.from_pairs(same, values, FPR_LEVELS[LEVEL], convention).rates(same, values).tpr


def _untied(fold: HeldOutFold, scores: RunScores) -> F64:
    """Ranks (p,) of a fold's pairs: by value, then unclipped score, then cosine."""
    order = np.lexsort((scores.cosine[fold.rows], scores.score[fold.rows], fold.values))
    ranks = np.empty(len(order))
    ranks[order] = np.arange(len(order))
    return ranks


def _at_the_top(fold: HeldOutFold) -> float:
    return float(np.count_nonzero(~fold.same & (fold.values == fold.values.max())))


def _pooled(run: Run, drawn: SettingBootstrap | None) -> tuple[Entry, Entry]:
    one = None
    if drawn is not None:
        one = drawn.exact(run.cell[2])
    if one is None:
        return Entry(), Entry()
    plain, values = one.drawn(f"tpr_at_fpr_{LEVEL}")
    low, high = percentile_interval(values)
    return number_entry(plain, 3), Entry(f"{low:.3f} to {high:.3f}")


def _from_training(folds: Sequence[HeldOutFold]) -> tuple[Entry, Entry]:
    known = [fold for fold in folds if fpr_name(LEVEL) in fold.thresholds]
    accepted = [(fold.same, fold.values >= fold.thresholds[fpr_name(LEVEL)]) for fold in known]
    tpr = _mean(float(accept[same].mean()) for same, accept in accepted)
    fpr = _mean(float(accept[~same].mean()) for same, accept in accepted)
    return number_entry(tpr, 3), number_entry(fpr, 4)


def _mean(values: Iterable[float]) -> float | None:
    known = [value for value in values if not np.isnan(value)]
    if not known:
        return None
    return float(np.mean(known))


def _counts(results: Results) -> Grid:
    rule = "both images'"
    if results.reading.rule == "first":
        rule = "its first image's"
    return Grid(
        id="study_low_fpr_counts",
        title="False matches that are expected in a test fold",
        corner=("Group",),
        spanners=(Spanner("", ("impostor pairs in a fold", *(f"expected at FPR={text}" for text in FPR_LEVELS))),),
        sections=tuple(_count_section(results, setting) for setting in results.settings),
        notes=(
            Note(
                "enough",
                f"A rate that rests on fewer than about {ENOUGH_FALSE_MATCHES} false matches moves with single pairs. "
                f"A pair belongs to {rule} group. Zero false matches among n impostors only show an FPR below 3/n "
                "(95 %).",
            ),
        ),
        source=results.source,
        chapter=CHAPTER,
    )


def _count_section(results: Results, setting: Setting) -> Section:
    run = results.every({"setting": setting})[0]
    grouping = run.result.data.grouping
    groups = ["all"]
    if grouping:
        groups += run.result.data.groups[grouping]
    lines = []
    for group in groups:
        number = run.number("auroc", group)
        if number is not None:
            lines.append(_count_line(group, number.n_diff / number.folds_total))
    return Section(results.name(setting), tuple(lines))


def _count_line(group: str, negatives: float) -> Line:
    expected = [number_entry(alpha * negatives, 1) for alpha in FPR_LEVELS.values()]
    return Line(group, (number_entry(negatives, 0), *expected))


STUDY = Study("low_fpr", more_tables=tables)
