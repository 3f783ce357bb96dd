"""The commit that a run names, and memory that is used again."""

from __future__ import annotations

import platform
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from fairfr.experiment.machine import code_version


def git(folder: Path, *arguments: str) -> str:
    identity = ["-c", "user.name=me", "-c", "user.email=me@example.org"]
    return subprocess.run(["git", *identity, *arguments], cwd=folder, check=True, capture_output=True, text=True).stdout


def test_the_commit_is_that_of_the_checkout_and_dirty_means_other_code(tmp_path: Path) -> None:
    package = tmp_path / "project" / "package"
    installed = tmp_path / "project" / ".venv" / "package"
    for folder in (package, installed):
        folder.mkdir(parents=True)
        (folder / "__init__.py").write_text("")
    assert code_version(package) is None, "no repository"
    git(package.parent, "init")
    git(package.parent, "add", "package")
    git(package.parent, "commit", "-m", "first")
    commit = git(package, "rev-parse", "HEAD").strip()

    def now() -> dict[str, Any] | None:
        code_version.cache_clear()
        return code_version(package)

    (package.parent / "notes.txt").write_text("of no consequence")
    assert now() == {"commit": commit, "dirty": False}
    (package / "new.py").write_text("")
    assert now() == {"commit": commit, "dirty": True}, "a file that git does not know"
    (package / "new.py").unlink()
    (package / "__init__.py").write_text("x = 1")
    assert code_version(package) == {"commit": commit, "dirty": True}, "asked once"
    assert now() == {"commit": commit, "dirty": True}
    assert code_version(installed) is None, "installed inside somebody else's repository"


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="another C library")
def test_freed_memory_is_used_again() -> None:
    """Without it the second text of 24 MB gets fresh pages: 6,144 faults, or twelve where they are huge."""
    code = """
import resource
from fairfr.experiment.machine import keep_freed_memory

def faults_of_a_text():
    before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
    len(b"x" * (24 * 2**20))
    return resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before

keep_freed_memory()
faults_of_a_text()
print(faults_of_a_text())
"""
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    assert int(done.stdout) < 6


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="another C library")
def test_freed_memory_is_given_back() -> None:
    code = """
from pathlib import Path
from fairfr.experiment.machine import give_back_freed_memory, keep_freed_memory

def resident_mb():
    return int(Path("/proc/self/statm").read_text().split()[1]) * 4096 // 2**20

keep_freed_memory()
before = resident_mb()
texts = [b"x" * (2 * 2**20) for _ in range(50)]
last = b"y" * 1000
del texts
give_back_freed_memory()
print(resident_mb() - before)
"""
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    assert int(done.stdout) < 50
