"""One output folder for several people, or machines: each cell is computed once, and everybody gets its result."""

from __future__ import annotations

import errno
import os
import shutil
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import pytest

from fairfr.core.run_key import RunKey
from fairfr.methods.platt import Platt
from fairfr.store.run_folder import RunFolders

pytestmark = pytest.mark.slow
ROOT = Path(__file__).parents[2]
PLAIN = ("dataset.grouping=[]", "threads=1", "store=folder")

METHODS = """
import os, uuid
from dataclasses import dataclass
from pathlib import Path
from fairfr.methods.platt import Platt

@dataclass
class Counted(Platt):
    def fit(self, *arguments):
        Path(os.environ["FITS"], uuid.uuid4().hex).touch()
        return super().fit(*arguments)
"""


def start(out: Path, said: Path, *arguments: str, **environment: str) -> subprocess.Popen[bytes]:
    command = [sys.executable, ROOT / "run.py", *arguments, f"out_root={out}"]
    with said.open("wb") as file:
        env = {**os.environ, "OMP_NUM_THREADS": "1", "COLUMNS": "160", **environment}
        return subprocess.Popen(command, cwd=said.parent, env=env, stdout=file, stderr=file)


@contextmanager
def locked_elsewhere(out: Path, key: RunKey) -> Iterator[Callable[[], None]]:
    """Meanwhile somebody else has the lock of a cell, until the function that is yielded is called."""
    has_it, may_end = threading.Event(), threading.Event()

    def work() -> None:
        with RunFolders(out).locked(key, pytest.fail):
            has_it.set()
            may_end.wait()

    worker = threading.Thread(target=work)
    worker.start()
    has_it.wait()

    def end() -> None:
        may_end.set()
        worker.join()

    try:
        yield end
    finally:
        end()


@pytest.mark.kill
def test_two_people_who_run_one_sweep_compute_each_cell_once(small: tuple[str, ...], tmp_path: Path) -> None:
    (tmp_path / "users_methods.py").write_text(METHODS)
    fits = tmp_path / "fits"
    fits.mkdir()
    path = os.pathsep.join([str(tmp_path), *filter(None, [os.environ.get("PYTHONPATH")])])
    target = "method.estimator._target_=users_methods.Counted"
    sweep = ("-m", *small, *PLAIN, "method=platt", target, "seed=0,1,2,3")
    people = [
        start(tmp_path / "out", tmp_path / name, *sweep, PYTHONPATH=path, FITS=str(fits)) for name in ("anna", "ben")
    ]
    texts = {}
    for process, name in zip(people, ("anna", "ben"), strict=True):
        assert process.wait(300) == 0, (tmp_path / name).read_text()
        texts[name] = (tmp_path / name).read_text()
    assert len(list(fits.iterdir())) == 4 * 10, "every fold of every cell, once"
    counts = [line for text in texts.values() for line in text.splitlines() if line.startswith("4 runs: ")]
    computed = [int(line.split()[2]) for line in counts]
    assert sum(computed) == 4 and all("0 failed" in line and "not run" not in line for line in counts), counts
    assert not any("Traceback" in text for text in texts.values())
    assert len(list((tmp_path / "out").glob("runs/*/*/*/*/result.json"))) == 4
    assert list((tmp_path / "out" / ".partial").iterdir()) == []


def test_a_locked_cell_is_waited_for_and_its_result_is_taken(
    cell: Any, heard: Any, small: tuple[str, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    there = cell(*small, *PLAIN, "method=platt", f"out_root={tmp_path / 'there'}")
    heard.folds.clear()
    with locked_elsewhere(tmp_path / "out", there.key) as end:

        def finish(holder: str) -> None:
            heard.waited_for.append(holder)
            shutil.copytree(there.folder, tmp_path / "out" / there.folder.relative_to(tmp_path / "there"))
            end()

        monkeypatch.setattr(heard, "wait_for", finish)
        taken = cell(*small, *PLAIN, "method=platt")
    assert taken.status == "skipped" and taken.result.to_json() == there.result.to_json()
    assert heard.folds == [] and heard.waited_for == ["another process"]
    assert list((tmp_path / "out" / ".partial").iterdir()) == []


def test_a_locked_cell_is_left_alone_with_and_without_force(
    cell: Any, heard: Any, small: tuple[str, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    done = cell(*small, *PLAIN, "method=platt")
    with locked_elsewhere(tmp_path / "out", done.key) as end:
        assert cell(*small, *PLAIN, "method=platt").status == "skipped", "what is done needs no lock"
        monkeypatch.setattr(heard, "wait_for", lambda holder: end())
        forced = cell(*small, *PLAIN, "method=platt", "force=true")
    assert forced.status == "completed" and list((tmp_path / "out" / ".partial").iterdir()) == []


def test_a_cell_that_fails_or_is_interrupted_has_no_lock_any_more(
    cell: Any, small: tuple[str, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for error in (RuntimeError, KeyboardInterrupt):
        with monkeypatch.context() as broken:
            broken.setattr(Platt, "fit", lambda *arguments, error=error: (_ for _ in ()).throw(error))
            with suppress(KeyboardInterrupt):
                assert cell(*small, *PLAIN, "method=platt").status == "failed"
        assert list((tmp_path / "out" / ".partial").iterdir()) == []


def test_without_locks_both_compute_the_cell_and_one_whole_run_is_there(
    cell: Any, small: tuple[str, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As on a network disk that has none: the second starts and ends while the first is at its first fold."""

    def no_lock(*arguments: object) -> None:
        raise OSError(errno.ENOSYS, os.strerror(errno.ENOSYS))

    monkeypatch.setattr("fcntl.flock", no_lock)
    fit, others = Platt.fit, []

    def fit_late(self: Platt, *arguments: Any) -> Platt:
        monkeypatch.setattr(Platt, "fit", fit)
        others.append(cell(*small, *PLAIN, "method=platt"))
        return fit(self, *arguments)

    monkeypatch.setattr(Platt, "fit", fit_late)
    first = cell(*small, *PLAIN, "method=platt")
    assert first.status == others[0].status == "completed" and first.folder == others[0].folder
    assert first.result.metrics == others[0].result.metrics
    assert cell(*small, *PLAIN, "method=platt").status == "skipped"
    assert os.listdir(first.folder.parent) == [first.folder.name]
    assert list((tmp_path / "out" / ".partial").iterdir()) == []
