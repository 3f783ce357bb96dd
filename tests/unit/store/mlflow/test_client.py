"""Opening a database: whole, or not there."""

from __future__ import annotations

import sqlite3
import sys
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace

import pytest

from fairfr.store.mlflow.client import MlflowError, database_lock, default_uri, mlflow_errors


class EndedError(BaseException):
    """The process ends."""


def half(uri: str) -> None:
    Path(uri.removeprefix("sqlite:///")).write_text("half of the tables")
    raise EndedError


def whole(uri: str) -> None:
    sqlite3.connect(uri.removeprefix("sqlite:///")).execute("CREATE TABLE runs (id)")


@pytest.fixture
def made_by(monkeypatch: pytest.MonkeyPatch) -> Callable[[Callable[[str], None]], None]:
    """Put a stand-in where MLflow makes its tables."""

    def replace(client: Callable[[str], None]) -> None:
        monkeypatch.setitem(sys.modules, "mlflow.tracking", SimpleNamespace(MlflowClient=client))

    return replace


def test_a_database_whose_making_was_cut_short_is_made_again(
    tmp_path: Path, made_by: Callable[[Callable[[str], None]], None]
) -> None:
    made_by(half)
    with pytest.raises(EndedError), database_lock(default_uri(tmp_path), 1.0):
        pass
    assert not (tmp_path / "mlflow.db").exists()
    made_by(whole)
    with database_lock(default_uri(tmp_path), 1.0):
        assert sqlite3.connect(tmp_path / "mlflow.db").execute("SELECT * FROM runs").fetchall() == []
    assert {path.name for path in tmp_path.iterdir()} <= {"mlflow.db", "mlflow.db.lock"}, "nothing is left behind"


def test_a_file_that_is_no_database_is_told_before_mlflow_tries(tmp_path: Path) -> None:
    (tmp_path / "mlflow.db").write_text("not a database at all")
    with pytest.raises(sqlite3.DatabaseError), database_lock(default_uri(tmp_path), 1.0):
        pass


def test_what_mlflow_raises_names_the_store_and_no_password() -> None:
    with (
        pytest.raises(MlflowError, match=r"^http://me:\*\*\*@server: no room$"),
        mlflow_errors("http://me:s3cret@server"),
    ):
        raise OSError("no room\n[SQL: SELECT ...]")
