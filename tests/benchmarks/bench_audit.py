"""fairfr audit on five million pairs of 50,000 people with two groups a pair, as a command of its own."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
from measured import Measured

N_PAIRS = 5_000_000
N_PEOPLE = 50_000
GROUPS = np.array(["a", "b", "c", "d"])


def measure(threads: int) -> list[Measured]:
    """From a csv and from a parquet file."""
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        for path in write_pairs(Path(folder)):
            rows.append(audited(path, threads))
            print(rows[-1].work, f"{rows[-1].ours:.1f} s", rows[-1].limit, flush=True)
    return rows


def write_pairs(folder: Path) -> list[Path]:
    """One table in both formats: a tenth of the pairs is genuine, and people differ in how similar they look."""
    import pyarrow as pa
    from pyarrow import csv, parquet

    rng = np.random.default_rng(0)
    left = rng.integers(0, N_PEOPLE, N_PAIRS)
    other = (left + rng.integers(1, N_PEOPLE, N_PAIRS)) % N_PEOPLE
    same = rng.random(N_PAIRS) < 0.1
    right = np.where(same, left, other)
    likeness = 0.05 * rng.normal(size=N_PEOPLE)
    score = 0.12 * rng.normal(size=N_PAIRS) + 0.5 * same + likeness[left] + likeness[right]
    table = pa.table(
        {
            "score": np.round(score, 6),
            "label": same.astype(np.int8),
            "left_race": GROUPS[left % 4],
            "right_race": GROUPS[right % 4],
            "left_identity": pa.array(left).cast(pa.string()),
            "right_identity": pa.array(right).cast(pa.string()),
        }
    )
    paths = [folder / "pairs.csv", folder / "pairs.parquet"]
    csv.write_csv(table, paths[0])
    parquet.write_table(table, paths[1])
    return paths


def audited(path: Path, threads: int) -> Measured:
    """One command, with the processor's seconds and the memory of that process."""
    arguments = ["audit", str(path), "--group", "race", "--threshold", "0.4", "--out", str(path.parent / "out")]
    started = time.perf_counter()
    environment = {**os.environ, "OMP_NUM_THREADS": str(threads)}
    process = subprocess.Popen([sys.executable, "-m", "fairfr", *arguments], stdout=subprocess.DEVNULL, env=environment)
    _, status, used = os.wait4(process.pid, 0)
    wall = time.perf_counter() - started
    if status != 0:
        raise RuntimeError(f"fairfr audit ended with {status}")
    limit = f"{used.ru_utime + used.ru_stime:.0f} s of processor, peak {used.ru_maxrss / 1024:.0f} MB"
    return Measured(f"audit of 5 million pairs, {path.suffix[1:]}", wall, None, limit, "60 s, 3 GB")
