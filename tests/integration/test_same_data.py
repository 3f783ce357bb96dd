"""Cells of a sweep that share data: each has the bytes of a run of its own."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from fairfr.data.locate import LocatedData
from fairfr.runner.table_cache import table_cache

METHODS = (
    "platt",
    "ac_linear",
    "ac_density",
    "ac_density_loo",
    "ac_density method.estimator.k=5",
    "gst",
    "oracle",
    "faircal",
    "demonorm",
    "ac_density",
)
FILES = ("scores.parquet", "metrics.parquet")


@pytest.fixture(autouse=True)
def _nothing_kept() -> None:
    table_cache.clear()


def bytes_of(cell: Any, *overrides: str) -> dict[str, bytes]:
    done = cell(*overrides, "force=true")
    assert done.status == "completed", done.error
    return {name: (done.folder / name).read_bytes() for name in FILES}


def test_cells_after_one_another_equal_cells_alone(
    cell: Any, small: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    loads: list[str] = []
    load = LocatedData.load
    monkeypatch.setattr(LocatedData, "load", lambda self: (loads.append(self.digest), load(self))[1])
    alone = []
    for method in METHODS:
        table_cache.clear()
        alone.append(bytes_of(cell, *small, *f"method={method}".split()))
    assert len(loads) == len(METHODS)
    table_cache.clear()
    together = [bytes_of(cell, *small, *f"method={method}".split()) for method in METHODS]
    assert len(loads) == len(METHODS) + 1, "one table serves them all"
    for method, one, other in zip(METHODS, alone, together, strict=True):
        assert one == other, method


@pytest.mark.slow
def test_a_sweep_equals_single_commands(run_py: Any, tmp_path: Path, small: tuple[str, ...]) -> None:
    methods = ("platt", "ac_linear", "ac_density")
    for method in methods:
        assert run_py(*small, f"method={method}", f"out_root={tmp_path / 'alone'}", "store=folder").returncode == 0
    assert run_py("-m", *small, f"method={','.join(methods)}", "store=folder").returncode == 0
    for root in ("alone", "out"):
        assert len(list((tmp_path / root).glob("runs/*/*/*/*/scores.parquet"))) == len(methods)
    for path in (tmp_path / "alone").glob("runs/*/*/*/*/*.parquet"):
        assert (tmp_path / "out" / path.relative_to(tmp_path / "alone")).read_bytes() == path.read_bytes(), path


def test_a_cell_after_a_change_of_its_files_has_the_new_numbers(cell: Any, write_set: Any) -> None:
    options = ("dataset=custom", "dataset.id=mine", "backbone=custom", "backbone.id=mynet", "method=platt")
    root = write_set()
    before = cell(*options, f"data_root={root}")
    pairs = root / "mine" / "pairs.csv"
    lines = pairs.read_text().splitlines()
    pairs.write_text("\n".join([*lines[:-1], lines[-1][:-1] + "1"]) + "\n")  # the last label, in as many bytes
    after = cell(*options, f"data_root={root}")
    assert (before.status, after.status) == ("completed", "completed")
    assert after.result.data.same == before.result.data.same + 1
