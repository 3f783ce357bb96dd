"""Whole commands that people wait for, on the synthetic stand-ins (MagFace), start-up and MLflow included.

With FAIRFR_BENCH_BEFORE, the folder of another checkout, each command of a cell is run there too, right after, and its
seconds and memory are given beside ours.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
from bench_data import bfw
from commands import ROOT, run_cell
from measured import Measured, seconds
from random_pairs import built_midpoints

DATASETS = ("lfw", "rfw", "bfw")
METHODS = sorted(path.stem for path in (ROOT / "conf" / "method").glob("*.yaml"))
SWEEP = "method=platt,beta,gst,ac_linear"
N_RUNS = 2000
BEFORE = os.environ.get("FAIRFR_BENCH_BEFORE")


def measure(threads: int) -> list[Measured]:
    """Each method on each data set, a finished cell, a sweep of four, and tables over many runs."""
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        out_root = Path(folder)
        run_cell(out_root, "dataset=lfw", "method=baseline")  # makes the database
        for dataset in DATASETS:
            for method in METHODS:
                rows.append(cell(out_root, dataset, method, threads))
                print(rows[-1].work, f"{rows[-1].ours:.1f} s", rows[-1].limit, flush=True)
        wall, _ = run_cell(out_root, "dataset=rfw", "method=ac_linear", f"threads={threads}")
        rows.append(Measured("dataset=rfw method=ac_linear, already done", wall, None, "start-up of Python"))
    rows.append(sweep(threads))
    rows.append(tables())
    return rows


def cell(out_root: Path, dataset: str, method: str, threads: int) -> Measured:
    """One command; FSN follows FairCal and uses its clusters."""
    overrides = (f"dataset={dataset}", f"method={method}", f"threads={threads}", "force=true")
    wall, result = run_cell(out_root, *overrides)
    limit = f"peak {result['peak_memory_mb']:.0f} MB"
    if BEFORE is not None and (Path(BEFORE) / "conf" / "method" / f"{method}.yaml").exists():
        wall_before, result_before = run_cell(out_root / "before", *overrides, checkout=Path(BEFORE))
        limit += f"; before {wall_before:.2f} s, peak {result_before['peak_memory_mb']:.0f} MB"
    plain = None
    target = ""
    if dataset == "bfw" and method == "ac_linear":
        plain = five_plain_fits()
        target = "7 x LogisticRegression on built features"
    elif dataset == "bfw" and method == "ac_density":
        target = "60 s"
    return Measured(f"dataset={dataset} method={method}", wall, plain, limit, target)


def five_plain_fits() -> float:
    """AC-Linear on BFW as one would write it down: scikit-learn on [midpoint, cosine] of each fold's training pairs."""
    from sklearn.linear_model import LogisticRegression

    data, frame = bfw()
    assert data.embeddings is not None
    vectors = data.embeddings.vectors

    def fit_all() -> None:
        for fold in range(len(data.fold_labels)):
            train = np.flatnonzero(data.fold != fold)
            features = np.column_stack([built_midpoints(vectors, data.pairs.take(train)), frame.score[train]])
            LogisticRegression().fit(features, data.same[train])

    return seconds(fit_all)


def sweep(threads: int) -> Measured:
    """Four methods on BFW in one command."""
    with tempfile.TemporaryDirectory() as folder:
        wall, _ = run_cell(Path(folder), "-m", "dataset=bfw", SWEEP, f"threads={threads}")
        results = [json.loads(path.read_bytes()) for path in Path(folder).glob("runs/*/*/*/*/result.json")]
    assert len(results) == SWEEP.count(",") + 1, "a cell has failed"
    peak = max(result["peak_memory_mb"] for result in results)
    return Measured(f"-m dataset=bfw {SWEEP}", wall, None, f"peak {peak:.0f} MB")


def tables() -> Measured:
    """All tables from many stored results, which are copies of a real one with other seeds."""
    from fairfr.store.result_file import write_sealed

    printed: list[str] = []
    with tempfile.TemporaryDirectory() as folder:
        out_root = Path(folder)
        _, stored = run_cell(out_root, "dataset=lfw", "method=baseline", "store=folder")
        del stored["seal"]
        stored["files"] = {}  # the copies are result.json alone
        for seed in range(1, N_RUNS + 1):
            key = f"synthetic-{seed:016x}"
            configuration = {**stored["identity"], "seed": seed}
            copy = {**stored, "key": key, "seed": seed, "identity": configuration, "differs": {"seed": seed}}
            run_folder = out_root / "runs" / "lfw" / "magface" / "baseline" / key
            run_folder.mkdir()
            write_sealed(run_folder, copy)
        command = [sys.executable, "scripts/make_tables.py", "--out-root", str(out_root)]
        wall = seconds(lambda: printed.append(subprocess.check_output(command, cwd=ROOT, text=True)))
        assert f"{N_RUNS + 1} runs read" in printed[0].replace(",", ""), printed[0]
        size = sum(path.stat().st_size for path in out_root.glob("runs/*/*/*/*/result.json"))
    limit = f"{size / 1e6:.0f} MB of JSON, parsed at {size / wall / 1e6:.0f} MB/s"
    return Measured(f"make_tables over {N_RUNS + 1:,} runs", wall, None, limit, "10 s")
