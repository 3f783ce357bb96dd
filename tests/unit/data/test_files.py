"""The bytes of data files, and when they need not be read again."""

from __future__ import annotations

import hashlib
import os
from pathlib import Path
from typing import Any

import pytest

from fairfr.data import files
from fairfr.data.files import DataFile


@pytest.fixture
def hashed(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The files that are hashed, as if all had been left alone for long."""
    read: list[str] = []
    digest = hashlib.file_digest

    def counted(handle: Any, name: str) -> Any:
        read.append(Path(handle.name).name)
        return digest(handle, name)

    monkeypatch.setattr(files.hashlib, "file_digest", counted)
    monkeypatch.setattr(files._Digests, "settled_ns", -(10**18))
    return read


def test_a_file_is_hashed_once_while_nobody_touches_it(tmp_path: Path, hashed: list[str]) -> None:
    path = tmp_path / "a.csv"
    path.write_bytes(b"one")
    assert DataFile.at(path) == DataFile.at(path) == DataFile(path, hashlib.sha256(b"one").hexdigest())
    assert hashed == ["a.csv"]


def test_a_changed_file_is_hashed_again_whatever_its_time_says(tmp_path: Path, hashed: list[str]) -> None:
    path = tmp_path / "a.csv"
    path.write_bytes(b"one")
    DataFile.at(path)
    before = os.stat(path)
    while os.stat(path).st_ctime_ns == before.st_ctime_ns:  # a tick of the system's clock
        path.write_bytes(b"two")
        os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert DataFile.at(path).digest == hashlib.sha256(b"two").hexdigest()
    other = tmp_path / "b.csv"
    other.write_bytes(b"six")
    os.replace(other, path)
    assert DataFile.at(path).digest == hashlib.sha256(b"six").hexdigest()
    assert len(hashed) == 3


def test_a_file_just_written_is_not_taken_for_known(
    tmp_path: Path, hashed: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(files._Digests, "settled_ns", 10**18)
    path = tmp_path / "a.csv"
    path.write_bytes(b"one")
    DataFile.at(path)
    DataFile.at(path)
    assert hashed == ["a.csv", "a.csv"]
