"""The method and the protocol that a configuration names."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Protocol, runtime_checkable

from fairfr.core.calibrator import Calibrator
from fairfr.core.conform import instantiate
from fairfr.core.errors import ConfigError
from fairfr.core.types import FoldSplit, VerificationSet
from fairfr.experiment.settings import CellSettings


@runtime_checkable
class Splitter(Protocol):
    """A protocol's class: which pairs are fitted on, and which are scored."""

    def split(self, data: VerificationSet) -> Iterator[FoldSplit]: ...


def make_method(settings: CellSettings) -> Calibrator:
    """A new, unfitted one."""
    made: Calibrator = _made(settings.method.estimator, "method.estimator", Calibrator)
    return made


def make_splitter(settings: CellSettings) -> Splitter:
    """The protocol's."""
    made: Splitter = _made(settings.protocol.splitter, "protocol.splitter", Splitter)
    return made


def _made(spec: dict[str, Any], at: str, kind: type) -> Any:
    """The object that ``spec`` describes, which must have what a ``kind`` has."""
    made = instantiate(spec, at)
    if not isinstance(made, kind):
        what = "protocol: it lacks split" if kind is Splitter else "method: it lacks needs, fit or predict"
        raise ConfigError(f"{at}._target_={spec['_target_']} is no {what}.")
    return made
