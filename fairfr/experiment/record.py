"""What is kept of a run: result.json and the columns of scores.parquet."""

from __future__ import annotations

import math
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

import numpy as np
import numpy.typing as npt

from fairfr.core.keys import RunKey
from fairfr.core.types import F64, I32, I64, UNKNOWN, Grouping, MetricRow, Pairs, ScoreFrame, VerificationSet
from fairfr.core.variants import Parameters, differences
from fairfr.core.versions import versions
from fairfr.experiment.held_out import HeldOut
from fairfr.experiment.located import LocatedCell
from fairfr.experiment.machine import code_version
from fairfr.experiment.method import make_method
from fairfr.experiment.settings import CellSettings
from fairfr.metrics.catalogue import metrics_version
from fairfr.metrics.summary import few_impostors_findings, summarise
from fairfr.metrics.ties import tied_at_the_top
from fairfr.store.folder import Result
from fairfr.store.score_file import Words


@dataclass(frozen=True, slots=True)
class Origin:
    """Where a result comes from: ``key`` is the digest of ``identity``; ``differs`` is what is not as in the yaml."""

    key: RunKey
    identity: dict[str, Any]
    differs: Parameters

    @classmethod
    def of(cls, settings: CellSettings, defaults: CellSettings, located: LocatedCell, key: RunKey) -> Origin:
        source = located.test.source
        differs = differences(settings.parameters(source), defaults.parameters(source))
        return cls(key, located.identity(settings), differs)


def describe_result(
    settings: CellSettings,
    origin: Origin,
    data: VerificationSet,
    held_out: HeldOut,
    rows: list[MetricRow],
    usage: dict[str, Any],
) -> Result:
    """result.json of a completed run: all that tables need."""
    header = _header(settings, origin, "completed")
    return {
        **header,
        "data": {
            "source": data.source,
            "digest": data.digest,
            "embeddings_digest": None if data.embeddings is None else data.embeddings.digest,
            "pairs": data.n_pairs,
            "same": int(data.same.sum()),
            "images": len(data.images),
            "dimensions": None if data.embeddings is None else int(data.embeddings.vectors.shape[1]),
            "folds": list(data.fold_labels),
            "measured_folds": list(held_out.folds),
            "grouping": data.grouping,
            "min_pairs": settings.dataset.min_pairs,
            "groups": {id: list(grouping.levels) for id, grouping in data.groupings.items()},
        },
        **usage,
        "warnings": [finding.as_dict() for finding in (*data.warnings, *held_out.findings)],
        "fit_report": jsonable(held_out.fit_report),
        **describe_metrics(rows, held_out.frame, header),
    }


def describe_metrics(rows: list[MetricRow], frame: ScoreFrame, header: Result) -> Result:
    """The part of result.json that ``rescore`` writes again; metrics come last, so that all else can be read quickly.

    ``header`` names the run.
    """
    name = " x ".join(header[part]["label"] for part in ("dataset", "backbone", "method"))
    ties = tied_at_the_top(frame, rows, header["method"]["native_probability"], name)
    return {
        "metrics_version": metrics_version(),
        "metric_warnings": [finding.as_dict() for finding in (*few_impostors_findings(rows), *ties)],
        "metrics": jsonable(summarise(rows)),
    }


def failed_result(settings: CellSettings, origin: Origin, message: str) -> Result:
    """result.json of a failed run: who it was and what went wrong."""
    return {**_header(settings, origin, "failed"), "error": message}


def _header(settings: CellSettings, origin: Origin, status: str) -> Result:
    key, method = origin.key, make_method(settings)
    return {
        "key": str(key),
        "status": status,
        "source": key.source,
        "dataset": {"id": key.dataset, "label": settings.dataset.label},
        "backbone": {"id": key.backbone, "label": settings.backbone.label},
        "method": {
            "id": key.method,
            "label": settings.method.label,
            "needs": sorted(method.needs),
            "native_probability": method.native_probability,
        },
        "protocol": settings.protocol.id,
        "study": settings.study,
        "train": None if settings.train is None else {"id": settings.train.id, "label": settings.train.label},
        "seed": settings.seed,
        "identity": jsonable(origin.identity),
        "differs": jsonable(origin.differs),
        "versions": versions(),
        "code": code_version(),
        "finished": datetime.now(UTC).isoformat(timespec="seconds"),
    }


def score_columns(data: VerificationSet, cosine: F64, held_out: HeldOut) -> dict[str, npt.NDArray[Any] | Words]:
    """Columns of scores.parquet, in the order of the pairs file.

    ``fit``, the fit that gave a score, is a column only where fits and splits are not the same.
    """
    frame = held_out.frame
    columns: dict[str, npt.NDArray[Any] | Words] = {
        "pair": np.arange(data.n_pairs, dtype=np.int64) if data.row is None else data.row,
        "fold": Words(data.fold, data.fold_labels),
        "split": Words(frame.fold, held_out.folds),
        "left": Words(data.pairs.left, data.images),
        "right": Words(data.pairs.right, data.images),
        "identity_left": _identity_codes(data, data.pairs.left),
        "identity_right": _identity_codes(data, data.pairs.right),
        "same": data.same,
        "cosine": cosine,
        "score": frame.score,
        "probability": frame.probability,
    }
    if held_out.fit is not None:
        fits = tuple(held_out.fit_report)
        if fits != held_out.folds or not np.array_equal(held_out.fit, frame.fold):
            columns["fit"] = Words(held_out.fit, fits)
    for id, grouping in data.groupings.items():
        assert id not in columns, f"the grouping '{id}' would replace a column of scores.parquet"
        columns[id] = pair_level_names(grouping, data.pairs)
    return columns


def _identity_codes(data: VerificationSet, images: I32) -> npt.NDArray[np.int32]:
    """Who is on each image, (p,), as a number that means nothing outside this file; masked where unknown.

    With it a bootstrap can draw people. Names stay in the images table.
    """
    codes = data.identity[images]
    return np.ma.masked_array(codes, codes == UNKNOWN)


def pair_level_names(grouping: Grouping, pairs: Pairs) -> Words:
    """Group of each pair in words: ``asian`` if both images share it, else ``left|right``; blank if neither is known.

    Both pair rules can be read off it: no bar means both, the part before the bar is the first image's group.
    """
    names = [*grouping.levels, ""]  # the code -1 picks the blank at the end
    left, right = grouping.codes[pairs.left].astype(np.int64), grouping.codes[pairs.right].astype(np.int64)
    # only combinations that occur are spelled out: a table of all would grow with the square of the groups
    n = len(names)
    present, which = _distinct((left + 1) * n + right + 1, n * n)
    words = []
    for i, j in zip(*np.divmod(present, n), strict=True):
        one, other = names[i - 1], names[j - 1]
        words.append(one if i == j else f"{one}|{other}")
    unknown = int(0 in present[:1])  # if it is there, neither side is known in the first combination
    return Words(which - unknown, words[unknown:])


def _distinct(numbers: I64, limit: int) -> tuple[I64, I64]:
    """The distinct of ``numbers`` (p,) below ``limit``, ascending, and which of them each is, (p,)."""
    if limit > len(numbers):
        return np.unique(numbers, return_inverse=True)
    there = np.zeros(limit, dtype=bool)
    there[numbers] = True
    return np.flatnonzero(there), (np.cumsum(there) - 1)[numbers]


def jsonable(value: Any) -> Any:
    """Plain Python for JSON: numpy unwrapped, NaN and infinities as null, what JSON does not know as text."""
    if isinstance(value, dict):
        return {str(k): jsonable(v) for k, v in value.items()}
    if isinstance(value, set | frozenset):
        value = sorted(value)
    if isinstance(value, np.ndarray | np.generic):
        value = value.tolist()
    if isinstance(value, list | tuple):
        return [jsonable(v) for v in value]
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value if isinstance(value, str | int | float | None) else str(value)
