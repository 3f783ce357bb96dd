"""Whether gains hold on folds that share no image, and on folds that share no person."""

from __future__ import annotations

from collections.abc import Sequence

from fairfr.paper.printed import printed_study
from fairfr.report.study import Study
from fairfr.report.study_runs import Setting, StudyRuns
from fairfr.report.study_table import CHAPTER, ColumnSpec, Measurement, StudyRow, StudyTable, measure_methods
from fairfr.report.tables.grid import Grid, Line, Note, Section, Spanner, number_entry
from fairfr.stored.run import Run

METHODS = {
    "platt": "Platt",
    "ac_linear": "AC-Linear",
    "ac_density": "AC-Density",
    "ac_density_loo": "AC-Density (LOO)",
}
FOLDS = {
    "published": "Original",
    "endpoint_disjoint": "Endpoint-disjoint",
    "identity_disjoint": "Identity-disjoint",
}
PAPER = {("rfw", "arcface_original"): "ArcFace", ("rfw", "facenet_casia"): "FaceNet-C"}
FOUND = "folds-anew"
COUNTS = {
    "moved": "pairs moved",
    "imbalance": "most pairs off an even share",
    "cut": "parts larger than a fold",
    "dropped": "most pairs left out of a fold's training",
}
TABLE = StudyTable(
    title="Worst-group AUROC and worst-group Brier score by the way folds are made",
    corner=("Folds",),
    methods=METHODS,
    columns=(ColumnSpec("AUROC"), ColumnSpec("Brier")),
    about=("Means over held-out folds of the worst group of each; pairs of two groups are in none.",),
    notes=(
        Note(
            "folds",
            "Endpoint-disjoint: pairs with an image in common, also under another name, lie in one fold. "
            "Identity-disjoint: pairs with a person in common do; where all people are connected, training pairs that "
            "share a person with the tested fold are left out. The paper prints the first of these.",
        ),
    ),
)


def rows(runs: StudyRuns) -> list[StudyRow]:
    """A row for each kind of folds, by data set and backbone."""
    found = []
    for setting in runs.settings:
        for protocol, folds in FOLDS.items():
            if not _of_protocol(runs, setting, protocol):
                continue
            printed = None
            if setting in PAPER:
                printed = (PAPER[setting], folds)
            numbers = _numbers(runs, setting, protocol)
            found.append(StudyRow((folds,), numbers, runs.label(setting), printed))
    return found


def _of_protocol(runs: StudyRuns, setting: Setting, protocol: str) -> list[Run]:
    return [run for run in runs.find(setting) if run.result.protocol == protocol]


def _numbers(runs: StudyRuns, setting: Setting, protocol: str) -> dict[str, tuple[Measurement, ...]]:
    by_method = {run.result.method.id: run for run in reversed(_of_protocol(runs, setting, protocol))}

    def measure(run: Run) -> tuple[Measurement, ...]:
        return tuple(Measurement.of(run.number(metric, "worst")) for metric in ("auroc", "brier"))

    return measure_methods(METHODS, by_method.get, measure)


def moved(runs: StudyRuns) -> list[Grid]:
    """What became of the pairs in new folds."""
    sections = []
    for setting in runs.settings:
        lines = []
        for protocol in FOLDS:
            counts = _counts(_of_protocol(runs, setting, protocol))
            if counts:
                entries = [number_entry(counts[name], 0) for name in ("pairs", *COUNTS)]
                lines.append(Line(FOLDS[protocol], tuple(entries)))
        if lines:
            sections.append(Section(runs.label(setting), tuple(lines)))
    grid = Grid(
        id="study_split_folds",
        title="New folds: pairs that moved, and what could not be balanced",
        corner=("Folds",),
        spanners=(Spanner("", ("pairs", *COUNTS.values())),),
        sections=tuple(sections),
        notes=(
            Note(
                "moved",
                "Moved: in another fold than the published one that has most in common with theirs. An even share is "
                "that of each class in each group. Pairs stay in their fold where that is as good.",
            ),
        ),
        source=runs.source,
        chapter=CHAPTER,
    )
    return [grid]


def _counts(runs: Sequence[Run]) -> dict[str, int]:
    """What the first run that says so did to the folds: all methods have the same folds."""
    for run in runs:
        for finding in run.result.warnings:
            if finding.code == FOUND and finding.counts:
                return dict(finding.counts)
    return {}


STUDY = Study("split", TABLE, rows, printed_study("split"), moved, rule="both")
