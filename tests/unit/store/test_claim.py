"""Claims: one process of several computes a run, and one that is gone does not keep it."""

from __future__ import annotations

import json
import multiprocessing
import os
import threading
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from fairfr.store.claim import FOLDER, Claim
from fairfr.store.owner import Owner

RUN = "0123456789abcdef"


class Clock:
    """Time that passes when told to."""

    now = 1000.0

    def __call__(self) -> float:
        return self.now


def files(out: Path) -> list[str]:
    return sorted(path.name for path in (out / FOLDER).glob("*")) if (out / FOLDER).exists() else []


def write_foreign(out: Path, count: int = 0, number: int = 1, **owner: Any) -> Path:
    """A claim as a process of another machine would leave it."""
    away = {**Owner.me().as_dict(), "boot": "another", **owner}
    path = out / FOLDER / f"{RUN}.{number}"
    path.parent.mkdir(exist_ok=True)
    about = {"who": "anna@node7 (process 12)", "since": "2026-01-01 00:00:00 UTC"}
    path.write_text(json.dumps({**about, "owner": away, "count": f"{count:09d}"}))
    return path


def test_the_first_has_it_until_it_is_released(tmp_path: Path) -> None:
    mine, other = Claim(tmp_path, RUN), Claim(tmp_path, RUN)
    assert mine.take() is None
    holder = other.take()
    assert holder is not None and f"(process {os.getpid()}) since 2" in holder
    assert Claim(tmp_path, "another").take() is None, "of another run"
    mine.release()
    assert other.take() is None
    other.release()
    assert files(tmp_path) == ["another.1"]


def test_a_foreign_claim_that_stands_still_is_taken_over_by_the_observers_clock(tmp_path: Path) -> None:
    """Its date is years old, or years ahead, and its process id means nothing here: only counting counts."""
    clock = Clock()
    mine = Claim(tmp_path, RUN, stale=90, clock=clock)
    for count in range(3):
        write_foreign(tmp_path, count)
        clock.now += 80
        assert mine.take() == "anna@node7 (process 12) since 2026-01-01 00:00:00 UTC", "it was alive meanwhile"
    clock.now += 89
    assert mine.take() is not None
    clock.now += 2
    assert mine.take() is None and files(tmp_path) == [f"{RUN}.1", f"{RUN}.2"]
    assert Claim(tmp_path, RUN).take() is not None
    mine.release()
    assert files(tmp_path) == []


def test_a_dead_process_of_this_machine_keeps_nothing(tmp_path: Path) -> None:
    process = multiprocessing.get_context("spawn").Process(target=_die_with_it, args=(tmp_path,))
    process.start()
    process.join()
    assert files(tmp_path) == [f"{RUN}.1"]
    assert Claim(tmp_path, RUN).take() is None


def _die_with_it(out: Path) -> None:
    assert Claim(out, RUN).take() is None
    os._exit(9)


@pytest.mark.parametrize("owner", [{"boot": Owner.me().boot, "namespace": "pid:[1]"}, {"pid": 2**22 - 1}])
def test_numbers_of_other_containers_and_machines_prove_nothing(tmp_path: Path, owner: dict[str, Any]) -> None:
    write_foreign(tmp_path, **owner)
    assert Claim(tmp_path, RUN).take() is not None


@pytest.mark.parametrize("content", [b"", b"{", b"null", b'{"owner": 1}'])
def test_what_a_kill_left_half_written_goes_stale_too(tmp_path: Path, content: bytes) -> None:
    write_foreign(tmp_path).write_bytes(content)
    clock = Clock()
    mine = Claim(tmp_path, RUN, clock=clock)
    assert mine.take() is not None
    clock.now += 1000
    assert mine.take() is None


def test_of_several_observers_one_takes_over(tmp_path: Path) -> None:
    write_foreign(tmp_path)
    clock = Clock()
    observers = [Claim(tmp_path, RUN, clock=clock) for _ in range(8)]
    assert all(observer.take() for observer in observers)
    clock.now += 1000
    start, winners = threading.Barrier(8), []

    def take(observer: Claim) -> None:
        start.wait()
        if observer.take() is None:
            winners.append(observer)

    threads = [threading.Thread(target=take, args=(observer,)) for observer in observers]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(winners) == 1


def test_whoever_comes_back_to_life_releases_nothing_of_others(tmp_path: Path) -> None:
    """Asleep for hours, then taken over, released, and claimed by a third."""
    sleeper = Claim(tmp_path, RUN, beat=1e6)
    assert sleeper.take() is None
    for path in (tmp_path / FOLDER).iterdir():
        path.unlink()  # as the process does that took over and is through
    third = Claim(tmp_path, RUN)
    assert third.take() is None
    sleeper.release()
    assert files(tmp_path) == [f"{RUN}.1"] and Claim(tmp_path, RUN).take() is not None


def test_a_claim_that_came_back_to_life_is_not_taken_over(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Between the look and the taking over, its process released it and another began: with the first number again."""
    clock = Clock()
    observer = Claim(tmp_path, RUN, clock=clock)
    path = write_foreign(tmp_path)
    assert observer.take() is not None
    clock.now += 1000
    create = observer._create

    def create_late(number: int) -> bool:
        path.unlink(missing_ok=True)
        write_foreign(tmp_path, count=7)
        return create(number)

    monkeypatch.setattr(observer, "_create", create_late)
    assert observer.take() is not None, "the new one is alive"
    assert files(tmp_path) == [f"{RUN}.1"]


def test_it_counts_while_it_is_held(tmp_path: Path) -> None:
    mine = Claim(tmp_path, RUN, beat=0.001)
    assert mine.take() is None
    path = tmp_path / FOLDER / f"{RUN}.1"
    first = path.read_bytes()
    for _ in range(10_000):
        if path.read_bytes() != first:
            break
        threading.Event().wait(0.001)
    assert path.read_bytes() != first and len(path.read_bytes()) == len(first)
    mine.release()


def test_a_name_cannot_steer_the_terminal(tmp_path: Path) -> None:
    path = write_foreign(tmp_path)
    path.write_text(json.dumps({"who": "anna\x1b[2J", "since": "now"}))
    holder = Claim(tmp_path, RUN).take()
    assert holder is not None and "\x1b" not in holder


def test_an_owner_is_compared_as_a_whole() -> None:
    assert replace(Owner.me(), pid=1) != Owner.me() == Owner.from_dict(Owner.me().as_dict())
