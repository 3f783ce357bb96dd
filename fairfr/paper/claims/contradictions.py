"""Where the paper's headline tables and its appendix print different numbers under one name.

The appendix names other embedding sets (regenerated ones, "ArcFace" without a depth) and leaves out mixed pairs: a
disagreement is not necessarily a mistake, but then a gain in one table is not evidence for the other.
"""

from __future__ import annotations

from functools import partial

from fairfr.paper.against import TOLERANCE
from fairfr.paper.claims.claim import LABEL, Part, Verdict, verdict
from fairfr.paper.numbers import Numbers
from fairfr.paper.order import HEADLINE, setting_name
from fairfr.paper.printed import WORST_AUROC, WORST_BRIER, printed_study
from fairfr.stored.order import Setting

# rows of the component ablation that carry the name of a headline setting
SAME_NAME = {
    "RFW, R100": ("rfw", "arcface_r100"),
    "LFW, AdaFace": ("lfw", "adaface"),
    "BFW, AdaFace": ("bfw", "adaface"),
}
OTHER_EMBEDDINGS = "the embedding sets differ: neither need be wrong, neither bears out the other"

PART = Part("Headline tables against the appendix")
claim = PART.claim


def _components_gain(numbers: Numbers, label: str, setting: Setting) -> Verdict:
    """The largest gain in worst-group AUROC over a map of the score alone, in both tables."""
    row = next(row for row in printed_study("components") if row.label == (label,))
    baseline = numbers.required(WORST_AUROC, setting, "baseline")
    platt = row.values["platt"][0]
    methods = ("ac_linear", "ac_density")
    table = {m: numbers.required(WORST_AUROC, setting, m) for m in methods}
    best = max(table, key=table.__getitem__)
    appendix = row.values[best][0]
    detail = (
        f"{LABEL[best]}: {baseline:.3f} to {table[best]:.3f} ({table[best] - baseline:+.3f}), component table: "
        f"{platt:.4f} to {appendix:.4f} ({appendix - platt:+.4f}); {OTHER_EMBEDDINGS}"
    )
    tolerance = TOLERANCE[WORST_AUROC]
    return verdict(abs(baseline - platt) <= tolerance and abs(table[best] - appendix) <= tolerance, detail)


@claim(
    "split-brier",
    "Table 2, Panel B; Appendix, split sensitivity",
    "RFW: AC-Density's worst-group Brier is the same in both tables, to 0.010",
    arithmetic=True,
)
def _split_brier(numbers: Numbers) -> Verdict:
    """Worst-group Brier of AC-Density on RFW, and how far below a score-only or group-wise map it is."""
    row = next(row for row in printed_study("split") if row.label == ("ArcFace", "Original"))
    appendix = row.values["ac_density"][1]
    platt = row.values["platt"][1]
    column = ("rfw", "arcface_r100")
    table, faircal = (numbers.required(WORST_BRIER, column, m) for m in ("ac_density", "faircal"))
    others = ", ".join(
        f"{setting_name(s)} {numbers.required(WORST_BRIER, s, 'ac_density'):.3f}"
        for s in HEADLINE
        if s[0] == column[0] and s != column
    )
    detail = (
        f"{setting_name(column)} {table:.3f} (FairCal {faircal:.3f}; {others}), split table: ArcFace {appendix:.4f} "
        f"(Platt {platt:.4f}); {OTHER_EMBEDDINGS}"
    )
    return verdict(abs(table - appendix) <= TOLERANCE[WORST_BRIER], detail)


for label, setting in SAME_NAME.items():
    claim(
        f"components-{'-'.join(setting)}",
        "Table 2, Panel A; Appendix, component ablation",
        f"{setting_name(setting)}: worst-group AUROC, without and with AC, is the same in both tables, to 0.010",
        arithmetic=True,
    )(partial(_components_gain, label=label, setting=setting))
