"""What a person sees while cells run and when they are done."""

from __future__ import annotations

import io
import shlex
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from rich import box
from rich.console import Console
from rich.panel import Panel
from rich.table import Table
from rich.text import Text

from fairfr.core.findings import STAND_IN_USED, Finding
from fairfr.core.run_key import variant_label
from fairfr.core.run_result import RunResult
from fairfr.core.text import escape_control_chars, plural
from fairfr.paper.order import DENSITY
from fairfr.report.tables import results_table as tables
from fairfr.report.tables.grid import Entry
from fairfr.report.uncertainty.decision import CANDIDATES, SAFE
from fairfr.runner.cell_bar import ELSEWHERE_CODE, CellBar, make_bars
from fairfr.store.mlflow.client import default_uri
from fairfr.store.result_file import try_read_result
from fairfr.store.sweep_record import NOT_RUN, CellOutcome
from fairfr.stored.reading import Reading, reading_of
from fairfr.stored.run import Run
from fairfr.sweep.progress import SweepBars

WIDTH_WITHOUT_TERMINAL = 120

PRINTED_FORM = (
    "AC-Density: the paper's headline rows look like method=ac_density_loo, not like\n"
    "its text, which ac_density follows (docs/lab/methods_notes.md)"
)
LEFT_OUT_FIRST = (tables.SECONDS, "worst\nTPR@1e-3")
WIDE = 10_000


class Terminal:
    """Writes to standard output; a real terminal gets live bars, a pipe gets plain lines."""

    def __init__(self, console: Console | None = None) -> None:
        self._console = console or Console(highlight=False)
        self._shown: set[str] = set()  # texts of warnings
        self._held: list[Finding] | None = None  # notes that go below a table; None: they are shown at once
        if not self._console.is_terminal:
            self._console.width = max(self._console.width, WIDTH_WITHOUT_TERMINAL)

    def error(self, message: str) -> None:
        name, colon, rest = message.partition(": ")
        self._console.print(
            Text.assemble((escape_control_chars(name + colon), "bold red"), escape_control_chars(rest)), soft_wrap=True
        )

    def warn(self, finding: Finding) -> None:
        """Show a warning; the same one only once."""
        if finding.text in self._shown:
            return
        self._shown.add(finding.text)
        if finding.code == STAND_IN_USED:
            text = Text(escape_control_chars(finding.text))
            self._console.print(Panel(text, border_style="bold yellow", style="yellow", title="synthetic data"))
        elif self._held is not None and finding.code != ELSEWHERE_CODE:
            self._held.append(finding)
        else:
            self._note(finding)

    @contextmanager
    def cell(self, title: str, notes_below: bool = False) -> Iterator[CellBar]:
        """A progress bar over folds for the duration of one cell; its notes may be kept for ``cell_report``."""
        if notes_below:
            self._held = []
        try:
            with make_bars(self._console) as bars:
                yield CellBar(bars, title, self.warn)
        except BaseException:
            self._show_held()
            raise

    def _show_held(self) -> None:
        """The notes that were kept for below the table."""
        for finding in self._held or ():
            self._note(finding)
        self._held = None

    @contextmanager
    def sweep_bars(self) -> Iterator[SweepBars]:
        """Bars for the duration of a sweep; rich puts above them whatever this process prints meanwhile."""
        with make_bars(self._console) as bars:
            yield SweepBars(bars)

    def _note(self, finding: Finding) -> None:
        word = "warning: " if finding.severity == "serious" else "note: "
        self._console.print(Text.assemble((word, "yellow"), escape_control_chars(finding.text)), soft_wrap=True)

    def plan(self, lines: Sequence[str]) -> None:
        """What a sweep will do."""
        for line in lines:
            self._console.print(Text(escape_control_chars(line)), soft_wrap=True)

    def tables(self, folders: Sequence[Path]) -> None:
        """Where a sweep's tables are."""
        for folder in folders:
            place = escape_control_chars(str(folder / "index.html"))
            self._console.print(Text.assemble(("tables: ", "bold"), place), soft_wrap=True)

    def cell_line(
        self, status: str, result: RunResult, error: str | None, position: str = "", left: str | None = None
    ) -> None:
        """One line for a cell of a sweep, with the time ``left`` where no bar shows it."""
        known = ("study", "protocol") if result.study else ()  # by the name of the sweep
        differs = {key: value for key, value in result.differs.items() if key not in known}
        method = variant_label(result.method.label, differs)
        name = escape_control_chars(f"{result.dataset.label} x {result.backbone.label} x {method}")
        if error is not None:
            self.failed(f"{position}{name}", error)
            return
        run = Run(result, reading=reading_of(result))
        auroc = run.mean("auroc")
        worst = run.mean("auroc", "worst")
        numbers = f"AUROC {_number(auroc)}  worst {_number(worst)}"
        how = "already done" if status == "skipped" else f"{result.seconds or 0:.1f} s"
        mark = ("= ", "dim") if status == "skipped" else ("+ ", "green")
        synthetic = ("  synthetic", "yellow") if result.is_synthetic else ("", "")
        rest = "" if left is None or self._console.is_terminal else f"  {left}"
        line = Text.assemble(mark, f"{position}{name:<44}  ", numbers, (f"  {how}", "dim"), synthetic, (rest, "dim"))
        self._console.print(line, soft_wrap=not self._console.is_terminal)

    def cell_report(
        self, status: str, result: RunResult, folder: Path, error: str | None, is_user_error: bool = False
    ) -> None:
        """What a single run prints at its end; a mistake in the input has no traceback."""
        if error is not None:
            self._show_held()
            self.failed(folder.parent.name, error)
            if not is_user_error:
                self._console.print(Text(escape_control_chars(f"traceback: {folder / 'error.txt'}")), soft_wrap=True)
            return
        self._console.print(results_table([result], width=self._console.width))
        self._show_held()
        if status == "skipped":
            metric_warnings = [finding for finding in result.metric_warnings if finding.severity != "note"]
            for finding in (*result.warnings, *metric_warnings):
                self._note(finding)
            self._console.print("already done: a completed run has the same key (force=true runs it again)")
        self._console.print(Text.assemble(("files: ", "bold"), escape_control_chars(str(folder))), soft_wrap=True)

    def failed(self, name: str, error: str) -> None:
        parts = ("x ", "bold red"), escape_control_chars(f"{name}: "), (escape_control_chars(error), "red")
        self._console.print(Text.assemble(*parts), soft_wrap=True)

    def sweep_report(self, outcomes: Sequence[CellOutcome], out_root: Path) -> int:
        """A table for each data set and backbone, then every failure. Returns the number of cells without a result."""
        by_setting = _by_setting(outcomes)
        for stored in by_setting.values():
            self._console.print(results_table(stored, width=self._console.width))
        counts = Counter(outcome.status for outcome in outcomes)
        self._console.print(
            f"{plural(len(outcomes), 'run')}: "
            f"{counts['completed']} computed, {counts['skipped']} already done, "
            f"{counts['failed']} failed" + (f", {counts[NOT_RUN]} not run" if counts[NOT_RUN] else "")
        )
        for outcome in outcomes:
            if outcome.has_failed:
                self.failed(outcome.choices, str(outcome.error))
        self._console.print(
            Text.assemble(("files: ", "bold"), escape_control_chars(str(out_root / "runs"))), soft_wrap=True
        )
        if any(_can_be_decided(stored) for stored in by_setting.values()):
            command = shlex.join(["fairfr", "tables", "--against", SAFE, "--out-root", str(out_root)])
            said = f"{command}   (intervals over people, and advice in words)"
            self._console.print(Text.assemble(("which to take: ", "bold"), escape_control_chars(said)), soft_wrap=True)
        return counts["failed"] + counts[NOT_RUN]

    def not_mirrored(self, reason: str, out_root: Path, uri: str, code: int) -> None:
        """The one message about an MLflow that did not take the results: they are safe, and how it gets them.

        ``code``: with which the command ends, for this reason or for another.
        """
        self.error(reason)
        options = shlex.join(
            ["--out-root", str(out_root), *([] if uri == default_uri(out_root) else ["--tracking-uri", uri])]
        )
        self._console.print(
            Text.assemble(
                ("not in MLflow: ", "yellow"),
                escape_control_chars(
                    f"the numbers are safe in {out_root / 'runs'}. When MLflow is back, bring it up to them "
                ),
                f"(this is exit code {code}):\n    ",
                escape_control_chars(f"python scripts/sync_mlflow.py {options}   or   fairfr sync {options}"),
            ),
            soft_wrap=True,
        )

    def next_step(self, out_root: str) -> None:
        """What to do with results."""
        command = ["fairfr", "tables"]
        if out_root != "outputs":
            command += ["--out-root", out_root]
        self._console.print(
            Text.assemble(("next: ", "bold"), escape_control_chars(shlex.join(command))), soft_wrap=True
        )

    def mlflow_hint(self, out_root: str, uri: str) -> None:
        """Where to compare runs: in a checkout, and where fairfr is installed; or the address of another store."""
        if uri != default_uri(Path(out_root)):
            self._console.print(Text.assemble(("MLflow: ", "bold"), uri), soft_wrap=True)
            return
        place = shlex.quote(out_root)
        make, installed = ("", "") if out_root == "outputs" else (f" OUT={place}", f" --out-root {place}")
        ways = f"make ui{make}   or   fairfr ui{installed}   (compare runs in the browser)"
        self._console.print(Text.assemble(("MLflow: ", "bold"), ways), soft_wrap=True)


def _can_be_decided(stored: Sequence[RunResult]) -> bool:
    """Whether results of one setting are of real data and of methods between which the tables decide."""
    methods = {result.method.id for result in stored}
    return {SAFE, CANDIDATES[0]} <= methods and not any(result.is_synthetic for result in stored)


def _by_setting(outcomes: Sequence[CellOutcome]) -> dict[tuple[str, str, str], list[RunResult]]:
    """Stored results of one table each: same data set, backbone and source."""
    tables: dict[tuple[str, str, str], list[RunResult]] = {}
    for outcome in outcomes:
        result = None if outcome.folder is None else try_read_result(outcome.folder)
        if result is not None:
            where = (result.dataset.id, result.backbone.id, result.source)
            tables.setdefault(where, []).append(result)
    return tables


def _number(value: float | None) -> str:
    return "   - " if value is None else f"{value:.3f}"


def results_table(stored: Sequence[RunResult], reading: Reading | None = None, width: int | None = None) -> Table:
    """The report's table of these runs for a screen of ``width`` characters.

    Where not all fits, the columns of ``LEFT_OUT_FIRST`` go, one after another, so that names of methods stay whole.
    """
    found = tables.results_table(stored, reading)
    left_out: list[str] = []
    table = _drawn(found, left_out)
    for heading in LEFT_OUT_FIRST:
        if width is None or _natural_width(table) <= width:
            break
        left_out.append(heading)
        table = _drawn(found, left_out)
    synthetic = ("   SYNTHETIC stand-in, not faces", "bold yellow") if found.is_synthetic else ("", "")
    table.title = Text.assemble((found.where, "bold"), synthetic, (f"\n{found.about}", "dim"))
    table.caption = found.caption(left_out, notes=_notes(found)) or None
    return table


def _drawn(found: tables.ResultsTable, left_out: Sequence[str]) -> Table:
    table = Table(box=box.SIMPLE_HEAD, title_justify="left", caption_justify="left")
    words = [word for label in found.labels for word in label.split()]
    # a label of several words is wrapped before a number is cut short
    table.add_column("method", min_width=max(len(word) for word in words))
    for heading in found.headings(left_out):
        style = "dim" if heading == tables.SECONDS else ""
        table.add_column(heading, justify="right", style=style, no_wrap=True)
    for label, entries in zip(found.labels, found.rows(left_out), strict=True):
        cells = [Text(entry.shown, style=_style(entry)) for entry in entries]
        table.add_row(Text(label), *cells)  # as Text: brackets in a label are part of it, not rich's markup
    return table


def _style(entry: Entry) -> str:
    if entry.text == "failed":
        return "red"
    if entry.bold:
        return "bold"
    return ""


def _natural_width(table: Table) -> int:
    """How many characters wide a table is where nothing is wrapped."""
    return Console(width=WIDE, file=io.StringIO()).measure(table).maximum


def _notes(found: tables.ResultsTable) -> list[str]:
    """What is said of the paper's form of AC-Density where it is shown in the paper's reading."""
    by_probability = found.runs[0].reading.ranks_by_probability
    if by_probability and any(run.cell[2] == DENSITY.id for run in found.runs):
        return [PRINTED_FORM]
    return []
