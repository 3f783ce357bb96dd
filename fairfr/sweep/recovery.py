"""Launch the jobs of a sweep with any launcher, and once more those whose worker died.

What became of a job is read from its folder, so no launcher is known here. The folder exists: the job has started. It
has an outcome: the job has ended. Its lock is taken: the job runs.
"""

from __future__ import annotations

import contextlib
import itertools
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

from hydra.plugins.launcher import Launcher

from fairfr.core.errors import FairfrError
from fairfr.store.locks import is_locked
from fairfr.store.sweep_record import CellOutcome, has_ended, has_started, write_outcome
from fairfr.sweep.workers import JOB_LOCK, cancel_jobs

KILLED = "its worker process was killed (by the system, when memory is short): fewer jobs at once may help."
POLL = 0.2  # seconds between two looks at jobs that outlived their launcher


class LaunchError(FairfrError):
    """The launcher did not start all jobs, or a worker died in a sweep that stops at the first failure."""


class RecoveringLauncher:
    """Runs every job of a sweep, those whose worker died twice.

    One worker that dies may end the launcher, and all other workers with it. So the jobs that had not started are
    launched again together, and those that had, one of which is the cause, each alone.

    Parameters
    ----------
    launcher : Launcher
        Any launcher of Hydra's.
    folder : Path
        The sweep's folder, where job 3 has the folder ``3``.
    jobs : sequence of sequences of str
        The overrides of each job.
    names : sequence of str
        What each job is called in its outcome if it dies twice.
    """

    def __init__(self, launcher: Launcher, folder: Path, jobs: Sequence[Sequence[str]], names: Sequence[str]) -> None:
        self._launcher = launcher
        self._folder = folder
        self._jobs = jobs
        self._names = names
        self._error: Exception | None = None

    def run(self, stop_at_error: bool = False) -> None:
        """Run all jobs. ``stop_at_error``: nothing is launched twice.

        Raises
        ------
        LaunchError
            No job could be started at all, some could not, or a worker died and ``stop_at_error`` is set.
        """
        self._launch(0, len(self._jobs))
        if stop_at_error:
            if self._error is not None and self._unfinished():
                raise LaunchError("a worker process was killed, and on_error is stop.")
            return
        self._launch_waiting()
        for job in self._unfinished():
            self._launch(job, job + 1)
            if not has_ended(self._folder, job) and self._error is not None:
                with contextlib.suppress(OSError):  # on a full disk the summary says that it did not end
                    outcome = CellOutcome("failed", self._names[job], KILLED)
                    write_outcome(self._folder / str(job), outcome)
        if self._waiting() and self._error is not None:
            raise LaunchError(f"the launcher did not start all runs: {type(self._error).__name__}: {self._error}")

    def _launch(self, first: int, end: int) -> None:
        """Launch the jobs from ``first`` to before ``end``, and return when none of them runs any more."""
        try:
            self._launcher.launch(self._jobs[first:end], first)
        except OSError:  # a full disk: a second try would end in the same way
            raise
        except Exception as error:
            self._error = error
            cancel_jobs(self._launcher, only_waiting=True)
            locks = [self._folder / str(job) / JOB_LOCK for job in range(first, end)]
            while any(is_locked(lock) for lock in locks):
                time.sleep(POLL)
        except BaseException:
            cancel_jobs(self._launcher)
            raise

    def _launch_waiting(self) -> None:
        """Launch the jobs that have not started, until none is left or none of them starts."""
        waiting = self._waiting()
        while waiting:
            for first, end in _stretches(waiting):
                self._launch(first, end)
            left = self._waiting()
            if left == waiting:
                return
            waiting = left

    def _waiting(self) -> list[int]:
        return [job for job in range(len(self._jobs)) if not has_started(self._folder, job)]

    def _unfinished(self) -> list[int]:
        """The jobs that have started, and left no outcome."""
        started = [job for job in range(len(self._jobs)) if has_started(self._folder, job)]
        return [job for job in started if not has_ended(self._folder, job)]


def _stretches(numbers: Sequence[int]) -> Iterator[tuple[int, int]]:
    """Begin and end of each stretch without a gap: a launcher counts its jobs upwards from the first."""
    first = numbers[0]
    for before, number in itertools.pairwise(numbers):
        if number != before + 1:
            yield first, before + 1
            first = number
    yield first, numbers[-1] + 1
