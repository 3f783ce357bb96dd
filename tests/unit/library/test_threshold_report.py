"""The operating threshold: exact intervals, clusters of people, and what is said when pairs are too few."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from made_runs import run_of
from scipy.stats import binomtest

from fairfr.core.errors import ConfigError, DataError
from fairfr.library.threshold_report import ThresholdRequest, as_dict, find_threshold, held_out_scores
from fairfr.library.threshold_text import kept_text, threshold_text
from fairfr.numerics.bootstrap import BootstrapDraws, draw_bootstrap, resampling_units
from fairfr.numerics.error_rates import DrawnSubset, clopper_pearson, error_rate, pairs_needed


class Held:
    """Held-out scores without a file: what ``find_threshold`` reads of a run."""

    def __init__(self, same: Any, probability: Any, images: Any, group: Any = None) -> None:
        self.same, self.probability, self.score = np.asarray(same), np.asarray(probability), np.asarray(probability)
        self.images = tuple(np.asarray(side) for side in images)
        self.identities = None
        self.levels = ("a", "b") if group is not None else ()
        self._group = np.full(len(self.same), -1) if group is None else np.asarray(group)
        label = {"label": "x"}
        self.run = run_of({"dataset": label, "backbone": label, "method": label, "data": {"folds": ["1", "2"]}})

    def pair_groups(self, reading: str) -> Any:
        return self._group


def strangers(n: int) -> tuple[np.ndarray, np.ndarray]:
    """Every pair shows people who are in no other pair."""
    return np.arange(n), n + np.arange(n)


@pytest.mark.parametrize(("errors", "pairs"), [(0, 50), (1, 50), (7, 900), (50, 50), (3, 3000)])
@pytest.mark.parametrize("confidence", [0.9, 0.95, 0.99])
def test_exact_bounds_are_those_of_scipy(errors: int, pairs: int, confidence: float) -> None:
    both = binomtest(errors, pairs).proportion_ci(confidence, "exact")
    np.testing.assert_allclose(clopper_pearson(errors, pairs, confidence), (both.low, both.high), rtol=1e-7)


def test_the_rule_of_three() -> None:
    for rate, confidence in ((1e-2, 0.95), (1e-3, 0.95), (1e-3, 0.99)):
        n = pairs_needed(rate, confidence)
        assert (1 - rate) ** n <= 1 - confidence < (1 - rate) ** (n - 1)
    assert pairs_needed(1e-3, 0.95) == 2995


def test_draws_count_pairs_by_the_product_of_their_people() -> None:
    ends = np.array([[0, 0, 1, 2], [0, 1, 2, 2]], dtype=np.int32)
    draws = BootstrapDraws(np.array([[2, 1, 0], [0, 1, 2], [0, 0, 3]], dtype=np.int16), ends)
    subset = DrawnSubset(draws, np.array([0, 1, 2]))
    # by hand: pair (0,0) counts m0, (0,1) m0 m1, (1,2) m1 m2
    np.testing.assert_array_equal(subset.totals, [2 + 2 + 0, 0 + 0 + 2, 0])
    np.testing.assert_array_equal(subset.shares(np.array([1])), [0.5, 0.0, np.nan])


def test_people_in_many_pairs_widen_the_interval() -> None:
    """Twenty people in all pairs: one of them who looks like everybody makes most false matches."""
    left, right = np.triu_indices(20, 1)
    error = (left == 3) | (right == 3)
    draws = draw_bootstrap(resampling_units(left, right, np.zeros(len(left), dtype=bool)), 400)
    rate = error_rate(DrawnSubset(draws, np.arange(len(left))), error, 0.95)
    width = [high - low for low, high in (rate.binomial, rate.clustered)]
    assert width[1] > 1.5 * width[0] and rate.bounds[1] == rate.clustered[1]
    assert rate.errors == 19 and rate.value == 0.1


def test_a_worked_case() -> None:
    """1000 impostors at 0, 0.001, ...; 100 genuine pairs, half of them below. At 1 % ten impostors may pass."""
    values = np.concatenate([np.arange(1000) / 1000, np.linspace(0, 0.989, 50), np.full(50, 0.9995)])
    same = np.arange(1100) >= 1000
    group = np.where(np.arange(1100) % 2 == 0, 0, 1)
    wanted = ThresholdRequest(0.01, draws=200)
    held = Held(same, values, strangers(1100), group)
    found = find_threshold(held, wanted)  # type: ignore[arg-type]
    plain = found.plain
    assert plain.value == 0.99 and plain.no_group is None
    assert (plain.all_pairs.fmr.errors, plain.all_pairs.fmr.pairs) == (10, 1000)
    assert (plain.all_pairs.fnmr.errors, plain.all_pairs.fnmr.pairs) == (50, 100)
    assert [(g.fmr.errors, g.fmr.pairs, g.fnmr.errors) for g in plain.groups] == [(5, 500, 25), (5, 500, 25)]
    assert found.span[0] < 0.99 < found.span[1]
    # people who are in one pair only: the exact bound
    allowed = [k for k in range(11) if binomtest(k, 1000, 0.01, alternative="less").pvalue <= 0.05][-1]
    assert found.confident is not None
    passes = values >= found.confident.value
    assert int(np.count_nonzero(passes & ~same)) == allowed
    for code, rates in enumerate(found.confident.groups):
        inside = group == code
        assert rates.fmr.errors == np.count_nonzero(passes & ~same & inside)
        assert rates.fnmr.errors == np.count_nonzero(~passes & same & inside)
    text = threshold_text(found, wanted, held)  # type: ignore[arg-type]
    assert "accept where probability >= 0.99 " in text and "10 of 1,000" in text
    sections = text.split("false matches")
    assert len(sections) == 3 and all("\na  " in section and "\nb  " in section for section in sections[1:])
    told = as_dict(found, wanted, held)  # type: ignore[arg-type]
    assert told["all"]["fmr"]["rate"] == 0.01 and told["groups"][0]["name"] == "a"
    assert told["groups_at_confident"][1]["fmr"]["errors"] == found.confident.groups[1].fmr.errors


def test_too_few_pairs_are_said_to_be() -> None:
    same = np.arange(140) >= 100
    values = np.append(np.linspace(0, 0.9, 100), np.linspace(0.5, 1, 40))
    group = np.where(np.arange(140) < 120, 0, 1)
    wanted = ThresholdRequest(1e-3, draws=50)
    held = Held(same, values, strangers(140), group)
    found = find_threshold(held, wanted)  # type: ignore[arg-type]
    assert found.confident is None and not found.is_shared and not found.plain.all_pairs.enough_for_fmr
    assert found.plain.all_pairs.enough_for_fnmr and not found.plain.groups[0].enough_for_fnmr
    text = threshold_text(found, wanted, held)  # type: ignore[arg-type]
    assert "100 impostor pairs cannot establish 0.001; 2,995 are needed." in text
    assert text.count("too few pairs to say") >= 3 and "no pairs" in text


def test_impostors_that_share_the_highest_value() -> None:
    same = np.arange(200) >= 100
    held = Held(same, np.where(np.arange(200) % 2 == 0, 1.0, 0.2), strangers(200))
    wanted = ThresholdRequest(0.05, draws=20)
    found = find_threshold(held, wanted)  # type: ignore[arg-type]
    assert found.plain.value == np.inf
    text = threshold_text(found, wanted, held)  # type: ignore[arg-type]
    assert "No threshold on the probability reaches it" in text and "--on score" in text and "inf" not in text
    assert as_dict(found, wanted, held)["threshold"] is None  # type: ignore[arg-type]


def test_a_confident_threshold_that_would_be_infinite_is_none() -> None:
    """Two of 3,000 impostors share the highest value: within 1e-3, but nothing above them could be confident of it."""
    same = np.arange(3100) >= 3000
    values = np.append(np.arange(3000) / 4000, np.linspace(0.5, 1, 100))
    values[:2] = 1.0
    wanted = ThresholdRequest(1e-3, draws=20)
    held = Held(same, values, strangers(3100))
    found = find_threshold(held, wanted)  # type: ignore[arg-type]
    assert np.isfinite(found.plain.value) and found.confident is None and found.is_shared
    text = threshold_text(found, wanted, held)  # type: ignore[arg-type]
    assert "inf" not in text and "95 % confidence: no threshold, as too many impostors share the highest value" in text
    assert as_dict(found, wanted, held)["confident_threshold"] is None  # type: ignore[arg-type]


@pytest.mark.parametrize(("rule", "name"), [("both", "mixed or unknown"), ("first", "unknown")])
def test_pairs_of_no_group_have_a_row(rule: Any, name: str) -> None:
    same = np.arange(1100) >= 1000
    values = np.concatenate([np.arange(1000) / 1000, np.full(100, 0.9995)])
    group = np.where(np.arange(1100) % 4 < 2, -1, np.arange(1100) % 2)
    wanted = ThresholdRequest(0.01, rule=rule, draws=20)
    held = Held(same, values, strangers(1100), group)
    found = find_threshold(held, wanted)  # type: ignore[arg-type]
    assert found.confident is not None
    for at in (found.plain, found.confident):
        assert at.no_group is not None and at.no_group.name == name
        rows = [at.no_group, *at.groups]
        assert at.no_group.fmr.pairs == 500 and sum(row.fmr.pairs for row in rows) == at.all_pairs.fmr.pairs
        assert at.no_group.fmr.errors == np.count_nonzero((values >= at.value) & ~same & (group < 0))
        assert sum(row.fmr.errors for row in rows) == at.all_pairs.fmr.errors
    assert threshold_text(found, wanted, held).count(f"\n{name} ") == 2  # type: ignore[arg-type]
    assert as_dict(found, wanted, held)["no_group"]["fmr"]["pairs"] == 500  # type: ignore[arg-type]


def test_the_confident_threshold_keeps_its_word() -> None:
    """Impostors uniform on 0..1: the true rate at t is 1 - t. At 90 % confidence, at most one in ten may break it."""
    rng = np.random.default_rng(1)
    n, repeats, broken = 300, 60, 0
    for _ in range(repeats):
        values = rng.random(n + 50)
        held = Held(np.arange(n + 50) >= n, values, strangers(n + 50))
        found = find_threshold(held, ThresholdRequest(0.02, confidence=0.9, draws=15))  # type: ignore[arg-type]
        # the refused impostor next below is what the data tells; values between it and the threshold are as good
        assert found.confident is not None
        broken += 1 - found.confident.value > 0.02
    assert broken / repeats <= 0.1 + 3 * np.sqrt(0.1 * 0.9 / repeats)


@pytest.mark.parametrize(("changed", "message"), [({"fmr": 0}, "fmr"), ({"fmr": 1e-3, "confidence": 1}, "confidence")])
def test_nonsense_is_refused(changed: dict[str, float], message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        ThresholdRequest(**changed)  # type: ignore[arg-type]


def test_a_model_without_a_run_sets_no_threshold(scene: Any, tmp_path: Path) -> None:
    with pytest.raises(DataError, match="names no run with held-out scores"):
        held_out_scores(scene / "model.fairfr", tmp_path)
    scene.model.origin_ = {"run": {"dataset": "a", "backbone": "b", "method": "c", "key": "d"}}
    scene.model.save(scene / "model.fairfr")
    with pytest.raises(DataError, match=r"runs/a/b/c/d is not a completed run.*--out-root"):
        held_out_scores(scene / "model.fairfr", tmp_path)


def test_people_behind_most_false_matches_raise_the_confident_threshold() -> None:
    """The same values, once in pairs of strangers, once with the higher ones at every tenth person."""
    left, right = np.triu_indices(60, 1)
    n = len(left)
    values = np.random.default_rng(2).permutation(n) / (2 * n)
    values[(left % 10 == 3) | (right % 10 == 3)] += 0.05
    both = [np.append(side, 60 + np.arange(40) * 2 + k) for k, side in enumerate((left, right))]
    same, values = np.arange(n + 40) >= n, np.append(values, np.full(40, 0.999))
    wanted = ThresholdRequest(0.03, draws=300)
    apart = find_threshold(Held(same, values, strangers(n + 40)), wanted)  # type: ignore[arg-type]
    together = find_threshold(Held(same, values, both), wanted)  # type: ignore[arg-type]
    assert apart.confident is not None and together.confident is not None
    assert together.plain.value == apart.plain.value < apart.confident.value < together.confident.value


def test_few_pairs_can_show_that_a_group_is_above_the_wanted_rate() -> None:
    """120 impostors in group b, 12 of them accepted: too few to vouch for 1 %, more than enough to deny it."""
    n = 3000
    group = (np.arange(n + 60) % 25 == 0).astype(int)
    rank = np.arange(n) / n
    rank[np.flatnonzero(group[:n] == 1)[:12]] += 1
    rank[np.flatnonzero(group[:n] == 0)[:18]] += 1
    same = np.arange(n + 60) >= n
    held = Held(same, np.append(rank, np.full(60, 3.0)), strangers(n + 60), group)
    wanted = ThresholdRequest(0.01, draws=100)
    found = find_threshold(held, wanted)  # type: ignore[arg-type]
    rates = found.plain.groups[1]
    assert (rates.fmr.errors, rates.fmr.pairs) == (12, 120)
    assert rates.enough_for_fmr and rates.fmr.bounds[0] > 0.01
    text = threshold_text(found, wanted, held)  # type: ignore[arg-type]
    assert " 10 % (" in next(line for line in text.splitlines() if "12 of 120" in line)


def test_what_is_kept_is_said_with_the_call_that_returns_it() -> None:
    limits = [(0.1, 0.5, 0.6), (0.001, 0.9, None), (1e-5, None, None)]
    entries = [{"wanted_fmr": f, "on": "score", "threshold": t, "confident_threshold": c} for f, t, c in limits]
    assert kept_text(Path("mine.fairfr"), entries).splitlines() == [
        "kept in mine.fairfr:",
        "  model.threshold(fmr=0.1, on='score') returns the confident threshold",
        "  model.threshold(fmr=0.001, on='score', confident=False); there is no confident one",
        "  nothing that keeps 1e-05",
    ]


def test_few_people_are_told_what_the_confidence_does_not_cover() -> None:
    left, right = np.triu_indices(60, 1)
    n = len(left)
    same, values = np.arange(n + 40) >= n, np.append(np.arange(n) / n, np.full(40, 2.0))
    both = [np.append(side, 60 + np.arange(40) * 2 + k) for k, side in enumerate((left, right))]
    wanted = ThresholdRequest(0.03, draws=20)
    held = Held(same, values, both)
    text = threshold_text(find_threshold(held, wanted), wanted, held)  # type: ignore[arg-type]
    assert "The impostors are 60 people: a kind of person rarer than 4.87 % may be missing" in text
    many = Held(same, values, strangers(n + 40))
    assert "rarer than" not in threshold_text(find_threshold(many, wanted), wanted, many)  # type: ignore[arg-type]
