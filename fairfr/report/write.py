"""From results to files: every table in every form, and the figures, for each data source and reading that has runs."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import chain
from pathlib import Path
from typing import NamedTuple, get_args

from fairfr.core.errors import ConfigError
from fairfr.core.run_key import variant_label
from fairfr.core.storage import translate_os_errors
from fairfr.core.text import slug
from fairfr.core.types import Source
from fairfr.report.paper_spec import Paper
from fairfr.report.study import runs_by_study
from fairfr.report.tables.grid import DECISION, SOURCE_LABEL, Grid, Note
from fairfr.report.tables.notes import not_shown
from fairfr.report.tables.setting_tables import tables_of_runs
from fairfr.report.uncertainty.setting_bootstrap import BootstrapCache
from fairfr.report.writers import csv, html, latex, markdown
from fairfr.stored.aside import LeftAside
from fairfr.stored.order import is_called, rows_of
from fairfr.stored.reading import Reading
from fairfr.stored.results import Results, shown_results
from fairfr.stored.run import Run
from fairfr.stored.runs import runs_of_page
from fairfr.stored.selection import OF_METHOD, Selection


@dataclass(frozen=True, slots=True)
class ReportOptions:
    """What to build beside tables. ``draws``: of the bootstrap over identities (0: none).

    ``selection``: which runs, where there are several of a method. ``studies``: their names; None: all that have runs.
    ``against``: the method or variant that the others are compared with; None: the Baseline. ``origin``: the options of
    ``fairfr tables`` that say where the runs were read from, for the commands that a note prints.
    """

    draws: int = 0
    figures: bool = True
    selection: Selection = field(default_factory=Selection)
    studies: frozenset[str] | None = None
    against: str | None = None
    origin: tuple[str, ...] = ()


class Page(NamedTuple):
    """Where the tables of one data source and reading are, and which runs they do not show.

    ``decisions``: what intervals against one method decide, in words, by the heading of a setting.
    """

    folder: Path
    aside: tuple[LeftAside, ...]
    decisions: tuple[tuple[str, tuple[str, ...]], ...] = ()


def write_report(
    runs: Iterable[Run], out_root: Path, reading: Reading | None, wanted: ReportOptions, paper: Paper
) -> list[Page]:
    """Write tables and figures below ``out_root``; returns the pages.

    ``reading``: of all runs, with a page for each data source. None: each setting in its own, the settings of the
    ``paper`` in its reading and all others strictly, with a page for each source and reading that has runs.
    """
    every = list(runs)
    wanted = replace(wanted, selection=with_variant(wanted.against, wanted.selection, every))
    readings = paper.readings
    if reading is not None:
        readings = (reading,)
    found: list[tuple[Results, list[Run]]] = []
    with_own_table = {study.name for study in paper.studies}
    for source in get_args(Source):
        for one in readings:
            belongs = None
            if reading is None:
                belongs = partial(paper.reads, reading=one)

            def fills_rows(run: Run, belongs: Callable[[Run], bool] | None = belongs) -> bool:
                # asked for by --where study=NAME, the paper's studies have tables of their own
                return run.result.study not in with_own_table and (belongs is None or belongs(run))

            results = shown_results(every, source, wanted.selection, fills_rows, one, paper.order)
            found.append((results, runs_of_page(every, source, belongs)))
    _check_against(wanted.against, [results for results, _ in found])
    pages = []
    for results, of_this in found:
        of_all = runs_by_study(paper.studies, of_this, results.source, results.reading, wanted.selection)
        studies = {name: of for name, of in of_all.items() if wanted.studies is None or name in wanted.studies}
        if len(results) or studies:
            with translate_os_errors(out_root):
                note = note_of_page(wanted, results.aside, out_root, reading)
                folder, grids = _write_page(results, studies, out_root, wanted, note, paper)
            pages.append(Page(folder, tuple(results.aside), tuple(_decisions(grids))))
    return pages


def with_variant(against: str | None, selection: Selection, results: Sequence[Run]) -> Selection:
    """The selection, with the variant that ``--against`` names: nothing is compared with a row that is not there."""
    if against is None:
        return selection
    for run in selection.hidden(results):
        method = run.result.method
        names = [variant_label(name, run.differs) for name in (method.id, method.label)]
        of_method = run.differs and all(key.startswith(OF_METHOD) for key in run.differs)
        if of_method and is_called(against, *names):
            return selection.with_values(run.differs)
    return selection


def _check_against(against: str | None, pages: Sequence[Results]) -> None:
    if against is None:
        return
    methods: set[str] = set()
    names: set[str] = set()
    for results in pages:
        methods.update(run.cell[2] for run in results)
        for row in rows_of(results.blocks(results.settings, only_run=True)):
            names.update((row.id, row.label))
    if methods and not is_called(against, *methods, *names):
        known = ", ".join(sorted(methods))
        raise ConfigError(f"--against {against}: no run here is of that method or variant. There are: {known}.")


def note_of_page(
    wanted: ReportOptions, aside: Sequence[LeftAside], out_root: Path, reading: Reading | None
) -> Note | None:
    """Which runs the tables do not show and why, and the commands that show them; None: they show all.

    ``reading``: the one that was asked for, if any.
    """
    if not aside:
        return None
    asked: list[str] = []
    if reading is not None:
        asked = ["--reading", reading.name]
    return not_shown(aside, shlex.join(["fairfr", "tables", *asked, *wanted.origin, "--out-root", str(out_root)]))


def _write_page(
    results: Results,
    studies: Mapping[str, Results],
    out_root: Path,
    wanted: ReportOptions,
    note: Note | None,
    paper: Paper,
) -> tuple[Path, list[Grid]]:
    source = results.source
    reading = results.reading
    place = Path(source, reading.name)
    grids = all_tables(results, studies, wanted, paper)
    figures: list[Path] = []
    if wanted.figures:
        from fairfr.report.figures.draw import draw_figures, draw_studies, save

        target = out_root / "figures" / place
        target.mkdir(parents=True, exist_ok=True)
        figures = draw_figures(results, target)
        for name, figure in paper.figures(results).items():
            figures += save(figure, target / name)
        figures += draw_studies(paper.studies, studies, target)
    folder = out_root / "tables" / place
    write_tables(grids, folder, f"fairfr: {SOURCE_LABEL[source]}, {reading} reading", figures, note)
    return folder, grids


def _decisions(grids: Iterable[Grid]) -> Iterator[tuple[str, tuple[str, ...]]]:
    """What tables of intervals decide in words, each with the table's heading."""
    for grid in grids:
        said = tuple(note.text for note in grid.notes if note.code == DECISION)
        if said:
            yield grid.heading, said


def all_tables(results: Results, studies: Mapping[str, Results], wanted: ReportOptions, paper: Paper) -> list[Grid]:
    """What has run and the paper's tables, the claims, uncertainty on request, and the studies.

    Own data alone has no use for what the paper says: uncertainty, if it is asked for, comes first.
    """
    bootstraps = None
    uncertainty: list[Grid] = []
    if wanted.draws:
        bootstraps = BootstrapCache(results, wanted.draws, with_rates=wanted.against is not None)
        from fairfr.report.uncertainty.tables import uncertainty_tables

        uncertainty = uncertainty_tables(bootstraps, wanted.against)
    from_studies: list[Grid] = []
    for study in paper.studies:
        if study.name in studies:
            from_studies += study.tables(studies[study.name])
    if not any(paper.covers(run) for run in chain(results, *studies.values())):
        return [*uncertainty, *tables_of_runs(results), *from_studies]
    grids: list[Grid] = []
    if len(results):
        grids = [*tables_of_runs(results), *paper.tables(results)]
    return [*grids, *paper.claims(results, bootstraps, studies), *uncertainty, *from_studies]


def write_tables(
    grids: Sequence[Grid], folder: Path, title: str, figures: Sequence[Path] = (), note: Note | None = None
) -> list[Path]:
    """``<id>.tex``, ``.md``, ``.html``, ``.csv`` of each table; together: index.html, index.md, all.tex, all.csv.

    ``note`` is shown below the title of the two index pages.
    """
    grids = _with_file_names(grids)
    texts = {"index.html": html.page(grids, title, figures, note), "index.md": markdown.document(grids, title, note)}
    texts["all.tex"] = latex.document((grid.id for grid in grids), title)
    texts["all.csv"] = csv.tidy(grids)
    for grid in grids:
        texts[f"{grid.id}.tex"] = latex.render(grid)
        texts[f"{grid.id}.md"] = markdown.render(grid)
        texts[f"{grid.id}.html"] = html.page([grid], title)
        texts[f"{grid.id}.csv"] = csv.render(grid)
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in texts.items():
        (folder / name).write_text(text, encoding="utf-8")
    return [folder / name for name in texts]


def _with_file_names(grids: Sequence[Grid]) -> list[Grid]:
    """The tables with ids that can name files and labels; the second table of one id gets a number."""
    named: dict[str, Grid] = {}
    for grid in grids:
        name = slug(grid.id)
        number = 2
        while name in named:
            name = f"{slug(grid.id)}-{number}"
            number += 1
        named[name] = replace(grid, id=name)
    return list(named.values())
