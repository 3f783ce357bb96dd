"""Claims of the paper's abstract, related work, conclusion and Brier paragraph about its headline tables."""

from __future__ import annotations

from collections.abc import Sequence

from fairfr.paper.claims.claim import (
    AC,
    LABEL,
    Part,
    Verdict,
    column_winners,
    compare_means,
    method_labels,
    setting_names,
    verdict,
    winners,
)
from fairfr.paper.numbers import Numbers
from fairfr.paper.order import HEADLINE, setting_name
from fairfr.paper.printed import AUROC, BRIER, TPR, WORST_AUROC, WORST_BRIER
from fairfr.report.quantity import Quantity
from fairfr.stored.order import Setting

CELLS = len(AC) * len(HEADLINE)
CELLS_WON = "entries won"
CALIBRATORS = ("platt", "beta", "faircal", "frappe")
"""Without group labels and with a probability of their own."""
BRIER_OF_A_GUESS = 0.25  # a constant probability of one half; a fitted overlay on a useful score stays below

PART = Part("Abstract, related work, conclusion, Brier")
claim = PART.claim


def _better_than(numbers: Numbers, quantity: Quantity, rivals: Sequence[str]) -> dict[str, int]:
    """For each AC variant, the columns in which it beats the best of the rivals."""
    sign = 1 if quantity.higher_is_better else -1

    def gain(setting: Setting, method: str) -> float:
        best = max(sign * numbers.required(quantity, setting, rival) for rival in rivals)
        return sign * numbers.required(quantity, setting, method) - best

    counts = {}
    for method in AC:
        counts[method] = sum(gain(setting, method) > 0 for setting in HEADLINE)
    return counts


def _in_columns(counts: dict[str, int]) -> str:
    return ", ".join(f"{LABEL[method]} {n} of {len(HEADLINE)}" for method, n in counts.items())


def _often(counts: dict[str, int], rival: str) -> Verdict:
    """Often: in more than half of the cells, all variants together."""
    won = sum(counts.values())
    detail = f"better than {rival} in: {_in_columns(counts)}; {won} of {CELLS} entries"
    return verdict(won > CELLS / 2, detail, won)


def _improves(numbers: Numbers, quantity: Quantity) -> Verdict:
    return _often(_better_than(numbers, quantity, ["baseline"]), "Baseline")


@claim("often-ranking", "Abstract", "AC often improves worst-group ranking", figure=CELLS_WON)
def _often_ranking(numbers: Numbers) -> Verdict:
    return _improves(numbers, WORST_AUROC)


@claim(
    "often-probability",
    "Abstract",
    "AC often improves worst-group probability quality, against the best score-only or label-free calibrator",
    figure=CELLS_WON,
)
def _better_probabilities(numbers: Numbers) -> Verdict:
    """Against calibrators: beating a raw cosine that is read as a probability shows nothing."""
    known = []
    for method in CALIBRATORS:
        values = [numbers.value(WORST_BRIER, setting, method) for setting in HEADLINE]
        if None not in values:
            known.append(method)
    rivals = known or ["faircal"]
    counts = _better_than(numbers, WORST_BRIER, rivals)
    found = _often(counts, "the best of " + ", ".join(LABEL[m] for m in rivals))
    faircal = "no run"
    if "faircal" in rivals:
        faircal = _in_columns(_better_than(numbers, WORST_BRIER, ["faircal"]))
    return found._replace(detail=f"{found.detail} (than FairCal alone: {faircal})")


@claim("overall", "Abstract", "AC improves overall performance", figure=CELLS_WON)
def _overall(numbers: Numbers) -> Verdict:
    return _improves(numbers, AUROC)


@claim("low-fpr-depends", "Abstract", "Gains at low FPR depend on the setting", figure=CELLS_WON)
def _low_fpr_depends(numbers: Numbers) -> Verdict:
    counts = _better_than(numbers, TPR, ["baseline"])
    won = sum(counts.values())
    return verdict(0 < won < CELLS, f"TPR above Baseline in: {_in_columns(counts)}", won)


@claim("oracle-bound", "Related work", "Oracle can be treated as an upper bound")
def _oracle_bound(numbers: Numbers) -> Verdict:
    above = [s for s in HEADLINE if winners(numbers, WORST_AUROC, s)[1] > numbers.required(WORST_AUROC, s, "oracle")]
    return verdict(
        not above, f"worst-group AUROC: a label-free method is above the Oracle in {len(above)} of 9 columns"
    )


@claim("score-only", "Method, re-ranking", "An increasing score-only map preserves AUROC within groups")
def _score_only(numbers: Numbers) -> Verdict:
    moved = []
    for setting in HEADLINE:
        platt = numbers.required(WORST_AUROC, setting, "platt")
        if platt != numbers.required(WORST_AUROC, setting, "baseline"):
            moved.append(setting)
    return verdict(not moved, f"worst-group AUROC of Platt differs from Baseline's in: {setting_names(moved)}")


@claim("overlay", "Setup; Table 2, Panel B", "Methods without a probability of their own get beta calibration")
def _overlay(numbers: Numbers) -> Verdict:
    """A fitted overlay cannot do worse than a guess; raw scores clipped to [0, 1] can."""
    cells = {}
    for method in ("baseline", "falcon", "fsn", "demonorm"):
        for setting in HEADLINE:
            cells[method, setting] = numbers.required(WORST_BRIER, setting, method)
    (method, setting), worst = max(cells.items(), key=lambda item: item[1])
    detail = (
        f"largest worst-group Brier: {LABEL[method]} on {setting_name(setting)} {worst:.3f}; a constant 0.5 gives 0.250"
    )
    if worst > BRIER_OF_A_GUESS:
        return verdict(False, detail)
    return Verdict("undetermined", detail)


@claim("small-models", "Conclusion", "Most of the benefit is had with a linear or ridge model")
def _small_models(numbers: Numbers) -> Verdict:
    behind = []
    for s in HEADLINE:
        mlp, *small = (numbers.required(WORST_AUROC, s, m) for m in AC)
        if mlp > max(small):
            behind.append(s)
    return verdict(not behind, f"worst-group AUROC: AC-MLP ahead of both in: {setting_names(behind)}")


@claim(
    "brier-mean",
    "Appendix, Brier paragraph",
    "Brier: AC-Linear has the best label-free mean (0.043), FairCal 0.045",
    figure="lead over the best other label-free method",
)
def _brier_mean(numbers: Numbers) -> Verdict:
    return compare_means(numbers, BRIER, {"ac_linear": 0.043, "faircal": 0.045})


@claim(
    "brier-columns",
    "Appendix, Brier paragraph",
    "Brier: AC-Density wins RFW; AC-Linear wins LFW R100 and MagFace, ties on BFW AdaFace and LFW AdaFace; "
    "FairCal or FRAPPÉ win the other BFW columns",
)
def _brier_columns(numbers: Numbers) -> Verdict:
    said = {
        **{("rfw", b): {"ac_density"} for b in ("arcface_r100", "adaface", "magface")},
        ("lfw", "arcface_r100"): {"ac_linear"},
        ("lfw", "magface"): {"ac_linear"},
    }
    columns = column_winners(numbers, BRIER)
    wrong = [s for s, best in said.items() if columns[s] != best]
    ties = [s for s in (("bfw", "adaface"), ("lfw", "adaface")) if not {"ac_linear"} < columns[s]]
    rest = [s for s in (("bfw", "arcface_r100"), ("bfw", "magface")) if not columns[s] <= {"faircal", "frappe"}]
    detail = "; ".join(f"{setting_name(s)}: {method_labels(columns[s])}" for s in (*wrong, *ties, *rest))
    return verdict(not (wrong or ties or rest), f"otherwise than stated: {detail or 'none'}")
