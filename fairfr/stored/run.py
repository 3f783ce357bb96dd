"""A stored run under one reading, and the numbers that are looked up in it."""

from __future__ import annotations

from collections.abc import Iterator
from copy import copy
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

from fairfr.core.names import ALL
from fairfr.core.run_key import Parameters, flatten, variant_label
from fairfr.core.run_result import MetricSummary, RunResult
from fairfr.core.types import Source
from fairfr.metrics.ties import ON_PROBABILITY, ties_code
from fairfr.stored.reading import STRICT, Reading

SOURCE_LABEL: dict[Source, str] = {"synthetic": "SYNTHETIC stand-in, not faces", "files": "data files"}
Place: TypeAlias = tuple[str, str, str, str]
"""Grouping, rule, group and metric, as they are stored."""
NO_PARAMETERS = ("code", "data", "source", "results_version")
"""What a configuration says beside parameters."""


class Number(NamedTuple):
    """A metric of all pairs or of a group: its mean and std (ddof 0) over folds, and what it rests on.

    ``mean`` is None where no fold has enough pairs. ``pooled`` is of the pairs of all folds together. ``stored``: the
    place in the run that it was read from.
    """

    stored: Place
    mean: float | None
    std: float | None
    pooled: float | None
    folds: int
    folds_total: int
    n_same: int
    n_diff: int

    @classmethod
    def derived(cls, mean: float, std: float | None = None, folds: int = 0) -> Number:
        """One that is not stored but made from runs or their scores."""
        return cls(("", "", "", ""), mean, std, None, folds, folds, 0, 0)

    @classmethod
    def of(cls, row: MetricSummary) -> Number:
        return cls(
            stored=_place(row),
            mean=row["mean"],
            std=row.get("std"),
            pooled=row.get("pooled"),
            folds=row.get("folds", 0),
            folds_total=row.get("folds_total", 0),
            n_same=row.get("n_same", 0),
            n_diff=row.get("n_diff", 0),
        )


class Run:
    """A run as it is stored, and its numbers in one reading.

    ``folder`` is its run folder, if it is at hand. ``config_dirs``: folders that name methods and protocols beside
    ours, whose code it is compared with. ``variant``: parameters that set it apart where it is shown beside runs of the
    same method. ``row``: the label of the row that shows it.
    """

    def __init__(
        self,
        result: RunResult,
        folder: Path | None = None,
        reading: Reading = STRICT,
        config_dirs: tuple[Path, ...] = (),
    ) -> None:
        self.result = result
        self.folder = folder
        self.reading = reading
        self.config_dirs = config_dirs
        self.variant: Parameters = {}
        self.row = ""

    def read(self, reading: Reading) -> Run:
        """The same run in another reading."""
        other = copy(self)
        other.reading = reading
        return other

    @cached_property
    def _rows(self) -> dict[Place, MetricSummary]:
        return {_place(row): row for row in self.result.metrics}

    @property
    def cell(self) -> tuple[str, str, str]:
        """Data set, backbone and method; a variant is a method of its own."""
        method = variant_label(self.result.method.id, self.variant)
        return self.result.dataset.id, self.result.backbone.id, method

    @property
    def label(self) -> str:
        """The method as a table calls it: ``AC-Density (k=500)``."""
        return variant_label(self.result.method.label, self.variant)

    @property
    def differs(self) -> Parameters:
        """The parameters that are not as in the yaml."""
        return self.result.differs

    @cached_property
    def parameters(self) -> Parameters:
        """Every parameter by its name on the command line."""
        configuration = self.result.identity
        chosen = {key: value for key, value in configuration.items() if key not in NO_PARAMETERS}
        return {**flatten(chosen), **self.differs}

    def value(self, key: str) -> Any:
        """What the run is: a ``dataset``, ``backbone``, ``setting`` (both), ``method``, ``row`` or ``protocol``.

        Anything else is a parameter, named by the last parts of its key (``size`` or ``splitter.size``); None where it
        has no such parameter.
        """
        dataset, backbone, method = self.cell
        own = {
            "dataset": dataset,
            "backbone": backbone,
            "setting": (dataset, backbone),
            "method": method,
            "row": self.row,
            "protocol": self.result.protocol,
        }
        if key in own:
            return own[key]
        return next((value for name, value in self.parameters.items() if f".{name}".endswith(f".{key}")), None)

    @property
    def gives_probability(self) -> bool:
        """Whether its method has a probability of its own; else its score is calibrated after it."""
        return self.result.method.native_probability

    @property
    def has_raw_brier(self) -> bool:
        """Whether the Brier score of its groups is that of the raw score."""
        return self.reading.raw_group_brier and not self.gives_probability

    @property
    def needs_groups(self) -> bool:
        return "groups" in self.result.method.needs

    @property
    def groups(self) -> tuple[str, ...]:
        """The groups that the data set's own grouping tells apart; none if it has no grouping."""
        data = self.result.data
        return data.groups.get(data.grouping or "", ())

    @property
    def has_groups(self) -> bool:
        """Whether its data has a grouping."""
        return bool(self.result.data.grouping)

    @property
    def n_folds(self) -> int:
        """How many held-out parts its means are over: the protocol's splits, which need not be the data's folds."""
        number = self._stored("auroc", ALL)
        if number is not None and number.folds_total:
            return number.folds_total
        return len(self.result.data.folds)

    def number(self, metric: str, group: str = ALL, grouping: str | None = None) -> Number | None:
        """A metric of ``all`` pairs, the ``worst`` group, the ``gap`` or a named group; None where it is not stored.

        ``grouping``: another one than the data set's own.
        """
        return self._stored(self.reading.stored_metric(metric, group, self.gives_probability), group, grouping)

    def numbers(self) -> Iterator[Number]:
        """Every number of the run that this reading takes: of all pairs, and of groups by its pair rule."""
        for (_, rule, _, _), row in self._rows.items():
            if rule in (ALL, self.reading.rule):
                yield Number.of(row)

    def shown_metric(self, stored: str, group: str) -> str:
        """What this reading calls a stored metric; one in whose place it takes another is ``auroc_by_score``."""
        return self.reading.shown_metric(stored, group, self.gives_probability)

    def mean(self, metric: str, group: str = ALL) -> float | None:
        """Its mean over folds; None where there is no number."""
        number = self.number(metric, group)
        if number is None:
            return None
        return number.mean

    def mean_by_score(self, metric: str, group: str = ALL) -> float | None:
        """As ``mean``, of the score where the reading takes the probability."""
        number = self._stored(metric, group)
        if number is None:
            return None
        return number.mean

    def by_group(self, metric: str) -> dict[str, float]:
        """The fold mean of each group that has one, in the order of the data's levels."""
        means = {group: self.mean(metric, group) for group in self.groups}
        return {group: mean for group, mean in means.items() if mean is not None and mean == mean}

    def is_tied(self, alpha: str) -> bool:
        """Whether more impostors share the highest value of a fold than this FPR allows (fairfr.metrics.ties)."""
        metric = f"tpr_at_fpr_{alpha}"
        codes = {ties_code(metric)}  # of the score; a tie there is one of the probability too
        if self.reading.ranks_by_probability and self.gives_probability:
            codes.add(ties_code(metric + ON_PROBABILITY))
        return any(finding.code in codes for finding in self.result.metric_warnings)

    def _stored(self, metric: str, group: str, grouping: str | None = None) -> Number | None:
        place: Place = (grouping or self.result.data.grouping or "", self.reading.rule, group, metric)
        if group == ALL:
            place = (ALL, ALL, ALL, metric)
        row = self._rows.get(place)
        if row is None:
            return None
        return Number.of(row)


def _place(row: MetricSummary) -> Place:
    return row["grouping"], row["rule"], row["group"], row["metric"]
