"""From results to files: every table in every form, and the figures, for each data source and reading that has runs."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import chain, product
from pathlib import Path
from typing import NamedTuple, get_args

from fairfr.core.errors import ConfigError
from fairfr.core.run_key import variant_label
from fairfr.core.storage import translate_os_errors
from fairfr.core.text import slug
from fairfr.core.types import Source
from fairfr.report.paper_spec import Paper
from fairfr.report.study import runs_by_study
from fairfr.report.tables.grid import DECISION, NOTHING_TO_SAY, SOURCE_LABEL, Grid, Note, Opening
from fairfr.report.tables.notes import not_shown
from fairfr.report.tables.setting_tables import tables_of_runs
from fairfr.report.uncertainty.decision import SAFE
from fairfr.report.uncertainty.setting_bootstrap import BootstrapCache
from fairfr.report.writers import csv, html, latex, markdown
from fairfr.store.parquet_files import SCORES_FILE
from fairfr.stored.aside import LeftAside, options_for
from fairfr.stored.order import BASELINE, is_called, rows_of
from fairfr.stored.reading import Reading
from fairfr.stored.results import Results, shown_results
from fairfr.stored.run import Run
from fairfr.stored.runs import runs_of_page
from fairfr.stored.selection import OF_METHOD, Selection

MIN_COMPARED = 2


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
    for source, one in product(get_args(Source), readings):
        belongs = None
        if reading is None:
            belongs = partial(paper.reads, reading=one)
        fills_rows = partial(_fills_rows, belongs=belongs, with_own_table=with_own_table)
        results = shown_results(every, source, wanted.selection, fills_rows, one, paper.order)
        found.append((results, runs_of_page(every, source, belongs)))
    _check_against(wanted.against, [results for results, _ in found])
    pages = []
    for results, of_this in found:
        of_all = runs_by_study(paper.studies, of_this, results.source, results.reading, wanted.selection)
        studies = {name: of for name, of in of_all.items() if wanted.studies is None or name in wanted.studies}
        if len(results) or studies:
            with translate_os_errors(out_root):
                notes = notes_of_page(results, wanted, out_root, reading)
                folder, decisions = _write_page(results, studies, out_root, wanted, notes, paper)
            pages.append(Page(folder, tuple(results.aside), decisions))
    return pages


def _fills_rows(run: Run, belongs: Callable[[Run], bool] | None, with_own_table: Collection[str]) -> bool:
    """Also where they are asked for by ``--where study=NAME``, the paper's studies have tables of their own."""
    return run.result.study not in with_own_table and (belongs is None or belongs(run))


def with_variant(against: str | None, selection: Selection, runs: Sequence[Run]) -> Selection:
    """The selection, with the variant that ``--against`` names: nothing is compared with a row that is not there."""
    if against is None:
        return selection
    for run in selection.hidden(runs):
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


def notes_of_page(results: Results, wanted: ReportOptions, out_root: Path, reading: Reading | None) -> list[Note]:
    """How to get what the page does not have: sentences that decide, and runs that it leaves aside."""
    notes = []
    reference = _compared_with(results)
    if wanted.against is None and reference is not None:
        chosen = options_for({one.key: one.values for one in wanted.selection.conditions})
        words = [_command(wanted, out_root, reading), chosen, f"--against {shlex.quote(reference)}"]
        command = " ".join(filter(None, words))
        lead = "What differences between methods decide, in sentences and with intervals"
        notes.append(Note("sentences", lead=lead, commands=(command,), for_print=False))
    aside = note_of_runs_left_aside(wanted, results.aside, out_root, reading)
    if aside is not None:
        notes.append(aside)
    return notes


def _compared_with(results: Results) -> str | None:
    """The method with which others are best compared; None where nothing can be compared, or no scores are stored."""
    methods = {}
    for run in results:
        if run.folder is not None and (run.folder / SCORES_FILE).exists():
            methods[run.cell[2]] = run
    if len(methods) < MIN_COMPARED:
        return None
    return next((method for method in (SAFE, BASELINE.id) if method in methods), min(methods))


def note_of_runs_left_aside(
    wanted: ReportOptions, aside: Sequence[LeftAside], out_root: Path, reading: Reading | None
) -> Note | None:
    """Which runs the tables do not show and why, and the commands that show them; None: they show all.

    ``reading``: the one that was asked for, if any.
    """
    if not aside:
        return None
    return not_shown(aside, _command(wanted, out_root, reading))


def _command(wanted: ReportOptions, out_root: Path, reading: Reading | None) -> str:
    """The one that made the page, without what it chose."""
    asked: list[str] = []
    if reading is not None:
        asked = ["--reading", reading.name]
    return shlex.join(["fairfr", "tables", *asked, *wanted.origin, "--out-root", str(out_root)])


def _write_page(
    results: Results,
    studies: Mapping[str, Results],
    out_root: Path,
    wanted: ReportOptions,
    notes: Sequence[Note],
    paper: Paper,
) -> tuple[Path, tuple[tuple[str, tuple[str, ...]], ...]]:
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
    decisions = tuple(_decisions(grids))
    title = f"fairfr: {SOURCE_LABEL[source]}, {reading} convention"
    opening = Opening(notes=notes)
    if not _is_of_paper(results, studies, paper):  # whose page has many settings, and begins with an overview
        opening = Opening(decisions, notes)
    write_tables(grids, folder, title, figures, opening)
    return folder, decisions


def _decisions(grids: Iterable[Grid]) -> Iterator[tuple[str, tuple[str, ...]]]:
    """What tables of intervals decide in words, each with the table's heading."""
    for grid in grids:
        said = tuple(note.text for note in grid.notes if note.code == DECISION)
        if said:
            yield grid.heading, said


def all_tables(results: Results, studies: Mapping[str, Results], wanted: ReportOptions, paper: Paper) -> list[Grid]:
    """What a paper begins with, what has run, the paper's other tables and claims, uncertainty on request, and studies.

    Own data alone has no use for what the paper says.
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
    if not _is_of_paper(results, studies, paper):
        return [*tables_of_runs(results), *uncertainty, *from_studies]
    grids: list[Grid] = []
    if len(results):
        grids = [*paper.first_tables(results), *tables_of_runs(results), *paper.tables(results)]
    return [*grids, *paper.claims(results, bootstraps, studies), *uncertainty, *from_studies]


def _is_of_paper(results: Results, studies: Mapping[str, Results], paper: Paper) -> bool:
    return any(paper.covers(run) for run in chain(results, *studies.values()))


def write_tables(
    grids: Sequence[Grid],
    folder: Path,
    title: str,
    figures: Sequence[Path] = (),
    opening: Opening = NOTHING_TO_SAY,
) -> list[Path]:
    """``<id>.tex``, ``.md``, ``.html``, ``.csv`` of each table; together: index.html, index.md, all.tex, all.csv.

    ``opening`` stands below the title of the two index pages; its answers are not repeated below their tables.
    """
    grids = _with_file_names(grids)
    on_page = grids
    if opening.answers:
        on_page = [replace(grid, notes=_without_decisions(grid.notes)) for grid in grids]
    texts = {
        "index.html": html.page(on_page, title, figures, opening),
        "index.md": markdown.document(on_page, title, opening),
    }
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


def _without_decisions(notes: Iterable[Note]) -> tuple[Note, ...]:
    return tuple(note for note in notes if note.code != DECISION)


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
