"""Claims of the paper's results section about its headline tables, and its bold cells."""

from __future__ import annotations

from functools import cache, partial

from fairfr.paper.claims.claim import (
    AC,
    LABEL,
    Part,
    Verdict,
    column_winners,
    compare_means,
    label_free_methods,
    mean_over_settings,
    method_labels,
    setting_names,
    verdict,
    winners,
)
from fairfr.paper.numbers import Numbers
from fairfr.paper.order import HEADLINE, PAPER_ROWS, setting_name
from fairfr.paper.printed import (
    AUROC,
    BRIER,
    LU_AUROC,
    TABLE_NAMES,
    TPR,
    WORST_AUROC,
    WORST_BRIER,
    WORST_TPR,
    printed_headline,
)
from fairfr.report.quantity import Quantity
from fairfr.stored.order import Setting

LEAD = "lead over the best other label-free method"
COLUMNS = "columns"
_WHERE_AGGREGATE = "Results, aggregate behavior"
_WHERE_LEVELS = "Results, avoiding leveling down"
PART = Part("Results")
claim = PART.claim


@cache
def _bold_methods(quantity: Quantity) -> dict[Setting, set[str]]:
    """What the paper prints in bold in each column."""
    bold: dict[Setting, set[str]] = {setting: set() for setting in HEADLINE}
    for printed in printed_headline():
        if printed.bold and printed.quantity == quantity:
            bold[printed.dataset, printed.backbone].add(printed.method)
    return bold


def _bold(numbers: Numbers, quantity: Quantity) -> Verdict:
    """In each column the bold methods must be the best label-free ones, all of them."""
    bold = _bold_methods(quantity)
    wrong = []
    for setting in HEADLINE:
        best, value = winners(numbers, quantity, setting)
        if not bold[setting] <= best:
            lesser = [row.id for row in PAPER_ROWS if row.id in bold[setting] - best]
            figures = ", ".join(f"{numbers.required(quantity, setting, m):.3f}" for m in lesser)
            bolded = f"bold {method_labels(lesser)} {figures}"
            wrong.append(f"{setting_name(setting)}: {bolded}, best {method_labels(best)} {value:.3f}")
        elif bold[setting] != best:
            wrong.append(
                f"{setting_name(setting)}: {method_labels(best - bold[setting])} ties at {value:.3f} and is not bold"
            )
    return verdict(not wrong, "; ".join([f"right in {len(HEADLINE) - len(wrong)} of {len(HEADLINE)} columns", *wrong]))


for q in (TPR, WORST_AUROC, WORST_BRIER, LU_AUROC, BRIER, WORST_TPR, AUROC):
    said = f"{q.label}: bold is the best label-free method"
    claim(f"bold-{q.metric}-{q.group}", TABLE_NAMES[q], said)(partial(_bold, quantity=q))


@claim("density-six", _WHERE_AGGREGATE, "AC-Density has the best worst-group AUROC on six of nine", figure=COLUMNS)
def _density_six(numbers: Numbers) -> Verdict:
    won = [s for s, best in column_winners(numbers, WORST_AUROC).items() if "ac_density" in best]
    return verdict(len(won) >= 6, f"best in {len(won)} of 9: {setting_names(won)}", len(won))


@claim(
    "worst-auroc-mean",
    _WHERE_AGGREGATE,
    "Mean worst-group AUROC: AC-Density 0.956, FairCal 0.948, FALCON 0.944",
    figure=LEAD,
)
def _worst_auroc_mean(numbers: Numbers) -> Verdict:
    return compare_means(numbers, WORST_AUROC, {"ac_density": 0.956, "faircal": 0.948, "falcon": 0.944})


@claim("linear-lfw", _WHERE_AGGREGATE, "AC-Linear takes the remaining LFW columns")
def _linear_takes_lfw(numbers: Numbers) -> Verdict:
    lfw = {s: best for s, best in column_winners(numbers, WORST_AUROC).items() if s[0] == "lfw"}
    rest = {s: best for s, best in lfw.items() if "ac_density" not in best}
    return verdict(
        all("ac_linear" in best for best in rest.values()),
        "; ".join(f"{setting_name(s)}: {method_labels(best)}" for s, best in rest.items())
        or "AC-Density is best in all three",
    )


@claim("brier-seven", _WHERE_AGGREGATE, "AC has the best worst-group Brier on seven of nine", figure=COLUMNS)
def _brier_seven(numbers: Numbers) -> Verdict:
    columns = column_winners(numbers, WORST_BRIER)
    alone = [s for s, best in columns.items() if best <= set(AC)]
    tied = [s for s, best in columns.items() if best & set(AC) and not best <= set(AC)]
    return verdict(
        len(alone) >= 7,
        f"best alone in {len(alone)} of 9, tied with another method in: {setting_names(tied)}",
        len(alone),
    )


@claim(
    "worst-brier-mean", _WHERE_AGGREGATE, "Lowest mean worst-group Brier: AC-Linear 0.067, FairCal 0.073", figure=LEAD
)
def _worst_brier_mean(numbers: Numbers) -> Verdict:
    return compare_means(numbers, WORST_BRIER, {"ac_linear": 0.067, "faircal": 0.073})


@claim("tpr-strong", _WHERE_AGGREGATE, "AC-Linear and AC-Density are especially strong on global TPR", figure=LEAD)
def _tpr_strong(numbers: Numbers) -> Verdict:
    """Judged on means, as the text judges the other tables: one of the two is best and neither is below Baseline."""
    means = {m: mean_over_settings(numbers, TPR, m) for m in label_free_methods(TPR)}
    ranking = sorted(means, key=means.__getitem__, reverse=True)
    two = ("ac_linear", "ac_density")
    strong = ranking[0] in two and min(means[m] for m in two) >= means["baseline"]
    columns = sum(bool(best & set(two)) for best in column_winners(numbers, TPR).values())
    shown = ", ".join(f"{LABEL[m]} {means[m]:.4f}" for m in ranking if m in (*two, ranking[0], "baseline"))
    lead = max(means[m] for m in two) - max(value for m, value in means.items() if m not in two)
    return verdict(strong, f"means: {shown}; one of the two best, ties included, in {columns} of 9 columns", lead)


def _full_levels(numbers: Numbers, method: str) -> list[tuple[str, str]]:
    return [s for s in HEADLINE if numbers.required(LU_AUROC, s, method) == 1]


@claim(
    "linear-five",
    _WHERE_LEVELS,
    "AC-Linear lifts every group on five of nine, more than any other",
    figure="columns ahead of the next",
)
def _linear_five(numbers: Numbers) -> Verdict:
    counts = {row.id: len(_full_levels(numbers, row.id)) for row in PAPER_ROWS if row.id != "baseline"}
    others = {m: n for m, n in counts.items() if m != "ac_linear"}
    most = max(others.values())
    following = method_labels(m for m, n in others.items() if n == most)
    return verdict(
        counts["ac_linear"] >= 5 and counts["ac_linear"] > most,
        f"AC-Linear {counts['ac_linear']} of 9; next {following} {most}",
        counts["ac_linear"] - most,
    )


@claim("linear-rest", _WHERE_LEVELS, "AC-Linear is at the best non-Oracle level on the other four")
def _linear_rest(numbers: Numbers) -> Verdict:
    """Best level among all methods but the Oracle where AC-Linear does not lift every group."""
    rest = [s for s in HEADLINE if s not in _full_levels(numbers, "ac_linear")]
    rivals = [row.id for row in PAPER_ROWS if row.id not in ("baseline", "oracle")]
    behind = []
    for setting in rest:
        best = max(numbers.required(LU_AUROC, setting, rival) for rival in rivals)
        if numbers.required(LU_AUROC, setting, "ac_linear") < best:
            behind.append(setting)
    return verdict(
        not behind,
        f"{len(rest) - len(behind)} of the remaining {len(rest)} columns; behind in: {setting_names(behind)}",
    )


@claim("density-four", _WHERE_LEVELS, "AC-Density lifts every group on four", figure=COLUMNS)
def _density_four(numbers: Numbers) -> Verdict:
    full = _full_levels(numbers, "ac_density")
    return verdict(len(full) >= 4, f"{len(full)} of 9: {setting_names(full)}", len(full))


@claim("none-full", _WHERE_LEVELS, "FRAPPÉ and FSN lift every group on none")
def _none_full(numbers: Numbers) -> Verdict:
    full = {m: len(_full_levels(numbers, m)) for m in ("frappe", "fsn")}
    return verdict(not any(full.values()), ", ".join(f"{LABEL[m]} {n} of 9" for m, n in full.items()))


@claim("aware-zero", _WHERE_LEVELS, "Group-aware methods typically score zero on RFW", figure="entries")
def _aware_zero(numbers: Numbers) -> Verdict:
    cells = []
    for setting in HEADLINE:
        if setting[0] == "rfw":
            cells += [numbers.required(LU_AUROC, setting, m) for m in ("gst", "demonorm", "oracle")]
    zero = sum(value == 0 for value in cells)
    return verdict(zero > len(cells) / 2, f"{zero} of {len(cells)} entries are 0/N", zero)
