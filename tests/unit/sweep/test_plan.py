"""The order of a sweep's cells, and what its plan says."""

from __future__ import annotations

from itertools import pairwise

from fairfr.core.keys import RunKey
from fairfr.sweep.forecast import Forecast, Place
from fairfr.sweep.plan import PlannedCell, describe, in_order

SECONDS = {"slow": 100.0, "middle": 30.0, "quick": 1.0}


def cell(dataset: str, method: str, is_done: bool = False, part: str = "tables") -> PlannedCell:
    key = RunKey(dataset, "net", method, "synthetic", f"{dataset}{method}")
    return PlannedCell([f"dataset={dataset}", f"method={method}"], Place(dataset, "net", method), part, key, is_done)


def forecast() -> Forecast:
    return Forecast(lambda place: SECONDS.get(place.method))


CELLS = [cell(dataset, method) for method in SECONDS for dataset in "abcd"]


def simulate(cells: list[PlannedCell], workers: int) -> tuple[list[list[PlannedCell]], float]:
    """Whoever is free takes the next cell: what each worker gets, and when the last is through."""
    free, got = [0.0] * workers, [list[PlannedCell]() for _ in range(workers)]
    for one in cells:
        worker = free.index(min(free))
        got[worker].append(one)
        free[worker] += SECONDS[one.place.method]
    return got, max(free)


def test_one_worker_finishes_a_data_set_before_the_next_and_keeps_the_yaml_s_order_inside() -> None:
    ordered = in_order(CELLS, forecast(), 1)
    assert [one.place.dataset for one in ordered] == sorted(one.place.dataset for one in CELLS)
    assert [one.place.method for one in ordered[:3]] == list(SECONDS)


def test_workers_load_each_data_set_once_and_start_with_its_longest_cell() -> None:
    ordered = in_order(CELLS, forecast(), 2)
    assert sorted(ordered) == sorted(CELLS)
    got, end = simulate(ordered, 2)
    for mine in got:
        loads = 1 + sum(one.place.dataset != two.place.dataset for one, two in pairwise(mine))
        assert loads == len({one.place.dataset for one in mine}) == 2
        assert mine[0].place.method == "slow"
    assert end == 2 * sum(SECONDS.values())


def test_what_is_done_takes_no_time() -> None:
    cells = [cell("a", "slow", is_done=True), cell("b", "middle"), cell("c", "quick")]
    assert next(one.place.dataset for one in in_order(cells, forecast(), 2)) == "b"


def test_the_plan_counts_by_study_and_in_all() -> None:
    cells = [cell("a", "slow", True), cell("b", "slow"), cell("a", "quick", part="coverage")]
    lines = describe(cells, forecast(), 1)
    assert [line.split()[0] for line in lines] == ["tables", "coverage", "all"]
    assert "2 cells" in lines[0] and "1 done" in lines[0] and "1 to do, about 2 min left" in lines[0]
    assert "3 cells" in lines[2] and "2 to do, about 2 min left" in lines[2]


def test_the_plan_says_what_it_only_guesses() -> None:
    (line,) = describe([cell("a", "slow"), cell("a", "unheard_of")], forecast(), 1)
    assert "1 of them have not run here yet" in line
    (line,) = describe([cell("a", "unheard_of")], forecast(), 1)
    assert "time unknown until some have run" in line
