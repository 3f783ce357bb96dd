"""Whether gains hold on folds that share no image, and on folds that share no person."""

from __future__ import annotations

from fairfr.paper.printed import printed_study
from fairfr.report.readings import Run
from fairfr.report.study import CHAPTER, ColumnSpec, Measurement, Study, StudyRow, StudyTable
from fairfr.report.study_runs import Setting, StudyRuns
from fairfr.report.tables.grid import Grid, Line, Note, Section, Spanner, number_entry

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
PRINTED = printed_study("split")
TABLE = StudyTable(
    name="split",
    printed=PRINTED,
    title="Worst-group AUROC and worst-group Brier score by the way folds are made",
    corner=("Folds",),
    methods=METHODS,
    shown=(ColumnSpec("AUROC"), ColumnSpec("Brier")),
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
    return [
        StudyRow(
            (FOLDS[protocol],),
            _numbers(runs, at, protocol),
            runs.label(at),
            (PAPER[at], FOLDS[protocol]) if at in PAPER else None,
        )
        for at in runs.settings
        for protocol in FOLDS
        if _found(runs, at, protocol)
    ]


def _found(runs: StudyRuns, setting: Setting, protocol: str) -> list[Run]:
    return [run for run in runs.find(setting) if run.stored["protocol"] == protocol]


def _numbers(runs: StudyRuns, setting: Setting, protocol: str) -> dict[str, tuple[Measurement, ...]]:
    of_method = {run.stored["method"]["id"]: run for run in reversed(_found(runs, setting, protocol))}
    known = {method: of_method[method] for method in METHODS if method in of_method}
    return {m: tuple(_worst(runs, run, metric) for metric in ("auroc", "brier")) for m, run in known.items()}


def _worst(runs: StudyRuns, run: Run, metric: str) -> Measurement:
    row = run.row(metric, "worst", runs.reading, rule="both")
    return Measurement(None if row is None else row["mean"])


def moved(runs: StudyRuns) -> Grid:
    """What became of the pairs in new folds."""
    sections = [
        Section(
            runs.label(at),
            tuple(_line(protocol, run) for protocol in FOLDS for run in _with_counts(runs, at, protocol)),
        )
        for at in runs.settings
    ]
    return Grid(
        id="study_split_folds",
        title="New folds: pairs that moved, and what could not be balanced",
        corner=("Folds",),
        spanners=(Spanner("", ("pairs", *COUNTS.values())),),
        sections=tuple(section for section in sections if section.lines),
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


def _with_counts(runs: StudyRuns, setting: Setting, protocol: str) -> list[Run]:
    """One run of this protocol that says what it did: all methods have the same folds."""
    return [run for run in _found(runs, setting, protocol) if _counts(run)][:1]


def _counts(run: Run) -> dict[str, int]:
    return next((finding["counts"] for finding in run.stored["warnings"] if finding["code"] == FOUND), {})


def _line(protocol: str, run: Run) -> Line:
    counts = _counts(run)
    return Line(FOLDS[protocol], tuple(number_entry(counts[name], 0) for name in ("pairs", *COUNTS)))


STUDY = Study("split", lambda runs: [TABLE.grid(runs, rows(runs)), moved(runs)], rows, printed=PRINTED)
