"""How a sweep's jobs are started: by whatever launcher Hydra uses, watched.

The plan is written down first, so that a sweep cut short can say what did not run; workers end with the sweep; and a
worker that dies takes only its own cell with it.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures.process import BrokenProcessPool
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any, NoReturn

from hydra.core.plugins import Plugins
from hydra.core.utils import JobReturn, JobStatus
from hydra.plugins.launcher import Launcher

from fairfr.app.terminal import Terminal
from fairfr.core.parent import end_with_parent
from fairfr.store.secrets import mask_files
from fairfr.store.sweep import has_ended, has_started, write_outcome

Plan = Callable[[int, Sequence[Sequence[str]]], Sequence[str]]
Watching = Callable[[int, Sequence[Sequence[str]]], AbstractContextManager[None]]
KILLED = "its worker process was killed (by the system, when memory is short): fewer jobs at once may help."


def watch_launcher(plan: Plan, watching: Watching, folder: Path, go_on: bool) -> None:
    """Put a watch on the next launcher that Hydra makes, for one sweep.

    ``plan`` gets the jobs before they start, and names them; ``watching`` shows them while they run; ``folder`` is
    where they leave their outcomes; ``go_on``: also when a worker dies. Hydra takes launchers only from packages of
    its own, so the place where it makes one is wrapped, and unwrapped at once: what it holds is sent to workers.
    """
    plugins = Plugins.instance()
    make = plugins.instantiate_launcher

    def instantiate_launcher(*arguments: Any, **options: Any) -> Launcher:
        del plugins.instantiate_launcher  # the method of the class is there again
        return WatchedLauncher(make(*arguments, **options), plan, watching, folder, go_on)

    plugins.instantiate_launcher = instantiate_launcher  # type: ignore[method-assign]


class _WorkerKilledError(Exception):
    """A worker died in a sweep that stops at the first failure."""


class WatchedLauncher(Launcher):
    """Another launcher, with a plan, and with a second try for jobs whose worker died."""

    def __init__(self, launcher: Launcher, plan: Plan, watching: Watching, folder: Path, go_on: bool) -> None:
        self._launcher, self._plan, self._watching = launcher, plan, watching
        self._folder, self._go_on = folder, go_on
        options = getattr(launcher, "joblib", None)
        if isinstance(options, dict):
            options["initializer"] = end_with_parent

    def setup(self, **about: Any) -> None:
        """The launcher inside is set up already."""

    def launch(self, job_overrides: Sequence[Sequence[str]], initial_job_idx: int) -> Sequence[JobReturn]:
        try:
            names = self._plan(initial_job_idx, job_overrides)
            mask_files(self._folder)
            with self._watching(initial_job_idx, job_overrides):
                return self._launch(job_overrides, initial_job_idx, names)
        except OSError as error:
            _stop(f"{type(error).__name__}: {error}")
        except _WorkerKilledError:
            _stop("a worker process was killed, and on_error is stop")

    def _launch(self, overrides: Sequence[Sequence[str]], first: int, names: Sequence[str]) -> Sequence[JobReturn]:
        try:
            return self._launcher.launch(overrides, first)
        except BrokenProcessPool:
            jobs = dict(enumerate(overrides, first))
            self._go_on_without_the_dead(jobs, dict(zip(jobs, names, strict=True)))
            return [JobReturn(status=JobStatus.COMPLETED) for _ in jobs]

    def _go_on_without_the_dead(self, jobs: dict[int, Sequence[str]], names: dict[int, str]) -> None:
        """Run what had not started, then, each in a pool of its own, what had: with one worker all of a pool die."""
        while self._go_on:
            waiting = [job for job in jobs if not has_started(self._folder, job)]
            if not waiting or not self._try(jobs, waiting):
                break
        for job in [job for job in jobs if has_started(self._folder, job) and not has_ended(self._folder, job)]:
            if self._go_on:
                self._try(jobs, [job])
            if not has_ended(self._folder, job):
                write_outcome(self._folder / str(job), {"status": "failed", "choices": names[job], "error": KILLED})
        if not self._go_on:
            raise _WorkerKilledError

    def _try(self, jobs: dict[int, Sequence[str]], numbers: Sequence[int]) -> bool:
        """Launch these jobs again; whether any of them has started."""
        try:
            for first, last in _blocks(numbers):
                self._launcher.launch([jobs[job] for job in range(first, last + 1)], first)
        except BrokenProcessPool:
            pass
        return any(has_started(self._folder, job) for job in numbers)


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
