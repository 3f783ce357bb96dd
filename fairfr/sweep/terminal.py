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
from fairfr.core.run_key import Parameters, variant_label, variant_text
from fairfr.core.run_result import RunResult
from fairfr.core.text import escape_control_chars
from fairfr.paper.order import DENSITY
from fairfr.report.tables.columns import RESULT_COLUMNS
from fairfr.report.tables.grid import FITTED, TIED, Line, mark_best
from fairfr.report.uncertainty.decision import CANDIDATES, SAFE
from fairfr.store.mlflow.client import default_uri
from fairfr.store.result_file import try_read_result
from fairfr.store.sweep_record import NOT_RUN, CellOutcome
from fairfr.stored.reading import Reading, reading_of, reading_shared_by
from fairfr.stored.run import Run
from fairfr.stored.selection import Selection
from fairfr.sweep.progress import CellBar, SweepBars, make_bars

WIDTH_WITHOUT_TERMINAL = 120

DAGGER = "†"
SECONDS = "s"
PRINTED_FORM = (
    "AC-Density: the paper's headline rows look like method=ac_density_loo, not like\n"
    "its text, which ac_density follows (docs/findings.md)"
)
SHARED_SECONDS = "s: what methods share (data, clusters) counts for the first one that needs it"
LEFT_OUT_FIRST = (SECONDS, "worst\nTPR@1e-3")
WIDE = 10_000


class Terminal:
    """Writes to standard output; a real terminal gets live bars, a pipe gets plain lines."""

    def __init__(self, console: Console | None = None) -> None:
        self._console = console or Console(highlight=False)
        self._shown: set[str] = set()  # texts of warnings
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
        else:
            self._note(finding)

    @contextmanager
    def cell(self, title: str) -> Iterator[CellBar]:
        """A progress bar over folds for the duration of one cell."""
        with make_bars(self._console) as bars:
            yield CellBar(bars, title, self.warn)

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
        differs = {key: value for key, value in result.origin.differs.items() if key not in known}
        method = variant_label(result.method.label, differs)
        name = escape_control_chars(f"{result.dataset.label} x {result.backbone.label} x {method}")
        if error is not None:
            self.failed(f"{position}{name}", error)
            return
        run = Run(result, reading=reading_of(result))
        auroc = run.mean("auroc")
        worst = run.mean("auroc", "worst")
        numbers = f"AUROC {_number(auroc)}  worst {_number(worst)}"
        how = "already done" if status == "skipped" else f"{result.usage.seconds or 0:.1f} s"
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
            self.failed(folder.parent.name, error)
            if not is_user_error:
                self._console.print(Text(escape_control_chars(f"traceback: {folder / 'error.txt'}")), soft_wrap=True)
            return
        self._console.print(results_table([result], width=self._console.width))
        if status == "skipped":
            metric_findings = () if result.metrics is None else result.metrics.warnings
            metric_warnings = [finding for finding in metric_findings if finding.severity != "note"]
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
            f"{len(outcomes)} cell{'' if len(outcomes) == 1 else 's'}: "
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

    def not_mirrored(self, reason: str, out_root: Path, uri: str) -> None:
        """The one message about an MLflow that did not take the results: they are safe, and how it gets them."""
        self.error(reason)
        options = shlex.join(["--out-root", str(out_root), *([] if uri == default_uri(out_root) else ["--uri", uri])])
        self._console.print(
            Text.assemble(
                ("not in MLflow: ", "yellow"),
                escape_control_chars(
                    f"the numbers are safe in {out_root / 'runs'}. When MLflow is back, bring it up to them "
                ),
                "(this is exit code 3):\n    ",
                escape_control_chars(f"python scripts/sync_mlflow.py {options}   or   fairfr sync {options}"),
            ),
            soft_wrap=True,
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
    """One row for each run of one data set and backbone; the best label-free value of each column in bold.

    ``reading``: None is the one that the setting is read in. ``width``: of the screen; where not all fits, the columns
    of ``LEFT_OUT_FIRST`` go, one after another, so that names of methods stay whole.

    Rows of variants name the parameters in which they differ; what all of them share stands in the title.
    """
    reading = reading or reading_shared_by(stored)
    results = [Run(one, reading=reading) for one in stored]
    _, shared = Selection(everything=True).select(results)
    lines = _lines(results)
    left_out: list[str] = []
    table = _table(results, lines, left_out)
    for heading in LEFT_OUT_FIRST:
        if width is None or _natural_width(table) <= width:
            break
        left_out.append(heading)
        table = _table(results, lines, left_out)
    table.title = _title(results, reading, shared)
    table.caption = _caption(results, lines, left_out)
    return table


def _table(results: Sequence[Run], lines: Sequence[Line], left_out: Sequence[str]) -> Table:
    table = Table(box=box.SIMPLE_HEAD, title_justify="left", caption_justify="left")
    labels = [escape_control_chars(line.label) + (DAGGER if line.dagger else "") for line in lines]
    words = [word for label in labels for word in label.split()]
    # a label of several words is wrapped before a number is cut short
    table.add_column("method", min_width=max(len(word) for word in words))
    shown = [place for place, column in enumerate(RESULT_COLUMNS) if column.heading not in left_out]
    for place in shown:
        table.add_column(RESULT_COLUMNS[place].heading, justify="right", no_wrap=True)
    if SECONDS not in left_out:
        table.add_column(SECONDS, justify="right", style="dim", no_wrap=True)
    for result, line, label in zip(results, lines, labels, strict=True):
        cells = _cells(result, line)
        row = [cells[place] for place in shown]
        if SECONDS not in left_out:
            row.append(_seconds(result))
        table.add_row(Text(label), *row)  # as Text: brackets in a label are part of it, not rich's markup
    return table


def _cells(result: Run, line: Line) -> list[Text]:
    if result.result.status == "failed":
        return [Text("failed", style="red"), *(Text("") for _ in RESULT_COLUMNS[1:])]
    return [Text(entry.shown, style="bold" if entry.bold else "") for entry in line.entries]


def _seconds(result: Run) -> Text:
    seconds = result.result.usage.seconds
    return Text("" if seconds is None else f"{seconds:,.1f}")


def _natural_width(table: Table) -> int:
    """How many characters wide a table is where nothing is wrapped."""
    return Console(width=WIDE, file=io.StringIO()).measure(table).maximum


def _lines(results: Sequence[Run]) -> list[Line]:
    """The rows as the report would print them: what is best and what has too few pairs is decided in one place."""
    lines = [
        Line(result.label, tuple(column.entry(result, None) for column in RESULT_COLUMNS), result.needs_groups)
        for result in results
    ]
    return mark_best(lines, [column.higher_is_better for column in RESULT_COLUMNS])


def _title(results: Sequence[Run], reading: Reading, shared: Parameters) -> Text:
    first = results[0].result
    where = escape_control_chars(f"{first.dataset.label} x {first.backbone.label}")
    synthetic = ("   SYNTHETIC stand-in, not faces", "bold yellow") if first.is_synthetic else ("", "")
    variant = f", {escape_control_chars(variant_text(shared))}" if shared else ""
    folds = " or ".join(str(n) for n in sorted({result.n_folds for result in results if result.n_folds}))
    about = f"\nmean over {folds or 'the'} held-out folds, {reading} reading{variant}"
    return Text.assemble((where, "bold"), synthetic, (about, "dim"))


def _caption(results: Sequence[Run], lines: Sequence[Line], left_out: Sequence[str]) -> str | None:
    """What the marks of this table mean, and what is left out; nothing where there is none of it."""
    is_bold = any(entry.bold for line in lines for entry in line.entries)
    marks = ["bold: best method that sees no group labels"] if is_bold else []
    marks += [f"{DAGGER} needs group labels"] if any(line.dagger for line in lines) else []
    if any(entry.tied for line in lines for entry in line.entries):
        marks.append(f"{TIED} no threshold meets the rate")
    shared = ""
    if len(results) > 1 and SECONDS not in left_out:
        shared = SHARED_SECONDS
    raw = any(result.has_groups and result.has_raw_brier for result in results)
    said = "worst Brier: of the raw score where a method has no probability, as in the paper" if raw else ""
    fitted = FITTED if results[0].result.is_synthetic else ""
    form = ""
    if results[0].reading.ranks_by_probability and any(result.cell[2] == DENSITY.id for result in results):
        form = PRINTED_FORM
    names = ["seconds" if heading == SECONDS else heading.replace("\n", " ") for heading in left_out]
    wider = f"in a wider window also: {', '.join(names)}" if names else ""
    return "\n".join(filter(None, ("   ".join(marks), said, form, shared, fitted, wider))) or None
