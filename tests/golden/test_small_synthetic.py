"""The same numbers as last release, on a small synthetic RFW.

A change here is a change of results: rewrite the file with ``pytest tests/golden --update-golden``, raise
RESULTS_VERSION if stored runs are no longer what they say, and give the reason in the commit.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
import yaml

from fairfr.core.calibrator import Calibrator, FitContext
from fairfr.core.conform import instantiate
from fairfr.core.types import PAIR_RULES, VerificationSet
from fairfr.experiment.folds import score_held_out
from fairfr.folds.published import LeaveOneFoldOut
from fairfr.metrics.by_group import PairGroups, evaluate
from fairfr.metrics.summary import summarise
from fairfr.pairs.table import PairTable

GOLDEN = Path(__file__).with_name("small_synthetic_rfw.json")
METHODS = ("baseline", "platt", "beta", "ac_linear", "ac_density")
TOLERANCE = 1e-6
KEPT = {
    ("all", "auroc"),
    ("all", "auroc_on_probability"),
    ("all", "tpr_at_fpr_1e-2"),
    ("all", "brier"),
    ("all", "ece_15"),
    ("worst", "auroc"),
    ("worst", "brier"),
}


@pytest.fixture(scope="module")
def data(synthetic_set: Callable[..., VerificationSet]) -> VerificationSet:
    return synthetic_set("rfw", scale=0.1)


def fold_means(data: VerificationSet, conf: Path, name: str) -> dict[str, float]:
    estimator = yaml.safe_load((conf / "method" / f"{name}.yaml").read_text(encoding="utf-8"))["estimator"]

    def make() -> Calibrator:
        method: Calibrator = instantiate(estimator, "method.estimator")
        return method

    def context(fold: str) -> FitContext:
        return FitContext(seed=0, dataset=data.id, backbone=data.backbone, fold=fold, grouping=data.grouping)

    held_out = score_held_out(PairTable(data), list(LeaveOneFoldOut().split(data)), make, context)
    groups = [PairGroups.of(g, data.pairs, rule) for g in data.groupings.values() for rule in PAIR_RULES]
    rows = summarise(evaluate(held_out.frame, held_out.split_ids, groups, min_pairs=20))
    return {
        f"{row['group']} {row['metric']}": row["mean"]
        for row in rows
        if (row["group"], row["metric"]) in KEPT and row["rule"] != "first"
    }


def test_small_synthetic_rfw_golden(data: VerificationSet, conf: Path, request: pytest.FixtureRequest) -> None:
    found = {f"{name}: {place}": v for name in METHODS for place, v in fold_means(data, conf, name).items()}
    assert len(found) == len(METHODS) * len(KEPT)
    if request.config.getoption("--update-golden"):
        rounded = {key: round(value, 9) for key, value in found.items()}
        GOLDEN.write_text(json.dumps(rounded, indent=1, sort_keys=True) + "\n", encoding="utf-8")
    assert found == pytest.approx(json.loads(GOLDEN.read_text(encoding="utf-8")), abs=TOLERANCE)
