"""Which AC-Density do the printed rows have? Its four forms over several seeds of the stand-ins, beside the print."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from fairfr.paper.order import DENSITY, DENSITY_LOO, HEADLINE
from fairfr.paper.printed import AUROC, BRIER, TPR, WORST_BRIER, printed_headline
from fairfr.report.quantity import Quantity
from fairfr.report.study import Study
from fairfr.report.study_runs import Setting, StudyRuns
from fairfr.report.study_table import CHAPTER
from fairfr.report.tables.grid import Entry, Grid, Line, Note, Section, Spanner, number_entry
from fairfr.report.tables.table_notes import short_key
from fairfr.stored.reading import PAPER_READING, STRICT, Reading
from fairfr.stored.run import Run

FORMS = {DENSITY.id: "self", DENSITY_LOO.id: "LOO"}
# native probabilities: the paper's reading ranks by them, clipped to [0, 1]; the strict one by the unclipped score
RANKINGS: dict[str, Reading] = {"clipped": PAPER_READING, "unclipped": STRICT}
QUANTITIES = (AUROC, TPR, BRIER, WORST_BRIER)
DIGITS = 4
SEED = "dataset.standin.seed"
NOTES = (
    Note(
        "forms",
        "With 'self' a training pair in the reference set is its own nearest neighbour, as the paper's text says; "
        "'LOO' leaves it out. AUROC and TPR rank by the probability, clipped to [0, 1], or by the value before "
        "clipping; Brier scores are those of the clipped probability in both, with pairs grouped by their first image.",
    ),
    Note(
        "spread",
        "Mean and standard deviation over seeds of the stand-in. Bold: nearest to print. Distances are means of "
        "|mean over seeds - printed| over the settings.",
    ),
    Note(
        "how_to_run",
        "To run it:",
        commands=("fairfr run -m experiment=density_printed",),
        for_print=False,
    ),
)


def tables(runs: StudyRuns) -> list[Grid]:
    """A section for each headline setting, then the mean distances by data set and over all."""
    settings = [setting for setting in HEADLINE if setting in runs.settings]
    sections = [_section(runs, setting) for setting in settings]
    datasets = list(dict.fromkeys(dataset for dataset, _ in settings))
    for dataset in datasets:
        sections.append(_distances(runs, [at for at in settings if at[0] == dataset], f"Distance, {dataset.upper()}"))
    if len(datasets) > 1:
        sections.append(_distances(runs, settings, "Distance, all settings"))
    keys = ", ".join(sorted(short_key(run.result.key) for run in runs))
    return [
        Grid(
            id="study_density_printed",
            title="Which AC-Density the paper prints",
            corner=("Neighbours, ranking",),
            spanners=(Spanner("", tuple(quantity.label for quantity in QUANTITIES)),),
            sections=tuple(sections),
            notes=(*NOTES, Note("keys", f"{keys}.", "Run keys", for_print=False)),
            source=runs.source,
            chapter=CHAPTER,
        )
    ]


def _section(runs: StudyRuns, setting: Setting) -> Section:
    printed = [_printed(quantity, setting) for quantity in QUANTITIES]
    lines = []
    distances = []
    for method, form in FORMS.items():
        found = runs.find(setting, method)
        for ranking, reading in RANKINGS.items():
            values = [_over_seeds(found, quantity, reading) for quantity in QUANTITIES]
            lines.append(Line(f"{form}, {ranking}", tuple(_entry(each) for each in values)))
            distances.append([_distance(each, wanted) for each, wanted in zip(values, printed, strict=True)])
    seeds = max(len(runs.find(setting, method)) for method in FORMS)
    above = Line("printed", tuple(number_entry(value, 3) for value in printed))
    return Section(f"{runs.label(setting)}, {seeds} seeds", (above, *_nearest(lines, distances)))


def _distances(runs: StudyRuns, settings: Sequence[Setting], heading: str) -> Section:
    lines = []
    distances = []
    for method, form in FORMS.items():
        for ranking, reading in RANKINGS.items():
            mean: list[float | None] = []
            for quantity in QUANTITIES:
                each = []
                for setting in settings:
                    values = _over_seeds(runs.find(setting, method), quantity, reading)
                    distance = _distance(values, _printed(quantity, setting))
                    if distance is not None:
                        each.append(distance)
                mean.append(_mean(each))
            lines.append(Line(f"{form}, {ranking}", tuple(number_entry(value, DIGITS) for value in mean)))
            distances.append(mean)
    return Section(heading, tuple(_nearest(lines, distances)), panel=True)


def _distance(values: Sequence[float], printed: float) -> float | None:
    """Of the mean over seeds from the printed value; None without a run."""
    mean = _mean(values)
    if mean is None:
        return None
    return abs(mean - printed)


def _mean(values: Sequence[float]) -> float | None:
    if not values:
        return None
    return float(np.mean(values))


def _nearest(lines: Sequence[Line], distances: Sequence[Sequence[float | None]]) -> list[Line]:
    """The lines, with the smallest distance of each column in bold, including ties after rounding."""
    rounded = np.round(np.array(distances, dtype=np.float64), DIGITS)  # None becomes NaN, which equals nothing
    least = np.fmin.reduce(rounded, axis=0)
    marked = []
    for line, is_least in zip(lines, rounded == least, strict=True):
        entries = [replace(entry, bold=bool(bold)) for entry, bold in zip(line.entries, is_least, strict=True)]
        marked.append(replace(line, entries=tuple(entries)))
    return marked


def _printed(quantity: Quantity, setting: Setting) -> float:
    return next(
        p.value
        for p in printed_headline()
        if (p.quantity, p.dataset, p.backbone, p.method) == (quantity, *setting, DENSITY.id)
    )


def _over_seeds(found: Sequence[Run], quantity: Quantity, reading: Reading) -> list[float]:
    """The value of each seed's run; a group's numbers are always those of the first image, as the paper has them."""
    if quantity.group != "all":
        reading = PAPER_READING
    values = [run.read(reading).mean(quantity.metric, quantity.group) for run in found]
    return [value for value in values if value is not None]


def _entry(values: Sequence[float]) -> Entry:
    if not values:
        return Entry()
    spread = ""
    if len(values) > 1:
        spread = f"±{np.std(values, ddof=1):.{DIGITS}f}"
    return number_entry(float(np.mean(values)), DIGITS, spread=spread)


STUDY = Study("density_printed", more_tables=tables, varies=(SEED,))
