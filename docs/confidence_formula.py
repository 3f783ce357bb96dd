"""deepface's confidence beside what is true: the table of docs/lab/audits.md.

python docs/confidence_formula.py DIR/lfw dlib_resnet gender          prints it as Markdown

The folder is in fairfr's layout. The formula is the one that deepface publishes for its Dlib model and the cosine
distance (deepface/modules/verification.py, deepface/config/confidence.py); beta calibration is cross-fitted by folds.
"""

import argparse
import sys
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pandas as pd

import fairfr

Values = npt.NDArray[np.float64]
THRESHOLD = 0.07
"""Of the cosine distance: pairs up to it are accepted."""
SLOPE = -3.7618087798972293
INTERCEPT = -0.6908814404797111
"""Of the logistic curve of the distance."""
ACCEPTED = (27.84268789569509, 32.289077089161594)
REJECTED = (19.061842082779275, 27.803329512485526)
"""Percentages of the curve that are stretched to 51 to 100, and to 0 to 27."""


def main() -> None:
    """Print a row for all pairs and for each group."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("dataset", type=Path)
    parser.add_argument("backbone")
    parser.add_argument("group", help="a column of images.csv")
    options = parser.parse_args()
    images = pd.read_csv(options.dataset / "images.csv", dtype=str).set_index("image")
    pairs = pd.read_csv(options.dataset / "pairs.csv", dtype={"left": str, "right": str})
    cosine = cosines(options.dataset / "embeddings" / f"{options.backbone}.npz", pairs)
    names = images[options.group].fillna("")
    found = fairfr.audit(
        cosine,
        pairs["same"].astype(int) == 1,
        groups={options.group: (names[pairs["left"]], names[pairs["right"]])},
        fold=pairs["fold"],
        probability=confidence(1 - cosine),
    )
    rows = {(row["group"], row["method"]): row for row in found.to_dict()["calibration"]}
    lines = [
        "| pairs | confidence, mean | true share | Cllr of confidence | of beta calibration |",
        "|---|---|---|---|---|",
    ]
    for group in dict.fromkeys(group for group, _ in rows):
        given = rows[group, "given"]
        if given["cllr"] is not None:
            cllr = rows[group, "beta"]["cllr"]
            lines.append(f"| {group} | {given['said']:.2f} | {given['true']:.2f} | {given['cllr']:.2g} | {cllr:.2g} |")
    sys.stdout.write("\n".join(lines) + "\n")


def cosines(path: Path, pairs: pd.DataFrame) -> Values:
    """Of each pair, (p,)."""
    with np.load(path) as stored:
        vectors = stored["vectors"].astype(np.float64)
        row = pd.Series(np.arange(len(vectors)), index=stored["image"])
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    products = vectors[row[pairs["left"]]] * vectors[row[pairs["right"]]]
    found: Values = products.sum(axis=1)
    return found


def confidence(distance: Values) -> Values:
    """Between 0 and 1, as deepface rounds it."""
    curve = 100 / (1 + np.exp(-(SLOPE * distance + INTERCEPT)))
    high = 51 + 49 * (curve - ACCEPTED[0]) / (ACCEPTED[1] - ACCEPTED[0])
    low = 27 * (curve - REJECTED[0]) / (REJECTED[1] - REJECTED[0])
    percent = np.where(distance <= THRESHOLD, high.clip(51, 100), low.clip(0, 49))
    return percent.round(2) / 100


if __name__ == "__main__":
    main()
