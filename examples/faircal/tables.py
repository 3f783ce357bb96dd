"""The tables of FairCal (Salvador et al. 2022, arXiv 2106.03761) from stored runs, as Markdown.

fairfr run -m --config-dir examples/faircal experiment=faircal
python examples/faircal/tables.py outputs
python examples/faircal/tables.py outputs --where standin.scale=0.1     runs with this parameter

Means over held-out folds, in percent. A pair belongs to a group if both images do. The calibration error of methods
without a probability (Baseline, FSN) is that of a beta calibration on top.
"""

import argparse
import sys

import pandas as pd

import fairfr

METHODS = {
    "baseline": "Baseline",
    "platt": "Platt",
    "beta": "Beta",
    "gst": "GST†",
    "fsn": "FSN",
    "faircal": "FairCal",
    "oracle": "Oracle†",
}
"""In the order of the paper's rows; † needs group labels."""
DEVIATIONS = {"Mean": "mean", "AAD": "aad", "MAD": "mad", "STD": "std"}
ACCURACY = {"AUROC": "auroc", "TPR @ 0.1 % FPR": "tpr_at_fpr_1e-3", "TPR @ 1 % FPR": "tpr_at_fpr_1e-2"}
TABLES = {
    "Accuracy": ("all", 100, ACCURACY),
    "Fairness calibration: KS of groups": ("gap", 1, {word: f"ks_{name}" for word, name in DEVIATIONS.items()}),
    "Predictive equality: FPR of groups at 0.1 % FPR": (
        "gap",
        1,
        {word: f"fpr_{name}_at_fpr_1e-3" for word, name in DEVIATIONS.items()},
    ),
    "Predictive equality: FPR of groups at 1 % FPR": (
        "gap",
        1,
        {word: f"fpr_{name}_at_fpr_1e-2" for word, name in DEVIATIONS.items()},
    ),
}
"""The group of each table's metrics, what they are multiplied with, and the metric of each column."""


def main() -> None:
    """Print every table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("out_root", nargs="?", default="outputs")
    parser.add_argument("--where", action="append", default=[], metavar="KEY=VALUE")
    options = parser.parse_args()
    found = fairfr.results(options.out_root, reading="strict", where=options.where)
    for source in found.attrs["sources"]:
        of_source = found[found["source"] == source]
        for title, (group, scale, columns) in TABLES.items():
            table = layout(of_source[of_source["group"] == group], columns) * scale
            sys.stdout.write(f"\n**{title}** ({source})\n\n{markdown(table)}\n")


def layout(found: pd.DataFrame, columns: dict[str, str]) -> pd.DataFrame:
    """A row for each method; the columns of each data set and backbone side by side."""
    names = {metric: heading for heading, metric in columns.items()}
    chosen = found[found["metric"].isin(names) & found["method"].isin(METHODS)]
    named = chosen.assign(column=chosen["metric"].map(names))
    # pivot refuses two numbers for one place; pivot_table would average them
    table = named.pivot(index="method", columns=["dataset", "backbone", "column"], values="mean")  # noqa: PD010
    rows = [method for method in METHODS if method in table.index]
    settings = dict.fromkeys(zip(chosen["dataset"], chosen["backbone"], strict=True))
    order = [(*setting, heading) for setting in settings for heading in columns]
    return table.reindex(index=rows, columns=pd.MultiIndex.from_tuples(order))


def markdown(table: pd.DataFrame) -> str:
    """With two decimals; blank where a method has no such number."""
    lines = [f"| Method | {' | '.join(' '.join(heading) for heading in table.columns)} |"]
    lines.append("|---" * (1 + len(table.columns)) + "|")
    for method, values in table.iterrows():
        cells = ["" if pd.isna(value) else f"{value:.2f}" for value in values]
        lines.append(f"| {METHODS[str(method)]} | {' | '.join(cells)} |")
    return "\n".join(lines)


if __name__ == "__main__":
    main()
