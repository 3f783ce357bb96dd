"""Split the pairs by the protocol, fit on the training pairs of each split, score the held-out ones."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from itertools import groupby
from typing import Any

import numpy as np

from fairfr.core.calibrator import Calibrator, FitContext, checked_prediction
from fairfr.core.errors import ConfigError, DataError, UnmetNeedError, missing_groups_error
from fairfr.core.extras import explain_missing_extra
from fairfr.core.findings import Finding
from fairfr.core.types import F64, I16, I64, FoldSplit, Prediction, ScoreFrame, VerificationSet
from fairfr.metrics.roc_metrics import training_thresholds
from fairfr.numerics.beta import BetaMap, fit_overlay
from fairfr.pairs.table import PairTable
from fairfr.pairs.view import PairView
from fairfr.runner.method_findings import OrderTest, order_findings, predict_in_another_order, ranking_findings
from fairfr.runner.settings import CellSettings

THRESHOLDS = "training_thresholds"
"""In a fit's report: thresholds that its training pairs set."""


def check_training_set(settings: CellSettings) -> None:
    """ConfigError unless a data set to fit on is named exactly where the protocol needs one."""
    needs_set = getattr(settings.protocol.built, "needs_training_set", False)
    if needs_set and settings.train is None:
        raise ConfigError(
            f"protocol={settings.protocol.id} fits on another data set than it tests on. Name one: "
            "dataset@train=rfw, or dataset@train=custom train.id=mine."
        )
    if settings.train is not None and not needs_set:
        raise ConfigError(
            f"train={settings.train.id} names a data set to fit on, but protocol={settings.protocol.id} fits on the "
            "pairs of the data set itself. Add protocol=transfer."
        )


def check_needs(method: Calibrator, method_id: str, data: VerificationSet) -> None:
    """Say early that a set lacks what the method needs."""
    if "embeddings" in method.needs and data.embeddings is None:
        raise UnmetNeedError(
            f"{method_id} needs embeddings, but backbone '{data.backbone}' of '{data.id}' has scores only. "
            "Use a backbone with an embeddings file, or a method that works on scores: baseline, platt, beta."
        )
    if "groups" in method.needs and data.grouping is None:
        raise missing_groups_error(method_id, data.id, data.group_columns)


def build_splits(settings: CellSettings, data: VerificationSet, training: VerificationSet | None) -> list[FoldSplit]:
    """The protocol's splits of ``data``; ``training`` is the set to fit on, for protocols that need one."""
    splitter: Any = settings.protocol.built
    splits = list(splitter.split(data) if training is None else splitter.split(data, training))
    for split in splits:
        if not len(split.train_rows()):
            raise DataError(
                f"protocol={settings.protocol.id} leaves no pairs to fit on for fold {split.id}."
                f"{_fold_hint(settings.protocol.id, data)}"
            )
    if not splits:
        raise DataError(f"protocol={settings.protocol.id} finds nothing to test in {data.id}.")
    return splits


def _fold_hint(protocol: str, data: VerificationSet) -> str:
    if len(data.fold_labels) > 1:
        return ""
    if protocol == "identity_disjoint":
        return (
            f" Too many pairs of {data.id} link one person to another: none is without the people of that fold. Keep "
            "the pairs inside parts of the people, as fairfr import within-groups makes them."
        )
    return (
        f" The pairs of {data.id} have no folds: add protocol=identity_disjoint, which makes folds without common "
        "people, or a column 'fold' to the pairs file."
    )


def split_findings(splits: Iterable[FoldSplit]) -> tuple[Finding, ...]:
    """What the protocol says about the splits, each finding once."""
    found: list[Finding] = []
    for split in splits:
        found += [finding for finding in split.findings if finding not in found]
    return tuple(found)


@dataclass(slots=True)
class HeldOutScores:
    """Held-out scores with what each fit reported.

    ``frame.fold`` indexes ``folds``, what the scores are measured in; ``fit`` (q,) indexes ``fit_report``, the fits
    that gave the scores. ``rows`` (q,) are the pairs that were scored, in the set's order (None: all). ``findings`` are
    the protocol's, and what was noticed of the method.
    """

    frame: ScoreFrame
    folds: tuple[str, ...]
    fit_report: dict[str, dict[str, Any]] = field(default_factory=dict)
    rows: I64 | None = None
    fit: I16 | None = None
    findings: tuple[Finding, ...] = ()


@dataclass(frozen=True, slots=True)
class ScoredFold:
    """Score and probability (t,) of the held-out pairs of one split, and what its fit reported."""

    score: F64
    probability: F64
    report: dict[str, Any]


def score_held_out(
    table: PairTable,
    splits: list[FoldSplit],
    make_method: Callable[[], Calibrator],
    context: Callable[[str], FitContext],
    on_split: Callable[[FoldSplit], object] = lambda split: None,
    training: PairTable | None = None,
    thresholds: bool = False,
) -> HeldOutScores:
    """Run one method over all splits. A fresh method for each fit: nothing learned crosses over.

    ``on_split`` gets each split that was scored.
    ``training``: the set that the splits' training rows belong to, if it is another one than ``table``.
    ``thresholds``: each fit also reports the thresholds that its training pairs set.
    """
    tests: list[OrderTest] = []
    names: set[str] = set()

    def scored() -> Iterator[ScoredFold]:
        for fit_id, several in groupby(splits, key=lambda split: split.fit_id):
            same_fit = list(several)
            method = make_method()
            names.add(type(method).__name__)
            fitted = _Fitted(training or table, same_fit[0], method, context(fit_id), thresholds)
            for split in same_fit:
                yield fitted.score(table, split)
                on_split(split)
            tests.extend(fitted.order_test(table, same_fit[-1]))
            del fitted  # before the next one needs its memory

    held_out = _assembled(table.data, splits, scored())
    name = ", ".join(sorted(names))
    cosine = table.cosine[held_out.rows]
    held_out.findings += (
        *order_findings(name, tests),
        *ranking_findings(name, held_out.frame, cosine, len(table.data.images)),
    )
    return held_out


def _assembled(data: VerificationSet, splits: list[FoldSplit], scored: Iterable[ScoredFold]) -> HeldOutScores:
    """The scores of all splits, in the order of the set's pairs."""
    score = np.full(data.n_pairs, np.nan)
    probability = np.full(data.n_pairs, np.nan)
    fold = np.full(data.n_pairs, -1, dtype=np.int16)
    fit = np.full(data.n_pairs, -1, dtype=np.int16)
    folds = tuple(dict.fromkeys(split.fold for split in splits))
    fits = tuple(dict.fromkeys(split.fit_id for split in splits))
    report: dict[str, dict[str, Any]] = {}
    for split, of_split in zip(splits, scored, strict=True):
        assert np.all(fold[split.test] < 0), "the splits' tests do not overlap"
        score[split.test] = of_split.score
        probability[split.test] = of_split.probability
        fold[split.test] = folds.index(split.fold)
        fit[split.test] = fits.index(split.fit_id)
        report[split.fit_id] = of_split.report
    rows = np.flatnonzero(fold >= 0)
    frame = ScoreFrame(fold[rows], data.same[rows], score[rows], probability[rows])
    return HeldOutScores(frame, folds, report, rows, fit[rows], split_findings(splits))


class _Fitted:
    """A method fitted on the training rows of a split, which scores that split and those that share its fit.

    ``thresholds``: it also reports those that its training pairs set, on the score and on the probability.
    """

    def __init__(
        self, table: PairTable, split: FoldSplit, method: Calibrator, ctx: FitContext, thresholds: bool = False
    ) -> None:
        self._method = method
        self._name = type(method).__name__
        self._report = ctx.report
        self._thresholds = thresholds
        rows = split.train_rows()
        self._train = PairView(table, rows, method.needs, self._name)
        self._same = table.data.same[rows]
        with _naming_fold(split.fit_id), explain_missing_extra(self._name):
            method.fit(self._train, self._same, ctx)

    def score(self, table: PairTable, split: FoldSplit) -> ScoredFold:
        with _naming_fold(split.id):
            held_out = self._predict(PairView(table, split.test, self._method.needs, self._name))
        self._last = held_out
        if hasattr(self._method, "unlike_training"):
            unlike, images = self._method.unlike_training()
            self._report["images_unlike_training"] = unlike / images
        probability = held_out.probability
        if probability is None:
            probability = self._overlay.probability(held_out.score)
        if self._thresholds and THRESHOLDS not in self._report:
            self._report[THRESHOLDS] = self._training_thresholds()
        return ScoredFold(held_out.score, probability, dict(self._report))

    def order_test(self, table: PairTable, split: FoldSplit) -> list[OrderTest]:
        """Whether the order of the pairs of ``split``, which was scored last, matters to the method.

        Ours are tested before they are released.
        """
        if type(self._method).__module__.startswith("fairfr."):
            return []

        def predict(reordered: PairTable) -> Prediction:
            return self._predict(PairView(reordered, np.arange(reordered.data.n_pairs), self._method.needs, self._name))

        return [predict_in_another_order(predict, table, split.test, self._last)]

    def _predict(self, view: PairView) -> Prediction:
        return checked_prediction(self._method, self._method.predict(view), view.n_pairs)

    def _training_thresholds(self) -> dict[str, Any]:
        score, probability = self._on_training
        probability = self._overlay.probability(score) if probability is None else probability
        values = {"score": score, "probability": probability}
        return {on: training_thresholds(self._same, of) for on, of in values.items()}

    @cached_property
    def _on_training(self) -> Prediction:
        return self._predict(self._train)

    @cached_property
    def _overlay(self) -> BetaMap:
        """The probability of a method that returns none."""
        overlay = fit_overlay(self._method, self._on_training.score, self._same)
        self._report["overlay"] = {"a": overlay.a, "b": overlay.b, "c": overlay.c}
        return overlay


@contextmanager
def _naming_fold(fold: str) -> Iterator[None]:
    """Whatever a method raises says in which fold."""
    try:
        yield
    except Exception as error:
        error.add_note(f"(fold {fold})")
        raise
