"""File locks: waited for as long as somebody has them, and not needed where a disk has none."""

from __future__ import annotations

import errno
import multiprocessing
import os
import threading
from pathlib import Path

import pytest

from fairfr.store.locks import clear_lock, locked


def test_a_lock_is_waited_for_and_then_taken(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("fairfr.store.locks.POLL", 0.001)
    path, has_it, may_end = tmp_path / "cell.lock", threading.Event(), threading.Event()
    order: list[str] = []

    def first() -> None:
        with locked(path):
            has_it.set()
            may_end.wait()
            order.append("first")

    def waits() -> None:
        order.append("waits")
        may_end.set()

    other = threading.Thread(target=first)
    other.start()
    has_it.wait()
    assert not clear_lock(path)
    with locked(path, waits):
        order.append("second")
    other.join()
    assert order == ["waits", "first", "second"]
    assert list(tmp_path.iterdir()) == [] and clear_lock(path)


def _die_with_it(path: Path) -> None:
    with locked(path):
        os._exit(9)


@pytest.mark.kill
def test_a_lock_of_a_process_that_died_is_free(tmp_path: Path) -> None:
    path = tmp_path / "cell.lock"
    process = multiprocessing.get_context("spawn").Process(target=_die_with_it, args=(path,))
    process.start()
    process.join()
    assert process.exitcode == 9 and path.exists()
    waited: list[str] = []
    with locked(path, lambda: waited.append("once")):
        assert waited == []
    assert clear_lock(path) and list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("code", [errno.ENOSYS, errno.ENOLCK, errno.EOPNOTSUPP])
def test_where_a_disk_has_no_locks_nobody_waits_and_nobody_is_thought_dead(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, code: int
) -> None:
    def no_lock(*arguments: object) -> None:
        raise OSError(code, os.strerror(code))

    monkeypatch.setattr("fcntl.flock", no_lock)
    path, inside = tmp_path / "cell.lock", 0
    with locked(path):
        inside += 1
        assert not clear_lock(path)
        with locked(path, pytest.fail):
            inside += 1
    assert inside == 2 and list(tmp_path.iterdir()) == []


def test_an_error_of_the_disk_itself_is_raised(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(OSError, match="file"), locked(tmp_path / "file" / "cell.lock"):
        pass


def test_an_error_inside_lets_go_of_the_lock(tmp_path: Path) -> None:
    path = tmp_path / "cell.lock"
    with pytest.raises(KeyboardInterrupt), locked(path):
        raise KeyboardInterrupt
    assert clear_lock(path)
