"""How far a cell is."""

from __future__ import annotations

from fairfr.runner.cell_bar import CellState


def test_time_left_counts_only_folds_that_were_computed() -> None:
    assert CellState("", 0.0).seconds_left(50.0) is None
    assert CellState("", 0.0, folds=10, done=4, resumed=4).seconds_left(50.0) is None, "resumed ones took no time"
    assert CellState("", 0.0, folds=10, done=6, resumed=4).seconds_left(50.0) == 4 * 25.0
    assert CellState("", 0.0, folds=10, done=10, is_stored=True).seconds_left(50.0) == 0.0
