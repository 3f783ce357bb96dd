"""The tables of docs/lab/standin.md that set our stand-in runs beside the paper's headline numbers.

fairfr run -m experiment=headline out_root=OUT
python docs/standin_tables.py OUT      prints them as Markdown, ours / printed, and writes docs/standin_prediction.png
"""

import argparse
import shutil
import sys
import tempfile
from pathlib import Path

from fairfr.paper.against import compare_with_print, of_quantity, settings_of
from fairfr.paper.definition import PAPER
from fairfr.paper.order import ROWS, setting_name
from fairfr.paper.prediction import is_fitted, prediction
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
    compared = compare_with_print(results)
    settings = settings_of(compared)
    for quantity in QUANTITIES.values():
        cells = {}
        for one in of_quantity(compared, quantity):
            text = f"{short(one.ours.text)} / {short(one.published.text)}"
            if is_fitted(one.row.id, quantity):
                text = f"({text})"
            cells[one.row, one.setting] = text
        sys.stdout.write(f"\n| {quantity.label} | {' | '.join(map(setting_name, settings))} |\n")
        sys.stdout.write("|---" * (1 + len(settings)) + "|\n")
        for row in ROWS:
            texts = [cells.get((row, setting), "") for setting in settings]
            if any(texts):
                sys.stdout.write(f"| {row.label} | {' | '.join(texts)} |\n")
    with tempfile.TemporaryDirectory() as folder:
        figure = PAPER.figures(results)["prediction"]
        save(figure, Path(folder) / "prediction")
        shutil.copy(Path(folder) / "prediction.png", PICTURE)


def short(number: str) -> str:
    """.973 for 0.973."""
    return number.removeprefix("0") if number.startswith("0.") else number


if __name__ == "__main__":
    main()
