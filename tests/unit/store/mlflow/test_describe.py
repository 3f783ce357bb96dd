"""What MLflow is told: metric names that never meet, the commit, and no passwords."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from fairfr.experiment.machine import code_version
from fairfr.store.mlflow.describe import _plain, metrics_of, tags_of
from fairfr.store.secrets import mask_files, masked, without_passwords

TAKEN = re.compile(r"[/\w.\- ]+")  # by MLflow, of every version and on every system


def row(grouping: str, rule: str, group: str, mean: float, metric: str = "auroc") -> dict[str, Any]:
    return {"grouping": grouping, "rule": rule, "group": group, "metric": metric, "mean": mean}


def test_no_attribute_or_group_takes_the_place_of_another_number() -> None:
    rows = [
        row("all", "all", "all", 0.1),
        row("all", "first", "asian", 0.2),  # an attribute called "all"
        row("all", "first", "worst", 0.3),
        row("worst", "first", "first", 0.4),  # an attribute called "worst", with a group called "first"
        row("first", "first", "worst", 0.5),
        *(row("age", "both", group, 0.6 + i / 100) for i, group in enumerate(["a/b", "a_b", "a.x2f.b", "..", "a b"])),
        *(row("age", "both", "x" * 300 + end, 0.8) for end in "ab"),
    ]
    named = dict(metrics_of({"metrics": rows}))
    assert sorted(named.values()) == sorted(r["mean"] for r in rows)
    assert named["auroc"] == 0.1 and named["worst/all/first/auroc"] == 0.3 and named["age/both/a_b/auroc"] == 0.61
    for name in named:
        assert TAKEN.fullmatch(name) and len(name) <= 250 and ".." not in name.split("/"), name


@given(st.text(min_size=1))
@example("a.x2f.b")
@example("./x")
def test_the_spelling_of_a_name_can_be_read_back(name: str) -> None:
    spelled = _plain(name)
    assert TAKEN.fullmatch(spelled) and "/" not in spelled and spelled.strip(".")
    assert re.sub(r"\.x([0-9a-f]+)\.", lambda found: chr(int(found[1], 16)), spelled) == name


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


@pytest.mark.parametrize("code", [None, {"commit": "ab12", "dirty": True}])
def test_mlflow_gets_the_commit_under_its_own_names(code: Any, tmp_path: Path) -> None:
    about = {noun: {"id": noun, "needs": []} for noun in ("dataset", "backbone", "method")}
    result = {**about, "key": "k", "status": "completed", "source": "files", "finished": "now"}
    result |= {"code": code, "differs": {}}
    tags = dict(tags_of(result, tmp_path))
    assert tags.get("mlflow.source.git.commit") == (code and "ab12")
    assert tags.get("mlflow.source.git.dirty") == (code and True)


@pytest.mark.parametrize(
    ("address", "shown"),
    [
        ("http://me:s3cret@server:5000", "http://me:***@server:5000"),
        ("http://me:s3/c@ret@server:5000/x", "http://me:***@server:5000/x"),
        ("https://token@server/x", "https://***@server/x"),
        ("postgresql+psycopg2://me:s3cret@server/db?sslmode=on", "postgresql+psycopg2://me:***@server/db?sslmode=on"),
        ("postgresql://server/db?user=me&password=s3cret&x=1", "postgresql://server/db?user=me&password=***&x=1"),
        ("http://server:5000", "http://server:5000"),
        ("sqlite:////home/me@work/mlflow.db", "sqlite:////home/me@work/mlflow.db"),
        ("refused by http://me:s3cret@server:5000, twice", "refused by http://me:***@server:5000, twice"),
    ],
)
def test_passwords_are_masked_and_nothing_else(address: str, shown: str) -> None:
    assert masked(address) == shown and masked(shown) == shown
    assert without_passwords({"store": {"uris": [address], "n": 1}}) == {"store": {"uris": [shown], "n": 1}}


def test_files_without_a_password_are_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "config.yaml"
    path.write_text("tracking_uri: http://server:5000\n")
    before = path.stat().st_mtime_ns
    mask_files(tmp_path, tmp_path / "missing")
    assert path.stat().st_mtime_ns == before and list(tmp_path.iterdir()) == [path]
