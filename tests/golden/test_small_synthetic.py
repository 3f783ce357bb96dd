"""The same numbers as last release, on a small synthetic RFW.

A change here is a change of results: rewrite the file with ``pytest tests/golden --update-golden`` and give the reason
in the commit. Numbers that move although neither the data nor the code in the run key did are refused until
RESULTS_VERSION is raised, so that stored runs of the older code are not taken for new ones.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from fairfr.core.calibrator import Calibrator, FitContext
from fairfr.core.config import instantiate
from fairfr.core.provenance import run_code
from fairfr.core.run_key import RESULTS_VERSION
from fairfr.core.types import PAIR_RULES, VerificationSet
from fairfr.folds.published import LeaveOneFoldOut
from fairfr.metrics.cell_metrics import PairGroups, compute_metrics, summarise
from fairfr.pairs.table import PairTable
from fairfr.runner.held_out import score_held_out
from fairfr.sweep.compose import read_method

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


def _yaml(conf: Path, name: str) -> Path:
    return conf / "method" / f"{name}.yaml"


def fold_means(data: VerificationSet, conf: Path, name: str) -> dict[str, float]:
    estimator = read_method(_yaml(conf, name)).estimator

    def make() -> Calibrator:
        method: Calibrator = instantiate(estimator, "method.estimator")
        return method

    def context(fold: str) -> FitContext:
        return FitContext(seed=0, dataset=data.id, backbone=data.backbone, fold=fold, grouping=data.grouping)

    held_out = score_held_out(PairTable(data), list(LeaveOneFoldOut().split(data)), make, context)
    groups = [PairGroups.of(g, data.pairs, rule) for g in data.groupings.values() for rule in PAIR_RULES]
    rows = summarise(compute_metrics(held_out.frame, held_out.folds, groups, min_pairs=20))
    return {
        f"{row['group']} {row['metric']}": row["mean"]
        for row in rows
        if (row["group"], row["metric"]) in KEPT and row["rule"] != "first"
    }


def test_small_synthetic_rfw_golden(data: VerificationSet, conf: Path, request: pytest.FixtureRequest) -> None:
    methods = {name: measured(data, conf, name) for name in METHODS}
    found = {"results_version": RESULTS_VERSION, "data": data.digest, "methods": methods}
    golden = json.loads(GOLDEN.read_text(encoding="utf-8"))
    if request.config.getoption("--update-golden"):
        check_versions(golden, found)
        GOLDEN.write_text(json.dumps(found, indent=1, sort_keys=True) + "\n", encoding="utf-8")
        golden = found
    assert golden["results_version"] == RESULTS_VERSION, "golden numbers belong to one version of the results"
    for name in METHODS:
        assert found["methods"][name]["numbers"] == pytest.approx(golden["methods"][name]["numbers"], abs=TOLERANCE)


def measured(data: VerificationSet, conf: Path, name: str) -> dict[str, Any]:
    numbers = {place: round(value, 9) for place, value in fold_means(data, conf, name).items()}
    assert len(numbers) == len(KEPT)
    return {"code": code(read_method(_yaml(conf, name)).estimator), "numbers": numbers}


def code(estimator: dict[str, Any]) -> dict[str, str | None]:
    native = instantiate(estimator, "method.estimator").native_probability
    return run_code(estimator["_target_"], native, "fairfr.folds.published.LeaveOneFoldOut", training_thresholds=False)


def check_versions(golden: dict[str, Any], found: dict[str, Any]) -> None:
    """Numbers that change although the code in the key did not need a new RESULTS_VERSION: keys must tell them.

    Other data has other keys already.
    """
    if golden.get("results_version") != found["results_version"] or golden.get("data") != found.get("data"):
        return
    for name, new in found["methods"].items():
        old = golden["methods"].get(name, new)
        moved = old["numbers"] != pytest.approx(new["numbers"], abs=TOLERANCE)
        if moved and old["code"] == new["code"]:
            pytest.fail(f"{name}: the numbers moved, the code did not: raise RESULTS_VERSION in fairfr/core/run_key.py")


def test_numbers_that_move_without_the_methods_code_need_a_new_version() -> None:
    old = {"results_version": 1, "methods": {"platt": {"code": "a", "numbers": {"auroc": 0.5}}}}
    moved = {"results_version": 1, "methods": {"platt": {"code": "a", "numbers": {"auroc": 0.6}}}}
    with pytest.raises(pytest.fail.Exception, match="RESULTS_VERSION"):
        check_versions(old, moved)
    check_versions(old, old)
    check_versions(old, {**moved, "results_version": 2})
    check_versions({**old, "data": "a stand-in"}, {**moved, "data": "another"})
    check_versions(old, {"results_version": 1, "methods": {"platt": {"code": "b", "numbers": {"auroc": 0.6}}}})
