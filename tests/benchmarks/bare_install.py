"""Fit, save, load and serve on a bare installation: run it with the Python of an environment that has only the wheel.

It prints how long loading takes and what a pair costs, and fails where an optional package has been installed.
"""

from __future__ import annotations

import importlib.util
import tempfile
from pathlib import Path
from time import perf_counter

import numpy as np

import fairfr

OPTIONAL = ("torch", "pandas", "pyarrow", "hydra", "mlflow", "rich", "matplotlib")


def main() -> None:
    """Use two methods as a service would."""
    installed = [name for name in OPTIONAL if importlib.util.find_spec(name) is not None]
    assert not installed, f"not a bare installation: {installed}"
    rng = np.random.default_rng(0)
    embeddings = np.repeat(rng.normal(size=(100, 64)), 4, axis=0) + 0.6 * rng.normal(size=(400, 64))
    pairs = rng.integers(0, 400, (2000, 2))
    pairs[:600, 1] = pairs[:600, 0] // 4 * 4 + rng.integers(0, 4, 600)
    same = pairs[:, 0] // 4 == pairs[:, 1] // 4
    for method in (fairfr.ACLinear, fairfr.FairCal, fairfr.ACDensity):
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "model.fairfr"
            method().fit(embeddings, pairs, same).save(path, with_faces=True)
            start = perf_counter()
            model = fairfr.load(path)
            loaded = perf_counter() - start
        start = perf_counter()
        for left, right in pairs[:100]:
            model.probability((embeddings[[left]], embeddings[[right]]))
        each = (perf_counter() - start) / 100
        print(f"{method.__name__}: loaded in {loaded:.2f} s, a pair in {1000 * each:.2f} ms")


if __name__ == "__main__":
    main()
