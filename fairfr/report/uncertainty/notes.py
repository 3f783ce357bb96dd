"""What a reader must know about bootstrap intervals: who was drawn, what they cover, and what was left out."""

from __future__ import annotations

from collections.abc import Iterator

from fairfr.core.names import ENOUGH_FALSE_MATCHES
from fairfr.report.tables.grid import Note
from fairfr.report.uncertainty.setting_bootstrap import ALPHA, SettingBootstrap

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
    "Difference of the pooled values, its 95 % interval on draws that both methods share, and the share of draws in "
    "which the method is better (ties count half). Coloured: the interval leaves out zero. For Brier, negative is "
    "better.",
)


def notes_of(found: SettingBootstrap) -> Iterator[Note]:
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
        left_out = f"Left out, because they scored other pairs than {found.rows[0].label}"
        yield Note("other_pairs", f"{', '.join(found.incomparable)}.", left_out, severity="warning")
    keys = ", ".join(f"{row.label} {found.runs[row.id].result.key}" for row in found.rows)
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
