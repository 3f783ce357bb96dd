"""The operating threshold: exact intervals, clusters of people, and what is said when pairs are too few."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from held_scores import Held, strangers
from made_faces import Faces
from safetensors.numpy import load_file
from scipy.stats import binomtest

import fairfr
from fairfr.core.errors import ConfigError, DataError
from fairfr.library.model_file import describe, keep_thresholds
from fairfr.library.threshold import (
    ThresholdRequest,
    checked,
    find_threshold,
    held_out_scores,
)
from fairfr.library.threshold_text import kept_text, threshold_text


def found_of(held: Any, fmr: float, **more: Any) -> tuple[dict[str, Any], str]:
    found = find_threshold(held, ThresholdRequest(fmr, **more))
    return found, threshold_text(found)


def worked() -> tuple[Any, Any, Any]:
    """1000 impostors at 0, 0.001, ...; 100 genuine pairs, half of them below; two groups."""
    values = np.concatenate([np.arange(1000) / 1000, np.linspace(0, 0.989, 50), np.full(50, 0.9995)])
    return np.arange(1100) >= 1000, values, np.where(np.arange(1100) % 2 == 0, 0, 1)


def test_a_worked_case() -> None:
    """At 1 % ten impostors may pass."""
    same, values, group = worked()
    found, text = found_of(Held(same, values, strangers(1100), group), 0.01)
    assert found["threshold"] == 0.99 and found["no_group"] is None
    assert (found["all"]["fmr"]["errors"], found["all"]["fmr"]["pairs"], found["all"]["fmr"]["rate"]) == (
        10,
        1000,
        0.01,
    )
    assert (found["all"]["fnmr"]["errors"], found["all"]["fnmr"]["pairs"]) == (50, 100)
    counts = [(g["name"], g["fmr"]["errors"], g["fmr"]["pairs"], g["fnmr"]["errors"]) for g in found["groups"]]
    assert counts == [("a", 5, 500, 25), ("b", 5, 500, 25)]
    # people who are in one pair only: the exact bound
    exact = binomtest(10, 1000).proportion_ci(0.95, "exact")
    for key in ("interval", "binomial", "over_identities"):
        assert found["all"]["fmr"][key] == pytest.approx([exact.low, exact.high])
    allowed = [k for k in range(11) if binomtest(k, 1000, 0.01, alternative="less").pvalue <= 0.05][-1]
    passes = values >= found["confident_threshold"]
    assert int(np.count_nonzero(passes & ~same)) == allowed
    for code, rates in enumerate(found["groups_at_confident"]):
        inside = group == code
        assert rates["fmr"]["errors"] == np.count_nonzero(passes & ~same & inside)
        assert rates["fnmr"]["errors"] == np.count_nonzero(~passes & same & inside)
    assert "accept where probability >= 0.99   (95 % over identities: " in text and "10 of 1,000" in text
    assert "with 95 % confidence" in text
    sections = text.split("false matches")
    assert len(sections) == 3 and all("\na  " in section and "\nb  " in section for section in sections[1:])


def test_the_interval_of_a_threshold_has_those_whose_rate_may_be_the_wanted_one() -> None:
    same, values, _ = worked()
    found, _ = found_of(Held(same, values, strangers(1100)), 0.01)
    impostors = values[~same]
    fits = []
    for value in np.unique(values):
        exact = binomtest(int(np.count_nonzero(impostors >= value)), 1000).proportion_ci(0.95, "exact")
        if exact.low <= 0.01 <= exact.high:
            fits.append(value)
    assert found["threshold_interval"] == [min(fits), max(fits)]
    assert min(fits) < 0.99 < max(fits)


def test_without_identities_nothing_is_said_of_them() -> None:
    same, values, group = worked()
    found, text = found_of(Held(same, values, strangers(1100), group, known=False), 0.01)
    assert found["identities"] == "unknown"
    assert found["people"] is found["threshold_over_identities"] is found["all"]["fmr"]["over_identities"] is None
    assert "identities" not in text and "confidence" not in text and "people is estimated" not in text
    assert "(95 % pairs as if independent: " in text
    assert "keeps 0.01 at 95 % if pairs are independent; it misses" in text
    assert "It is not known who is on the images. Pairs are treated as independent" in text


def test_people_are_known_if_nearly_all_sides_name_somebody() -> None:
    same, values, _ = worked()
    held = Held(same, values, strangers(1100))
    for blank, known in ((0.04, "known"), (0.06, "unknown")):
        sides = [np.where(np.arange(1100) < 1100 * blank, -1, side) for side in strangers(1100)]
        held = Held(same, values, strangers(1100))
        held.identities = tuple(sides)
        assert find_threshold(held, ThresholdRequest(0.01))["identities"] == known  # type: ignore[arg-type]


def test_the_rates_at_a_threshold_in_use() -> None:
    same, values, group = worked()
    held = Held(same, values, strangers(1100), group)
    found = find_threshold(held, ThresholdRequest(threshold=0.95))  # type: ignore[arg-type]
    assert found["wanted_fmr"] is found["confident_threshold"] is found["all_at_confident"] is None
    assert (found["threshold"], found["all"]["fmr"]["errors"]) == (0.95, 50)
    assert [group["fmr"]["errors"] for group in found["groups"]] == [25, 25]
    text = threshold_text(found)
    assert "accept where probability >= 0.95   in use" in text
    assert "confidence" not in text.split("Intervals")[0]
    assert text.count("false matches") == 1


def test_too_few_pairs_are_said_to_be() -> None:
    same = np.arange(140) >= 100
    values = np.append(np.linspace(0, 0.9, 100), np.linspace(0.5, 1, 40))
    group = np.where(np.arange(140) < 120, 0, 1)
    found, text = found_of(Held(same, values, strangers(140), group), 1e-3)
    assert found["confident_threshold"] is None and not found["highest_is_shared"]
    assert not found["all"]["fmr"]["enough_pairs"] and found["all"]["fnmr"]["enough_pairs"]
    assert not found["groups"][0]["fnmr"]["enough_pairs"]
    assert "100 impostor pairs cannot establish 0.001; 2,995 are needed." in text
    assert text.count("too few pairs to say") >= 3 and "no pairs" in text


def test_impostors_that_share_the_highest_value() -> None:
    same = np.arange(200) >= 100
    found, text = found_of(Held(same, np.where(np.arange(200) % 2 == 0, 1.0, 0.2), strangers(200)), 0.05)
    assert found["threshold"] is None
    assert found["all"]["fnmr"]["errors"] == 100, "nothing is accepted"
    assert "No threshold on the probability reaches it" in text and "--on score" in text and "inf" not in text


def test_a_confident_threshold_that_would_be_infinite_is_none() -> None:
    """Two of 3,000 impostors share the highest value: within 1e-3, but nothing above them could be confident of it."""
    same = np.arange(3100) >= 3000
    values = np.append(np.arange(3000) / 4000, np.linspace(0.5, 1, 100))
    values[:2] = 1.0
    found, text = found_of(Held(same, values, strangers(3100)), 1e-3)
    assert found["threshold"] is not None and found["confident_threshold"] is None and found["highest_is_shared"]
    assert "inf" not in text and "95 % confidence: no threshold, as too many impostors share the highest value" in text


@pytest.mark.parametrize(("rule", "name"), [("both", "mixed or unknown"), ("first", "unknown")])
def test_pairs_of_no_group_have_a_row(rule: Any, name: str) -> None:
    same = np.arange(1100) >= 1000
    values = np.concatenate([np.arange(1000) / 1000, np.full(100, 0.9995)])
    group = np.where(np.arange(1100) % 4 < 2, -1, np.arange(1100) % 2)
    found, text = found_of(Held(same, values, strangers(1100), group), 0.01, rule=rule)
    for end, limit in (("", "threshold"), ("_at_confident", "confident_threshold")):
        none = found[f"no_group{end}"]
        assert none["name"] == name
        rows = [none, *found[f"groups{end}"]]
        assert none["fmr"]["pairs"] == 500
        assert sum(row["fmr"]["pairs"] for row in rows) == found[f"all{end}"]["fmr"]["pairs"]
        assert none["fmr"]["errors"] == np.count_nonzero((values >= found[limit]) & ~same & (group < 0))
        assert sum(row["fmr"]["errors"] for row in rows) == found[f"all{end}"]["fmr"]["errors"]
    assert text.count(f"\n{name} ") == 2


def test_the_confident_threshold_keeps_its_word() -> None:
    """Impostors uniform on 0..1: the true rate at t is 1 - t. At 90 % confidence, at most one in ten may break it."""
    rng = np.random.default_rng(1)
    n, repeats, broken = 300, 60, 0
    for _ in range(repeats):
        values = rng.random(n + 50)
        held = Held(np.arange(n + 50) >= n, values, strangers(n + 50))
        found = find_threshold(held, ThresholdRequest(0.02, confidence=0.9))  # type: ignore[arg-type]
        # the refused impostor next below is what the data tells; values between it and the threshold are as good
        broken += 1 - found["confident_threshold"] > 0.02
    assert broken / repeats <= 0.1 + 3 * np.sqrt(0.1 * 0.9 / repeats)


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"fmr": 0}, "fmr"),
        ({"fmr": 1e-3, "confidence": 1}, "confidence"),
        ({}, "name a wanted rate"),
        ({"threshold": float("nan")}, "--threshold nan"),
    ],
)
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
    apart, _ = found_of(Held(same, values, strangers(n + 40)), 0.03)
    together, _ = found_of(Held(same, values, both), 0.03)
    assert together["threshold"] == apart["threshold"] < apart["confident_threshold"] < together["confident_threshold"]
    width = [high - low for low, high in (one["all"]["fmr"]["interval"] for one in (apart, together))]
    assert width[1] > 1.3 * width[0]
    assert together["all"]["fmr"]["phi"] > 0.1 > 0.01 > apart["all"]["fmr"]["phi"]


def test_few_pairs_can_show_that_a_group_is_above_the_wanted_rate() -> None:
    """120 impostors in group b, 12 of them accepted: too few to vouch for 1 %, more than enough to deny it."""
    n = 3000
    group = (np.arange(n + 60) % 25 == 0).astype(int)
    rank = np.arange(n) / n
    rank[np.flatnonzero(group[:n] == 1)[:12]] += 1
    rank[np.flatnonzero(group[:n] == 0)[:18]] += 1
    same = np.arange(n + 60) >= n
    held = Held(same, np.append(rank, np.full(60, 3.0)), strangers(n + 60), group)
    found, text = found_of(held, 0.01)
    rate = found["groups"][1]["fmr"]
    assert (rate["errors"], rate["pairs"]) == (12, 120)
    assert rate["enough_pairs"] and rate["interval"][0] > 0.01
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
    _, text = found_of(Held(same, values, both), 0.03)
    assert "The impostors are 60 people: a kind of person rarer than 4.87 % may be missing" in text
    assert "rarer than" not in found_of(Held(same, values, strangers(n + 40)), 0.03)[1]


# -- in a model's file -----------------------------------------------------------------------------------------------


def entry(fmr: float, plain: float | None, confident: float | None, on: str = "probability") -> dict[str, Any]:
    limits = {"threshold": plain, "confident_threshold": confident}
    return {"wanted_fmr": fmr, "confidence": 0.95, "on": on, **limits, "all": {"fmr": {"rate": 0.009}}}


@pytest.fixture
def saved(faces: Faces, tmp_path: Path) -> Path:
    fairfr.ACLinear().fit(faces.embeddings, faces.pairs, faces.same).save(tmp_path / "m.fairfr")
    return tmp_path / "m.fairfr"


def test_a_kept_threshold_is_the_models(saved: Path) -> None:
    keep_thresholds(saved, [entry(1e-2, 0.7, 0.8), entry(1e-3, 0.9, 0.95)])
    keep_thresholds(saved, [entry(1e-2, 2.5, 3.5, on="score"), entry(1e-3, 0.91, 0.96)])
    model = fairfr.load(saved)
    assert model.threshold(fmr=1e-2) == 0.8
    assert model.threshold(fmr=1e-2, confident=False) == 0.7
    assert model.threshold(0.001) == 0.96
    assert model.threshold(1e-2, on="score") == 3.5
    assert model.thresholds_[0]["all"]["fmr"]["rate"] == 0.009
    assert len(describe(saved)["thresholds"]) == 3


def test_all_else_in_the_file_stays(faces: Faces, saved: Path) -> None:
    before, arrays, model = describe(saved), load_file(saved), fairfr.load(saved)
    keep_thresholds(saved, [entry(1e-2, 0.7, 0.8)])
    after = describe(saved)
    after.pop("thresholds")
    assert after == before and load_file(saved).keys() == arrays.keys()
    again = fairfr.load(saved)
    both = [one.probability(faces.embeddings, faces.pairs).tobytes() for one in (model, again)]
    assert both[0] == both[1]
    again.save(saved)
    assert fairfr.load(saved).threshold(1e-2) == 0.8
    assert again.fit(faces.embeddings, faces.pairs, faces.same).thresholds_ == ()


def test_a_threshold_that_is_not_there_names_the_command(saved: Path) -> None:
    with pytest.raises(DataError, match=r"kept: none.*fairfr calibrate threshold --model FILE --fmr 0\.001 --keep"):
        fairfr.load(saved).threshold(fmr=1e-3)
    keep_thresholds(saved, [entry(1e-2, 0.7, None), entry(1e-4, None, None)])
    model = fairfr.load(saved)
    with pytest.raises(DataError, match=r"kept: 0\.01, 0\.0001.*--fmr 0\.001 --keep"):
        model.threshold(fmr=1e-3)
    with pytest.raises(DataError, match=r"kept: none.*--on score --keep"):
        model.threshold(fmr=1e-2, on="score")
    with pytest.raises(DataError, match=r"95 % confidence.*confident=False"):
        model.threshold(fmr=1e-2)
    assert model.threshold(fmr=1e-2, confident=False) == 0.7
    with pytest.raises(DataError, match="no threshold on the probability reached"):
        model.threshold(fmr=1e-4, confident=False)


def test_a_damaged_file_keeps_nothing(saved: Path) -> None:
    content = bytearray(saved.read_bytes())
    content[-3] ^= 4
    saved.write_bytes(content)
    with pytest.raises(DataError, match="damaged"):
        keep_thresholds(saved, [entry(1e-2, 0.7, 0.8)])
    assert saved.read_bytes() == bytes(content)


@pytest.mark.parametrize(
    "entries",
    [
        {},
        [1],
        [{"on": "probability"}],
        [entry(1e-2, float("nan"), 0.8)],
        [entry(1e-2, 0.7, True)],
        [entry(1e-2, 0.7, 0.8, on="anything")],
    ],
)
def test_thresholds_that_fairfr_never_writes_are_refused(entries: Any) -> None:
    with pytest.raises(DataError, match="thresholds"):
        checked(entries)
