"""The whole configuration of one cell, as typed values."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from functools import cached_property
from typing import Any, Literal, Protocol, runtime_checkable

from fairfr.core import run_key as keys
from fairfr.core.calibrator import Calibrator
from fairfr.core.config import instantiate
from fairfr.core.errors import ConfigError
from fairfr.core.provenance import run_code
from fairfr.core.run_key import (
    DATASET_KEYS_OF_METHODS,
    Parameters,
    RunKey,
    check_path_name,
    configuration_digest,
    flatten,
)
from fairfr.core.types import FoldSplit, Source, VerificationSet
from fairfr.data.settings import BackboneSettings, DatasetSettings
from fairfr.store.settings import StoreSettings

DATA_ROOT = "data"  # where auto looks if no place is named


@runtime_checkable
class Splitter(Protocol):
    """A protocol's class: which pairs are fitted on, and which are scored.

    One that fits on another data set than it tests on says so by ``needs_training_set = True``, and its ``split`` gets
    that set as second argument.
    """

    def split(self, data: VerificationSet) -> Iterator[FoldSplit]: ...


@dataclass(frozen=True)
class MethodSettings:
    """One yaml of conf/method."""

    id: str
    label: str
    estimator: dict[str, Any]

    def build(self) -> Calibrator:
        """A new method, to be fitted."""
        made: Calibrator = _build(self.estimator, "method.estimator", Calibrator)
        return made

    @cached_property
    def unfitted(self) -> Calibrator:
        """The method, built once: its parameters and needs are read from it, and it is never fitted."""
        return self.build()


@dataclass(frozen=True)
class ProtocolSettings:
    """One yaml of conf/protocol."""

    id: str
    splitter: dict[str, Any]

    @cached_property
    def built(self) -> Splitter:
        """The splitter, built once."""
        made: Splitter = _build(self.splitter, "protocol.splitter", Splitter)
        return made


def _build(spec: dict[str, Any], at: str, kind: type) -> Any:
    """The object that ``spec`` describes, which must have what a ``kind`` has."""
    made = instantiate(spec, at)
    if not isinstance(made, kind):
        what = "protocol: it lacks split" if kind is Splitter else "method: it lacks needs, fit or predict"
        raise ConfigError(f"{at}._target_={spec['_target_']} is not a {what}.")
    return made


@dataclass(frozen=True, slots=True)
class CellSettings:
    """conf/config.yaml with its choices made.

    ``study`` is the named study that the run belongs to, if any. ``train`` is the data set to fit on, for protocols
    that fit on another one than they test on. ``training_thresholds``: also score the training pairs of each fit, and
    report the thresholds that they set; it changes no score. ``cohort`` is a data set of images without pairs, for
    methods that take one.
    """

    dataset: DatasetSettings
    backbone: BackboneSettings
    method: MethodSettings
    protocol: ProtocolSettings
    store: StoreSettings
    data_root: str
    out_root: str
    source: Literal["auto", "files", "synthetic"]
    seed: int
    threads: int | None
    force: bool
    on_error: Literal["continue", "stop"]
    study: str | None = None
    training_thresholds: bool = False
    train: DatasetSettings | None = None
    cohort: str | None = None

    def key(
        self, source: Source, data_digest: str, train_digest: str | None = None, cohort_digest: str | None = None
    ) -> RunKey:
        """The run's name: a digest of its ``identity``."""
        check_path_name("method.id", self.method.id)
        identity = self.identity(source, data_digest, train_digest, cohort_digest)
        train = None if self.train is None else self.train.id
        return RunKey(self.dataset.id, self.backbone.id, self.method.id, source, configuration_digest(identity), train)

    def identity(
        self, source: Source, data_digest: str, train_digest: str | None = None, cohort_digest: str | None = None
    ) -> dict[str, Any]:
        """All that decides the numbers: configuration, data, the code of method and protocol, and the results version.

        Paths, store, threads, force, on_error and labels do not, nor do a data set's keys that methods carry in fields
        of their own. Estimators count with all their fields, so a default that is written out makes no new run. Of the
        stand-in only the digest counts: another backbone's parameters do not matter. A study's runs are its own,
        whatever else has run; a training set and a cohort count like the data.
        """
        optional: dict[str, Any] = {} if self.study is None else {"study": self.study}
        if self.training_thresholds:
            optional["training_thresholds"] = True
        if self.train is not None:
            optional["train"] = {**_described_set(self.train), "data": train_digest}
        if self.cohort is not None:
            optional["cohort"] = {"id": self.cohort, "data": cohort_digest}
        return {
            "results_version": keys.RESULTS_VERSION,
            **self._chosen(),
            "code": self._code(),
            "source": source,
            "data": data_digest,
            **optional,
        }

    def parameters(self, source: Source) -> Parameters:
        """Every parameter by its name on the command line; those of the stand-in only where it is used."""
        chosen = self._chosen()
        if source == "synthetic" and self.dataset.standin is not None:
            standin = asdict(self.dataset.standin)
            standin["backbones"] = {self.backbone.id: standin["backbones"].get(self.backbone.id)}
            own = standin.pop("own_difficulty").get(self.backbone.id)
            standin["difficulty"] = own or standin["difficulty"]
            chosen["dataset"] = {**chosen["dataset"], "standin": standin}
        if self.study is not None:
            chosen["study"] = self.study
        if self.train is not None:
            chosen["train"] = self.train.id
        if self.cohort is not None:
            chosen["cohort"] = self.cohort
        return flatten(chosen)

    def _code(self) -> dict[str, str | None]:
        return run_code(
            str(self.method.estimator.get("_target_")),
            bool(self.method.unfitted.native_probability),
            str(self.protocol.splitter.get("_target_")),
            self.training_thresholds,
        )

    def _chosen(self) -> dict[str, Any]:
        return {
            "dataset": _described_set(self.dataset),
            "backbone": {"id": self.backbone.id, "column": self.backbone.column},
            "method": {"id": self.method.id, "estimator": _described(self.method.estimator, self.method.unfitted)},
            "protocol": {"id": self.protocol.id, "splitter": _described(self.protocol.splitter, self.protocol.built)},
            "seed": self.seed,
        }


def _described_set(dataset: DatasetSettings) -> dict[str, Any]:
    left_out = {"label", "standin", *(key.removeprefix("dataset.") for key in DATASET_KEYS_OF_METHODS)}
    return {key: value for key, value in asdict(dataset).items() if key not in left_out}


def _described(spec: dict[str, Any], built: Any) -> dict[str, Any]:
    return {"_target_": spec.get("_target_"), **asdict(built)}
