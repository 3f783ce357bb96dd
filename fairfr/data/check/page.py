"""The page of ``check`` for people: findings, then facts, in plain text at most 100 characters wide."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Sequence
from typing import TypeAlias

from fairfr.data.check.facts import ALL, ALPHAS, POOLED, Cell, Facts
from fairfr.data.check.findings import ENOUGH_FALSE_MATCHES, SEVERITIES, Finding
from fairfr.data.validation import spaced

Row: TypeAlias = tuple[str, ...]

WIDTH = 100
MAX_NAME = 32  # names of groups and columns are the user's, and may be endless
MOST_GROUPS = 24  # lines of one table; more are in the json
MOST_TABLES = 3  # for the folds


def page(title: str, findings: Sequence[Finding], facts: Facts, min_pairs: int) -> str:
    """The whole page, ending in a line break."""
    sections = [
        [title],
        [*_findings(findings)],
        [*_counts(facts)],
        [*_groupings(facts)],
        [*_pairs_by_group(facts)],
        [*_by_fold(facts)],
        [*_minima(facts, min_pairs)],
        [*_cosines(facts)],
    ]
    return "\n\n".join("\n".join(lines) for lines in sections if lines) + "\n"


def _findings(findings: Sequence[Finding]) -> Iterator[str]:
    if not findings:
        yield "Nothing suspicious."
        return
    number = {severity: sum(finding.severity == severity for finding in findings) for severity in SEVERITIES}
    plural = {"serious": "serious", "warning": "warnings", "note": "notes"}
    named = [(count, severity if count == 1 else plural[severity]) for severity, count in number.items() if count]
    yield "Suspicious: " + ", ".join(f"{count} {word}" for count, word in named)
    for severity, code, message in findings:
        start = f"  {severity:<8}"
        yield textwrap.fill(
            f"{message} [{code}]",
            WIDTH,
            initial_indent=start,
            subsequent_indent=" " * len(start),
            break_on_hyphens=False,
        )


def _counts(facts: Facts) -> Iterator[str]:
    counts, shared = facts.counts, facts.shared
    yield "Counts"
    rows = [
        ("images", counts.images, f"{spaced(shared.images_between_folds)} in more than one fold"),
        ("identities", counts.identities, f"{spaced(shared.identities_between_folds)} in more than one fold"),
        ("images without identity", counts.images_without_identity, ""),
        ("pairs", counts.pairs, f"{spaced(counts.same)} same, {spaced(counts.different)} different"),
        ("pairs left out", counts.pairs_left_out, "no vector for one of their images"),
        (
            "repeated pairs",
            shared.repeated_pairs,
            f"{spaced(shared.repeated_pairs_between_folds)} of them in another fold",
        ),
        ("folds", counts.folds, ""),
    ]
    for name, number, remark in rows:
        yield f"  {name:<24}{spaced(number):>10}" + (f"   {remark}" if remark and number else "")


def _groupings(facts: Facts) -> Iterator[str]:
    if not facts.groupings:
        return
    rows: list[Row] = [("Grouping", "groups", "images without", "mixed pairs", "pairs without")]
    for grouping in facts.groupings:
        name = grouping.grouping + (" *" if grouping.used_by_methods else "")
        numbers = grouping.images_without_group, grouping.mixed_pairs, grouping.pairs_without_group
        rows.append((name, spaced(len(grouping.groups)), *(spaced(number) for number in numbers)))
    yield from _aligned(rows)
    yield "  * what group-aware methods use"


def _pairs_by_group(facts: Facts) -> Iterator[str]:
    """Counts of each group over all folds, and what the false positive rates mean: in the smallest fold and pooled."""
    rows: list[Row] = [
        ("Pairs inside", "same", "different", *(f"FPR {text}: fold, pooled" for text in ALPHAS)),
    ]
    for cell, folds in _shown(facts):
        smallest = min(folds, key=lambda fold: fold.different)
        matches = (f"{smallest.false_matches[text]:.1f}, {cell.false_matches[text]:.1f}" for text in ALPHAS)
        rows.append((cell.group, spaced(cell.same), spaced(cell.different), *matches))
    yield from _aligned(rows)
    yield "  FPR columns: how many false matches that rate stands for, in the smallest fold and over all folds."
    yield from _left_out(facts)


def _by_fold(facts: Facts) -> Iterator[str]:
    """Both counts of each fold, in as many tables as the width demands; if those are too many, the extremes."""
    shown = list(_shown(facts))
    labels = tuple(cell.fold for cell in shown[0][1])
    cells = [[f"{fold.same}/{fold.different}" for fold in folds] for _, folds in shown]
    widest = max(len(text) for row in (*cells, labels) for text in row)
    together = (WIDTH - MAX_NAME - 4) // (widest + 2)
    if together * MOST_TABLES < len(labels):
        yield from _extremes(shown)
        return
    for start in range(0, len(labels), together):
        part = slice(start, start + together)
        rows: list[Row] = [("Same/different by fold", *labels[part])]
        rows += [(cell.group, *row[part]) for (cell, _), row in zip(shown, cells, strict=True)]
        yield from _aligned(rows)


def _extremes(shown: Sequence[tuple[Cell, list[Cell]]]) -> Iterator[str]:
    rows: list[Row] = [("By fold", "fewest same", "most same", "fewest different", "most different")]
    for cell, folds in shown:
        same, different = [fold.same for fold in folds], [fold.different for fold in folds]
        extremes = min(same), max(same), min(different), max(different)
        rows.append((cell.group, *(spaced(number) for number in extremes)))
    return _aligned(rows)


def _minima(facts: Facts, min_pairs: int) -> Iterator[str]:
    """For each kind of metric: in how many folds, groups and groups of folds the pairs suffice."""
    rows: list[Row] = [("Metric", "needs", "folds", "groups", "groups x folds")]
    for name, least_different in minima():
        cells = {"folds": [0, 0], "groups": [0, 0], "both": [0, 0]}
        for cell in _main_cells(facts):
            kind = "folds" if cell.grouping == ALL else "groups" if cell.fold == POOLED else "both"
            if (cell.grouping, cell.fold) != (ALL, POOLED):
                cells[kind][0] += cell.enough and cell.different >= least_different
                cells[kind][1] += 1
        needs = f"{spaced(least_different)} different" if least_different > 1 else f"both kinds, {min_pairs} pairs"
        rows.append((name, needs, *(f"{met} of {total}" if total else "-" for met, total in cells.values())))
    yield from _aligned(rows)
    yield f"  Rates need {ENOUGH_FALSE_MATCHES} false matches to be steady; with fewer they are reported all the same."


def minima() -> tuple[tuple[str, int], ...]:
    """Kinds of metrics and the different pairs they need."""
    rates = ((f"TPR, gaps at FPR {text}", round(ENOUGH_FALSE_MATCHES / alpha)) for text, alpha in ALPHAS.items())
    return ("AUROC, Brier, ECE, KS", 1), ("pAUC (FPR <= 0.1)", ENOUGH_FALSE_MATCHES * 10), *rates


def _cosines(facts: Facts) -> Iterator[str]:
    cosine = facts.cosine
    if cosine is not None:
        yield f"Mean cosine: same {cosine.mean_same:.3f}, different {cosine.mean_different:.3f}"
    if facts.stored_cosines:
        rows: list[Row] = [("Stored column", "mean difference", "largest", "pairs that differ", "correlation")]
        for stored in facts.stored_cosines:
            like = "-" if stored.correlation is None else f"{stored.correlation:.4f}"
            differing = spaced(stored.differing_pairs)
            rows.append(
                (stored.column, f"{stored.mean_difference:.5f}", f"{stored.largest_difference:.5f}", differing, like)
            )
        yield from _aligned(rows)


def _main_cells(facts: Facts) -> list[Cell]:
    """Those of all pairs and of the grouping that methods use."""
    used = {grouping.grouping for grouping in facts.groupings if grouping.used_by_methods}
    return [cell for cell in facts.cells if cell.grouping in {ALL, *used}]


def _shown(facts: Facts) -> Iterator[tuple[Cell, list[Cell]]]:
    """The pooled cell of all pairs and of each group, with those of its folds."""
    folds: list[Cell] = []
    shown = 0
    for cell in _main_cells(facts):  # folds come in order, pooled last
        if cell.fold != POOLED:
            folds.append(cell)
            continue
        if shown <= MOST_GROUPS:
            yield cell, folds
        shown, folds = shown + 1, []


def _left_out(facts: Facts) -> Iterator[str]:
    hidden = sum(cell.fold == POOLED for cell in _main_cells(facts)) - 1 - MOST_GROUPS
    if hidden > 0:
        yield f"  ... and {spaced(hidden)} more groups; --json lists all."


def _aligned(rows: Sequence[Row]) -> Iterator[str]:
    """The first column to the left, the others to the right; the header first."""
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    widths[0] = min(widths[0], MAX_NAME)
    for number, row in enumerate(rows):
        name = row[0] if len(row[0]) <= widths[0] else row[0][: widths[0] - 3] + "..."
        cells = [f"{cell:>{width}}" for cell, width in zip(row[1:], widths[1:], strict=True)]
        yield ("" if number == 0 else "  ") + "  ".join([f"{name:<{widths[0] + 2 * (number == 0)}}", *cells])
