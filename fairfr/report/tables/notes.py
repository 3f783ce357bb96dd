"""The words around a table: how it was read, from which runs, and what is missing."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from fairfr.core.names import ALL, ENOUGH_FALSE_MATCHES
from fairfr.core.run_key import variant_text
from fairfr.core.text import plural
from fairfr.metrics.fpr_levels import ALL_FPR_LEVELS
from fairfr.report.tables.grid import TIED_WORDS, UNDEFINED, Grid, Missing, Note, Section, number_entry
from fairfr.report.tables.missing_runs import experiment_command, missing_run_commands
from fairfr.report.tables.places import Place
from fairfr.stored.aside import LeftAside
from fairfr.stored.order import MethodRow, Setting
from fairfr.stored.results import Results
from fairfr.stored.run import Run

BEST = "Bold: best method without group labels in each column, including ties after rounding."
DAGGER = "† Needs group labels at inference: for reference, never bold."
NOT_RUN = "Methods without a completed run here"
EMPTY = "Empty entries have no completed run"
SHORT_KEY = 8
DIGITS = 3


@dataclass(frozen=True)
class RunsOfTable:
    """Which rows and settings a table has, and which ``numbers``; from that follow its caption and its notes.

    ``wanted``: the rows that a full table would have, if they are not those that it has. ``exact``: a plain method does
    not fill the row of the paper's variant (comparisons with the paper).
    """

    results: Results
    rows: tuple[MethodRow, ...]
    settings: tuple[Setting, ...]
    numbers: Sequence[Place] = ()
    wanted: tuple[MethodRow, ...] = ()
    exact: bool = False

    def run(self, setting: Setting, row: MethodRow) -> Run | None:
        """The run that fills a row."""
        if self.exact:
            return self.results.exact(setting, row.id)
        return self.results.find({"setting": setting, "row": row.label})

    @property
    def alphas(self) -> list[str]:
        """The false positive rates on which its numbers hang."""
        found = {place.quantity.alpha for place in self.numbers if place.quantity is not None}
        return sorted(alpha for alpha in found if alpha is not None)

    @property
    def is_by_group(self) -> bool:
        """Whether some of its numbers are of groups; so it is taken to be where it says of none what they are."""
        groups = {place.quantity.group for place in self.numbers if place.quantity is not None}
        return groups != {ALL}

    @property
    def has_group_brier(self) -> bool:
        """Whether one is a Brier score of groups, in the paper's reading that of the raw score for some."""
        quantities = [place.quantity for place in self.numbers if place.quantity is not None]
        return any(quantity.metric == "brier" and quantity.group != ALL for quantity in quantities)

    @property
    def is_pooled(self) -> bool:
        """Whether its numbers are over all held-out pairs together, not means over folds."""
        return any(place.form.pooled for place in self.numbers)

    @cached_property
    def used(self) -> list[tuple[MethodRow, Run]]:
        found = []
        for row in self.rows:
            for setting in self.settings:
                run = self.run(setting, row)
                if run is not None:
                    found.append((row, run))
        return found

    def annotate(self, grid: Grid, *, shrink: bool = True) -> Grid:
        """The table with its source, caption and notes; its own sentences and notes come first.

        ``shrink``: where no run fills it, it is one line that says what would.
        """
        source = self.results.source
        if shrink and not (self.used and grid.sections):
            return replace(grid, spanners=(), sections=(), notes=(self._unfilled(),), about=(), source=source)
        about = (*filter(None, grid.about), *self._about())
        return replace(grid, notes=self.notes(grid.sections, grid.notes), about=about, source=source)

    def _about(self) -> Iterator[str]:
        shared = self.results.shared
        if shared:
            yield f"All runs with {variant_text(shared)}."
        if not self.used:
            yield "No run yet on the paper's data sets and backbones."
            return
        yield f"{self.results.reading.name.capitalize()} convention; {self._folds()}; {plural(len(self.used), 'run')}."
        if self.has_group_brier:
            yield from raw_brier(self.used)

    def _unfilled(self) -> Note:
        given = ""
        if self.results.source == "files":
            given = ", given their vectors"
        text = f"none of the paper's {len(self.settings)} settings has been run. To fill it{given}:"
        experiment = self.results.order.experiments.get(self.settings)
        typed: tuple[str, ...] = ()
        if experiment is not None:
            typed = (experiment_command(self.results, experiment, self.settings[0]),)
        return Note("unfilled", text, commands=typed, for_print=False)

    def notes(self, sections: Sequence[Section], extra: Sequence[Note] = ()) -> tuple[Note, ...]:
        """What a reader must know, each in a line; the runs' keys stand last."""
        absent: set[Missing] = set()
        has_dagger = False
        for section in sections:
            for line in section.lines:
                has_dagger = has_dagger or line.dagger
                absent.update(entry.missing for entry in line.entries if not entry.text)
        reading = self.results.reading
        found: list[Note | None] = []
        if has_dagger:
            found.append(Note("dagger", DAGGER))
        found.extend(extra)
        said = (self.results.order.row_notes.get(row.id) for row in self.rows)
        found.extend(Note("row", text) for text in said if text is not None)
        found.append(Note("reading", reading.words, f"{reading.name.capitalize()} convention"))
        if not self.exact:
            found.append(self._replaced())
        if self.is_by_group and not self.is_pooled:
            found.append(self._few_pairs("too few pairs" in absent))
        if "no groups" in absent:
            found.append(Note("no_groups", f"{UNDEFINED}: data without groups has no group numbers."))
        if not self.is_pooled:
            found.append(self._few_negatives())
        found += [self._ties(), self._missing()]
        found += [*self._not_shown(), self._stale()]
        if self.used:
            found.append(self._keys())
        return tuple(note for note in found if note is not None)

    def _folds(self) -> str:
        counts: dict[str, set[int]] = defaultdict(set)
        for _, run in self.used:
            counts[self.results.label(run.cell[0])].add(run.n_folds)
        each = ", ".join(f"{label} {' or '.join(map(str, sorted(n)))}" for label, n in counts.items())
        if self.is_pooled:
            return f"all held-out pairs together (folds: {each})"
        return f"mean over held-out folds ({each})"

    def _replaced(self) -> Note | None:
        rows: dict[MethodRow, list[Setting]] = defaultdict(list)
        for row, run in self.used:
            if run.cell[2] != row.method(self.results.reading):
                rows[row].append(run.cell[:2])
        if not rows:
            return None
        each = ", ".join(self._replacement(row, where) for row, where in rows.items())
        return Note(
            "replaced", f"{each}; the paper's row is another variant.", "Filled by the plain method", severity="warning"
        )

    def _replacement(self, row: MethodRow, where: Sequence[Setting]) -> str:
        filled = [setting for setting in self.settings if self.run(setting, row) is not None]
        at = ""
        if not set(filled) <= set(where):
            names = [self.results.name(setting) for setting in where]
            at = f" on {', '.join(names)}"
        return f"{row.label} is {row.strict}{at} ({row.paper} has not run)"

    def _few_pairs(self, some: bool) -> Note:
        smallest = [run.result.data.min_pairs for _, run in self.used]
        found = {min_pairs for min_pairs in smallest if min_pairs is not None}
        fewest = " or ".join(map(str, sorted(found))) or "dataset.min_pairs (20 unless set otherwise)"
        dash = ""
        if some:
            dash = f" {UNDEFINED}: too few pairs in every fold."
        return Note(
            "few_pairs",
            f"A group counts in a fold where it has both labels and at least {fewest} pairs.{dash} The worst group is "
            "taken inside each fold, then averaged.",
        )

    def _few_negatives(self) -> Note | None:
        """The paper's last appendix paragraph, for the numbers at hand."""
        few: dict[str, dict[str, float]] = defaultdict(dict)
        for alpha in self.alphas:
            for _, run in self.used:
                expected = ALL_FPR_LEVELS[alpha] * _negatives_in_a_fold(run)
                if expected < ENOUGH_FALSE_MATCHES:
                    few[alpha][self.results.label(run.cell[0])] = expected
        if not few:
            return None
        each = []
        for alpha, by_dataset in few.items():
            counts = [f"{label} {expected:.1f}" for label, expected in by_dataset.items()]
            each.append(f"FPR={alpha}: {', '.join(counts)}")
        text = (
            f"Few false matches expected in a fold (FPR x negatives < {ENOUGH_FALSE_MATCHES}; {'; '.join(each)}): "
            "read with care."
        )
        return Note("few_negatives", text, severity="warning")

    def _ties(self) -> Note | None:
        """Rates that more impostors reach than they allow, because these share the highest value."""
        each = []
        for alpha in self.alphas:
            tied = [self._tie(row, run, alpha) for row, run in self.used if run.is_tied(alpha)]
            if tied:
                each.append(f"FPR={alpha}: {', '.join(tied)}")
        if not each:
            return None
        return Note("ties", f"{TIED_WORDS} TPR of all pairs at {'; '.join(each)}.", severity="warning")

    def _tie(self, row: MethodRow, run: Run, alpha: str) -> str:
        metric = f"tpr_at_fpr_{alpha}"
        where = self.results.name(run.cell[:2])
        value = number_entry(run.mean(metric), DIGITS).text
        by_score = number_entry(run.mean_by_score(metric), DIGITS).text
        instead = ""
        if by_score != value:
            instead = f", by the score {by_score}"
        return f"{row.label} on {where} {value}{instead}"

    def _missing(self) -> Note | None:
        wanted = [row for row in self.wanted or self.rows if row not in self.results.others]
        absent = {}
        for setting in self.settings:
            rows = [row for row in wanted if self.run(setting, row) is None]
            absent[setting] = [row.method(self.results.reading) for row in rows]
        typed = missing_run_commands(absent, self.results)
        if not typed:
            return None
        lead = NOT_RUN if self.wanted else EMPTY
        return Note("missing", lead=f"{lead}. To fill them", commands=typed, for_print=False)

    def _not_shown(self) -> Iterator[Note]:
        """Of the cells of this table; what was not asked for is said once on the page."""
        cells = {run.cell for _, run in self.used}
        for one in self.results.aside:
            here = one.within(cells)
            if here is not None:
                yield replace(not_shown([here], "fairfr tables"), severity="warning")

    def _stale(self) -> Note | None:
        stale = {run.cell for _, run in self.used} & self.results.stale
        if not stale:
            return None
        each = ", ".join(" x ".join(cell) for cell in sorted(stale))
        return Note("stale", each, "Made by other code than is installed now", severity="warning", for_print=False)

    def _keys(self) -> Note:
        by_row: dict[str, list[str]] = defaultdict(list)
        for row, run in self.used:
            by_row[row.label].append(short_key(run.result.key))
        each = "; ".join(f"{label} {' '.join(keys)}" for label, keys in by_row.items())
        return Note("keys", f"{each}.", "Run keys, in column order", for_print=False)


def not_shown(aside: Iterable[LeftAside], command: str) -> Note:
    """Which runs are not shown, a sentence for each reason, and with which options the command shows them."""
    without_command = []
    said = []
    commands = []
    for one in aside:
        if one.options is None:
            without_command.append(one.said)
        else:
            said.append(one.said)
            commands.append(f"{command} {one.options}".rstrip())
    if commands:
        said.append("To show them:")
    return Note("not_shown", " ".join([*without_command, *said]), "Not shown", tuple(commands), for_print=False)


def raw_brier(used: Iterable[tuple[MethodRow, Run]]) -> Iterator[str]:
    """A caption's sentence, where a column has Brier scores of raw scores beside those of probabilities."""
    labels = dict.fromkeys(row.label for row, run in used if run.has_raw_brier)
    if labels:
        yield (
            f"Brier scores of groups: of the raw score, which is not a probability, for {', '.join(labels)}; of the "
            "probability for all others. The two cannot be compared."
        )


def short_key(key: str) -> str:
    """Enough of a run's key to find its folder."""
    return key.rpartition("-")[2][:SHORT_KEY]


def _negatives_in_a_fold(run: Run) -> float:
    number = run.number("auroc")
    if number is None or not number.folds_total:
        return float("inf")
    return number.n_diff / number.folds_total
