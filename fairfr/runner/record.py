"""What is kept of a run: result.json and the columns of scores.parquet."""

from __future__ import annotations

import math
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from fairfr.core.calibrator import Calibrator
from fairfr.core.provenance import code_version, versions
from fairfr.core.run_key import RunKey, changed_parameters
from fairfr.core.run_result import (
    DataSummary,
    Labelled,
    MethodSummary,
    MetricSummary,
    RunResult,
)
from fairfr.core.types import (
    F64,
    I32,
    I64,
    PAIR_RULES,
    UNKNOWN,
    Grouping,
    MetricRow,
    Pairs,
    ScoreFrame,
    VerificationSet,
)
from fairfr.metrics.catalogue import metrics_version
from fairfr.metrics.cell_metrics import PairGroups, compute_metrics, few_impostors_findings, summarise
from fairfr.metrics.ties import tied_at_the_top
from fairfr.pairs.table import PairTable
from fairfr.runner.cell_data import CellData
from fairfr.runner.held_out import HeldOutScores
from fairfr.runner.settings import CellSettings
from fairfr.store.parquet_files import DictionaryColumn


def begin_result(
    settings: CellSettings, defaults: CellSettings, located: CellData, key: RunKey, method: Calibrator
) -> RunResult:
    """What is known of a run before it is computed: whose it is, and by which code.

    ``defaults``: the settings as the yaml files have them.
    """
    source = located.test.source
    if defaults.method == settings.method:
        defaults = replace(defaults, method=settings.method)  # which has been built
    if defaults.protocol == settings.protocol:
        defaults = replace(defaults, protocol=settings.protocol)
    differs = changed_parameters(settings.parameters(source), defaults.parameters(source))
    train = settings.train
    return RunResult(
        key=str(key),
        status="failed",  # until it is completed
        source=key.source,
        dataset=Labelled(key.dataset, settings.dataset.label),
        backbone=Labelled(key.backbone, settings.backbone.label),
        method=MethodSummary(
            key.method, settings.method.label, tuple(sorted(method.needs)), bool(method.native_probability)
        ),
        identity=jsonable(located.identity(settings)),
        differs=jsonable(differs),
        finished="",
        versions=versions(),
        code=code_version(),
        protocol=settings.protocol.id,
        study=settings.study,
        train=None if train is None else Labelled(train.id, train.label),
        seed=settings.seed,
    )


class MeasuredScores(NamedTuple):
    """Held-out scores, the ``data`` and ``cosine`` (q,) of the pairs that were scored, and their metrics."""

    held_out: HeldOutScores
    data: VerificationSet
    cosine: F64
    rows: list[MetricRow]

    def columns(self) -> dict[str, npt.NDArray[Any] | DictionaryColumn]:
        """Those of scores.parquet."""
        return score_columns(self.data, self.cosine, self.held_out)


def measure_scores(table: PairTable, held_out: HeldOutScores, min_pairs: int, threads: int = 1) -> MeasuredScores:
    """Every metric of held-out scores of a table, for all pairs and for each group by both rules."""
    data = table.data
    cosine = table.cosine
    if held_out.rows is not None:
        data = data.take(held_out.rows)
        cosine = cosine[held_out.rows]
    groups = []
    for grouping in data.groupings.values():
        for rule in PAIR_RULES:
            groups.append(PairGroups.of(grouping, data.pairs, rule))
    rows = compute_metrics(held_out.frame, held_out.folds, groups, min_pairs, threads)
    return MeasuredScores(held_out, data, cosine, rows)


def completed_result(begun: RunResult, measured: MeasuredScores, min_pairs: int) -> RunResult:
    """The result of a completed run: all that tables need."""
    held_out, data, _, rows = measured
    embeddings = data.embeddings
    summary = DataSummary(
        source=data.source,
        digest=data.digest,
        embeddings_digest=None if embeddings is None else embeddings.digest,
        pairs=data.n_pairs,
        same=int(data.same.sum()),
        images=len(data.images),
        dimensions=None if embeddings is None else int(embeddings.vectors.shape[1]),
        folds=tuple(data.fold_labels),
        measured_folds=tuple(held_out.folds),
        grouping=data.grouping,
        min_pairs=min_pairs,
        groups={id: tuple(grouping.levels) for id, grouping in data.groupings.items()},
    )
    described = replace(
        begun,
        status="completed",
        finished=now(),
        data=summary,
        warnings=(*data.warnings, *held_out.findings),
        fit_report=jsonable(held_out.fit_report),
    )
    return with_metrics(described, rows, held_out.frame)


def with_metrics(run: RunResult, rows: list[MetricRow], frame: ScoreFrame) -> RunResult:
    """The result with these numbers, as this version measures them."""
    name = " x ".join((run.dataset.label, run.backbone.label, run.method.label))
    ties = tied_at_the_top(frame, rows, run.method.native_probability, name)
    summaries: list[MetricSummary] = jsonable(summarise(rows))
    findings = (*few_impostors_findings(rows), *ties)
    return replace(run, metrics_version=metrics_version(), metric_warnings=findings, read_metrics=lambda: summaries)


def failed_result(begun: RunResult, message: str) -> RunResult:
    """The result of a failed run: who it was and what went wrong."""
    return replace(begun, finished=now(), error=message)


def now() -> str:
    """The time as results have it."""
    return datetime.now(UTC).isoformat(timespec="seconds")


def score_columns(
    data: VerificationSet, cosine: F64, held_out: HeldOutScores
) -> dict[str, npt.NDArray[Any] | DictionaryColumn]:
    """Columns of scores.parquet, in the order of the pairs file.

    ``fit``, the fit that gave a score, is a column only where fits and splits are not the same.
    """
    frame = held_out.frame
    columns: dict[str, npt.NDArray[Any] | DictionaryColumn] = {
        "pair": np.arange(data.n_pairs, dtype=np.int64) if data.row is None else data.row,
        "fold": DictionaryColumn(data.fold, data.fold_labels),
        "split": DictionaryColumn(frame.fold, held_out.folds),
        "left": DictionaryColumn(data.pairs.left, data.images),
        "right": DictionaryColumn(data.pairs.right, data.images),
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
            columns["fit"] = DictionaryColumn(held_out.fit, fits)
    for id, grouping in data.groupings.items():
        assert id not in columns, f"the grouping '{id}' would replace a column of scores.parquet"
        columns[id] = readable_groups(grouping, data.pairs)
    return columns


def _identity_codes(data: VerificationSet, images: I32) -> npt.NDArray[np.int32]:
    """Who is on each image, (p,), as a number that means nothing outside this file; masked where unknown.

    With it a bootstrap can draw people. Names stay in the images table.
    """
    codes = data.identity[images]
    return np.ma.masked_array(codes, codes == UNKNOWN)


def readable_groups(grouping: Grouping, pairs: Pairs) -> DictionaryColumn:
    """Group of each pair in words: ``asian`` if both images share it, else ``left|right``; blank if neither is known.

    Both pair rules can be read off it: no bar means both, the part before the bar is the first image's group.
    """
    names = [*grouping.levels, ""]  # the code -1 picks the blank at the end
    left = grouping.codes[pairs.left].astype(np.int64)
    right = grouping.codes[pairs.right].astype(np.int64)
    # only combinations that occur are spelled out: a table of all would grow with the square of the groups
    n = len(names)
    present, which = _distinct((left + 1) * n + right + 1, n * n)
    words = []
    for i, j in zip(*np.divmod(present, n), strict=True):
        if i == j:
            words.append(names[i - 1])
        else:
            words.append(f"{names[i - 1]}|{names[j - 1]}")
    unknown = int(0 in present[:1])  # if it is there, neither side is known in the first combination
    return DictionaryColumn(which - unknown, words[unknown:])


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
