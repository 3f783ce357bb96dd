"""Recompute metrics of stored runs from their scores, without refitting.

A run that was measured by an older version of the metrics is measured again in its place. With another ``min_pairs`` or
``grouping`` a run becomes a new one beside it, the one that running with that configuration would have given.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

import numpy as np

from fairfr.core.errors import DataError, UnmetNeedError
from fairfr.core.run_key import configuration_digest
from fairfr.core.run_result import RunResult
from fairfr.core.storage import copy_regular
from fairfr.core.types import I16, PAIR_RULES, Grouping, Pairs, ScoreFrame, cross_groupings
from fairfr.metrics.catalogue import metrics_version
from fairfr.metrics.cell_metrics import PairGroups, compute_metrics
from fairfr.runner.record import now, with_metrics
from fairfr.store.parquet_files import METRICS_FILE, SCORES_FILE, ScoreFile, write_metrics
from fairfr.store.result_file import RESULT_FILE, DamagedRunError, check_files, read_result
from fairfr.store.run_folder import RunFolders

Rescored = Literal["measured", "up to date", "not a completed run"]
COPIED = (SCORES_FILE, "config.yaml", "run.log")


@dataclass(frozen=True, slots=True)
class RescoreOptions:
    """How to measure. None: as the run was; ``grouping`` names attributes that scores.parquet has as columns."""

    min_pairs: int | None = None
    grouping: tuple[str, ...] | None = None
    force: bool = False


def rescore(folder: Path, out_root: Path, wanted: RescoreOptions) -> Rescored:
    """Measure one run again. Raises DamagedRunError, UnmetNeedError and DataError, each about this run alone."""
    stored = read_result(folder)
    if stored is None or not stored.is_completed:
        return "not a completed run"
    check_files(folder, stored.files)
    try:
        result = _changed(stored, wanted)
    except (KeyError, TypeError) as error:
        raise DamagedRunError(f"{folder} does not say how its data was configured ({error}).") from error
    runs = RunFolders(out_root)
    key = result.run_key
    existing = stored if result.key == stored.key else runs.completed(key)
    if existing is not None and _is_measured_by_this_version(existing) and not wanted.force:
        return "up to date"
    with runs.draft(key) as draft:
        for name in COPIED:
            copy_regular(folder / name, draft)
        runs.publish(draft, key, _measured(draft, result))
    return "measured"


def _is_measured_by_this_version(result: RunResult) -> bool:
    return result.metrics_version == metrics_version()


def _changed(stored: RunResult, wanted: RescoreOptions) -> RunResult:
    """The result as a run with the wanted settings would describe itself, metrics aside."""
    configuration = stored.identity
    dataset = dict(configuration["dataset"])
    differs = dict(stored.differs)
    if wanted.min_pairs is not None and wanted.min_pairs != dataset["min_pairs"]:
        dataset["min_pairs"] = wanted.min_pairs
        differs["dataset.min_pairs"] = wanted.min_pairs
    data = replace(stored.data, min_pairs=dataset["min_pairs"])
    if wanted.grouping is not None and list(wanted.grouping) != dataset["grouping"]:
        _check_grouping(stored, wanted.grouping)
        dataset["grouping"] = list(wanted.grouping)
        differs["dataset.grouping"] = list(wanted.grouping)
        data = replace(data, grouping="_x_".join(wanted.grouping) or None)
    changed = {**configuration, "dataset": dataset}
    key = stored.key
    if changed != configuration:
        key = str(replace(stored.run_key, digest=configuration_digest(changed)))
    return replace(stored, key=key, identity=changed, differs=differs, rescored=now(), data=data)


def _check_grouping(stored: RunResult, attributes: Sequence[str]) -> None:
    if "groups" in stored.method.needs:
        raise UnmetNeedError(
            f"{stored.method.id} was fitted on the groups {stored.data.grouping}: another grouping needs "
            f"a new run, with 'dataset.grouping=[{','.join(attributes)}]'."
        )
    absent = [name for name in attributes if name not in stored.data.groups]
    if absent:
        raise DataError(
            f"the scores of run {stored.key} do not say the {', '.join(absent)} of their images "
            f"(groups there: {', '.join(stored.data.groups) or 'none'}). Run it with "
            f"'dataset.grouping=[{','.join(attributes)}]'."
        )


def _measured(draft: Path, result: RunResult) -> RunResult:
    scores = ScoreFile(draft / SCORES_FILE)
    splits = result.data.measured_folds or tuple(result.fit_report)
    min_pairs = result.data.min_pairs
    assert min_pairs is not None
    groupings, pairs = _groupings(scores, result)
    groups = []
    for grouping in groupings:
        for rule in PAIR_RULES:
            groups.append(PairGroups.of(grouping, pairs, rule))
    frame = ScoreFrame(_splits_of(scores, splits), scores.same, scores.score, scores.probability)
    rows = compute_metrics(frame, splits, groups, min_pairs)
    write_metrics(draft / METRICS_FILE, rows)
    data = replace(result.data, groups={grouping.id: tuple(grouping.levels) for grouping in groupings})
    return with_metrics(replace(result, data=data), rows, frame)


def _splits_of(scores: ScoreFile, splits: tuple[str, ...]) -> I16:
    """The split that scored each pair, (p,)."""
    codes, names = scores.words("split")
    unknown = [name for name in names if name not in splits]
    if unknown:
        raise DamagedRunError(f"{scores.path} has scores of a split {unknown[0]!r} that {RESULT_FILE} does not list.")
    position: I16 = np.array([splits.index(name) for name in names], dtype=np.int16)
    return position[codes]


def _groupings(scores: ScoreFile, result: RunResult) -> tuple[list[Grouping], Pairs]:
    """The groupings of the run's configuration over the ends of its pairs: left ends first, then right ends."""
    n = len(scores.same)
    ends = np.arange(2 * n, dtype=np.int32)
    levels = result.data.groups
    names = result.identity["dataset"]["grouping"]
    if not isinstance(names, list) or not all(isinstance(name, str) and name in levels for name in names):
        raise DamagedRunError(f"{RESULT_FILE} does not say the groups of {names!s:.60}.")
    parts = tuple(Grouping(name, levels[name], np.concatenate(scores.groups(name, levels[name]))) for name in names)
    distinct = {part.id: part for part in (*parts, cross_groupings(parts))} if parts else {}
    return list(distinct.values()), Pairs(ends[:n], ends[n:])
