"""How far probabilities are off inside each group of people: tables of docs/lab/fairness_gaps.md.

fairfr run -m dataset=celeba backbone=mynet method=beta,ac_hinge 'dataset.grouping=[gender,age]' out_root=OUT
python docs/calibration_by_group.py OUT celeba mynet gender_x_age --methods beta ac_hinge

It prints the mean probability minus the share of genuine pairs, in points, over the held-out pairs whose first image is
of the group. A star: the 95 % interval over people leaves out 0 (300 draws, the same for all methods and groups).
"""

import argparse
import sys
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pandas as pd

DRAWS = 300
SEED = 0
FEWEST = 80
"""Genuine pairs that a group needs to be shown."""


def main() -> None:
    """Print a line for each method."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("out", type=Path, help="output folder of fairfr run")
    parser.add_argument("dataset")
    parser.add_argument("backbone")
    parser.add_argument("grouping", help="column of scores.parquet")
    parser.add_argument("--methods", nargs="+", required=True, metavar="METHOD")
    options = parser.parse_args()
    lines = []
    for method in options.methods:
        scores = read_scores(options.out / "runs" / options.dataset / options.backbone / method)
        found = errors_by_group(scores, options.grouping)
        if not lines:
            lines.append(f"| {options.dataset} x {options.backbone} | " + " | ".join(found) + " |")
            lines.append("|---" * (1 + len(found)) + "|")
        lines.append(f"| {method} | " + " | ".join(found.values()) + " |")
    sys.stdout.write("\n".join(lines) + "\n")


def read_scores(folder: Path) -> pd.DataFrame:
    """The held-out scores of the one run in ``folder``."""
    files = sorted(folder.glob("*/scores.parquet"))
    if len(files) != 1:
        sys.exit(f"{folder} has {len(files)} runs with scores; one is needed.")
    return pd.read_parquet(files[0])


def errors_by_group(scores: pd.DataFrame, grouping: str) -> dict[str, str]:
    """By group the mean error in points, with its star."""
    # of a mixed pair both are named, the first image's first
    groups = scores[grouping].astype(str).str.split("|").str[0]
    people, codes = np.unique(scores[["identity_left", "identity_right"]].astype(str), return_inverse=True)
    left, right = codes.reshape(-1, 2).T
    rng = np.random.default_rng(SEED)
    weights = [np.ones(len(scores))]
    for _ in range(DRAWS):
        drawn = np.bincount(rng.integers(len(people), size=len(people)), minlength=len(people))
        weights.append(np.where(left == right, drawn[left], drawn[left] * drawn[right]))
    error = (scores["probability"] - scores["same"]).to_numpy()
    found = {}
    for group in sorted(set(groups) - {"", "nan", "None"}):
        inside = (groups == group).to_numpy()
        if scores["same"][inside].sum() >= FEWEST:
            found[group] = as_text([100 * np.average(error[inside], weights=weight[inside]) for weight in weights])
    return found


def as_text(values: list[float]) -> str:
    """The value of the data, which is the first, and a star if the draws after it leave out 0."""
    drawn: npt.NDArray[np.float64] = np.array(values[1:])
    low, high = np.quantile(drawn, [0.025, 0.975])
    star = "*" if low > 0 or high < 0 else ""
    return f"{values[0]:+z.1f}{star}"


if __name__ == "__main__":
    main()
