"""The table of docs/lab/beyond.md about a group of people that is missing from training and cohort.

python docs/absent_group.py data/celeba mynet gender=female          prints its rows as Markdown

Each fold is scored by models that were fitted on the other folds without the group's pairs. The threshold is the one at
which 0.1 % of the others' held-out impostor pairs are false matches.
"""

import argparse
import sys
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

import fairfr

RATE = 1e-3


def main() -> None:
    """Print one row for each way to fit: false matches inside the group, true matches of all, and strange images."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("dataset", type=Path)
    parser.add_argument("backbone")
    parser.add_argument("group", help="column=value of images.csv")
    options = parser.parse_args()
    scene = Scene(options.dataset, options.backbone, *options.group.split("="))
    warnings.simplefilter("ignore")  # that images are unlike those of training is what is measured
    n = np.count_nonzero(scene.inside & ~scene.same)
    rows = [
        f"*{options.dataset.name} x {options.backbone} without {options.group}: {n:,} impostor pairs inside it*\n",
        "| fitted | false matches inside the group | TPR of the others | images unlike those of training |",
        "|---|---|---|---|",
        scene.row("Beta", fairfr.Beta),
        scene.row("AC-Linear", fairfr.ACLinear),
        scene.row("AC-Hinge", fairfr.ACHinge),
        scene.row("AC-Cohort, no floor", fairfr.ACCohort, floor=0.0),
        scene.row("AC-Cohort", fairfr.ACCohort),
        scene.row("AC-Cohort, the group's images in the cohort", fairfr.ACCohort, cohort="both"),
        scene.row("AC-Cohort, the group's pairs in training", fairfr.ACCohort, absent=False),
    ]
    sys.stdout.write("\n".join(rows) + "\n")


class Scene:
    """Pairs of a data set with folds; ``inside`` (p,): both images are of the group, ``others``: neither is."""

    def __init__(self, folder: Path, backbone: str, column: str, value: str) -> None:
        images, pairs = pd.read_csv(folder / "images.csv", dtype=str), pd.read_csv(folder / "pairs.csv")
        stored = np.load(folder / "embeddings" / f"{backbone}.npz")
        self.vectors = stored["vectors"].astype(np.float32)
        about = images.set_index("image").reindex(stored["image"])
        self.people = about["identity"].to_numpy(dtype=object)
        self.of_group = (about[column] == value).to_numpy()
        row = pd.Series(np.arange(len(stored["image"])), index=stored["image"])
        self.pairs = np.column_stack([row[pairs["left"]], row[pairs["right"]]])
        self.same = pairs["same"].astype(int).to_numpy() == 1
        self.fold = pairs["fold"].to_numpy()
        ends = self.of_group[self.pairs]
        self.inside, self.others = ends.all(axis=1), ~ends.any(axis=1)

    def row(self, name: str, method: Any, absent: bool = True, **options: Any) -> str:
        """A row of the table."""
        score, unlike, images = np.full(len(self.same), np.nan), 0, 0
        for fold in np.unique(self.fold):
            test = self.fold == fold
            train = ~test & (self.others | (not absent))
            cohort = {}
            if options.get("cohort") == "both":
                cohort["cohort"] = self.vectors[np.unique(self.pairs[~test & self.inside])]
            model = method(**options).fit(
                self.vectors, self.pairs[train], self.same[train], identities=self.people, **cohort
            )
            for part in (test & self.others, test & self.inside):
                score[part] = model.probability(self.vectors, self.pairs[part])
            if model.unlike_training_ is not None:
                unlike, images = unlike + model.unlike_training_.unlike, images + model.unlike_training_.images
        highest = np.sort(score[self.others & ~self.same])[::-1]
        threshold = highest[int(RATE * len(highest))]
        inside, genuine = score[self.inside & ~self.same], score[self.others & self.same]
        strange = ""
        if images:
            strange = f"{unlike / images:.0%}"
        return f"| {name} | {(inside > threshold).mean():.2%} | {(genuine > threshold).mean():.3f} | {strange} |"


if __name__ == "__main__":
    main()
