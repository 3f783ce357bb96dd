"""docs/fairness_gaps.py: rates of groups at one threshold, from the files of a data set to the tables of the page."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pandas as pd
import pytest

SCRIPT = Path(__file__).parents[2] / "docs" / "fairness_gaps.py"


@pytest.fixture
def script(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    spec = importlib.util.spec_from_file_location("fairness_gaps", SCRIPT)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    monkeypatch.setitem(sys.modules, "fairness_gaps", module)
    spec.loader.exec_module(module)
    monkeypatch.setattr(module, "DRAWS", 12)
    monkeypatch.setattr(module, "LEVELS", (0.2, 0.05))
    return module


@pytest.fixture
def dataset(tmp_path: Path) -> Path:
    """48 people of two groups with three images each, in four folds; the vectors of young people are closer."""
    rng = np.random.default_rng(0)
    rows, vectors = [], []
    for person in range(48):
        group = ("old", "young")[person % 2]
        centre = rng.normal(size=16) + (1.2 if group == "young" else 0)
        for number in range(3):
            rows.append((f"{person:02d}_{number}", f"p{person}", group))
            vectors.append(centre + 0.8 * rng.normal(size=16))
    images = pd.DataFrame(rows, columns=["image", "identity", "age"])
    pairs = []
    for fold in range(4):
        people = range(12 * fold, 12 * fold + 12)
        pairs += [(fold, f"{who:02d}_0", f"{who:02d}_{other}", 1) for who in people for other in (1, 2)]
        pairs += [(fold, f"{who:02d}_0", f"{who + 2:02d}_1", 0) for who in people[:-2]]
    folder = tmp_path / "mine"
    (folder / "embeddings").mkdir(parents=True)
    images.to_csv(folder / "images.csv", index=False)
    pd.DataFrame(pairs, columns=["fold", "left", "right", "same"]).to_csv(folder / "pairs.csv", index=False)
    np.savez(folder / "embeddings" / "net.npz", image=images["image"].to_numpy(str), vectors=np.array(vectors))
    return folder


def repeated(scene: Any, score: np.ndarray, draw: int, chosen: np.ndarray) -> np.ndarray:
    """The chosen scores, each as often as its people were drawn together, the highest first."""
    weight = []
    for left, right in scene.people[chosen]:
        times = scene.drawn[draw, left]
        weight.append(times if left == right else times * scene.drawn[draw, right])
    return -np.sort(-np.repeat(score[chosen], weight))


def test_rates_are_those_of_pairs_that_are_repeated(script: ModuleType, dataset: Path) -> None:
    faces = script.Faces.read(dataset, "net", ["age"])
    dense = script.draw_impostors(faces, 3, 10**6)
    scene = script.Scene.of(faces, dense, 10)
    assert scene.groups == ("old", "young")
    score = script.score_folds(faces, dense, None)
    rates = script.measure(scene, score)
    for draw in (0, 1, 7):
        for at, level in enumerate(script.LEVELS):
            impostors = repeated(scene, score, draw, ~scene.same)
            threshold = impostors[int(level * len(impostors) + 1e-9)]
            genuine = repeated(scene, score, draw, scene.same)
            assert rates.tpr[draw, at] == pytest.approx((genuine > threshold).mean())
            for group in (0, 1):
                inside = scene.group == group
                impostors_inside = repeated(scene, score, draw, inside & ~scene.same)
                genuine_inside = repeated(scene, score, draw, inside & scene.same)
                own = impostors_inside[int(level * len(impostors_inside) + 1e-9)]
                assert rates.group_fmr[draw, at, group] == pytest.approx((impostors_inside > threshold).mean() / level)
                assert rates.group_tpr[draw, at, group] == pytest.approx((genuine_inside > threshold).mean())
                assert rates.own_tpr[draw, at, group] == pytest.approx((genuine_inside > own).mean())


def test_impostors_are_of_one_fold_and_group_and_each_is_drawn_once(script: ModuleType, dataset: Path) -> None:
    faces = script.Faces.read(dataset, "net", ["age"])
    few, all_of_them = script.draw_impostors(faces, 2, 10**6), script.draw_impostors(faces, 10**6, 10**6)
    # six people of a group in a fold, each image with the fifteen images of the others
    assert np.count_nonzero(~all_of_them.same) == 4 * 2 * (18 * 15 // 2)
    assert np.count_nonzero(~few.same) == 2 * np.count_nonzero(~faces.same)
    capped = script.draw_impostors(faces, 10**6, 400)
    assert np.bincount(faces.group[capped.pairs[~capped.same, 0]]).tolist() == [400, 400]
    for dense in (few, all_of_them, capped):
        left, right = dense.pairs[~dense.same].T
        assert (faces.person[left] != faces.person[right]).all() and (faces.group[left] == faces.group[right]).all()
        assert len(np.unique(np.sort(dense.pairs, axis=1), axis=0)) == len(dense.pairs)


def test_tables_and_numbers(
    script: ModuleType, dataset: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    out = dataset.parent / "out"
    arguments = [str(dataset), "net", "age", "--out", str(out), "--fewest", "10", "--times", "5"]
    monkeypatch.setattr(sys, "argv", ["fairness_gaps.py", *arguments, "--methods", "beta", "GST (labels)"])
    script.main()
    printed = capsys.readouterr().out
    assert "96 genuine and " in printed and "Groups: old, young." in printed
    rows = [line for line in printed.splitlines() if line.startswith("| beta |")]
    assert len(rows) == 4, "two tables for each rate"
    numbers = pd.read_csv(out / "mine_net.csv")
    assert set(numbers["method"]) == {"raw", "beta", "GST (labels)"}
    fmr = numbers[(numbers["quantity"] == "group_fmr") & (numbers["level"] == 0.2)].set_index(["method", "group"])
    # one threshold on the raw cosine accepts the strangers who are closer more often; thresholds by group less so
    assert fmr.loc[("raw", "young"), "value"] > 1.2 > 0.8 > fmr.loc[("raw", "old"), "value"]
    assert fmr.loc[("GST (labels)", "young"), "value"] < fmr.loc[("raw", "young"), "value"]
    assert (fmr["low"] <= fmr["value"]).all() and (fmr["value"] <= fmr["high"]).all()
