"""The same scores under several groupings of people: the worst group of each attribute."""

from __future__ import annotations

from fairfr.paper.printed import printed_study
from fairfr.report.quantity import group_heading
from fairfr.report.study import Study
from fairfr.report.study_runs import Setting, StudyRuns
from fairfr.report.study_table import CHAPTER, ColumnSpec, Measurement, StudyRow, StudyTable, measure_methods
from fairfr.report.tables.grid import Grid, Line, Note, Section, Spanner, number_entry
from fairfr.stored.run import Run

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
TABLE = StudyTable(
    title="Worst-group AUROC by attribute",
    corner=("Grouping",),
    methods=METHODS,
    columns=(ColumnSpec("AUROC"),),
    about=("Mean and standard deviation over held-out folds.",),
    notes=(RULES,),
)


def rows(runs: StudyRuns) -> list[StudyRow]:
    """A row for each single attribute, by data set and backbone."""
    found = []
    for setting in runs.settings:
        for attribute in _attributes(runs.find(setting)[0]):
            label = (attribute.capitalize(),)
            printed = None
            if setting == PAPER:
                printed = label
            numbers = _numbers(runs, setting, attribute)
            found.append(StudyRow(label, numbers, runs.label(setting), printed))
    return found


def _attributes(run: Run) -> list[str]:
    """The single attributes that a run's groups are made of."""
    data = run.result.data
    names = list(data.groups)
    if len(names) == 1:
        return names
    return [name for name in names if name != data.grouping]


def _numbers(
    runs: StudyRuns, setting: Setting, grouping: str, group: str = "worst"
) -> dict[str, tuple[Measurement, ...]]:
    def find(method: str) -> Run | None:
        return runs.one(setting, method)

    def measure(run: Run) -> tuple[Measurement, ...]:
        return (Measurement.of(run.number("auroc", group, grouping), with_std=True),)

    return measure_methods(METHODS, find, measure)


def by_group(runs: StudyRuns) -> list[Grid]:
    """Every group of every attribute: pairs, folds that count, and AUROC."""
    sections = []
    for setting in runs.settings:
        run = runs.find(setting)[0]
        for attribute in _attributes(run):
            groups = run.result.data.groups[attribute]
            lines = [_line(runs, setting, attribute, group) for group in groups]
            sections.append(Section(f"{runs.label(setting)}, {attribute}", tuple(lines)))
    grid = Grid(
        id="study_attributes_groups",
        title="AUROC of every group by attribute",
        corner=("Group",),
        spanners=(Spanner("", ("pairs", "folds")), Spanner("AUROC", tuple(METHODS.values()))),
        sections=tuple(sections),
        notes=(RULES,),
        source=runs.source,
        chapter=CHAPTER,
    )
    return [grid]


def _line(runs: StudyRuns, setting: Setting, grouping: str, group: str) -> Line:
    counted = runs.find(setting)[0].number("auroc", group, grouping)
    entries = [number_entry(0, 0), number_entry(0, 0)]
    if counted is not None:
        entries = [number_entry(counted.n_same + counted.n_diff, 0), number_entry(counted.folds, 0)]
    numbers = _numbers(runs, setting, grouping, group)
    for method in METHODS:
        (number,) = numbers.get(method, (Measurement(None),))
        entries.append(number_entry(number.value, 4))
    return Line(group_heading(group), tuple(entries))


STUDY = Study(
    "attributes",
    TABLE,
    rows,
    printed_study("attributes"),
    more_tables=by_group,
    varies=("grouping", "min_pairs"),
    rule="both",
)
