"""Stored runs for a notebook: their numbers and their parameters as pandas data frames."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any, get_args

from fairfr.core.errors import ConfigError, did_you_mean
from fairfr.core.extras import explain_missing_extra
from fairfr.core.names import ALL, POOLED
from fairfr.core.readings import ReadingName
from fairfr.core.run_key import ID_KEYS, RESULTS_VERSION
from fairfr.core.types import MetricRow, Source
from fairfr.store.parquet_files import METRICS_FILE, read_columns
from fairfr.store.result_file import check_files
from fairfr.stored.reading import READINGS, Reading, reading_of
from fairfr.stored.results import shown_results
from fairfr.stored.run import Number, Run
from fairfr.stored.runs import choose, read_runs
from fairfr.stored.selection import Selection, made_by_installed_code

if TYPE_CHECKING:
    import pandas as pd

RUN_COLUMNS = ("source", "dataset", "backbone", "method", "label", "study", "protocol", "key", "reading", "current")
NUMBER_COLUMNS = ("grouping", "group", "metric")
NUMBERS = Number._fields[1:]
STORED = ["grouping", "rule", "group", "stored"]
NOT_SHOWN = ["rule", "stored"]
TEXTS = dict.fromkeys((*RUN_COLUMNS[:-1], *NUMBER_COLUMNS), "str")
FLOATS = dict.fromkeys(("mean", "std", "pooled"), "float64")
COUNTS = dict.fromkeys(("folds", "folds_total", "n_same", "n_diff"), "int64")


def results(
    out_root: str | os.PathLike[str] = "outputs",
    *,
    metrics: str | Sequence[str] | None = None,
    groups: str | Sequence[str] | None = None,
    reading: ReadingName | None = None,
    where: str | Sequence[str] = (),
    every: bool = False,
    folds: bool = False,
) -> pd.DataFrame:
    """The numbers of stored runs, one row for each run, group and metric: what ``fairfr tables`` shows.

    Parameters
    ----------
    out_root : path, default "outputs"
        The folder with ``runs``.
    metrics, groups : str or sequence of str, optional
        Only these, such as ``metrics="auroc", groups=["all", "worst"]``; None: all.
    reading : {"paper", "strict"}, optional
        How scores are read into numbers; None: each setting as tables read it.
    where : str or sequence of str
        As ``--where`` of ``fairfr tables``: ``"k=500"`` adds the runs of that variant, ``"seed=1"`` takes others.
    every : bool, default False
        Also runs of studies, variants and runs that newer ones replace, and every grouping of the data. Then a method
        has several rows of one group and metric, which a pivot would average: choose by ``key`` and ``grouping``.
    folds : bool, default False
        A row for each held-out fold, with its name in ``fold`` and its number in ``value``.

    Returns
    -------
    DataFrame
        Columns are described in the documentation of tables. ``attrs`` has the folder, its data sources, and the
        versions of fairfr, of the results and of the metrics.

    Raises
    ------
    ConfigError
        If there is no such metric, group or reading, or if no run meets a condition.

    Examples
    --------
    >>> found = fairfr.results(metrics="auroc", groups="worst")  # doctest: +SKIP
    >>> found.pivot(index="method", columns=["dataset", "backbone"], values="mean")  # doctest: +SKIP
    """
    with explain_missing_extra("fairfr.results"):
        import pandas as pd  # noqa: F401

    wanted = Wanted(as_list(metrics), as_list(groups), every)
    stored = _read(out_root)
    chosen = _chosen(stored, _readings(reading), reading is None, Selection.where(as_list(where) or ()), every)
    frame = tidy_frame(chosen, wanted)
    wanted.check()
    if folds:
        frame = _with_folds(frame, chosen)
    frame = frame.drop(columns=NOT_SHOWN)
    versions = {run.result.metrics_version for run in chosen}
    frame.attrs = {
        **_attributes(out_root),
        "sources": sorted({run.result.source for run in chosen}),
        "metrics_version": ", ".join(sorted(map(str, versions))),
    }
    return frame


def runs(out_root: str | os.PathLike[str] = "outputs") -> pd.DataFrame:
    """Every stored run, one row each: whether it is shown and if not why, how long it took, and its parameters.

    Parameters
    ----------
    out_root : path, default "outputs"
        The folder with ``runs``.

    Returns
    -------
    DataFrame
        ``source``, ``dataset``, ``backbone``, ``method``, ``label``, ``study``, ``protocol``, ``key``, ``reading``,
        ``current`` (made by the code that is installed), ``status``, ``finished``, ``seconds``, ``why`` (what keeps the
        run out of tables: ``failed``, ``study``, ``variant``, ``configuration`` or ``older``; empty for those that are
        shown), and ``params.<key>`` for every parameter.
    """
    with explain_missing_extra("fairfr.runs"):
        import pandas as pd

    stored = _read(out_root)
    reasons: dict[str, str] = {}
    for run in stored:
        if run.result.study:
            reasons[_place(run)] = "study"
        if not run.result.is_completed:
            reasons[_place(run)] = "failed"
    for source in get_args(Source):
        for reading in READINGS.values():
            of_page = [run for run in stored if run.result.source == source and reading_of(run.result) == reading]
            for one in choose(of_page, stored, Selection()).aside:
                reasons.update(dict.fromkeys(map(_place, one.runs), one.why))
    rows = []
    for run in stored:
        result = run.result
        rows.append(
            {
                **_about(run.read(reading_of(result))),
                "status": result.status,
                "finished": result.finished,
                "seconds": result.seconds,
                "why": reasons.get(_place(run), ""),
                **{f"params.{key}": value for key, value in run.parameters.items() if key not in ID_KEYS},
            }
        )
    frame = pd.DataFrame(rows)
    frame.attrs = _attributes(out_root)
    return frame


def tidy_frame(chosen: Iterable[Run], wanted: Wanted) -> pd.DataFrame:
    """A row for each number that is wanted of each run in its reading, with its place in the run (``STORED``)."""
    import pandas as pd

    columns: dict[str, list[Any]] = {name: [] for name in (*RUN_COLUMNS, *NUMBER_COLUMNS, *FLOATS, *COUNTS, *STORED)}
    for run in chosen:
        _add_rows(columns, run, wanted)
    return pd.DataFrame(columns).astype({**TEXTS, **FLOATS, **COUNTS, "current": "boolean"})


class Wanted:
    """Which metrics and groups to keep (None: all), and which there were; ``every``: of every grouping."""

    def __init__(self, metrics: list[str] | None, groups: list[str] | None, every: bool) -> None:
        self.metrics = metrics
        self.groups = groups
        self.every = every
        self._known: dict[str, set[str]] = {"metrics": set(), "groups": set()}

    def keeps(self, metric: str, group: str) -> bool:
        self._known["metrics"].add(metric)
        self._known["groups"].add(group)
        if self.metrics is not None and metric not in self.metrics:
            return False
        return self.groups is None or group in self.groups

    def check(self) -> None:
        """Raise ConfigError for a name that no run has."""
        for what, names in (("metrics", self.metrics), ("groups", self.groups)):
            known = self._known[what]
            for name in names or ():
                if name not in known:
                    raise ConfigError(f"{what}={name!r}: no run has it.{did_you_mean(name, known)}")


def _attributes(out_root: str | os.PathLike[str]) -> dict[str, Any]:
    return {"out_root": str(out_root), "fairfr": version("fairfr"), "results_version": RESULTS_VERSION}


def _read(out_root: str | os.PathLike[str]) -> list[Run]:
    stored, damaged = read_runs(Path(out_root))
    if not stored:
        found = "".join(f" Left out: {line}" for line in damaged[:1])
        raise ConfigError(
            f"{Path(out_root) / 'runs'} has no runs.{found} Give the folder that fairfr run calls out_root."
        )
    return stored


def as_list(given: str | Sequence[str] | None) -> list[str] | None:
    """What may be given as one name, as several, or not at all."""
    if given is None:
        return None
    if isinstance(given, str):
        return [given]
    return list(given)


def _readings(name: str | None) -> Sequence[Reading]:
    if name is None:
        return tuple(READINGS.values())
    if name not in READINGS:
        raise ConfigError(f"reading={name!r} is none of {', '.join(READINGS)}.{did_you_mean(name, READINGS)}")
    return (READINGS[name],)


def _chosen(
    stored: Sequence[Run], readings: Sequence[Reading], each_in_its_own: bool, selection: Selection, every: bool
) -> list[Run]:
    """The runs to show, each in its reading."""
    found: list[Run] = []
    for source in get_args(Source):
        for reading in readings:
            of_page = [run for run in stored if run.result.source == source]
            if each_in_its_own:
                of_page = [run for run in of_page if reading_of(run.result) == reading]
            if every:
                found += [run.read(reading) for run in of_page if run.result.is_completed and selection.is_met(run)]
            else:
                found += shown_results(stored, source, selection, set(of_page).__contains__, reading)
    return sorted(found, key=lambda run: (run.result.source, run.result.run_key.path_parts))


def _add_rows(columns: dict[str, list[Any]], run: Run, wanted: Wanted) -> None:
    """One row for each number of a run in its reading."""
    added = 0
    own = (ALL, run.result.data.grouping)
    for number in run.numbers():
        grouping, _, group, stored = number.stored
        metric = run.shown_metric(stored, group)
        if not (wanted.every or grouping in own) or not wanted.keeps(metric, group):
            continue
        added += 1
        columns["metric"].append(metric)
        for name, text in zip(STORED, number.stored, strict=True):
            columns[name].append(text)
        for name, figure in zip(NUMBERS, number[1:], strict=True):
            columns[name].append(figure)
    for name, value in _about(run).items():
        columns[name] += [value] * added


def _about(run: Run) -> dict[str, Any]:
    result = run.result
    dataset, backbone, method = run.cell
    values = (
        *(result.source, dataset, backbone, method, run.label, result.study or "", result.protocol, result.key),
        *(run.reading.name, made_by_installed_code(run)),
    )
    return dict(zip(RUN_COLUMNS, values, strict=True))


def _with_folds(frame: pd.DataFrame, chosen: Iterable[Run]) -> pd.DataFrame:
    """A row for each fold, from metrics.parquet of each run."""
    import pandas as pd

    each = [_folds_of(run, run.folder) for run in chosen if run.folder is not None]
    if not each:
        return frame.assign(fold="", value=float("nan")).iloc[:0]
    return frame.merge(pd.concat(each), on=["key", "dataset", "backbone", *STORED])


def _folds_of(run: Run, folder: Path) -> pd.DataFrame:
    check_files(folder, run.result.files, [METRICS_FILE])
    found = read_columns(folder / METRICS_FILE, MetricRow._fields).to_pandas()
    found = found[found["fold"] != POOLED].rename(columns={"metric": "stored"})
    dataset, backbone, _ = run.cell
    where = {"key": run.result.key, "dataset": dataset, "backbone": backbone}
    return found[["fold", *STORED, "value"]].assign(**where).astype(dict.fromkeys((*STORED, "fold"), "str"))


def _place(run: Run) -> str:
    return "/".join(run.result.run_key.path_parts)
