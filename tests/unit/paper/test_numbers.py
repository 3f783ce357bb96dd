"""Claims on runs with their bootstrap interval: a verdict stands only where draws of other people would not turn it."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest
from made_runs import in_reading, results_of

from fairfr.paper.claims.claim import Claim, Verdict, verdict
from fairfr.paper.claims.judging import claims, judge, judge_draws
from fairfr.paper.numbers import DrawnNumbers, Numbers, OurNumbers
from fairfr.paper.printed import AUROC, LU_AUROC, WORST_AUROC, WORST_BRIER
from fairfr.report.quantity import Quantity, count_lifted
from fairfr.report.uncertainty.setting_bootstrap import BootstrapCache
from fairfr.stored.reading import PAPER_READING
from fairfr.stored.run import Run

CELL = ("rfw", "facenet")
DRAWS = 200


def ahead(quantity: Quantity) -> Claim:
    """AC-Density is better than FairCal."""

    def check(numbers: Numbers) -> Verdict:
        ours, theirs = (numbers.required(quantity, CELL, m) for m in ("ac_density", "faircal"))
        gain = (ours - theirs) * (1 if quantity.higher_is_better else -1)
        return verdict(gain > 0, f"{ours:.3f}, {theirs:.3f}", gain)

    return Claim("ahead", "here", "AC-Density is ahead", check, figure="lead")


def judged(claim: Claim, results: list[Run]) -> Verdict:
    runs = results_of(results, "synthetic")
    point = judge(claim, OurNumbers(in_reading(runs, PAPER_READING)))
    return judge_draws(claim, point, DrawnNumbers(BootstrapCache(in_reading(runs, PAPER_READING), DRAWS)))


@pytest.mark.parametrize("quantity", [AUROC, WORST_AUROC, WORST_BRIER])
def test_a_clear_difference_is_told_with_its_interval(fake_run: Any, quantity: Quantity) -> None:
    good, bad = fake_run("ac_density", noise=0.2), fake_run("faircal", noise=0.9)
    found = judged(ahead(quantity), [good, bad])
    assert found.status == "holds" and found.detail.endswith(f"holds in 100.0% of {DRAWS} draws]")
    low, high = (float(n) for n in re.search(r"lead, 95 % interval (\S+) to (\S+);", found.detail).groups())  # type: ignore[union-attr]
    assert 0 < low <= found.figure <= high


def test_an_interval_that_includes_the_boundary_cannot_be_told(fake_run: Any) -> None:
    one, two = fake_run("ac_density", noise=0.5), fake_run("faircal", noise=0.5)  # other noise of the same size
    found = judged(ahead(WORST_AUROC), [one, two])
    assert found.status == "undetermined"
    low, high = (float(n) for n in re.search(r"interval (\S+) to (\S+);", found.detail).groups())  # type: ignore[union-attr]
    assert low < 0 < high
    share = float(re.search(r"hold in (\S+)%|holds in (\S+)%", found.detail).group(0).split()[2].rstrip("%"))  # type: ignore[union-attr]
    assert 2.5 < share < 97.5


def test_without_scores_the_verdict_stands_as_it_is(fake_run: Any) -> None:
    good, bad = fake_run("ac_density", noise=0.2), fake_run("faircal", noise=0.9)
    found = judged(ahead(WORST_AUROC), [good, Run(bad.result)])
    assert found == judge(ahead(WORST_AUROC), OurNumbers(results_of([good, bad], "synthetic", PAPER_READING)))


def test_draws_move_the_fold_mean_as_they_move_the_pooled_value(fake_run: Any) -> None:
    result = fake_run("ac_density")
    bootstraps = BootstrapCache(in_reading(results_of([result], "synthetic"), PAPER_READING), DRAWS)
    numbers = DrawnNumbers(bootstraps)
    found = bootstraps.of(CELL)
    assert found is not None
    pooled, drawn = found.runs[0].drawn("auroc", "worst")
    mean = result.read(PAPER_READING).mean("auroc", "worst")
    for draw in (0, 7, DRAWS - 1):
        numbers.draw = draw
        assert numbers.value(WORST_AUROC, CELL, "ac_density") == pytest.approx(mean + drawn[draw] - pooled, abs=5.01e-4)
    assert numbers.value(WORST_AUROC, CELL, "fsn") is None
    assert numbers.value(WORST_AUROC, ("lfw", "facenet"), "ac_density") is None
    assert numbers.by_group("pauc", CELL, "ac_density") == {}


def test_levels_of_a_draw_are_those_of_its_groups(fake_run: Any) -> None:
    results = [fake_run("baseline", noise=0.6), fake_run("ac_linear", noise=0.5)]
    numbers = DrawnNumbers(BootstrapCache(in_reading(results_of(results, "synthetic"), PAPER_READING), DRAWS))
    seen = set()
    for draw in range(DRAWS):
        numbers.draw = draw
        before, after = (numbers.by_group("auroc", CELL, m) for m in ("baseline", "ac_linear"))
        level = numbers.value(LU_AUROC, CELL, "ac_linear")
        if len({*before.values()}) == len(before) and all(before[g] != after[g] for g in before):  # as printed: no ties
            assert level == count_lifted(before, after).lifted / 3
            seen.add(level)
    assert len(seen) > 1


def test_settings_with_fewer_draws_bound_those_of_a_claim(fake_run: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("fairfr.report.uncertainty.setting_bootstrap.MOST_WORK", 600 * 50)
    found = judged(ahead(AUROC), [fake_run("ac_density", noise=0.2), fake_run("faircal", noise=0.9)])
    assert "of 50 draws" in found.detail


def test_the_page_says_whether_there_are_intervals(fake_run: Any) -> None:
    runs = results_of([fake_run("baseline"), fake_run("platt")], "synthetic")
    assert any("fairfr tables --uncertainty" in note.commands for note in claims(in_reading(runs, PAPER_READING)).notes)
    layout = in_reading(runs, PAPER_READING)
    grid = claims(layout, BootstrapCache(layout, 20))
    assert any("judged again on each draw" in note.text for note in grid.notes)
    assert np.all([len(line.entries) == 5 for section in grid.sections for line in section.lines])
