"""Error rates of groups at one threshold: what the runs' pooled numbers say, and what rests on few false matches."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict
from typing import Any

import numpy as np
from made_runs import run_of, tables_of

from fairfr.core.types import ScoreFrame
from fairfr.metrics.cell_metrics import PairGroups, compute_metrics, summarise
from fairfr.metrics.ties import tied_at_the_top
from fairfr.stored.results import Results
from fairfr.stored.run import Run

MakeRuns = Callable[..., Results]
Find = Callable[..., Any]
ID = "at_one_threshold_mine_mynet"
N = 4000


def frame(shift: float = 0.0, clip: float = np.inf) -> tuple[ScoreFrame, PairGroups]:
    """Two groups whose impostors lie ``shift`` apart; scores above ``clip`` are tied."""
    rng = np.random.default_rng(0)
    same = np.arange(N) % 4 == 0
    codes = (np.arange(N) // 4 % 2).astype(np.int16)
    score = np.minimum(rng.normal(3.0 * same + shift * codes), clip)
    fold = (np.arange(N) // 8 % 2).astype(np.int16)
    return ScoreFrame(fold, same, score, 1 / (1 + np.exp(-score))), PairGroups("g", "both", ("old", "young"), codes)


def stored(method: str, scores: ScoreFrame, groups: PairGroups, **options: Any) -> Run:
    rows = compute_metrics(scores, ("0", "1"), [groups], 20)
    metrics = [{**row, "mean": number(row["mean"]), "pooled": number(row["pooled"])} for row in summarise(rows)]
    ties = [asdict(finding) for finding in tied_at_the_top(scores, rows, False, method)]
    return run_of(
        {
            "key": f"{method}-0123456789abcdef",
            "status": "completed",
            "source": "files",
            "finished": "2026-01-01",
            "identity": {},
            "differs": {},
            "dataset": {"id": "mine", "label": "Mine"},
            "backbone": {"id": "mynet", "label": "MyNet"},
            "method": {"id": method, "label": method.title(), "needs": [], "native_probability": False},
            "data": {"folds": ["0", "1"], "grouping": "g", "groups": {"g": ["old", "young"]}},
            "metrics": metrics,
            "metric_warnings": ties,
        }
    )


def number(value: float) -> float | None:
    return None if np.isnan(value) else value


def test_a_row_says_what_the_groups_scores_say(runs: MakeRuns, find: Find) -> None:
    scores, groups = frame(shift=0.7)
    grid = find(tables_of(runs(stored("baseline", scores, groups))), ID)
    assert [section.heading for section in grid.sections] == [
        "FPR=1e-2: 30 of 3,000 impostor pairs falsely matched",
        "FPR=1e-3: 3 of 3,000 impostor pairs falsely matched",
    ]
    assert grid.columns == ("Old", "Young", "worst", "max/min", "all", "Old", "Young", "EO gap", "own gap")
    impostor = scores.score[~scores.same]
    refused = np.sort(impostor)[-31]  # with 30 of 3,000 accepted: exactly 1e-2
    fpr = [np.mean(impostor[groups.codes[~scores.same] == code] > refused) for code in (0, 1)]
    genuine = scores.score[scores.same]
    tpr = [np.mean(genuine[groups.codes[scores.same] == code] > refused) for code in (0, 1)]
    shown = [entry.text for entry in grid.sections[0].lines[0].entries]
    assert shown[:4] == [
        f"{100 * fpr[0]:.2f}",
        f"{100 * fpr[1]:.2f}",
        f"{100 * max(fpr):.2f}",
        f"{fpr[1] / fpr[0]:.1f}",
    ]
    assert shown[5:8] == [f"{100 * tpr[0]:.1f}", f"{100 * tpr[1]:.1f}", f"{100 * (tpr[1] - tpr[0]):.1f}"]
    assert float(shown[8]) < float(shown[7])  # one shift of both kinds of pairs is no difference at own thresholds


def test_what_rests_on_few_false_matches_is_marked(runs: MakeRuns, find: Find, notes: Callable[..., list[str]]) -> None:
    grid = find(tables_of(runs(stored("baseline", *frame(shift=0.7)))), ID)
    marked = [["\u00b0" in entry.shown for entry in section.lines[0].entries[:4]] for section in grid.sections]
    assert marked == [[True, False, False, True], [True, True, True, False]]
    assert grid.sections[1].lines[0].entries[3].shown == "\u2013"  # the group old has no false match at 1e-3
    assert notes(grid, "unsteady") and notes(grid, "no_false_match")


def test_a_gap_at_own_thresholds_is_marked_where_a_group_has_too_few_impostors(runs: MakeRuns, find: Find) -> None:
    """1,500 impostors of each group: 15 false matches at 1e-2, 1.5 at 1e-3."""
    grid = find(tables_of(runs(stored("baseline", *frame(shift=0.7)))), ID)
    own_gap = grid.columns.index("own gap")
    assert ["\u00b0" in section.lines[0].entries[own_gap].shown for section in grid.sections] == [False, True]


def test_why_a_level_is_missing_is_said(runs: MakeRuns, find: Find, notes: Callable[..., list[str]]) -> None:
    grid = find(tables_of(runs(stored("baseline", *frame()))), ID)
    assert "3,000 impostor pairs together expect 0.3 false matches" in notes(grid, "level_not_measured")[0]


def test_a_rate_that_no_threshold_meets_is_marked_and_wins_nothing(
    runs: MakeRuns, find: Find, notes: Callable[..., list[str]]
) -> None:
    """Every score above 0 is tied: rates are interpolated, so that gaps and ratio look best."""
    made = runs(stored("baseline", *frame(shift=0.7)), stored("beta", *frame(0.5)), stored("platt", *frame(0.7, 0.0)))
    grid = find(tables_of(made), ID)
    first = [line for section in grid.sections for line in section.lines]
    tied = [line for line in first if line.label == "Platt"]
    others = [line for line in first if line.label != "Platt"]
    assert all(entry.tied for line in tied for entry in line.entries if entry.text)
    assert all("\u2021" in entry.shown and not entry.bold for line in tied for entry in line.entries if entry.text)
    gap = grid.columns.index("EO gap")
    assert tied[0].entries[gap].value < min(line.entries[gap].value for line in others[:2])
    assert any(line.entries[gap].bold for line in others)
    (note,) = [one for one in grid.notes if one.code == "ties"]
    assert note.text.startswith("\u2021 No threshold meets the rate") and not note.lead


def test_a_set_without_groups_has_no_such_table(result: Callable[..., Run], runs: MakeRuns) -> None:
    made = runs(result("baseline", "mine/mynet", overall={"auroc": 0.9}, groups={}))
    assert not [grid for grid in tables_of(made) if grid.id.startswith("at_one_threshold")]
