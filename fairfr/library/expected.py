"""What a model is expected to do on pairs like those it comes from: kept by ``fairfr calibrate fit`` in its file.

``fairfr evaluate`` compares new pairs with it, and with the rates at the thresholds that ``fairfr calibrate threshold
--keep`` wrote. All of it is from held-out pairs; it names groups, and neither images nor people.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from fairfr.core.config import from_mapping
from fairfr.core.errors import ConfigError, DataError
from fairfr.core.names import ALL
from fairfr.core.types import F64, Bool
from fairfr.library.prior import log_likelihood_ratio
from fairfr.metrics.likelihood_ratios import cllr, log_loss

if TYPE_CHECKING:
    from fairfr.stored.scores import RunScores

BINS = 50
KEY = "expected"
"""Where it is in ``Model.origin_``."""


@dataclass(frozen=True, slots=True)
class Histogram:
    """Held-out probabilities of all pairs or of a group, in bins of about equal mass.

    ``edges`` (n - 1,) lie between the n bins, of which each starts with its edge; ``genuine`` and ``impostors`` (n,)
    are numbers of pairs.
    """

    edges: tuple[float, ...]
    genuine: tuple[int, ...]
    impostors: tuple[int, ...]

    @classmethod
    def of(cls, same: Bool, probability: F64) -> Histogram:
        """Count pairs; equal probabilities are in one bin."""
        inner = np.arange(1, BINS) / BINS
        edges = np.unique(np.quantile(probability, inner, method="higher"))
        bin_of = np.searchsorted(edges, probability, side="right")
        counts = [np.bincount(bin_of[kind], minlength=len(edges) + 1) for kind in (same, ~same)]
        return cls(tuple(edges.tolist()), tuple(counts[0].tolist()), tuple(counts[1].tolist()))


@dataclass(frozen=True, slots=True)
class Expected:
    """``genuine`` and ``impostors``: how many held-out pairs there were; ``histograms`` by group, and of ``all``.

    ``grouping``: what the groups are groups of, such as ``ethnicity``.
    """

    genuine: int
    impostors: int
    log_loss: float
    cllr: float
    grouping: str | None = None
    histograms: Mapping[str, Histogram] = field(default_factory=dict)


def expected_of(scores: RunScores) -> dict[str, Any]:
    """What a run's held-out pairs let expect, as plain JSON; empty without pairs of both kinds."""
    same = scores.same
    n_genuine = int(np.count_nonzero(same))
    n_impostors = len(same) - n_genuine
    if min(n_genuine, n_impostors) == 0:
        return {}
    llr = log_likelihood_ratio(scores.probability, n_genuine, n_impostors)
    log_odds = llr + math.log(n_genuine / n_impostors)
    histograms = {ALL: Histogram.of(same, scores.probability)}
    group = scores.pair_groups("both")
    for code, level in enumerate(scores.levels):
        inside = group == code
        if inside.any():
            histograms[level] = Histogram.of(same[inside], scores.probability[inside])
    found = Expected(
        genuine=n_genuine,
        impostors=n_impostors,
        log_loss=log_loss(same, log_odds),
        cllr=cllr(same, llr),
        grouping=scores.run.result.data.grouping if scores.levels else None,
        histograms=histograms,
    )
    plain: dict[str, Any] = json.loads(json.dumps(asdict(found)))
    return plain


def read_expected(origin: Mapping[str, Any] | None) -> Expected | None:
    """What a model's origin lets expect; None where nothing was kept, DataError for what fairfr never writes."""
    if origin is None or not origin.get(KEY):
        return None
    try:
        found: Expected = from_mapping(Expected, origin[KEY])
    except ConfigError as error:
        raise DataError(f"what the model keeps of held-out pairs is not what fairfr writes: {error.args[0]}") from None
    if not _is_possible(found):
        raise DataError("what the model keeps of held-out pairs is not what fairfr writes: impossible counts.")
    return found


def _is_possible(found: Expected) -> bool:
    if min(found.genuine, found.impostors) < 1 or not math.isfinite(found.log_loss + found.cllr):
        return False
    for histogram in found.histograms.values():
        counts = (histogram.genuine, histogram.impostors)
        if any(len(of_kind) != len(histogram.edges) + 1 or min(of_kind) < 0 for of_kind in counts):
            return False
        if not all(map(math.isfinite, histogram.edges)) or list(histogram.edges) != sorted(histogram.edges):
            return False
    return True
