"""What ``fairfr.compare`` found: numbers, probabilities, differences, thresholds, figures and sentences."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeAlias, get_args

import numpy as np
import numpy.typing as npt

from fairfr.comparing.difference_frame import difference_rows
from fairfr.core.errors import ConfigError, DataError, did_you_mean
from fairfr.core.extras import explain_missing_extra
from fairfr.core.findings import Finding
from fairfr.core.text import escape_control_chars
from fairfr.core.types import VerificationSet
from fairfr.library.model import Model
from fairfr.library.threshold import On, Threshold, ThresholdRequest, find_threshold
from fairfr.library.threshold_text import threshold_text
from fairfr.report.tables.results_table import results_table
from fairfr.report.uncertainty.decision import SAFE
from fairfr.report.uncertainty.decision_table import decision_sentences, differences
from fairfr.report.uncertainty.setting_bootstrap import DrawnRun, SettingBootstrap, bootstrap_runs
from fairfr.stored.frame import NOT_SHOWN, Wanted, as_list, tidy_frame
from fairfr.stored.order import BASELINE, MethodRow
from fairfr.stored.reading import STRICT
from fairfr.stored.scores import ScoresInMemory

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

AxesArray: TypeAlias = npt.NDArray[np.object_]
DRAWS = 300
PANEL = (3.4, 3.9)
"""Inches of one panel of a new figure."""


@dataclass(frozen=True, slots=True)
class FoundThreshold:
    """A threshold on held-out pairs. ``print`` shows the page of ``fairfr calibrate threshold``.

    Attributes
    ----------
    value : float or None
        Accept from it upwards: it has the wanted false match rate on these pairs, which new pairs may exceed. None
        where too many impostors share the highest value.
    confident : float or None
        Keeps the rate with the wanted confidence; None where there are too few pairs for any.
    rates : dict
        Both with the error rates of all pairs and of each group, and their intervals, as
        ``fairfr calibrate threshold --json`` prints them.
    """

    value: float | None
    confident: float | None
    rates: Threshold = field(repr=False)

    def __str__(self) -> str:
        return threshold_text(self.rates, has_saved_model=False)


@dataclass(frozen=True, repr=False)
class ComparedMethods:
    """Methods on the same held-out pairs. ``print`` shows the table and the sentences that decide.

    Attributes
    ----------
    data : VerificationSet
        The pairs, as methods saw them.
    runs : mapping of str to ScoresInMemory
        The held-out scores of each method by its name, with its result.
    findings : tuple of Finding
        What to know of the data, the folds and the methods.
    ids : mapping of str to str
        Which of fairfr's methods a name stands for.
    """

    data: VerificationSet
    runs: Mapping[str, ScoresInMemory]
    findings: tuple[Finding, ...]
    ids: Mapping[str, str]
    _drawn: dict[int, SettingBootstrap] = field(default_factory=dict, compare=False)

    # -- tables --------------------------------------------------------------------------------------------------------

    def frame(
        self, metrics: str | Sequence[str] | None = None, groups: str | Sequence[str] | None = None
    ) -> pd.DataFrame:
        """The numbers: one row for each method, group and metric, with the columns of ``fairfr.results``.

        Parameters
        ----------
        metrics, groups : str or sequence of str, optional
            Only these, such as ``metrics=["auroc"], groups=["all", "worst"]``; None: all.

        Returns
        -------
        pandas.DataFrame
            ``mean`` and ``std`` are over folds, ``pooled`` is of all held-out pairs together.
        """
        with explain_missing_extra("compare(...).frame"):
            wanted = Wanted(as_list(metrics), as_list(groups), every=True)
            found = tidy_frame([scores.run for scores in self.runs.values()], wanted)
        wanted.check()
        found["current"] = found["current"].fillna(True)  # computed just now
        return found.drop(columns=NOT_SHOWN)

    def scores(self) -> pd.DataFrame:
        """The held-out probabilities, a column for each method.

        Returns
        -------
        pandas.DataFrame
            ``pair`` (position), ``fold``, ``same``, and a column for each name of the methods.
        """
        with explain_missing_extra("compare(...).scores"):
            import pandas as pd

        first = self._first
        codes, labels = first.words("split")
        probabilities = {name: scores.probability for name, scores in self.runs.items()}
        columns = {"pair": first.pair, "fold": np.array(labels)[codes], "same": first.same, **probabilities}
        return pd.DataFrame(columns)

    def differences(self, against: str | None = None, draws: int = DRAWS) -> pd.DataFrame:
        """Each method minus one, paired: intervals are over people, and all methods share the draws.

        Parameters
        ----------
        against : str, optional
            The name of the method to compare with; None: Beta, else the Baseline, else the first.
        draws : int, default 300
            How many bootstrap draws of people.

        Returns
        -------
        pandas.DataFrame
            ``method``, ``against``, ``metric``, ``group``, ``value`` and ``reference`` (both pooled), ``difference``
            with its own 95 % interval ``low`` to ``high``. Measures that decide also have a simultaneous band of all
            methods and measures, ``band_low`` to ``band_high``, and its ``verdict``: better, worse, equal or
            undetermined. ``fpr_at_fpr_X`` and ``tpr_at_fpr_X`` are at one
            threshold for all groups, ``tpr_at_own_fpr_X`` at one of each group's own.
        """
        with explain_missing_extra("compare(...).differences"):
            import pandas as pd

        if against is not None:
            self._scores_of(against)
        found = self._bootstrap(draws)
        return pd.DataFrame(list(difference_rows(found, self._reference(found, against))))

    # -- thresholds ----------------------------------------------------------------------------------------------------

    def threshold(self, method: str, fmr: float, *, confidence: float = 0.95, on: On = "probability") -> FoundThreshold:
        """The threshold for a wanted false match rate, as ``fairfr calibrate threshold`` finds it.

        Parameters
        ----------
        method : str
            Its name.
        fmr : float
            The wanted false match rate, such as 1e-3.
        confidence : float, default 0.95
            With which ``confident`` keeps the rate.
        on : {"probability", "score"}
            What is compared with it.

        Returns
        -------
        FoundThreshold
        """
        scores = self._scores_of(method)
        _check_between("fmr", fmr, 0, "1e-3")
        _check_between("confidence", confidence, 0.5, "0.95")
        if on not in get_args(On):
            raise ConfigError(f"on={on!r} is not one of {', '.join(get_args(On))}.")
        found = find_threshold(scores, ThresholdRequest(fmr, confidence, on))
        return FoundThreshold(found["threshold"], found["confident_threshold"], found)

    # -- figures -------------------------------------------------------------------------------------------------------

    def reliability(
        self, axes: Axes | Sequence[Axes] | None = None, methods: str | Sequence[str] | None = None
    ) -> AxesArray:
        """Draw the share of genuine pairs against the probability, for all pairs and each large group.

        Parameters
        ----------
        axes : matplotlib Axes or sequence of them, optional
            One for each method; None: a new figure.
        methods : str or sequence of str, optional
            Names of the methods to draw; None: all.

        Returns
        -------
        ndarray of matplotlib Axes, shape (n_methods,)
        """
        with explain_missing_extra("compare(...).reliability"):
            from fairfr.report.figures.reliability import SMALL, draw_run_reliability

            names = as_list(methods) or list(self.runs)
            places = _places(axes, len(names))
        for place, name in zip(places, names, strict=True):
            said = draw_run_reliability(place, self._scores_of(name))
            place.set_title(name)
            place.legend(title=said, fontsize=SMALL, title_fontsize=SMALL, frameon=False)
        return places

    def fmr_by_group(
        self, axes: Axes | Sequence[Axes] | None = None, methods: str | Sequence[str] | None = None
    ) -> AxesArray:
        """Draw the false match rate of each group over the wanted one, at one threshold for all pairs.

        Parameters
        ----------
        axes : matplotlib Axes or sequence of them, optional
            One for each wanted rate that has enough impostors; None: a new figure.
        methods : str or sequence of str, optional
            Names of the methods to draw; None: all.

        Returns
        -------
        ndarray of matplotlib Axes, shape (n_rates,)
        """
        with explain_missing_extra("compare(...).fmr_by_group"):
            import matplotlib  # noqa: F401

        from fairfr.report.figures.fmr_by_group import LEGEND, draw_fmr_by_group, group_handles, rates_by_level
        from fairfr.report.figures.reliability import SMALL
        from fairfr.report.quantity import group_heading

        panels = rates_by_level([(name, self._scores_of(name)) for name in as_list(methods) or self.runs])
        if not panels:
            raise DataError(
                "false match rates by group need groups, at most eight of them, and so many impostors that ten false "
                "matches are expected at a rate of 1 %: 1,000."
            )
        places = _places(axes, len(panels))
        for place, (heading, lines) in zip(places, panels.items(), strict=True):
            draw_fmr_by_group(place, heading, lines)
        handles = group_handles([group_heading(level) for level in self._first.levels])
        places[0].legend(handles=handles, title=LEGEND, fontsize=SMALL, title_fontsize=SMALL, frameon=False)
        return places

    # -- text ----------------------------------------------------------------------------------------------------------

    def __str__(self) -> str:
        """The table of the terminal, the sentences that decide, and what was found."""
        parts = [str(results_table([scores.run.result for scores in self.runs.values()], STRICT)), *self._sentences()]
        parts += [f"{finding.severity}: {finding.text}" for finding in self.findings]
        return "\n\n".join(parts)

    def __repr__(self) -> str:
        names = escape_control_chars(", ".join(self.runs))
        folds = self._first.run.n_folds
        return f"<fairfr comparison of {names}: {self.data.n_pairs:,} pairs, {folds} folds; print() shows it>"

    def _sentences(self) -> list[str]:
        if len(self.runs) < 2:
            return []
        found = self._bootstrap(DRAWS)
        reference = self._reference(found, None)
        return decision_sentences(found, differences(found, reference), reference)

    # -- what they share -----------------------------------------------------------------------------------------------

    @property
    def _first(self) -> ScoresInMemory:
        return next(iter(self.runs.values()))

    def _scores_of(self, method: str) -> ScoresInMemory:
        if method not in self.runs:
            raise ConfigError(f"there is no method {method!r}.{did_you_mean(str(method), self.runs)}")
        return self.runs[method]

    def _rows(self) -> list[MethodRow]:
        return [MethodRow(self.ids[name], name, name, name) for name in self.runs]

    def _reference(self, found: SettingBootstrap, against: str | None) -> DrawnRun:
        if against is not None:
            return next(one for one in found.runs if one.label == against)
        return found.find(SAFE) or found.find(BASELINE.id) or found.runs[0]

    def _bootstrap(self, draws: int) -> SettingBootstrap:
        """Of all methods on the same draws; made once for each number of draws."""
        if isinstance(draws, bool) or not isinstance(draws, int | np.integer) or draws < 1:
            raise ConfigError(f"draws={draws!r}: must be a whole number, at least 1.")
        if draws not in self._drawn:
            at_hand = list(zip(self._rows(), self.runs.values(), strict=True))
            self._drawn[draws] = bootstrap_runs(at_hand, draws, with_rates=True)
        return self._drawn[draws]


def row_ids(methods: Mapping[str, Model]) -> dict[str, str]:
    """For each name the id of the method that it stands for, as in a yaml; the name itself for any other method.

    Advice is about methods with default parameters, each once.
    """
    found: dict[str, str] = {}
    for name, model in methods.items():
        module = model.method_class.__module__
        id = module.rpartition(".")[2]
        is_ours = module.startswith("fairfr.methods.") and repr(model) == f"{type(model).__name__}()"
        found[name] = id if is_ours and id not in found.values() else name
    return found


def _check_between(name: str, value: Any, low: float, example: str) -> None:
    """ConfigError for what is no number above ``low`` and below 1."""
    is_number = isinstance(value, int | float | np.number) and not isinstance(value, bool)
    if not is_number or not low < value < 1:
        raise ConfigError(f"{name}={value!r}: must be a number between {low:g} and 1, such as {example}.")


def _places(axes: Any, number: int) -> AxesArray:
    """The given axes, or so many new ones beside each other, as an array."""
    if axes is None:
        from matplotlib import pyplot

        size = (PANEL[0] * number + 0.6, PANEL[1])
        axes = pyplot.subplots(1, number, squeeze=False, figsize=size, layout="constrained")[1]
    places = np.atleast_1d(np.asarray(axes, dtype=object)).ravel()
    if len(places) != number:
        raise ConfigError(f"axes: {number} are needed, found {len(places)}.")
    return places
