"""Ties at the highest value are found, and said with what the score gives instead."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from fairfr.core.findings import Finding
from fairfr.core.types import ScoreFrame
from fairfr.metrics.cell_metrics import compute_metrics
from fairfr.metrics.ties import tied_at_the_top, ties_code

SAME, DIFFERENT = 100, 400  # in each of two folds
BOTH = (ties_code("tpr_at_fpr_1e-2_on_probability"), ties_code("tpr_at_fpr_1e-3_on_probability"))


def frame_of(*at_the_top: int) -> ScoreFrame:
    """Two folds whose probability, the score clipped at 1, has so many impostors at 1, with 50 genuine pairs."""
    scores = []
    for count in at_the_top:
        genuine = np.concatenate([np.linspace(2, 3, 50), np.linspace(0.2, 0.6, SAME - 50)])
        impostors = np.concatenate([np.linspace(1.1, 1.9, count), np.linspace(0.0, 0.9, DIFFERENT - count)])
        scores.append(np.concatenate([genuine, impostors]))
    score = np.concatenate(scores)
    fold = np.repeat(np.arange(2, dtype=np.int16), SAME + DIFFERENT)
    same = np.tile(np.arange(SAME + DIFFERENT) < SAME, 2)
    return ScoreFrame(fold, same, score, np.minimum(score, 1.0))


def findings(frame: ScoreFrame, native: bool = True) -> list[Finding]:
    return tied_at_the_top(frame, compute_metrics(frame, ("a", "b"), [], 1), native, "RFW x Net x Mine")


@pytest.mark.parametrize(
    ("at_the_top", "affected"),
    [
        ((0, 0), {}),
        ((1, 1), {}),  # a single pair shares its place with nobody
        ((4, 0), {BOTH[1]: (1, 4)}),  # 4 of 400 is what a rate of 1e-2 allows
        ((5, 2), {BOTH[0]: (1, 5), BOTH[1]: (2, 7)}),
    ],
)
def test_more_impostors_at_the_top_of_a_fold_than_the_rate_allows(
    at_the_top: tuple[int, int], affected: dict[str, tuple[int, int]]
) -> None:
    found = {one.code: (one.counts["folds"], one.counts["impostors"]) for one in findings(frame_of(*at_the_top))}
    assert found == affected


def test_the_text_says_the_value_and_that_of_the_score() -> None:
    finding = findings(frame_of(8, 8))[1]
    # between nothing and 50 of 100 genuine pairs with 8 of 400 impostors: 1e-3 lies at 1/20 of the way
    assert "RFW x Net x Mine: TPR at FPR=1e-3 is 0.025 because of ties." in finding.text
    assert "In 2 of 2 folds" in finding.text and "highest probability" in finding.text
    assert "(16 of 800)" in finding.text
    assert finding.text.endswith("By the score it is 0.500.")
    assert finding.severity == "warning"


def test_ties_of_the_score_itself_have_no_other_value() -> None:
    clipped = replace(frame_of(8, 8), score=frame_of(8, 8).probability)
    for native in (True, False):
        found = findings(clipped, native)
        assert [one.code for one in found] == [ties_code("tpr_at_fpr_1e-2"), ties_code("tpr_at_fpr_1e-3")]
        assert not any("By the score" in one.text for one in found)


def test_the_probability_counts_only_where_a_method_is_ranked_by_it() -> None:
    assert findings(frame_of(8, 8), native=False) == []


def test_thousands_have_commas() -> None:
    same = np.arange(3000) < 500
    frame = ScoreFrame(np.zeros(3000, dtype=np.int16), same, np.ones(3000), np.ones(3000))
    text = findings(frame)[0].text
    assert "(2,500 of 2,500)" in text
