"""The page of ``check`` for people: findings, then facts, as tables that fit the terminal."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import TypeAlias

from rich import box
from rich.console import Console, Group, RenderableType
from rich.table import Table
from rich.text import Text

from fairfr.core.findings import SEVERITIES, Finding, Severity
from fairfr.core.names import ALL, ENOUGH_FALSE_MATCHES, FPR_LEVELS, POOLED
from fairfr.core.text import escape_control_chars
from fairfr.data.check.facts import Facts, FoldGroup

Row: TypeAlias = tuple[str, ...]

NARROWEST = 60  # below, numbers would be cut
WIDEST = 100  # above, sentences are hard to read
MAX_NAME = 32  # names of groups and columns are the user's, and may be endless
MAX_SHOWN_GROUPS = 24  # rows of one table; more are in the json
MAX_TABLES = 3  # for the folds
STYLE: dict[Severity, str] = {"serious": "bold red", "warning": "yellow", "note": "dim"}


def show_page(title: str, findings: Sequence[Finding], facts: Facts, min_pairs: int) -> str:
    """The whole page as text for stdout: as wide as a terminal allows, coloured only there.

    Parameters
    ----------
    title : str
        What was checked.
    findings : sequence of Finding
        In the order in which they are shown.
    facts : Facts
        Of the whole set.
    min_pairs : int
        How many pairs a group needs to be measured.
    """
    console = Console(highlight=False, markup=False, emoji=False)
    width = WIDEST
    if console.is_terminal:
        width = min(max(console.width, NARROWEST), WIDEST)
    console.width = width
    sections = (
        [Text(escape_control_chars(title), "bold")],
        _findings(findings),
        _counts(facts),
        _groupings(facts),
        _pairs_by_group(facts),
        _by_fold(facts, console.width),
        _requirements(facts, min_pairs),
        _cosines(facts),
    )
    with console.capture() as captured:
        blank: list[RenderableType] = []  # a line between sections
        for section in sections:
            content = list(section)
            if content:
                console.print(Group(*blank, *content))
                blank = [Text()]
    text = captured.get()
    if console.is_terminal:
        return text
    # tables are padded to their full width, which a file or a diff should not see
    return "".join(f"{line.rstrip()}\n" for line in text.splitlines())


def _findings(findings: Sequence[Finding]) -> Iterator[RenderableType]:
    if not findings:
        yield Text("Nothing suspicious.", "green")
        return
    plurals = {"serious": "serious", "warning": "warnings", "note": "notes"}
    counts = Counter(finding.severity for finding in findings)
    counted = []
    for severity in SEVERITIES:
        if counts[severity] == 1:
            counted.append(f"1 {severity}")
        elif counts[severity] > 1:
            counted.append(f"{counts[severity]} {plurals[severity]}")
    yield Text("Suspicious: " + ", ".join(counted), "bold")
    table = Table.grid(padding=(0, 2, 0, 0))
    table.add_column(no_wrap=True)
    table.add_column(overflow="fold")  # paths longer than a line go on in the next
    for finding in findings:
        label = Text(f"  {finding.severity}", STYLE[finding.severity])
        table.add_row(label, Text.assemble(finding.text, (f" [{finding.code}]", "dim")))
    yield table


def _counts(facts: Facts) -> Iterator[RenderableType]:
    counts = facts.counts
    shared = facts.shared
    rows = [
        ("images", counts.images, f"{shared.images_between_folds:,} in more than one fold"),
        ("identities", counts.identities, f"{shared.identities_between_folds:,} in more than one fold"),
        ("images without identity", counts.images_without_identity, ""),
        ("pairs", counts.pairs, f"{counts.same:,} genuine, {counts.different:,} impostor"),
        ("pairs left out", counts.pairs_left_out, "no vector for one of their images"),
        (
            "repeated pairs",
            shared.repeated_pairs,
            f"{shared.repeated_pairs_between_folds:,} of them in another fold",
        ),
        ("folds", counts.folds, ""),
    ]
    table = _table(("Counts", "", ""))
    table.columns[2].justify = "left"
    for name, number, remark in rows:
        shown = remark if number else ""
        table.add_row(name, f"{number:,}", shown)
    yield table


def _groupings(facts: Facts) -> Iterator[RenderableType]:
    if not facts.groupings:
        return
    rows: list[Row] = []
    for grouping in facts.groupings:
        name = grouping.grouping
        if grouping.used_by_methods:
            name += " *"
        numbers = grouping.images_without_group, grouping.mixed_pairs, grouping.pairs_without_group
        rows.append((name, f"{len(grouping.groups):,}", *(f"{number:,}" for number in numbers)))
    yield _filled(("Grouping", "groups", "images without", "mixed pairs", "pairs without"), rows)
    yield _remark("* what group-aware methods use")


def _pairs_by_group(facts: Facts) -> Iterator[RenderableType]:
    """Counts of each group over all folds, and what the false positive rates mean: in the smallest fold and pooled."""
    rows: list[Row] = []
    for pooled, folds in _shown(facts):
        smallest = min(folds, key=lambda fold: fold.different)
        matches = (f"{smallest.false_matches[text]:.1f}, {pooled.false_matches[text]:.1f}" for text in FPR_LEVELS)
        share = f"{pooled.same / max(pooled.same + pooled.different, 1):.0%}"
        rows.append((pooled.group, f"{pooled.same:,}", f"{pooled.different:,}", share, *matches))
    yield _filled(
        ("Pairs inside", "genuine", "impostor", "share", *(f"FMR {text}: fold, pooled" for text in FPR_LEVELS)), rows
    )
    yield _remark("FMR columns: how many false matches that rate means, in the smallest fold and over all folds.")
    hidden = sum(part.fold == POOLED for part in _main_fold_groups(facts)) - 1 - MAX_SHOWN_GROUPS
    if hidden > 0:
        yield _remark(f"... and {hidden:,} more groups; --json lists all.")


def _by_fold(facts: Facts, width: int) -> Iterator[RenderableType]:
    """Both counts of each fold, in as many tables as the width demands; if those are too many, the extremes."""
    shown = list(_shown(facts))
    labels = tuple(fold.fold for fold in shown[0][1])
    counts = []
    widest = max(map(len, labels))
    for _, folds in shown:
        row = [f"{fold.same}/{fold.different}" for fold in folds]
        widest = max(widest, *map(len, row))
        counts.append(row)
    together = (width - MAX_NAME - 4) // (widest + 2)
    if together * MAX_TABLES < len(labels):
        yield _extremes(shown)
        return
    for start in range(0, len(labels), together):
        part = slice(start, start + together)
        rows = [(pooled.group, *row[part]) for (pooled, _), row in zip(shown, counts, strict=True)]
        yield _filled(("Genuine/impostor by fold", *labels[part]), rows)


def _extremes(shown: Sequence[tuple[FoldGroup, list[FoldGroup]]]) -> Table:
    rows: list[Row] = []
    for pooled, folds in shown:
        same = [fold.same for fold in folds]
        different = [fold.different for fold in folds]
        extremes = min(same), max(same), min(different), max(different)
        rows.append((pooled.group, *(f"{number:,}" for number in extremes)))
    return _filled(("By fold", "fewest genuine", "most genuine", "fewest impostor", "most impostor"), rows)


def _requirements(facts: Facts, min_pairs: int) -> Iterator[RenderableType]:
    """For each kind of metric: in how many folds, groups and groups of folds the pairs suffice."""
    rows: list[Row] = []
    for name, least_different in required_impostors():
        parts = {"folds": [0, 0], "groups": [0, 0], "both": [0, 0]}
        for part in _main_fold_groups(facts):
            if part.grouping == ALL and part.fold == POOLED:
                continue
            if part.grouping == ALL:
                kind = "folds"
            elif part.fold == POOLED:
                kind = "groups"
            else:
                kind = "both"
            parts[kind][0] += part.enough and part.different >= least_different
            parts[kind][1] += 1
        needs = f"both kinds, {min_pairs} pairs"
        if least_different > 1:
            needs = f"{least_different:,} impostor"
        enough = [f"{met} of {total}" if total else "-" for met, total in parts.values()]
        rows.append((name, needs, *enough))
    yield _filled(("Metric", "needs", "folds", "groups", "groups x folds"), rows, words=1)
    yield _remark(
        f"Rates need {ENOUGH_FALSE_MATCHES} false matches to be steady; with fewer they are reported all the same."
    )


def required_impostors() -> tuple[tuple[str, int], ...]:
    """Kinds of metrics and the different pairs they need."""
    rates = ((f"TPR, gaps at FMR {text}", round(ENOUGH_FALSE_MATCHES / alpha)) for text, alpha in FPR_LEVELS.items())
    return ("AUROC, Brier, ECE, KS", 1), ("pAUC (FPR <= 0.1)", ENOUGH_FALSE_MATCHES * 10), *rates


def _cosines(facts: Facts) -> Iterator[RenderableType]:
    cosine = facts.cosine
    if cosine is not None:
        yield Text(f"Mean cosine: genuine {cosine.mean_same:.3f}, impostor {cosine.mean_different:.3f}")
    if facts.stored_cosines:
        rows: list[Row] = []
        for stored in facts.stored_cosines:
            like = "-" if stored.correlation is None else f"{stored.correlation:.4f}"
            differing = f"{stored.differing_pairs:,}"
            rows.append(
                (stored.column, f"{stored.mean_difference:.5f}", f"{stored.largest_difference:.5f}", differing, like)
            )
        yield _filled(("Stored column", "mean difference", "largest", "pairs that differ", "correlation"), rows)


def _main_fold_groups(facts: Facts) -> list[FoldGroup]:
    """Those of all pairs and of the grouping that methods use."""
    used = {grouping.grouping for grouping in facts.groupings if grouping.used_by_methods}
    return [part for part in facts.fold_groups if part.grouping in {ALL, *used}]


def _shown(facts: Facts) -> Iterator[tuple[FoldGroup, list[FoldGroup]]]:
    """All pairs and each group: pooled over the folds, with its folds."""
    folds: list[FoldGroup] = []
    shown = 0
    for part in _main_fold_groups(facts):  # folds come in order, pooled last
        if part.fold != POOLED:
            folds.append(part)
            continue
        if shown <= MAX_SHOWN_GROUPS:
            yield part, folds
        shown += 1
        folds = []


def _table(header: Row) -> Table:
    """Names to the left, cut where they are long; numbers to the right."""
    table = Table(box=box.SIMPLE_HEAD, show_edge=False, padding=(0, 1, 0, 0), header_style="bold")
    table.add_column(header[0], no_wrap=True, overflow="ellipsis", max_width=MAX_NAME)
    for heading in header[1:]:
        table.add_column(Text(escape_control_chars(heading)), justify="right", overflow="fold")
    return table


def _filled(header: Row, rows: Sequence[Row], words: int | None = None) -> Table:
    """The table of ``rows``. Where it is narrow, headings may wrap, and column ``words``; numbers may not."""
    table = _table(header)
    for position, column in enumerate(table.columns[1:], start=1):
        cells = [row[position] for row in rows]
        if position == words:
            cells = " ".join(cells).split()
        column.min_width = max(map(len, cells), default=1)
    for row in rows:
        # as Text: brackets in a name are part of it, not rich's markup
        table.add_row(*(Text(escape_control_chars(cell)) for cell in row))
    return table


def _remark(text: str) -> Text:
    return Text(text, "dim")
