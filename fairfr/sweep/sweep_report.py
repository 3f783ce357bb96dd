"""What a sweep leaves at its end: tables of its runs, and the report that its parent run in MLflow shows."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from fairfr.core.errors import FairfrError
from fairfr.store.result_file import try_read_result
from fairfr.store.sweep_record import CellOutcome
from fairfr.stored.reading import STRICT, reading_shared_by
from fairfr.stored.run import Run
from fairfr.stored.selection import Selection
from fairfr.sweep.terminal import Terminal


def write_tables(out_root: Path, outcomes: Sequence[CellOutcome], terminal: Terminal) -> None:
    """Write the tables of all runs below ``out_root`` that share what the sweep's own runs share.

    Of studies only those that it belongs to: intervals of others would be drawn again. ``fairfr tables`` makes all.
    Where older runs are in the way, that is said: the sweep itself has not failed.
    """
    from fairfr.paper.definition import PAPER
    from fairfr.report.write import ReportOptions, write_report
    from fairfr.stored.runs import read_runs

    try:
        results, _ = read_runs(out_root)
        keys = {run.result.key for run in _runs_of(outcomes)}
        own = [run for run in results if run.result.key in keys]
        names = frozenset(str(run.result.study) for run in own)
        varied: list[str] = []
        for study in PAPER.studies:
            if study.name in names:
                varied.extend(study.varies)
        chosen = Selection.shared_by(own, varied)
        pages = write_report(results, out_root, None, ReportOptions(selection=chosen, studies=names), PAPER)
    except FairfrError as error:
        terminal.error(f"no tables: {error.named()}")
        return
    terminal.tables([page.folder for page in pages])


def write_sweep_report(outcomes: Sequence[CellOutcome], folder: Path, config_dirs: tuple[Path, ...] = ()) -> None:
    """Write tables, claims and figures of these cells alone, in the reading that all of them share: they take seconds.

    Of the paper's settings alone there are strict tables too. ``config_dirs``: as for ``Run``.
    """
    from fairfr.paper.definition import PAPER
    from fairfr.report.write import ReportOptions, write_report

    runs = _runs_of(outcomes, config_dirs)
    shared = reading_shared_by(run.result for run in runs)
    for reading in dict.fromkeys((shared, STRICT)):
        wanted = ReportOptions(figures=reading == shared, selection=Selection(everything=True))
        write_report(runs, folder, reading, wanted, PAPER)


def _runs_of(outcomes: Sequence[CellOutcome], config_dirs: tuple[Path, ...] = ()) -> list[Run]:
    """The runs that these cells have stored, each once."""
    folders = dict.fromkeys(outcome.folder for outcome in outcomes if outcome.folder is not None)
    runs = []
    for folder in folders:
        result = try_read_result(folder)
        if result is not None:
            runs.append(Run(result, folder, config_dirs=config_dirs))
    return runs
