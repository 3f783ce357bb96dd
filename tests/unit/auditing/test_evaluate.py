"""``fairfr.evaluate``: verdicts on made pairs, what a model keeps, and what is said where it keeps nothing."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from held_scores import Held, strangers

import fairfr
from fairfr.auditing.evaluate import Evaluation
from fairfr.core.errors import ConfigError, DataError
from fairfr.library.expected import KEY, expected_of
from fairfr.library.threshold import ThresholdRequest, find_threshold

N = 6000


class Pairs:
    """Scores of pairs of strangers, with labels and two groups. ``lost`` takes away what tells genuine pairs."""

    def __init__(self, seed: int, n: int = N, lost: float = 0.0, share: float = 0.5) -> None:
        rng = np.random.default_rng(seed)
        self.same = rng.random(n) < share
        self.score = np.clip(0.2 * rng.normal(size=n) - 0.3 + 0.6 * (1 - lost) * self.same, -1, 1)
        self.group = rng.integers(0, 2, n)
        self.left, self.right = strangers(n)
        self.right = np.where(self.same, self.left, self.right)

    @property
    def names(self) -> np.ndarray:
        return np.array(["a", "b"])[self.group]


def fitted(seed: int = 0, keep: bool = True, known: bool = True, of: Pairs | None = None) -> Any:
    """A model that keeps what calibrate fit and calibrate threshold --keep write."""
    pairs = of or Pairs(seed)
    model = fairfr.Beta().fit_scores(pairs.score, pairs.same)
    held = Held(
        pairs.same, model.probability_scores(pairs.score), (pairs.left, pairs.right), group=pairs.group, known=known
    )
    model.origin_ = {KEY: expected_of(held)}  # type: ignore[arg-type]
    if keep:
        found = [find_threshold(held, ThresholdRequest(fmr)) for fmr in (1e-2, 1e-1)]  # type: ignore[arg-type]
        model.thresholds_ = tuple(json.loads(json.dumps(found)))
    return model


def evaluated(pairs: Pairs, model: Any, people: bool = True, **more: Any) -> Evaluation:
    identities = (pairs.left.astype(str), pairs.right.astype(str)) if people else None
    probability = model.probability_scores(pairs.score)
    found: Evaluation = fairfr.evaluate(
        probability, pairs.same, groups={"sex": pairs.names}, identities=identities, stored=model, **more
    )
    return found


def test_pairs_of_the_same_kind_hold() -> None:
    found = evaluated(Pairs(1), fitted())
    assert found.verdict == "holds"
    assert str(found).startswith("HOLDS. FNMR at the stored threshold ")
    assert found.kept.threshold is not None
    assert found.kept.threshold.wanted_fmr == 0.1, "the largest kept"
    assert evaluated(Pairs(1), fitted(), fmr=1e-2).kept.threshold.wanted_fmr == 1e-2  # type: ignore[union-attr]


def test_false_alarms_are_rare() -> None:
    """Draws of the same population: each rate, the probabilities and the ranking may be wrong once in forty times."""
    verdicts = [evaluated(Pairs(100 + seed, n=2000), fitted(200 + seed)).verdict for seed in range(12)]
    assert verdicts.count("holds") >= 11


class SharedPairs(Pairs):
    """Pairs among 120 people, who differ in how similar they are to others, and to themselves."""

    def __init__(self, seed: int) -> None:
        rng = np.random.default_rng(seed)
        self.left = rng.integers(0, 120, 2000)
        self.same = rng.random(2000) < 0.5
        self.right = np.where(self.same, self.left, (self.left + rng.integers(1, 120, 2000)) % 120)
        self.group = self.left % 2
        likeness = 0.1 * rng.normal(size=(2, 120))
        of_people = np.where(self.same, 2 * likeness[0][self.left], likeness[1][self.left] + likeness[1][self.right])
        self.score = np.clip(0.15 * rng.normal(size=2000) - 0.3 + 0.6 * self.same + of_people, -1, 1)


def test_other_people_of_the_same_kind_are_rarely_called_worse() -> None:
    """Errors come in clusters of people, and each evaluation meets other people than the fit."""
    found = []
    for seed in range(12):
        found.append(evaluated(SharedPairs(seed), fitted(of=SharedPairs(1000 + seed))))
    told = [one.verdict for one in found]
    assert sum(verdict in ("holds", "cannot_be_told_yet") for verdict in told) >= 11
    assert "cannot_be_told_yet" in told, "so few people cannot always exclude a doubling"


def test_fewer_genuine_pairs_ask_for_a_new_prior() -> None:
    found = evaluated(Pairs(1, share=0.1), fitted())
    assert found.verdict == "holds_after_a_new_prior"
    assert found.checks is not None
    assert f"Pass prior={found.checks.prior.prior:.3g}." in str(found)
    assert found.checks.prior.prior == pytest.approx(0.1, abs=0.02)


def test_worse_images_do_not_hold() -> None:
    found = evaluated(Pairs(1, lost=0.5), fitted())
    assert found.verdict == "does_not_hold"
    assert "Worse: FNMR of all" in str(found)
    assert {(check.group, check.kind) for check in found.checks.worse} == {  # type: ignore[union-attr]
        ("all", "fnmr"), ("a", "fnmr"), ("b", "fnmr"),
    }  # fmt: skip


def test_scores_that_moved_in_the_same_order_ask_for_a_fit() -> None:
    pairs = Pairs(1)
    pairs.score = np.clip(pairs.score - 0.2, -1, 1)
    found = evaluated(pairs, fitted())
    assert found.verdict == "ranking_holds_refit"
    assert "fairfr calibrate fit" in str(found)


def test_few_pairs_cannot_exclude_a_doubling() -> None:
    found = evaluated(Pairs(1, n=120), fitted())
    assert found.verdict == "cannot_be_told_yet"
    assert "A doubling of FNMR is not excluded" in str(found)
    few = Pairs(1, n=200, share=0.1)
    assert evaluated(few, fitted()).verdict == "cannot_be_told"
    assert f"{int(few.same.sum())} genuine and" in str(evaluated(few, fitted()))


def test_without_people_the_evaluation_says_so_and_calls_nothing_sure_that_is_not() -> None:
    found = evaluated(Pairs(1, lost=0.12), fitted(known=False), people=False)
    assert "It is not known who is on the images" in str(found)
    assert found.to_dict()["pairs"]["identities"] == "unknown"
    for entry in found.to_dict()["calibration"]:
        assert entry["ecce_p"] is None
        assert entry["slope_interval"] is None


@pytest.mark.parametrize("saved", ["through the library", "without a threshold", "before rates were kept"])
def test_a_model_that_keeps_nothing_says_how_to_fit_again(saved: str, tmp_path: Path) -> None:
    model = fitted(keep=saved != "without a threshold")
    remedy = "fairfr calibrate threshold --model FILE --fmr"
    if saved == "through the library":
        model.origin_ = None
        remedy = "fairfr calibrate fit"
    elif saved == "before rates were kept":
        for entry in model.thresholds_:
            for name in ("all", "all_at_confident"):
                for kind in ("fmr", "fnmr"):
                    del entry[name][kind]["phi"]
    model.save(tmp_path / "m.fairfr")
    found = evaluated(Pairs(1), fairfr.load(tmp_path / "m.fairfr"))
    assert found.verdict == "cannot_be_told"
    assert str(found).startswith("CANNOT BE TOLD. ")
    assert remedy in str(found)
    assert found.checks is None
    assert "CANNOT BE TOLD" in found.to_html()


def test_what_a_model_keeps_survives_its_file(tmp_path: Path) -> None:
    model = fitted()
    model.save(tmp_path / "m.fairfr")
    loaded = fairfr.load(tmp_path / "m.fairfr")
    assert evaluated(Pairs(2), loaded).to_dict() == evaluated(Pairs(2), model).to_dict()


@pytest.mark.parametrize(
    "change",
    [
        lambda origin: origin[KEY].update(genuine=0),
        lambda origin: origin[KEY]["histograms"]["all"]["genuine"].pop(),
        lambda origin: origin[KEY].update(cllr="1"),
        lambda origin: origin[KEY].update(more=1),
    ],
)
def test_what_fairfr_never_writes_is_refused(change: Any) -> None:
    model = fitted()
    change(model.origin_)
    with pytest.raises(DataError, match="not what fairfr writes"):
        evaluated(Pairs(1), model)


@pytest.mark.parametrize(("name", "value"), [("errors", -1), ("phi", 1e300), ("phi", "a")])
def test_impossible_errors_at_the_kept_threshold_are_refused(name: str, value: object) -> None:
    model = fitted()
    model.thresholds_[-1]["all_at_confident"]["fmr"][name] = value
    with pytest.raises(DataError, match="kept threshold are not those that fairfr writes"):
        evaluated(Pairs(1), model)


def test_a_rate_without_a_kept_threshold_is_refused() -> None:
    with pytest.raises(DataError, match="no threshold on the probability is kept for a false match rate of 0\\.02"):
        evaluated(Pairs(1), fitted(), fmr=0.02)
    with pytest.raises(ConfigError, match="a probability, between 0 and 1"):
        evaluated(Pairs(1), fitted(), threshold=2.0)


@pytest.mark.parametrize("wrong", [np.nan, 1.5])
def test_a_wrong_probability_is_called_by_its_name(wrong: float) -> None:
    with pytest.raises(DataError, match=r"the probability is not .*\(pairs 1, .*Correct probability, or") as told:
        fairfr.evaluate([0.9, wrong, 0.1], [1, 1, 0], stored=fitted())
    assert "--" not in str(told.value)
    with pytest.raises(DataError, match=r"impostors rank above.*are the labels in same swapped\?"):
        fairfr.evaluate([0.9, 0.1], [0, 1], stored=fitted())


def test_another_threshold_is_shown_and_does_not_decide() -> None:
    plain = evaluated(Pairs(1), fitted())
    shown = evaluated(Pairs(1), fitted(), threshold=0.001)
    assert {row["level"] for row in shown.to_dict()["rates"]} == {"kept", "current"}
    assert shown.to_dict()["checks"] == plain.to_dict()["checks"]


def test_without_labels_there_are_no_error_rates() -> None:
    model = fitted()
    pairs = Pairs(1, share=0.2)
    probability = model.probability_scores(pairs.score)
    found = fairfr.evaluate(probability, groups={"sex": pairs.names}, stored=model)
    content = found.to_dict()
    assert content["verdict"] is None
    assert content["rates"] == []
    assert [shift["group"] for shift in content["shift"]] == ["all", "a", "b"]
    assert content["shift"][0]["share"] == pytest.approx(0.2, abs=0.02)
    assert content["shift"][0]["accepted"] == int((probability >= found.kept.threshold.value).sum())  # type: ignore[union-attr]
    assert "this does not show that error rates hold" in str(found)
    moved = fairfr.evaluate(probability**2, stored=model)
    assert "No share of genuine pairs explains the scores of all: conditions have changed." in str(moved)
    assert "Could these be pairs like the held-out ones?" in moved.to_html()


def test_groups_that_are_a_product_are_made_of_their_parts() -> None:
    model = fitted()
    expected = model.origin_[KEY]
    expected["grouping"] = "sex_x_age"
    names = {"a": "f_old", "b": "m_young"}
    expected["histograms"] = {names.get(group, group): of for group, of in expected["histograms"].items()}
    for entry in model.thresholds_:
        for end in ("groups", "groups_at_confident"):
            for rates in entry[end]:
                rates["name"] = names[rates["name"]]
    pairs = Pairs(1)
    sex = np.where(pairs.group == 0, "f", "m")
    age = np.where(pairs.group == 0, "old", "young")
    probability = model.probability_scores(pairs.score)
    found = fairfr.evaluate(probability, pairs.same, groups={"sex": sex, "age": age}, stored=model)
    assert found.checks is not None
    assert {check.group for check in found.checks.rates} == {"all", "f_old", "m_young"}


def test_the_page_has_the_verdict_first() -> None:
    found = evaluated(Pairs(1, lost=0.5), fitted())
    page = found.to_html()
    marks = ("DOES NOT HOLD", "What is sure", "Now, and on held-out", "As probabilities")
    places = [page.index(mark) for mark in marks]
    assert places == sorted(places)
    assert json.loads(json.dumps(found.to_dict(), allow_nan=False))["verdict"] == "does_not_hold"


@pytest.mark.parametrize("stored", ["mine.fairfr", fairfr.Beta()])
def test_only_a_fitted_model_is_evaluated(stored: Any) -> None:
    with pytest.raises(DataError, match="stored must be a fitted model"):
        fairfr.evaluate([0.1, 0.9], [0, 1], stored=stored)


def test_a_threshold_of_a_strange_file_is_no_traceback() -> None:
    model = fitted()
    for name in ("rule", "all_at_confident"):
        for entry in model.thresholds_:
            entry.pop(name)
        with pytest.raises(DataError, match="kept threshold are not those that fairfr writes"):
            evaluated(Pairs(1), model)
        model = fitted()
