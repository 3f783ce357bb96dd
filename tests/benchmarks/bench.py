"""What fairfr costs, as ratios against plain scikit-learn and faiss code in the same run: make bench

python tests/benchmarks/bench.py [algebra] [models] [tables] [cells]
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console
from rich.table import Table

from fairfr.core.types import F32, Pairs

ROOT = Path(__file__).resolve().parents[2]
CORES = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
PARTS = ["algebra", "models", "tables", "cells"]
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


def seconds(call: Callable[[], Any]) -> float:
    """Wall time of one call, after nothing: kernels are warmed separately."""
    started = time.perf_counter()
    call()
    return time.perf_counter() - started


def repeating_images(n_images: int, n_pairs: int, d: int = 512) -> tuple[F32, Pairs]:
    """Random unit vectors and pairs, every image in many pairs, as in BFW."""
    rng = np.random.default_rng(0)
    vectors = rng.standard_normal((n_images, d), dtype=np.float32) + rng.standard_normal(d, dtype=np.float32) / 2
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    left, right = rng.integers(0, n_images, (2, n_pairs), dtype=np.int32)
    return vectors, Pairs(left, right)


def built_midpoints(vectors: F32, pairs: Pairs, dtype: type = np.float64) -> Any:
    """The matrix that fairfr never builds."""
    return ((vectors[pairs.left] + vectors[pairs.right]) / 2).astype(dtype)


def bench_logistic() -> tuple[str, float, float]:
    """AC-Linear's fit on 100k pairs over 20k images."""
    from sklearn.linear_model import LogisticRegression

    from fairfr.methods._logistic import fit_logistic
    from fairfr.pairs.cosine import pair_cosines
    from fairfr.pairs.design import PairDesign

    vectors, pairs = repeating_images(20_000, 100_000)
    cosine = pair_cosines(vectors, pairs)
    same = np.random.default_rng(1).random(len(pairs)) < 1 / (1 + np.exp(-30 * (cosine - cosine.mean())))
    ours = seconds(lambda: fit_logistic(PairDesign(vectors, pairs).append(cosine), same))
    plain = seconds(lambda: LogisticRegression().fit(np.column_stack([built_midpoints(vectors, pairs), cosine]), same))
    return "logistic on [midpoint, cosine], 100k pairs of 20k images, against LogisticRegression", ours, plain


def bench_gram() -> tuple[str, float, float]:
    """A weighted gram of 200k midpoints over 20k images."""
    from fairfr.pairs.design import PairDesign

    vectors, pairs = repeating_images(20_000, 200_000)
    weights = np.random.default_rng(1).random(len(pairs))

    def plain() -> None:
        midpoints = built_midpoints(vectors, pairs)
        (midpoints * weights[:, None]).T @ midpoints

    return (
        "weighted gram, 200k pairs of 20k images, against built midpoints",
        seconds(lambda: PairDesign(vectors, pairs).gram(weights)),
        seconds(plain),
    )


def bench_scan() -> tuple[str, float, float]:
    """k-NN of 200k pairs over 20k images to 6,000 references."""
    import faiss

    from fairfr.pairs.neighbours import Midpoints, nearest

    vectors, pairs = repeating_images(20_000, 200_000)
    references = pairs.take(np.arange(6000))
    few, many = Midpoints(vectors, pairs.take(np.arange(100))), Midpoints(vectors, references)
    nearest(few, many, 20, "scan", CORES)  # compile

    def plain() -> None:
        lookup = faiss.IndexFlatL2(vectors.shape[1])
        lookup.add(built_midpoints(vectors, references, np.float32))
        lookup.search(built_midpoints(vectors, pairs, np.float32), 20)

    return (
        "20 nearest of 6,000 references, 200k pairs of 20k images, against faiss on built midpoints",
        seconds(lambda: nearest(Midpoints(vectors, pairs), many, 20, "auto", CORES)),
        seconds(plain),
    )


def bench_shared_graph() -> tuple[str, float, float]:
    """Local density in all ten folds of 12,000 pairs whose images barely repeat."""
    import faiss

    from fairfr.pairs.neighbours import Midpoints, nearest

    vectors, pairs = repeating_images(20_000, 12_000)
    midpoints = built_midpoints(vectors, pairs, np.float32)
    fold = np.arange(len(pairs)) % 10

    def plain() -> None:
        for held_out in range(10):
            lookup = faiss.IndexFlatL2(vectors.shape[1])
            lookup.add(midpoints[fold != held_out])
            lookup.search(midpoints, 20)

    return (
        "20 nearest training midpoints in ten folds, 12k pairs, against ten faiss searches",
        seconds(lambda: nearest(Midpoints(vectors, pairs), Midpoints(vectors, pairs), 32, "auto", CORES)),
        seconds(plain),
    )


def show_algebra(console: Console) -> None:
    """One row for each piece of pair algebra."""
    table = Table("what", "fairfr s", "plain s", "plain / fairfr", title="pair algebra")
    for bench in (bench_logistic, bench_gram, bench_scan, bench_shared_graph):
        what, ours, plain = bench()
        table.add_row(what, f"{ours:.2f}", f"{plain:.2f}", f"{plain / ours:.1f}")
    console.print(table)


def show_tables(console: Console) -> None:
    """All tables from 2,000 stored results, made by copying one real result under other names."""
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
    console.print(f"make_tables over 2,001 runs: {wall:.1f} s (promised: 10)")


def run_cell(out_root: Path, *overrides: str) -> tuple[float, dict[str, Any]]:
    """Wall seconds of a whole command, start-up and MLflow included, and the result it stored."""
    command = [sys.executable, "run.py", *overrides, "source=synthetic", f"out_root={out_root}"]
    wall = seconds(lambda: subprocess.run(command, cwd=ROOT, check=True, stdout=subprocess.DEVNULL))
    newest = max(out_root.glob("runs/*/*/*/*/result.json"), key=lambda path: path.stat().st_mtime)
    return wall, json.loads(newest.read_text(encoding="utf-8"))


def show_cells(console: Console) -> None:
    """Whole commands on the synthetic stand-ins, against what is promised."""
    table = Table("command", "wall s", "promised s", "peak MB", "promised MB", title="cells (synthetic, MagFace)")
    with tempfile.TemporaryDirectory() as folder:
        out_root = Path(folder)
        run_cell(out_root, "dataset=lfw", "method=baseline")  # makes the database
        for dataset, method, limit, limit_mb in CELLS:
            wall, result = run_cell(out_root, f"dataset={dataset}", f"method={method}")
            promised = ("" if limit is None else str(limit)), ("" if limit_mb is None else str(limit_mb))
            peak = f"{result['peak_memory_mb']:.0f}"
            table.add_row(f"dataset={dataset} method={method}", f"{wall:.1f}", promised[0], peak, promised[1])
        wall, _ = run_cell(out_root, "dataset=rfw", "method=ac_linear")
        table.add_row("dataset=rfw method=ac_linear, already done", f"{wall:.2f}", "1.5", "", "")
    console.print(table)


def main() -> None:
    """Run the chosen parts, both by default."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("parts", nargs="*", choices=PARTS, default=PARTS)
    parts = parser.parse_args().parts
    console = Console(width=140, markup=False)
    console.print(f"{CORES} cores")
    if "algebra" in parts:
        show_algebra(console)
    if "models" in parts:
        from bench_models import show_models

        show_models(console, CORES)
    if "tables" in parts:
        show_tables(console)
    if "cells" in parts:
        show_cells(console)


if __name__ == "__main__":
    main()
