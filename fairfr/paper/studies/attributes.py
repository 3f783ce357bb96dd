"""The same scores under several groupings of people: the worst group of each attribute."""

from __future__ import annotations

from collections.abc import Iterator

from fairfr.paper.printed import printed_study
from fairfr.report.quantity import Quantity, group_heading
from fairfr.report.study import CHAPTER, Study, StudyRow
from fairfr.report.tables.grid import Entry, Grid, Line, Note, Section, Spanner, number_entry
from fairfr.report.tables.places import Form, Place, line, number
from fairfr.stored.results import Results
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
    "A pair belongs to a group if both of its images do, by either convention; mixed and unknown pairs are in none. A "
    "group counts in a fold with at least min_pairs pairs and both labels; the worst of those is taken in each fold.",
)


def rows(results: Results) -> Iterator[StudyRow]:
    """A row for each single attribute, by data set and backbone."""
    for setting in results.settings:
        for attribute in _attributes(results.every({"setting": setting})[0]):
            label = attribute.capitalize()
            printed = None
            if setting == PAPER:
                printed = (label,)
            yield StudyRow(label, {"setting": setting}, results.name(setting), attribute, printed)


def _attributes(run: Run) -> list[str]:
    """The single attributes that a run's groups are made of."""
    data = run.result.data
    names = list(data.groups)
    if len(names) == 1:
        return names
    return [name for name in names if name != data.grouping]


def by_group(results: Results) -> list[Grid]:
    """Every group of every attribute: pairs, folds that count, and AUROC."""
    columns = [Place(label, {"method": method}) for method, label in METHODS.items()]
    sections = []
    for setting in results.settings:
        run = results.every({"setting": setting})[0]
        for attribute in _attributes(run):
            lines = []
            for group in run.result.data.groups[attribute]:
                place = Place(
                    group_heading(group), {"setting": setting}, Quantity("auroc", group), attribute, Form(digits=4)
                )
                counts = _counts(run, attribute, group)
                auroc = line(results, place, columns)
                lines.append(Line(place.heading, (*counts, *auroc.entries)))
            sections.append(Section(f"{results.name(setting)}, {attribute}", tuple(lines)))
    grid = Grid(
        id="study_attributes_groups",
        title="AUROC of every group by attribute",
        corner=("Group",),
        spanners=(Spanner("", ("pairs", "folds")), Spanner("AUROC", tuple(METHODS.values()))),
        sections=tuple(sections),
        notes=(RULES,),
        source=results.source,
        chapter=CHAPTER,
    )
    return [grid]


def _counts(run: Run, attribute: str, group: str) -> tuple[Entry, Entry]:
    """Pairs, and folds that count."""
    counted = run.number("auroc", group, attribute)
    if counted is None:
        return number_entry(0, 0), number_entry(0, 0)
    return number_entry(counted.n_same + counted.n_diff, 0), number_entry(counted.folds, 0)


STUDY = Study(
    "attributes",
    title="Worst-group AUROC by attribute",
    corner="Grouping",
    methods=METHODS,
    numbers=(number("AUROC", "auroc", "worst", digits=4, spread=True),),
    rows=rows,
    about=("Mean and standard deviation over held-out folds.",),
    notes=(RULES,),
    printed=printed_study("attributes"),
    more_tables=by_group,
    varies=("grouping", "min_pairs"),
    rule="both",
)
