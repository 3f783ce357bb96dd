"""The method and the protocol that a configuration names."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Protocol, runtime_checkable

from fairfr.core.calibrator import Calibrator
from fairfr.core.conform import instantiate
from fairfr.core.errors import ConfigError, DataError
from fairfr.core.types import FoldSplit, VerificationSet
from fairfr.runner.settings import CellSettings


@runtime_checkable
class Splitter(Protocol):
    """A protocol's class: which pairs are fitted on, and which are scored.

    One that fits on another data set than it tests on says so by ``needs_training_set = True``, and its ``split`` gets
    that set as second argument.
    """

    def split(self, data: VerificationSet) -> Iterator[FoldSplit]: ...


def build_method(settings: CellSettings) -> Calibrator:
    """A new, unfitted one."""
    made: Calibrator = _build(settings.method.estimator, "method.estimator", Calibrator)
    return made


def build_splitter(settings: CellSettings) -> Splitter:
    """The protocol's."""
    made: Splitter = _build(settings.protocol.splitter, "protocol.splitter", Splitter)
    needs_set = getattr(made, "needs_training_set", False)
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
    return made


def build_splits(settings: CellSettings, data: VerificationSet, training: VerificationSet | None) -> list[FoldSplit]:
    """The protocol's splits of ``data``; ``training`` is the set to fit on, for protocols that need one."""
    splitter: Any = build_splitter(settings)
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


def _build(spec: dict[str, Any], at: str, kind: type) -> Any:
    """The object that ``spec`` describes, which must have what a ``kind`` has."""
    made = instantiate(spec, at)
    if not isinstance(made, kind):
        what = "protocol: it lacks split" if kind is Splitter else "method: it lacks needs, fit or predict"
        raise ConfigError(f"{at}._target_={spec['_target_']} is not a {what}.")
    return made
