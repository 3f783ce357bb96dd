"""From results to files: every table in every form, and the figures, for each data source that has runs."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import get_args

from fairfr.core.storing import storing
from fairfr.core.types import Source
from fairfr.report.paper.claims.table import claims
from fairfr.report.paper.companions import companions
from fairfr.report.paper.coverage import coverage
from fairfr.report.readings import Reading, Run
from fairfr.report.runs import Runs
from fairfr.report.selection import Selection
from fairfr.report.studies.study import all_studies, of_studies
from fairfr.report.studies.study_runs import StudyRuns
from fairfr.report.tables.grid import SOURCE_LABEL, Grid, Note
from fairfr.report.tables.paper_tables import paper_tables
from fairfr.report.uncertainty.by_setting import Bootstraps
from fairfr.report.writers import csv, html, latex, markdown

LISTED = 10  # variants for which a page names the command


@dataclass(frozen=True, slots=True)
class Wanted:
    """What to build beside tables. ``draws``: of the bootstrap over identities (0: none).

    ``selection``: which runs, where there are several of a method. ``studies``: their names; None: all that have runs.
    """

    draws: int = 0
    figures: bool = True
    selection: Selection = field(default_factory=Selection)
    studies: frozenset[str] | None = None


def write_report(results: Iterable[Run], out_root: Path, reading: Reading, wanted: Wanted) -> list[Path]:
    """Write tables and figures below ``out_root``; returns the folders with tables, one for each data source."""
    results = list(results)
    folders = []
    for source in get_args(Source):
        runs = Runs(results, source, wanted.selection)
        found = of_studies(results, source, reading, wanted.selection)
        studies = {name: one for name, one in found.items() if wanted.studies is None or name in wanted.studies}
        if len(runs) or studies:
            with storing(out_root):
                of_source = [run for run in results if run.stored["source"] == source]
                hidden = hidden_variants(wanted.selection, of_source, out_root, reading)
                folders.append(_write_source(runs, studies, out_root, reading, wanted, hidden))
    return folders


def hidden_variants(selection: Selection, results: Iterable[Run], out_root: Path, reading: Reading) -> Note | None:
    """How many runs the tables do not show because they are variants, and the commands that show them."""
    found = selection.left_out(results)
    if not found:
        return None
    n = sum(found.values())
    text = f"{n} run{'s differ' if n > 1 else ' differs'} from the default configuration. To show them:"
    more = f" (the first {LISTED} of {len(found)} variants)" if len(found) > LISTED else ""
    base = shlex.join(["fairfr", "tables", "--reading", reading, "--out-root", str(out_root)])
    commands = tuple(f"{base} {options}" for options in list(found)[:LISTED])
    return Note("hidden_variants", text + more, "Not shown", commands, for_print=False)


def _write_source(
    runs: Runs,
    studies: Mapping[str, StudyRuns],
    out_root: Path,
    reading: Reading,
    wanted: Wanted,
    hidden: Note | None,
) -> Path:
    place = Path(runs.source, reading)
    grids = all_tables(runs, studies, reading, wanted)
    figures: list[Path] = []
    if wanted.figures:
        from fairfr.report.figures.draw import draw, draw_studies

        target = out_root / "figures" / place
        target.mkdir(parents=True, exist_ok=True)
        figures = [*draw(runs, reading, target), *draw_studies(studies, target)]
    folder = out_root / "tables" / place
    write_tables(grids, folder, f"fairfr: {SOURCE_LABEL[runs.source]}, {reading} reading", figures, hidden)
    return folder


def all_tables(runs: Runs, studies: Mapping[str, StudyRuns], reading: Reading, wanted: Wanted) -> list[Grid]:
    """What has run and the paper's tables, then ours against the paper's, the claims, uncertainty on request, and the
    studies."""
    bootstraps = Bootstraps(runs, reading, wanted.draws) if wanted.draws else None
    grids = [*paper_tables(runs, reading), coverage(runs, reading), *companions(runs, reading)] if len(runs) else []
    grids.append(claims(runs, reading, bootstraps, studies))
    if bootstraps is not None:
        from fairfr.report.uncertainty.tables import uncertainty_tables

        grids += uncertainty_tables(bootstraps)
    return grids + [grid for name, of_study in studies.items() for grid in all_studies()[name].tables(of_study)]


def write_tables(
    grids: Sequence[Grid], folder: Path, title: str, figures: Sequence[Path] = (), note: Note | None = None
) -> list[Path]:
    """``<id>.tex``, ``.md``, ``.html``, ``.csv`` of each table; together: index.html, index.md, all.tex, all.csv.

    ``note`` stands below the title of the two index pages.
    """
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
