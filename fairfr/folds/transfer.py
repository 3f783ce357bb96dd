"""Fit on one data set, and test on another: does a calibration transfer?"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import ClassVar, Literal

import numpy as np

from fairfr.core.errors import ConfigError, DataError
from fairfr.core.findings import Finding
from fairfr.core.types import I64, FoldSplit, VerificationSet
from fairfr.folds._membership import has_identities, pairs_with_any, shared_identities

ALL = "all"


@dataclass(frozen=True, slots=True)
class FitOnOtherDataset:
    """Fit on the pairs of the training set, score all pairs of the data set, and measure by its published folds.

    Parameters
    ----------
    leave_out : {"nothing", "fold", "people"}, default "nothing"
        What a fit may not see when a fold is tested.

        * ``nothing``: one fit on the whole training set.
        * ``fold``: the training set's fold of the same label; for the same pairs in another condition.
        * ``people``: the training pairs with a person of the tested fold; for sets that overlap.
    shared : {"refuse", "allow"}, default "refuse"
        What to do where people or images are still on both sides: refuse it, or allow it and say so.
    """

    leave_out: Literal["nothing", "fold", "people"] = "nothing"
    shared: Literal["refuse", "allow"] = "refuse"
    needs_training_set: ClassVar[bool] = True

    def split(self, data: VerificationSet, training: VerificationSet) -> Iterator[FoldSplit]:
        people = shared_identities(data, training)
        splits = []
        for code, label in enumerate(data.fold_labels):
            test = np.flatnonzero(data.fold == code)
            train = self._train_rows(data, training, label, test, people)
            fit_id = ALL if self.leave_out == "nothing" else label
            splits.append(FoldSplit(label, train, test, fit_id=fit_id))
        findings = self._findings(data, training, splits, people)
        for split in splits:
            yield replace(split, findings=findings)

    def _train_rows(
        self, data: VerificationSet, training: VerificationSet, label: str, test: I64, people: tuple[I64, I64]
    ) -> I64:
        """The training rows for one tested fold; ``people`` are those on the images of both sets."""
        if self.leave_out == "fold":
            if label not in training.fold_labels:
                raise ConfigError(
                    f"protocol.splitter.leave_out=fold: {training.id} has no fold '{label}' ({data.id} has). Its folds "
                    f"are {', '.join(training.fold_labels[:12])}. Set leave_out=people, or leave_out=nothing."
                )
            return np.flatnonzero(training.fold != training.fold_labels.index(label))
        if self.leave_out == "people":
            tested, fitted = people
            return np.flatnonzero(~pairs_with_any(training.pairs, fitted, _people_in(data, test, tested)))
        return np.arange(training.n_pairs)

    def _findings(
        self,
        data: VerificationSet,
        training: VerificationSet,
        splits: list[FoldSplit],
        people: tuple[I64, I64],
    ) -> tuple[Finding, ...]:
        """What is known of people on both sides; DataError where they are not wanted there."""
        if not (has_identities(data) and has_identities(training)):
            return (_cannot_be_seen(data, training, self.leave_out),)
        tested, fitted = people
        n_shared = 0
        for split in splits:
            shared = pairs_with_any(data.pairs, tested, _people_in(training, split.train_rows(), fitted))
            n_shared += int(shared[split.test].sum())
        if not n_shared:
            fewest = min(len(split.train_rows()) for split in splits)
            text = f"fitted on {training.id}: no person or image of a tested pair was fitted on"
            if fewest < training.n_pairs:
                text += f"; at least {fewest:,} of its {training.n_pairs:,} pairs"
            return (Finding("fitted-elsewhere", "note", f"{text}.", {"shared": 0, "training_pairs": fewest}),)
        if self.shared == "refuse":
            raise DataError(
                f"{n_shared:,} of {data.n_pairs:,} pairs of {data.id} show people or images that the fit on "
                f"{training.id} has met: their scores would not be held out. Set protocol.splitter.leave_out=people "
                "(or fold, if both sets are the same pairs in two conditions), or protocol.splitter.shared=allow."
            )
        counts = {"shared": n_shared, "pairs": data.n_pairs}
        text = f"{n_shared:,} of {data.n_pairs:,} pairs show people that the fit on {training.id} has met."
        return (Finding("people-on-both-sides", "serious", text, counts),)


def _people_in(data: VerificationSet, rows: I64, people: I64) -> I64:
    """The people on the images of some pairs."""
    pairs = data.pairs.take(rows)
    return np.unique(np.concatenate([people[pairs.left], people[pairs.right]]))


def _cannot_be_seen(data: VerificationSet, training: VerificationSet, leave_out: str) -> Finding:
    nameless = " and ".join(side.id for side in (data, training) if not has_identities(side))
    text = f"{nameless}: images have no ids, so whether people were fitted on and tested cannot be seen."
    if leave_out == "fold":
        return Finding("people-unknown", "note", f"{text} Folds of the same label are kept apart.")
    return Finding("people-unknown", "warning", text)
