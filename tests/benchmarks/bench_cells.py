"""Whole commands on the synthetic stand-ins (MagFace), start-up and MLflow included."""

from __future__ import annotations

import tempfile
from pathlib import Path

from commands import run_cell
from measured import Measured

CELLS = (
    # dataset, method, promised seconds (None: nothing promised), promised MB; fsn follows faircal and uses its clusters
    ("rfw", "ac_linear", 12, 3000),
    ("rfw", "ac_density", 25, 3000),
    ("rfw", "ac_mlp", None, 3000),
    ("rfw", "gst", 15, 3000),
    ("rfw", "oracle", 15, 3000),
    ("rfw", "demonorm", 15, 3000),
    ("rfw", "demonorm_paper", 15, 3000),
    ("rfw", "faircal", 240, 3000),
    ("rfw", "fsn", None, 3000),
    ("rfw", "falcon", 120, 3000),
    ("rfw", "frappe", 240, 3000),
    ("bfw", "ac_linear", None, 1500),
    ("bfw", "ac_density", None, 3000),
    ("bfw", "faircal", 360, 3000),
    ("bfw", "demonorm", None, 3000),
)


def measure(threads: int) -> list[Measured]:
    """Nothing plain stands beside them: bench_algebra and others measure their parts."""
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        out_root = Path(folder)
        run_cell(out_root, "dataset=lfw", "method=baseline")  # makes the database
        for dataset, method, limit, limit_mb in CELLS:
            wall, result = run_cell(out_root, f"dataset={dataset}", f"method={method}", f"threads={threads}")
            target = f"{limit_mb} MB" if limit is None else f"{limit} s, {limit_mb} MB"
            peak = f"peak {result['peak_memory_mb']:.0f} MB"
            rows.append(Measured(f"dataset={dataset} method={method}", wall, None, peak, target))
        wall, _ = run_cell(out_root, "dataset=rfw", "method=ac_linear", f"threads={threads}")
        rows.append(Measured("dataset=rfw method=ac_linear, already done", wall, None, "start-up of Python", "1.5 s"))
    return rows
