"""What MLflow has taken is remembered beside the runs, and nothing in that file is trusted."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from fairfr.store.mlflow.ledger import LEDGER, Ledger
from fairfr.store.settings import StoreSettings

SERVER = StoreSettings("mlflow", "http://user:secret@server:5000")


def test_what_was_added_is_there_for_the_next_process_without_the_password(tmp_path: Path) -> None:
    Ledger(SERVER, tmp_path).add("key", "state", "run")
    again = Ledger(SERVER, tmp_path)
    assert again.has("key", "state") and not again.has("key", "other") and not again.has("other", "state")
    assert not Ledger(StoreSettings("mlflow", "http://other:5000"), tmp_path).has("key", "state")
    assert "secret" not in (tmp_path / LEDGER).read_text()


@pytest.mark.parametrize(
    "odd", [b"[" * 100_000, b"5", b"null", b"[1, 2]", b"\xff\xfe", b'["a", "b", [], {}, 5]', b"\0"]
)
def test_a_line_that_is_none_costs_nothing_else(tmp_path: Path, odd: bytes) -> None:
    path = tmp_path / LEDGER
    path.write_bytes(odd + b"\n")
    Ledger(SERVER, tmp_path).add("key", "state", "run")
    path.write_bytes(path.read_bytes() + odd)
    assert Ledger(SERVER, tmp_path).has("key", "state")


def test_a_link_and_a_pipe_in_its_place_are_not_read(tmp_path: Path) -> None:
    for make in (lambda path: path.symlink_to(tmp_path / "elsewhere"), os.mkfifo):
        path = tmp_path / LEDGER
        make(path)
        ledger = Ledger(SERVER, tmp_path)
        ledger.add("key", "state", "run")
        assert ledger.has("key", "state") and not (tmp_path / "elsewhere").exists()
        path.unlink()
