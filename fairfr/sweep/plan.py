"""What a sweep will do, before it does it: its cells, those that are done, and how long the others will take."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from hydra.core.config_loader import ConfigLoader
from omegaconf import DictConfig, open_dict

from fairfr.core.errors import FairfrError
from fairfr.core.keys import RunKey
from fairfr.experiment.located import LocatedCell
from fairfr.store.folder import RunFolders
from fairfr.sweep.bars import time_left
from fairfr.sweep.config import read_settings
from fairfr.sweep.forecast import Forecast, Place
from fairfr.sweep.grids import Job

TABLES = "tables"
GUESS = 10.0  # seconds of a cell that nothing is known of


class PlannedCell(NamedTuple):
    """One cell of a sweep, from what overrides the configuration. ``part``: its study, or the tables.

    ``key`` is that of its run; None for a cell that will fail, because its data is not there.
    """

    job: Job
    place: Place
    part: str
    key: RunKey | None
    is_done: bool


def planned_cells(loader: ConfigLoader, config: DictConfig, jobs: Iterable[Job]) -> list[PlannedCell]:
    """The cells of a sweep over ``config``, each once, whatever it is spelled like.

    Raises Hydra's error where one cannot be composed.
    """
    cells = [_planned(loader, config, job) for job in jobs]
    return list({cell.key or tuple(cell.job): cell for cell in reversed(cells)}.values())[::-1]


def _planned(loader: ConfigLoader, config: DictConfig, job: Job) -> PlannedCell:
    composed = loader.load_sweep_config(master_config=config, sweep_overrides=list(job))
    with open_dict(composed):
        composed.pop("hydra", None)
    try:
        settings, _ = read_settings(composed)
        key = LocatedCell.of(settings).key(settings)
        is_done = not settings.force and RunFolders(Path(settings.out_root)).completed(key) is not None
    except FairfrError:
        return PlannedCell(job, Place("", "", ""), TABLES, None, False)
    return PlannedCell(job, Place(*key.place[:3]), settings.study or TABLES, key, is_done)


def in_order(cells: Sequence[PlannedCell], forecast: Forecast, workers: int) -> list[PlannedCell]:
    """The order in which cells are started: those that share data follow one another in one worker.

    A worker keeps the last data that it loaded, and finds clusters that an earlier cell has computed. With several
    workers, data sets are dealt to them, those that take longest first, and inside each the longest cell comes first,
    so that none is left with a long cell at the end. Launchers give the next job to whoever is free: jobs are listed
    in the order in which the workers are expected to ask for them.
    """
    by_data: dict[tuple[str, str], list[PlannedCell]] = {}
    for cell in cells:
        by_data.setdefault(cell.place[:2], []).append(cell)
    if workers == 1:
        return [cell for several in by_data.values() for cell in several]
    seconds = {id(cell): 0.0 if cell.is_done else forecast.expected(cell.place) or GUESS for cell in cells}
    lanes = _lanes(list(by_data.values()), seconds, workers)
    free = [0.0] * workers
    listed: list[PlannedCell] = []
    while any(lanes):
        worker = min((w for w in range(workers) if lanes[w]), key=lambda w: free[w])
        listed.append(lanes[worker].pop(0))
        free[worker] += seconds[id(listed[-1])]
    return listed


def _lanes(groups: list[list[PlannedCell]], seconds: Mapping[int, float], workers: int) -> list[list[PlannedCell]]:
    """The cells of each worker: the group that takes longest goes to whoever has least to do."""
    lanes: list[list[PlannedCell]] = [[] for _ in range(workers)]
    load = [0.0] * workers
    for group in sorted(groups, key=lambda group: -sum(seconds[id(cell)] for cell in group)):
        worker = load.index(min(load))
        lanes[worker] += sorted(group, key=lambda cell: -seconds[id(cell)])
        load[worker] += sum(seconds[id(cell)] for cell in group)
    return lanes


def describe(cells: Sequence[PlannedCell], forecast: Forecast, workers: int) -> list[str]:
    """A line for each part of a sweep and, where there are several, one for the whole."""
    parts = list(dict.fromkeys(cell.part for cell in cells))
    lines = [_line(part, [cell for cell in cells if cell.part == part], forecast, workers) for part in parts]
    return lines if len(parts) == 1 else [*lines, _line("all", cells, forecast, workers)]


def _line(name: str, cells: Sequence[PlannedCell], forecast: Forecast, workers: int) -> str:
    waiting = [cell.place for cell in cells if not cell.is_done]
    counts = Counter(cell.is_done for cell in cells)
    text = f"{name:<17} {len(cells):>4} cells, {counts[True]:>4} done, {counts[False]:>4} to do"
    if not waiting:
        return text
    seconds = forecast.left(waiting, [], workers, time.time())
    unknown = sum(forecast.expected(place) is None for place in waiting)
    if seconds is None:
        return f"{text}, time unknown until some have run"
    guessed = f" ({unknown} of them have not run here yet: guessed from the others)" if unknown else ""
    return f"{text}, {time_left(seconds)}{guessed}"
