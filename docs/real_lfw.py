"""The table and the picture of real LFW in README.md and docs/findings.md, from runs and tables that are there.

fairfr run -m dataset=lfw backbone=mobileface_v3,edgeface_xs,dlib_resnet method='glob(*)' data_root=DIR out_root=OUT
fairfr tables --out-root OUT --uncertainty
python docs/real_lfw.py OUT                      prints the table, writes docs/real_lfw.png
python docs/real_lfw.py OUT --reading strict     prints the other reading
"""

import argparse
import csv
import re
import sys
from pathlib import Path
from typing import NamedTuple

from fairfr.report.readings import Reading, Result
from fairfr.report.runs import read_results

BACKBONES = {"mobileface_v3": "#D55E00", "edgeface_xs": "#0072B2", "dlib_resnet": "#009E73"}
MEANS = (
    ("AUROC", "auroc", "all"),
    ("TPR@1e-3", "tpr_at_fpr_1e-3", "all"),
    ("Brier", "brier", "all"),
    ("ECE", "ece_15", "all"),
    ("worst AUROC", "auroc", "worst"),
)
# heading of the panel; metric and place in the table of differences; half the width that is drawn
PANELS = (
    ("AUROC", "AUROC", "All pairs", 0.008),
    ("TPR@1e-3", "TPR@1e-3", "All pairs", 0.2),
    ("Brier (lower is better)", "Brier", "All pairs", 0.012),
    ("worst-group AUROC", "AUROC", "Worst group", 0.04),
)
SMALL, LARGE = 7, 9
TITLE = "Real LFW: difference to the Baseline, 95 % intervals over identities (paper reading; hollow: interval holds 0)"
PICTURE = Path(__file__).with_suffix(".png")


class Difference(NamedTuple):
    """Of a method to the Baseline, with the ends of its interval."""

    value: float
    low: float
    high: float


def main() -> None:
    """Print the table of fold means; in the paper's reading, draw the differences."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("out_root", type=Path)
    parser.add_argument("--reading", choices=("paper", "strict"), default="paper")
    options = parser.parse_args()
    results = [result for result in read_results(options.out_root)[0] if result.cell[0] == "lfw"]
    backbones = [name for name in BACKBONES if any(result.cell[1] == name for result in results)]
    sys.stdout.write(table(results, backbones, options.reading) + "\n")
    if options.reading == "paper":
        folder = options.out_root / "tables" / "files" / "paper"
        draw({name: differences(folder / f"differences_lfw_{name}.csv") for name in backbones})


def table(results: list[Result], backbones: list[str], reading: Reading) -> str:
    """Fold means as Markdown, a line for each method with the backbones side by side."""
    found = {result.cell[1:]: result for result in results if not result.differs}
    labels = {result.cell[2]: result.label + (" †" if result.needs_groups else "") for result in found.values()}
    lines = [f"| {' / '.join(backbones)} | " + " | ".join(heading for heading, *_ in MEANS) + " |", "|---" * 6 + "|"]
    for method, label in sorted(labels.items()):
        cells = [
            " / ".join(_mean(found.get((backbone, method)), metric, place, reading) for backbone in backbones)
            for _, metric, place in MEANS
        ]
        lines.append(f"| {label} | " + " | ".join(cells) + " |")
    return "\n".join(lines)


def _mean(result: Result | None, metric: str, place: str, reading: Reading) -> str:
    value = None if result is None else result.mean(metric, place, reading)
    return "-" if value is None else f"{value:.4f}".removeprefix("0")


def differences(path: Path) -> dict[tuple[str, str, str], Difference]:
    """By metric, place and method: the lines of a table that ``--uncertainty`` wrote."""
    with path.open(encoding="utf-8", newline="") as file:
        lines = list(csv.DictReader(line for line in file if not line.startswith("#")))
    return {
        (line["section"].split(",")[0], place, line["Method"]): Difference(
            float(line[f"{place} difference"]), *map(float, re.findall(r"[+-][\d.]+", line[f"{place} 95 % interval"]))
        )
        for line in lines
        if line["section"].endswith("minus Baseline")
        for place in ("All pairs", "Worst group")
        if line[f"{place} difference"]
    }


def draw(found: dict[str, dict[tuple[str, str, str], Difference]]) -> None:
    """One panel for each metric; what lies outside it is an arrow with its value."""
    from matplotlib.figure import Figure
    from matplotlib.lines import Line2D

    methods = list(dict.fromkeys(method for of_backbone in found.values() for _, _, method in of_backbone))
    figure = Figure(figsize=(9, 0.3 * len(methods) + 1.2), layout="constrained")
    for axes, (heading, metric, place, width) in zip(figure.subplots(1, len(PANELS), sharey=True), PANELS, strict=True):
        axes.axvline(0, color="0.45", linewidth=0.8)
        for step, (backbone, values) in enumerate(found.items()):
            for at, method in enumerate(methods):
                if difference := values.get((metric, place, method)):
                    _mark(axes, at + 0.24 * (step - 1), difference, width, BACKBONES[backbone])
        axes.set_xlim(-width, width)
        axes.set_title(heading, fontsize=SMALL + 1)
        axes.tick_params(labelsize=SMALL, length=2)
        axes.tick_params(axis="y", length=0)
        axes.locator_params(axis="x", nbins=4)
        axes.set_yticks(range(len(methods)), methods)
        axes.set_ylim(len(methods) - 0.5, -0.5)
        axes.set_yticks([at - 0.5 for at in range(1, len(methods))], minor=True)
        axes.grid(axis="y", which="minor", color="0.9", linewidth=0.6)
        axes.tick_params(which="minor", length=0)
        axes.spines[["top", "right", "left"]].set_visible(False)
    figure.suptitle(TITLE, fontsize=LARGE)
    handles = [Line2D([], [], marker="o", markersize=4, color=BACKBONES[name], label=name) for name in found]
    figure.legend(handles=handles, loc="outside lower center", ncols=len(handles), fontsize=SMALL, frameon=False)
    figure.savefig(PICTURE, dpi=110)


def _mark(axes, at: float, difference: Difference, width: float, colour: str) -> None:  # type: ignore[no-untyped-def]
    value, low, high = difference
    if abs(value) > width:
        side = 1 if value > 0 else -1
        axes.plot(side * width * 0.97, at, ">" if side > 0 else "<", markersize=4, color=colour)
        align = "right" if side > 0 else "left"
        axes.text(side * width * 0.88, at, f"{value:+.3f}", fontsize=SMALL - 1.5, color=colour, ha=align, va="center")
        return
    axes.plot([max(low, -width), min(high, width)], [at, at], color=colour, linewidth=1)
    hollow = low <= 0 <= high
    axes.plot(value, at, "o", markersize=3.6, color=colour, markerfacecolor="white" if hollow else colour)


if __name__ == "__main__":
    main()
