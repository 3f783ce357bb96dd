"""Another share of genuine pairs than in training, and the likelihood ratio, which knows no share."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest
from made_faces import Faces
from sklearn.naive_bayes import GaussianNB

import fairfr
from fairfr.core.errors import DataError
from fairfr.library.prior import log_likelihood_ratio, with_prior


def test_a_case_by_hand() -> None:
    """Training 1 : 1, in use 1 : 99. Odds of 0.9 are 9; 9 / 99 = 1 / 11, which is a probability of 1 / 12."""
    found = with_prior(np.array([0.9, 0.5, 0.99]), 0.5, 0.01)
    np.testing.assert_allclose(found, [1 / 12, 1 / 100, 1 / 2], rtol=1e-15)
    # training 1 : 3, in use 1 : 1: odds are three times as high
    np.testing.assert_allclose(with_prior(np.array([0.25, 0.5]), 0.25, 0.5), [0.5, 0.75], rtol=1e-15)


def test_the_ends_stay_and_so_does_the_order() -> None:
    probability = np.array([0.0, 5e-324, 1e-300, 1e-9, 0.3, 0.7, 1 - 1e-9, 1 - 2**-53, 1.0])
    for prior in (1e-12, 1e-3, 0.5, 0.999, 1 - 1e-12):
        found = with_prior(probability, 0.3, prior)
        assert found[0] == 0 and found[-1] == 1
        assert np.isfinite(found).all() and (np.diff(found) >= 0).all()
    assert with_prior(probability, 0.3, 0.3) == pytest.approx(probability)


def test_scikit_learn_given_the_prior_agrees() -> None:
    """Naive Bayes learns the densities alone, so its priors can be exchanged."""
    rng = np.random.default_rng(4)
    same = rng.random(500) < 0.3
    values = rng.normal(np.where(same, 1.0, -0.5)[:, None], 0.7, (500, 2))
    trained, moved = GaussianNB().fit(values, same), GaussianNB(priors=[0.98, 0.02]).fit(values, same)
    probability = trained.predict_proba(values)[:, 1]
    expected = moved.predict_proba(values)[:, 1]
    np.testing.assert_allclose(with_prior(probability, same.mean(), 0.02), expected, rtol=1e-9)
    densities = GaussianNB(priors=[0.5, 0.5]).fit(values, same).predict_log_proba(values)
    n_same = int(same.sum())
    ratio = np.clip(densities[:, 1] - densities[:, 0], -math.log(n_same + 1), math.log(501 - n_same))
    found = log_likelihood_ratio(probability, n_same, 500 - n_same)
    np.testing.assert_allclose(found, ratio, rtol=1e-6, atol=1e-9)


def test_likelihood_ratios_by_hand_and_their_bounds() -> None:
    """9 genuine pairs, 99 impostors, so prior odds of 1 / 11: a probability of 1 / 2 is a ratio of 11."""
    found = log_likelihood_ratio(np.array([0.0, 1 / 12, 0.5, 1.0]), 9, 99)
    np.testing.assert_allclose(found, [-math.log(10), 0, math.log(11), math.log(100)], atol=1e-15)


def test_isotonic_gives_zeros_and_ones_and_every_number_is_finite(faces: Faces) -> None:
    model = fairfr.Isotonic().fit_scores(faces.cosine, faces.same)
    plain = model.probability_scores(faces.cosine)
    sure, never = plain == 1, plain == 0
    assert sure.any() and never.any()
    rare = model.probability_scores(faces.cosine, prior=1e-3)
    assert (rare[sure] == 1).all() and (rare[never] == 0).all() and np.isfinite(rare).all()
    llr = model.llr_scores(faces.cosine)
    n_same = int(faces.same.sum())
    assert (llr[sure] == math.log(len(faces.same) - n_same + 1)).all()
    assert (llr[never] == -math.log(n_same + 1)).all()


def test_every_way_to_a_probability_takes_a_prior(faces: Faces, tmp_path: Path) -> None:
    given = (faces.embeddings, faces.pairs)
    fairfr.Platt().fit(*given, faces.same).save(tmp_path / "m.fairfr")
    model = fairfr.load(tmp_path / "m.fairfr")
    odds = model.probability(*given) / (1 - model.probability(*given))
    share = faces.same.mean()
    moved = odds * (0.01 / 0.99) / (share / (1 - share))
    expected = moved / (1 + moved)
    np.testing.assert_allclose(model.probability(*given, prior=0.01), expected, rtol=1e-12)
    both = model.predict_proba(*given, prior=0.01)
    np.testing.assert_allclose(both, np.column_stack([1 - expected, expected]), rtol=1e-12)
    by_scores = fairfr.Platt().fit_scores(faces.cosine, faces.same)
    np.testing.assert_allclose(by_scores.probability_scores(faces.cosine, prior=0.01), expected, atol=1e-6)
    n_same = int(faces.same.sum())
    unbounded = np.log(odds) - np.log(share / (1 - share))
    ratio = np.clip(unbounded, -math.log(n_same + 1), math.log(len(odds) - n_same + 1))
    np.testing.assert_allclose(model.llr(*given), ratio, atol=1e-9)
    np.testing.assert_allclose(by_scores.llr_scores(faces.cosine), model.llr(*given), atol=1e-4)


@pytest.mark.parametrize("wrong", [0, 1, -0.1, 2, float("nan"), "0.1", True])
def test_a_prior_is_a_share(faces: Faces, wrong: object) -> None:
    model = fairfr.Platt().fit_scores(faces.cosine, faces.same)
    with pytest.raises(DataError, match="a number above 0 and below 1, such as"):
        model.probability_scores(faces.cosine, prior=wrong)
