"""The forms of AC-Density side by side: its own neighbour or not, all references or some, ranked clipped or not."""

from __future__ import annotations

from typing import TypeAlias

from fairfr.paper.order import DENSITY, DENSITY_LOO
from fairfr.report.quantity import higher_is_better
from fairfr.report.study import Study
from fairfr.report.study_runs import Setting, StudyRuns
from fairfr.report.study_table import CHAPTER
from fairfr.report.tables.grid import Entry, Grid, Line, Note, Section, Spanner, mark_best, number_entry
from fairfr.report.tables.table_notes import short_key
from fairfr.stored.reading import PAPER_READING, STRICT, Reading
from fairfr.stored.run import Run
from fairfr.stored.scores import RunScores

FORMS = {DENSITY.id: "self", DENSITY_LOO.id: "LOO"}
# native probabilities: the paper's reading ranks by them, clipped to [0, 1]; the strict one by the unclipped score
RANKINGS: dict[str, Reading] = {"clipped": PAPER_READING, "unclipped": STRICT}
METRICS = {"auroc": "AUROC", "tpr_at_fpr_1e-3": "TPR@1e-3", "brier": "Brier", "ece_15": "ECE-15"}
DIGITS = 4
LIMIT = "max_references"
NOTES = (
    Note(
        "forms",
        "With 'self' a training pair in the reference set is its own nearest neighbour, as the paper's text says; "
        "'LOO' leaves it out. References are the training pairs among which neighbours are sought; where there are no "
        "more than the limit, all are, and the forms coincide.",
    ),
    Note(
        "rankings",
        "AUROC and TPR rank by the probability, clipped to [0, 1], or by the value before clipping. Brier and ECE are "
        "those of the clipped probability in both. Means over held-out folds.",
    ),
    Note(
        "bias",
        "mean(p - y) is over all held-out pairs, of the clipped or the unclipped value; above 0 it is too confident "
        "that two images show one person. Impostors at 1 are the share of impostor pairs with p = 1, tied at the top.",
    ),
    Note(
        "how_to_run",
        "To run them on any data:",
        commands=("fairfr run -m experiment=density_forms dataset=rfw backbone=magface",),
        for_print=False,
    ),
)
Form: TypeAlias = tuple[str, int | None]


def tables(runs: StudyRuns) -> list[Grid]:
    """A section for each data set and backbone, two lines for each form."""
    sections = []
    keys: list[str] = []
    for setting in runs.settings:
        forms = _forms(runs, setting)
        if forms:
            sections.append(_section(runs.label(setting), forms))
            keys += [short_key(run.result.key) for run in forms.values()]
    grid = Grid(
        id="study_density_forms",
        title="Forms of AC-Density",
        corner=("Neighbours, references, ranking",),
        spanners=(Spanner("", (*METRICS.values(), "mean(p - y)", "Impostors at 1")),),
        sections=tuple(sections),
        notes=(*NOTES, Note("keys", f"{', '.join(keys)}.", "Run keys", for_print=False)),
        about=("Bold: best of a data set and backbone.",),
        source=runs.source,
        chapter=CHAPTER,
    )
    return [grid]


def _forms(runs: StudyRuns, setting: Setting) -> dict[Form, Run]:
    """The runs of each form in the table's order."""
    limits = {runs.value(run, LIMIT) for run in runs.find(setting)}
    found: dict[Form, Run] = {}
    for method in FORMS:
        for limit in sorted(limits, key=lambda limit: limit or 0):
            run = runs.one(setting, method, **{LIMIT: limit})
            if run is not None:
                found[method, limit] = run
    return found


def _section(label: str, forms: dict[Form, Run]) -> Section:
    lines = []
    for form, run in forms.items():
        lines += [_line(form, ranking, run) for ranking in RANKINGS]
    return Section(label, tuple(mark_best(lines, [*map(higher_is_better, METRICS), None, None])))


def _line(form: Form, ranking: str, result: Run) -> Line:
    method, limit = form
    references = "all"
    if limit is not None:
        references = f"{limit:,}"
    means = [result.read(RANKINGS[ranking]).mean(metric) for metric in METRICS]
    entries = [_number(mean) for mean in means]
    scores = RunScores.if_available(result)
    bias = Entry()
    at_one = Entry()
    if scores is not None and ranking == "clipped":
        bias = _number(float(scores.probability.mean() - scores.same.mean()), "+")
        share = float((scores.probability[~scores.same] >= 1).mean())
        at_one = Entry(f"{share:.2%}", share)
    elif scores is not None:
        bias = _number(float(scores.score.mean() - scores.same.mean()), "+")
    entries += [bias, at_one]
    return Line(f"{FORMS[method]}, {references}, {ranking}", tuple(entries))


def _number(value: float | None, sign: str = "") -> Entry:
    return number_entry(value, DIGITS, sign=sign)


STUDY = Study("density_forms", more_tables=tables, varies=(LIMIT,))
