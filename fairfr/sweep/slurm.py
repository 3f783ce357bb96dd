"""Slurm's jobs of a sweep: they run, or wait in its queue, whatever becomes of the launcher that submitted them."""

from __future__ import annotations

import contextlib
import subprocess
from typing import Any

from fairfr.core.threads import loaded

PATIENCE = 0.5  # seconds for scancel: an interrupted sweep has little more


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
