"""Whole commands, as a person types them."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

from measured import seconds

ROOT = Path(__file__).resolve().parents[2]


def run_cell(out_root: Path, *overrides: str, checkout: Path = ROOT) -> tuple[float, dict[str, Any]]:
    """Wall seconds of a whole command, start-up and MLflow included, and the result it stored."""
    command = [sys.executable, "run.py", *overrides, "source=synthetic", f"out_root={out_root}"]
    wall = seconds(lambda: subprocess.run(command, cwd=checkout, check=True, stdout=subprocess.DEVNULL))
    newest = max(out_root.glob("runs/*/*/*/*/result.json"), key=lambda path: path.stat().st_mtime)
    return wall, json.loads(newest.read_text(encoding="utf-8"))
