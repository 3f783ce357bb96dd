"""Names are data: no writer takes them for commands, and none lets them steer a terminal."""

from __future__ import annotations

import io
import json
from dataclasses import asdict
from itertools import pairwise
from pathlib import Path

import pytest
from made_runs import result_of
from rich.console import Console

from fairfr.core.errors import DataError
from fairfr.core.findings import STAND_IN_USED, Finding
from fairfr.core.run_result import RunResult
from fairfr.core.text import escape_control_chars, escape_json
from fairfr.report.tables.grid import Entry, Grid, Line, Note, Section, Spanner
from fairfr.report.writers import csv, html, latex, markdown
from fairfr.sweep.terminal import Terminal, results_table

BRACKETS = ("[/x]", "Platt [ours]", "[red]Beta[/red]", "[bold", "\\[a]")
STEERING = ("\x1b[2J", "\x9b31m", "\x07", "\u202eevil", "\x00")


def grid(label: str) -> Grid:
    lines = (Line(label, (Entry("0.5", 0.5), Entry(label))), Line("plain", (Entry("0.4", 0.4), Entry())))
    return Grid(
        id="t",
        title=f"Table of {label}",
        corner=("method",),
        spanners=(Spanner(label, ("AUROC", label)),),
        sections=(Section(label, lines),),
        notes=(Note("odd", label, label, (label,)), Note("odd", label, label, (label,), for_print=False)),
        about=(label,),
        chapter=label,
    )


def stored(label: str) -> RunResult:
    keys = {
        "status": "completed",
        "source": "files",
        "dataset": {"id": "d", "label": label},
        "backbone": {"id": "b", "label": label},
        "method": {"id": "m", "label": label, "needs": [], "native_probability": False},
        "data": {"folds": ["0"], "grouping": None},
        "seconds": 1.0,
        "warnings": [asdict(Finding("other", "note", f"a note on {label}"))],
        "metric_warnings": [],
        "differs": {},
        "metrics": [],
    }
    return result_of(keys)


def printed(label: str, folder: Path) -> str:
    console = Console(file=io.StringIO(), width=200, force_terminal=True, color_system=None, highlight=False)
    terminal = Terminal(console)
    console.print(results_table([stored(label)]))
    terminal.cell_line("completed", stored(label), None)
    terminal.cell_report("skipped", stored(label), folder, None)
    terminal.cell_report("failed", stored(label), folder / label.replace("/", "_").replace("\0", "_"), f"Oops: {label}")
    terminal.failed(label, label)
    terminal.error(f"DataError: {label}")
    with terminal.cell(label) as progress:
        progress.warn(Finding(STAND_IN_USED, "serious", f"SYNTHETIC {label}"))
        progress.warn(Finding("other", "note", f"odd {label}"))
        progress.start(2)
        progress.fold_done("0")
    assert isinstance(console.file, io.StringIO)
    return console.file.getvalue()


@pytest.mark.parametrize("label", BRACKETS)
def test_brackets_in_names_reach_the_terminal(label: str, tmp_path: Path) -> None:
    text = printed(label, tmp_path)
    for line in (f"{label} x {label} x {label}", f"x {label}: {label}", f"SYNTHETIC {label}", f"note: odd {label}"):
        assert line in text
    assert f"Oops: {label}" in text


@pytest.mark.parametrize("label", STEERING)
def test_nothing_of_a_name_steers_the_terminal(label: str, tmp_path: Path) -> None:
    text = printed(f"a{label}z", tmp_path)
    assert escape_control_chars(f"a{label}z") in text
    assert label not in text


@pytest.mark.parametrize("label", STEERING)
def test_nor_a_message_or_a_file(label: str) -> None:
    texts = [str(DataError(f"group '{label}'")), csv.render(grid(label)), csv.tidy([grid(label)])]
    texts += [writer.render(grid(label)) for writer in (latex, html, markdown)]
    texts += [
        html.page([grid(label), grid(label)], label),
        markdown.document([grid(label)], label),
        latex.document(["t"], label),
    ]
    for text in texts:
        assert label not in text


def test_what_is_spelled_out_and_what_is_not() -> None:
    assert escape_control_chars("a\x1b[1mb\x7f\u202ec") == "a\\x1b[1mb\\x7f\\u202ec"
    for text in ("two\nlines", "a\ttab", "Zo\u00eb \u5f20 \U0001f600", "\\x1b"):
        assert escape_control_chars(text) == text
    value = {"group": "a\x9bm\u202e\x1b \u5f20"}
    escaped = escape_json(json.dumps(value, ensure_ascii=False))
    assert json.loads(escaped) == value and "\x9b" not in escaped and "\u5f20" in escaped


@pytest.mark.parametrize("label", ["[ours]", "  [1] x", "*", "[/x]"])
def test_a_row_is_never_taken_for_the_option_of_the_rule_before_it(label: str) -> None:
    lines = latex.render(grid(label)).splitlines()
    for before, row in pairwise(lines):
        if before.endswith(r"\\") or before.endswith("rule"):
            assert not row.lstrip().startswith(("[", "*"))
    assert any(line.startswith("{}") and label in line for line in lines)
