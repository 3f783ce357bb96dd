"""How many cells run at once, with how many threads each, and how workers end with their sweep.

Concurrent cells times threads stay within the cores of this machine. joblib is told a number of workers; submitit on
this machine starts all that it gets, so it gets batches; on Slurm each job has its own cores, and Slurm counts them.
Ray gives each worker the number of threads of its ``num_cpus``, in OMP_NUM_THREADS.

Two file locks say who is alive: the conductor's, in the sweep's folder, and each job's, in the job's folder.
The system frees a lock when its process ends, however it ends. Slurm's jobs outlive the launcher that submitted
them, so they are cancelled.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import signal
import subprocess
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

from hydra.core.utils import JobReturn
from hydra.plugins.launcher import Launcher
from omegaconf import DictConfig, open_dict

from fairfr.core.threads import available_cores, loaded, resolve_threads
from fairfr.store.locks import locked, this_machine
from fairfr.store.sweep_record import SweepRecord

CONDUCTOR_LOCK = "conductor.lock"
JOB_LOCK = "job.lock"
WATCHER_NAME = "end-with-conductor"

PATIENCE = 0.5  # seconds for scancel: an interrupted sweep has little more


class WorkerBudget(NamedTuple):
    """How many jobs run at once, each with how many threads; None: as the launcher and its machine have it."""

    n_jobs: int | None = None
    threads: int | None = None


def worker_budget(launcher: Mapping[str, Any], asked_threads: int | None) -> WorkerBudget:
    """Divide the cores between jobs and threads.

    Parameters
    ----------
    launcher : mapping
        The configuration ``hydra.launcher``.
    asked_threads : int or None
        Threads that the user wants for each job. They come before the number of jobs: they may decide the last digits
        of a result.
    """
    name = launcher_name(launcher)
    cores = available_cores()
    if name == "JoblibLauncher":
        wanted = launcher.get("n_jobs") or 1
        if wanted < 0:
            wanted = max(1, cores + 1 + wanted)
        n_jobs = min(cores, wanted)
        threads = asked_threads or max(1, min(resolve_threads(None), cores // n_jobs))
        return WorkerBudget(max(1, min(n_jobs, cores // threads)), threads)
    if name == "LocalLauncher":
        threads = asked_threads or launcher.get("cpus_per_task") or 1
        return WorkerBudget(max(1, cores // threads), threads)
    if name == "SlurmLauncher":
        return WorkerBudget(None, asked_threads)
    return WorkerBudget()


def limit_launcher(launcher: DictConfig, budget: WorkerBudget) -> None:
    """Write a budget into the configuration ``hydra.launcher``, under the name that the launcher has for it."""
    name = launcher_name(launcher)
    with open_dict(launcher):
        if name == "JoblibLauncher":
            launcher.n_jobs = budget.n_jobs
            launcher.batch_size = 1  # "auto" puts short jobs together, and a worker that dies takes all of them along
        elif name == "SlurmLauncher" and budget.threads is not None:
            launcher.cpus_per_task = max(budget.threads, launcher.get("cpus_per_task") or 1)


def launcher_name(launcher: Mapping[str, Any]) -> str:
    """The class of a launcher, by its configuration."""
    return str(launcher.get("_target_", "")).rpartition(".")[2]


def with_threads(job: Sequence[str], threads: int | None) -> list[str]:
    """What a job overrides, with a number of threads unless it names one itself."""
    if threads is None or asked_threads(job) is not None:
        return list(job)
    others = [override for override in job if not override.startswith("threads=")]
    return [*others, f"threads={threads}"]


def asked_threads(overrides: Sequence[str]) -> int | None:
    """The threads that a job, or a command line, names; the most if it names several."""
    named = [override.partition("=")[2] for override in overrides if override.startswith("threads=")]
    if not named:
        return None
    numbers = [int(value) for value in named[-1].split(",") if value.isdigit()]
    return max(numbers, default=None)


class LaunchInBatches(Launcher):
    """A launcher that starts all jobs at once, given ``size`` of them at a time."""

    def __init__(self, launcher: Launcher, size: int) -> None:
        self._launcher = launcher
        self._size = size

    def setup(self, **about: Any) -> None:
        """The launcher inside is set up already."""

    def launch(self, job_overrides: Sequence[Sequence[str]], initial_job_idx: int) -> Sequence[JobReturn]:
        """Launch one batch after another."""
        returned: list[JobReturn] = []
        for first in range(0, len(job_overrides), self._size):
            batch = job_overrides[first : first + self._size]
            returned.extend(self._launch_batch(batch, initial_job_idx + first))
        return returned

    def _launch_batch(self, jobs: Sequence[Sequence[str]], first: int) -> list[JobReturn]:
        """Launch some jobs from a thread. The processes that it starts ignore Ctrl-C, as it does itself: they end with
        the conductor, without tracebacks of their own."""
        returned: list[JobReturn] = []
        errors: list[BaseException] = []

        def work() -> None:
            signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
            try:
                returned.extend(self._launcher.launch(jobs, first))
            except BaseException as error:
                errors.append(error)

        thread = threading.Thread(target=work, daemon=True)  # Ctrl-C does not wait for it
        thread.start()
        thread.join()
        if errors:
            raise errors[0]
        return returned


@contextmanager
def conducting(folder: Path) -> Iterator[dict[str, Any] | None]:
    """Have the conductor's lock of the sweep in ``folder``; when it is free, its workers on this machine end.

    Yields what workers need to know about this process, for ``Sweep.process``.
    """
    folder.mkdir(parents=True, exist_ok=True)
    with locked(folder / CONDUCTOR_LOCK):
        yield {"machine": this_machine(), "pid": os.getpid()}


def end_with_conductor(folder: Path) -> None:
    """End this process, a worker, as soon as the process that conducts the sweep in ``folder`` has ended.

    On another machine that cannot be known: there a cell that runs goes on. Called again, it does nothing.
    """
    sweep = SweepRecord.read(folder)
    if sweep is None or sweep.process is None:
        return
    is_conductor = sweep.process.get("pid") == os.getpid()
    is_elsewhere = sweep.process.get("machine") != this_machine()
    is_watching = any(thread.name == WATCHER_NAME for thread in threading.enumerate())
    if is_conductor or is_elsewhere or is_watching:
        return
    threading.Thread(target=_wait_for_end, args=(folder,), daemon=True, name=WATCHER_NAME).start()


def _wait_for_end(folder: Path) -> None:
    try:
        with (folder / CONDUCTOR_LOCK).open("rb") as file:
            fcntl.flock(file, fcntl.LOCK_SH)
    except FileNotFoundError:  # it has ended already
        pass
    except OSError:  # a disk without locks: the cell goes on
        return
    os._exit(1)  # without clean-up: drafts of the dead are cleared by the next run, as after a kill


def cancel_jobs(launcher: Any, only_waiting: bool = False) -> None:
    """Cancel what a Slurm launcher has submitted: jobs that wait in the queue would start, only to end.

    ``only_waiting``: those that run go on. With another launcher there is nothing to do.
    """
    if type(launcher).__name__ != "SlurmLauncher":
        return
    jobs = _submitted_jobs()
    if not jobs:
        return
    options = ["--state=PENDING"] if only_waiting else []
    command = ["scancel", "--quiet", *options, *jobs]
    # In a session of its own: where Slurm is slow to answer, scancel goes on when this process has ended.
    with contextlib.suppress(OSError, subprocess.TimeoutExpired):
        process = subprocess.Popen(
            command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True
        )
        process.wait(PATIENCE)


def _submitted_jobs() -> list[str]:
    """The ids of the jobs that this process has submitted, an array as one. submitit keeps them to ask Slurm about
    them; its folder may have those of other sweeps as well."""
    submitit = loaded("submitit")
    if submitit is None:
        return []
    return sorted({job.partition("_")[0] for job in submitit.SlurmJob.watcher._registered})
