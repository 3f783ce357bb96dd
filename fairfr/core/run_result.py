"""The result of a run as a typed value: what result.json has, by name.

``RunResult.to_json`` gives the keys of result.json in their order, ``RunResult.from_json`` reads them back. The keys
are public; the names of the fields here are not.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field, fields
from datetime import datetime
from functools import cached_property
from typing import Any, Literal, TypeAlias, TypeVar

from fairfr.core.config import conform, from_mapping, type_hints
from fairfr.core.errors import ConfigError
from fairfr.core.findings import Finding
from fairfr.core.run_key import Parameters, RunKey, is_path_name
from fairfr.core.types import Source

Status: TypeAlias = Literal["completed", "failed"]
MetricSummary: TypeAlias = dict[str, Any]
"""One entry of ``metrics``: grouping, rule, group, metric and its numbers (``metrics.cell_metrics.summarise``)."""

T = TypeVar("T")

ROW_NAMES = ("grouping", "rule", "group", "metric")
VALUES = ("mean", "std", "pooled")
COUNTS = ("folds", "folds_total", "n_same", "n_diff")
LARGEST = sys.float_info.max
MAX_COUNT = 2**63  # what a whole number of a table can be
AS_THEY_ARE = ("status", "source", "protocol", "study", "seed", "fit_report", "error", "files")
NAMED = ("dataset", "backbone", "method")
REQUIRED = ("status", "source", "finished", "identity", "differs")


@dataclass(frozen=True, slots=True)
class Labelled:
    """A data set or a backbone: its id and what tables call it."""

    id: str
    label: str

    @classmethod
    def from_json(cls, stored: Mapping[str, Any]) -> Labelled:
        labelled = _typed(cls, {"label": stored["id"], **stored})
        if not is_path_name(labelled.id):
            raise ConfigError(f"{labelled.id!r} is no name")
        return labelled


@dataclass(frozen=True, slots=True)
class MethodSummary:
    """The method of a run: its id, its label, what it needs beside scores, and whether it gives a probability."""

    id: str
    label: str
    needs: tuple[str, ...] = ()
    native_probability: bool = False

    @classmethod
    def from_json(cls, stored: Mapping[str, Any]) -> MethodSummary:
        return _typed(cls, {"label": stored["id"], **stored})


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

    @classmethod
    def from_json(cls, stored: Mapping[str, Any]) -> DataSummary:
        return _typed(cls, stored)

    def to_json(self) -> dict[str, Any]:
        return {
            **asdict(self),
            "folds": list(self.folds),
            "measured_folds": list(self.measured_folds),
            "groups": {grouping: list(levels) for grouping, levels in self.groups.items()},
        }


@dataclass(frozen=True, slots=True)
class RunOrigin:
    """How a result came about.

    ``configuration`` is all that decides its numbers (``identity`` in result.json; its digest is in the run's key).
    ``differs`` is what of it is not as in the yaml files. ``code`` is the commit of a checkout, if known. ``rescored``:
    when the metrics were computed again.
    """

    configuration: Mapping[str, Any]
    differs: Parameters
    finished: str
    versions: Mapping[str, str] = field(default_factory=dict)
    code: Mapping[str, Any] | None = None
    rescored: str | None = None


@dataclass(frozen=True, slots=True)
class Usage:
    """What a run took; nothing is known of a failed one."""

    threads: int | None = None
    seconds: float | None = None
    peak_memory_mb: float | None = None

    def to_json(self) -> dict[str, Any]:
        return {name: value for name, value in asdict(self).items() if value is not None}


@dataclass(frozen=True)
class RunMetrics:
    """The numbers of a run, and what to know about them. They are read when ``rows`` is first asked for."""

    version: str | None
    warnings: tuple[Finding, ...]
    read_rows: Callable[[], list[MetricSummary]] = field(compare=False, repr=False)

    @cached_property
    def rows(self) -> list[MetricSummary]:
        """One entry for each grouping, rule, group and metric."""
        return self.read_rows()


@dataclass(frozen=True, slots=True)
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
    origin : RunOrigin
    data : DataSummary
        Empty for a failed run.
    usage : Usage
    warnings : tuple of Finding
        What to know about the data and the fits.
    fit_report : mapping
        What the method said about each fit.
    metrics : RunMetrics or None
        None for a failed run.
    error : str or None
    files : mapping
        Size and sha256 of the other files of the run folder, by name.
    """

    key: str
    status: Status
    source: Source
    dataset: Labelled
    backbone: Labelled
    method: MethodSummary
    origin: RunOrigin
    protocol: str = "published"
    study: str | None = None
    train: Labelled | None = None
    seed: int = 0
    data: DataSummary = field(default_factory=DataSummary)
    usage: Usage = field(default_factory=Usage)
    warnings: tuple[Finding, ...] = ()
    fit_report: Mapping[str, Any] = field(default_factory=dict)
    metrics: RunMetrics | None = None
    error: str | None = None
    files: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)

    @property
    def run_key(self) -> RunKey:
        return RunKey.parse(self.dataset.id, self.backbone.id, self.method.id, self.source, self.key)

    @property
    def is_completed(self) -> bool:
        return self.status == "completed"

    @property
    def is_synthetic(self) -> bool:
        return self.source == "synthetic"

    def to_json(self, *, with_metrics: bool = True) -> dict[str, Any]:
        """The keys of result.json. Metrics come last: ``with_metrics=False`` leaves out the numbers, and reads none."""
        stored: dict[str, Any] = {
            "key": self.key,
            "status": self.status,
            "source": self.source,
            "dataset": asdict(self.dataset),
            "backbone": asdict(self.backbone),
            "method": {**asdict(self.method), "needs": list(self.method.needs)},
            "protocol": self.protocol,
            "study": self.study,
            "train": None if self.train is None else asdict(self.train),
            "seed": self.seed,
            "identity": self.origin.configuration,
            "differs": self.origin.differs,
            "versions": self.origin.versions,
            "code": self.origin.code,
            "finished": self.origin.finished,
        }
        if self.error is not None:
            stored["error"] = self.error
        has_data = self.data != DataSummary()
        if has_data:
            stored["data"] = self.data.to_json()
        stored |= self.usage.to_json()
        if has_data:
            stored["warnings"] = [finding.as_dict() for finding in self.warnings]
            stored["fit_report"] = self.fit_report
        if self.metrics is not None:
            stored["metrics_version"] = self.metrics.version
            stored["metric_warnings"] = [finding.as_dict() for finding in self.metrics.warnings]
        if self.origin.rescored is not None:
            stored["rescored"] = self.origin.rescored
        stored["files"] = self.files
        if self.metrics is not None and with_metrics:
            stored["metrics"] = self.metrics.rows
        return stored

    @classmethod
    def from_json(
        cls, stored: Mapping[str, Any], read_rows: Callable[[], list[MetricSummary]] | None = None
    ) -> RunResult:
        """Read what ``to_json`` gave.

        Parameters
        ----------
        stored : mapping
            The content of result.json; unknown keys are ignored.
        read_rows : callable, optional
            Reads the metrics when they are asked for, if ``stored`` comes without them.

        Returns
        -------
        RunResult

        Raises
        ------
        ValueError
            If ``stored`` does not say whose run it is or how it came about. The message goes on after a file's name.
        """
        try:
            ids = [stored[noun]["id"] for noun in NAMED]
            key = stored["key"]
        except (KeyError, TypeError) as error:
            raise ValueError(f"does not say whose run it is ({error} is missing)") from error
        missing = [name for name in REQUIRED if name not in stored]
        if missing:
            raise ValueError(f"lacks {', '.join(missing)}: it was written by another version")
        if not all(isinstance(name, str) and is_path_name(name) for name in (key, *ids)):
            raise ValueError("does not say whose run it is (a name is none that a folder can have)")
        try:
            return cls(
                key=key,
                **_plain_values(stored),
                dataset=Labelled.from_json(stored["dataset"]),
                backbone=Labelled.from_json(stored["backbone"]),
                method=MethodSummary.from_json(stored["method"]),
                origin=_read_origin(stored),
                train=None if stored.get("train") is None else Labelled.from_json(stored["train"]),
                data=DataSummary.from_json(stored.get("data", {})),
                usage=_typed(Usage, stored),
                warnings=_read_findings(stored, "warnings"),
                metrics=_read_metrics(stored, read_rows),
            )
        except (KeyError, TypeError, AttributeError, ConfigError) as error:
            raise ValueError(f"cannot be read ({error}): it was written by another version") from error


def _typed(cls: type[T], stored: Mapping[str, Any]) -> T:
    """A dataclass with these values, each of its annotated type; keys of other versions are left out."""
    known = {field.name for field in fields(cls)}  # type: ignore[arg-type]
    return from_mapping(cls, {key: value for key, value in stored.items() if key in known})


def _plain_values(stored: Mapping[str, Any]) -> dict[str, Any]:
    """The fields of a RunResult that result.json has as they are."""
    hints = type_hints(RunResult)
    found = {name: conform(stored[name], hints[name], name) for name in AS_THEY_ARE if name in stored}
    for name in (found.get("protocol"), found.get("study")):
        if name is not None and not name.isprintable():
            raise ConfigError(f"{name!r} is no name")
    return found


def _read_origin(stored: Mapping[str, Any]) -> RunOrigin:
    origin = _typed(RunOrigin, {**stored, "configuration": stored["identity"]})
    for noun, part in (("method", "estimator"), ("protocol", "splitter")):
        section = conform(origin.configuration.get(noun, {}), dict[str, Any], f"identity.{noun}")
        described = conform(section.get(part, {}), dict[str, Any], f"identity.{noun}.{part}")
        conform(described.get("_target_"), str | None, f"identity.{noun}.{part}._target_")
    for noun in ("dataset", "backbone"):
        conform(origin.configuration.get(noun, {}), dict[str, Any], f"identity.{noun}")
    conform(origin.configuration.get("results_version"), int | None, "identity.results_version")
    conform(origin.configuration.get("data"), str | None, "identity.data")
    if origin.code is not None:
        conform(origin.code.get("commit"), str, "code.commit")
        conform(origin.code.get("dirty"), bool, "code.dirty")
    for moment in (origin.finished, origin.rescored):
        if moment is not None:
            _check_moment(moment)
    return origin


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


def _read_metrics(stored: Mapping[str, Any], read_rows: Callable[[], list[MetricSummary]] | None) -> RunMetrics | None:
    if read_rows is None:
        if "metrics" not in stored:
            return None
        rows = stored["metrics"]
        read_rows = lambda: rows  # noqa: E731
    version = stored.get("metrics_version", "unknown")
    return RunMetrics(version, _read_findings(stored, "metric_warnings"), read_rows)


def _read_findings(stored: Mapping[str, Any], name: str) -> tuple[Finding, ...]:
    return tuple(Finding.from_dict(finding) for finding in stored.get(name, ()))
