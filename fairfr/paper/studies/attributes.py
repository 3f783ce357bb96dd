"""The same scores under several groupings of people: the worst group of each attribute."""

from __future__ import annotations

from fairfr.paper.printed import printed_study
from fairfr.report.quantity import group_heading
from fairfr.report.readings import Run
from fairfr.report.study import CHAPTER, ColumnSpec, Measurement, Study, StudyRow, StudyTable
from fairfr.report.study_runs import Setting, StudyRuns
from fairfr.report.tables.grid import Grid, Line, Note, Section, Spanner, number_entry

METHODS = {
    "platt": "Platt",
    "faircal": "FairCal",
    "ac_linear": "AC-Linear",
    "ac_density": "AC-Density",
    "ac_density_loo": "AC-Density (LOO)",
}
PAPER = ("lfw", "facenet_casia")
RULES = Note(
    "rules",
    "A pair belongs to a group if both of its images do, in either reading; mixed and unknown pairs are in none. A "
    "group counts in a fold with at least min_pairs pairs and both labels; the worst of those is taken in each fold.",
)
PRINTED = printed_study("attributes")
TABLE = StudyTable(
    name="attributes",
    printed=PRINTED,
    title="Worst-group AUROC by attribute",
    corner=("Grouping",),
    methods=METHODS,
    shown=(ColumnSpec("AUROC"),),
    about=("Mean and standard deviation over held-out folds.",),
    notes=(RULES,),
)


def rows(runs: StudyRuns) -> list[StudyRow]:
    """A row for each single attribute, by data set and backbone."""
    return [
        StudyRow((title,), _numbers(runs, at, id), runs.label(at), (title,) if at == PAPER else None)
        for at in runs.settings
        for id in _attributes(runs.find(at)[0])
        for title in (id.capitalize(),)
    ]


def _attributes(run: Run) -> list[str]:
    """The single attributes that a run's groups are made of."""
    data = run.stored["data"]
    names = list(data["groups"])
    return names if len(names) == 1 else [name for name in names if name != data["grouping"]]


def _numbers(
    runs: StudyRuns, setting: Setting, grouping: str, group: str = "worst"
) -> dict[str, tuple[Measurement, ...]]:
    found = {method: runs.one(setting, method) for method in METHODS}
    rows = {m: run.row("auroc", group, runs.reading, grouping, "both") for m, run in found.items() if run is not None}
    return {m: (Measurement(None) if row is None else Measurement(row["mean"], row["std"]),) for m, row in rows.items()}


def by_group(runs: StudyRuns) -> Grid:
    """Every group of every attribute: pairs, folds that count, and AUROC."""
    sections = [
        Section(f"{runs.label(at)}, {id}", tuple(_line(runs, at, id, level) for level in levels))
        for at in runs.settings
        for run in runs.find(at)[:1]
        for id, levels in ((id, run.stored["data"]["groups"][id]) for id in _attributes(run))
    ]
    return Grid(
        id="study_attributes_groups",
        title="AUROC of every group by attribute",
        corner=("Group",),
        spanners=(Spanner("", ("pairs", "folds")), Spanner("AUROC", tuple(METHODS.values()))),
        sections=tuple(sections),
        notes=(RULES,),
        source=runs.source,
        chapter=CHAPTER,
    )


def _line(runs: StudyRuns, setting: Setting, grouping: str, group: str) -> Line:
    numbers = _numbers(runs, setting, grouping, group)
    counted = runs.find(setting)[0].row("auroc", group, runs.reading, grouping, "both") or {}
    pairs = number_entry(counted.get("n_same", 0) + counted.get("n_diff", 0), 0)
    entries = [number_entry(numbers[m][0].value if m in numbers else None, 4) for m in METHODS]
    return Line(group_heading(group), (pairs, number_entry(counted.get("folds", 0), 0), *entries))


STUDY = Study(
    "attributes",
    lambda runs: [TABLE.grid(runs, rows(runs)), by_group(runs)],
    rows,
    varies=("grouping", "min_pairs"),
    printed=PRINTED,
)
