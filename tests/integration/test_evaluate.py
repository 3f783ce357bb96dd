"""From calibrate fit over a kept threshold to an evaluation; on real faces where these are at hand."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import fairfr
from fairfr.library.expected import KEY

REAL = os.environ.get("FAIRFR_REAL_DATA", "")


def test_from_data_to_an_evaluation(
    command: Callable[..., Any], tmp_path: Path, write_set: Callable[..., Path]
) -> None:
    """What the model keeps is what its run's held-out scores say, and what evaluate compares with."""
    folder = write_set() / "mine"
    chosen = ["dataset=mine", "backbone=mynet", "method=ac_linear", "dataset.grouping=[gender]", "threads=1"]
    where = [f"data_root={folder.parent}", "store=folder", "out_root=out"]
    assert command("calibrate", "fit", *chosen, *where, "--out", "mine.fairfr").returncode == 0
    kept = command("calibrate", "threshold", "--model", "mine.fairfr", "--fmr", 0.2, "--out-root", "out", "--keep")
    assert kept.returncode == 0, kept.stderr
    files = ["--embeddings", folder / "embeddings" / "mynet.npz", "--image-table", folder / "images.csv"]
    asked = ["--model", "mine.fairfr", "--pairs", folder / "pairs.csv", *files, "--group", "gender"]
    done = command("evaluate", *asked, "--out", "found")
    assert done.returncode == 0, done.stderr
    assert done.stdout.endswith("written: found/evaluation.html and evaluation.json\n")

    model = fairfr.load(tmp_path / "mine.fairfr")
    assert model.origin_ is not None
    held_out = pd.read_parquet(tmp_path.joinpath("out", "runs", *model.origin_["run"].values()) / "scores.parquet")
    expected = model.origin_[KEY]
    assert (expected["genuine"], expected["grouping"]) == (int(held_out["same"].sum()), "gender")
    high = held_out["probability"] >= expected["histograms"]["all"]["edges"][-1]
    assert expected["histograms"]["all"]["impostors"][-1] == int((high & ~held_out["same"]).sum())

    found = json.loads((tmp_path / "found" / "evaluation.json").read_text())
    assert {row["group"] for row in found["rates"]} == {"all", "female", "male"}
    stored = found["checks"]["rates"][0]["stored"]
    value = found["rates"][0]["threshold"]
    accepted = (held_out["probability"] >= value) & ~held_out["same"]
    assert (stored["errors"], stored["pairs"]) == (int(accepted.sum()), int((~held_out["same"]).sum()))


@pytest.mark.skipif(not REAL, reason="FAIRFR_REAL_DATA is not set")
def test_occluded_faces_do_not_hold(command: Callable[..., Any], tmp_path: Path) -> None:
    """A model of clean RFW pairs on the same pairs with one face covered. Rates are counted by pandas."""
    chosen = ["dataset=custom", "dataset.id=rfw_scores", "dataset.grouping=[ethnicity]", "method=beta", "threads=1"]
    scores = ["backbone=scores", "backbone.column=iresnet50_global"]
    where = [f"data_root={REAL}", "store=folder", "out_root=out"]
    assert command("calibrate", "fit", *chosen, *scores, *where, "--out", "m.fairfr").returncode == 0
    command("calibrate", "threshold", "--model", "m.fairfr", "--fmr", 0.01, "--out-root", "out", "--keep")
    model = fairfr.load(tmp_path / "m.fairfr")
    verdicts = {}
    for name in ("pairs", "pairs_occl1", "pairs_occl4"):
        path = Path(REAL) / "rfw_scores" / f"{name}.csv"
        asked = ["--model", "m.fairfr", "--pairs", path, "--score", "iresnet50_global", "--group", "ethnicity"]
        assert command("evaluate", *asked, "--out", name).returncode == 0
        found = json.loads((tmp_path / name / "evaluation.json").read_text())
        verdicts[name] = found["verdict"]
        pairs = pd.read_csv(path)
        probability = model.probability_scores(pairs["iresnet50_global"].to_numpy())
        refused = (probability < model.threshold(0.01)) & (pairs["same"] == 1)
        assert found["rates"][0]["fnmr"] == pytest.approx(refused.sum() / np.count_nonzero(pairs["same"]))
    assert verdicts == {"pairs": "holds", "pairs_occl1": "does_not_hold", "pairs_occl4": "does_not_hold"}
