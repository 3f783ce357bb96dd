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
    "fairfr.app",
    "fairfr.report.figures.draw",
    "fairfr.report.tables.paper_tables",
    "fairfr.store.mlflow.server",
)


def main() -> None:
    """Import every module, then run the neighbour searches and the logistic loss on a toy."""
    for module in MODULES:
        importlib.import_module(module)
    import numpy as np

    from fairfr.core.types import Pairs, read_only
    from fairfr.methods._logistic_loops import block_loss, loss_and_gradient
    from fairfr.pairs.near_images import near_images
    from fairfr.pairs.neighbours import Engine, Midpoints, nearest, nearest_and_others

    toy = Pairs(np.arange(4, dtype=np.int32), np.arange(4, 8, dtype=np.int32))
    vectors = np.eye(8, dtype=np.float32)
    for own in (vectors, read_only(vectors.copy())):  # a table's own may only be read, which numba compiles apart
        midpoints = Midpoints(own, toy)
        for engine in get_args(Engine):
            nearest(midpoints, midpoints, k=2, engine=engine)
        nearest_and_others(midpoints, 2, np.arange(4), 2)
    near_images(np.tile(vectors, (200, 1)), width=2, threads=1)  # more than a tile: whole ones, and parts
    block_loss(np.zeros(4), np.zeros(4), np.empty(4))
    loss_and_gradient(np.zeros((1, 4)), np.zeros(4), 0, 4, np.zeros(1), 0.0, np.empty(2))


if __name__ == "__main__":
    main()
