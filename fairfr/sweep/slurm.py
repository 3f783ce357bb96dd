"""Slurm's jobs of a sweep: they run, or wait in its queue, whatever becomes of the launcher that submitted them."""

from __future__ import annotations

import contextlib
import subprocess
from typing import Any

from fairfr.core.loaded import loaded

PATIENCE = 0.5  # seconds for scancel: an interrupted sweep has little more


def wait_for_jobs(launcher: Any) -> None:
    """Wait for all that a Slurm launcher has submitted; with another launcher there is nothing to wait for."""
    if not _is_slurm(launcher):
        return
    import submitit
    from submitit.core.utils import JobPaths

    folder = launcher.params["submitit_folder"]
    for job in _submitted():
        if JobPaths(folder, job_id=job).submitted_pickle.exists():  # an array as a whole has none
            submitit.SlurmJob(folder, job).wait()


def cancel_jobs(launcher: Any) -> None:
    """Cancel what a Slurm launcher has submitted: jobs that wait in the queue would else start, only to end."""
    jobs = sorted({job.partition("_")[0] for job in _submitted()}) if _is_slurm(launcher) else []
    if jobs:
        # in a session of its own: where Slurm is slow to answer, it goes on when this process has ended
        with contextlib.suppress(OSError, subprocess.TimeoutExpired):
            command, nowhere = ["scancel", "--quiet", *jobs], subprocess.DEVNULL
            subprocess.Popen(command, stdout=nowhere, stderr=nowhere, start_new_session=True).wait(PATIENCE)


def _is_slurm(launcher: Any) -> bool:
    return type(launcher).__name__ == "SlurmLauncher"


def _submitted() -> list[str]:
    """The ids of the jobs that this process has submitted, those of whole arrays too. submitit keeps them to ask Slurm
    about them; its folder may hold other sweeps' as well."""
    submitit = loaded("submitit")
    return sorted(submitit.SlurmJob.watcher._registered) if submitit else []
