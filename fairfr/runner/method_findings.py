"""What a person should know of a method's held-out predictions: do they keep what methods promise, do they rank?"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from fairfr.core.calibrator import rng_for
from fairfr.core.findings import Finding
from fairfr.core.types import F64, I64, Bool, Prediction, ScoreFrame, VerificationSet
from fairfr.numerics.direction import is_reversed
from fairfr.numerics.roc import auroc_of, roc_curve
from fairfr.pairs.table import PairTable

PAIRS_IN_TEST = 2_000
SAME_TO = 1e-6
"""Predictions in another order may differ so much: our methods differ by 3e-8 at the most."""


class OrderTest(NamedTuple):
    """How many of the ``pairs`` of a fit ``changed`` when they were predicted in another order; ``error``: what predict
    raised then."""

    changed: int
    pairs: int
    error: str | None = None


def predict_in_another_order(
    predict: Callable[[PairTable], Prediction], table: PairTable, rows: I64, before: Prediction
) -> OrderTest:
    """Some of the ``rows`` (t,) of a table, whose prediction was ``before``, predicted once more in another order."""
    chosen = rng_for("order of pairs").permutation(len(rows))[:PAIRS_IN_TEST]
    reordered = PairTable(_in_this_order(table.data, rows[chosen]), table.threads)
    try:
        after = predict(reordered)
    except Exception as error:  # the scores are there: no reason to lose them
        return OrderTest(len(chosen), len(chosen), f"{type(error).__name__}: {error}")
    changed = ~np.isclose(before.score[chosen], after.score, rtol=SAME_TO, atol=SAME_TO)
    if before.probability is not None and after.probability is not None:
        changed |= ~np.isclose(before.probability[chosen], after.probability, rtol=SAME_TO, atol=SAME_TO)
    return OrderTest(int(np.count_nonzero(changed)), len(chosen))


def _in_this_order(data: VerificationSet, rows: I64) -> VerificationSet:
    """Some pairs in any order as a set of their own, without their labels."""
    return replace(
        data,
        pairs=data.pairs.take(rows),
        same=np.zeros(len(rows), dtype=bool),
        fold=data.fold[rows],
        cosine=None if data.cosine is None else data.cosine[rows],
        row=None,
    )


def order_findings(method: str, tests: Iterable[OrderTest]) -> list[Finding]:
    """Whether predictions changed with the order of pairs; ``tests`` are those of the fits."""
    failed = [test for test in tests if test.changed]
    if not failed:
        return []
    worst = max(failed, key=lambda test: test.changed)
    found = f"{worst.changed:,} of {worst.pairs:,} held-out pairs got another score or probability"
    if worst.error is not None:
        found = f"predict ended in an error ({worst.error})"
    text = (
        f"{method} depends on the order of pairs: {found} when pairs were predicted once more in another order. "
        "The prediction of a pair must follow from that pair: no labels or other values taken by position, no random "
        "numbers without a seed, no ranks or means over the pairs that happen to be there."
    )
    counts = {"fits": len(failed), "changed": worst.changed, "pairs": worst.pairs}
    return [Finding("order-of-pairs", "serious", text, counts)]


def ranking_findings(method: str, frame: ScoreFrame, cosine: F64, n_images: int) -> list[Finding]:
    """Whether held-out impostors rank above genuine pairs, or all genuine pairs above all impostors.

    ``cosine`` (q,) of the pairs of ``frame``, which show ``n_images`` images.
    """
    auroc = _mean_auroc(frame, frame.score)
    if auroc is None:
        return []
    if is_reversed(auroc, frame.same, n_images):
        text = (
            f"{method} ranks held-out impostors above genuine pairs: its AUROC is {auroc:.3f}, clearly below 0.5. "
            "A higher score must mean more similar: is its sign wrong, or are the labels swapped?"
        )
        return [Finding("reversed-ranking", "serious", text, {"pairs": len(frame.same)})]
    if auroc < 1:
        return []
    of_cosine = _mean_auroc(frame, cosine)
    why = "The cosine alone does so too: these pairs are too easy to compare methods on."
    if of_cosine is not None and of_cosine < 1:
        why = f"The cosine alone has {of_cosine:.3f}: make sure that {method} has not seen labels of held-out pairs."
    text = f"{method} ranks every held-out genuine pair above every impostor: its AUROC is exactly 1. {why}"
    return [Finding("perfect-ranking", "note", text, {"pairs": len(frame.same)})]


def _mean_auroc(frame: ScoreFrame, values: F64) -> float | None:
    """Over the folds that have pairs of both kinds; None where there are none."""
    found = []
    for fold in np.unique(frame.fold):
        here = frame.fold == fold
        same: Bool = frame.same[here]
        if same.any() and not same.all():
            found.append(auroc_of(roc_curve(same, values[here])))
    return float(np.mean(found)) if found else None
