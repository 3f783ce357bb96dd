"""The paper's printed numbers, those of our runs, and those with other people drawn, behind one interface.

Claims and comparisons ask here. A claim that is judged on each draw of people has an interval.
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import product
from types import MappingProxyType

import numpy as np

from fairfr.core.types import F64
from fairfr.numerics.bootstrap import BOOTSTRAP_METRICS
from fairfr.paper.order import BACKBONES, DATASETS, ORDER, ROWS, SCORE_ONLY
from fairfr.paper.printed import DIGITS, printed_headline, printed_study
from fairfr.paper.studies import STUDIES
from fairfr.report.quantity import LIFTED, NO_IMPROVEMENT, Quantity
from fairfr.report.study import PrintedRow
from fairfr.report.tables.grid import Entry
from fairfr.report.tables.places import Place, entry
from fairfr.report.uncertainty.setting_bootstrap import BootstrapCache, DrawnRun, SettingBootstrap
from fairfr.stored.order import BASELINE, Setting
from fairfr.stored.results import Results

GROUP_DIGITS = 2  # of percentages, as the paper prints per-group values


class MissingNumberError(LookupError):
    """A number that a claim needs does not exist; the claim stays open."""


class Numbers:
    """Values as they are printed; what a source of them does not have is absent. Methods are the ids of order.ROWS.

    ``exact``: figures in the text must be met to the digit (the paper's own tables), not only in kind (our runs).
    ``absent``: what to say of a number that is not there.
    """

    exact = False
    absent = ""

    def value(self, quantity: Quantity, setting: Setting, method: str) -> float | None:
        """The printed value, K/N as a fraction; None where there is none."""
        return None

    def required(self, quantity: Quantity, setting: Setting, method: str) -> float:
        """A value that the claim cannot do without."""
        value = self.value(quantity, setting, method)
        if value is None:
            label = next((row.label for row in (*ROWS, *SCORE_ONLY) if row.id == method), method)
            where = f"{DATASETS[setting[0]]} {BACKBONES[setting[1]]}"
            raise MissingNumberError(f"{self.absent}: {quantity.label} of {label} on {where}")
        return value

    def by_group(self, metric: str, setting: Setting, method: str) -> dict[str, float]:
        """The printed value of each group, in percent; empty where there is none."""
        return {}

    def negatives(self, dataset: str) -> tuple[float, float] | None:
        """Negatives in a test fold, and in a test fold of one group, as means; None where it is unknown."""
        return None

    def parameters(self) -> int | None:
        """Parameters of the AC-MLP on 512-d embeddings."""
        return None

    def study(self, name: str) -> tuple[PrintedRow, ...]:
        """The rows of an appendix study; empty where there are none."""
        return ()

    def required_study(self, name: str) -> tuple[PrintedRow, ...]:
        """Rows that the claim cannot do without."""
        rows = self.study(name)
        if not rows:
            raise MissingNumberError(f"{self.absent}: the {name.replace('_', ' ')} study")
        return rows


class PrintedNumbers(Numbers):
    """What the paper's tables and text say."""

    exact = True
    absent = "not printed"

    def __init__(self) -> None:
        self._cells = {(p.quantity, p.setting, p.method): p.value for p in printed_headline()}

    def value(self, quantity: Quantity, setting: Setting, method: str) -> float | None:
        return self._cells.get((quantity, setting, method))

    def by_group(self, metric: str, setting: Setting, method: str) -> dict[str, float]:
        """Only two values are printed, in the text: the per-group tables are missing from the paper's source."""
        printed = {"baseline": 94.19, "ac_density": 96.02}
        if (metric, setting) == ("auroc", ("rfw", "magface")) and method in printed:
            return {"asian": printed[method]}
        return {}

    def negatives(self, dataset: str) -> tuple[float, float] | None:
        """From the text: 24,000 RFW pairs in 10 folds and 4 groups, 6,000 LFW pairs in 10 folds; half are negatives."""
        return {"rfw": (1200.0, 300.0), "lfw": (300.0, float("nan"))}.get(dataset)

    def parameters(self) -> int | None:
        inputs = 512 + 1
        hidden = 1024
        return (inputs + 1) * hidden + (hidden + 1)

    def study(self, name: str) -> tuple[PrintedRow, ...]:
        return printed_study(name)


def our_entry(results: Results, quantity: Quantity, setting: Setting, method: str) -> Entry:
    """As a table prints the number of the run that a row of the paper asks for; empty where there is none."""
    run = results.exact(setting, method)
    if run is None:
        return Entry()
    return entry(run, Place("", quantity=quantity), results.exact(setting, BASELINE.id))


class OurNumbers(Numbers):
    """What our runs say under a reading, rounded as the tables print it."""

    absent = "missing run"

    def __init__(self, results: Results, studies: Mapping[str, Results] = MappingProxyType({})) -> None:
        self._results = results
        # several claims ask for one study, whose numbers may be read from stored scores
        self._studies = {one.name: one.as_printed(studies[one.name]) for one in STUDIES if one.name in studies}

    def value(self, quantity: Quantity, setting: Setting, method: str) -> float | None:
        return our_entry(self._results, quantity, setting, method).printed

    def by_group(self, metric: str, setting: Setting, method: str) -> dict[str, float]:
        run = self._results.exact(setting, method)
        if run is None:
            return {}
        return {group: round(100 * mean, GROUP_DIGITS) for group, mean in run.by_group(metric).items()}

    def negatives(self, dataset: str) -> tuple[float, float] | None:
        for backbone in BACKBONES:
            run = self._results.exact((dataset, backbone), BASELINE.id)
            if run is None:
                continue
            whole = run.number("auroc")
            if whole is None:
                continue
            numbers = [run.number("auroc", group) for group in run.groups]
            by_group = [number.n_diff for number in numbers if number is not None]
            smallest = min(by_group, default=float("nan"))
            return whole.n_diff / whole.folds_total, smallest / whole.folds_total
        return None

    def parameters(self) -> int | None:
        for setting in product(DATASETS, BACKBONES):
            run = self._results.exact(setting, "ac_mlp")
            if run is not None and run.result.data.dimensions == 512:
                reports = run.result.fit_report.values()
                return next((int(r["parameters"]) for r in reports if "parameters" in r), None)
        return None

    def study(self, name: str) -> tuple[PrintedRow, ...]:
        """Numbers of the study's own runs."""
        return self._studies.get(name, ())


class DrawnNumbers(Numbers):
    """Numbers of one ``draw`` at a time: the fold mean, moved by as much as the pooled value moves in that draw.

    Data sets with the same people (one list of pairs, several backbones) share their draws, so that differences
    between methods and backbones are paired. Only what the bootstrap measures is there; all else is absent.
    """

    absent = "no draws give"

    def __init__(self, bootstraps: BootstrapCache) -> None:
        self._bootstraps = bootstraps
        self._values: dict[tuple[Quantity, Setting, str], F64 | None] = {}
        self._groups: dict[tuple[str, Setting, str], dict[str, F64]] = {}
        self.draw = 0
        self.draws = 0
        self.restart()

    def restart(self) -> None:
        """Before a claim is judged: ``draws`` becomes the number that all values asked for since then have."""
        self.draw = 0
        self.draws = self._bootstraps.draws

    def value(self, quantity: Quantity, setting: Setting, method: str) -> float | None:
        key = (quantity, setting, method)
        if key not in self._values:
            self._values[key] = self._drawn(quantity, setting, method)
        drawn = self._values[key]
        if drawn is None:
            return None
        self.draws = min(self.draws, len(drawn))
        return float(drawn[self.draw])

    def by_group(self, metric: str, setting: Setting, method: str) -> dict[str, float]:
        key = (metric, setting, method)
        if key not in self._groups:
            means: dict[str, F64] = {}
            if metric in BOOTSTRAP_METRICS:
                found = self._bootstraps.of(setting)
                if found is not None:
                    means = _group_draws(found, metric, method)
            self._groups[key] = {group: np.round(100 * drawn, GROUP_DIGITS) for group, drawn in means.items()}
        groups = self._groups[key]
        self.draws = min([self.draws, *(len(drawn) for drawn in groups.values())])
        return {group: float(drawn[self.draw]) for group, drawn in groups.items() if not np.isnan(drawn[self.draw])}

    def _drawn(self, quantity: Quantity, setting: Setting, method: str) -> F64 | None:
        found = self._bootstraps.of(setting)
        if found is None or quantity.metric not in BOOTSTRAP_METRICS:
            return None
        if quantity.group == LIFTED:
            return _levels(found, quantity.metric, method)
        one = _exact(found, method)
        if one is None:
            return None
        mean = one.run.mean(quantity.metric, quantity.group)
        if mean is None:
            return None
        pooled, drawn = one.drawn(quantity.metric, quantity.group)
        moved: F64 = np.round(mean + drawn - pooled, DIGITS)
        if np.isnan(moved).any():
            return None
        return moved


def _exact(found: SettingBootstrap, id: str) -> DrawnRun | None:
    """The run that the reading takes for this id; no plain method in place of a paper's variant."""
    return found.exact(ORDER.method(id, found.first.reading))


def _group_draws(found: SettingBootstrap, metric: str, method: str) -> dict[str, F64]:
    """Each group's fold mean in each draw, (draws,); empty without this method's scores."""
    one = _exact(found, method)
    if one is None:
        return {}
    moved = {}
    for group in found.groups:
        mean = one.run.mean(metric, group)
        if mean is not None:
            pooled, drawn = one.drawn(metric, group)
            moved[group] = mean + drawn - pooled
    return moved


def _levels(found: SettingBootstrap, metric: str, method: str) -> F64 | None:
    """K/N in each draw, (draws,)."""
    before, after = (_group_draws(found, metric, m) for m in (BASELINE.id, method))
    if not before or not after:
        return None
    baseline = np.stack(list(before.values()), axis=1)
    ours = np.stack([after.get(group, np.full(len(baseline), np.nan)) for group in before], axis=1)
    worst_first = np.argsort(baseline, axis=1, kind="stable")
    lifted = np.take_along_axis(ours > baseline + NO_IMPROVEMENT, worst_first, axis=1)
    share: F64 = np.cumprod(lifted, axis=1).sum(axis=1) / len(before)
    return share
