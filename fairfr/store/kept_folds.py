"""Finished folds of a run that has not finished, so that an interruption costs one fold and not all of them.

Each fold is one file below ``<out_root>/.folds/<run>/``: a line with the sha256 of everything after it, a line of JSON,
then the scores and the probabilities, little-endian float64. A file that is not as it was written counts as absent.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import shutil
import time
import uuid
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from fairfr.core.types import F64, FoldSplit

FOLDER = ".folds"
ABANDONED = 30 * 24 * 3600.0  # seconds without a new fold, after which nobody is expected to resume a run
_STORED = np.dtype("<f8")


@dataclass(frozen=True, slots=True)
class ScoredFold:
    """Score and probability (t,) of the held-out pairs of one split, and what its fit reported."""

    score: F64
    probability: F64
    report: dict[str, Any]


@dataclass(frozen=True, slots=True)
class KeptFold:
    """A fold that an earlier process computed: with how many threads, in how many seconds."""

    scored: ScoredFold
    threads: int
    seconds: float


class KeptFolds:
    """The folds of the run called ``run``, a name that holds its key.

    ``versions`` of Python and of the packages that decide results are not part of a key: a fold computed with other
    versions is not used, since one run must not mix them.
    """

    def __init__(self, out_root: Path, run: str, versions: Mapping[str, str]) -> None:
        self._folder = out_root / FOLDER / run
        self._versions = dict(versions)

    def read(self, split: FoldSplit) -> KeptFold | None:
        """What is kept of ``split``; None if there is nothing, or nothing that can be used."""
        try:
            seal, _, body = self._path(split).read_bytes().partition(b"\n")
        except OSError:
            return None
        if hashlib.sha256(body).hexdigest().encode() != seal:
            return None
        line, _, numbers = body.partition(b"\n")
        head = json.loads(line)
        if head["about"] != self._about(split):
            return None
        score, probability = np.frombuffer(numbers, dtype=_STORED).astype(np.float64).reshape(2, -1)
        return KeptFold(ScoredFold(score, probability, head["report"]), head["threads"], head["seconds"])

    def write(self, split: FoldSplit, fold: KeptFold) -> None:
        """Keep a fold; its report must be plain JSON. Raises OSError where the disk is full."""
        head = {
            "about": self._about(split),
            "threads": fold.threads,
            "seconds": fold.seconds,
            "report": fold.scored.report,
        }
        numbers = np.stack([fold.scored.score, fold.scored.probability]).astype(_STORED)
        body = json.dumps(head).encode() + b"\n" + numbers.tobytes()
        self._folder.mkdir(parents=True, exist_ok=True)
        new = self._folder / f"{uuid.uuid4().hex}.new"
        try:
            new.write_bytes(hashlib.sha256(body).hexdigest().encode() + b"\n" + body)
            os.replace(new, self._path(split))
        finally:
            new.unlink(missing_ok=True)

    def clear(self) -> None:
        """Remove the folds of this run, and those of runs that nobody has resumed for a month."""
        shutil.rmtree(self._folder, ignore_errors=True)
        with contextlib.suppress(OSError):
            for folder in self._folder.parent.iterdir():
                if time.time() - folder.stat().st_mtime > ABANDONED:
                    shutil.rmtree(folder, ignore_errors=True)
            self._folder.parent.rmdir()  # only if it is empty

    def _path(self, split: FoldSplit) -> Path:
        """Named by a digest: the label of a fold may be anything."""
        return self._folder / f"{hashlib.sha256(split.id.encode()).hexdigest()[:16]}.fold"

    def _about(self, split: FoldSplit) -> dict[str, Any]:
        pairs = split.test.astype("<i8").tobytes()
        return {"split": split.id, "pairs": hashlib.sha256(pairs).hexdigest(), "versions": self._versions}
