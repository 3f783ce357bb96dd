"""The table in the terminal, and the lines around it."""

from __future__ import annotations

import io
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from fairfr.core.config import from_file
from fairfr.core.findings import Finding
from fairfr.core.run_result import RunResult
from fairfr.store.result_file import write_result
from fairfr.store.sweep_record import CellOutcome
from fairfr.sweep.terminal import Terminal, results_table


def stored(label: str, auroc: float | None, brier: float | None = 0.1, **changes: Any) -> RunResult:
    numbers = {"auroc": auroc, "tpr_at_fpr_1e-3": 0.5, "brier": brier, "ece_15": 0.02}
    rows = [
        {"grouping": "all", "rule": "all", "group": "all", "metric": metric, "mean": mean}
        for metric, mean in numbers.items()
    ]
    keys = {
        "key": label.lower(),
        "status": "completed",
        "source": "files",
        "finished": "2026-01-01T00:00:00+00:00",
        "identity": {},
        "differs": {},
        "dataset": {"id": "lfw", "label": "LFW"},
        "backbone": {"id": "magface", "label": "MagFace"},
        "method": {"id": label.lower(), "label": label, "needs": [], "native_probability": False},
        "data": {"folds": ["0", "1"], "grouping": None},
        "seconds": 1.25,
        "warnings": [],
        "metric_warnings": [],
        "metrics": rows,
        **changes,
    }
    return RunResult.from_json(keys)


def needing_groups(label: str, auroc: float) -> RunResult:
    method = {"id": label.lower(), "label": label, "needs": ["groups"], "native_probability": False}
    return stored(label, auroc, method=method)


def shown(*results: RunResult, ansi: bool = False, width: int = 160) -> str:
    console = Console(file=io.StringIO(), width=width, force_terminal=ansi, color_system="standard" if ansi else None)
    console.print(results_table(list(results), width=width))
    assert isinstance(console.file, io.StringIO)
    return console.file.getvalue()


def bold(text: str) -> set[str]:
    return {part.partition("\x1b[0m")[0] for part in text.split("\x1b[1m")[1:]}


def test_numbers_are_printed_with_three_digits() -> None:
    text = shown(stored("Platt", 0.98765, 0.0436))
    assert "0.988" in text and "0.044" in text and "Platt" in text
    assert "LFW x MagFace" in text and "mean over 2 held-out folds, paper convention" in text
    assert "SYNTHETIC" not in text


@pytest.mark.parametrize(
    ("longest", "gone"),
    [
        ("Platt", []),
        ("AC-Linear", ["seconds"]),
        ("AC-Density (LOO)", ["seconds", "worst TPR@1e-3"]),
        ("Temperature (C=0.25)", ["seconds", "worst TPR@1e-3"]),
    ],
)
def test_names_of_methods_are_whole_at_80_columns(longest: str, gone: list[str]) -> None:
    """Seconds go first, then the worst TPR."""
    lines = shown(needing_groups(longest, 0.98765), stored("Beta", 0.9, 0.1), width=80).splitlines()
    assert max(len(line.rstrip()) for line in lines) <= 80
    (row,) = [line for line in lines if f"{longest}†" in line]
    (other,) = [line for line in lines if "Beta" in line]
    assert "0.988" in row and other.split()[1] == "0.900" and "0.100" in other
    assert ("1.2" in other.split()) == (not gone)
    said = [line.strip() for line in lines if "in a wider window also" in line]
    assert said == ([f"in a wider window also: {', '.join(gone)}"] if gone else [])


def test_a_very_long_name_is_wrapped_between_words() -> None:
    text = shown(stored("Multicalibration (rounds=100, depth=3333)", 0.98765), width=80)
    assert "Multicalibration" in text and "(rounds=100, depth=3333)" in text and "0.988" in text


def test_a_synthetic_table_says_so() -> None:
    of_standin = shown(stored("Platt", 0.9, source="synthetic"))
    assert "SYNTHETIC" in of_standin
    assert "Some figures are fitted to the paper, all else is not (docs/lab/standin.md)." in of_standin


def test_an_undefined_number_is_a_dash_not_zero() -> None:
    text = shown(stored("Platt", None))
    assert "0.000" not in text and "nan" not in text.lower() and "None" not in text
    line = next(line for line in text.splitlines() if "Platt" in line)
    assert "\u2013" in line.split()


def test_folds_are_those_that_were_scored() -> None:
    whole = stored("Platt", 0.9, 0.1).to_json()
    half = RunResult.from_json({**whole, "metrics": [{**row, "folds_total": 1} for row in whole["metrics"]]})
    assert "mean over 1 held-out folds" in shown(half)
    failed = stored("Beta", None, status="failed", metrics=[], data={})
    assert "mean over 1 or 2 held-out folds" in shown(failed, half, stored("Isotonic", 0.9))


def test_the_brier_score_of_raw_scores_is_named() -> None:
    grouped = {"data": {"folds": ["0", "1"], "grouping": "kind"}}
    native = {"id": "platt", "label": "Platt", "needs": [], "native_probability": True}
    assert "worst Brier: of the raw score" in shown(stored("Baseline", 0.9, **grouped))
    assert "raw score" not in shown(stored("Platt", 0.9, method=native, **grouped))
    assert "raw score" not in shown(stored("Baseline", 0.9)), "without groups there is no worst one"


def test_own_data_is_read_strictly_in_the_terminal() -> None:
    own = {"backbone": {"id": "mynet", "label": "mynet"}, "data": {"folds": ["0", "1"], "grouping": "kind"}}
    text = shown(stored("Baseline", 0.9, **own))
    assert "strict convention" in text and "raw score" not in text


def test_ties_as_printed_are_bold_together_and_lower_brier_wins() -> None:
    text = shown(stored("One", 0.98765, 0.2), stored("Two", 0.98751, 0.1), stored("Three", 0.9, 0.3), ansi=True)
    winners = bold(text)
    assert text.count("\x1b[1m0.988") == 2 and "0.900" not in winners
    assert "0.100" in winners and "0.200" not in winners and "0.300" not in winners


def test_a_method_that_sees_groups_is_marked_and_never_bold() -> None:
    text = shown(needing_groups("GST", 0.99), stored("One", 0.95), stored("Two", 0.9), ansi=True)
    assert "GST†" in text and "† needs group labels" in text
    assert "0.950" in bold(text) and "0.990" not in bold(text)
    assert "†" not in shown(stored("One", 0.95))


def test_where_all_print_the_same_nobody_wins() -> None:
    text = shown(stored("One", 0.95, 0.2), stored("Two", 0.95, 0.1), ansi=True)
    assert "0.950" not in bold(text) and "0.100" in bold(text) and "bold: best method" in text
    assert "bold:" not in shown(stored("One", 0.95), stored("Two", 0.95)), "no legend for a mark that is not there"


def test_a_single_run_has_no_winner() -> None:
    assert "0.950" not in bold(shown(stored("One", 0.95), ansi=True))


def test_a_failed_run_prints_empty() -> None:
    failed = replace(stored("Platt", None, status="failed", metrics=[]), seconds=None)
    line = next(line for line in shown(failed).splitlines() if "Platt" in line)
    assert line.split() == ["Platt", "failed"]


@pytest.fixture
def screen() -> io.StringIO:
    return io.StringIO()


@pytest.fixture
def terminal(screen: io.StringIO) -> Terminal:
    return Terminal(Console(file=screen, highlight=False))


def test_a_sweep_report_counts_and_repeats_every_failure(
    terminal: Terminal, screen: io.StringIO, tmp_path: Path
) -> None:
    outcomes: list[CellOutcome] = []
    for label, source in (("Platt", "files"), ("Beta", "synthetic")):
        (tmp_path / label).mkdir()
        write_result(tmp_path / label, stored(label, 0.9, source=source))
        outcomes.append(
            from_file(
                CellOutcome, {"status": "completed", "folder": str(tmp_path / label), "choices": label, "error": None}
            )
        )
    outcomes.append(
        from_file(
            CellOutcome, {"status": "failed", "choices": "lfw / magface / gst", "error": "DataError: x.csv is empty."}
        )
    )
    assert terminal.sweep_report(outcomes, tmp_path) == 1
    text = screen.getvalue()
    assert "3 runs: 2 computed, 0 already done, 1 failed" in text
    assert "lfw / magface / gst: DataError: x.csv is empty." in text
    assert text.count("LFW x MagFace") == 2, "no table mixes real and synthetic"


@pytest.mark.parametrize(
    ("methods", "source", "named"),
    [
        (("beta", "ac_hinge", "ac_cohort"), "files", True),
        (("beta", "ac_cohort"), "files", False),
        (("beta", "ac_hinge"), "synthetic", False),
    ],
)
def test_a_sweep_that_can_decide_names_the_command_that_does(
    terminal: Terminal, screen: io.StringIO, tmp_path: Path, methods: tuple[str, ...], source: str, named: bool
) -> None:
    outcomes = []
    for id in methods:
        (tmp_path / id).mkdir()
        write_result(tmp_path / id, stored(id, 0.9, source=source))
        outcomes.append(CellOutcome(status="completed", folder=tmp_path / id))
    terminal.sweep_report(outcomes, tmp_path)
    assert (f"fairfr tables --against beta --out-root {tmp_path}" in screen.getvalue().replace("\n", "")) == named


def test_a_skipped_run_says_how_to_run_it_again(terminal: Terminal, screen: io.StringIO, tmp_path: Path) -> None:
    warning = asdict(Finding("odd", "warning", "odd data"))
    terminal.cell_report("skipped", stored("Platt", 0.9, warnings=[warning]), tmp_path, None)
    text = screen.getvalue()
    assert "already done" in text and "force=true" in text and "note: odd data" in text and str(tmp_path) in text


def test_rows_of_a_parameter_sweep_name_what_differs_and_the_title_what_is_shared() -> None:
    runs = [stored("Platt", 0.9, differs={"seed": 1, "method.estimator.C": c}) for c in (2.0, 0.5)]
    text = shown(*runs, stored("Beta", 0.8, differs={"seed": 1}))
    assert "Platt (C=2)" in text and "Platt (C=0.5)" in text and "Beta " in text
    assert "paper convention, seed=1" in text and text.count("seed=1") == 1


def test_a_line_of_a_sweep_names_what_differs(terminal: Terminal, screen: io.StringIO) -> None:
    terminal.cell_line("completed", stored("Platt", 0.9, differs={"method.estimator.C": 1e6}), None)
    assert "LFW x MagFace x Platt (C=1e+06)" in screen.getvalue()


def test_a_failed_run_names_its_traceback_unless_the_mistake_is_in_the_input(
    terminal: Terminal, screen: io.StringIO, tmp_path: Path
) -> None:
    terminal.cell_report("failed", stored("Platt", None), tmp_path / "key", "DataError: no", is_user_error=True)
    assert "DataError: no" in screen.getvalue() and "error.txt" not in screen.getvalue()
    terminal.cell_report("failed", stored("Platt", None), tmp_path / "key", "DataError: odd", is_user_error=False)
    assert str(tmp_path / "key" / "error.txt") in screen.getvalue()


def test_the_panel_of_a_stand_in_depends_on_the_code_not_on_the_words(terminal: Terminal, screen: io.StringIO) -> None:
    terminal.warn(Finding("lookalikes", "note", "folds 'SYNTHETIC' and 'synthetic' differ only in case"))
    assert screen.getvalue().startswith("note: folds 'SYNTHETIC'")
    terminal.warn(Finding("stand-in-used", "serious", "no files"))
    assert "synthetic data" in screen.getvalue()


def test_a_line_of_a_sweep_says_its_position_and_the_time_left(terminal: Terminal, screen: io.StringIO) -> None:
    terminal.cell_line("completed", stored("Platt", 0.9), None, "[ 3/12] ", "about 2 min left")
    (line,) = screen.getvalue().splitlines()
    assert line.startswith("+ [ 3/12] LFW x MagFace x Platt ") and line.endswith("1.2 s  about 2 min left")
    terminal.cell_line("failed", stored("Platt", 0.9), "DataError: no", "[ 4/12] ")
    assert screen.getvalue().splitlines()[1] == "x [ 4/12] LFW x MagFace x Platt: DataError: no"


def test_a_warning_is_shown_once_in_a_sweep(terminal: Terminal, screen: io.StringIO) -> None:
    for _ in range(2):
        with terminal.cell("a cell") as progress:
            progress.warn(Finding("repeated-pairs", "warning", "a pair is listed twice"))
            progress.start(2)
            progress.fold_done("0")
    assert screen.getvalue().count("a pair is listed twice") == 1


def test_the_notes_of_a_single_run_stand_below_its_table(
    terminal: Terminal, screen: io.StringIO, tmp_path: Path
) -> None:
    with terminal.cell("a cell", notes_below=True) as progress:
        progress.warn(Finding("repeated-pairs", "note", "a pair is listed twice"))
        progress.wait_for("another process")
        assert "another process" in screen.getvalue(), "whoever waits wants to know now"
        assert "listed twice" not in screen.getvalue()
    terminal.cell_report("completed", stored("Platt", 0.9), tmp_path, None)
    text = screen.getvalue()
    assert text.index("Platt") < text.index("note: a pair is listed twice") < text.index("files: ")
    assert text.count("listed twice") == 1


def test_notes_are_shown_where_a_single_run_ends_without_a_table(
    terminal: Terminal, screen: io.StringIO, tmp_path: Path
) -> None:
    with pytest.raises(KeyboardInterrupt), terminal.cell("a cell", notes_below=True) as progress:
        progress.warn(Finding("repeated-pairs", "note", "a pair is listed twice"))
        raise KeyboardInterrupt
    assert screen.getvalue() == "note: a pair is listed twice\n"
    with terminal.cell("a cell", notes_below=True) as progress:
        progress.warn(Finding("one-group", "note", "all people are of one group"))
    terminal.cell_report("failed", stored("Platt", None), tmp_path / "key", "DataError: no", is_user_error=True)
    assert screen.getvalue().splitlines()[1] == "note: all people are of one group"


def test_the_next_command_names_another_output_folder(terminal: Terminal, screen: io.StringIO) -> None:
    terminal.next_step("outputs")
    terminal.next_step("my runs")
    assert screen.getvalue().splitlines() == ["next: fairfr tables", "next: fairfr tables --out-root 'my runs'"]


def test_text_with_brackets_is_printed_as_it_is(terminal: Terminal, screen: io.StringIO) -> None:
    terminal.error("ConfigError: dataset.grouping=[ethnicity] is wrong [bold]")
    assert screen.getvalue() == "ConfigError: dataset.grouping=[ethnicity] is wrong [bold]\n"
