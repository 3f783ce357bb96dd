"""Linear algebra on pairs, factored through images, against the same on built midpoints."""

from __future__ import annotations

import numpy as np
from measured import Measured, seconds
from random_pairs import built_midpoints, repeating_images

WIDTH = 512


def measure(threads: int) -> list[Measured]:
    """One row for each piece of pair algebra."""
    return [logistic(), gram(), scan(threads), shared_graph(threads)]


def logistic() -> Measured:
    """AC-Linear's fit on 100k pairs over 20k images."""
    from sklearn.linear_model import LogisticRegression

    from fairfr.numerics.regression import fit_logistic
    from fairfr.pairs.design import PairDesign
    from fairfr.pairs.vectors import pair_cosines

    vectors, pairs = repeating_images(20_000, 100_000)
    cosine = pair_cosines(vectors, pairs)
    same = np.random.default_rng(1).random(len(pairs)) < 1 / (1 + np.exp(-30 * (cosine - cosine.mean())))
    iterations = fit_logistic(PairDesign(vectors, pairs).append(cosine), same).iterations
    ours = seconds(lambda: fit_logistic(PairDesign(vectors, pairs).append(cosine), same))
    plain = seconds(lambda: LogisticRegression().fit(np.column_stack([built_midpoints(vectors, pairs), cosine]), same))
    flops = 4 * len(vectors) * WIDTH * iterations
    return Measured(
        "logistic on [midpoint, cosine], 100k pairs of 20k images, against LogisticRegression",
        ours,
        plain,
        f"two products with 82 MB of vectors a step, {iterations} steps: {flops / ours / 1e9:.1f} Gflop/s",
    )


def gram() -> Measured:
    """A weighted gram of 200k midpoints over 20k images."""
    from fairfr.pairs.design import PairDesign

    vectors, pairs = repeating_images(20_000, 200_000)
    weights = np.random.default_rng(1).random(len(pairs))

    def plain() -> None:
        midpoints = built_midpoints(vectors, pairs)
        (midpoints * weights[:, None]).T @ midpoints

    ours = seconds(lambda: PairDesign(vectors, pairs).gram(weights))
    flops = 2 * len(vectors) * WIDTH**2 + 4 * len(pairs) * WIDTH
    return Measured(
        "weighted gram, 200k pairs of 20k images, against built midpoints",
        ours,
        seconds(plain),
        f"{flops / 1e9:.0f} Gflop at {flops / ours / 1e9:.0f} Gflop/s",
    )


def scan(threads: int) -> Measured:
    """k-NN of 200k pairs over 20k images to 6,000 references."""
    import faiss

    from fairfr.pairs.neighbours import Midpoints, nearest_midpoints

    faiss.omp_set_num_threads(threads)
    vectors, pairs = repeating_images(20_000, 200_000)
    references = pairs.take(np.arange(6000))
    few, many = Midpoints(vectors, pairs.take(np.arange(100))), Midpoints(vectors, references)
    nearest_midpoints(few, many, 20, "scan", threads)  # compile

    def plain() -> None:
        lookup = faiss.IndexFlatL2(vectors.shape[1])
        lookup.add(built_midpoints(vectors, references, np.float32))
        lookup.search(built_midpoints(vectors, pairs, np.float32), 20)

    ours = seconds(lambda: nearest_midpoints(Midpoints(vectors, pairs), many, 20, "auto", threads))
    distances = len(pairs) * len(references)
    return Measured(
        "20 nearest of 6,000 references, 200k pairs of 20k images, against faiss on built midpoints",
        ours,
        seconds(plain),
        f"{distances / 1e9:.1f}G distances, each one sum: {distances / ours / 1e9:.2f}G/s",
    )


def shared_graph(threads: int) -> Measured:
    """Local density in all ten folds of 12,000 pairs whose images barely repeat."""
    import faiss

    from fairfr.pairs.neighbours import Midpoints, nearest_midpoints

    faiss.omp_set_num_threads(threads)
    vectors, pairs = repeating_images(20_000, 12_000)
    midpoints = built_midpoints(vectors, pairs, np.float32)
    fold = np.arange(len(pairs)) % 10

    def plain() -> None:
        for held_out in range(10):
            lookup = faiss.IndexFlatL2(vectors.shape[1])
            lookup.add(midpoints[fold != held_out])
            lookup.search(midpoints, 20)

    ours = seconds(lambda: nearest_midpoints(Midpoints(vectors, pairs), Midpoints(vectors, pairs), 32, "auto", threads))
    flops = 2 * len(pairs) ** 2 * WIDTH
    return Measured(
        "20 nearest training midpoints in ten folds, 12k pairs, against ten faiss searches",
        ours,
        seconds(plain),
        f"{flops / 1e9:.0f} Gflop at {flops / ours / 1e9:.0f} Gflop/s",
    )
