"""At one threshold for all pairs: how often each group is falsely matched and truly matched, by method and FPR."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import chain

from fairfr.core.names import ENOUGH_FALSE_MATCHES
from fairfr.core.text import plural
from fairfr.metrics.fpr_levels import ALL_FPR_LEVELS, is_measured_at
from fairfr.report.quantity import Quantity, group_heading
from fairfr.report.tables.grid import UNDEFINED, UNSTEADY, Entry, Grid, Note, Section, Spanner
from fairfr.report.tables.notes import BEST, RunsOfTable
from fairfr.report.tables.places import Form, Place, number, row_places, sections
from fairfr.stored.order import Setting, rows_of
from fairfr.stored.results import Results
from fairfr.stored.run import Run

MOST_GROUPS = 4
"""Groups of one table: each has two columns."""
RATES = "FPR over the wanted rate"
READ = Note(
    "one_threshold",
    "One threshold for all pairs, at which they have the wanted FPR. FPR over the wanted rate: 1 is what was "
    "asked for. EO gap: between the groups' highest and lowest TPR, in percentage points; own gap: the same with each "
    "group at its own threshold of the wanted FPR. The EO gap alone misleads: a group may have a high TPR because it "
    "is falsely matched more often. Pairs of all folds are ranked together, so a method whose map of the score differs "
    "between folds has slightly other numbers than the score.",
)
UNSTEADY_NOTE = Note(
    "unsteady",
    f"{UNSTEADY} fewer than {ENOUGH_FALSE_MATCHES} false matches in that group, or in one of those compared.",
)
NO_FALSE_MATCH = Note("no_false_match", f"{UNDEFINED} under max/min: a group has no false match.")


def mark_unsteady(entry: Entry, run: Run, quantity: Quantity) -> Entry:
    """Mark a rate that rests on few false matches; a ratio is undefined where a group has none."""
    matches = false_matches(run, quantity.group, str(quantity.alpha))
    if not entry.text and 0 in matches:
        return replace(entry, missing="no false match")
    if entry.text and any(found < ENOUGH_FALSE_MATCHES for found in matches):
        return replace(entry, spread=UNSTEADY + entry.spread)
    return entry


def mark_unsteady_own(entry: Entry, run: Run, quantity: Quantity) -> Entry:
    """Mark a gap at own thresholds where a group has too few impostors for the wanted rate."""
    level = str(quantity.alpha)
    matches = []
    for name in run.groups:
        found = run.number(f"tpr_at_own_fpr_{level}", name)
        if found is not None and found.pooled is not None:
            matches.append(ALL_FPR_LEVELS[level] * found.n_diff)
    if entry.text and any(expected < ENOUGH_FALSE_MATCHES for expected in matches):
        return replace(entry, spread=UNSTEADY + entry.spread)
    return entry


def false_matches(run: Run, group: str, level: str) -> list[float]:
    """How many accepted impostor pairs a number rests on: of the group, of the worst, or of each group for a ratio."""
    rates = {}
    matches = {}
    for name in run.groups:
        found = run.number(f"fpr_at_fpr_{level}", name)
        if found is not None and found.pooled is not None:
            rates[name] = found.pooled
            matches[name] = found.pooled * found.n_diff
    if group in matches:
        return [matches[group]]
    if group == "worst" and rates:
        return [matches[max(rates, key=lambda name: rates[name])]]
    return list(matches.values())


def one_threshold_tables(results: Results, setting: Setting, chapter: str) -> Iterator[Grid]:
    """A panel for each FPR that the set is large enough for; nothing where the data knows no groups."""
    some = results.find({"setting": setting})
    if some is None or not some.groups:
        return
    groups = some.groups
    parts = [groups[start : start + MOST_GROUPS] for start in range(0, len(groups), MOST_GROUPS)]
    dataset, backbone = setting
    for position, part in enumerate(parts, start=1):
        id = f"at_one_threshold_{dataset}_{backbone}"
        title = f"At one threshold: {results.label(backbone)} on {results.label(dataset)}"
        if len(parts) > 1:
            id += f"_{position}"
            title += f", part {position} of {len(parts)}"
        yield _table(results, some, part, Grid(id, title, ("Method",), (), (), chapter=chapter))


def _table(results: Results, some: Run, groups: tuple[str, ...], bare: Grid) -> Grid:
    """Of the setting of ``some`` run."""
    setting = some.cell[:2]
    impostors = _impostors(some)
    levels = [level for level in ALL_FPR_LEVELS if is_measured_at(level, impostors)]
    blocks = results.blocks([setting], only_run=True)
    found: list[Section] = []
    numbers: list[Place] = []
    for level in levels:
        columns = [*_false(level, groups), *_true(level, groups)]
        panel = Place(_heading(level, impostors), {"setting": setting})
        found += sections(results, row_places(blocks), columns, panel)
        numbers += columns
    spanners = (
        Spanner(RATES, tuple(one.heading for one in _false("1e-3", groups))),
        Spanner("TPR, %", tuple(one.heading for one in _true("1e-3", groups))),
    )
    notes = tuple(_notes(levels, impostors, found))
    filled = replace(bare, spanners=spanners, sections=tuple(found), notes=notes, about=(BEST,))
    return RunsOfTable(results, rows_of(blocks), (setting,), numbers, wanted=results.order.rows).annotate(filled)


def _false(level: str, groups: tuple[str, ...]) -> list[Place]:
    """False matches. A group's own rate is not bold: a low one may only mean that others are high."""
    metric = f"fpr_at_fpr_{level}"
    over_wanted = Form(digits=2, scale=1 / ALL_FPR_LEVELS[level], pooled=True, mark=mark_unsteady)
    columns = []
    for group in groups:
        own = replace(over_wanted, compared=False)
        columns.append(Place(group_heading(group), quantity=Quantity(metric, group), form=own))
    columns.append(Place("worst", quantity=Quantity(metric, "worst"), form=over_wanted))
    ratio = Quantity(f"fpr_ratio_at_fpr_{level}", "gap")
    columns.append(Place("max/min", quantity=ratio, form=Form(digits=1, pooled=True, mark=mark_unsteady)))
    return columns


def _true(level: str, groups: tuple[str, ...]) -> list[Place]:
    metric = f"tpr_at_fpr_{level}"
    rate = Form(digits=1, scale=100, pooled=True)
    columns = [Place("all", quantity=Quantity(metric), form=rate)]
    for group in groups:
        own = replace(rate, compared=False)
        columns.append(Place(group_heading(group), quantity=Quantity(metric, group), form=own))
    columns.append(number("EO gap", f"eo_gap_at_fpr_{level}", "gap", digits=1, pooled=True))
    own_gap = Quantity(f"own_eo_gap_at_fpr_{level}", "gap")
    columns.append(Place("own gap", quantity=own_gap, form=Form(digits=1, pooled=True, mark=mark_unsteady_own)))
    return columns


def _impostors(run: Run) -> int:
    found = run.number("auroc")
    if found is None:
        return 0
    return found.n_diff


def _heading(level: str, impostors: int) -> str:
    expected = ALL_FPR_LEVELS[level] * impostors
    return f"FPR={level}: {expected:,.0f} of {plural(impostors, 'impostor pair')} falsely matched"


def _notes(levels: list[str], impostors: int, sections: list[Section]) -> Iterator[Note]:
    yield READ
    entries: list[Entry] = []
    for line in chain.from_iterable(section.lines for section in sections):
        entries += line.entries
    if any(UNSTEADY in entry.spread for entry in entries):
        yield UNSTEADY_NOTE
    if any(entry.missing == "no false match" for entry in entries):
        yield NO_FALSE_MATCH
    for level, alpha in ALL_FPR_LEVELS.items():
        if level not in levels:
            text = (
                f"Nothing is reported at FPR={level}: all {impostors:,} impostor pairs together expect "
                f"{alpha * impostors:.1f} false matches there, fewer than {ENOUGH_FALSE_MATCHES}."
            )
            yield Note("level_not_measured", text)
