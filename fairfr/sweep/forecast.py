"""How long the cells that are left will take, from stored runs and from what the sweep has measured."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from statistics import fmean, median
from typing import NamedTuple

from fairfr.store.reading import DamagedRunError, read_head
from fairfr.sweep.progress import CellState

NEWEST = 5  # runs of one cell whose times are read


class Place(NamedTuple):
    """The ids that decide how long a cell takes."""

    dataset: str
    backbone: str
    method: str


def places(
    jobs: Iterable[Sequence[str]], chosen: Mapping[str, str], pair_of: Callable[[str], Mapping[str, str]]
) -> list[Place]:
    """The place of each job, from what it overrides.

    ``chosen``: the choices where nothing is overridden; ``pair_of``: the choices that a ``setting=`` makes.
    """
    found = []
    for job in jobs:
        given = dict(override.lstrip("+").split("=", 1) for override in job if "=" in override)
        names = {**chosen, **(pair_of(given["setting"]) if "setting" in given else {})}
        names |= {noun: given[noun] for noun in Place._fields if noun in given}
        names |= {noun: given[f"{noun}.id"] for noun in Place._fields if f"{noun}.id" in given}
        found.append(Place(*(names.get(noun, "").rpartition("/")[2] for noun in Place._fields)))
    return found


class Forecast:
    """Expected seconds of the cells of one sweep.

    Stored runs count first. They may come from a quieter machine or from other data: as cells run, what they say is
    multiplied by how much longer these cells took than they said. Where there are none, cells of this sweep count,
    the most alike first.
    """

    def __init__(self, stored: Callable[[Place], float | None]) -> None:
        self._stored = cache(stored)  # as before the sweep, whose own runs are measured
        self._measured: list[tuple[Place, float]] = []

    def add(self, place: Place, seconds: float) -> None:
        """A cell of this sweep was computed in ``seconds``."""
        self._stored(place)
        self._measured.append((place, seconds))

    def left(
        self, waiting: Sequence[Place], running: Sequence[tuple[Place, CellState]], workers: int, now: float
    ) -> float | None:
        """Seconds until ``workers`` processes are through; None while too little is known."""
        rests = [self._rest(place, state, now) for place, state in running]
        expected = [self.expected(place) for place in waiting]
        certain = [rest for rest in rests if rest is not None]
        if len(certain) < len(rests):
            return None
        computing = [(state, rest) for (_, state), rest in zip(running, certain, strict=True) if not state.is_stored]
        known = [seconds for seconds in expected if seconds is not None]
        known = known or [now - state.started + rest for state, rest in computing]
        if waiting and not known:
            return None
        typical = fmean(known) if known else 0.0
        total = sum(certain) + sum(typical if seconds is None else seconds for seconds in expected)
        return max([total / max(1, workers), *certain])

    def _rest(self, place: Place, state: CellState, now: float) -> float | None:
        """What is left of a cell: by its own folds if some were computed, else by what it was expected to take."""
        by_folds = state.seconds_left(now)
        if by_folds is not None:
            return by_folds
        expected, elapsed = self.expected(place), now - state.started
        return expected - elapsed if expected is not None and elapsed < expected else None

    def expected(self, place: Place) -> float | None:
        """Seconds that a cell is expected to take; None while nothing is known that is like it."""
        stored = self._stored(place)
        if stored is not None:
            return stored * self._slowness()
        return next((fmean(seconds) for seconds in self._alike(place) if seconds), None)

    def _alike(self, place: Place) -> Iterator[list[float]]:
        """Seconds of cells of this sweep, the most alike first."""
        measured = self._measured
        yield [seconds for other, seconds in measured if other == place]
        yield [seconds for other, seconds in measured if other[::2] == place[::2]]  # data set and method
        yield [
            seconds * self._share(place.dataset, other.dataset)
            for other, seconds in measured
            if other.method == place.method
        ]
        yield [seconds for other, seconds in measured if other.dataset == place.dataset]
        yield [seconds for _, seconds in measured]

    def _share(self, dataset: str, other: str) -> float:
        """Of the time that methods take on the ``other`` data set, what they take on this one, if some ran on both."""
        here, there = (
            {place.method: seconds for place, seconds in self._measured if place.dataset == name}
            for name in (dataset, other)
        )
        both = here.keys() & there.keys()
        return sum(here[method] for method in both) / sum(there[method] for method in both) if both else 1.0

    def _slowness(self) -> float:
        """How many times longer cells take than stored runs say."""
        known = [(said, seconds) for place, seconds in self._measured if (said := self._stored(place))]
        return sum(seconds for _, seconds in known) / sum(said for said, _ in known) if known else 1.0


def stored_seconds(out_root: Path, place: Place) -> float | None:
    """The median time of stored runs of this cell, else of its method on the same data set; None without any."""
    if not all(place):
        return None
    for backbone in (place.backbone, "*"):
        folders = [path for path in (out_root / "runs" / place.dataset).glob(f"{backbone}/{place.method}/*")]
        newest = sorted(folders, key=_age)[:NEWEST]
        seconds = [taken for folder in newest if (taken := _seconds(folder)) is not None]
        if seconds:
            return median(seconds)
    return None


def _age(folder: Path) -> float:
    try:
        return -folder.stat().st_mtime
    except OSError:
        return 0.0


def _seconds(folder: Path) -> float | None:
    try:
        found = read_head(folder)
    except DamagedRunError:
        return None
    return float(found.head["seconds"]) if found is not None and found.head["status"] == "completed" else None
