"""Import what runs import, once, so that its byte code and the compiled kernels are there when a person is waiting."""

import importlib

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

    from fairfr.core.types import Pairs
    from fairfr.methods._logistic_loops import block_loss, loss_and_gradient
    from fairfr.pairs.near_images import near_images
    from fairfr.pairs.neighbours import Midpoints, nearest, nearest_and_others

    toy = Pairs(np.arange(4, dtype=np.int32), np.arange(4, 8, dtype=np.int32))
    midpoints = Midpoints(np.eye(8, dtype=np.float32), toy)
    nearest(midpoints, midpoints, k=2, engine="scan")
    nearest(midpoints, midpoints, k=2, engine="faiss")
    nearest_and_others(midpoints, 2, np.arange(4), 2)
    near_images(np.tile(midpoints.vectors, (200, 1)), width=2, threads=1)  # more than a tile: whole ones, and parts
    block_loss(np.zeros(4), np.zeros(4), np.empty(4))
    loss_and_gradient(np.zeros((1, 4)), np.zeros(4), 0, 4, np.zeros(1), 0.0, np.empty(2))


if __name__ == "__main__":
    main()
