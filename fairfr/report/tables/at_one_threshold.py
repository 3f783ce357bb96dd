"""At one threshold for all pairs: how often each group is falsely matched and truly matched, by method and FPR."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from fairfr.core.names import ENOUGH_FALSE_MATCHES
from fairfr.core.text import plural
from fairfr.metrics.fpr_levels import ALL_FPR_LEVELS, is_measured_at
from fairfr.report.quantity import Quantity, group_heading
from fairfr.report.tables.columns import Column, column
from fairfr.report.tables.grid import UNDEFINED, UNSTEADY, Entry, Grid, Note, Section, Spanner
from fairfr.report.tables.layout import Layout, SettingColumn
from fairfr.report.tables.order import Setting, rows_of
from fairfr.report.tables.table_notes import BEST, TableNotes
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


@dataclass(frozen=True, slots=True)
class RateColumn(Column):
    """A number at one threshold, marked where it rests on few false matches."""

    def entry(self, run: Run, baseline: Run | None) -> Entry:
        """As other columns; a ratio is undefined where a group has no false match."""
        entry = Column.entry(self, run, baseline)
        if not self.metric.startswith("fpr"):
            return entry
        matches = false_matches(run, self.group, str(self.quantity.alpha))
        if not entry.text and 0 in matches:
            return replace(entry, missing="no false match")
        if entry.text and any(number < ENOUGH_FALSE_MATCHES for number in matches):
            return replace(entry, spread=UNSTEADY + entry.spread)
        return entry


def false_matches(run: Run, group: str, level: str) -> list[float]:
    """How many accepted impostor pairs a number rests on: of the group, of the worst, or of each group for a ratio."""
    rates = {}
    matches = {}
    for name in run.groups:
        number = run.number(f"fpr_at_fpr_{level}", name)
        if number is not None and number.pooled is not None:
            rates[name] = number.pooled
            matches[name] = number.pooled * number.n_diff
    if group in matches:
        return [matches[group]]
    if group == "worst" and rates:
        return [matches[max(rates, key=lambda name: rates[name])]]
    return list(matches.values())


def one_threshold_tables(layout: Layout, setting: Setting, chapter: str) -> Iterator[Grid]:
    """A panel for each FPR that the set is large enough for; nothing where the data knows no groups."""
    some = layout.any_run(setting)
    if some is None or not some.groups:
        return
    groups = some.groups
    parts = [groups[start : start + MOST_GROUPS] for start in range(0, len(groups), MOST_GROUPS)]
    dataset, backbone = setting
    for number, part in enumerate(parts, start=1):
        id = f"at_one_threshold_{dataset}_{backbone}"
        title = f"At one threshold: {layout.label(backbone)} on {layout.label(dataset)}"
        if len(parts) > 1:
            id += f"_{number}"
            title += f", part {number} of {len(parts)}"
        yield _table(layout, setting, part, Grid(id, title, ("Method",), (), (), chapter=chapter))


def _table(layout: Layout, setting: Setting, groups: tuple[str, ...], bare: Grid) -> Grid:
    some = layout.any_run(setting)
    assert some is not None
    impostors = _impostors(some)
    levels = [level for level in ALL_FPR_LEVELS if is_measured_at(level, impostors)]
    blocks = layout.blocks([setting], only_run=True)
    sections: list[Section] = []
    for level in levels:
        places = [SettingColumn(setting, one) for one in (*_false(level, groups), *_true(level, groups))]
        sections += layout.sections(places, blocks, _heading(level, impostors))
    spanners = (
        Spanner(RATES, tuple(one.heading for one in _false("1e-3", groups))),
        Spanner("TPR, %", tuple(one.heading for one in _true("1e-3", groups))),
    )
    notes = TableNotes(layout, rows_of(blocks), (setting,), frozenset(levels), wanted=layout.order.rows, pooled=True)
    about = (BEST,)
    return notes.annotate(
        replace(
            bare,
            spanners=spanners,
            sections=tuple(sections),
            notes=tuple(_notes(levels, impostors, sections)),
            about=about,
        )
    )


def _false(level: str, groups: tuple[str, ...]) -> list[RateColumn]:
    """False matches. A group's own rate is not bold: a low one may only mean that others are high."""
    metric = f"fpr_at_fpr_{level}"
    per_wanted = 1 / ALL_FPR_LEVELS[level]
    columns = []
    for group in groups:
        quantity = Quantity(metric, group)
        heading = group_heading(group)
        columns.append(RateColumn(heading, quantity, digits=2, scale=per_wanted, pooled=True, compared=False))
    columns.append(RateColumn("worst", Quantity(metric, "worst"), digits=2, scale=per_wanted, pooled=True))
    columns.append(RateColumn("max/min", Quantity(f"fpr_ratio_at_fpr_{level}", "gap"), digits=1, pooled=True))
    return columns


def _true(level: str, groups: tuple[str, ...]) -> list[Column]:
    metric = f"tpr_at_fpr_{level}"
    columns = [column("all", metric, percent=True, digits=1, pooled=True)]
    for group in groups:
        columns.append(column(group_heading(group), metric, group, percent=True, digits=1, pooled=True, compared=False))
    columns.append(column("EO gap", f"eo_gap_at_fpr_{level}", "gap", digits=1, pooled=True))
    columns.append(column("own gap", f"own_eo_gap_at_fpr_{level}", "gap", digits=1, pooled=True))
    return columns


def _impostors(run: Run) -> int:
    number = run.number("auroc")
    if number is None:
        return 0
    return number.n_diff


def _heading(level: str, impostors: int) -> str:
    expected = ALL_FPR_LEVELS[level] * impostors
    return f"FPR={level}: {expected:,.0f} of {plural(impostors, 'impostor pair')} falsely matched"


def _notes(levels: list[str], impostors: int, sections: list[Section]) -> Iterator[Note]:
    yield READ
    entries = [entry for section in sections for line in section.lines for entry in line.entries]
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
