"""The paper's printed numbers and those of our runs, behind one interface: what claims and comparisons ask for."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Protocol

from fairfr.paper.order import BACKBONES, DATASETS, GROUP_AWARE, ROWS, SCORE_ONLY
from fairfr.paper.printed import printed_headline, printed_study
from fairfr.paper.studies import STUDIES
from fairfr.report.quantity import LIFTED, Quantity
from fairfr.report.run import Reading, Run
from fairfr.report.runs import SelectedRuns
from fairfr.report.study_runs import StudyRuns
from fairfr.report.study_table import PrintedRow
from fairfr.report.tables.columns import LiftedGroups, group_means, group_names, lifted_groups
from fairfr.report.tables.grid import number_entry
from fairfr.report.tables.order import BASELINE

DIGITS = 3
GROUP_DIGITS = 2  # of percentages, as the paper prints per-group values


class MissingNumberError(LookupError):
    """A number that a claim needs does not exist; the claim stays open."""


class Numbers(Protocol):
    """Values as they are printed. Methods are the ids of order.ROWS.

    ``exact``: figures in the text must be met to the digit (the paper's own tables), not only in kind (our runs).
    """

    exact: bool
    absent: str

    def value(self, quantity: Quantity, dataset: str, backbone: str, method: str) -> float | None:
        """The printed value, K/N as a fraction; None where there is none."""

    def by_group(self, metric: str, dataset: str, backbone: str, method: str) -> dict[str, float]:
        """The printed value of each group, in percent; empty where there is none."""

    def negatives(self, dataset: str) -> tuple[float, float] | None:
        """Negatives in a test fold, and in a test fold of one group, as means; None where it is unknown."""

    def parameters(self) -> int | None:
        """Parameters of the AC-MLP on 512-d embeddings."""

    def study(self, name: str) -> tuple[PrintedRow, ...]:
        """The rows of an appendix study; empty where there are none."""


class PrintedNumbers:
    """What the paper's tables and text say."""

    exact = True
    absent = "not printed"

    def __init__(self) -> None:
        self._cells = {(p.quantity, p.dataset, p.backbone, p.method): p.value for p in printed_headline()}

    def value(self, quantity: Quantity, dataset: str, backbone: str, method: str) -> float | None:
        return self._cells.get((quantity, dataset, backbone, method))

    def by_group(self, metric: str, dataset: str, backbone: str, method: str) -> dict[str, float]:
        """Only two values are printed, in the text: the per-group tables are missing from the paper's source."""
        printed = {"baseline": 94.19, "ac_density": 96.02}
        if (metric, dataset, backbone) == ("auroc", "rfw", "magface") and method in printed:
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


class RunNumbers:
    """What our runs say under a reading, rounded as the tables print it."""

    exact = False
    absent = "missing run"

    def __init__(
        self, runs: SelectedRuns, reading: Reading, studies: Mapping[str, StudyRuns] = MappingProxyType({})
    ) -> None:
        self._runs = runs
        self._studies = studies
        self._reading: Reading = reading
        self._method = {row.id: row.method(reading) for row in ROWS}

    def value(self, quantity: Quantity, dataset: str, backbone: str, method: str) -> float | None:
        result = self.result(dataset, backbone, method)
        if result is None:
            return None
        if quantity.group == LIFTED:
            found = self.level(quantity, dataset, backbone, method)
            if found is None:
                return None
            return found.lifted / found.groups
        mean = result.mean(quantity.metric, quantity.group, self._reading)
        if mean is None:
            return None
        return round(mean, DIGITS)

    def instead_of_ties(self, quantity: Quantity, dataset: str, backbone: str, method: str) -> str:
        """What the score gives where ties of the probability decide the value, in words; "" where they do not."""
        result = self.result(dataset, backbone, method)
        if result is None or quantity.alpha is None or not result.is_tied(quantity.alpha, self._reading):
            return ""
        value = number_entry(result.mean(quantity.metric, quantity.group, self._reading), DIGITS).text
        by_score = number_entry(result.mean_by_score(quantity.metric, quantity.group, self._reading), DIGITS).text
        if by_score == value:
            return " (ties)"
        return f" (ties; by score {by_score})"

    def level(self, quantity: Quantity, dataset: str, backbone: str, method: str) -> LiftedGroups | None:
        """K and N of the worst groups lifted; None without both runs or without a group."""
        baseline, result = (self.result(dataset, backbone, m) for m in (BASELINE.id, method))
        if baseline is None or result is None:
            return None
        return lifted_groups(result, baseline, quantity.metric, self._reading)

    def by_group(self, metric: str, dataset: str, backbone: str, method: str) -> dict[str, float]:
        result = self.result(dataset, backbone, method)
        if result is None:
            return {}
        means = group_means(result, metric, self._reading)
        return {group: round(100 * mean, GROUP_DIGITS) for group, mean in means.items()}

    def negatives(self, dataset: str) -> tuple[float, float] | None:
        for backbone in BACKBONES:
            result = self.result(dataset, backbone, BASELINE.id)
            if result is None:
                continue
            row = result.row("auroc", "all", self._reading)
            if row is None:
                continue
            counts = [result.row("auroc", group, self._reading) for group in group_names(result)]
            by_group = [count["n_diff"] for count in counts if count is not None]
            smallest = min(by_group, default=float("nan"))
            folds = row["folds_total"]
            return row["n_diff"] / folds, smallest / folds
        return None

    def parameters(self) -> int | None:
        for dataset in DATASETS:
            for backbone in BACKBONES:
                result = self.result(dataset, backbone, "ac_mlp")
                if result is not None and result.result.data.dimensions == 512:
                    reports = result.result.fit_report.values()
                    return next((int(r["parameters"]) for r in reports if "parameters" in r), None)
        return None

    def study(self, name: str) -> tuple[PrintedRow, ...]:
        """Numbers of the study's own runs."""
        runs = self._studies.get(name)
        if runs is None:
            return ()
        return next(study for study in STUDIES if study.name == name).as_printed(runs)

    def result(self, dataset: str, backbone: str, method: str) -> Run | None:
        """The run that this reading takes for a row of the paper's tables (or for any other method)."""
        return self._runs.get(dataset, backbone, self._method.get(method, method))


def require_number(numbers: Numbers, quantity: Quantity, dataset: str, backbone: str, method: str) -> float:
    """A value that the claim cannot do without."""
    value = numbers.value(quantity, dataset, backbone, method)
    if value is None:
        label = next((row.label for row in (*ROWS, *SCORE_ONLY) if row.id == method), method)
        where = f"{DATASETS[dataset]} {BACKBONES[backbone]}"
        raise MissingNumberError(f"{numbers.absent}: {quantity.label} of {label} on {where}")
    return value


GROUP_AWARE_IDS = frozenset(row.id for row in GROUP_AWARE)
