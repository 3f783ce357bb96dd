"""A rate has one interval, wherever it is shown; without people nothing claims more than independent pairs allow."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from held_scores import Held

import fairfr
from fairfr.library.threshold import ThresholdRequest, find_threshold
from fairfr.library.threshold_text import threshold_text
from fairfr.report.group_fmr import group_fmr, impostors_by_group

CLAIMS = ("over identities", "with 95 % confidence", "95 % confident")


class Pairs:
    """2,000 pairs among 80 people, who differ in how often they are taken for others."""

    def __init__(self) -> None:
        rng = np.random.default_rng(3)
        self.left = rng.integers(0, 80, 2000)
        self.same = rng.random(2000) < 0.3
        self.right = np.where(self.same, self.left, (self.left + rng.integers(1, 80, 2000)) % 80)
        likeness = 0.1 * rng.normal(size=80)
        self.score = 0.1 * rng.normal(size=2000) + 0.4 * self.same + likeness[self.left] + likeness[self.right]
        self.score = 1 / (1 + np.exp(-5 * self.score))
        self.group = np.where(self.left % 2 == self.right % 2, self.left % 2, -1)

    def held(self, known: bool) -> Any:
        return Held(self.same, self.score, (self.left, self.right), group=self.group, known=known)

    def audited(self, known: bool, threshold: float) -> Any:
        names = tuple(np.array(["a", "b"])[side % 2] for side in (self.left, self.right))
        people = (self.left.astype(str), self.right.astype(str)) if known else None
        return fairfr.audit(self.score, self.same, groups={"g": names}, identities=people, threshold=threshold)


@pytest.mark.parametrize("known", [True, False])
def test_threshold_audit_and_the_figure_of_fmr_agree(known: bool) -> None:
    pairs = Pairs()
    held = pairs.held(known)
    found = find_threshold(held, ThresholdRequest(0.05))
    audited = {row["group"]: row for row in pairs.audited(known, found["threshold"]).to_dict()["rates"][:3]}
    for rates in (found["all"], *found["groups"]):
        row = audited["all" if rates["name"] == "all pairs" else rates["name"]]
        for kind in ("fmr", "fnmr"):
            assert row[f"{kind}_interval"] == pytest.approx(rates[kind]["interval"])
            assert row[f"{kind}_phi"] == pytest.approx(rates[kind]["phi"])
    figure = group_fmr(pairs.same, pairs.score, impostors_by_group(held, pairs.group.astype(np.int16), 2), 0.05)
    for code, name in enumerate(("a", "b")):
        assert [figure.low[code] * 0.05, figure.high[code] * 0.05] == pytest.approx(audited[name]["fmr_interval"])


def test_without_people_nothing_claims_to_know_them() -> None:
    pairs = Pairs()
    found = find_threshold(pairs.held(known=False), ThresholdRequest(0.05))
    audited = pairs.audited(False, found["threshold"])
    for text in (threshold_text(found), str(audited), audited.to_html()):
        assert not [claim for claim in CLAIMS if claim in text]
        assert "independent" in text
    known = find_threshold(pairs.held(known=True), ThresholdRequest(0.05))
    assert [claim for claim in CLAIMS if claim in threshold_text(known)] == list(CLAIMS[:2])
