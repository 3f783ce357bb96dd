"""The result of a run as a typed value: its fields are the keys of result.json, in their order."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field, replace
from datetime import datetime
from functools import cached_property
from typing import Any, Literal, TypeAlias

from fairfr.core.config import conform, from_file
from fairfr.core.errors import ConfigError
from fairfr.core.findings import Finding
from fairfr.core.run_key import Parameters, RunKey, is_path_name
from fairfr.core.types import Source

Status: TypeAlias = Literal["completed", "failed"]
MetricSummary: TypeAlias = dict[str, Any]
"""One entry of ``metrics``: grouping, rule, group, metric and its numbers (``metrics.cell_metrics.summarise``)."""

ROW_NAMES = ("grouping", "rule", "group", "metric")
VALUES = ("mean", "std", "pooled")
COUNTS = ("folds", "folds_total", "n_same", "n_diff")
LARGEST = sys.float_info.max
MAX_COUNT = 2**63  # what a whole number of a table can be
NULL_IS_WRITTEN = ("study", "train", "code", "metrics_version")
"""Keys that every result.json has; others are left out where there is nothing to say."""
OF_COMPLETED = ("data", "warnings", "fit_report", "metrics_version", "metric_warnings")


@dataclass(frozen=True, slots=True)
class Labelled:
    """A data set or a backbone: its id and what tables call it."""

    id: str
    label: str = ""

    def __post_init__(self) -> None:
        object.__setattr__(self, "label", self.label or self.id)


@dataclass(frozen=True, slots=True)
class MethodSummary:
    """The method of a run: its id, its label, what it needs beside scores, and whether it gives a probability."""

    id: str
    label: str = ""
    needs: tuple[str, ...] = ()
    native_probability: bool = False

    def __post_init__(self) -> None:
        object.__setattr__(self, "label", self.label or self.id)


@dataclass(frozen=True, slots=True)
class DataSummary:
    """The data that a run was scored on. ``grouping`` is the one of its tables, ``groups`` the levels of each.

    ``folds`` are the data's own, ``measured_folds`` the protocol's splits, over which means are taken.
    """

    source: str | None = None
    digest: str | None = None
    embeddings_digest: str | None = None
    pairs: int = 0
    same: int = 0
    images: int = 0
    dimensions: int | None = None
    folds: tuple[str, ...] = ()
    measured_folds: tuple[str, ...] = ()
    grouping: str | None = None
    min_pairs: int | None = None
    groups: Mapping[str, tuple[str, ...]] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class RunResult:
    """What a cell left: a completed run with its metrics, or a failed one with its ``error``.

    Parameters
    ----------
    key : str
        The name of the run's folder.
    status : {"completed", "failed"}
    source : {"files", "synthetic"}
    dataset, backbone : Labelled
    method : MethodSummary
    protocol : str
        The id of the yaml in conf/protocol.
    study : str or None
        The named study that the run belongs to.
    train : Labelled or None
        The data set that was fitted on, if it is another one.
    seed : int
    identity : mapping
        All that decides the numbers; its digest is in the run's key.
    differs : mapping
        What of it is not as in the yaml files.
    versions : mapping
        Of Python and packages.
    code : mapping or None
        The commit of a checkout, if known.
    finished : str
    error : str or None
    data : DataSummary
        Empty for a failed run.
    threads, seconds, peak_memory_mb : number or None
        What the run took; nothing is known of a failed one.
    warnings : tuple of Finding
        What to know about the data and the fits.
    fit_report : mapping
        What the method said about each fit.
    metrics_version : str or None
        None where the code that measures cannot be read.
    metric_warnings : tuple of Finding
        What to know about the numbers.
    rescored : str or None
        When the metrics were computed again.
    files : mapping
        Size and sha256 of the other files of the run folder, by name.
    read_metrics : callable
        Gives ``metrics``, which are nearly all of the file, when they are first asked for.
    """

    key: str
    status: Status
    source: Source
    dataset: Labelled
    backbone: Labelled
    method: MethodSummary
    protocol: str = "published"
    study: str | None = None
    train: Labelled | None = None
    seed: int = 0
    identity: Mapping[str, Any]
    differs: Parameters
    versions: Mapping[str, str] = field(default_factory=dict)
    code: Mapping[str, Any] | None = None
    finished: str
    error: str | None = None
    data: DataSummary = field(default_factory=DataSummary)
    threads: int | None = None
    seconds: float | None = None
    peak_memory_mb: float | None = None
    warnings: tuple[Finding, ...] = ()
    fit_report: Mapping[str, Any] = field(default_factory=dict)
    metrics_version: str | None = "unknown"
    metric_warnings: tuple[Finding, ...] = ()
    rescored: str | None = None
    files: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    read_metrics: Callable[[], list[MetricSummary]] = field(default=list, compare=False, repr=False)

    @cached_property
    def metrics(self) -> list[MetricSummary]:
        """One entry for each grouping, rule, group and metric; none for a failed run."""
        return self.read_metrics()

    @property
    def run_key(self) -> RunKey:
        return RunKey.parse(self.dataset.id, self.backbone.id, self.method.id, self.source, self.key)

    @property
    def is_completed(self) -> bool:
        return self.status == "completed"

    @property
    def is_synthetic(self) -> bool:
        return self.source == "synthetic"

    def to_json(self) -> dict[str, Any]:
        """The keys of result.json, metrics last."""
        stored = asdict(self)
        del stored["read_metrics"]
        for name, value in list(stored.items()):
            is_absent = value is None and name not in NULL_IS_WRITTEN
            if is_absent or (name in OF_COMPLETED and not self.is_completed):
                del stored[name]
        if self.is_completed:
            stored["metrics"] = self.metrics
        return stored

    @classmethod
    def from_json(
        cls, stored: Mapping[str, Any], read_metrics: Callable[[], list[MetricSummary]] | None = None
    ) -> RunResult:
        """Read what ``to_json`` gave.

        Parameters
        ----------
        stored : mapping
            The content of result.json; unknown keys are ignored.
        read_metrics : callable, optional
            Reads the metrics when they are asked for, if ``stored`` comes without them.

        Returns
        -------
        RunResult

        Raises
        ------
        ValueError
            If a value is missing or of another type than it should be. The message goes on after a file's name.
        """
        try:
            result = from_file(cls, stored)
            _check_names(result)
            _check_identity(result.identity)
            _check_origin(result)
        except ConfigError as error:
            raise ValueError(f"cannot be read ({str(error).rstrip('.')}): it was written by another version") from error
        if read_metrics is None:
            rows = stored.get("metrics", [])
            read_metrics = lambda: rows  # noqa: E731
        return replace(result, read_metrics=read_metrics)


def _check_names(result: RunResult) -> None:
    """Some become the names of folders, all of them are printed."""
    folders = [result.key, result.dataset.id, result.backbone.id, result.method.id]
    if result.train is not None:
        folders.append(result.train.id)
    for name in folders:
        if not is_path_name(name):
            raise ConfigError(f"{name!r} is no name that a folder can have")
    for name in (result.protocol, result.study or ""):
        if not name.isprintable():
            raise ConfigError(f"{name!r} is no name")


def _check_identity(identity: Mapping[str, Any]) -> None:
    """What of it is read again: by tables, and to measure a run anew."""
    for noun, part in (("method", "estimator"), ("protocol", "splitter")):
        section = conform(identity.get(noun, {}), dict[str, Any], f"identity.{noun}")
        described = conform(section.get(part, {}), dict[str, Any], f"identity.{noun}.{part}")
        conform(described.get("_target_"), str | None, f"identity.{noun}.{part}._target_")
    for noun in ("dataset", "backbone"):
        conform(identity.get(noun, {}), dict[str, Any], f"identity.{noun}")
    conform(identity.get("results_version"), int | None, "identity.results_version")
    conform(identity.get("data"), str | None, "identity.data")


def _check_origin(result: RunResult) -> None:
    if result.code is not None:
        conform(result.code.get("commit"), str, "code.commit")
        conform(result.code.get("dirty"), bool, "code.dirty")
    for moment in (result.finished, result.rescored):
        if moment is not None:
            _check_moment(moment)


def _check_moment(text: str) -> None:
    try:
        datetime.fromisoformat(text)
    except ValueError:
        raise ConfigError(f"{text!r} is no date") from None


def checked_rows(rows: object) -> list[MetricSummary]:
    """The metrics of a run, found to be such; ValueError otherwise."""
    if not isinstance(rows, list):
        raise ValueError("the metrics are no list")
    for row in rows:
        named = isinstance(row, dict) and all(isinstance(row.get(name), str) for name in ROW_NAMES)
        if not named or "mean" not in row or not _has_numbers(row):
            raise ValueError(f"{row!s:.60} is no metric")
    return rows


def _has_numbers(row: Mapping[str, Any]) -> bool:
    values_fit = all(row.get(name) is None or _is_finite(row[name]) for name in VALUES)
    return values_fit and all(type(row.get(name, 0)) is int and 0 <= row.get(name, 0) < MAX_COUNT for name in COUNTS)


def _is_finite(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and abs(value) <= LARGEST
