"""A data set of images without pairs beside the pairs: ``fairfr run cohort=NAME``, and the model fitted with it."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import fairfr

BOTH = ["dataset=mine", "backbone=mynet", "method=ac_cohort", "method.estimator.cohort=both", "store=folder"]


@pytest.fixture
def others(write_set: Callable[..., Path]) -> Path:
    """The vectors of 250 more images, and nothing else about them."""
    path = write_set() / "others" / "embeddings" / "mynet.npz"
    path.parent.mkdir(parents=True)
    write_others(path, 0)
    return path


def write_others(path: Path, seed: int) -> None:
    vectors = np.random.default_rng(seed).normal(size=(250, 12))
    np.savez(path, image=[f"other-{i}" for i in range(250)], vectors=vectors)


def results(out: Path) -> list[dict[str, Any]]:
    return [json.loads(path.read_text()) for path in sorted(out.glob("runs/mine/*/*/*/result.json"))]


def test_a_run_with_a_cohort(run_py: Any, others: Path, tmp_path: Path) -> None:
    done = run_py(*BOTH, "cohort=others")
    assert done.returncode == 0, done.stdout + done.stderr
    (result,) = results(tmp_path / "out")
    assert [fold["cohort"] for fold in result["fit_report"].values()] == [330] * 3, "80 training images and the others"
    assert result["differs"]["cohort"] == "others"
    assert "already done" in run_py(*BOTH, "cohort=others").stdout
    write_others(others, 1)
    assert run_py(*BOTH, "cohort=others").returncode == 0
    assert len(results(tmp_path / "out")) == 2, "the bytes of the cohort decide the numbers"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["method=ac_cohort", "cohort=others"], "method.estimator.cohort=both"),
        (["method=beta", "cohort=others"], "method=beta does not use them"),
        (["method=ac_cohort", "method.estimator.cohort=external"], "needs a data set of images beside the pairs"),
        (["method=ac_cohort", "method.estimator.cohort=both", "cohort=gone"], "gone/embeddings/mynet.npz: not found"),
    ],
)
def test_what_does_not_go_together_is_said(run_py: Any, others: Path, arguments: list[str], message: str) -> None:
    done = run_py("dataset=mine", "backbone=mynet", "store=folder", *arguments)
    assert done.returncode == 1
    assert message in done.stdout + done.stderr
    assert "Traceback" not in done.stdout + done.stderr


def test_a_model_is_fitted_with_a_cohort(command: Callable[..., Any], others: Path, tmp_path: Path) -> None:
    data_root = others.parents[2]
    where = [f"data_root={data_root}", "out_root=out", "threads=1", "cohort=others"]
    done = command("calibrate", "fit", *BOTH, *where, "--out", "mine.fairfr")
    assert done.returncode == 0, done.stdout + done.stderr
    model = fairfr.load(tmp_path / "mine.fairfr")
    assert model.report_["cohort"] == 370
    assert model.holds_["face_vectors"] == 370
