"""The tables of docs/lab/standin.md that set our stand-in runs beside the paper's headline numbers.

fairfr run -m experiment=headline out_root=OUT
python docs/standin_tables.py OUT      prints them as Markdown, ours / printed, and writes docs/standin_prediction.png
"""

import argparse
import shutil
import sys
import tempfile
from pathlib import Path

from fairfr.paper.definition import PAPER
from fairfr.paper.order import DATASETS, HEADLINE, HEADLINE_BACKBONES, ROWS
from fairfr.paper.prediction import compared_with_print, is_fitted, prediction
from fairfr.paper.printed import QUANTITIES
from fairfr.report.figures.draw import save
from fairfr.report.writers import markdown
from fairfr.stored.reading import PAPER_READING
from fairfr.stored.results import shown_results
from fairfr.stored.runs import read_runs

PICTURE = Path(__file__).with_name("standin_prediction.png")


def main() -> None:
    """Print the table of misses, and ours beside print for each metric."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("out_root", type=Path)
    runs, _ = read_runs(parser.parse_args().out_root)
    results = shown_results(runs, "synthetic", reading=PAPER_READING, order=PAPER.order)
    for grid in prediction(results):
        sys.stdout.write(markdown.render(grid))
    compared = compared_with_print(results)
    settings = [s for s in HEADLINE if any((c.published.dataset, c.published.backbone) == s for c in compared)]
    for quantity in QUANTITIES.values():
        cells = {}
        for one in compared:
            if one.published.quantity == quantity:
                text = f"{short(one.ours.text)} / {short(one.published.text)}"
                if is_fitted(one.published.method, quantity):
                    text = f"({text})"
                cells[one.published.method, one.published.dataset, one.published.backbone] = text
        sys.stdout.write(f"\n| {quantity.label} | {' | '.join(name(*setting) for setting in settings)} |\n")
        sys.stdout.write("|---" * (1 + len(settings)) + "|\n")
        for row in ROWS:
            texts = [cells.get((row.id, *setting), "") for setting in settings]
            if any(texts):
                sys.stdout.write(f"| {row.label} | {' | '.join(texts)} |\n")
    with tempfile.TemporaryDirectory() as folder:
        figure = PAPER.figures(results)["prediction"]
        save(figure, Path(folder) / "prediction")
        shutil.copy(Path(folder) / "prediction.png", PICTURE)


def name(dataset: str, backbone: str) -> str:
    """A setting as the columns call it."""
    return f"{DATASETS[dataset]} {HEADLINE_BACKBONES[backbone]}"


def short(number: str) -> str:
    """.973 for 0.973."""
    return number.removeprefix("0") if number.startswith("0.") else number


if __name__ == "__main__":
    main()
