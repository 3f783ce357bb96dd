"""The tables of real LFW in docs/lab/real_faces.md, and their picture, from runs and tables that are there.

fairfr run -m dataset=lfw backbone=mobileface_v3,edgeface_xs,dlib_resnet method='glob(*)' data_root=DIR out_root=OUT
fairfr tables --out-root OUT --uncertainty
python docs/real_lfw.py OUT          prints the tables, writes docs/real_lfw.png
"""

import argparse
import csv
import re
import sys
from pathlib import Path
from typing import NamedTuple, TypeAlias

from fairfr.stored.reading import STRICT
from fairfr.stored.run import Run
from fairfr.stored.runs import read_runs

BACKBONES = {"mobileface_v3": "#D55E00", "edgeface_xs": "#0072B2", "dlib_resnet": "#009E73"}
NATURE = {"mobileface_v3": "weak", "edgeface_xs": "strong", "dlib_resnet": "cosines in a narrow range"}
READING = STRICT  # as own data is read
MEANS = (
    ("AUROC", "auroc", "all"),
    ("TPR@1e-3", "tpr_at_fpr_1e-3", "all"),
    ("Brier", "brier", "all"),
    ("ECE", "ece_15", "all"),
    ("worst AUROC", "auroc", "worst"),
    ("worst Brier", "brier", "worst"),
)
# heading of the panel; metric and place in the table of differences; half the width that is drawn
PANELS = (
    ("AUROC", "AUROC", "All pairs", 0.008),
    ("TPR@1e-3", "TPR@1e-3", "All pairs", 0.2),
    ("Brier (lower is better)", "Brier", "All pairs", 0.012),
    ("worst-group AUROC", "AUROC", "Worst group", 0.04),
    ("worst Brier (lower is better)", "Brier", "Worst group", 0.03),
)
DRAWN = (0, 2, 3)  # the others are tables: TPR rests on three false matches, and three panels can be read at a glance
# forms of methods that have a line already, and two more calibrations of the cosine alone: fold means only
MEANS_ONLY = ("Beta (paper)", "DemoNorm (paper)†", "GST (paper)†", "Oracle (paper)†", "Isotonic", "Temperature")
SMALL, LARGE = 9, 10.5
TITLE = "Real LFW: difference to the raw cosine, 95 % intervals over people (hollow: interval contains 0)"
PICTURE = Path(__file__).with_suffix(".png")


class Difference(NamedTuple):
    """Of a method to the Baseline, with the ends of its interval."""

    value: float
    low: float
    high: float

    @property
    def text(self) -> str:
        value, low, high = (f"{number:+.4f}".replace("0.", ".", 1) for number in self)
        sure = self.low > 0 or self.high < 0
        return f"**{value}** [{low}, {high}]" if sure else f"{value} [{low}, {high}]"


Found: TypeAlias = dict[str, dict[tuple[str, str, str], Difference]]


def main() -> None:
    """Print fold means and differences as Markdown, and draw the differences."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("out_root", type=Path)
    out_root = parser.parse_args().out_root
    results = [result for result in read_runs(out_root)[0] if result.cell[0] == "lfw"]
    folder = out_root / "tables" / "files" / READING.name
    found = {name: differences(folder / f"differences_lfw_{name}.csv") for name in BACKBONES}
    sys.stdout.write(
        "\n\n".join([means_table(results), *(differences_table(found, *panel) for panel in PANELS)]) + "\n"
    )
    draw(found)


def means_table(results: list[Run]) -> str:
    """A line for each method with the backbones side by side; of runs by several versions of the code the newest."""
    ordered = sorted(results, key=lambda result: result.result.finished)
    found = {result.cell[1:]: result for result in ordered if not result.differs}
    labels = {result.cell[2]: result.label + (" †" if result.needs_groups else "") for result in found.values()}
    lines = [f"| | {' | '.join(heading for heading, *_ in MEANS)} |", "|---" * (1 + len(MEANS)) + "|"]
    for method, label in sorted(labels.items()):
        cells = [" / ".join(_mean(found[name, method], *where) for name in BACKBONES) for _, *where in MEANS]
        lines.append(f"| {label} | " + " | ".join(cells) + " |")
    return "\n".join(lines)


def _mean(result: Run, metric: str, place: str) -> str:
    value = result.mean(metric, place)
    return "-" if value is None else f"{value:.4f}".removeprefix("0")


def differences_table(found: Found, heading: str, metric: str, place: str, _: float) -> str:
    """A line for each method, a column for each backbone; bold where the interval leaves out zero."""
    lines = [f"| {heading} | {' | '.join(found)} |", "|---" * (1 + len(found)) + "|"]
    for method in _methods(found):
        cells = (values.get((metric, place, method)) for values in found.values())
        lines.append(f"| {method} | " + " | ".join("" if cell is None else cell.text for cell in cells) + " |")
    return "\n".join(lines)


def _methods(found: Found) -> list[str]:
    return list(dict.fromkeys(method for values in found.values() for _, _, method in values))


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
        if line[f"{place} difference"] and line["Method"] not in MEANS_ONLY
    }


def draw(found: Found) -> None:
    """One panel for each metric; what lies outside it is an arrow with its value."""
    from matplotlib.figure import Figure
    from matplotlib.lines import Line2D

    methods = _methods(found)
    figure = Figure(figsize=(9, 0.36 * len(methods) + 1.2), layout="constrained")
    panels = [PANELS[at] for at in DRAWN]
    for axes, (heading, metric, place, width) in zip(figure.subplots(1, len(panels), sharey=True), panels, strict=True):
        axes.axvline(0, color="0.45", linewidth=0.8)
        for step, (backbone, values) in enumerate(found.items()):
            for at, method in enumerate(methods):
                if difference := values.get((metric, place, method)):
                    _mark(axes, at + 0.24 * (step - 1), difference, width, BACKBONES[backbone])
        axes.set_xlim(-width, width)
        axes.set_title(heading, fontsize=LARGE)
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
    handles = []
    for name in found:
        label = f"{name} ({NATURE[name]})"
        handles.append(Line2D([], [], marker="o", markersize=5, color=BACKBONES[name], label=label))
    figure.legend(handles=handles, loc="outside lower center", ncols=len(handles), fontsize=SMALL, frameon=False)
    figure.savefig(PICTURE, dpi=150)


def _mark(axes, at: float, difference: Difference, width: float, colour: str) -> None:  # type: ignore[no-untyped-def]
    value, low, high = difference
    if abs(value) > width:
        side = 1 if value > 0 else -1
        axes.plot(side * width * 0.97, at, ">" if side > 0 else "<", markersize=5, color=colour)
        align = "right" if side > 0 else "left"
        axes.text(side * width * 0.88, at, f"{value:+.3f}", fontsize=SMALL - 1.5, color=colour, ha=align, va="center")
        return
    axes.plot([max(low, -width), min(high, width)], [at, at], color=colour, linewidth=1.4)
    hollow = low <= 0 <= high
    axes.plot(value, at, "o", markersize=4.6, color=colour, markerfacecolor="white" if hollow else colour)


if __name__ == "__main__":
    main()
