"""Short forms that the tests of tables share."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from fairfr.report.readings import Run
from fairfr.report.runs import Runs
from fairfr.report.tables.grid import Grid

TPR = "tpr_at_fpr_1e-3"
Make = Callable[..., Run]
MakeRuns = Callable[..., Runs]


@pytest.fixture
def tpr(result: Make) -> Make:
    """``tpr(method, value, ...)``: a run of which only the global TPR is known."""

    def make(method: str, value: float, **changes: Any) -> Run:
        return result(method, overall={TPR: value}, **changes)

    return make


@pytest.fixture
def notes() -> Callable[..., list[str]]:
    """``notes(grid, code)``: the notes of this code, in full."""
    return lambda grid, code: [str(note) for note in grid.notes if note.code == code]


@pytest.fixture
def bold_rows() -> Callable[[Grid, int], set[str]]:
    """``bold_rows(grid, column)``."""
    return lambda grid, column: {line.label for line in grid.lines() if line.entries[column].bold}


@pytest.fixture
def lifted(result: Make, runs: MakeRuns) -> Runs:
    def groups(asian: float, white: float) -> dict[str, dict[str, float]]:
        return {g: {"auroc": v, TPR: v / 2, "pauc": v} for g, v in (("asian", asian), ("white", white))}

    return runs(
        result("baseline", groups=groups(0.94187, 0.97)),
        result("fsn", groups=groups(0.9, 0.98)),
        result("gst_paper", groups=groups(0.99, 0.99)),
        result("ac_linear", groups=groups(0.95, 0.97)),
        result("ac_density", groups=groups(0.96021, 0.98)),
    )
