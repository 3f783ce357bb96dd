"""``fairfr.compare`` from arrays against ``fairfr run`` on the same data in files: both need the same fits and scores.

Made-up people of the size of CelebA's pairs: 42,090 pairs of 256 numbers, ten folds without common people. Both are
processes of their own, and their processor time is compared: wall times depend on what else the machine does.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
from measured import Measured

METHODS = ("ac_hinge", "ac_linear", "ac_density", "faircal", "fsn")
N_PAIRS, N_PEOPLE, IMAGES_OF_ONE, WIDTH, FOLDS = 42_090, 1_250, 8, 256, 10
COMPARE = """
import sys
import numpy as np
import fairfr

classes = {"ac_hinge": fairfr.ACHinge, "ac_linear": fairfr.ACLinear, "ac_density": fairfr.ACDensity,
           "faircal": fairfr.FairCal, "fsn": fairfr.FSN}
with np.load(sys.argv[1]) as given:
    found = fairfr.compare(
        {name: classes[name]() for name in sys.argv[3:]}, given["vectors"], given["pairs"], given["same"],
        groups={"gender": given["gender"]}, identities=given["who"], folds=given["fold"], n_jobs=int(sys.argv[2]),
    )
print(len(found.frame()))
"""


def made() -> dict[str, Any]:
    """Vectors, labelled pairs of people of the same fold and gender, and who is on each image."""
    rng = np.random.default_rng(0)
    who = np.repeat(np.arange(N_PEOPLE), IMAGES_OF_ONE)
    vectors = rng.standard_normal((N_PEOPLE, WIDTH), dtype=np.float32)[who]
    vectors += 1.3 * rng.standard_normal(vectors.shape, dtype=np.float32)
    fold = who % FOLDS
    gender = who // FOLDS % 2
    half = N_PAIRS // 2
    first = rng.integers(0, len(who), half)
    genuine = np.column_stack([first, first // IMAGES_OF_ONE * IMAGES_OF_ONE + (first + 1) % IMAGES_OF_ONE])
    # people of one fold and gender are 2 * FOLDS apart
    step = 2 * FOLDS * IMAGES_OF_ONE
    left = rng.integers(0, len(who), 3 * half)
    right = (left + step * rng.integers(1, 100, 3 * half)) % len(who)
    kept = (fold[left] == fold[right]) & (gender[left] == gender[right]) & (who[left] != who[right])
    impostors = np.column_stack([left, right])[kept][: N_PAIRS - half]
    pairs = np.concatenate([genuine, impostors])
    pairs = pairs[rng.permutation(len(pairs))]
    return {
        "vectors": vectors,
        "pairs": pairs,
        "same": who[pairs[:, 0]] == who[pairs[:, 1]],
        "who": who,
        "gender": np.array(["female", "male"])[gender],
        "fold": fold[pairs[:, 0]],
    }


def write_files(given: dict[str, Any], root: Path) -> None:
    """The neutral layout."""
    import pandas as pd

    folder = root / "mine"
    (folder / "embeddings").mkdir(parents=True)
    images = np.array([f"image-{row:05}" for row in range(len(given["who"]))])
    table = pd.DataFrame({"image": images, "identity": given["who"], "gender": given["gender"]})
    table.to_csv(folder / "images.csv", index=False)
    left, right = images[given["pairs"][:, 0]], images[given["pairs"][:, 1]]
    pairs = pd.DataFrame({"fold": given["fold"], "left": left, "right": right, "same": given["same"].astype(int)})
    pairs.to_csv(folder / "pairs.csv", index=False)
    np.savez(folder / "embeddings" / "net.npz", image=images, vectors=given["vectors"])


def processor_seconds(*words: object) -> float:
    """What a Python process costs, all its threads together."""
    before = os.times()
    done = subprocess.run([sys.executable, *map(str, words)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    after = os.times()
    return after.children_user + after.children_system - before.children_user - before.children_system


def measure(threads: int) -> list[Measured]:
    """From the start of the process to the first number: the table of compare, the last cell of the sweep."""
    given = made()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        arrays = folder / "arrays.npz"
        np.savez(arrays, **given)
        write_files(given, folder / "data")
        words = ["dataset=mine", "backbone=net", f"method={','.join(METHODS)}", "dataset.grouping=[gender]"]
        places = [f"data_root={folder / 'data'}", f"out_root={folder / 'out'}", "store=folder", f"threads={threads}"]
        run = processor_seconds("-m", "fairfr", "run", "-m", *words, *places)
        ours = processor_seconds("-W", "ignore", "-c", COMPARE, arrays, threads, *METHODS)
    what = f"{len(given['pairs']):,} pairs of {len(given['who']):,} images x {WIDTH}, ten folds"
    work = f"compare({', '.join(METHODS)}) on {what}, processor time, against fairfr run"
    return [Measured(work, ours, run, f"{ours / run:.2f} of what fairfr run needs", "at most 1.3 of fairfr run")]
