"""What examples/ has runs on small stand-ins and prints the numbers that are stored."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]
FAIRCAL = ROOT / "examples" / "faircal"

pytestmark = pytest.mark.slow


def test_faircal_s_tables(command: Callable[..., Any], tmp_path: Path) -> None:
    small = ("dataset=rfw", "backbone=facenet_casia", "dataset.standin.scale=0.1", "store=folder", "threads=1")
    chosen = ("method=baseline,gst,faircal", *small, f"out_root={tmp_path}")
    done = command("run", "-m", "--config-dir", FAIRCAL, "experiment=faircal", *chosen)
    assert done.returncode == 0, done.stdout + done.stderr
    script = [sys.executable, str(FAIRCAL / "tables.py"), str(tmp_path), "--where", "standin.scale=0.1"]
    printed = subprocess.run(script, capture_output=True, text=True, check=True).stdout
    assert printed.count("(synthetic)") == 4
    equality = printed.split("FPR of groups at 1 % FPR")[1]
    rows = {line.split(" | ")[0].strip("| "): line.strip("| ").split(" | ")[1:] for line in equality.splitlines()}
    assert [name for name in rows if name in ("Baseline", "GST†", "FairCal", "Oracle†")] == [
        "Baseline",
        "GST†",
        "FairCal",
    ]
    for method, label in (("baseline", "Baseline"), ("faircal", "FairCal")):
        (path,) = tmp_path.glob(f"runs/rfw/facenet_casia/{method}/*/result.json")
        stored = json.loads(path.read_text(encoding="utf-8"))["metrics"]
        own = {row["metric"]: row["mean"] for row in stored if (row["rule"], row["group"]) == ("both", "gap")}
        wanted = [own[f"fpr_{name}_at_fpr_1e-2"] for name in ("mean", "aad", "mad", "std")]
        assert rows[label] == ["" if number is None else f"{number:.2f}" for number in wanted]
        assert any(rows[label])
