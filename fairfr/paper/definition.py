"""The paper as one value, which commands hand to the report."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING

from fairfr.paper.against import compare_with_print
from fairfr.paper.against_tables import against_tables
from fairfr.paper.claims.judging import claims
from fairfr.paper.order import ORDER, is_of_paper
from fairfr.paper.paper_tables import appendix_tables, main_tables, overview
from fairfr.paper.prediction import prediction
from fairfr.paper.studies import STUDIES
from fairfr.report.paper_spec import Paper
from fairfr.report.tables.grid import Grid
from fairfr.report.uncertainty.setting_bootstrap import BootstrapCache
from fairfr.stored.reading import PAPER_READING
from fairfr.stored.results import Results

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def _tables(results: Results) -> Iterator[Grid]:
    """The appendix, ours against the paper's, and what the stand-ins predict."""
    yield from appendix_tables(results)
    yield from against_tables(results)
    if results.source == "synthetic":
        yield from prediction(results)


def _first_tables(results: Results) -> Iterator[Grid]:
    """One overview, then Tables 1 to 4."""
    yield overview(results)
    yield from main_tables(results)


def _claims(results: Results, bootstraps: BootstrapCache | None, studies: Mapping[str, Results]) -> Iterable[Grid]:
    return [claims(results, bootstraps, studies)]


def _figures(results: Results) -> dict[str, Figure]:
    """``prediction``, of stand-ins."""
    from fairfr.paper.figures import prediction_figure

    if results.source != "synthetic":
        return {}
    figure = prediction_figure(compare_with_print(results))
    if figure is None:
        return {}
    return {"prediction": figure}


PAPER = Paper(
    reading=PAPER_READING,
    order=ORDER,
    covers=is_of_paper,
    first_tables=_first_tables,
    tables=_tables,
    claims=_claims,
    studies=STUDIES,
    figures=_figures,
)
