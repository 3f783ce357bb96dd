"""A sweep from its parent run to its summary: what the process that started it does before and after the cells."""

from __future__ import annotations

import contextlib
import tempfile
import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from fairfr.core.errors import FairfrError
from fairfr.paper.reading import reading_shared_by
from fairfr.report.readings import STRICT, Run
from fairfr.report.selection import Selection
from fairfr.store.mlflow.mirror import Mirror
from fairfr.store.reading import read_result
from fairfr.store.sweep import Outcome, Sweep, SweepEnd, read_outcomes
from fairfr.sweep.terminal import Terminal

FAILED, NOT_MIRRORED = 1, 3  # exit codes: something has no result; all has, but MLflow does not have it all


class RunningSweep:
    """One sweep; ``folder`` is where its jobs leave their outcomes, ``mirror`` None where there is no MLflow.

    ``is_named``: it is an experiment with a yaml, at whose end the tables are written.
    """

    def __init__(
        self,
        sweep: Sweep,
        folder: Path,
        out_root: Path,
        mirror: Mirror | None,
        with_report: bool = True,
        is_named: bool = False,
    ) -> None:
        self._sweep, self._folder, self._out_root, self._mirror = sweep, folder, out_root, mirror
        self._with_report, self._is_named = with_report, is_named

    def start(self, in_parallel: bool) -> None:
        """Parallel workers would race to make the database and the parent run: they find both, or know why not."""
        if self._mirror is not None and in_parallel:
            try:
                self._mirror.open_sweep(self._sweep)
            except FairfrError as error:  # shown at the end: the cells' run folders are complete without MLflow
                self._sweep = replace(self._sweep, unmirrored=error.named())
        elif self._mirror is not None and not self._mirror.has_sweep(self._sweep):
            self._mirror.start()
        self._sweep.write(self._folder)

    def plan(self, first: int, jobs: Sequence[Sequence[str]]) -> Sequence[str]:
        """Write down which jobs there will be, and return their names: what did not run is known only by that."""
        self._sweep = self._sweep.with_jobs(first, jobs)
        self._sweep.write(self._folder)
        return self._sweep.planned[first:]

    def finish(self, status: str | None = None) -> int:
        """Show the summary and finish the parent run; returns the exit code.

        ``status``: FAILED or KILLED for a sweep that was cut short.
        """
        terminal = Terminal()
        outcomes = read_outcomes(self._folder, self._sweep.planned)
        failed = bool(outcomes) and terminal.sweep_report(outcomes, self._out_root) > 0
        over = self._sweep.over(time.time(), status, outcomes)
        with contextlib.suppress(OSError):  # on a full disk, which the missing cells show
            over.write(self._folder)
        if self._is_named and status != "KILLED":
            self._write_tables(outcomes, terminal)
        if self._mirror is None:
            return FAILED if failed else 0
        refusals = [o["unmirrored"] for o in outcomes if o.get("unmirrored")]
        refusal = over.unmirrored or next(iter(refusals), None)
        if not any(o.get("gave_up") for o in outcomes) and over.unmirrored is None:
            made, last = self._mirror_end(over, outcomes, terminal)
            failed, refusal = failed or not made, refusal or last
        if refusal is None:
            terminal.mlflow_hint(str(self._out_root), self._mirror)
        else:
            terminal.not_mirrored(refusal, self._out_root, self._mirror.uri)
        return FAILED if failed else (0 if refusal is None else NOT_MIRRORED)

    def _write_tables(self, outcomes: Sequence[Outcome], terminal: Terminal) -> None:
        """The tables of all runs below ``out_root`` that share what the sweep's own runs share.

        Of studies only those that it belongs to: intervals of others would be drawn anew. ``fairfr tables`` makes all.
        Where older runs stand in the way, that is said: the sweep itself has not failed.
        """
        from fairfr.report.runs import read_results
        from fairfr.report.study import all_studies
        from fairfr.report.write import Wanted, write_report

        try:
            results, _ = read_results(self._out_root)
            keys = {read["key"] for o in outcomes if "folder" in o and (read := read_result(Path(o["folder"])))}
            own = [run for run in results if run.stored["key"] in keys]
            names = frozenset(str(run.stored.get("study")) for run in own)
            studies = [study for name, study in all_studies().items() if name in names]
            chosen = Selection.like(own, [name for study in studies for name in study.varies])
            pages = write_report(results, self._out_root, None, Wanted(selection=chosen, studies=names))
        except FairfrError as error:
            terminal.error(f"no tables: {error.named()}")
            return
        terminal.tables([page.folder for page in pages])

    def _mirror_end(self, over: Sweep, outcomes: Sequence[Outcome], terminal: Terminal) -> tuple[bool, str | None]:
        """Whether the report could be made, and why MLflow does not have the end of the sweep, if so."""
        assert self._mirror is not None
        end = SweepEnd.of(over, outcomes)
        try:
            return self._mirror.has_sweep(over, end) or self._close(over, end, outcomes, terminal), None
        except FairfrError as error:
            return True, error.named()

    def _close(self, over: Sweep, end: SweepEnd, outcomes: Sequence[Outcome], terminal: Terminal) -> bool:
        """Finish the parent run, with the report if it is wanted; whether the report could be made."""
        assert self._mirror is not None
        made = True
        with tempfile.TemporaryDirectory() as name:
            try:
                if self._with_report and over.status != "KILLED":
                    write_sweep_report(outcomes, Path(name))
            except Exception as error:  # a report that fails must not cost the parent run its end
                terminal.error(f"the sweep's report could not be made: {type(error).__name__}: {error}")
                made = False
            self._mirror.close_sweep(over, end, Path(name))
        return made


def write_sweep_report(outcomes: Sequence[Outcome], folder: Path) -> None:
    """Tables, claims and figures of these cells alone, in the reading that all of them share: they take seconds.

    Of the paper's settings alone there are strict tables too.
    """
    from fairfr.report.write import Wanted, write_report

    folders = dict.fromkeys(Path(outcome["folder"]) for outcome in outcomes if "folder" in outcome)
    stored = [(read_result(path), path) for path in folders]
    results = [Run(result, path) for result, path in stored if result is not None]
    shared = reading_shared_by(run.stored for run in results)
    for reading in dict.fromkeys((shared, STRICT)):
        wanted = Wanted(figures=reading == shared, selection=Selection(everything=True))
        write_report(results, folder, reading, wanted)
