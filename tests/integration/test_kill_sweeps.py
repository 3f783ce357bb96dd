"""A small part of tests/soak/kill_sweeps.py, at moments that are always the same."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from typing import Any

import pytest

pytestmark = [
    pytest.mark.slow,
    pytest.mark.kill,
    pytest.mark.skipif(not Path("/proc/self/environ").exists(), reason="processes are found in /proc"),
]
PATH = Path(__file__).parents[1] / "soak" / "kill_sweeps.py"


@pytest.fixture(scope="module")
def soak() -> Any:
    spec = importlib.util.spec_from_file_location("kill_sweeps", PATH)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["kill_sweeps"] = module  # dataclasses look their module up
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def wanted(soak: Any, tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    scores, _ = soak.undisturbed(soak.Round("basic", tmp_path_factory.mktemp("calm"), "folder"))
    assert len(scores) == 2 * len(soak.METHODS)
    return scores


@pytest.mark.parametrize(("launcher", "victim"), [("basic", "parent"), ("joblib", "worker"), ("joblib", "parent")])
def test_what_a_kill_cut_short_is_finished_with_the_same_bytes(
    soak: Any, wanted: dict[str, bytes], tmp_path: Path, launcher: str, victim: str
) -> None:
    """Killed when its first cell is done: none is lost, none is there twice."""
    one = soak.Round(launcher, tmp_path, "folder")
    said = one.kill(victim, lambda this: this.outcomes() >= 1)
    if said.startswith("too late"):
        pytest.skip("all cells were done when the first was seen")
    one.check(wanted)
