"""Slurm's jobs of a sweep are cancelled when nobody waits for them any more."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
import submitit

from fairfr.sweep.slurm import cancel_jobs


class SlurmLauncher:
    def __init__(self, folder: Path) -> None:
        self.params = {"submitit_folder": str(folder / "%j")}


@pytest.fixture
def launcher(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> SlurmLauncher:
    """One that has submitted an array of two jobs, and then a single one; another sweep's job lies in its folder."""
    monkeypatch.setattr(submitit.SlurmJob.watcher, "_registered", set())
    for job in ("7_0", "7_1", "9", "8"):
        (tmp_path / job).mkdir()
        (tmp_path / job / f"{job}_submitted.pkl").touch()
    for job in ("7", "7_0", "7_1", "9"):
        submitit.SlurmJob(tmp_path / "%j", job)
    return SlurmLauncher(tmp_path)


def test_arrays_are_cancelled_as_a_whole(
    launcher: SlurmLauncher, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    scancel = tmp_path / "scancel"
    scancel.write_text(f'#!/bin/sh\necho "$@" > {tmp_path}/said\n')
    scancel.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}{os.pathsep}{os.environ['PATH']}")
    cancel_jobs(object())
    assert not (tmp_path / "said").exists()
    cancel_jobs(launcher)
    assert (tmp_path / "said").read_text().split() == ["--quiet", "7", "9"]
    cancel_jobs(launcher, only_waiting=True)
    assert (tmp_path / "said").read_text().split() == ["--quiet", "--state=PENDING", "7", "9"], "what runs goes on"


def test_without_scancel_the_jobs_end_by_themselves(launcher: SlurmLauncher, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "")
    cancel_jobs(launcher)
