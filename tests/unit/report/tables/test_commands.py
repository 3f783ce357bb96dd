"""Commands that fill a table, on the paper's data and on a user's own."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from made_runs import change

from fairfr.paper.order import HEADLINE, ORDER
from fairfr.paper.reading import PAPER_READING
from fairfr.report.run import STRICT, Run
from fairfr.report.runs import SelectedRuns
from fairfr.report.selection import Selection
from fairfr.report.tables.commands import experiment_command, missing_run_commands
from fairfr.report.tables.layout import Layout


def test_equal_gaps_share_a_command() -> None:
    absent = {(d, b): ["fsn", "gst"] for d in ("rfw", "bfw") for b in ("magface", "adaface")}
    absent[("lfw", "magface")] = ["fsn"]
    assert missing_run_commands(absent, Layout(SelectedRuns([], "synthetic"), PAPER_READING, ORDER)) == (
        "fairfr run -m dataset=rfw,bfw backbone=magface,adaface method=fsn,gst source=synthetic",
        "fairfr run -m dataset=lfw backbone=magface method=fsn source=synthetic",
    )


def own_run(result: Callable[..., Run], folder: Path, **backbone: Any) -> Run:
    made = result("baseline", "mine/mynet", overall={"auroc": 0.9})
    identity = {"dataset": {"id": "mine", "grouping": ["a", "b"]}, "backbone": {"id": "mynet", **backbone}}
    change(made, identity=identity)
    (folder / "config.yaml").write_text("data_root: /data sets/faces\n", encoding="utf-8")
    return Run(made.result, folder)


def test_own_data_is_found_again(result: Callable[..., Run], tmp_path: Path) -> None:
    """Root and grouping are typed as the runs at hand had them; blanks and brackets are quoted for the shell."""
    layout = Layout(SelectedRuns([own_run(result, tmp_path)], "files"), STRICT, ORDER)
    assert missing_run_commands({("mine", "mynet"): ["platt"]}, layout) == (
        "fairfr run -m dataset=mine backbone=mynet method=platt 'dataset.grouping=[a,b]' "
        "'data_root=/data sets/faces' source=files",
    )
    assert (
        experiment_command(layout, "headline", HEADLINE[0])
        == "fairfr run -m experiment=headline 'data_root=/data sets/faces' source=files"
    )


def test_scores_without_vectors_are_chosen_by_their_column(result: Callable[..., Run], tmp_path: Path) -> None:
    layout = Layout(SelectedRuns([own_run(result, tmp_path, column="senet50")], "files"), STRICT, ORDER)
    (command,) = missing_run_commands({("mine", "mynet"): ["beta"]}, layout)
    assert "backbone=scores" in command and "backbone.column=senet50" in command and "mynet" not in command


def test_what_all_runs_share_is_typed_too(result: Callable[..., Run]) -> None:
    made = result("baseline", overall={"auroc": 0.9}, source="synthetic")
    change(made, differs={"seed": 1, "protocol.splitter.limit": None})
    runs = SelectedRuns([made], "synthetic", Selection(everything=True))
    (command,) = missing_run_commands({("rfw", "magface"): ["platt"]}, Layout(runs, PAPER_READING, ORDER))
    assert command.endswith("method=platt seed=1 protocol.splitter.limit=null source=synthetic")
