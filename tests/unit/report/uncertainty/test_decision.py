"""The words of a decision: each verdict, and each branch of the rule by a case worked by hand."""

from __future__ import annotations

from dataclasses import replace

import pytest

from fairfr.report.uncertainty.decision import (
    Difference,
    GroupChange,
    Trial,
    advise,
    judge_trial,
    sentence,
)

FINE = GroupChange(
    "young women", "1e-3", (40.0, 60.0), fmr=(0.0009, 0.0014), fmr_by=(-0.001, -0.0002), fnmr_by=(-0.01, 0.03)
)
"""Its FMR may be above the wanted rate, but it falls; its FNMR may rise by three points, but that is not found."""
TRIAL = Trial("AC-Hinge", "Beta", (-0.007, -0.003), (FINE,))
SUCCESSOR = Trial("AC-Cohort", "AC-Hinge", (-0.003, -0.001), (FINE,))


def difference(low: float, high: float, higher: bool, measure: str = "Brier score") -> Difference:
    return Difference(measure, (low + high) / 2, (low, high), (low, high), higher)


@pytest.mark.parametrize(
    ("low", "high", "higher", "verdict"),
    [
        (0.01, 0.02, True, "better"),
        (0.01, 0.02, False, "worse"),
        (-0.02, -0.01, False, "better"),
        (-0.02, -0.01, True, "worse"),
        (-0.01, 0.02, True, "undetermined"),
        (0.0, 0.0, True, "equal"),
        (-1e-5, 2e-5, True, "equal"),
        (4e-5, 0.01, True, "undetermined"),
        (float("nan"), float("nan"), True, "undetermined"),
    ],
)
def test_a_verdict_is_that_of_the_band_as_it_is_printed(low: float, high: float, higher: bool, verdict: str) -> None:
    assert difference(low, high, higher).verdict == verdict


def test_the_band_decides_and_not_the_interval() -> None:
    assert replace(difference(-0.02, -0.01, False), band=(-0.03, 0.001)).verdict == "undetermined"


def test_a_sentence_says_what_is_better_worse_equal_and_open() -> None:
    found = [
        difference(-0.003, -0.001, False),
        difference(-0.03, -0.01, True, "AUROC"),
        difference(-1.0, 2.0, False, "worst group's FMR"),
        difference(0.0, 0.0, False, "gap"),
        difference(float("nan"), float("nan"), False, "nothing"),
    ]
    assert sentence("AC-Hinge", "Beta", found) == (
        "AC-Hinge against Beta: better in Brier score (-0.0020 [-0.0030, -0.0010]); "
        "worse in AUROC (-0.0200 [-0.0300, -0.0100]); equal in gap; "
        "undetermined: worst group's FMR (+0.5000 [-1.0000, +2.0000]), nothing."
    )


def test_a_difference_that_rests_on_few_false_matches_says_so() -> None:
    few = replace(difference(-1.0, -1e-6, False, "worst group's FMR"), digits=2, false_matches=7.2)
    assert str(few) == "worst group's FMR (-0.50 [-1.00, +0.00], 7 false matches in one group)"
    assert "false match" not in str(replace(few, false_matches=10.0))


def advice(trial: Trial, successor: Trial | None = None, n_genuine: int = 1000) -> str:
    return advise(trial, successor, n_genuine)


def test_a_method_is_taken_for_its_brier_score_where_no_group_pays() -> None:
    assert advice(TRIAL) == (
        "Take AC-Hinge: lower Brier score than Beta, no group found with an FMR above 1e-3 and above that of Beta, "
        "no group found to lose more than a point of true matches. "
        "What no number shows: every group must be among the training pairs."
    )


@pytest.mark.parametrize("brier", [(-0.003, 0.001), (0.001, 0.002), (float("nan"), float("nan"))])
def test_without_a_lower_brier_score_the_safe_method_stays(brier: tuple[float, float]) -> None:
    assert advice(TRIAL._replace(brier=brier)) == (
        "Stay with Beta. Not AC-Hinge: its Brier score is not found to be lower than that of Beta."
    )


def test_a_group_that_is_raised_above_the_wanted_rate_speaks_against_it() -> None:
    pays = FINE._replace(group="old men", fmr=(0.0012, 0.003), fmr_by=(0.0001, 0.002))
    assert advice(TRIAL._replace(groups=(FINE, pays))) == (
        "Stay with Beta. Not AC-Hinge: it raises the FMR of old men further above 1e-3."
    )


@pytest.mark.parametrize(
    ("fmr", "fmr_by"),
    [
        ((0.0008, 0.003), (0.0001, 0.002)),  # it rises, but may be below the wanted rate: towards it is no loss
        ((0.0012, 0.003), (-0.0001, 0.002)),  # it is above, but may be no higher than with the safe method
    ],
)
def test_a_rate_that_rises_towards_the_wanted_one_is_no_loss(
    fmr: tuple[float, float], fmr_by: tuple[float, float]
) -> None:
    assert judge_trial(TRIAL._replace(groups=(FINE._replace(fmr=fmr, fmr_by=fmr_by),))).taken


def test_a_group_that_loses_more_than_a_point_speaks_against_it() -> None:
    pays = FINE._replace(group="old women", fnmr_by=(0.011, 0.05))
    assert advice(TRIAL._replace(groups=(FINE, pays))) == (
        "Stay with Beta. Not AC-Hinge: at FPR 1e-3 it takes more than a point of true matches from old women."
    )
    assert judge_trial(TRIAL._replace(groups=(pays._replace(fnmr_by=(0.009, 0.05)),))).taken


def test_groups_with_few_false_matches_are_named_and_not_judged() -> None:
    few = FINE._replace(group="old women", false_matches=(3.2, 2.0), fmr=(0.002, 0.01), fmr_by=(0.001, 0.005))
    said = advice(TRIAL._replace(groups=(FINE, few)))
    assert said.startswith("Take AC-Hinge:")
    assert "The FMR at 1e-3 is undetermined for old women (3 false matches)." in said
    enough_before = few._replace(false_matches=(3.0, 10.0))
    assert advice(TRIAL._replace(groups=(FINE, enough_before))).startswith("Stay with Beta.")


def test_a_group_is_judged_at_each_wanted_rate() -> None:
    few = FINE._replace(false_matches=(3.0, 2.0))
    often = FINE._replace(level="1e-2", fmr=(0.009, 0.014))
    said = advice(TRIAL._replace(groups=(few, often)))
    assert said.startswith("Take AC-Hinge: lower Brier score than Beta, no group found with an FMR above 1e-3 or 1e-2")
    assert "The FMR at 1e-3 is undetermined for young women (3 false matches)." in said
    pays = often._replace(fmr=(0.011, 0.014), fmr_by=(0.001, 0.002))
    assert advice(TRIAL._replace(groups=(few, pays))) == (
        "Stay with Beta. Not AC-Hinge: it raises the FMR of young women further above 1e-2."
    )


def test_where_no_group_can_be_judged_nothing_is_recommended() -> None:
    few = FINE._replace(false_matches=(3.0, 2.0))
    assert advice(TRIAL._replace(groups=(few,))) == (
        "Whether to take AC-Hinge instead of Beta is undetermined: its Brier score is lower, but no group has 10 false "
        "matches to tell whether one pays for it."
    )
    assert "no group can be judged: the data has no groups" in advice(TRIAL._replace(groups=()))


def test_a_successor_has_to_pass_the_same_against_the_first() -> None:
    said = advice(TRIAL, SUCCESSOR)
    assert said.startswith("Take AC-Cohort: lower Brier score than AC-Hinge, ")
    assert "AC-Hinge passes the same against Beta. What no number shows: every group must be in the cohort, " in said
    assert said.endswith("the model's file may hold face vectors.")
    said = advice(TRIAL, SUCCESSOR._replace(brier=(-0.001, 0.001)))
    assert said.startswith("Take AC-Hinge: ")
    assert "Not AC-Cohort instead: its Brier score is not found to be lower than that of AC-Hinge." in said
    assert said.endswith("every group must be among the training pairs."), "no cohort, and no face vectors"
    assert advice(TRIAL._replace(brier=(-0.001, 0.001)), SUCCESSOR).startswith("Stay with Beta. Not AC-Hinge")


def test_few_genuine_pairs_are_for_a_map_of_the_score() -> None:
    assert advice(TRIAL, n_genuine=99) == (
        "Stay with Beta: 99 genuine pairs are too few for more than a map of the score."
    )
    assert advice(TRIAL, n_genuine=100).startswith("Take AC-Hinge")
