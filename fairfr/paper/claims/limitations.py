"""Claims of the paper's paragraph on limitations, which it did not test: runs alone can."""

from __future__ import annotations

from fairfr.paper.claims.claim import CONTEXT, LABEL, Part, Verdict, verdict
from fairfr.paper.numbers import MissingNumberError, Numbers

PART = Part("Limitations")
claim = PART.claim


@claim(
    "need-not-transfer",
    "Limitations",
    "A learned correction need not transfer to a new acquisition pipeline or population",
)
def _need_not_transfer(numbers: Numbers) -> Verdict:
    """Whether an AC method loses AUROC away from home, and more than a map of the cosine does."""
    lost = []
    for row in numbers.required_study("transfer"):
        for method in CONTEXT:
            if method in row.values and "platt" in row.values:
                lost.append((row.values[method][0], row.values["platt"][0], LABEL[method], row.label[0]))
    if not lost:
        raise MissingNumberError(f"{numbers.absent}: Platt and an AC method, at home and away")
    change, of_platt, method, where = min(lost)
    detail = f"largest loss of AUROC: {method} {change:+.4f}, Platt there {of_platt:+.4f} ({where})"
    return verdict(change < min(0, of_platt), detail)
