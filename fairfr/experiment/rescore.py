"""Recompute metrics of stored runs from their scores, without refitting.

A run that was measured by an older version of the metrics is measured again in its place. With another ``min_pairs`` or
``grouping`` a run becomes a new one beside it, the one that running with that configuration would have given.
"""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Literal

import numpy as np

from fairfr.core.errors import DataError, UnmetNeedError
from fairfr.core.keys import digest_of
from fairfr.core.types import I16, PAIR_RULES, Grouping, Pairs, ScoreFrame, product_of
from fairfr.experiment.record import describe_metrics
from fairfr.metrics.by_group import PairGroups, compute_metrics
from fairfr.metrics.catalogue import metrics_version
from fairfr.store.folder import Result, RunFolders, write_metrics
from fairfr.store.reading import check_files, key_of, read_run
from fairfr.store.score_file import FILE, ScoreFile

Rescored = Literal["measured", "up to date", "not a completed run"]
COPIED = (FILE, "config.yaml", "run.log")


@dataclass(frozen=True, slots=True)
class Wanted:
    """How to measure. None: as the run was; ``grouping`` names attributes that scores.parquet has as columns."""

    min_pairs: int | None = None
    grouping: tuple[str, ...] | None = None
    force: bool = False


def rescore(folder: Path, out_root: Path, wanted: Wanted) -> Rescored:
    """Measure one run again. Raises DamagedRunError, UnmetNeedError and DataError, each about this run alone."""
    stored = read_run(folder)
    if stored is None or stored["status"] != "completed":
        return "not a completed run"
    check_files(folder, stored)
    result = _changed(stored, wanted)
    runs, key = RunFolders(out_root), key_of(result)
    existing = stored if key == key_of(stored) else runs.completed(key)
    if existing is not None and existing.get("metrics_version") == metrics_version() and not wanted.force:
        return "up to date"
    with runs.draft(key) as draft:
        for name in COPIED:
            if (folder / name).exists():
                shutil.copy2(folder / name, draft / name)
        runs.publish(draft, key, _measured(draft, result))
    return "measured"


def _changed(stored: Result, wanted: Wanted) -> Result:
    """The result as a run with the wanted settings would describe itself, metrics aside."""
    dataset, differs = dict(stored["identity"]["dataset"]), dict(stored["differs"])
    data = dict(stored["data"])
    for name, value in (("min_pairs", wanted.min_pairs), ("grouping", wanted.grouping)):
        plain = list(value) if isinstance(value, tuple) else value
        if plain is not None and plain != dataset[name]:
            dataset[name] = differs[f"dataset.{name}"] = plain
    if dataset["grouping"] != stored["identity"]["dataset"]["grouping"]:
        _check_grouping(stored, dataset["grouping"])
        data["grouping"] = "_x_".join(dataset["grouping"]) or None
    data["min_pairs"] = dataset["min_pairs"]
    identity = {**stored["identity"], "dataset": dataset}
    key = replace(key_of(stored), digest=digest_of(identity))
    unchanged = identity == stored["identity"]
    return {
        **stored,
        "key": stored["key"] if unchanged else str(key),
        "identity": identity,
        "differs": differs,
        "data": data,
        "rescored": datetime.now(UTC).isoformat(timespec="seconds"),
    }


def _check_grouping(stored: Result, attributes: Sequence[str]) -> None:
    if "groups" in stored["method"]["needs"]:
        raise UnmetNeedError(
            f"{stored['method']['id']} was fitted on the groups {stored['data']['grouping']}: another grouping needs "
            f"a new run, with 'dataset.grouping=[{','.join(attributes)}]'."
        )
    absent = [name for name in attributes if name not in stored["data"]["groups"]]
    if absent:
        raise DataError(
            f"the scores of run {stored['key']} do not say the {', '.join(absent)} of their images, only "
            f"{', '.join(stored['data']['groups']) or 'nothing'}. Run it with "
            f"'dataset.grouping=[{','.join(attributes)}]'."
        )


def _measured(draft: Path, result: Result) -> Result:
    scores = ScoreFile(draft / FILE)
    splits = tuple(result["data"].get("measured_folds") or result["fit_report"])
    groupings, pairs = _groupings(scores, result)
    groups = [PairGroups.of(grouping, pairs, rule) for grouping in groupings for rule in PAIR_RULES]
    frame = ScoreFrame(_splits_of(scores, splits), scores.same, scores.score, scores.probability)
    rows = compute_metrics(frame, splits, groups, result["data"]["min_pairs"])
    write_metrics(draft / "metrics.parquet", rows)
    data = {**result["data"], "groups": {grouping.id: list(grouping.levels) for grouping in groupings}}
    return {**result, "data": data, **describe_metrics(rows, frame, result)}


def _splits_of(scores: ScoreFile, splits: tuple[str, ...]) -> I16:
    """The split that scored each pair, (p,)."""
    codes, names = scores.words("split")
    position: I16 = np.array([splits.index(name) for name in names], dtype=np.int16)
    return position[codes]


def _groupings(scores: ScoreFile, result: Result) -> tuple[list[Grouping], Pairs]:
    """The groupings of the run's configuration over the ends of its pairs: left ends first, then right ends."""
    n = len(scores.same)
    ends = np.arange(2 * n, dtype=np.int32)
    attributes, levels = result["identity"]["dataset"]["grouping"], result["data"]["groups"]
    parts = tuple(
        Grouping(name, tuple(levels[name]), np.concatenate(scores.groups(name, tuple(levels[name]))))
        for name in attributes
    )
    distinct = {part.id: part for part in (*parts, product_of(parts))} if parts else {}
    return list(distinct.values()), Pairs(ends[:n], ends[n:])
