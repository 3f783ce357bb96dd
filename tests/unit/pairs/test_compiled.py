"""Compiled loops, with and without a folder for their machine code."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from fairfr.pairs.compiled import compiled

# no folder will do: of the places that numba knows, only the one for notebooks is tried
NOWHERE = {"NUMBA_CACHE_LOCATOR_CLASSES": "IPythonCacheLocator"}
LOAD_AND_SCORE = """
import sys, numpy as np, fairfr
rng = np.random.default_rng(0)
vectors, pairs = rng.standard_normal((40, 8)), rng.integers(40, size=(60, 2))
model = fairfr.ACDensity(k=3).fit(vectors, pairs, np.arange(60) % 2 == 0)
model.save(sys.argv[1])
assert np.array_equal(fairfr.load(sys.argv[1]).probability(vectors, pairs), model.probability(vectors, pairs))
from fairfr.pairs import _scan
assert not _scan.measure.stats.cache_path, "this test tests nothing"
"""


def twice(x: float) -> float:
    return 2 * x


def from_nowhere() -> Callable[..., Any]:
    """A function without a file: numba finds no folder for it."""
    made: dict[str, Any] = {}
    exec(compile("def twice(x):\n    return 2 * x", "<nowhere>", "exec"), made)
    function: Callable[..., Any] = made["twice"]
    return function


def test_machine_code_is_kept_where_there_is_a_place_for_it() -> None:
    loop: Any = compiled(fastmath={"contract"})(twice)
    assert loop(1.5) == 3.0
    assert loop.targetoptions["nogil"] and loop.targetoptions["fastmath"] == {"contract"}
    assert Path(loop.stats.cache_path).is_dir()


def test_a_loop_without_a_place_is_compiled_in_memory() -> None:
    loop: Any = compiled(fastmath={"contract"})(from_nowhere())
    assert loop(1.5) == 3.0 and loop.nopython_signatures
    assert loop.targetoptions["nogil"] and loop.targetoptions["fastmath"] == {"contract"}
    assert loop.stats.cache_path is None


def test_a_model_is_fitted_loaded_and_used_where_nothing_can_be_written(tmp_path: Path) -> None:
    command = [sys.executable, "-c", LOAD_AND_SCORE, str(tmp_path / "m.fairfr")]
    done = subprocess.run(command, env={**os.environ, **NOWHERE}, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
