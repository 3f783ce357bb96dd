"""The table of docs/methods.md, made from conf/method and the cards (module docstrings) of fairfr/methods.

python scripts/method_table.py           writes it
python scripts/method_table.py --check   fails when it is stale, or when a card says too little
"""

import argparse
import inspect
import sys
from pathlib import Path
from typing import Any

from fairfr.core.conform import instantiate
from fairfr.sweep.config import read_method

ROOT = Path(__file__).resolve().parents[1]
BEGIN, END = "<!-- methods: begin -->", "<!-- methods: end -->"
# What a saved model of a method has in it, by its yaml; weights where nothing is said. The contract tests fit every
# method and compare.
KEEPS = {
    "ac_cohort": "face vectors",
    "ac_density": "face vectors",
    "ac_density_loo": "face vectors",
    "demonorm": "face vectors",
    "falcon": "face vectors",
    "ablation/demonorm_m1": "face vectors",
    "ablation/demonorm_m1_2": "face vectors",
    "ablation/demonorm_m2": "face vectors",
    "ablation/demonorm_m2_1": "face vectors",
    "ablation/demonorm_m2_2": "face vectors",
    "ablation/density_score": "face vectors",
    "faircal": "cluster centres",
    "frappe": "cluster centres",
    "fsn": "cluster centres",
}
CARD_WORDS = ("Needs", "Emits", "Deviations")


def main() -> None:
    """Compare or rewrite the part of the page between the two marks."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true")
    check = parser.parse_args().check
    page = ROOT / "docs" / "methods.md"
    text = page.read_text(encoding="utf-8")
    head, _, rest = text.partition(BEGIN)
    _, mark, tail = rest.partition(END)
    if not mark:
        sys.exit(f"docs/methods.md lacks the marks {BEGIN} and {END}.")
    fresh = f"{head}{BEGIN}\n{table()}\n{END}{tail}"
    if check and fresh != text:
        sys.exit("docs/methods.md: the table of methods is stale. Run: python scripts/method_table.py")
    if not check:
        page.write_text(fresh, encoding="utf-8")


def table() -> str:
    """Markdown: the methods that sweeps find first, then ablations and extras."""
    folder = ROOT / "conf" / "method"
    paths = [*sorted(folder.glob("*.yaml")), *sorted(folder.glob("*/*.yaml"))]
    lines = ["| `method=` | | what it does | also needs | gives | its file has |", "|---|---|---|---|---|---|"]
    return "\n".join([*lines, *(row(path, str(path.relative_to(folder).with_suffix(""))) for path in paths)])


def row(path: Path, choice: str) -> str:
    """One method: its yaml's opening comment says what it does, its class what it needs and gives."""
    opening = path.read_text(encoding="utf-8").splitlines()[0]
    method = read_method(path)
    cls: Any = type(instantiate(method.estimator, f"{choice}.estimator"))
    card = Path(inspect.getfile(cls)).relative_to(ROOT)
    check_card(cls, card)
    dagger = " †" if "groups" in cls.needs else ""
    needs = ", ".join(sorted(cls.needs))
    gives = "probability" if cls.native_probability else "score"
    what = opening.removeprefix("#").strip()
    keeps = KEEPS.get(choice, "weights")
    return f"| [`{choice}`](../{card}) | {method.label}{dagger} | {what} | {needs} | {gives} | {keeps} |"


def check_card(cls: type, card: Path) -> None:
    """A card says what the method needs, what it emits and where it deviates."""
    text = inspect.getdoc(sys.modules[cls.__module__]) or ""
    missing = [word for word in CARD_WORDS if word not in text]
    if missing:
        sys.exit(f"{card}: the card (module docstring) does not say: {', '.join(missing)}.")


if __name__ == "__main__":
    main()
