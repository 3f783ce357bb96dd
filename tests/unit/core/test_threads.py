"""One number of threads for every library."""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest
from threadpoolctl import threadpool_info, threadpool_limits

from fairfr.core import threads
from fairfr.core.errors import ConfigError
from fairfr.core.threads import loaded
from fairfr.methods.baseline import Baseline


@pytest.fixture(autouse=True)
def _as_before(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    for name in threads.VARIABLES:
        monkeypatch.setenv(name, os.environ.get(name, "1"))
    counts = max((pool["num_threads"] for pool in threadpool_info()), default=1)
    yield
    threadpool_limits(counts)


def test_the_number_asked_for_comes_first(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(threads, "_AT_START", "7")
    assert threads.resolve_threads(3) == 3
    assert threads.resolve_threads(None) == 7


@pytest.mark.parametrize("nonsense", ["", "0", "many", "-2", "2,1"])
def test_else_the_cores_of_this_process(monkeypatch: pytest.MonkeyPatch, nonsense: str) -> None:
    monkeypatch.setattr(threads, "_AT_START", nonsense)
    monkeypatch.setattr("sys.platform", "linux")
    monkeypatch.setattr(os, "sched_getaffinity", lambda pid: {0, 3, 5}, raising=False)
    assert threads.resolve_threads(None) == 3


def test_one_thread_where_two_openmp_libraries_crash(monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as mac:
        mac.setattr(threads, "_AT_START", "")
        mac.setattr("sys.platform", "darwin")
        assert threads.resolve_threads(None) == 1 and threads.resolve_threads(2) == 2


@pytest.mark.parametrize("wrong", [0, -1])
def test_less_than_one_thread_is_a_config_error(wrong: int) -> None:
    with pytest.raises(ConfigError, match="threads must be at least 1"):
        threads.resolve_threads(wrong)


def test_loaded_libraries_are_told() -> None:
    np.ones((2, 2)) @ np.ones((2, 2))
    for wanted in (1, 2):
        threads.limit_threads(wanted)
        pools = [pool for pool in threadpool_info() if pool["user_api"] == "blas"]
        assert pools and {pool["num_threads"] for pool in pools} == {wanted}
        assert {os.environ[name] for name in threads.VARIABLES} == {str(wanted)}


def test_faiss_and_torch_are_told_if_they_are_loaded() -> None:
    faiss = pytest.importorskip("faiss")
    threads.limit_threads(1)
    assert faiss.omp_get_max_threads() == 1
    threads.limit_threads(2)
    assert faiss.omp_get_max_threads() == 2


@pytest.mark.parametrize("name", ["faiss", "torch"])
def test_a_library_that_another_thread_still_imports_is_left_alone(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its import stays open until limit_threads is through; only then it gets the function that limit_threads calls."""
    begun, go_on = threading.Event(), threading.Event()
    gate: Any = ModuleType("gate")
    gate.begun, gate.go_on = begun, go_on
    (tmp_path / f"{name}.py").write_text(
        "import gate\ngate.begun.set()\nassert gate.go_on.wait(60)\n"
        "def set_num_threads(threads): told.append(threads)\nomp_set_num_threads = set_num_threads\ntold = []\n",
        encoding="utf-8",
    )
    monkeypatch.setitem(sys.modules, "gate", gate)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, name, raising=False)
    first = threading.Thread(target=__import__, args=(name,))
    first.start()
    try:
        assert begun.wait(60)
        assert name in sys.modules and loaded(name) is None
        threads.limit_threads(1)
    finally:
        go_on.set()
        first.join()
    toy: Any = loaded(name)
    assert toy is not None and toy.told == []
    threads.limit_threads(2)
    assert toy.told == [2]
    del sys.modules[name]  # not by monkeypatch, which would bring the toy back; the real one, if loaded, comes back


def test_a_library_that_is_missing_is_left_to_the_fit() -> None:
    method = type("Method", (Baseline,), {"imports": ("no_such_library",)})()
    threads.import_what_fits_use(method)


def test_one_cell_does_not_decide_for_the_next() -> None:
    before = threads.resolve_threads(None)
    threads.limit_threads(before + 1)
    assert threads.resolve_threads(None) == before


def test_threads_that_wait_leave_their_core_to_others_unless_the_user_says_otherwise(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delenv("OMP_WAIT_POLICY", raising=False)
    threads.limit_threads(1)
    assert os.environ["OMP_WAIT_POLICY"] == "PASSIVE"
    monkeypatch.setenv("OMP_WAIT_POLICY", "ACTIVE")
    threads.limit_threads(1)
    assert os.environ["OMP_WAIT_POLICY"] == "ACTIVE"
