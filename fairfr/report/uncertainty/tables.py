"""How sure a mean is: its spread over folds, a bootstrap interval over identities, and paired differences.

Fold means are what the other tables print. The bootstrap speaks of the *pooled* value, all held-out pairs together,
which is shown beside the mean. The two differ a little: a method's maps differ between folds, and for the worst group
the mean of the folds' minima is not the minimum of the pool. The worst group has two intervals: of the minimum that
one finds, and of the true worst group's value, from simultaneous intervals of all groups (``_groups_grids``).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from itertools import chain
from typing import TypeAlias

from fairfr.core.names import ENOUGH_FALSE_MATCHES
from fairfr.numerics.bootstrap import (
    BOOTSTRAP_METRICS,
    simultaneous_intervals,
    worst_group_interval,
)
from fairfr.report.quantity import Quantity, group_heading, higher_is_better
from fairfr.report.tables.grid import (
    DECISION,
    TIED_WORDS,
    Entry,
    Grid,
    Line,
    Note,
    Section,
    Spanner,
    mark_best,
    number_entry,
    tied_entry,
)
from fairfr.report.tables.notes import raw_brier
from fairfr.report.tables.setting_tables import MOST_GROUPS
from fairfr.report.uncertainty.decision_table import (
    SIMULTANEOUS,
    decision_columns,
    decision_section,
    decision_sentences,
    differences,
)
from fairfr.report.uncertainty.difference_lines import (
    DIGITS,
    HEADINGS,
    PLACES,
    comparison_sections,
    range_text,
    ranked_alike,
    run_called,
    span_text,
)
from fairfr.report.uncertainty.rate_tables import (
    AT_ONE_THRESHOLD,
    FEW_FALSE_MATCHES,
    gap_columns,
    gap_sections,
    group_tables,
)
from fairfr.report.uncertainty.setting_bootstrap import ALPHA, BootstrapCache, DrawnRun, SettingBootstrap, is_tied

MEANS = {
    "all": ("mean", "fold std", "pooled", "95 % interval"),
    "worst": ("mean", "fold std", "pooled", "95 % CI, expected worst", "95 % CI, true worst group"),
}
LineOf: TypeAlias = Callable[[DrawnRun, str], Line]
CHAPTER = "Uncertainty"

TWO_WORSTS = Note(
    "two_worsts",
    "The worst group has two intervals. The first is of the expected worst value, found again in each draw; with noisy "
    "groups that lies beyond the true worst group's value, which it need not cover. The second covers the true worst "
    "group's value; its ends are the worst lower and the worst upper bound of simultaneous intervals for all groups, "
    "which have a table of their own.",
)
TOGETHER = Note(
    "together",
    "The intervals of one line cover the true values of all its groups together in 95 % of cases (percentile "
    "bootstrap, the same share of the draws cut off in every group; Mandel and Betensky 2008). Each is wider than one "
    "that is alone.",
)
DIFFERENCES = Note(
    "differences",
    "Difference of the pooled values, its 95 % interval on draws that both methods share, the share of draws in which "
    "the method is better (ties count half), and the difference of the fold means. Coloured: the interval as printed "
    "leaves out zero. For Brier, negative is better.",
)


def uncertainty_tables(bootstraps: BootstrapCache, against: str | None = None) -> list[Grid]:
    """For each data set and backbone: means with their uncertainty, groups, and paired differences between methods.

    Settings without stored scores are left out. ``against``: the method or variant that the others are compared
    with, by its id or label; None: the Baseline, and the duels of the order.
    """
    grids: list[Grid] = []
    order = bootstraps.results.order
    for setting in order.sorted(bootstraps.results.settings):
        found = bootstraps.of(setting)
        if found is None:
            continue
        grids += [_means_grid(found), *_groups_grids(found)]
        sections = tuple(comparison_sections(found, against, order.duels))
        if sections:
            grids.append(_differences_grid(found, sections))
        if against is not None:
            grids += _one_threshold_grids(found, against)
    return grids


def _one_threshold_grids(found: SettingBootstrap, against: str) -> Iterator[Grid]:
    """What decides, and what happens to groups at one threshold, against one method."""
    reference = run_called(against, found)
    if reference is None or not reference.rates:
        return
    by_label = differences(found, reference)
    if not by_label:
        return
    section = decision_section(found, by_label, reference)
    title = f"What the intervals decide against {reference.label}"
    grid = _grid(found, "decision", title, decision_columns(by_label), (section,), SIMULTANEOUS)
    said = tuple(Note(DECISION, text) for text in decision_sentences(found, by_label, reference))
    few: tuple[Note, ...] = ()
    if any(one.rests_on_few for one in chain.from_iterable(by_label.values())):
        few = (FEW_FALSE_MATCHES,)
    yield replace(grid, notes=(*said, *few, *grid.notes))
    if not found.groups:
        return
    title = "Groups at one threshold"
    grid = _grid(
        found, "one_threshold", title, gap_columns(reference), gap_sections(found, reference), AT_ONE_THRESHOLD
    )
    yield replace(grid, notes=(FEW_FALSE_MATCHES, *grid.notes))
    for part, (spanners, sections) in enumerate(group_tables(found, reference), 1):
        kind = "one_threshold_groups" if part == 1 else f"one_threshold_groups_{part}"
        title = "Each group at one threshold"
        grid = _grid(found, kind, title, spanners, sections, AT_ONE_THRESHOLD)
        yield replace(grid, notes=(FEW_FALSE_MATCHES, *grid.notes))


def _grid(
    found: SettingBootstrap,
    kind: str,
    title: str,
    spanners: tuple[Spanner, ...],
    sections: tuple[Section, ...],
    note: Note,
) -> Grid:
    dataset, backbone = found.first.cell[:2]
    result = found.first.result
    used = [(one.row, one.run) for one in found.runs]
    return Grid(
        id=f"{kind}_{dataset}_{backbone}",
        title=f"{title} on {result.dataset.label} x {result.backbone.label}",
        corner=("Method",),
        spanners=spanners,
        sections=sections,
        notes=(note, *_ties(sections), *_notes(found)),
        about=(_about(found), *raw_brier(used)),
        source=result.source,
        chapter=CHAPTER,
    )


def _ties(sections: tuple[Section, ...]) -> Iterator[Note]:
    """What the mark at a rate that no threshold meets says, where there is one."""
    lines = chain.from_iterable(section.lines for section in sections)
    entries = chain.from_iterable(line.entries for line in lines)
    if any(entry.tied for entry in entries):
        yield Note("ties", TIED_WORDS, severity="warning")


def _means_grid(found: SettingBootstrap) -> Grid:
    bold = [True, False, True, False] * 2 + [False]
    spanners = tuple(Spanner(PLACES[place], columns) for place, columns in MEANS.items())
    sections = _by_metric(found, _means_line, bold)
    return _grid(found, "uncertainty", "Uncertainty of the means", spanners, sections, TWO_WORSTS)


def _by_metric(found: SettingBootstrap, line_of: LineOf, bold: list[bool]) -> tuple[Section, ...]:
    """A section for each metric, a line for each method; ``bold``: the columns whose best value is marked."""
    sections = []
    for metric in BOOTSTRAP_METRICS:
        lines = [line_of(one, metric) for one in found.runs]
        higher = bool(higher_is_better(metric))
        better = [higher if column else None for column in bold]
        sections.append(Section(HEADINGS[metric], tuple(mark_best(lines, better))))
    return tuple(sections)


def _means_line(one: DrawnRun, metric: str) -> Line:
    run = one.run
    entries: list[Entry] = []
    for place in PLACES:
        number = run.number(metric, place)
        pooled, drawn = one.drawn(metric, place)
        entries += [
            number_entry(number and number.mean, DIGITS),
            number_entry(number and number.std, DIGITS),
            number_entry(pooled, DIGITS),
            Entry(span_text(drawn)),
        ]
    bounds = simultaneous_intervals(one.measured.groups(metric)[1])
    entries.append(Entry(range_text(*worst_group_interval(bounds, bool(higher_is_better(metric))))))
    return Line(one.label, _marked(entries, metric, one), run.needs_groups)


def _marked(entries: list[Entry], metric: str, one: DrawnRun) -> tuple[Entry, ...]:
    """The numbers of one method; those at a rate that no threshold meets are marked."""
    alpha = Quantity(metric, "all").alpha
    if alpha is None or not is_tied(alpha, one):
        return tuple(entries)
    return tuple(map(tied_entry, entries))


def _groups_grids(found: SettingBootstrap) -> Iterator[Grid]:
    """Every group with an interval; those of a line are simultaneous. Many groups have several tables."""
    for start in range(0, len(found.groups), MOST_GROUPS):
        part = slice(start, start + MOST_GROUPS)
        names = tuple(map(group_heading, found.groups[part]))
        sections = _by_metric(found, partial(_groups_line, part), [True] * len(names))
        kind = "uncertainty_groups"
        if len(found.groups) > MOST_GROUPS:
            kind += f"_{start // MOST_GROUPS + 1}"
        spanners = (Spanner("Pooled, simultaneous 95 % CI", names),)
        title = "Every group with a simultaneous interval"
        yield _grid(found, kind, title, spanners, sections, TOGETHER)


def _groups_line(part: slice, one: DrawnRun, metric: str) -> Line:
    pooled, drawn = one.measured.groups(metric)
    bounds = simultaneous_intervals(drawn).T[part]
    entries = [
        number_entry(float(value), DIGITS, spread=f" {range_text(low, high)}")
        for value, (low, high) in zip(pooled[part], bounds, strict=True)
    ]
    return Line(one.label, _marked(entries, metric, one), one.run.needs_groups)


def _differences_grid(found: SettingBootstrap, sections: tuple[Section, ...]) -> Grid:
    columns = ("difference", "95 % interval", "better in", "of fold means")
    spanners = tuple(Spanner(heading, columns) for heading in PLACES.values())
    title = "Paired differences between methods"
    grid = _grid(found, "differences", title, spanners, sections, DIFFERENCES)
    alike = tuple(ranked_alike(found))
    return replace(grid, notes=(*grid.notes[:1], *alike, *grid.notes[1:]))


def _about(found: SettingBootstrap) -> str:
    folds = len(found.first.result.data.folds)
    reading = found.first.reading.name.capitalize()
    if found.known == 1:
        drawn = "identities"
    elif found.known:
        drawn = "identities, partly guessed"
    else:
        drawn = "units"
    return f"{reading} convention; {folds} held-out folds; {found.draws:,} draws over {drawn}."


def _notes(found: SettingBootstrap) -> Iterator[Note]:
    """The scheme, fewer draws than asked for, few false matches, methods left out, and the runs."""
    yield Note(
        "bootstrap",
        f"Percentile bootstrap of the pooled value over {found.units:,} {_units(found)}; one met in a single pair goes "
        "with its partner. No method is refitted. The worst group is found again in each draw. Fold std (ddof 0) is "
        "the spread over folds, not a confidence interval.",
    )
    if found.draws < found.asked:
        fewer = f"{found.draws:,} draws instead of {found.asked:,}, to bound the time on so many pairs."
        yield Note("fewer_draws", fewer, severity="warning")
    yield from _few_false_matches(found)
    if found.incomparable:
        left_out = f"Left out, because they scored other pairs than {found.runs[0].label}"
        yield Note("other_pairs", f"{', '.join(found.incomparable)}.", left_out, severity="warning")
    keys = ", ".join(f"{one.label} {one.run.result.key}" for one in found.runs)
    yield Note("keys", f"{keys}.", "Runs", for_print=False)


def _units(found: SettingBootstrap) -> str:
    """Who was drawn, in words."""
    linked = "images linked by genuine pairs, so that a person may count as several and intervals may be too narrow"
    if found.known == 1:
        return "identities, as the data names them"
    if found.known:
        return f"identities, as the data names them for {found.known:.0%} of the images; elsewhere {linked}"
    return f"units (the data names no identities): {linked}"


def _few_false_matches(found: SettingBootstrap) -> Iterator[Note]:
    """The paper's last appendix paragraph, for these pairs: with so few false matches TPR depends on single pairs."""
    data = found.first.result.data
    pooled = ALPHA * (data.pairs - data.same)
    in_fold = pooled / len(data.folds)
    if in_fold >= ENOUGH_FALSE_MATCHES:
        return
    verdict = "too few as well" if pooled < ENOUGH_FALSE_MATCHES else "enough"
    yield Note(
        "few_false_matches",
        f"At FPR 1e-3 a fold expects {in_fold:.1f} false matches, fewer than {ENOUGH_FALSE_MATCHES}, so that "
        f"its TPR is noisy and biased upwards; all folds together expect {pooled:.1f}, {verdict}.",
        severity="warning",
    )
