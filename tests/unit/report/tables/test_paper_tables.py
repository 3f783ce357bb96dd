"""The paper's tables: which run stands where, how it is marked, and what the words around say."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, get_args

import pytest

from fairfr.report.readings import Reading, Run
from fairfr.report.runs import Runs
from fairfr.report.tables.grid import Entry, Grid
from fairfr.report.tables.order import HEADLINE, ROWS, SETTINGS
from fairfr.report.tables.paper_tables import paper_tables

Make = Callable[..., Run]
MakeRuns = Callable[..., Runs]
Find = Callable[..., Any]
TPR, RFW_MAGFACE = "tpr_at_fpr_1e-3", 2


def tpr(result: Make, method: str, value: float, **changes: Any) -> Run:
    return result(method, overall={TPR: value}, **changes)


def notes(grid: Grid, code: str) -> list[str]:
    """The notes of this code, in full."""
    return [str(note) for note in grid.notes if note.code == code]


def bold_rows(grid: Grid, column: int) -> set[str]:
    return {line.label for section in grid.sections for line in section.lines if line.entries[column].bold}


def test_rows_and_columns_are_the_papers(result: Make, runs: MakeRuns, find: Find) -> None:
    grid = find(paper_tables(runs(tpr(result, "baseline", 0.5)), "paper"), "table1_tpr")
    rows = [line.label for section in grid.sections for line in section.lines]
    assert rows == [
        "Baseline",
        "FairCal",
        "FALCON",
        "FRAPPÉ",
        "FSN",
        "GST",
        "DemoNorm",
        "Oracle",
        "AC-MLP",
        "AC-Linear",
        "AC-Density",
        "AC-Density (LOO)",
    ]
    assert [group.heading for group in grid.spanners] == ["RFW", "BFW", "LFW"]
    assert all(group.columns == ("R100", "AdaFace", "MagFace") for group in grid.spanners)
    assert find([grid], "table1_tpr", "Baseline", RFW_MAGFACE) == Entry("0.500", 0.5, printed=0.5)


def test_ties_as_printed_are_bold_together(result: Make, runs: MakeRuns, find: Find) -> None:
    made = runs(tpr(result, "baseline", 0.7), tpr(result, "fsn", 0.90049), tpr(result, "ac_linear", 0.8996))
    assert bold_rows(find(paper_tables(made, "paper"), "table1_tpr"), RFW_MAGFACE) == {"FSN", "AC-Linear"}


def test_ties_of_the_mean_are_bold_whatever_their_spread(result: Make, runs: MakeRuns, find: Find) -> None:
    made = runs(
        result("baseline", overall={"brier": 0.2}),
        result("fsn", overall={"brier": 0.1}, std=0.02),
        result("ac_linear", overall={"brier": 0.1001}, std=0.03),
    )
    grid = find(paper_tables(made, "paper"), "appendix_rfw_accuracy_2")
    column = grid.columns.index("Brier")
    assert bold_rows(grid, column) == {"FSN", "AC-Linear"}
    assert find([grid], grid.id, "FSN", column).shown == "0.100±0.020"


def test_methods_that_declare_groups_have_a_dagger_and_never_win(result: Make, runs: MakeRuns, find: Find) -> None:
    made = runs(
        tpr(result, "baseline", 0.5),
        tpr(result, "fsn", 0.6),
        tpr(result, "gst_paper", 0.9),
        tpr(result, "faircal", 0.95, needs=["embeddings", "groups"]),
    )
    grids = paper_tables(made, "paper")
    assert bold_rows(find(grids, "table1_tpr"), RFW_MAGFACE) == {"FSN"}
    assert find(grids, "table1_tpr", "GST").dagger and find(grids, "table1_tpr", "FairCal").dagger
    assert not find(grids, "table1_tpr", "FSN").dagger
    honest = paper_tables(runs(tpr(result, "gst_paper", 0.9, needs=[])), "paper")
    assert not find(honest, "table1_tpr", "GST").dagger, "declared needs decide, not the paper's block"


def test_each_reading_takes_its_own_twin(result: Make, runs: MakeRuns, find: Find) -> None:
    made = runs(tpr(result, "gst", 0.1), tpr(result, "gst_paper", 0.2))
    assert find(paper_tables(made, "paper"), "table1_tpr", "GST", RFW_MAGFACE).text == "0.200"
    assert find(paper_tables(made, "strict"), "table1_tpr", "GST", RFW_MAGFACE).text == "0.100"


def test_worst_group_brier_is_that_of_the_raw_score_only_in_the_paper_reading(
    result: Make, runs: MakeRuns, find: Find
) -> None:
    made = runs(result("baseline", worst={"auroc": 0.9, "brier": 0.05, "brier_raw": 0.17}))
    for reading, expected in (("paper", "0.170"), ("strict", "0.050")):
        grid = find(paper_tables(made, reading), "table2_worst_group")
        panels = [section.lines[0].entries[RFW_MAGFACE].text for section in grid.sections if section.panel]
        assert panels == ["0.900", expected]


def test_missing_cells_are_empty_and_a_command_fills_them(result: Make, runs: MakeRuns, find: Find) -> None:
    every = [tpr(result, row.paper, 0.5, setting=f"{d}/{b}") for row in ROWS for d, b in HEADLINE]
    made = [r for r in every if r.cell not in {("lfw", "magface", "falcon"), ("rfw", "adaface", "gst_paper")}]
    grid = find(paper_tables(runs(*made), "paper"), "table1_tpr")
    assert find([grid], grid.id, "FALCON", 8) == Entry() and find([grid], grid.id, "GST", 1) == Entry()
    (note,) = notes(grid, "missing")
    assert note.endswith(
        ": fairfr run -m dataset=rfw backbone=adaface method=gst_paper source=files ; "
        "fairfr run -m dataset=lfw backbone=magface method=falcon source=files"
    )
    assert not notes(find(paper_tables(runs(*every), "paper"), "table1_tpr"), "missing")


def test_a_missing_run_and_an_undefined_number_are_told_apart(result: Make, runs: MakeRuns, find: Find) -> None:
    made = runs(tpr(result, "fsn", 0.5, status="failed"), tpr(result, "baseline", float("nan")))
    grids = paper_tables(made, "paper")
    failed, undefined = (find(grids, "table1_tpr", row, RFW_MAGFACE) for row in ("FSN", "Baseline"))
    assert (failed.missing, failed.shown) == ("no run", "")
    assert (undefined.missing, undefined.shown) == ("too few pairs", "\u2013")
    (note,) = notes(find(grids, "table1_tpr"), "missing")
    assert "fsn" in note and "method=baseline,faircal" in note, "the Baseline is missing elsewhere only"
    assert "dataset=rfw backbone=magface method=faircal" in note


def test_groups_with_too_few_pairs_have_a_dash_and_a_note(result: Make, runs: MakeRuns, find: Find) -> None:
    made = runs(result("baseline", groups={"asian": {"auroc": None}, "white": {"auroc": 0.9}}))
    grid = find(paper_tables(made, "paper"), "appendix_groups_auroc_rfw_magface")
    assert [entry.shown for entry in find([grid], grid.id, "Baseline").entries] == ["\u2013", "90.00±1.00"]
    assert "\u2013: too few pairs" in notes(grid, "few_pairs")[0]


def test_captions_name_reading_source_folds_and_runs(result: Make, runs: MakeRuns) -> None:
    made = [tpr(result, "baseline", 0.5, folds=10, source=source) for source in ("files", "synthetic")]
    for source, words in (("files", "[data files]"), ("synthetic", "[SYNTHETIC stand-in, not faces]")):
        for grid in paper_tables(runs(*made, source=source), "strict"):
            assert words in grid.heading
            if grid.id == "appendix_brier":
                continue  # the Baseline has no row there
            assert "Strict reading" in grid.caption and "RFW 10" in grid.caption and notes(grid, "keys")


def test_keys_are_listed(result: Make, runs: MakeRuns, find: Find) -> None:
    grid = find(paper_tables(runs(tpr(result, "baseline", 0.2, key="files-bbbbbbbb2222")), "paper"), "table1_tpr")
    assert notes(grid, "keys") == ["Run keys, in column order: Baseline bbbbbbbb."]


def test_too_few_false_matches_are_warned_about(result: Make, runs: MakeRuns, find: Find) -> None:
    both = {TPR: 0.5, "auroc": 0.9}
    few = result("baseline", overall=both, folds=10, n_diff=12_000)
    many = result("baseline", "bfw/magface", overall=both, folds=5, n_diff=680_000)
    grids = paper_tables(runs(few, many), "paper")
    (note,) = notes(find(grids, "table1_tpr"), "few_negatives")
    assert "FPR=1e-3: RFW 1.2" in note and "BFW" not in note
    assert not notes(find(grids, "appendix_auroc"), "few_negatives"), "AUROC does not hang on one threshold"


def test_the_brier_table_leaves_out_methods_without_a_probability(result: Make, runs: MakeRuns, find: Find) -> None:
    grid = find(paper_tables(runs(result("faircal", overall={"brier": 0.1})), "paper"), "appendix_brier")
    rows = [line.label for section in grid.sections for line in section.lines]
    assert rows == ["FairCal", "FRAPPÉ", "GST", "Oracle", "AC-MLP", "AC-Linear", "AC-Density", "AC-Density (LOO)"]


@pytest.fixture
def lifted(result: Make, runs: MakeRuns) -> Runs:
    def groups(asian: float, white: float) -> dict[str, dict[str, float]]:
        return {g: {"auroc": v, TPR: v / 2, "pauc": v} for g, v in (("asian", asian), ("white", white))}

    return runs(
        result("baseline", groups=groups(0.94187, 0.97)),
        result("fsn", groups=groups(0.9, 0.98)),
        result("gst_paper", groups=groups(0.99, 0.99)),
        result("ac_linear", groups=groups(0.95, 0.97)),
        result("ac_density", groups=groups(0.96021, 0.98)),
    )


def test_lifted_groups_are_counted_against_the_baseline(lifted: Runs, find: Find) -> None:
    grids = paper_tables(lifted, "paper")
    rows = {line.label: line for section in find(grids, "table3_lu_auroc").sections for line in section.lines}
    assert "Baseline" not in rows
    found = {label: line.entries[RFW_MAGFACE].text for label, line in rows.items() if line.entries[RFW_MAGFACE].text}
    assert found == {"FSN": "0/2", "GST": "2/2", "AC-Linear": "1/2", "AC-Density": "2/2"}
    assert bold_rows(find(grids, "table3_lu_auroc"), RFW_MAGFACE) == {"AC-Density"}


def test_without_a_baseline_nothing_is_lifted_and_the_command_asks_for_it(
    result: Make, runs: MakeRuns, find: Find
) -> None:
    grids = paper_tables(runs(result("fsn", groups={"asian": {"auroc": 0.9, TPR: 0.5}})), "paper")
    assert find(grids, "table3_lu_auroc", "FSN", RFW_MAGFACE) == Entry()
    for id in ("table3_lu_auroc", "appendix_ld_tpr"):
        assert "method=baseline," in notes(find(grids, id), "missing")[0]


def test_ld_tpr_has_a_row_for_each_setting(lifted: Runs, find: Find) -> None:
    grid = find(paper_tables(lifted, "paper"), "appendix_ld_tpr")
    assert grid.columns == (
        "FairCal",
        "FALCON",
        "FRAPPÉ",
        "FSN",
        "AC-MLP",
        "AC-Linear",
        "AC-Density",
        "AC-Density (LOO)",
    )
    assert [section.heading for section in grid.sections] == ["RFW", "BFW", "LFW"]
    magface = grid.sections[0].lines[2]
    assert magface.label == "MagFace"
    assert [cell.text for cell in magface.entries] == ["", "", "", "0/2", "", "1/2", "2/2", ""]
    assert [cell.bold for cell in magface.entries] == [False] * 6 + [True, False]


def test_groups_are_printed_in_percent_and_coloured_against_the_baseline(lifted: Runs, find: Find) -> None:
    grids = paper_tables(lifted, "paper")
    id = "appendix_groups_auroc_rfw_magface"
    assert find(grids, id).columns == ("Asian", "White")
    assert find(grids, id, "Baseline", 0).shown == "94.19±1.00"
    toned = {
        row: [cell.tone for cell in find(grids, id, row).entries] for row in ("Baseline", "FSN", "GST", "AC-Linear")
    }
    assert toned == {
        "Baseline": ["plain", "plain"],
        "FSN": ["degraded", "improved"],
        "GST": ["improved", "improved"],
        "AC-Linear": ["improved", "plain"],
    }
    assert notes(find(grids, "appendix_groups_pauc_rfw_magface"), "mcclish")


def test_one_form_of_ac_density_competes_for_wins_at_a_time(result: Make, runs: MakeRuns, find: Find) -> None:
    """With both in one count four variants would compete, and the paper's three could not be compared with it."""

    def of(method: str, asian: float, white: float) -> Run:
        return result(
            method, groups={"asian": {"auroc": asian, "pauc": asian}, "white": {"auroc": white, "pauc": white}}
        )

    some = (of("baseline", 0.90, 0.95), of("ac_linear", 0.91, 0.94), of("ac_density", 0.92, 0.93))
    grid = find(paper_tables(runs(*some, of("ac_density_loo", 0.93, 0.96)), "paper"), "table4_wins")
    text, left_out = (section.lines[0].entries for section in grid.sections)
    assert [cell.text for cell in text] == ["1/2 (50.0%)", "AC-Density (1)"]
    assert [cell.text for cell in left_out] == ["2/2 (100.0%)", "AC-Density (LOO) (2)"]
    assert "Three AC variants compete" in grid.caption
    without = find(paper_tables(runs(*some), "paper"), "table4_wins")
    assert [cell.text for cell in without.sections[1].lines[0].entries] == ["", ""]


def test_both_forms_stand_together_and_either_may_be_bold(result: Make, runs: MakeRuns, find: Find) -> None:
    made = runs(tpr(result, "baseline", 0.5), tpr(result, "ac_density", 0.6), tpr(result, "ac_density_loo", 0.7))
    for reading in get_args(Reading):
        grid = find(paper_tables(made, reading), "table1_tpr")
        rows = [line.label for section in grid.sections for line in section.lines]
        assert rows[-2:] == ["AC-Density", "AC-Density (LOO)"]  # and not again among the other methods
        assert bold_rows(grid, RFW_MAGFACE) == {"AC-Density (LOO)"}
        assert notes(grid, "two_forms")


def test_wins_count_cells_where_a_variant_is_best_ties_included(lifted: Runs, find: Find) -> None:
    # asian: AC-Density alone; white: AC-Density and FSN tie at 98.00; GST sees groups and does not compete
    grid = find(paper_tables(lifted, "paper"), "table4_wins")
    assert [cell.text for cell in find([grid], grid.id, "Per-group AUROC").entries] == [
        "2/2 (100.0%)",
        "AC-Density (2)",
    ]


def test_wins_are_lost_to_a_better_label_free_method(result: Make, runs: MakeRuns, find: Find) -> None:
    made = runs(
        result("baseline", groups={"asian": {"auroc": 0.9}, "white": {"auroc": 0.99}}),
        result("ac_mlp", groups={"asian": {"auroc": 0.95}, "white": {"auroc": 0.98}}),
        result("ac_linear", groups={"asian": {"auroc": 0.95001}, "white": {"auroc": 0.97}}),
        result("platt", groups={"asian": {"auroc": 0.999}, "white": {"auroc": 0.999}}),
    )
    line = find(paper_tables(made, "paper"), "table4_wins", "Per-group AUROC")
    assert [entry.text for entry in line.entries] == ["1/2 (50.0%)", "AC-MLP (1), AC-Linear (1)"], (
        "Platt does not count"
    )


def test_every_method_that_has_run_has_its_row_and_may_win(result: Make, runs: MakeRuns, find: Find) -> None:
    made = runs(
        tpr(result, "baseline", 0.5),
        tpr(result, "platt", 0.6, label="Platt"),
        tpr(result, "mine", 0.55, label="Mine"),
        tpr(result, "gst", 0.4, label="GST"),
        tpr(result, "gst_paper", 0.3, label="GST"),
    )
    for id, column in (("table1_tpr", RFW_MAGFACE), ("appendix_summary_rfw_magface", 1)):
        grid = find(paper_tables(made, "paper"), id)
        assert [line.label for line in grid.sections[-1].lines] == ["GST (gst)", "Mine", "Platt"]
        assert bold_rows(grid, column) == {"Platt"}


def test_a_plain_method_fills_the_row_of_a_variant_that_has_not_run(result: Make, runs: MakeRuns, find: Find) -> None:
    made = runs(
        tpr(result, "gst", 0.4, label="GST"),
        tpr(result, "gst", 0.7, setting="lfw/magface", label="GST"),
        tpr(result, "gst_paper", 0.3, setting="lfw/magface", label="GST"),
    )
    grid = find(paper_tables(made, "paper"), "table1_tpr")
    shown = [(line.label, line.entries[RFW_MAGFACE].text, line.entries[8].text) for line in grid.lines()]
    assert [row for row in shown if "GST" in row[0]] == [("GST", "0.400", "0.300"), ("GST (gst)", "", "0.700")]
    assert notes(grid, "replaced") == [
        "Filled by the plain method: GST is gst (gst_paper has not run); the paper's row is another variant."
    ]
    assert "GST (gst)" not in str(find(paper_tables(made, "paper"), "appendix_summary_rfw_magface").sections)
    assert not notes(find(paper_tables(made, "strict"), "table1_tpr"), "replaced")


def test_own_data_comes_first_and_empty_tables_are_one_line(result: Make, runs: MakeRuns, find: Find) -> None:
    own = result("platt", "mine/mynet", overall={"auroc": 0.9}, groups={"a": {"auroc": 0.8}})
    grids = paper_tables(runs(result("baseline", "rfw/facenet", overall={"auroc": 0.9}), own), "paper")
    assert grids[0].id == "appendix_summary_mine_mynet" and grids[0].chapter == "MINE x Mynet"
    assert [line.label for line in grids[0].lines()] == ["Platt"], "no empty rows of methods that have not run"
    table = find(grids, "table1_tpr")
    assert table.sections == () and [note.code for note in table.notes] == ["unfilled"]
    assert table.notes[0].commands == ("fairfr run -m experiment=headline source=files",)
    assert find(grids, "table4_wins").sections, "it counts all sixteen settings, RFW with FaceNet among them"


def test_nothing_is_bold_without_a_win_or_a_rival(result: Make, runs: MakeRuns, find: Find) -> None:
    groups = {"asian": {"auroc": 0.9, TPR: 0.5}}
    same = [result(m, groups=groups, overall={"auroc": 0.9}) for m in ("baseline", "fsn", "ac_linear")]
    grids = paper_tables(runs(*same), "paper")
    assert find(grids, "table3_lu_auroc", "FSN", RFW_MAGFACE).text == "0/1"
    assert bold_rows(find(grids, "table3_lu_auroc"), RFW_MAGFACE) == set(), "0/1 is no win"
    assert bold_rows(find(grids, "appendix_auroc"), RFW_MAGFACE) == set(), "all print the same"
    alone = paper_tables(runs(same[1], result("gst_paper", overall={"auroc": 0.8})), "paper")
    assert bold_rows(find(alone, "appendix_auroc"), RFW_MAGFACE) == set(), "no label-free rival"


def test_many_groups_have_several_tables(result: Make, runs: MakeRuns, find: Find) -> None:
    groups = {f"g{i}": {"auroc": 0.9} for i in range(11)}
    grids = paper_tables(runs(result("baseline", groups=groups)), "paper")
    parts = [grid for grid in grids if grid.id.startswith("appendix_groups_auroc")]
    assert [grid.columns for grid in parts] == [tuple(f"G{i}" for i in range(8)), ("G8", "G9", "G10")]
    assert parts[1].title.endswith("part 2 of 2")


def test_every_setting_of_the_paper_has_its_tables_once(result: Make, runs: MakeRuns) -> None:
    groups = {"asian": {"auroc": 0.9}, "white": {"auroc": 0.95}}
    made = [result("baseline", f"{d}/{b}", groups=groups) for d, b in SETTINGS]
    ids = [grid.id for grid in paper_tables(runs(*made), "paper")]
    # 4 main, 4 aggregates, accuracy and gaps in 3 + 3 + 4 parts, then three tables for each of 16 settings
    assert len(ids) == len(set(ids)) == 4 + 4 + 2 * (3 + 3 + 4) + 3 * 16
    paper = ids[3 * 16 :]
    assert paper[:5] == ["table1_tpr", "table2_worst_group", "table3_lu_auroc", "table4_wins", "appendix_brier"]


def test_own_data_gets_its_tables_too(result: Make, runs: MakeRuns, find: Find) -> None:
    made = runs(result("baseline", "mine/mynet", overall={"auroc": 0.9}, groups={"a": {"auroc": 0.8}}))
    grids = paper_tables(made, "paper")
    assert find(grids, "appendix_summary_mine_mynet", "Baseline", 0).shown == "90.00±1.00"
    assert find(grids, "appendix_groups_auroc_mine_mynet", "Baseline", 0).shown == "80.00±1.00"
    assert find(grids, "appendix_mine_accuracy_1", "Baseline", 0).shown == "0.900±0.010"


def test_data_without_groups_has_tables_without_group_numbers(result: Make, runs: MakeRuns, find: Find) -> None:
    made = result("baseline", "mine/mynet", overall={"auroc": 0.9})
    made.stored["data"] = {"folds": ["0"], "grouping": None, "groups": {}}
    grids = paper_tables(runs(made), "paper")
    assert not [grid.id for grid in grids if grid.id.startswith("appendix_groups")]
    summary = find(grids, "appendix_summary_mine_mynet")
    entries = find([summary], summary.id, "Baseline").entries
    assert [entry.shown for entry in entries if entry.text] == ["90.00±1.00"]
    assert entries[3].missing == "no groups"
    assert notes(summary, "no_groups")


def test_no_table_mixes_data_sources(result: Make, runs: MakeRuns, find: Find) -> None:
    made = [tpr(result, "baseline", 0.1), tpr(result, "fsn", 0.2, source="synthetic")]
    grids = paper_tables(runs(*made, source="synthetic"), "paper")
    assert find(grids, "table1_tpr", "Baseline", RFW_MAGFACE) == Entry()
    assert find(grids, "table1_tpr", "FSN", RFW_MAGFACE).text == "0.200"
