"""Small runs with scores on disk, as a real run leaves them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from fairfr.core.keys import RunKey
from fairfr.core.types import Grouping, Pairs, ScoreFrame
from fairfr.experiment.record import jsonable, pair_level_names
from fairfr.metrics.by_group import PairGroups, evaluate
from fairfr.metrics.summary import summarise
from fairfr.report.readings import Result
from fairfr.store.folder import write_scores
from fairfr.store.reading import checksums

N_PAIRS = 600
LEVELS = ("one", "two_parts", "three")
NEEDS = {"gst": ["groups"], "gst_paper": ["groups"]}
NATIVE = ("beta", "platt", "faircal", "ac_linear", "ac_density", "ac_density_loo")
FakeRun = Callable[..., Result]


@pytest.fixture
def fake_run(tmp_path: Path) -> FakeRun:
    """``fake_run(method, noise=...)``: a completed run on the same 600 pairs whatever the method.

    ``known_people``: how many of the 120 people are known by name, ``per_person`` of them to one code; None: the file
    is an older one, without identities.
    """

    def make(
        method: str,
        noise: float = 0.5,
        dataset: str = "rfw",
        source: Any = "synthetic",
        known_people: int | None = None,
        per_person: int = 1,
        **data: Any,
    ) -> Result:
        rng = np.random.default_rng(5)
        same = rng.random(N_PAIRS) < 0.5
        left = np.where(same, 2 * rng.integers(120, size=N_PAIRS), rng.integers(240, size=N_PAIRS)).astype(np.int32)
        right = np.where(same, left + 1, (left + 2 + rng.integers(200, size=N_PAIRS)) % 240).astype(np.int32)
        pairs = Pairs(left, right)
        codes = (np.arange(240) // 2 % 4).astype(np.int16)  # the fourth is unknown
        grouping = Grouping("kind", LEVELS, np.where(codes == 3, -1, codes).astype(np.int16))
        score = same + np.random.default_rng(len(method)).normal(0, noise, N_PAIRS)
        probability = np.clip(score, 0.0, 1.0)
        fold = (np.arange(N_PAIRS) % 3).astype(np.int16)
        key = RunKey(dataset, "facenet", method, source, "0123456789abcdef")
        frame = ScoreFrame(fold, same, score, probability)
        groups = [PairGroups.of(grouping, pairs, rule) for rule in ("both", "first")]
        rows = evaluate(frame, ("a", "b", "c"), groups, min_pairs=5)
        folder = tmp_path / dataset / method
        folder.mkdir(parents=True)
        columns = {
            "pair": np.arange(N_PAIRS),
            "fold": np.array(["a", "b", "c"])[fold],
            "split": np.array(["a", "b", "c"])[fold],
            "left": np.char.add("image", left.astype(str)),
            "right": np.char.add("image", right.astype(str)),
            "same": same,
            "cosine": np.tanh(score),
            "score": score,
            "probability": probability,
            "kind": pair_level_names(grouping, pairs),
        }
        if known_people is not None:
            for side, images in (("left", left), ("right", right)):
                person = images // 2
                columns[f"identity_{side}"] = np.ma.masked_array(person // per_person, person >= known_people)
        write_scores(folder / "scores.parquet", columns)
        stored = {
            "key": str(key),
            "status": "completed",
            "source": source,
            "finished": "2026-01-01T00:00:00+00:00",
            "dataset": {"id": dataset, "label": dataset.upper()},
            "backbone": {"id": "facenet", "label": "FaceNet"},
            "method": {
                "id": method,
                "label": method.title(),
                "needs": NEEDS.get(method, []),
                "native_probability": method in NATIVE,
            },
            "data": {
                "digest": "d",
                "pairs": N_PAIRS,
                "same": int(same.sum()),
                "folds": ["a", "b", "c"],
                "grouping": "kind",
                "groups": {"kind": list(LEVELS)},
                **data,
            },
            "files": checksums(folder),
            "metrics": jsonable(summarise(rows)),
        }
        return Result(stored, folder)

    return make
