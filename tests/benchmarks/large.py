"""A set beyond the benchmarks' size, for whole commands: python tests/benchmarks/large.py data/large

Writes images.csv, pairs.csv and embeddings/net.npz (float16) of made-up people with 25 images each, half of the pairs
of one person. ``--folds people`` (the default) gives every person one fold, as benchmarks do; with ``--folds pairs``
every pair has a fold of its own choice. Then:

fairfr run dataset=custom dataset.id=large 'dataset.grouping=[kind]' backbone=custom backbone.id=net method=ac_density
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

import numpy as np
import pandas as pd
from bench_density import SPECTRUM, faces

from fairfr.core.types import I64

IMAGES_EACH = 25
KINDS = np.array(list("abcd"))


def draw_pairs(people_of: list[I64], n_pairs: int, rng: np.random.Generator) -> pd.DataFrame:
    """Fold, rows of the two images, and whether they are of one person; every two images at most once.

    ``people_of`` lists the people of each fold; impostors are two of the same fold.
    """
    fold = rng.integers(0, len(people_of), n_pairs)
    left, right = (rng.integers(0, IMAGES_EACH, n_pairs) for _ in range(2))
    same = rng.random(n_pairs) < 0.5
    one, other = np.empty((2, n_pairs), dtype=np.int64)
    for code, people in enumerate(people_of):
        here = np.flatnonzero(fold == code)
        at = rng.integers(0, len(people), len(here))
        # a step of 1 or more around the circle of people: never the same one
        away = np.where(same[here], 0, rng.integers(1, len(people), len(here)))
        one[here], other[here] = people[at], people[(at + away) % len(people)]
    ends = np.sort(np.column_stack([one * IMAGES_EACH + left, other * IMAGES_EACH + right]), axis=1)
    drawn = pd.DataFrame({"fold": fold, "left": ends[:, 0], "right": ends[:, 1], "same": same.astype(int)})
    return drawn[drawn.left != drawn.right].drop_duplicates(["left", "right"])


def write(folder: Path, n_images: int, n_pairs: int, n_folds: int, folds: str) -> int:
    """The files of the set; how many pairs it has."""
    rng = np.random.default_rng(1)
    n_people = n_images // IMAGES_EACH
    people = rng.permutation(n_people)
    people_of = np.array_split(people, n_folds) if folds == "people" else [people]
    pairs = draw_pairs(people_of, n_pairs, rng)
    if folds == "pairs":
        pairs["fold"] = rng.integers(0, n_folds, len(pairs))
    person = np.arange(n_people * IMAGES_EACH) // IMAGES_EACH
    images = np.array([f"image{row:07d}" for row in range(len(person))])
    (folder / "embeddings").mkdir(parents=True, exist_ok=True)
    pairs.assign(left=images[pairs.left], right=images[pairs.right]).to_csv(folder / "pairs.csv", index=False)
    kind = KINDS[rng.integers(0, len(KINDS), n_people)][person]
    pd.DataFrame({"image": images, "identity": person, "kind": kind}).to_csv(folder / "images.csv", index=False)
    vectors = faces(len(person), SPECTRUM, IMAGES_EACH).astype(np.float16)
    np.savez(folder / "embeddings" / "net.npz", image=images, vectors=vectors)
    return len(pairs)


def main() -> None:
    """Write the set and say how large it is."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--images", type=int, default=200_000)
    parser.add_argument("--pairs", type=int, default=400_000)
    parser.add_argument("--n-folds", type=int, default=10)
    parser.add_argument("--folds", choices=["people", "pairs"], default="people")
    given = parser.parse_args()
    n_pairs = write(given.folder, given.images, given.pairs, given.n_folds, given.folds)
    sys.stdout.write(f"{given.folder}: {given.images:,} images, {n_pairs:,} pairs (synthetic)\n")


if __name__ == "__main__":
    main()
