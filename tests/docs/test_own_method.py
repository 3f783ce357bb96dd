"""docs/own_method.md: the example of a method runs as it stands, in a sweep's cell and as a model."""

from __future__ import annotations

import importlib
import json
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import fairfr
from fairfr.library.method_contract import CHECKS

PAGE = (Path(__file__).parents[2] / "docs" / "own_method.md").read_text(encoding="utf-8")


def example(language: str) -> str:
    (found,) = re.findall(rf"^```{language}\n(.*?)^```", PAGE, re.DOTALL | re.MULTILINE)
    return str(found)


@pytest.fixture
def written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The files of the page, each below the name in its first line."""
    for language in ("python", "yaml"):
        text = example(language)
        path = tmp_path / text.partition("\n")[0].removeprefix("# ")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    return tmp_path


def called(line: str, *more: str) -> str:
    """What a line of the page prints."""
    place, program, *words = shlex.split(line)
    assert (place, program) == ("PYTHONPATH=.", "fairfr")
    searched = os.pathsep.join([".", *filter(None, [os.environ.get("PYTHONPATH")])])
    environment = {**os.environ, "PYTHONPATH": searched, "OMP_NUM_THREADS": "1"}
    command = [sys.executable, "-m", "fairfr", *words, *more]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_the_method_is_checked_and_runs_as_the_page_says(written: Path) -> None:
    check, run = example("bash").splitlines()
    assert f"{len(CHECKS)} promises: {len(CHECKS)} kept" in called(check)
    called(run, "store=folder", "dataset.standin.scale=0.2")
    (path,) = written.glob("outputs/runs/lfw/magface/my_method/*/result.json")
    stored = json.loads(path.read_text(encoding="utf-8"))
    auroc = next(row for row in stored["metrics"] if row["metric"] == "auroc" and row["group"] == "all")
    assert stored["status"] == "completed" and auroc["mean"] > 0.9


def test_the_method_is_a_model_too(written: Path) -> None:
    method = importlib.import_module("my_method").MyMethod
    rng = np.random.default_rng(0)
    who = np.arange(200) // 4
    vectors = rng.normal(size=(50, 8))[who] + 0.5 * rng.normal(size=(200, 8))
    pairs = rng.integers(0, 200, (600, 2))
    pairs[:300, 1] = pairs[:300, 0] // 4 * 4 + (pairs[:300, 0] + 1) % 4
    pairs = np.unique(np.sort(pairs[pairs[:, 0] != pairs[:, 1]]), axis=0)
    model = fairfr.as_model(method)(C=2.0).fit(vectors, pairs, who[pairs[:, 0]] == who[pairs[:, 1]])
    model.save("mine.fairfr")
    again = fairfr.load("mine.fairfr", method=method)
    assert again.probability(vectors, pairs).tobytes() == model.probability(vectors, pairs).tobytes()
    assert "Inverse strength" in (type(model).__doc__ or "")
    images = np.array([f"image {row}" for row in range(len(vectors))])
    np.savez("new.npz", image=images, vectors=vectors)
    rows = [f"{images[left]},{images[right]}" for left, right in pairs]
    Path("new.csv").write_text("\n".join(["left,right", *rows]))
    called("PYTHONPATH=. fairfr calibrate score --config-dir my_conf --model mine.fairfr --out scores.csv "
           "--pairs new.csv --embeddings new.npz")  # fmt: skip
    scores = pd.read_csv("scores.csv")
    np.testing.assert_allclose(scores["probability"], model.probability(vectors, pairs), rtol=0, atol=1e-9)
