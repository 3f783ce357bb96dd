"""The public metrics: arrays or lists in, checked, and one number out, or a table of one for each group."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from fairfr.core.errors import ConfigError, DataError, did_you_mean
from fairfr.core.extras import explain_missing_extra
from fairfr.core.names import ALL
from fairfr.core.types import F64, Bool
from fairfr.metrics import calibration
from fairfr.metrics.catalogue import METRIC_BY_ID, FromRoc, OverGroups, OwnTprAt, RateAt
from fairfr.metrics.roc_metrics import OperatingPoint
from fairfr.numerics.roc import MAX_FPR, auroc_of, pauc_of, roc_curve

if TYPE_CHECKING:
    import pandas as pd

PairMetric: TypeAlias = Callable[[Bool, F64], float]
SMALLEST = float(np.finfo(np.float64).eps)
"""``log_loss`` keeps probabilities this far from 0 and 1."""


def auroc(same: ArrayLike, values: ArrayLike) -> float:
    """Area under the ROC curve: how often a genuine pair has the higher value than an impostor.

    Equal values count one half, as in ``sklearn.metrics.roc_auc_score``. The area is summed in whole numbers, so that
    equal rankings have equal areas to the last bit.

    Parameters
    ----------
    same : array-like of bool or 0/1, shape (n_pairs,)
        Whether a pair shows one person.
    values : array-like of float, shape (n_pairs,)
        Scores or probabilities; higher means more similar.

    Returns
    -------
    float
        From 0 to 1, 0.5 by chance; higher is better. NaN without both classes, where scikit-learn warns.
    """
    return auroc_of(roc_curve(*_checked(same, values)))


def pauc(same: ArrayLike, values: ArrayLike, max_fpr: float = MAX_FPR) -> float:
    """Partial area under the ROC curve up to a false positive rate, standardised (McClish 1989).

    As ``sklearn.metrics.roc_auc_score(same, values, max_fpr=max_fpr)``, ties included.

    Parameters
    ----------
    same : array-like of bool or 0/1, shape (n_pairs,)
        Whether a pair shows one person.
    values : array-like of float, shape (n_pairs,)
        Scores or probabilities; higher means more similar.
    max_fpr : float, default 0.1
        Where the area ends.

    Returns
    -------
    float
        0.5 by chance and 1 if perfect; higher is better. NaN without both classes.
    """
    return pauc_of(roc_curve(*_checked(same, values)), _checked_rate(max_fpr, "max_fpr"))


def tpr_at_fpr(same: ArrayLike, values: ArrayLike, fpr: float = 1e-3) -> float:
    """True positive rate at a wanted false positive rate.

    Interpolated between the two thresholds whose false positive rates bracket the wanted one, as ``np.interp`` does on
    all points of ``sklearn.metrics.roc_curve(..., drop_intermediate=False)``. Impostors with equal values are accepted
    together: where more of them share the highest value than the rate allows, no threshold has the rate, and the number
    is a share of what that threshold accepts.

    Parameters
    ----------
    same : array-like of bool or 0/1, shape (n_pairs,)
        Whether a pair shows one person.
    values : array-like of float, shape (n_pairs,)
        Scores or probabilities; higher means more similar.
    fpr : float, default 1e-3
        The wanted share of impostors that are accepted. Fewer than ten impostors beyond it make the number unsteady.

    Returns
    -------
    float
        From 0 to 1; higher is better. NaN without both classes.
    """
    checked = _checked(same, values)
    return OperatingPoint.from_pairs(*checked, _checked_rate(fpr, "fpr")).rates(*checked).tpr


def threshold_at_fpr(same: ArrayLike, values: ArrayLike, fpr: float = 1e-3) -> float:
    """The lowest threshold whose false positive rate does not exceed the wanted one. Accept from it upwards.

    It has the rate on these pairs; on new ones it may be exceeded. ``fairfr calibrate threshold`` and
    ``fairfr.compare(...).threshold`` find one that keeps the rate with a confidence.

    Parameters
    ----------
    same : array-like of bool or 0/1, shape (n_pairs,)
        Whether a pair shows one person.
    values : array-like of float, shape (n_pairs,)
        Scores or probabilities; higher means more similar.
    fpr : float, default 1e-3
        The wanted share of impostors that are accepted.

    Returns
    -------
    float
        One of ``values``; infinite where more impostors share the highest value than the rate allows. NaN without both
        classes.
    """
    return OperatingPoint.from_pairs(*_checked(same, values), _checked_rate(fpr, "fpr"), "conservative").thresholds[0]


def brier(same: ArrayLike, values: ArrayLike) -> float:
    """Mean squared difference of probability and label (Brier 1950), as ``sklearn.metrics.brier_score_loss``.

    Parameters
    ----------
    same : array-like of bool or 0/1, shape (n_pairs,)
        Whether a pair shows one person.
    values : array-like of float, shape (n_pairs,)
        Probabilities that it does, in [0, 1].

    Returns
    -------
    float
        From 0 to 1; lower is better. NaN without pairs.
    """
    return calibration.brier(*_checked_probability(same, values))


def ece(same: ArrayLike, values: ArrayLike, bins: int = calibration.BINS, equal_mass: bool = False) -> float:
    """Expected calibration error: how far mean probability and share of genuine pairs lie apart, averaged over bins.

    The bins of ``sklearn.calibration.calibration_curve`` are closed on the right, these on the left: the two differ
    where a probability lies on an edge, such as 0.2 with five bins. In the event form, not the top-label form.

    Parameters
    ----------
    same : array-like of bool or 0/1, shape (n_pairs,)
        Whether a pair shows one person.
    values : array-like of float, shape (n_pairs,)
        Probabilities that it does, in [0, 1].
    bins : int, default 15
        Number of bins; empty ones weigh nothing, others by their pairs.
    equal_mass : bool, default False
        Bins of as many pairs each as can be, instead of equal widths; equal probabilities share a bin.

    Returns
    -------
    float
        From 0 to 1; lower is better. NaN without pairs.
    """
    if isinstance(bins, bool) or not isinstance(bins, int | np.integer) or bins < 1:
        raise ConfigError(f"bins={bins!r}: must be a whole number, at least 1.")
    return calibration.ece(*_checked_probability(same, values), int(bins), equal_mass)


def log_loss(same: ArrayLike, values: ArrayLike) -> float:
    """Mean negative logarithm of the probability of what is true, natural, as ``sklearn.metrics.log_loss``.

    Probabilities are kept 2.2e-16 from 0 and 1: one pair that is surely wrong costs 36, not infinitely much.
    scikit-learn keeps float32 probabilities 1.2e-7 away, and needs ``labels=`` where only one class occurs.

    Parameters
    ----------
    same : array-like of bool or 0/1, shape (n_pairs,)
        Whether a pair shows one person.
    values : array-like of float, shape (n_pairs,)
        Probabilities that it does, in [0, 1].

    Returns
    -------
    float
        From 0 to 36.04; lower is better. NaN without pairs.
    """
    checked, probability = _checked_probability(same, values)
    if len(checked) == 0:
        return float("nan")
    clipped = np.clip(probability, SMALLEST, 1 - SMALLEST)
    return float(-np.mean(np.log(np.where(checked, clipped, 1 - clipped))))


def ks(same: ArrayLike, values: ArrayLike) -> float:
    """Kolmogorov-Smirnov calibration error (Gupta et al. 2021): the largest gap between two running sums.

    Pairs are taken by rising probability; the sums are of probabilities and of labels, over the number of pairs. They
    are read only where a run of equal probabilities ends, so that the order of the pairs is irrelevant. scikit-learn
    does not have it. It is not the two-sample statistic of ``scipy.stats.ks_2samp``.

    Parameters
    ----------
    same : array-like of bool or 0/1, shape (n_pairs,)
        Whether a pair shows one person.
    values : array-like of float, shape (n_pairs,)
        Probabilities that it does, in [0, 1].

    Returns
    -------
    float
        From 0 to 1; lower is better. NaN without pairs.
    """
    return calibration.ks(*_checked_probability(same, values))


def by_group(
    metric: PairMetric | str, same: ArrayLike, values: ArrayLike, groups: ArrayLike | Sequence[object]
) -> pd.DataFrame:
    """A metric for all pairs and for each group.

    Parameters
    ----------
    metric : callable or str
        A function of (same, values), such as ``fairfr.metrics.brier``: it sees one group at a time, so that
        ``tpr_at_fpr`` sets a threshold for each group. Or the name of a metric as tables and ``fairfr.results`` have
        it: ``"tpr_at_fpr_1e-3"`` and ``"fpr_at_fpr_1e-3"`` are measured at one threshold, set on all pairs.
    same : array-like of bool or 0/1, shape (n_pairs,)
        Whether a pair shows one person.
    values : array-like of float, shape (n_pairs,)
        Scores or probabilities, as the metric needs them.
    groups : array-like of shape (n_pairs,), or tuple of two of them
        The group of each pair; or of its left and its right image: then pairs of two groups count among all pairs only.
        None, NaN and blank are unknown.

    Returns
    -------
    pandas.DataFrame
        The columns ``group`` (``all`` comes first), ``value``, ``n_same`` and ``n_diff``. A value is NaN where the
        metric is undefined: no false match rate without impostors.
    """
    with explain_missing_extra("fairfr.metrics.by_group"):
        import pandas as pd
    checked, array = _checked(same, values)
    measure = metric
    if not isinstance(metric, str) and not callable(metric):
        raise ConfigError(f"metric is {metric!r}. Pass a function, such as fairfr.metrics.brier, or its name: 'brier'.")
    if isinstance(measure, str):
        measure = _at_global_points(measure, checked, array)
    names = _names_of_pairs(groups, len(checked))
    rows = [(ALL, float(measure(checked, array)), *_counts(checked))]
    for name in sorted(set(names.tolist()) - {""}):
        inside = names == name
        rows.append((name, float(measure(checked[inside], array[inside])), *_counts(checked[inside])))
    return pd.DataFrame(rows, columns=["group", "value", "n_same", "n_diff"])


def _at_global_points(id: str, same: Bool, values: F64) -> PairMetric:
    """The metric of this name as a function of a subset of these pairs; thresholds are those of all of them."""
    if id not in METRIC_BY_ID:
        raise ConfigError(f"fairfr has no metric '{id}'.{did_you_mean(id, METRIC_BY_ID)}")
    metric = METRIC_BY_ID[id]
    if metric.on == "probability":
        _check_probabilities(values)
    compute = metric.compute
    if isinstance(compute, OverGroups):
        raise ConfigError(f"'{id}' is one number for all groups together. Ask for '{compute.metric}' by group.")
    if isinstance(compute, FromRoc):
        measure = compute.measure
        return lambda of_same, of_values: measure(roc_curve(of_same, of_values))
    if isinstance(compute, OwnTprAt):
        alpha = compute.alpha
        return lambda of_same, of_values: tpr_at_fpr(of_same, of_values, alpha)
    if isinstance(compute, RateAt):
        point = OperatingPoint.from_pairs(same, values, compute.alpha)
        rate = compute.rate
        return lambda of_same, of_values: float(getattr(point.rates(of_same, of_values), rate))
    return compute


def _counts(same: Bool) -> tuple[int, int]:
    n_same = int(np.count_nonzero(same))
    return n_same, len(same) - n_same


def _names_of_pairs(groups: Any, p: int) -> Any:
    """The group of each pair, (p,); blank where it is unknown, or not the same for both images."""
    if not isinstance(groups, tuple):
        return _names(groups, p)
    if len(groups) != 2:
        raise DataError(f"groups has {len(groups)} parts. Give a name for each pair, or (left, right).")
    left, right = (_names(side, p) for side in groups)
    return np.where(left == right, left, "")


def _names(groups: Any, p: int) -> Any:
    import pandas as pd

    given = np.asarray(groups, dtype=object)
    if given.shape != (p,):
        raise DataError(f"groups must have one name for each of the {p:,} pairs, found shape {given.shape}.")
    names = pd.Series(given)
    known = names.map(str).str.strip().where(names.notna(), "")
    if (known == ALL).any():
        raise DataError(f"a group is called '{ALL}', which is kept for all pairs together. Give it another name.")
    return known.to_numpy(dtype=object)


def _checked(same: ArrayLike, values: ArrayLike) -> tuple[Bool, F64]:
    """Both as arrays, (p,): labels as bool, values finite."""
    labels = np.asarray(same)
    array = np.asarray(values, dtype=np.float64)
    if array.ndim != 1 or labels.shape != array.shape:
        raise DataError(f"same and values must be of one shape (p,), found {labels.shape} and {array.shape}.")
    strange = ~np.isfinite(array)
    if strange.any():
        row = int(np.argmax(strange))
        raise DataError(f"values[{row}] is {array[row]:g}, which is no score. Leave the pair out.")
    if labels.dtype != np.bool_:
        wrong = ~np.isin(labels, (0, 1))
        if wrong.any():
            row = int(np.argmax(wrong))
            raise DataError(
                f"same[{row}] is {labels.tolist()[row]!r}. Write True or 1 for one person, False or 0 for two."
            )
        labels = labels.astype(np.bool_)
    return labels, array


def _checked_probability(same: ArrayLike, values: ArrayLike) -> tuple[Bool, F64]:
    checked = _checked(same, values)
    _check_probabilities(checked[1])
    return checked


def _check_probabilities(values: F64) -> None:
    wrong = (values < 0) | (values > 1)
    if wrong.any():
        row = int(np.argmax(wrong))
        raise DataError(f"values[{row}] is {values[row]:g}, but a probability lies within 0..1.")


def _checked_rate(rate: float, name: str) -> float:
    is_number = isinstance(rate, int | float | np.number)
    if not is_number or not 0 < rate <= 1:
        raise ConfigError(f"{name} must be above 0 and at most 1, found {rate!r}.")
    return float(rate)
