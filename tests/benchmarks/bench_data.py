"""What a cell costs beside its method: the data, the metrics and scores.parquet, at BFW's size (synthetic)."""

from __future__ import annotations

import tempfile
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from commands import ROOT
from measured import Measured, seconds

from fairfr.core.findings import Finding
from fairfr.core.types import PAIR_RULES, ScoreFrame, VerificationSet
from fairfr.runner.settings import CellSettings


class Quiet:
    """Shows nothing."""

    def warn(self, finding: Finding) -> None: ...
    def wait_for(self, holder: str) -> None: ...
    def start(self, n_folds: int) -> None: ...
    def fold_done(self, fold: str) -> None: ...


def measure(threads: int) -> list[Measured]:
    """Metrics, scores.parquet, and the second of two cells on the same data."""
    return [metrics(threads), scores(), second_cell(threads)]


@cache
def bfw() -> tuple[VerificationSet, ScoreFrame]:
    """The stand-in of BFW with MagFace, and a fit's scores of it."""
    from fairfr.data.locate import locate
    from fairfr.pairs.table import PairTable

    settings, _ = composed(1, "method=platt")
    data = locate(settings.dataset, settings.backbone, Path(), "synthetic").load()
    cosine = PairTable(data).cosine
    return data, ScoreFrame(data.fold, data.same, cosine, 1 / (1 + np.exp(-20 * (cosine - 0.3))))


def composed(threads: int, *overrides: str) -> tuple[CellSettings, dict[str, Any]]:
    from hydra import compose, initialize_config_dir

    from fairfr.sweep.compose import read_settings

    options = ["dataset=bfw", "source=synthetic", "store=folder", "force=true", f"threads={threads}", *overrides]
    with initialize_config_dir(config_dir=str(ROOT / "conf"), version_base="1.3"):
        return read_settings(compose("config", overrides=options))


def metrics(threads: int) -> Measured:
    """All metrics of a cell against the ranking metrics and Brier scores alone, group by group, of scikit-learn."""
    from fairfr.metrics.cell_metrics import PairGroups, compute_metrics

    data, frame = bfw()
    groups = [PairGroups.of(grouping, data.pairs, rule) for grouping in data.groupings.values() for rule in PAIR_RULES]
    folds = [frame.fold == code for code in range(len(data.fold_labels))] + [np.ones(data.n_pairs, dtype=bool)]

    def plain() -> None:
        for fold in folds:
            by_library(frame, fold)
            for grouping in groups:
                for code in range(len(grouping.levels)):
                    by_library(frame, fold & (grouping.codes == code))

    ours = seconds(lambda: compute_metrics(frame, data.fold_labels, groups, 20, threads), 3)
    sorting = seconds(lambda: (np.argsort(frame.score), np.argsort(frame.probability)), 3)
    values = 2 * 2 * (1 + len(groups)) * data.n_pairs  # two columns; in folds and pooled
    return Measured(
        "metrics of a BFW cell, both readings, all groups, against scikit-learn group by group",
        ours,
        seconds(plain),
        f"{values / 1e6:.0f}M ranked values, {values / ours / 1e6:.0f}M/s; two sorts alone take {sorting:.2f} s",
        "20 x scikit-learn",
    )


def by_library(frame: ScoreFrame, chosen: Any) -> None:
    from sklearn.metrics import brier_score_loss, roc_auc_score, roc_curve

    same = frame.same[chosen]
    for values in (frame.score[chosen], frame.probability[chosen]):
        roc_auc_score(same, values)
        roc_auc_score(same, values, max_fpr=0.1)
        roc_curve(same, values, drop_intermediate=False)
    brier_score_loss(same, frame.probability[chosen])


def scores() -> Measured:
    """scores.parquet of a cell, against pandas with a text for each pair."""
    import pandas as pd

    from fairfr.runner.held_out import HeldOutScores
    from fairfr.runner.record import score_columns
    from fairfr.store.parquet_files import DictionaryColumn, write_scores

    data, frame = bfw()
    held_out = HeldOutScores(frame, data.fold_labels)

    def texts(column: Any) -> Any:
        return np.array(column.tolist(), dtype=object) if isinstance(column, DictionaryColumn) else column

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "scores.parquet"

        def plain() -> None:
            columns = {name: texts(column) for name, column in score_columns(data, frame.score, held_out).items()}
            pd.DataFrame(columns).to_parquet(path, index=False)

        slow = seconds(plain, 2)
        ours = seconds(lambda: write_scores(path, score_columns(data, frame.score, held_out)), 3)
        size = path.stat().st_size
    return Measured(
        "scores.parquet of a BFW cell, against pandas with a text for each pair",
        ours,
        slow,
        f"{size / 1e6:.0f} MB at {size / ours / 1e6:.0f} MB/s, compressed by one thread",
    )


def second_cell(threads: int) -> Measured:
    """Platt on BFW, after another cell on the same data, against the first one."""
    from fairfr.runner.cell import run_cell
    from fairfr.runner.table_cache import table_cache

    with tempfile.TemporaryDirectory() as folder:
        settings, plain = composed(threads, "method=platt", f"out_root={folder}")
        table_cache.clear()
        first = seconds(lambda: run_cell(settings, plain, Quiet()))
        second = seconds(lambda: run_cell(settings, plain, Quiet()), 2)
        table_cache.clear()
    return Measured(
        "a second BFW cell (platt) on the same data in one process, against the first",
        second,
        first,
        "logistic losses of 3.7M pairs a step, metrics, 31 MB of scores",
    )
