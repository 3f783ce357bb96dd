"""docs/calibration_by_group.py: the mean error of probabilities inside groups, from stored scores."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

SCRIPT = Path(__file__).parents[2] / "docs" / "calibration_by_group.py"


@pytest.fixture
def out(tmp_path: Path) -> Path:
    """400 pairs of each group, 40 % genuine: the first method is five points too sure of women, the second right."""
    same = np.tile([True, True, False, False, False], 160)
    women = np.repeat([True, False], 400)
    for method, off in (("beta", 0.05), ("ac_hinge", 0.0)):
        scores = pd.DataFrame(
            {
                "same": same,
                "probability": 0.4 + off * women,
                "identity_left": np.arange(800) % 200,
                "identity_right": np.where(same, np.arange(800) % 200, (np.arange(800) + 7) % 200),
                "gender": np.where(women, np.where(np.arange(800) % 3 == 0, "female|male", "female"), "male"),
            }
        )
        folder = tmp_path / "runs" / "mine" / "net" / method / "key"
        folder.mkdir(parents=True)
        scores.to_parquet(folder / "scores.parquet")
    return tmp_path


def printed(out: Path, *methods: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, str(SCRIPT), str(out), "mine", "net", "gender", "--methods", *methods]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def test_a_pair_counts_for_its_first_image_and_only_a_sure_error_has_a_star(out: Path) -> None:
    lines = printed(out, "beta", "ac_hinge").stdout.splitlines()
    assert lines[0] == "| mine x net | female | male |"
    assert lines[2].startswith("| beta | +5.0")
    assert [cell.strip() for cell in lines[3].split("|")[2:4]] == ["+0.0", "+0.0"]


def test_the_star_comes_from_draws_of_people(out: Path) -> None:
    """Thirty points are sure with 200 people."""
    path = next((out / "runs/mine/net/beta").glob("*/scores.parquet"))
    scores = pd.read_parquet(path)
    scores.loc[scores["gender"] != "male", "probability"] += 0.25
    scores.to_parquet(path)
    assert "| +30.0* |" in printed(out, "beta").stdout


def test_several_runs_of_one_method_are_refused(out: Path) -> None:
    found = printed(out, "nothing")
    assert found.returncode == 1 and "0 runs with scores; one is needed" in found.stderr
