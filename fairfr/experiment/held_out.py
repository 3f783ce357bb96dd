"""Fit on the training pairs of each split, score the held-out ones."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np

from fairfr.core.calibrator import Calibrator, FitContext
from fairfr.core.errors import UnmetNeedError, no_groups
from fairfr.core.types import F64, FoldSplit, ScoreFrame, VerificationSet
from fairfr.methods._overlay import fit_overlay
from fairfr.pairs.table import PairTable
from fairfr.pairs.view import PairView
from fairfr.store.kept_folds import ScoredFold


@dataclass(slots=True)
class HeldOut:
    """Held-out scores of every pair, with what each fit reported."""

    frame: ScoreFrame
    split_ids: tuple[str, ...]
    fit_report: dict[str, dict[str, Any]] = field(default_factory=dict)


class Folds(Protocol):
    """Where folds may be kept: read before one is computed, written after."""

    def resume(self, split: FoldSplit) -> ScoredFold | None: ...
    def computed(self, split: FoldSplit, scored: ScoredFold) -> None: ...


class NothingKept:
    """Every fold is computed, and none is kept."""

    def resume(self, split: FoldSplit) -> ScoredFold | None:
        return None

    def computed(self, split: FoldSplit, scored: ScoredFold) -> None:
        return None


def score_held_out(
    table: PairTable,
    splits: list[FoldSplit],
    make_method: Callable[[], Calibrator],
    context: Callable[[str], FitContext],
    folds: Folds | None = None,
) -> HeldOut:
    """Run one method over all splits. A fresh method for each: nothing learned crosses over."""
    data, folds = table.data, folds or NothingKept()
    score, probability = np.full(data.n_pairs, np.nan), np.full(data.n_pairs, np.nan)
    fold = np.full(data.n_pairs, -1, dtype=np.int16)
    report: dict[str, dict[str, Any]] = {}
    for code, split in enumerate(splits):
        assert np.all(fold[split.test] < 0), "the splits' tests do not overlap"
        scored = folds.resume(split)
        if scored is None:
            scored = _fit_and_predict(table, split, make_method(), context(split.id))
            folds.computed(split, scored)
        score[split.test], probability[split.test] = scored.score, scored.probability
        fold[split.test] = code
        report[split.id] = scored.report
    assert np.all(fold >= 0), "the splits' tests cover every pair"
    frame = ScoreFrame(fold, data.same, score, probability)
    return HeldOut(frame, tuple(split.id for split in splits), report)


def check_needs(method: Calibrator, method_id: str, data: VerificationSet) -> None:
    """Say early that a set lacks what the method needs."""
    if "embeddings" in method.needs and data.embeddings is None:
        raise UnmetNeedError(
            f"{method_id} needs embeddings, but backbone '{data.backbone}' of '{data.id}' has scores only. "
            "Use a backbone with an embeddings file, or a method that works on scores: baseline, platt, beta."
        )
    if "groups" in method.needs and data.grouping is None:
        raise no_groups(method_id, data.id)


def _fit_and_predict(table: PairTable, split: FoldSplit, method: Calibrator, ctx: FitContext) -> ScoredFold:
    name = type(method).__name__
    train = PairView(table, split.train, method.needs, name)
    test = PairView(table, split.test, method.needs, name)
    same = table.data.same[split.train]
    method.fit(train, same, ctx)
    held_out = method.predict(test)
    probability = held_out.probability
    if probability is None:
        overlay = fit_overlay(method, method.predict(train).score, same)
        ctx.report["overlay"] = {"a": overlay.a, "b": overlay.b, "c": overlay.c}
        probability = overlay.probability(held_out.score)
    _check_prediction(name, split, held_out.score, probability)
    return ScoredFold(held_out.score, probability, dict(ctx.report))


def _check_prediction(name: str, split: FoldSplit, score: F64, probability: F64) -> None:
    """A method that breaks its contract fails loudly here, not in a table."""
    for what, values in (("score", score), ("probability", probability)):
        if values.shape != split.test.shape:
            raise ValueError(f"{name} returned {values.shape} {what} values for {split.test.shape} pairs.")
        if not np.isfinite(values).all():
            bad = int(np.count_nonzero(~np.isfinite(values)))
            raise ValueError(f"{name} returned {bad} non-finite {what} values in fold {split.id}.")
    if probability.min() < 0 or probability.max() > 1:
        raise ValueError(f"{name} returned probabilities outside [0, 1] in fold {split.id}.")
