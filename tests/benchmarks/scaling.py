"""How the time of a cell grows with its pairs and with its images: python tests/benchmarks/scaling.py

Draws docs/scaling.png from synthetic pairs of random vectors: 1, 2 and 4 times the pairs of the same images, and 1, 2
and 4 times the images with as many pairs. Times are those of the processor, over all threads, so that a busy machine
does not bend the lines.
"""

from __future__ import annotations

import sys
import time
from pathlib import Path

import numpy as np
from commands import ROOT
from measured import seconds
from random_pairs import repeating_images

from fairfr.core.calibrator import Calibrator, FitContext
from fairfr.core.config import instantiate
from fairfr.core.types import PAIR_RULES, EmbeddingSet, Grouping, VerificationSet
from fairfr.folds.published import LeaveOneFoldOut
from fairfr.metrics.cell_metrics import PairGroups, compute_metrics
from fairfr.pairs.table import PairTable
from fairfr.runner.held_out import score_held_out
from fairfr.sweep.compose import read_method

METHODS = ("platt", "ac_linear", "gst")
PAIRS, IMAGES, FOLDS = 100_000, 5_000, 5
TIMES = (1, 2, 4)


def made(n_images: int, n_pairs: int) -> VerificationSet:
    """Random vectors; pairs are the same the more often the larger their cosine."""
    vectors, pairs = repeating_images(n_images, n_pairs)
    rng = np.random.default_rng(1)
    cosine = np.einsum("ij,ij->i", vectors[pairs.left], vectors[pairs.right])
    ids = np.array([f"image{row}" for row in range(n_images)])
    return VerificationSet(
        id="random",
        source="synthetic",
        backbone="random",
        digest="random",
        images=ids,
        identity=np.arange(n_images, dtype=np.int32),
        pairs=pairs,
        same=rng.random(n_pairs) < 1 / (1 + np.exp(-30 * (cosine - cosine.mean()))),
        fold=(np.arange(n_pairs) % FOLDS).astype(np.int16),
        fold_labels=tuple(map(str, range(FOLDS))),
        groupings={"kind": Grouping("kind", tuple("abcd"), rng.integers(0, 4, n_images).astype(np.int16))},
        grouping="kind",
        embeddings=EmbeddingSet("random", "random", ids, vectors),
    )


def processor_seconds(data: VerificationSet, method: str) -> float:
    """Of the cosines, all folds and all metrics: the best of three, because what the caches hold by chance shows."""
    estimator = read_method(ROOT / "conf" / "method" / f"{method}.yaml").estimator

    def make() -> Calibrator:
        made: Calibrator = instantiate(estimator, "method.estimator")
        return made

    def context(fold: str) -> FitContext:
        return FitContext(seed=0, dataset=data.id, backbone=data.backbone, fold=fold, grouping=data.grouping)

    def cell() -> None:
        held_out = score_held_out(PairTable(data), list(LeaveOneFoldOut().split(data)), make, context)
        groups = [PairGroups.of(group, data.pairs, rule) for group in data.groupings.values() for rule in PAIR_RULES]
        compute_metrics(held_out.frame, held_out.folds, groups, 20)

    return seconds(cell, repeats=3, clock=time.process_time)


def draw(by_pairs: dict[str, list[float]], by_images: dict[str, list[float]], path: Path) -> None:
    from matplotlib.figure import Figure

    figure = Figure(figsize=(8, 3.4), layout="constrained")
    panels = figure.subplots(1, 2, sharey=True)
    for panel, times_of, what, base in zip(
        panels, (by_pairs, by_images), ("pairs", "images"), (PAIRS, IMAGES), strict=True
    ):
        for method, values in times_of.items():
            panel.plot(TIMES, values, marker="o", label=method)
        panel.plot(TIMES, [times * times_of["platt"][0] for times in TIMES], "k:", label=f"in proportion to {what}")
        panel.set_xticks(TIMES, [f"{base * times:,}" for times in TIMES])
        panel.set_ylim(bottom=0)
        panel.set_xlabel(what)
        panel.legend(fontsize=8)
    panels[0].set_ylabel("processor seconds")
    panels[0].set_title(f"{IMAGES:,} images", fontsize=10)
    panels[1].set_title(f"{PAIRS:,} pairs", fontsize=10)
    figure.suptitle("A cell's cosines, five folds and metrics (synthetic, 512 dimensions)", fontsize=10)
    figure.savefig(path, dpi=130)


def main() -> None:
    """Measure, print and draw."""
    for method in METHODS:  # imports, and the compiled loops of large fits
        processor_seconds(made(100, 2 * PAIRS), method)
    found: list[dict[str, list[float]]] = []
    for sizes in ([(IMAGES, PAIRS * times) for times in TIMES], [(IMAGES * times, PAIRS) for times in TIMES]):
        sets = [made(*size) for size in sizes]
        found.append({method: [processor_seconds(data, method) for data in sets] for method in METHODS})
        for method, values in found[-1].items():
            spelled = ", ".join(
                f"{n:,} images, {p:,} pairs: {value:.2f} s" for (n, p), value in zip(sizes, values, strict=True)
            )
            sys.stdout.write(f"{method}: {spelled}\n")
    draw(found[0], found[1], ROOT / "docs" / "scaling.png")


if __name__ == "__main__":
    main()
