"""The paper's claims, judged on its printed numbers and on runs where the answer is known."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from made_runs import in_reading, results_of, run_of, tables_of

from fairfr.paper.claims import appendix, groups, headline, other_sections
from fairfr.paper.claims.claim import Verdict
from fairfr.paper.claims.judging import CLAIMS, claims, judge
from fairfr.paper.numbers import OurNumbers, PrintedNumbers
from fairfr.paper.order import HEADLINE, PAPER_ROWS, SETTINGS
from fairfr.stored.reading import PAPER_READING, READINGS, Reading
from fairfr.stored.results import Results

PRINTED = {claim.id: judge(claim, PrintedNumbers())._replace(figure=None) for claim in CLAIMS}
ON_TABLES = (*headline.PART.claims, *other_sections.PART.claims)


def ours(runs: Results, claim_id: str, reading: Reading = PAPER_READING) -> Verdict:
    """The verdict in words, without the figure behind it."""
    (claim,) = [claim for claim in CLAIMS if claim.id == claim_id]
    return judge(claim, OurNumbers(in_reading(runs, reading)))._replace(figure=None)


def test_ids_are_unique() -> None:
    assert len(PRINTED) == len(CLAIMS)


@pytest.mark.parametrize(
    ("claim", "status", "numbers"),
    [
        ("bold-tpr_at_fpr_1e-3-all", "does not hold", "RFW R100: bold AC-Density 0.649, best FairCal 0.659"),
        ("bold-brier-worst", "does not hold", "BFW R100: bold AC-Density 0.043, best FairCal 0.042"),
        ("bold-brier-all", "does not hold", "BFW AdaFace: bold AC-Linear 0.028, best FRAPPÉ 0.027"),
        ("bold-brier-all", "does not hold", "BFW MagFace: AC-Linear ties at 0.031 and is not bold"),
        ("bold-auroc-worst", "holds", "9 of 9"),
        ("bold-auroc-lifted", "holds", "9 of 9"),
        ("bold-tpr_at_fpr_1e-3-worst", "holds", "9 of 9"),
        ("bold-auroc-all", "holds", "9 of 9"),
        ("density-six", "holds", "best in 6 of 9"),
        ("worst-auroc-mean", "holds", "AC-Density 0.9564, FairCal 0.9481, FALCON 0.9437"),
        ("linear-lfw", "holds", "LFW AdaFace: AC-Linear; LFW MagFace: AC-Linear"),
        ("brier-seven", "holds", "best alone in 7 of 9, tied with another method in: BFW AdaFace"),
        ("worst-brier-mean", "holds", "AC-Linear 0.0674, FairCal 0.0726"),
        ("linear-five", "holds", "AC-Linear 5 of 9; next FALCON and AC-Density 4"),
        ("linear-rest", "holds", "4 of the remaining 4"),
        ("density-four", "holds", "4 of 9"),
        ("none-full", "holds", "FRAPPÉ 0 of 9, FSN 0 of 9"),
        ("aware-zero", "holds", "9 of 9 entries"),
        ("brier-mean", "holds", "AC-Linear 0.0429, FairCal 0.0449"),
        ("brier-columns", "does not hold", "BFW AdaFace: FRAPPÉ; BFW MagFace: FairCal and FRAPPÉ and AC-Linear"),
        ("asian-magface", "holds", "94.19 to 96.02, 31.5 %"),  # 1.83 of 5.81
        ("asian-magface-others", "holds", "4/4"),
        ("density-r50", "undetermined", "not printed"),
        ("wins-auroc", "undetermined", "not printed"),
        ("wins-pauc", "undetermined", "not printed"),
        ("wins-sum", "holds", "5x4 + 5x8 + 6x8 = 108; 86/108 = 79.6 %, 83/108 = 76.9 %"),
        ("variants-auroc", "holds", "43 + 41 = 84"),
        ("variants-pauc", "undetermined", "61 + 23 = 84 > 83"),
        ("parameters", "holds", "527,361"),
        ("negatives-lfw", "holds", "300 in a fold"),
        ("negatives-rfw", "does not hold", "300 in a fold of one ethnicity"),
        ("overlay", "does not hold", "DemoNorm on LFW AdaFace 0.331"),
        ("low-fpr-depends", "holds", "AC-MLP 0 of 9, AC-Linear 5 of 9, AC-Density 5 of 9"),
        ("tpr-strong", "does not hold", "FairCal 0.7382, AC-Linear 0.7341, Baseline 0.7150, AC-Density 0.7146"),
        ("often-ranking", "holds", "AC-MLP 6 of 9, AC-Linear 9 of 9, AC-Density 9 of 9; 24 of 27 entries"),
        ("often-probability", "holds", "FairCal alone: AC-MLP 2 of 9, AC-Linear 7 of 9, AC-Density 6 of 9"),
        ("split-brier", "does not hold", "RFW R100 0.062"),
        ("split-brier", "does not hold", "ArcFace 0.0754 (Platt 0.0755); the embedding sets differ"),
        ("components-lfw-adaface", "does not hold", "AC-Linear: 0.972 to 0.984 (+0.012)"),
        ("components-lfw-adaface", "does not hold", "0.9906 to 0.9905 (-0.0001); the embedding sets differ"),
        ("components-rfw-arcface_r100", "does not hold", "0.9903 to 0.9911"),
        ("components-bfw-adaface", "holds", "0.9469 to 0.9464"),
    ],
)
def test_verdict_of_the_printed_tables(claim: str, status: str, numbers: str) -> None:
    assert PRINTED[claim].status == status
    assert numbers in PRINTED[claim].detail


def test_every_claim_of_the_additional_checks_is_borne_out_by_its_table() -> None:
    assert {PRINTED[claim.id].status for claim in appendix.PART.claims} == {"holds"}


@pytest.mark.parametrize("reading", READINGS.values())
def test_runs_with_the_papers_numbers_get_its_verdicts(paper_runs: Callable[..., Results], reading: Reading) -> None:
    runs = paper_runs()
    more_to_say = ("score-only", "often-probability")  # Platt has run, and is printed nowhere
    on_tables = [claim.id for claim in ON_TABLES if claim.id not in more_to_say]
    assert {id: ours(runs, id, reading) for id in on_tables} == {id: PRINTED[id] for id in on_tables}


def test_platt_must_rank_as_the_baseline(paper_runs: Callable[..., Results]) -> None:
    assert PRINTED["score-only"].status == "undetermined"
    assert ours(paper_runs(), "score-only").status == "holds"
    runs = paper_runs(change={("lfw", "adaface", "platt"): {("auroc", "worst"): 0.9}})
    assert ours(runs, "score-only") == Verdict(
        "does not hold", "worst-group AUROC of Platt differs from Baseline's in: LFW AdaFace"
    )


def test_probabilities_are_compared_with_calibrators_not_with_a_raw_cosine(
    paper_runs: Callable[..., Results],
) -> None:
    # a Platt map that beats every AC variant everywhere leaves nothing, whatever the Baseline's raw score does
    strong = {(*s, "platt"): {("brier", "worst"): 0.01} for s in HEADLINE}
    found = ours(paper_runs(change=strong), "often-probability")
    assert found.status == "does not hold" and "the best of Platt, FairCal, FRAPPÉ" in found.detail
    assert "AC-MLP 0 of 9, AC-Linear 0 of 9, AC-Density 0 of 9; 0 of 27 entries" in found.detail


def test_tpr_is_judged_on_means(paper_runs: Callable[..., Results]) -> None:
    high = {(*s, "ac_linear"): {("tpr_at_fpr_1e-3", "all"): 0.95} for s in HEADLINE}
    assert ours(paper_runs(change=high), "tpr-strong").status == "does not hold"  # AC-Density is below the Baseline
    both = high | {(*s, "ac_density"): {("tpr_at_fpr_1e-3", "all"): 0.9} for s in HEADLINE}
    assert ours(paper_runs(change=both), "tpr-strong").status == "holds"


def test_runs_may_hold_a_claim_with_other_figures(paper_runs: Callable[..., Results]) -> None:
    cell = ("rfw", "magface", "ac_density")
    better = paper_runs(change={cell: {("auroc", "worst"): 0.999}})
    assert ours(better, "worst-auroc-mean").status == "holds"
    worse = paper_runs(change={(*s, "faircal"): {("auroc", "worst"): 0.999} for s in HEADLINE})
    assert ours(worse, "worst-auroc-mean") == Verdict(
        "does not hold", "FairCal 0.9990, AC-Density 0.9564, FALCON 0.9437"
    )
    assert ours(worse, "density-six") == Verdict("does not hold", "best in 0 of 9: none")
    assert ours(worse, "linear-lfw").status == "does not hold"


def test_ties_are_decided_on_printed_values(paper_runs: Callable[..., Results]) -> None:
    # 0.9591 and AC-Density's 0.959 print alike: a tie, which leaves AC-Density among the best
    tie = paper_runs(change={("rfw", "magface", "faircal"): {("auroc", "worst"): 0.9591}})
    assert ours(tie, "density-six").status == "holds"
    assert "RFW MagFace: FairCal ties at 0.959 and is not bold" in ours(tie, "bold-auroc-worst").detail
    beaten = paper_runs(change={("rfw", "magface", "faircal"): {("auroc", "worst"): 0.9596}})
    assert ours(beaten, "density-six") == Verdict(
        "does not hold", "best in 5 of 9: RFW R100, RFW AdaFace, BFW R100, BFW MagFace, LFW R100"
    )


def test_levels_of_runs(paper_runs: Callable[..., Results]) -> None:
    # AC-Linear on RFW MagFace: its best group falls below Baseline's, 3/4
    runs = paper_runs(change={("rfw", "magface", "ac_linear"): {("auroc", "g3"): 0.1}})
    assert ours(runs, "linear-five") == Verdict("does not hold", "AC-Linear 4 of 9; next FALCON and AC-Density 4")
    assert ours(runs, "linear-rest") == Verdict("does not hold", "4 of the remaining 5 columns; behind in: RFW MagFace")


def test_figures_of_bold_methods_stand_in_the_order_of_their_names(paper_runs: Callable[..., Results]) -> None:
    change = {
        ("bfw", "arcface_r100", method): {("tpr_at_fpr_1e-3", "all"): 0.1} for method in ("faircal", "ac_density")
    }
    change["bfw", "arcface_r100", "ac_density"] = {("tpr_at_fpr_1e-3", "all"): 0.2}
    detail = ours(paper_runs(change=change), "bold-tpr_at_fpr_1e-3-all").detail
    assert "BFW R100: bold FairCal and AC-Density 0.100, 0.200, best" in detail


def test_as_many_is_not_more_than_any_other(paper_runs: Callable[..., Results]) -> None:
    lifted = {("auroc", f"g{i}"): 0.99 for i in range(8)}  # FALCON's fifth setting
    runs = paper_runs(change={("lfw", "adaface", "falcon"): lifted})
    assert ours(runs, "linear-five") == Verdict("does not hold", "AC-Linear 5 of 9; next FALCON 5")


def test_a_lone_winner_is_no_tie(paper_runs: Callable[..., Results]) -> None:
    runs = paper_runs(change={("lfw", "adaface", "ac_linear"): {("brier", "all"): 0.02}})
    assert "LFW AdaFace: AC-Linear" in ours(runs, "brier-columns").detail


@pytest.mark.parametrize("missing", [row.id for row in PAPER_ROWS])
def test_a_missing_run_leaves_claims_open(paper_runs: Callable[..., Results], missing: str) -> None:
    runs = paper_runs(without={("bfw", "adaface", missing)})
    label = next(row.label for row in PAPER_ROWS if row.id == missing)
    open_claims = [c for c in ON_TABLES if ours(runs, c.id).status == "undetermined"]
    assert open_claims
    if missing != "baseline":  # which a level needs too, under the other method's name
        assert all(label in ours(runs, c.id).detail and "BFW AdaFace" in ours(runs, c.id).detail for c in open_claims)
    if missing == "ac_density":
        assert ours(runs, "density-six").detail == "missing run: worst-group AUROC of AC-Density on BFW AdaFace"


def test_no_runs_no_verdict() -> None:
    runs = results_of([], "files")
    assert {ours(runs, claim.id).status for claim in CLAIMS} == {"undetermined"}


def test_raw_scores_show_where_an_overlay_was_promised(paper_runs: Callable[..., Results]) -> None:
    low = {(*s, m): {("brier", "worst"): 0.2} for s in HEADLINE for m in ("baseline", "falcon", "fsn", "demonorm")}
    assert ours(paper_runs(change=low), "overlay").status == "undetermined"


def test_wins_of_groups(group_runs: Callable[..., Results]) -> None:
    def value(setting: tuple[str, str], group: int, method: str) -> float:
        if setting[0] == "rfw":  # 20 groups: FairCal
            return 0.9 if method == "faircal" else 0.8
        if setting[0] == "bfw":  # 40 groups: AC-Linear and AC-Density alike in print
            return {"ac_linear": 0.90001, "ac_density": 0.90002}.get(method, 0.8)
        return {"ac_density": 0.9}.get(method, 0.8)  # 48 groups

    runs = group_runs(value)
    detail = "88/108 groups (81.5 %); AC-MLP 0, AC-Linear 40, AC-Density 88, ties counted for each"
    assert ours(runs, "wins-auroc") == ours(runs, "wins-pauc") == Verdict("holds", detail)
    table = next(grid for grid in tables_of(in_reading(runs, PAPER_READING)) if grid.id == "table4_wins")
    assert table.sections[0].lines[0].entries[0].text == "88/108 (81.5%)"
    fewer = group_runs(value, SETTINGS[1:])
    missing = ours(fewer, "wins-auroc")
    assert missing.status == "undetermined" and missing.lacks_numbers
    assert missing.detail == "missing run: AUROC by group of Baseline on RFW ArcFace R100"
    few = group_runs(lambda setting, group, method: 0.9 if method == "fsn" else 0.8)
    assert ours(few, "wins-pauc").status == "does not hold"


def test_error_of_the_worst_group(group_runs: Callable[..., Results]) -> None:
    def value(setting: tuple[str, str], group: int, method: str) -> float:
        before = 0.90 + 0.01 * group
        return before + (0.03 if group == 0 else -0.001) if method == "ac_density" else before

    runs = group_runs(value)
    assert ours(runs, "asian-magface") == Verdict("holds", "g0: 90.00 to 93.00, 30.0 % of the error")
    assert ours(runs, "asian-magface-others") == Verdict("does not hold", "degraded: g1, g2, g3 of 4 groups")
    perfect = group_runs(lambda setting, group, method: 1.0)
    assert ours(perfect, "asian-magface").status == "undetermined"


def test_counts_come_from_the_runs(paper_runs: Callable[..., Results]) -> None:
    runs = paper_runs()  # 600 negatives over two folds, in every group
    assert ours(runs, "negatives-lfw") == Verdict("holds", "300 in a fold")
    assert ours(runs, "parameters").status == "undetermined"
    mlp: Any = runs.find({"setting": ("rfw", "arcface_r100"), "method": "ac_mlp"})
    told = run_of({**mlp.result.to_json(), "fit_report": {"0": {"parameters": 527361}}})
    assert ours(results_of([told], "files"), "parameters") == Verdict("holds", "527,361")
    other = run_of({**mlp.result.to_json(), "fit_report": {"0": {"parameters": 5}}})
    assert ours(results_of([other], "files"), "parameters") == Verdict("does not hold", "5")


def test_arithmetic_is_no_matter_for_runs(paper_runs: Callable[..., Results]) -> None:
    for claim in groups.PART.claims:
        if claim.arithmetic:
            assert ours(paper_runs(), claim.id).status == "undetermined"


def test_the_grid_has_a_line_for_each_claim(paper_runs: Callable[..., Results]) -> None:
    grid = claims(in_reading(paper_runs(source="synthetic"), PAPER_READING))
    lines = [line for section in grid.sections for line in section.lines]
    assert grid.id == "claims" and len(lines) == len(CLAIMS)
    assert all(len(line.entries) == len(grid.columns) for line in lines)
    assert "SIMULATION" in grid.caption
    by_words = {line.entries[0].text: line for line in lines}
    line = by_words["AC-Density has the best worst-group AUROC on six of nine"]
    _, printed, _, mine, detail = line.entries
    assert line.label == "Results, aggregate behavior"
    assert (printed.text, printed.tone, mine.text, mine.tone) == ("holds", "improved", "holds", "improved")
    assert detail.text.startswith("best in 6 of 9")
    tones = {(line.entries[1].text, line.entries[1].tone) for line in lines}
    assert tones == {("holds", "improved"), ("does not hold", "degraded"), ("undetermined", "plain")}
    counted = [sum(line.entries[i].text == "holds" for line in lines) for i in (1, 3)]
    assert any(
        f"Printed tables: holds {counted[0]}," in n.text and f"Our runs: holds {counted[1]}," in n.text
        for n in grid.notes
    )


def test_claims_that_can_be_judged_come_first(paper_runs: Callable[..., Results]) -> None:
    grid = claims(in_reading(paper_runs(without={("bfw", "adaface", "ac_density")}), PAPER_READING))
    is_missing = [entries[-1].text.startswith("missing run") for entries in (line.entries for line in grid.lines())]
    assert True in is_missing and is_missing == sorted(is_missing)
    assert [section.heading.endswith(": a run is missing") for section in grid.sections if section.lines[0]].count(True)


def test_without_runs_only_the_printed_tables_are_judged() -> None:
    grid = claims(in_reading(results_of([], "files"), PAPER_READING))
    assert [spanner.heading for spanner in grid.spanners] == ["", "Printed tables"]
    assert len(list(grid.lines())) == len(CLAIMS)
    assert not {"in_kind", "no_intervals", "keys"} & {note.code for note in grid.notes}
