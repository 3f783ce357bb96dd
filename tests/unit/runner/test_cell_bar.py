"""How far a cell is."""

from __future__ import annotations

from fairfr.runner.cell_bar import CellState


def test_time_left_is_told_by_the_folds_that_are_done() -> None:
    assert CellState("", 0.0).seconds_left(50.0) is None
    assert CellState("", 0.0, folds=10).seconds_left(50.0) is None, "before the first"
    assert CellState("", 0.0, folds=10, done=2).seconds_left(50.0) == 8 * 25.0
    assert CellState("", 0.0, folds=10, done=10, is_stored=True).seconds_left(50.0) == 0.0
