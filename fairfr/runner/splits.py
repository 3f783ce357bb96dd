"""The splits of a protocol: which pairs each fit gets, and which it scores."""

from __future__ import annotations

from typing import Any

from fairfr.core.errors import ConfigError, DataError
from fairfr.core.types import FoldSplit, VerificationSet
from fairfr.runner.settings import CellSettings


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


def build_splits(settings: CellSettings, data: VerificationSet, training: VerificationSet | None) -> list[FoldSplit]:
    """The protocol's splits of ``data``; ``training`` is the set to fit on, for protocols that need one."""
    splitter: Any = settings.protocol.built
    splits = list(splitter.split(data) if training is None else splitter.split(data, training))
    for split in splits:
        if not len(split.train_rows()):
            raise DataError(
                f"protocol={settings.protocol.id} leaves no pairs to fit on for fold {split.id}.{_fold_hint(data)}"
            )
    if not splits:
        raise DataError(f"protocol={settings.protocol.id} finds nothing to test in {data.id}.")
    return splits


def _fold_hint(data: VerificationSet) -> str:
    if len(data.fold_labels) > 1:
        return ""
    return (
        f" The pairs of {data.id} have no folds: add protocol=identity_disjoint, which makes folds without common "
        "people, or a column 'fold' to the pairs file."
    )
