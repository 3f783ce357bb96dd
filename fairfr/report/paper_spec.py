"""What a report is told about a paper whose tables it fills: nothing of it is found by itself."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

from fairfr.report.study import Study
from fairfr.report.tables.grid import Grid
from fairfr.report.uncertainty.setting_bootstrap import BootstrapCache
from fairfr.stored.order import TableOrder
from fairfr.stored.reading import STRICT, Reading
from fairfr.stored.results import Results
from fairfr.stored.run import Run

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Claims: TypeAlias = Callable[[Results, BootstrapCache | None, Mapping[str, Results]], Iterable[Grid]]


def no_claims(results: Results, bootstraps: BootstrapCache | None, studies: Mapping[str, Results]) -> Iterable[Grid]:
    """For a paper whose claims are not written down."""
    return ()


def no_tables(results: Results) -> Iterable[Grid]:
    """For a paper whose page begins with what has run."""
    return ()


def no_figures(results: Results) -> Mapping[str, Figure]:
    """For a paper without figures of its own."""
    return {}


@dataclass(frozen=True, eq=False)
class Paper:
    """A paper, as far as a report needs it.

    Parameters
    ----------
    reading : Reading
        How the paper reads scores; runs on other settings than its own are read strictly.
    order : TableOrder
        Its settings, rows and labels, in its order.
    covers : callable
        Whether a run is on one of its settings.
    tables : callable
        Its tables, and ours against them, from the runs of one page; follow the tables of what has run.
    first_tables : callable
        Those with which its page begins.
    claims : callable
        Its claims as tables, from the runs, their bootstraps if intervals are asked for, and the runs of studies.
    studies : tuple of Study
        Groups of runs with tables of their own.
    figures : callable
        Its own figures by file name, from the runs of one page.
    """

    reading: Reading
    order: TableOrder
    covers: Callable[[Run], bool]
    tables: Callable[[Results], Iterable[Grid]]
    first_tables: Callable[[Results], Iterable[Grid]] = no_tables
    claims: Claims = no_claims
    studies: tuple[Study, ...] = ()
    figures: Callable[[Results], Mapping[str, Figure]] = no_figures

    @property
    def readings(self) -> tuple[Reading, ...]:
        """Its own, and the strict one."""
        return self.reading, STRICT

    def reads(self, run: Run, reading: Reading) -> bool:
        """Whether a run has this reading where none is asked for."""
        usual = self.reading if self.covers(run) else STRICT
        return reading == usual
