"""Claims about single groups, and about figures that stand only in the paper's text."""

from __future__ import annotations

from collections import Counter

from fairfr.paper.claims.claim import AC, LABEL, Part, Verdict, label_free_methods, method_labels, verdict
from fairfr.paper.numbers import MissingNumberError, Numbers
from fairfr.paper.order import BACKBONES, DATASETS, PAPER_ROWS, SETTINGS
from fairfr.paper.printed import AUROC, LU_AUROC, WORST_AUROC, win_counts

MAGFACE = ("rfw", "magface")
R50 = ("rfw", "arcface_r50")
PERFECT = 100.0
ROUGHLY = 5.0  # "roughly 30 %" is 25 to 35
SHORT = {"auroc": "AUROC", "pauc": "partial AUC"}
GROUPS_OF = {"rfw": 4, "bfw": 8, "lfw": 8}
_WHERE = "Results, avoiding leveling down"
_LOW_FPR = "Appendix, low-FPR uncertainty"
PART = Part("Groups, counts and figures of the text")
claim = PART.claim


def _groups(numbers: Numbers, metric: str, setting: tuple[str, str], method: str) -> dict[str, float]:
    values = numbers.by_group(metric, setting, method)
    if not values:
        where = f"{DATASETS[setting[0]]} {BACKBONES[setting[1]]}"
        raise MissingNumberError(f"{numbers.absent}: {SHORT[metric]} by group of {LABEL[method]} on {where}")
    return values


@claim(
    "asian-magface",
    _WHERE,
    "RFW MagFace: AC-Density cuts the worst group's AUROC error by roughly 30 % (94.19 to 96.02)",
)
def _error_reduction(numbers: Numbers) -> Verdict:
    before, after = (_groups(numbers, "auroc", MAGFACE, m) for m in ("baseline", "ac_density"))
    worst = min(before, key=before.__getitem__)
    if worst not in after or before[worst] == PERFECT:
        raise MissingNumberError(f"{numbers.absent}: an AUROC for {worst} that could be better than Baseline's")
    reduction = 100 * (after[worst] - before[worst]) / (PERFECT - before[worst])
    detail = f"{worst}: {before[worst]:.2f} to {after[worst]:.2f}, {reduction:.1f} % of the error"
    return verdict(abs(reduction - 30) <= ROUGHLY, detail)


@claim("asian-magface-others", _WHERE, "RFW MagFace: AC-Density degrades no other group")
def _no_group_degraded(numbers: Numbers) -> Verdict:
    before, after = (_groups(numbers, "auroc", MAGFACE, m) for m in ("baseline", "ac_density"))
    if len(before) > 1:
        worse = [group for group, value in before.items() if after.get(group, value) < value]
        return verdict(not worse, f"degraded: {', '.join(worse) or 'none'} of {len(before)} groups")
    level = numbers.required(LU_AUROC, MAGFACE, "ac_density")
    if level == 1:
        return verdict(True, "Table 3: every group is lifted (4/4)")
    raise MissingNumberError("not every group is lifted, and the others are not printed")


@claim("density-r50", _WHERE, "RFW ArcFace R50: only AC-Density lifts every group; worst-group AUROC 99.51")
def _only_density_on_r50(numbers: Numbers) -> Verdict:
    rivals = [row.id for row in PAPER_ROWS if row.id != "baseline"]
    full = [m for m in rivals if numbers.required(LU_AUROC, R50, m) == 1]
    worst = numbers.required(WORST_AUROC, R50, "ac_density")
    return verdict(
        full == ["ac_density"] and worst >= 0.995,
        f"every group lifted by: {method_labels(full) or 'none'}; AC-Density's worst-group AUROC {worst:.3f}",
    )


def _count_wins(numbers: Numbers, metric: str) -> tuple[int, int, dict[str, int]]:
    """Groups where an AC variant is best (ties included), groups in all, and the wins of each variant."""
    won = 0
    cells = 0
    by_variant = dict.fromkeys(AC, 0)
    methods = label_free_methods(AUROC)
    for setting in SETTINGS:
        values = {m: _groups(numbers, metric, setting, m) for m in methods}
        for group in set.intersection(*(set(v) for v in values.values())):
            best = max(values[m][group] for m in methods)
            ahead = [m for m in AC if values[m][group] == best]
            cells += 1
            if ahead:
                won += 1
            for variant in ahead:
                by_variant[variant] += 1
    return won, cells, by_variant


def _wins(numbers: Numbers, metric: str) -> Verdict:
    won, cells, by_variant = _count_wins(numbers, metric)
    variants = ", ".join(f"{LABEL[m]} {n}" for m, n in by_variant.items())
    return verdict(
        won > cells / 2, f"{won}/{cells} groups ({100 * won / cells:.1f} %); {variants}, ties counted for each"
    )


@claim("wins-auroc", "Table 4", "An AC variant is best for most groups, AUROC: 86/108")
def _wins_auroc(numbers: Numbers) -> Verdict:
    return _wins(numbers, "auroc")


@claim("wins-pauc", "Table 4", "An AC variant is best for most groups, partial AUC: 83/108")
def _wins_pauc(numbers: Numbers) -> Verdict:
    return _wins(numbers, "pauc")


@claim("wins-sum", "Table 4", "108 groups in all; 79.6 % and 76.9 %", arithmetic=True)
def _cells_add_up(numbers: Numbers) -> Verdict:
    counts = Counter(dataset for dataset, _ in SETTINGS)
    total = sum(counts[d] * groups for d, groups in GROUPS_OF.items())
    percents = [f"{c.won}/{c.groups} = {100 * c.won / c.groups:.1f} %" for c in win_counts()]
    right = all(c.groups == total and f"{100 * c.won / c.groups:.1f}" == f"{c.percent:.1f}" for c in win_counts())
    terms = " + ".join(f"{counts[d]}x{groups}" for d, groups in GROUPS_OF.items())
    return verdict(right, f"{terms} = {total}; " + ", ".join(percents))


def _variants_add_up(numbers: Numbers, index: int) -> Verdict:
    count = win_counts()[index]
    named = sum(count.variants)
    terms = " + ".join(str(n) for n in count.variants)
    if named <= count.won:
        return verdict(True, f"{terms} = {named}, which leaves {count.won - named} of {count.won} for AC-MLP")
    return Verdict("undetermined", f"{terms} = {named} > {count.won}: adds up only if ties count for both variants")


@claim(
    "variants-auroc",
    "Table 4",
    "AUROC: 43 wins of AC-Density and 41 of AC-Linear add up to no more than 86",
    arithmetic=True,
)
def _variants_auroc(numbers: Numbers) -> Verdict:
    return _variants_add_up(numbers, 0)


@claim(
    "variants-pauc",
    "Table 4",
    "Partial AUC: 61 wins of AC-Density and 23 of AC-Linear add up to no more than 83",
    arithmetic=True,
)
def _variants_pauc(numbers: Numbers) -> Verdict:
    return _variants_add_up(numbers, 1)


@claim("parameters", "Method", "AC-MLP has 527,361 parameters for 512-d embeddings")
def _parameters(numbers: Numbers) -> Verdict:
    found = numbers.parameters()
    if found is None:
        raise MissingNumberError(f"{numbers.absent}: an AC-MLP on 512-d embeddings")
    return verdict(found == 527_361, f"{found:,}")


def _negatives(numbers: Numbers, dataset: str, of_group: bool, said: int) -> Verdict:
    found = numbers.negatives(dataset)
    if found is None:
        raise MissingNumberError(f"{numbers.absent}: the negatives of a {DATASETS[dataset]} fold")
    whole, group = found
    detail = f"{whole:,.0f} in a fold"
    if not of_group:
        return verdict(round(whole) == said, detail)
    return verdict(round(group) == said, f"{detail}, {group:,.0f} in a fold of one ethnicity")


@claim("negatives-lfw", _LOW_FPR, "300 negatives in an LFW fold")
def _negatives_lfw(numbers: Numbers) -> Verdict:
    return _negatives(numbers, "lfw", False, 300)


@claim("negatives-rfw", _LOW_FPR, "1,200 negatives in an RFW ethnicity fold")
def _negatives_rfw(numbers: Numbers) -> Verdict:
    return _negatives(numbers, "rfw", True, 1200)
