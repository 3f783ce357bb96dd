"""Import what runs import, once, so that its byte code and the compiled kernels are there when a person is waiting."""

import importlib
from typing import get_args

MODULES = (
    "faiss",
    "hydra",
    "matplotlib.figure",
    "mlflow.tracking",
    "numba",
    "pandas",
    "pyarrow.parquet",
    "rich.progress",
    "scipy.optimize",
    "scipy.sparse",
    "sklearn.cluster",
    "sklearn.isotonic",
    "torch",
    "fairfr.sweep",
    "fairfr.report.figures.draw",
    "fairfr.paper.paper_tables",
    "fairfr.store.mlflow.log",
)


def main() -> None:
    """Import every module, then run the neighbour searches on a toy."""
    for module in MODULES:
        importlib.import_module(module)
    import numpy as np

    from fairfr.core.types import Pairs, read_only
    from fairfr.pairs.neighbours import Engine, Midpoints, nearest_midpoints

    toy = Pairs(np.arange(4, dtype=np.int32), np.arange(4, 8, dtype=np.int32))
    vectors = np.eye(8, dtype=np.float32)
    for own in (vectors, read_only(vectors.copy())):  # a table's own may only be read, which numba compiles apart
        midpoints = Midpoints(own, toy)
        for engine in get_args(Engine):
            nearest_midpoints(midpoints, midpoints, k=2, engine=engine)


if __name__ == "__main__":
    main()
