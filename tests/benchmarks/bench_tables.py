"""All tables from 2,000 stored results."""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from pathlib import Path

from commands import ROOT, run_cell
from measured import Measured, seconds


def measure(threads: int) -> list[Measured]:
    """The results are copies of a real one under other names."""
    with tempfile.TemporaryDirectory() as folder:
        out_root = Path(folder)
        _, stored = run_cell(out_root, "dataset=lfw", "method=baseline", "store=folder")
        for number in range(2000):
            method = f"copy_{number}"
            place = out_root / "runs" / "lfw" / "magface" / method / "copy"
            place.mkdir(parents=True)
            copy = {**stored, "key": method, "method": {**stored["method"], "id": method, "label": method}}
            (place / "result.json").write_text(json.dumps(copy, indent=1) + "\n", encoding="utf-8")
        command = [sys.executable, "scripts/make_tables.py", "--out-root", str(out_root)]
        wall = seconds(lambda: subprocess.run(command, cwd=ROOT, check=True, stdout=subprocess.DEVNULL))
        size = sum(path.stat().st_size for path in out_root.glob("runs/*/*/*/*/result.json"))
    limit = f"{size / 1e6:.0f} MB of JSON, parsed at {size / wall / 1e6:.0f} MB/s"
    return [Measured("make_tables over 2,001 runs, whole command", wall, None, limit, "10 s")]
