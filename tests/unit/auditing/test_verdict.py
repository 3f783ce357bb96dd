"""A saved model on new pairs: each check by an independent form, and the verdict that follows from all of them."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy import stats
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import log_loss

from fairfr.auditing.group_rates import KEPT, measure_rates, rates_at
from fairfr.auditing.kept import Kept, KeptThreshold
from fairfr.auditing.sample import Coded, Grouping, Sample
from fairfr.auditing.verdict import (
    Checks,
    DoublingCheck,
    ProbabilityCheck,
    RankingCheck,
    RateCheck,
    check_sample_against,
)
from fairfr.numerics.rate_bounds import Errors, pairs_to_exclude

RIGHT = ProbabilityCheck(0.5, 0.0, 1.0, 1.0, 0.1, 0.1, is_off=False)
OFF = replace(RIGHT, is_off=True)
NONE = Errors(1, 100)


def checks(
    worse: bool = False,
    unclear: bool = False,
    as_is: bool = False,
    prior: bool = False,
    ranking: bool = False,
    doubling: bool = False,
) -> Checks:
    return Checks(
        rates=(RateCheck("all", "fmr", NONE, NONE, 1.0, worse, unclear),),
        as_is=OFF if as_is else RIGHT,
        prior=OFF if prior else RIGHT,
        ranking=RankingCheck(NONE, NONE, 1.0, ranking),
        doubling=(DoublingCheck("fmr", 3.0, not doubling, None),),
    )


@pytest.mark.parametrize(
    ("found", "verdict"),
    [
        ({}, "holds"),
        ({"prior": True, "ranking": True}, "holds"),
        ({"doubling": True}, "cannot_be_told_yet"),
        ({"unclear": True}, "cannot_be_told_yet"),
        ({"as_is": True}, "holds_after_a_new_prior"),
        ({"as_is": True, "unclear": True, "doubling": True}, "holds_after_a_new_prior"),
        ({"as_is": True, "prior": True}, "ranking_holds_refit"),
        ({"worse": True}, "ranking_holds_refit"),
        ({"worse": True, "as_is": True}, "ranking_holds_refit"),
        ({"worse": True, "ranking": True}, "does_not_hold"),
        ({"as_is": True, "prior": True, "ranking": True}, "does_not_hold"),
    ],
)
def test_the_verdict_is_the_first_that_applies(found: dict[str, bool], verdict: str) -> None:
    assert checks(**found).verdict == verdict


def new_pairs(n: int = 1200, seed: int = 0, off: float = 0.0, people: bool = False) -> Sample:
    """Half genuine; probabilities that are right where ``off`` is 0; two groups."""
    rng = np.random.default_rng(seed)
    logit = 2 * rng.normal(size=n)
    same = rng.random(n) < 1 / (1 + np.exp(-logit))
    probability = 1 / (1 + np.exp(-(logit + off)))
    grouping = Grouping.of("g", Coded((np.arange(n) % 2).astype(np.int32), ("a", "b")))
    ends = None
    if people:
        left = np.arange(n)
        ends = (left, np.where(same, left, n + left))
    return Sample(probability, same, groupings=(grouping,), people=ends, probability=probability)


def kept(known: bool = True, **errors: tuple[int, int]) -> Kept:
    """Rates of all pairs and of group ``a``: 20 of 500 unless others are named, as in ``fmr_a=(3, 100)``."""
    given = {}
    for group in ("all", "a"):
        for kind in ("fmr", "fnmr"):
            given[group, kind] = Errors(*errors.get(f"{kind}_{group}", (20, 500)))
    return Kept(60_000, 60_000, None, KeptThreshold(1e-2, 0.8, True, known, given), None)  # type: ignore[arg-type]


def checked(stored: Kept, sample: Sample) -> Checks:
    assert stored.threshold is not None
    rates = rates_at(sample, [(KEPT, stored.threshold.value)])
    rows = [row for row in rates.rows if row.group in ("all", "a")]
    return check_sample_against(stored, stored.threshold, sample, rows, rates.subsets[0])


def test_rates_are_compared_at_once_by_the_exact_bound() -> None:
    """Four comparisons: two rates of all pairs and of one group. The bound of A over B by scipy's beta."""
    found = checked(kept(), new_pairs(people=True))
    assert [(check.group, check.kind) for check in found.rates] == [
        ("all", "fmr"), ("all", "fnmr"), ("a", "fmr"), ("a", "fnmr"),
    ]  # fmt: skip
    for check in found.rates:
        q = stats.beta.ppf(0.025 / 4, check.now.errors, 20 + 1)
        assert check.times == pytest.approx(q / (1 - q) * 500 / check.now.pairs)
        assert check.is_worse == (check.times > 1 and check.now.rate >= 1.25 * 0.04)
    assert {check.kind for check in found.worse} == {"fnmr"}, "much more than 4 % of genuine pairs are below .8"


def test_a_rate_that_is_hardly_higher_is_not_worse() -> None:
    """90,000 of a million beside 80,000: established, but less than 1.25 times."""
    stored = kept(fmr_all=(80_000, 1_000_000), fnmr_all=(400_000, 1_000_000))
    sample = new_pairs(4000, people=True)
    (of_all,) = [check for check in checked(stored, sample).rates if (check.group, check.kind) == ("all", "fnmr")]
    assert of_all.now.rate < 1.25 * 0.4 or of_all.is_worse


def test_where_people_are_not_known_their_choice_may_change_a_rate() -> None:
    """Worse if pairs are independent, but not if people vary by 30 % on the side that is unknown."""
    sample = new_pairs(people=True)
    (fnmr,) = [check.now for check in checked(kept(), sample).rates if (check.group, check.kind) == ("all", "fnmr")]
    stored = round(fnmr.errors / fnmr.pairs / 1.35 * 5000)
    both = {"fnmr_all": (stored, 5000), "fnmr_a": (stored, 5000)}
    known = checked(kept(**both), sample)
    unknown = checked(kept(known=False, **both), sample)
    assert ("all", "fnmr") in {(check.group, check.kind) for check in known.worse}
    assert ("all", "fnmr") in {(check.group, check.kind) for check in unknown.unclear}
    assert not {("all", "fnmr")} & {(check.group, check.kind) for check in unknown.worse}


@pytest.mark.parametrize("off", [0.0, 0.7])
def test_the_line_through_the_log_odds_by_scikit_learn(off: float) -> None:
    """Strangers only: the sandwich sums over pairs. F test of intercept 0 and slope 1, and what a new fit saves."""
    sample = new_pairs(off=off)
    assert sample.same is not None
    x = np.log(sample.similarity / (1 - sample.similarity))
    line = LogisticRegression(C=np.inf, tol=1e-12, solver="newton-cholesky").fit(x[:, None], sample.same)
    a, b = line.intercept_[0], line.coef_[0, 0]
    design = np.column_stack([np.ones(len(x)), x])
    p = line.predict_proba(x[:, None])[:, 1]
    bread = np.linalg.inv(sum(q * (1 - q) * np.outer(u, u) for q, u in zip(p, design, strict=True)))
    meat = sum((y - q) ** 2 * np.outer(u, u) for y, q, u in zip(sample.same, p, design, strict=True))
    d = np.array([a, b - 1])
    statistic = d @ np.linalg.inv(bread @ meat @ bread) @ d / 2
    check = checked(kept(), sample).as_is
    assert (check.intercept, check.slope) == pytest.approx((a, b), abs=1e-5)
    assert check.p_value == pytest.approx(stats.f.sf(statistic, 2, len(x) - 1), rel=1e-3, abs=1e-12)
    assert check.log_loss == pytest.approx(log_loss(sample.same, sample.similarity))
    assert check.refitted == pytest.approx(log_loss(sample.same, p))
    assert check.is_off == (off > 0)


def test_another_share_of_genuine_pairs_is_a_matter_of_the_prior() -> None:
    """Four fifths of the genuine pairs are gone: off as it is, right at the share that is left."""
    sample = new_pairs(8000)
    assert sample.same is not None
    keep = ~sample.same | (np.random.default_rng(1).random(8000) < 0.2)
    part = sample.part(np.flatnonzero(keep))
    assert part.same is not None
    found = checked(kept(), part)
    assert found.as_is.is_off
    assert not found.prior.is_off
    assert found.prior.prior == pytest.approx(part.same.mean())
    assert found.as_is.intercept == pytest.approx(np.log(0.2), abs=0.2)
    assert found.prior.intercept == pytest.approx(0, abs=0.2)


def test_ranking_is_judged_at_this_files_own_threshold() -> None:
    """Probabilities that are too high by far, in the same order: FNMR at 4 % of these impostors says nothing of it."""
    sample = new_pairs(off=2.0)
    own = measure_rates(sample, None, (0.04,)).rows[0].fnmr.errors
    exact = stats.beta.ppf(0.025, own.errors, own.errors + 1)
    found = checked(kept(fnmr_all=(own.errors, own.pairs)), sample)
    assert found.ranking.now == own
    assert found.ranking.times == pytest.approx(exact / (1 - exact))
    assert not found.ranking.is_lost
    assert checked(kept(fnmr_all=(own.errors // 2, own.pairs)), sample).ranking.is_lost


def test_a_doubling_is_excluded_by_enough_errors_only() -> None:
    few = checked(kept(fmr_all=(2, 500), fnmr_all=(2, 500)), new_pairs(80, people=True)).doubling
    assert not any(check.is_excluded for check in few)
    sample = new_pairs(40_000, people=True)
    now = rates_at(sample, [(KEPT, 0.8)]).rows[0]
    same = {f"{kind}_all": (now.rate(kind).errors.errors, now.rate(kind).errors.pairs) for kind in ("fmr", "fnmr")}
    many = checked(kept(**same), sample).doubling  # type: ignore[arg-type]
    assert all(check.is_excluded and 1 < check.at_most < 1.3 for check in many)


def test_so_many_pairs_would_exclude_a_doubling() -> None:
    """By trying: 5 of 500 beside 1,000 of 100,000."""
    stored = Errors(1000, 100_000)
    needed = pairs_to_exclude(stored, Errors(5, 500), 2.0)
    assert needed is not None

    def at_most(times: int) -> float:
        q = stats.beta.ppf(0.05, 1000, 5 * times + 1)
        return float(100_000 / (500 * times) / (q / (1 - q)))

    assert at_most(needed // 500) <= 2 < at_most(needed // 500 - 1)
    assert pairs_to_exclude(Errors(1, 1000), Errors(10, 1000), 2.0) is None
