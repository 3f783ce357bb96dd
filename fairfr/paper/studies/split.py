"""Whether gains hold on folds that share no image, and on folds that share no person."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from fairfr.paper.printed import printed_study
from fairfr.report.study import CHAPTER, Study, StudyRow
from fairfr.report.tables.grid import Grid, Line, Note, Section, Spanner, number_entry
from fairfr.report.tables.places import number
from fairfr.stored.results import Results
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


def rows(results: Results) -> Iterator[StudyRow]:
    """A row for each kind of folds, by data set and backbone."""
    for setting in results.settings:
        protocols = results.values("protocol", {"setting": setting})
        for protocol, folds in FOLDS.items():
            if protocol not in protocols:
                continue
            printed = None
            if setting in PAPER:
                printed = (PAPER[setting], folds)
            where = {"setting": setting, "protocol": protocol}
            yield StudyRow(folds, where, results.name(setting), paper=printed)


def moved(results: Results) -> list[Grid]:
    """What became of the pairs in new folds."""
    sections = []
    for setting in results.settings:
        lines = []
        for protocol in FOLDS:
            counts = _counts(results.every({"setting": setting, "protocol": protocol}))
            if counts:
                entries = [number_entry(counts[name], 0) for name in ("pairs", *COUNTS)]
                lines.append(Line(FOLDS[protocol], tuple(entries)))
        if lines:
            sections.append(Section(results.name(setting), tuple(lines)))
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
        source=results.source,
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


STUDY = Study(
    "split",
    title="Worst-group AUROC and worst-group Brier score by the way folds are made",
    corner="Folds",
    methods=METHODS,
    numbers=(number("AUROC", "auroc", "worst", digits=4), number("Brier", "brier", "worst", digits=4)),
    rows=rows,
    about=("Means over held-out folds of the worst group of each; pairs of two groups are in none.",),
    notes=(
        Note(
            "folds",
            "Endpoint-disjoint: pairs with an image in common, also under another name, lie in one fold. "
            "Identity-disjoint: pairs with a person in common do; where all people are connected, training pairs that "
            "share a person with the tested fold are left out. The paper prints the first of these.",
        ),
    ),
    printed=printed_study("split"),
    more_tables=moved,
    rule="both",
)
