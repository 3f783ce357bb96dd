"""The commit that a run names."""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import Any

from fairfr.runner.machine import code_version


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
