"""The words around a table: what it shows, how it was read, from which runs, and what is missing."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property

from fairfr.core.variants import variant_text
from fairfr.metrics.catalogue import ALPHAS
from fairfr.metrics.summary import ENOUGH_FALSE_MATCHES
from fairfr.report.readings import Reading, Result
from fairfr.report.tables.book import Book, Setting
from fairfr.report.tables.grid import Section
from fairfr.report.tables.order import DENSITY_LOO, Row

SOURCE = {"synthetic": "SYNTHETIC stand-in, not faces", "files": "data files"}
READING: dict[Reading, str] = {
    "paper": "Paper reading: a pair belongs to its first image's group; methods with a probability of their own are "
    "ranked by it; the worst-group Brier score of the others is that of their raw score; GST, DemoNorm and Oracle "
    "are the variants that reproduce the paper's rows.",
    "strict": "Strict reading: a pair belongs to a group when both images do; methods are ranked by their score; "
    "Brier and ECE of methods without a probability are those of a beta calibration on top.",
}
BEST = "Bold: best method without group labels in each column, ties as printed included."
DAGGER = "† Needs group labels at inference: for reference, never bold."
TWO_FORMS = (
    "AC-Density is the form of the paper's text, in which a training pair is its own nearest neighbour; AC-Density "
    "(LOO) leaves it out. Which of the two the paper's rows are is open, so both stand here and either may be bold."
)
SHORT_KEY = 8


@dataclass(frozen=True)
class Story:
    """Which rows and settings a table has; from that follow its provenance and its notes."""

    book: Book
    rows: tuple[Row, ...]
    settings: tuple[Setting, ...]
    alphas: frozenset[str] = frozenset()
    by_group: bool = True

    @cached_property
    def used(self) -> list[tuple[Row, Result]]:
        found = ((row, self.book.result(setting, row)) for row in self.rows for setting in self.settings)
        return [(row, result) for row, result in found if result is not None]

    def caption(self, title: str, *sentences: str) -> str:
        """``title`` with the data source, then ``sentences``, then reading, folds and the number of runs."""
        runs = self.book.runs
        head = f"{title} [{SOURCE[runs.source]}]."
        tail = f"{self.book.reading.capitalize()} reading; {self._folds()}; {len(self.used)} runs, keys below."
        variant = (f"All runs with {variant_text(runs.shared)}.",) if runs.shared else ()
        return " ".join((head, *variant, *sentences, tail))

    def notes(self, sections: Iterable[Section], *extra: str) -> tuple[str, ...]:
        """What a reader must know, each in a line; the runs' keys stand last."""
        lines = [line for section in sections for line in section.lines]
        notes = [
            DAGGER if any(line.dagger for line in lines) else "",
            *extra,
            TWO_FORMS if DENSITY_LOO in self.rows else "",
            READING[self.book.reading],
            self._min_pairs() if self.by_group else "",
            self._few_negatives(),
            self._missing(),
            self._ungrouped(),
            self._outdated(),
            self._keys(),
        ]
        return tuple(note for note in notes if note)

    def _folds(self) -> str:
        counts: dict[str, set[int]] = defaultdict(set)
        for _, result in self.used:
            counts[self.book.label(result.cell[0])].add(len(result.stored["data"]["folds"]))
        each = ", ".join(f"{label} {' or '.join(map(str, sorted(n)))}" for label, n in counts.items())
        return f"mean over held-out folds ({each or 'none yet'})"

    def _min_pairs(self) -> str:
        found = {result.stored["data"].get("min_pairs") for _, result in self.used} - {None}
        fewest = " or ".join(map(str, sorted(found))) or "dataset.min_pairs (20 unless set otherwise)"
        return (
            f"A group counts in a fold where it has both labels and at least {fewest} pairs. The worst group is "
            "taken inside each fold, then averaged."
        )

    def _few_negatives(self) -> str:
        """The paper's last appendix paragraph, for the numbers at hand."""
        few: dict[str, dict[str, float]] = defaultdict(dict)
        for alpha in sorted(self.alphas):
            for _, result in self.used:
                expected = ALPHAS[alpha] * _negatives_in_a_fold(result)
                if expected < ENOUGH_FALSE_MATCHES:
                    few[alpha][self.book.label(result.cell[0])] = expected
        if not few:
            return ""
        each = "; ".join(
            f"FPR={alpha}: " + ", ".join(f"{label} {n:.1f}" for label, n in where.items())
            for alpha, where in few.items()
        )
        return (
            f"Few false matches expected in a fold (FPR x negatives < {ENOUGH_FALSE_MATCHES}; {each}): read with care."
        )

    def _missing(self) -> str:
        absent: dict[Setting, list[str]] = defaultdict(list)
        for setting in self.settings:
            for row in self.rows:
                if row not in self.book.others and self.book.result(setting, row) is None:
                    absent[setting].append(row.method(self.book.reading))
        if not absent:
            return ""
        return "Empty cells have no completed run. To fill them: " + " ; ".join(commands(absent, self.book.runs.source))

    def _ungrouped(self) -> str:
        if not self.by_group or all(result.stored["data"].get("grouping") for _, result in self.used):
            return ""
        return "Data without groups has no group numbers."

    def _outdated(self) -> str:
        passed_over = {result.cell for _, result in self.used} & self.book.runs.outdated
        if not passed_over:
            return ""
        return "Runs of older code are passed over: " + ", ".join(" x ".join(cell) for cell in sorted(passed_over))

    def _keys(self) -> str:
        by_row: dict[str, list[str]] = defaultdict(list)
        for row, result in self.used:
            by_row[row.label].append(short_key(result.stored["key"]))
        each = "; ".join(f"{label} {' '.join(keys)}" for label, keys in by_row.items())
        return f"Run keys, in column order: {each}." if each else "No runs yet."


def short_key(key: str) -> str:
    """Enough of a run's key to find its folder."""
    return key.rpartition("-")[2][:SHORT_KEY]


def _negatives_in_a_fold(result: Result) -> float:
    row = result.row("auroc", "all", "strict")
    return float("inf") if row is None or not row.get("folds_total") else row["n_diff"] / row["folds_total"]


def commands(absent: dict[Setting, list[str]], source: str) -> list[str]:
    """As few sweeps as run exactly the absent cells: equal lists of methods share a command."""
    by_dataset: dict[tuple[str, tuple[str, ...]], list[str]] = defaultdict(list)
    for (dataset, backbone), methods in absent.items():
        by_dataset[dataset, tuple(methods)].append(backbone)
    together: dict[tuple[tuple[str, ...], tuple[str, ...]], list[str]] = defaultdict(list)
    for (dataset, same_methods), backbones in by_dataset.items():
        together[tuple(backbones), same_methods].append(dataset)
    ending = " source=synthetic" if source == "synthetic" else ""
    return [
        f"python run.py -m dataset={','.join(datasets)} backbone={','.join(shared)} method={','.join(wanted)}{ending}"
        for (shared, wanted), datasets in together.items()
    ]
