"""What is known of a sweep outside MLflow: small files in its Hydra folder.

``sweep.json`` says which sweep it is, so that workers in other processes, and a later rebuild, find the same parent
run, which jobs were planned, and whether it goes on; ``<job>/outcome.json`` says how each cell ended. A planned job
without one did not run to its end.
"""

from __future__ import annotations

import csv
import hashlib
import io
import itertools
import json
import os
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from fairfr.core.config import from_file
from fairfr.core.errors import ConfigError
from fairfr.core.readings import mixes_readings, shared_reading
from fairfr.core.run_key import is_path_name, shared_parameters, variant_text
from fairfr.core.run_result import RunResult
from fairfr.core.storage import open_regular, replace_text
from fairfr.core.text import escape_control_chars, inert_cell
from fairfr.store.result_file import try_read_result

SWEEP_FILE = "sweep.json"
OUTCOME_FILE = "outcome.json"
NO_PART = ("out_root", "data_root", "store", "threads", "force", "on_error", "hydra")
NAMED_AT_MOST = 3
NOT_RUN = "not run"
DIED = "did not end: it was killed, or could not write its files."
STOPPED = "stopped by you."
UNREADABLE = (OSError, ValueError, TypeError, OverflowError, RecursionError, ConfigError)


@dataclass(frozen=True, slots=True)
class CellOutcome:
    """How a cell of a sweep ended: what outcome.json has.

    Parameters
    ----------
    status : {"completed", "skipped", "failed", "not run"}
    choices : str
        Data set, backbone and method, or what a job overrides.
    error : str or None
        The message of a cell that failed.
    folder : Path or None
        Its run folder, if it has one.
    """

    status: str
    choices: str = ""
    error: str | None = None
    folder: Path | None = None

    @property
    def has_failed(self) -> bool:
        """Whether the cell has no result: it failed, or did not run to its end."""
        return self.status in ("failed", NOT_RUN)


@dataclass(frozen=True, slots=True)
class SweepRecord:
    """One sweep. The same command is the same sweep: what a kill cut short goes on under the same parent run."""

    id: str
    title: str
    overrides: tuple[str, ...]
    started: float  # seconds since 1970
    ended: float | None = None
    status: str | None = None  # FINISHED, FAILED or KILLED, as MLflow spells it; None while it runs
    planned: tuple[str, ...] = ()  # what each job overrides, in the order of the jobs
    process: dict[str, Any] | None = None  # machine and pid of the conductor

    @classmethod
    def of(cls, overrides: Iterable[str], study: str | None, started: float) -> SweepRecord:
        """``overrides``: the command line; what chooses a machine, a store or a launcher is left out.

        ``study``: the name of a sweep that has one, the yaml in ``conf/experiment``.
        """
        kept = tuple(sorted(o.lstrip("+") for o in overrides if not _is_no_part(o)))
        digest = hashlib.sha256(json.dumps(kept).encode()).hexdigest()[:12]
        return cls(digest, study or "sweep", kept, started)

    def checked(self) -> SweepRecord:
        """The record itself, whoever wrote it; ConfigError or ValueError if it contradicts itself."""
        if not self.id.isalnum() or self.status not in (None, "FINISHED", "FAILED", "KILLED"):
            raise ConfigError(f"{self.id!r} ({self.status!r}) is no sweep")
        if self.ended is not None and self.status is None:
            raise ConfigError("it ended, and does not say how")
        for moment in (self.started, self.ended or self.started):
            datetime.fromtimestamp(moment, UTC)
        return self

    def write(self, folder: Path) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        replace_text(folder / SWEEP_FILE, json.dumps(asdict(self)))  # on a full disk the plan stays as it was

    @classmethod
    def read(cls, folder: Path) -> SweepRecord | None:
        try:
            with open_regular(folder / SWEEP_FILE) as file:
                return from_file(cls, json.load(file)).checked()
        except UNREADABLE:
            return None

    def with_jobs(self, first: int, jobs: Sequence[Sequence[str]]) -> SweepRecord:
        """This sweep, with the jobs of one more launch, the first of which has the number ``first``."""
        constant = set.intersection(*map(set, jobs)) if len(jobs) > 1 else set()
        names = list(self.planned[:first])
        for number, job in enumerate(jobs, start=first):
            varied = [
                override.lstrip("+") for override in job if override not in constant and not _is_no_part(override)
            ]
            names.append(" ".join(varied) or f"job {number}")
        return replace(self, planned=tuple(names))

    def over(self, ended: float, status: str | None, outcomes: Sequence[CellOutcome]) -> SweepRecord:
        """This sweep, ended. ``status`` only where it was cut short; else its cells decide."""
        any_failed = any(outcome.has_failed for outcome in outcomes)
        return replace(self, ended=ended, status=status or ("FAILED" if any_failed else "FINISHED"))

    @property
    def first_name(self) -> str:
        """The parent run's name until its cells are known."""
        chosen = dict(o.split("=", 1) for o in self.overrides if "=" in o)
        return " | ".join([self.title, *(chosen[noun] for noun in ("dataset", "backbone") if noun in chosen)])


def write_outcome(folder: Path, outcome: CellOutcome) -> None:
    """Write how a job ended: status, choices and error, and the run folder if there is one."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / OUTCOME_FILE).write_text(json.dumps(asdict(outcome), default=str), encoding="utf-8")


def read_outcomes(folder: Path, planned: Sequence[str] = (), cut_short: str = DIED) -> list[CellOutcome]:
    """How each job of a sweep ended, in the order of the jobs; they may have run in other processes.

    ``planned``: what each job was to be. One that wrote no outcome gets the status ``not run``; ``cut_short``: what is
    said of one that had started.
    """
    files = {int(path.parent.name): path for path in folder.glob(f"*/{OUTCOME_FILE}") if path.parent.name.isdigit()}
    known = {job: outcome for job, path in files.items() if (outcome := read_outcome(path.parent)) is not None}
    jobs = sorted({*known, *range(len(planned))})
    return [known[job] if job in known else _not_run(folder / str(job), planned[job], cut_short) for job in jobs]


def claim_folder(wanted: Path) -> Path:
    """Make a folder for one sweep alone: ``wanted``, or ``wanted-2`` and so on where another sweep has that.

    Two sweeps may begin within one tick of the clock that names their folders, or be given the same name.
    """
    folder = wanted
    for number in itertools.count(2):
        folder.mkdir(parents=True, exist_ok=True)
        try:
            (folder / SWEEP_FILE).touch(exist_ok=False)
            break
        except FileExistsError:
            folder = wanted.with_name(f"{wanted.name}-{number}")
    return folder


def has_started(folder: Path, job: int) -> bool:
    """Whether a job of a sweep has begun: its folder is the first thing that it makes."""
    return (folder / str(job)).exists()


def has_ended(folder: Path, job: int) -> bool:
    """Whether a job of a sweep has written how it ended."""
    return read_outcome(folder / str(job)) is not None


def read_outcome(folder: Path) -> CellOutcome | None:
    """How the job whose folder this is ended; None before it has."""
    try:
        with open_regular(folder / OUTCOME_FILE) as file:
            return from_file(CellOutcome, json.load(file))
    except UNREADABLE:  # a full disk cuts it short
        return None


def _not_run(folder: Path, choices: str, cut_short: str) -> CellOutcome:
    return CellOutcome(NOT_RUN, choices, cut_short if folder.exists() else "did not start.")


def stored_sweeps(out_root: Path) -> Iterator[tuple[SweepRecord, list[CellOutcome]]]:
    """The newest run of each sweep below ``<out_root>/hydra/sweep``; one without an end was killed."""
    newest: dict[str, tuple[SweepRecord, Path]] = {}
    for path in (out_root / "hydra" / "sweep").glob(f"*/*/{SWEEP_FILE}"):
        sweep = SweepRecord.read(path.parent)
        if sweep is not None and (sweep.id not in newest or sweep.started > newest[sweep.id][0].started):
            newest[sweep.id] = (sweep, path.parent)
    for sweep, folder in sorted(newest.values(), key=lambda found: found[0].started):
        outcomes = [_found_below(out_root, outcome) for outcome in read_outcomes(folder, sweep.planned)]
        yield sweep if sweep.ended is not None else sweep.over(folder.stat().st_mtime, "KILLED", outcomes), outcomes


def _found_below(out_root: Path, outcome: CellOutcome) -> CellOutcome:
    """The outcome with the place of its run here: a sweep may have been copied from another machine."""
    if outcome.folder is None:
        return outcome
    place = outcome.folder.parts[-4:]
    here = out_root.joinpath("runs", *place)
    is_here = all(map(is_path_name, place)) and os.path.isdir(here)  # of a name that is too long Path raises
    return replace(outcome, folder=here if is_here else None)


@dataclass(frozen=True, slots=True)
class SweepSummary:
    """What the parent run shows when its sweep is over."""

    name: str
    status: str
    ended: float
    metrics: dict[str, float]
    tags: dict[str, str]
    keys: tuple[str, ...]
    cells_csv: str
    varied: tuple[str, ...] = ()  # parameters that are not the same in every cell
    mixed: bool = False  # some cells are read as the paper's, others strictly

    @classmethod
    def of(cls, sweep: SweepRecord, outcomes: Sequence[CellOutcome]) -> SweepSummary:
        """``sweep``: one that is over."""
        assert sweep.ended is not None and sweep.status is not None
        results = [_result_of(outcome) for outcome in outcomes]
        known = [result for result in results if result is not None]
        counts = Counter(outcome.status for outcome in outcomes)
        metrics = {
            "sweep/cells": float(len(outcomes)),
            "sweep/already_done": float(counts["skipped"]),
            "sweep/failed": float(counts["failed"]),
            "sweep/not_run": float(counts[NOT_RUN]),
            "sweep/seconds": round(sweep.ended - sweep.started, 3),
        }
        tags = {noun: "+".join(_ids(known, noun)) for noun in ("dataset", "backbone")}
        tags["reading"] = shared_reading(known)
        tags["source"] = "+".join(sorted({result.source for result in known}))
        tags["finished"] = datetime.fromtimestamp(sweep.ended, UTC).isoformat(timespec="milliseconds")
        keys = tuple(sorted({result.key for result in known}))
        name = _name(sweep, known, len(outcomes))
        differs = [result.differs for result in known]
        varied = tuple(_parameter(key) for key in _varied(differs))
        table = _cells_csv(outcomes, results)
        mixed = mixes_readings(known)
        return cls(name, sweep.status, sweep.ended, metrics, tags, keys, table, varied, mixed)


def _result_of(outcome: CellOutcome) -> RunResult | None:
    return None if outcome.folder is None else try_read_result(outcome.folder)


def _is_no_part(override: str) -> bool:
    return override.lstrip("+~").partition("=")[0].replace("/", ".").partition(".")[0] in NO_PART


def _varied(differs: Sequence[dict[str, Any]]) -> list[str]:
    """The keys in which these cells differ from each other."""
    shared = shared_parameters(differs)
    varied: dict[str, None] = {}
    for one in differs:
        for key in one:
            if key not in shared:
                varied[key] = None
    return list(varied)


def _parameter(key: str) -> str:
    """A differing key as MLflow's parameters spell it."""
    return "protocol.id" if key == "protocol" else key


def _ids(results: Iterable[RunResult], noun: str) -> list[str]:
    return list(dict.fromkeys(getattr(result, noun).id for result in results))


def _name(sweep: SweepRecord, results: Sequence[RunResult], n_cells: int) -> str:
    """``sweep | synthetic | lfw | magface | 12 cells``: the page cuts it at the end."""
    parts = [sweep.title]
    if any(result.is_synthetic for result in results):
        parts.append("synthetic")
    for noun, plural in (("dataset", "data sets"), ("backbone", "backbones")):
        ids = _ids(results, noun)
        if ids:
            parts.append("+".join(ids) if len(ids) <= NAMED_AT_MOST else f"{len(ids)} {plural}")
    parts.append("1 run" if n_cells == 1 else f"{n_cells} runs")
    return " | ".join(parts)


def _cells_csv(outcomes: Sequence[CellOutcome], results: Sequence[RunResult | None]) -> str:
    """Every cell of the sweep, also those that belong to an earlier sweep's parent run."""
    text = io.StringIO()
    table = csv.writer(text, lineterminator="\n")
    table.writerow(["dataset", "backbone", "method", "variant", "source", "outcome", "run_key", "run_folder", "error"])
    for outcome, result in zip(outcomes, results, strict=True):
        if result is None:
            names = [*outcome.choices.split(" / "), "", "", "", ""][:5]
        else:
            names = [result.dataset.id, result.backbone.id, result.method.id]
            names += [variant_text(result.differs), result.source]
        key = "" if result is None else result.key
        cells = [*names, outcome.status, key, outcome.folder or "", outcome.error or ""]
        table.writerow([inert_cell(cell) for cell in cells])
    return escape_control_chars(text.getvalue())
