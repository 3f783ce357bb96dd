"""README's picture: the false match rate of each group at one threshold, on real faces.

python docs/fairness_gaps.py DIR/celeba mobileface_v3 gender,age --out OUT ...     and so on: docs/lab/fairness_gaps.md
python docs/real_faces_figure.py OUT --sets celeba_mobileface_v3 lfw_within5_dlib_resnet  writes docs/real_faces.png
"""

import argparse
from pathlib import Path

import numpy as np
import pandas as pd

LEVEL = 1e-2
METHODS = ("raw", "beta", "AC-Hinge", "AC-Cohort")
FEW = 10  # false matches: a rate that rests on fewer is hollow
NAMES = {"celeba_": "CelebA", "lfw_within5_": "LFW inside groups"}
COLOURS = ("#D55E00", "#E69F00", "#0072B2", "#56B4E9", "#009E73", "#555555")
AXIS = (0.08, 25)
LARGE, SMALL = 10, 8.5
TITLE = "False match rate of each group over the wanted rate (1e-2), at one threshold for all people"
PICTURE = Path(__file__).with_name("real_faces.png")


def main() -> None:
    """Draw one panel for each data set and network."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("out", type=Path, help="where docs/fairness_gaps.py wrote its numbers")
    parser.add_argument("--sets", nargs="+", required=True, help="names of its csv files")
    options = parser.parse_args()
    draw({name: pd.read_csv(options.out / f"{name}.csv") for name in options.sets})


def draw(numbers: dict[str, pd.DataFrame]) -> None:
    """A block of lines for each method, a line for each group."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(9, 3.6), layout="constrained")
    for axes, (name, table) in zip(figure.subplots(1, len(numbers), squeeze=False)[0], numbers.items(), strict=True):
        wanted = table[(table["quantity"] == "group_fmr") & np.isclose(table["level"], LEVEL)]
        groups = list(dict.fromkeys(wanted["group"]))
        for row in wanted.itertuples():
            if row.method in METHODS:
                at = groups.index(row.group)
                place = METHODS.index(row.method) + 0.72 * ((at + 0.5) / len(groups) - 0.5)
                _mark(axes, place, row, COLOURS[at])
        axes.axvline(1, color="0.3", linewidth=0.9)
        axes.set_xscale("log")
        axes.set_xlim(*AXIS)
        axes.set_xticks([0.1, 0.3, 1, 3, 10], ["0.1", "0.3", "1", "3", "10"])
        axes.set_yticks(range(len(METHODS)), METHODS)
        axes.set_ylim(len(METHODS) - 0.5, -0.5)
        for between in range(1, len(METHODS)):
            axes.axhline(between - 0.5, color="0.9", linewidth=0.6)
        axes.set_title(_heading(name), fontsize=LARGE)
        axes.tick_params(labelsize=SMALL, length=2)
        axes.tick_params(axis="x", which="minor", length=0)
        axes.tick_params(axis="y", length=0)
        axes.spines[["top", "right", "left"]].set_visible(False)
        _name_groups(axes, groups)
    figure.suptitle(TITLE, fontsize=LARGE)
    figure.savefig(PICTURE, dpi=130)


def _heading(name: str) -> str:
    for start, words in NAMES.items():
        if name.startswith(start):
            return f"{words}, {name.removeprefix(start)}"
    return name


def _mark(axes, place: float, row, colour: str) -> None:  # type: ignore[no-untyped-def]
    """A dot with its interval; what leaves the axis ends at its edge."""
    low, high = (min(max(end, AXIS[0]), AXIS[1]) for end in (row.low, row.high))
    axes.plot([low, high], [place, place], color=colour, linewidth=1.4)
    face = colour
    if row.false_matches < FEW:
        face = "white"
    value = min(max(row.value, AXIS[0]), AXIS[1])
    axes.plot(value, place, "o", markersize=4.6, color=colour, markerfacecolor=face)


def _name_groups(axes, groups: list[str]) -> None:  # type: ignore[no-untyped-def]
    from matplotlib.lines import Line2D

    handles = []
    for group, colour in zip(groups, COLOURS, strict=False):
        handles.append(Line2D([], [], marker="o", markersize=4.6, color=colour, label=group))
    columns = min(len(handles), 3)
    axes.legend(
        handles=handles,
        loc="upper center",
        bbox_to_anchor=(0.5, -0.1),
        ncols=columns,
        fontsize=SMALL,
        frameon=False,
    )


if __name__ == "__main__":
    main()
