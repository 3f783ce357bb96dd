"""Folds kept for a run that was interrupted: exact, or not there at all."""

from __future__ import annotations

import os
import time
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from fairfr.core.types import FoldSplit
from fairfr.store.kept_folds import ABANDONED, KeptFold, KeptFolds, ScoredFold

VERSIONS = {"python": "3.12.1", "numpy": "2.1.0"}
SPLIT = FoldSplit("fold/1 \u202e", np.arange(6), np.array([9, 7, 11]))
ODD = np.array([np.nextafter(0.1, 1.0), 5e-324, -1.0000000000000002])
FOLD = KeptFold(ScoredFold(ODD, np.array([0.0, 1 / 3, 1.0]), {"C": 0.1, "overlay": {"a": None}}), 2, 61.5)


@pytest.fixture
def kept(tmp_path: Path) -> KeptFolds:
    made = KeptFolds(tmp_path, "synthetic-0123", VERSIONS)
    made.write(SPLIT, FOLD)
    return made


def file_in(tmp_path: Path) -> Path:
    (path,) = (tmp_path / ".folds").glob("*/*")
    return path


def test_a_fold_comes_back_to_the_bit(kept: KeptFolds) -> None:
    found = kept.read(SPLIT)
    assert found is not None
    assert found.scored.score.tobytes() == ODD.tobytes()
    assert found.scored.probability.tobytes() == FOLD.scored.probability.tobytes()
    assert (found.scored.report, found.threads, found.seconds) == (FOLD.scored.report, 2, 61.5)
    found.scored.score[0] = 0.0  # an array of its own, which may be written


def test_a_fold_of_other_pairs_another_run_or_other_versions_is_not_used(kept: KeptFolds, tmp_path: Path) -> None:
    assert kept.read(replace(SPLIT, test=np.array([7, 9, 11]))) is None
    assert kept.read(replace(SPLIT, id="fold/2")) is None
    assert KeptFolds(tmp_path, "synthetic-4567", VERSIONS).read(SPLIT) is None
    assert KeptFolds(tmp_path, "synthetic-0123", {**VERSIONS, "numpy": "2.2.0"}).read(SPLIT) is None
    assert KeptFolds(tmp_path, "synthetic-0123", dict(VERSIONS)).read(SPLIT) is not None


def test_a_damaged_file_counts_as_absent(kept: KeptFolds, tmp_path: Path) -> None:
    path = file_in(tmp_path)
    whole = path.read_bytes()
    for at in range(len(whole)):
        flipped = bytearray(whole)
        flipped[at] ^= 1
        path.write_bytes(flipped)
        assert kept.read(SPLIT) is None, f"byte {at}"
    for length in (0, 10, 65, len(whole) - 1):
        path.write_bytes(whole[:length])
        assert kept.read(SPLIT) is None, f"the first {length} bytes"
    path.unlink()
    path.mkdir()
    assert kept.read(SPLIT) is None


def test_a_write_that_fails_leaves_the_older_file_and_no_other(
    kept: KeptFolds, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*arguments: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("fairfr.store.kept_folds.os.replace", full)
    with pytest.raises(OSError, match="No space"):
        kept.write(SPLIT, replace(FOLD, threads=7))
    file_in(tmp_path)
    found = kept.read(SPLIT)
    assert found is not None and found.threads == 2


def test_clearing_removes_its_own_folds_and_abandoned_ones(kept: KeptFolds, tmp_path: Path) -> None:
    recent, old = (KeptFolds(tmp_path, name, VERSIONS) for name in ("recent", "old"))
    recent.write(SPLIT, FOLD)
    old.write(SPLIT, FOLD)
    long_ago = time.time() - ABANDONED - 60
    os.utime(tmp_path / ".folds" / "old", (long_ago, long_ago))
    kept.clear()
    assert [path.name for path in (tmp_path / ".folds").iterdir()] == ["recent"]
    recent.clear()
    recent.clear()
    assert list(tmp_path.iterdir()) == [], "nothing is left behind"
