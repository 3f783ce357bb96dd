"""Which run fills which row."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from made_runs import change, tables_of

from fairfr.paper.order import HEADLINE, ORDER, PAPER_READING, READINGS
from fairfr.report.run import STRICT, Run
from fairfr.report.runs import SelectedRuns
from fairfr.report.selection import Selection
from fairfr.report.tables.grid import Entry
from fairfr.report.tables.layout import Layout, experiment_command, missing_run_commands

Make = Callable[..., Run]
MakeRuns = Callable[..., SelectedRuns]
Find = Callable[..., Any]
TPR, RFW_MAGFACE = "tpr_at_fpr_1e-3", 2


def test_methods_that_declare_groups_have_a_dagger_and_never_win(
    runs: MakeRuns, find: Find, tpr: Make, bold_rows: Callable[..., set[str]]
) -> None:
    made = runs(
        tpr("baseline", 0.5),
        tpr("fsn", 0.6),
        tpr("gst_paper", 0.9),
        tpr("faircal", 0.95, needs=["embeddings", "groups"]),
    )
    grids = tables_of(made, PAPER_READING)
    assert bold_rows(find(grids, "table1_tpr"), RFW_MAGFACE) == {"FSN"}
    assert find(grids, "table1_tpr", "GST").dagger and find(grids, "table1_tpr", "FairCal").dagger
    assert not find(grids, "table1_tpr", "FSN").dagger
    honest = tables_of(runs(tpr("gst_paper", 0.9, needs=[])), PAPER_READING)
    assert not find(honest, "table1_tpr", "GST").dagger, "declared needs decide, not the paper's block"


def test_each_reading_takes_its_own_twin(runs: MakeRuns, find: Find, tpr: Make) -> None:
    made = runs(tpr("gst", 0.1), tpr("gst_paper", 0.2))
    assert find(tables_of(made, PAPER_READING), "table1_tpr", "GST", RFW_MAGFACE).text == "0.200"
    assert find(tables_of(made, STRICT), "table1_tpr", "GST", RFW_MAGFACE).text == "0.100"


def test_both_forms_stand_together_and_either_may_be_bold(
    runs: MakeRuns, find: Find, tpr: Make, notes: Callable[..., list[str]], bold_rows: Callable[..., set[str]]
) -> None:
    made = runs(tpr("baseline", 0.5), tpr("ac_density", 0.6), tpr("ac_density_loo", 0.7))
    for reading in READINGS.values():
        grid = find(tables_of(made, reading), "table1_tpr")
        rows = [line.label for section in grid.sections for line in section.lines]
        assert rows[-2:] == ["AC-Density", "AC-Density (LOO)"]  # and not again among the other methods
        assert bold_rows(grid, RFW_MAGFACE) == {"AC-Density (LOO)"}
        assert notes(grid, "two_forms")


def test_every_method_that_has_run_has_its_row_and_may_win(
    runs: MakeRuns, find: Find, tpr: Make, bold_rows: Callable[..., set[str]]
) -> None:
    made = runs(
        tpr("baseline", 0.5),
        tpr("platt", 0.6, label="Platt"),
        tpr("mine", 0.55, label="Mine"),
        tpr("gst", 0.4, label="GST"),
        tpr("gst_paper", 0.3, label="GST"),
    )
    for id, column in (("table1_tpr", RFW_MAGFACE), ("appendix_summary_rfw_magface", 1)):
        grid = find(tables_of(made, PAPER_READING), id)
        assert [line.label for line in grid.sections[-1].lines] == ["GST (gst)", "Mine", "Platt"]
        assert bold_rows(grid, column) == {"Platt"}


def test_methods_of_ours_have_a_rule_of_their_own(runs: MakeRuns, find: Find, tpr: Make) -> None:
    made = runs(
        tpr("baseline", 0.5),
        tpr("platt", 0.6, label="Platt"),
        tpr("ac_hinge", 0.7, label="AC-Hinge"),
        tpr("ac_cohort", 0.8, label="AC-Cohort"),
    )
    for reading in (PAPER_READING, STRICT):
        *_, beyond, other = find(tables_of(made, reading), "table1_tpr").sections
        assert beyond.heading == "Beyond the paper"
        assert [line.label for line in beyond.lines] == ["AC-Cohort", "AC-Hinge"]
        assert [line.label for line in other.lines] == ["Platt"]


def test_wins_of_the_paper_do_not_count_methods_of_ours(runs: MakeRuns, find: Find, result: Make) -> None:
    def groups(value: float) -> dict[str, dict[str, float]]:
        return {group: {"auroc": value, "pauc": value} for group in ("asian", "white")}

    made = [result("baseline", groups=groups(0.9)), result("ac_linear", groups=groups(0.8))]
    alone = find(tables_of(runs(*made), PAPER_READING), "table4_wins")
    beside = find(tables_of(runs(*made, result("ac_hinge", groups=groups(0.95))), PAPER_READING), "table4_wins")
    assert "0/2" in str(alone.sections[0])
    assert beside.sections == alone.sections


def test_a_plain_method_fills_the_row_of_a_variant_that_has_not_run(
    runs: MakeRuns, find: Find, tpr: Make, notes: Callable[..., list[str]]
) -> None:
    made = runs(
        tpr("gst", 0.4, label="GST"),
        tpr("gst", 0.7, setting="lfw/magface", label="GST"),
        tpr("gst_paper", 0.3, setting="lfw/magface", label="GST"),
    )
    grid = find(tables_of(made, PAPER_READING), "table1_tpr")
    shown = [(line.label, line.entries[RFW_MAGFACE].text, line.entries[8].text) for line in grid.lines()]
    assert [row for row in shown if "GST" in row[0]] == [("GST", "0.400", "0.300"), ("GST (gst)", "", "0.700")]
    said = "Filled by the plain method: GST is gst{} (gst_paper has not run); the paper's row is another variant."
    assert notes(grid, "replaced") == [said.format(" on RFW x MagFace")]
    alone = find(tables_of(made, PAPER_READING), "appendix_summary_rfw_magface")
    assert notes(alone, "replaced") == [said.format("")]
    assert "GST (gst)" not in str(find(tables_of(made, PAPER_READING), "appendix_summary_rfw_magface").sections)
    assert not notes(find(tables_of(made, STRICT), "table1_tpr"), "replaced")


def test_no_table_mixes_data_sources(runs: MakeRuns, find: Find, tpr: Make) -> None:
    made = [tpr("baseline", 0.1), tpr("fsn", 0.2, source="synthetic")]
    grids = tables_of(runs(*made, source="synthetic"), PAPER_READING)
    assert find(grids, "table1_tpr", "Baseline", RFW_MAGFACE) == Entry()
    assert find(grids, "table1_tpr", "FSN", RFW_MAGFACE).text == "0.200"


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
