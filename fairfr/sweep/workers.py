"""How many cells run at once, and with how many threads each: together no more than there are cores.

Launchers differ in what they look after themselves. joblib counts processes and divides the threads of some libraries;
Ray counts the cores that each job asks for, but not its threads; submitit starts all local jobs at once, with all cores
for each. On Slurm each job has its own cores, and Slurm counts them.
"""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from hydra.core.utils import JobReturn
from hydra.plugins.launcher import Launcher
from omegaconf import DictConfig, OmegaConf, open_dict

from fairfr.runner.threads import available_cores, resolve_threads


class Share(NamedTuple):
    """``jobs`` at the same time, each with ``threads``; None: as the machine on which it runs has."""

    jobs: int = 1
    threads: int | None = None


def share_of(launcher: Mapping[str, Any], asked: int | None) -> Share:
    """How a launcher shares this machine, or Slurm's. ``asked``: threads that the user wants for each job.

    The user's threads come before the number of jobs: they may decide a result's last digits.
    """
    name, cores = str(launcher.get("_target_", "")).rpartition(".")[2], available_cores()
    if name == "JoblibLauncher":
        wanted = launcher.get("n_jobs") or 1
        jobs = min(cores, wanted if wanted > 0 else max(1, cores + 1 + wanted))
        each = asked or max(1, min(resolve_threads(None), cores // jobs))
        return Share(max(1, min(jobs, cores // each)), each)
    if name == "LocalLauncher":
        each = asked or launcher.get("cpus_per_task") or 1
        return Share(max(1, cores // each), each)
    if name == "SlurmLauncher":
        return Share(int(launcher.get("array_parallelism") or 1), asked)
    if name == "RayLauncher":
        init, remote = launcher["ray"]["init"], launcher["ray"]["remote"]
        each = max(1, asked or int(remote.get("num_cpus") or 1))
        return Share(max(1, min(cores, int(init.get("num_cpus") or cores)) // each), each)
    return Share()


def divide(launcher: Any, share: Share) -> Launcher:
    """The launcher, told to keep to its share."""
    name = type(launcher).__name__
    if name == "JoblibLauncher":
        launcher.joblib["n_jobs"] = share.jobs
    elif name == "RayLauncher":
        _divide_ray(launcher.ray_cfg, share)
        return Connected(launcher)
    elif name == "SlurmLauncher" and share.threads is not None:
        launcher.params["cpus_per_task"] = max(share.threads, launcher.params.get("cpus_per_task") or 1)
    elif name == "LocalLauncher":
        return OneByOne(launcher, share.jobs)
    return launcher  # type: ignore[no-any-return]


def _divide_ray(settings: DictConfig, share: Share) -> None:
    """Ray hands out cores: a job asks for one for each of its threads. A cluster that is there has its own number."""
    with open_dict(settings):
        settings.remote.num_cpus = max(share.threads or 1, settings.remote.get("num_cpus") or 1)
        settings.remote.setdefault("max_retries", 0)  # what dies is tried again here, as with other launchers
        if settings.init.get("address") is None and not os.environ.get("RAY_ADDRESS"):
            settings.init.address = "local"
            settings.init.num_cpus = min(available_cores(), settings.init.get("num_cpus") or available_cores())
            settings.init.setdefault("include_dashboard", False)
        settings.init.setdefault("logging_level", "ERROR")
        settings.init.setdefault("log_to_driver", False)  # the display alone writes to the terminal


def with_threads(job: Sequence[str], threads: int | None) -> Sequence[str]:
    """What a job overrides, with its share of the threads, unless it names a number itself."""
    if threads is None or asked_threads(job) is not None:
        return job
    return [*(override for override in job if not override.startswith("threads=")), f"threads={threads}"]


def asked_threads(overrides: Sequence[str]) -> int | None:
    """The threads that a job, or a command line, names; the most if it names several."""
    named = [override.partition("=")[2] for override in overrides if override.startswith("threads=")]
    return max((int(value) for value in (named or [""])[-1].split(",") if value.isdigit()), default=None)


class Connected(Launcher):
    """A Ray launcher, with Ray started or its cluster found: the launcher itself asks for a store of objects of a
    certain size, which no cluster allows."""

    def __init__(self, launcher: Any) -> None:
        self._launcher = launcher
        # As they are now: the launcher adds that size, and after a node's death Ray is found a second time.
        self._settings: Any = OmegaConf.to_container(launcher.ray_cfg.init, resolve=True)

    def setup(self, **about: Any) -> None:
        """The launcher inside is set up already."""

    def launch(self, job_overrides: Sequence[Sequence[str]], initial_job_idx: int) -> Sequence[JobReturn]:
        import ray

        if not ray.is_initialized():
            try:
                ray.init(**self._settings)
            except Exception as error:  # a busy machine, or no cluster at the address: Ray has no type for it
                raise ConnectionError(f"Ray did not start, or was not found: {error}") from error
        return self._launcher.launch(job_overrides, initial_job_idx)  # type: ignore[no-any-return]


class OneByOne(Launcher):
    """Another launcher that would start all jobs at once: it gets one at a time, from each of ``jobs`` threads.

    After one whose worker died no other is started, and its error is raised when those that run are through.
    """

    def __init__(self, launcher: Launcher, jobs: int) -> None:
        self._launcher, self._jobs = launcher, jobs

    def setup(self, **about: Any) -> None:
        """The launcher inside is set up already."""

    def launch(self, job_overrides: Sequence[Sequence[str]], initial_job_idx: int) -> Sequence[JobReturn]:
        waiting = enumerate(job_overrides, initial_job_idx)
        returned: dict[int, JobReturn] = {}
        errors: list[BaseException] = []
        lock = threading.Lock()
        workers = [
            threading.Thread(target=self._work, args=(waiting, lock, returned, errors), daemon=True)
            for _ in range(min(self._jobs, len(job_overrides)))
        ]
        for worker in workers:
            worker.start()
        for worker in workers:
            worker.join()
        if errors:
            raise errors[0]
        return [returned[number] for number in sorted(returned)]

    def _work(
        self,
        waiting: Iterator[tuple[int, Sequence[str]]],
        lock: threading.Lock,
        returned: dict[int, JobReturn],
        errors: list[BaseException],
    ) -> None:
        # Processes started here inherit this: Ctrl-C is for the sweep, which ends them without their tracebacks.
        signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
        while True:
            with lock:
                number, overrides = (None, ()) if errors else next(waiting, (None, ()))
            if number is None:
                return
            try:
                (returned[number],) = self._launcher.launch([overrides], number)
            except BaseException as error:
                errors.append(error)
