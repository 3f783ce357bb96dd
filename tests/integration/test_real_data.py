"""Real faces: the figures measured on them, if the files are at hand (FAIRFR_REAL_DATA names their folder)."""

from __future__ import annotations

import os
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import roc_auc_score, roc_curve

ROOT = os.environ.get("FAIRFR_REAL_DATA", "")
pytestmark = pytest.mark.skipif(not ROOT, reason="FAIRFR_REAL_DATA is not set")

# Fold-mean AUROC and pooled Brier of a weak backbone (256-d), measured apart from this code. The AUROC is that of the
# probability: AC-Density clips it, and the ties cost a little (its unclipped score has .9867).
LFW = {
    "platt": (0.9837, 0.0465),
    "beta": (0.9837, 0.0455),
    "ac_linear": (0.9864, 0.0436),
    "ac_density": (0.9866, 0.0447),
}
# AUROC of African, Asian, Caucasian and Indian pairs over all folds
RFW = {
    "iresnet34_balanced": (0.9768, 0.9770, 0.9905, 0.9802),
    "iresnet34_global": (0.9806, 0.9789, 0.9947, 0.9836),
    "iresnet50_balanced": (0.9803, 0.9815, 0.9922, 0.9821),
    "iresnet50_global": (0.9827, 0.9844, 0.9950, 0.9868),
}
FILES = (f"data_root={ROOT}", "source=files")


def numbers(result: dict[str, Any], grouping: str = "all", rule: str = "all") -> dict[tuple[str, str], dict[str, Any]]:
    return {
        (row["group"], row["metric"]): row
        for row in result["metrics"]
        if row["grouping"] == grouping and row["rule"] == rule
    }


@pytest.mark.parametrize("method", LFW)
def test_lfw_with_a_weak_backbone(cell: Any, method: str) -> None:
    outcome = cell(*FILES, "dataset=lfw", "backbone=custom", "backbone.id=mobileface_v3", f"method={method}")
    assert outcome.status == "completed", outcome.error
    auroc, brier = LFW[method]
    found = numbers(outcome.result.to_json())
    assert found["all", "auroc_on_probability"]["mean"] == pytest.approx(auroc, abs=6e-5)
    assert found["all", "auroc"]["mean"] == pytest.approx(auroc, abs=1e-4)
    assert found["all", "brier"]["pooled"] == pytest.approx(brier, abs=6e-5)
    assert outcome.result.data.dimensions == 256 and outcome.result.source == "files"


@pytest.mark.parametrize(
    ("backbone", "auroc"), [("edgeface_xs", 0.99928), ("mobileface_v3", 0.98380), ("dlib_resnet", 0.99925)]
)
def test_lfw_by_the_raw_cosine(cell: Any, backbone: str, auroc: float) -> None:
    outcome = cell(*FILES, "dataset=lfw", "backbone=custom", f"backbone.id={backbone}", "method=baseline")
    assert numbers(outcome.result.to_json())["all", "auroc"]["pooled"] == pytest.approx(auroc, abs=6e-6)


def test_groups_with_hardly_an_impostor_have_no_number(cell: Any) -> None:
    """LFW has 7 impostor pairs of two Asian people, 4 of two Black ones, 1 of two Indian ones, over ten folds."""
    outcome = cell(*FILES, "dataset=lfw", "backbone=custom", "backbone.id=mobileface_v3", "method=baseline")
    found = numbers(outcome.result.to_json(), "ethnicity", "both")
    for group, n_diff in (("asian", 7), ("black", 4), ("indian", 1)):
        row = found[group, "auroc"]
        assert row["n_diff"] == n_diff and row["folds"] < 10
        if row["folds"] == 0:
            assert row["mean"] is None
    assert found["white", "auroc"]["folds"] == 10


@pytest.mark.parametrize("column", RFW)
def test_rfw_from_published_scores(cell: Any, column: str) -> None:
    options = ("dataset=custom", "dataset.id=rfw_scores", "dataset.grouping=[ethnicity]", "backbone=scores")
    outcome = cell(*FILES, *options, f"backbone.column={column}", "method=baseline")
    found = numbers(outcome.result.to_json(), "ethnicity", "both")
    levels = outcome.result.data.groups["ethnicity"]
    assert [level.lower() for level in levels] == ["african", "asian", "caucasian", "indian"]
    pooled = [found[level, "auroc"]["pooled"] for level in levels]
    assert pooled == pytest.approx(RFW[column], abs=6e-5)
    scores = pd.read_parquet(outcome.folder / "scores.parquet")
    again = [roc_auc_score(f["same"], f["score"]) for _, f in scores.groupby("ethnicity", observed=True)]
    assert pooled == pytest.approx(again, abs=1e-12)


# Gap of true match rates between gender x age at FPR 1e-3, all held-out pairs together, measured apart from this code
CELEBA_EO = {"baseline": 15.4, "ac_hinge": 15.0, "ac_linear": 18.6, "ac_cohort": 22.7}


@pytest.mark.parametrize("method", CELEBA_EO)
def test_celeba_at_one_threshold(cell: Any, method: str) -> None:
    backbone = ("backbone=custom", "backbone.id=mobileface_v3")
    data = ("dataset=custom", "dataset.id=celeba", "dataset.grouping=[gender,age]")
    outcome = cell(*FILES, *data, *backbone, f"method={method}")
    found = numbers(outcome.result.to_json(), "gender_x_age", "both")
    assert found["gap", "eo_gap_at_fpr_1e-3"]["pooled"] == pytest.approx(CELEBA_EO[method], abs=0.05)
    scores = pd.read_parquet(outcome.folder / "scores.parquet")
    for level, alpha in (("1e-2", 1e-2), ("1e-3", 1e-3)):
        fpr, tpr, own = by_scikit_learn(scores, "gender_x_age", alpha)
        for name, expected in ((f"fpr_at_fpr_{level}", fpr), (f"tpr_at_fpr_{level}", tpr)):
            pooled = {group: found[group, name]["pooled"] for group in expected}
            assert pooled == pytest.approx(expected, abs=1e-12)
        assert {group: found[group, f"tpr_at_own_fpr_{level}"]["pooled"] for group in own} == pytest.approx(own)
        rates = np.array(list(fpr.values()))
        geometric = np.exp(np.log(rates).mean())
        for name, value in (
            ("fpr_ratio", rates.max() / rates.min()),
            ("fpr_spread", rates.max() / geometric),
            ("fpr_mean", 100 * rates.mean()),
            ("fpr_aad", 100 * np.abs(rates - rates.mean()).mean()),
            ("fpr_mad", 100 * np.abs(rates - rates.mean()).max()),
            ("fpr_std", 100 * rates.std()),
            ("own_eo_gap", 100 * (max(own.values()) - min(own.values()))),
        ):
            assert found["gap", f"{name}_at_fpr_{level}"]["pooled"] == pytest.approx(value, abs=1e-9), name
        assert found["worst", f"fpr_at_fpr_{level}"]["pooled"] == pytest.approx(rates.max())


def by_scikit_learn(scores: pd.DataFrame, grouping: str, alpha: float) -> tuple[dict[str, float], ...]:
    """FPR and TPR of each group at the common threshold, and TPR at its own, between the two nearest thresholds."""
    fpr, _, thresholds = roc_curve(scores["same"], scores["score"], drop_intermediate=False)
    below = int(np.searchsorted(fpr, alpha, side="right")) - 1
    part = (alpha - fpr[below]) / (fpr[below + 1] - fpr[below])
    groups = scores[grouping].astype(str)
    found: tuple[dict[str, float], ...] = ({}, {}, {})
    for group in sorted(set(groups)):
        if "|" in group:
            continue
        inside = scores[groups == group]
        for rates, same in zip(found, (False, True), strict=False):
            values = inside["score"][inside["same"] == same]
            accepted = [float((values >= threshold).mean()) for threshold in thresholds[below : below + 2]]
            rates[group] = (1 - part) * accepted[0] + part * accepted[1]
        own_fpr, own_tpr, _ = roc_curve(inside["same"], inside["score"], drop_intermediate=False)
        found[2][group] = float(np.interp(alpha, own_fpr, own_tpr))
    return found
