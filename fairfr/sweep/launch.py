"""How a sweep's jobs are started: by whatever launcher Hydra uses, watched.

The plan is written down first, so that a sweep cut short can say what did not run; workers end with the sweep; and a
worker that dies takes only its own cell with it.
"""

from __future__ import annotations

import os
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures.process import BrokenProcessPool
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Any, NamedTuple, NoReturn

from hydra.core.utils import JobReturn, JobStatus
from hydra.plugins.launcher import Launcher

from fairfr.core.loaded import loaded
from fairfr.core.parent import end_with_parent
from fairfr.store.owner import Owner
from fairfr.store.secrets import mask_files
from fairfr.store.sweep_record import SweepRecord, has_ended, has_started, is_postponed, write_outcome
from fairfr.sweep.slurm import cancel_jobs, wait_for_jobs
from fairfr.sweep.terminal import Terminal
from fairfr.sweep.workers import with_threads

Plan = Callable[[int, Sequence[Sequence[str]]], Sequence[str]]
Watching = Callable[[int, Sequence[Sequence[str]]], AbstractContextManager[None]]
KILLED = "its worker process was killed (by the system, when memory is short): fewer jobs at once may help."


POLL = 1.0  # seconds between a worker's looks at the sweep that it belongs to
_looks_after = threading.Lock()  # held for good by the thread that does, one in a process


class Watched(NamedTuple):
    """What a sweep wants to know of its jobs: ``plan`` gets them before they start, and names them; ``watching`` shows
    them while they run; ``folder`` is where they leave their outcomes; ``go_on``: also when a worker dies."""

    plan: Plan
    watching: Watching
    folder: Path
    go_on: bool


def end_with_sweep(folder: Path) -> None:
    """End this process, a worker, when the sweep in ``folder`` was stopped or its process has died.

    On another machine nobody can know whether that process has died: there a cell that runs goes on.
    """
    sweep = SweepRecord.read(folder)
    owner = None if sweep is None else Owner.from_dict(sweep.process)
    if owner is None or owner == Owner.me() or not _looks_after.acquire(blocking=False):
        return

    def look() -> None:
        while not (
            owner.is_provably_dead() or ((now := SweepRecord.read(folder)) and now.status in ("FAILED", "KILLED"))
        ):
            time.sleep(POLL)
        os._exit(1)  # without clean-up: drafts of the dead are cleared by the next run, as after a kill

    threading.Thread(target=look, daemon=True, name="end-with-sweep").start()


class _WorkerKilledError(Exception):
    """A worker died in a sweep that stops at the first failure."""


class WatchedLauncher(Launcher):
    """Another launcher, with a plan, and with a second try for jobs whose worker died or whose cell another sweep
    computed. ``threads``: of each job that does not name a number itself."""

    def __init__(self, launcher: Launcher, watched: Watched, threads: int | None = None) -> None:
        self._launcher, self._watched, self._threads = launcher, watched, threads
        self._folder, self._go_on = watched.folder, watched.go_on
        options = getattr(launcher, "joblib", None)
        if isinstance(options, dict):
            options["initializer"] = end_with_parent

    def setup(self, **about: Any) -> None:
        """The launcher inside is set up already."""

    def launch(self, job_overrides: Sequence[Sequence[str]], initial_job_idx: int) -> Sequence[JobReturn]:
        try:
            names = self._watched.plan(initial_job_idx, job_overrides)
            mask_files(self._folder)
            with self._watched.watching(initial_job_idx, job_overrides), self._none_left_in_a_queue():
                return self._launch(job_overrides, initial_job_idx, names)
        except OSError as error:
            _stop(f"{type(error).__name__}: {error}")
        except _WorkerKilledError:
            _stop("a worker process was killed, and on_error is stop")

    def _launch(self, overrides: Sequence[Sequence[str]], first: int, names: Sequence[str]) -> Sequence[JobReturn]:
        jobs = {job: with_threads(own, self._threads) for job, own in enumerate(overrides, first)}
        named = dict(zip(jobs, names, strict=True))
        try:
            returned = self._launcher.launch(list(jobs.values()), first)
        except Exception as error:
            if not _has_died(error):
                raise
            self._let_the_rest_end()
            self._go_on_without_the_dead(jobs, named)
            returned = [JobReturn(status=JobStatus.COMPLETED) for _ in jobs]
        postponed = [job for job in jobs if is_postponed(self._folder / str(job)) and not has_ended(self._folder, job)]
        if postponed:
            self._try(jobs, postponed)
            self._call_killed([job for job in postponed if not has_ended(self._folder, job)], named)
        return returned

    def _go_on_without_the_dead(self, jobs: dict[int, Sequence[str]], names: dict[int, str]) -> None:
        """Run what had not started, then, each in a pool of its own, what had: with one worker all of a pool die."""
        while self._go_on:
            waiting = [job for job in jobs if not has_started(self._folder, job)]
            if not waiting or not self._try(jobs, waiting):
                break
        dead = [job for job in jobs if has_started(self._folder, job) and not has_ended(self._folder, job)]
        for job in dead:
            if self._go_on:
                self._try(jobs, [job])
            if not has_ended(self._folder, job) and not is_postponed(self._folder / str(job)):
                self._call_killed([job], names)
        if not self._go_on and not dead:
            sys.exit(1)  # no worker was killed: a cell failed, and its worker stopped as it was asked to
        if not self._go_on:
            raise _WorkerKilledError

    def _call_killed(self, jobs: Sequence[int], names: dict[int, str]) -> None:
        for job in jobs:
            write_outcome(self._folder / str(job), {"status": "failed", "choices": names[job], "error": KILLED})

    @contextmanager
    def _none_left_in_a_queue(self) -> Iterator[None]:
        try:
            yield
        except BaseException:
            cancel_jobs(self._launcher)
            raise

    def _let_the_rest_end(self) -> None:
        """Slurm's other jobs know nothing of the one that died: a second try must not meet them."""
        if self._go_on:
            wait_for_jobs(self._launcher)

    def _try(self, jobs: dict[int, Sequence[str]], numbers: Sequence[int]) -> bool:
        """Launch these jobs again; whether any of them has started."""
        for first, last in _blocks(numbers):
            try:
                self._launcher.launch([jobs[job] for job in range(first, last + 1)], first)
            except Exception as error:
                if not _has_died(error):
                    raise
                self._let_the_rest_end()
        return any(has_started(self._folder, job) for job in numbers)


def _has_died(error: Exception) -> bool:
    """Whether a launcher says with ``error`` that a worker has died. Ray is left: what still runs there must not meet
    the second try."""
    if isinstance(error, BrokenProcessPool):
        return True
    submitit, ray = loaded("submitit"), loaded("ray")
    if ray is not None and isinstance(error, ray.exceptions.RayError):
        ray.shutdown()
        return True
    return submitit is not None and isinstance(error, submitit.core.utils.UncompletedJobError)


def _blocks(numbers: Sequence[int]) -> Iterator[tuple[int, int]]:
    """First and last of each stretch without a gap: a launcher counts its jobs upwards from the first."""
    first = last = numbers[0]
    for number in numbers[1:]:
        if number != last + 1:
            yield first, last
            first = number
        last = number
    yield first, last


def _stop(why: str) -> NoReturn:
    """End the sweep; an exception would end it with Hydra's traceback. The summary comes all the same."""
    Terminal().error(f"the sweep was cut short: {why}. Finished cells are kept; the same command goes on from there.")
    sys.exit(1)
