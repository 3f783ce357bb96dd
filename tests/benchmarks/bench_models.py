"""What calibrators cost in use: rates, ratios against plain numpy and faiss, latency, loading, memory of ``score``."""

from __future__ import annotations

import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from measured import Measured, seconds

import fairfr

N_IMAGES, N_PAIRS, N_REFERENCES, WIDTH = 20_000, 1_000_000, 6_000, 512
BLOCK = 20_000
PEAK = """
import resource, sys
from pathlib import Path
from fairfr.library.scoring import Progress, ScoreOptions, score_pairs
folder, pairs = Path(sys.argv[1]), sys.argv[2]
score_pairs(ScoreOptions(folder / "m.fairfr", pairs, folder / "out.parquet", folder / "new.npz"), Progress())
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024)
"""


def made() -> tuple[Any, Any, Any, Any]:
    """Vectors, pairs to score, and pairs with labels to fit on."""
    rng = np.random.default_rng(0)
    vectors = rng.standard_normal((N_IMAGES, WIDTH), dtype=np.float32)
    pairs = rng.integers(0, N_IMAGES, (N_PAIRS, 2), dtype=np.int32)
    training = rng.integers(0, N_IMAGES, (N_REFERENCES, 2), dtype=np.int32)
    return vectors, pairs, training, rng.random(N_REFERENCES) < 0.5


def plain_linear(vectors: Any, pairs: Any, weights: Any) -> Any:
    """Two gathers and one product for each pair, by blocks; weights of [midpoint, cosine]."""
    unit = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    out = np.empty(len(pairs))
    for start in range(0, len(pairs), BLOCK):
        left, right = (unit[pairs[start : start + BLOCK, side]] for side in (0, 1))
        logit = (left + right) @ weights[:-1] / 2 + weights[-1] * np.einsum("ij,ij->i", left, right)
        out[start : start + BLOCK] = 1 / (1 + np.exp(-logit))
    return out


def plain_search(vectors: Any, pairs: Any, training: Any, threads: int) -> None:
    """faiss on built midpoints."""
    import faiss

    faiss.omp_set_num_threads(threads)
    unit = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    lookup = faiss.IndexFlatL2(WIDTH)
    lookup.add((unit[training[:, 0]] + unit[training[:, 1]]) / 2)
    for start in range(0, len(pairs), BLOCK):
        part = pairs[start : start + BLOCK]
        lookup.search((unit[part[:, 0]] + unit[part[:, 1]]) / 2, 20)


def measure(threads: int) -> list[Measured]:
    """Rates, latency, loading, and memory of scoring files."""
    vectors, pairs, training, same = made()
    linear = fairfr.ACLinear().fit(vectors, training, same)
    density = fairfr.ACDensity().fit(vectors, training, same, threads=threads)
    density.probability(vectors, pairs[:100])  # compile
    weights = np.random.default_rng(1).normal(size=WIDTH + 1).astype(np.float32)
    fast = seconds(lambda: linear.probability(vectors, pairs, threads=threads))
    dense = seconds(lambda: density.probability(vectors, pairs, threads=threads))
    return [
        Measured(
            "ac_linear in use, 1M pairs of 20k images, against gathers and one product",
            fast,
            seconds(lambda: plain_linear(vectors, pairs, weights)),
            f"two vectors of 2 kB a pair for its cosine: {4096 * N_PAIRS / fast / 1e9:.1f} GB/s",
            "2 s",
        ),
        Measured(
            "ac_density in use, 1M pairs, 6,000 references, against faiss on built midpoints",
            dense,
            seconds(lambda: plain_search(vectors, pairs, training, threads)),
            f"6G distances, each one sum: {N_PAIRS * N_REFERENCES / dense / 1e9:.2f}G/s",
            "30 s",
        ),
        *latency({"ac_linear": linear, "ac_density": density}, vectors),
        *memory(linear, vectors),
    ]


def latency(models: dict[str, Any], vectors: Any) -> Iterator[Measured]:
    """A single pair of a loaded model, and loading it."""
    left, right = vectors[:1], vectors[1:2]
    platt = fairfr.Platt().fit_scores(np.linspace(0, 1, 100), np.arange(100) % 3 > 1)
    targets = {"ac_linear": "0.001 s", "platt": "0.0001 s"}
    with tempfile.TemporaryDirectory() as folder:
        for name, model in {**models, "platt": platt}.items():
            path = Path(folder) / f"{name}.fairfr"
            model.save(path, with_faces=True)
            loaded = fairfr.load(path)
            one = (lambda m: lambda: m.probability_scores([0.3]))(loaded)
            if name != "platt":
                one = (lambda m: lambda: m.probability((left, right)))(loaded)
            yield Measured(f"{name}: one pair", seconds(one, 200), None, "calls from Python", targets.get(name, ""))
            size = path.stat().st_size
            loading = seconds(lambda path=path: fairfr.load(path), 10)
            yield Measured(f"{name}: loading", loading, None, f"{size / 1e6:.1f} MB of file", "0.05 s")


def memory(model: Any, vectors: Any) -> Iterator[Measured]:
    """Scoring files of 1M and of 10M pairs, each in a process of its own."""
    import pyarrow as pa
    from pyarrow import parquet

    ids = np.array([f"image-{i}" for i in range(N_IMAGES)])
    rng = np.random.default_rng(2)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        model.save(folder / "m.fairfr")
        np.savez(folder / "new.npz", image=ids, vectors=vectors)
        for millions in (1, 10):
            path = folder / f"{millions}.parquet"
            schema = pa.schema([("left", pa.string()), ("right", pa.string())])
            with parquet.ParquetWriter(path, schema) as writer:
                for _ in range(millions):
                    left, right = rng.integers(0, N_IMAGES, (2, 1_000_000))
                    writer.write_table(pa.table({"left": ids[left], "right": ids[right]}).cast(schema))
            started = time.perf_counter()
            done = subprocess.run(
                [sys.executable, "-c", PEAK, name, str(path)], capture_output=True, text=True, check=True
            )
            wall = time.perf_counter() - started
            peak = f"peak {done.stdout.strip()} MB"
            yield Measured(f"calibrate score, {millions}M pairs from parquet, whole process", wall, None, peak)
