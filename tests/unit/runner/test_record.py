"""What is kept of a run."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from fairfr.core.names import COLUMNS
from fairfr.core.types import Grouping, Pairs, ScoreFrame, VerificationSet
from fairfr.runner.held_out import HeldOutScores
from fairfr.runner.record import jsonable, readable_groups, score_columns

GENDER = Grouping("gender", ("female", "male"), np.array([0, 1, 1, -1], dtype=np.int16))
PAIRS = Pairs(np.array([0, 1, 0, 0, 3, 3], dtype=np.int32), np.array([0, 2, 1, 3, 1, 3], dtype=np.int32))


def test_pair_groups_in_words_tell_both_rules() -> None:
    names = readable_groups(GENDER, PAIRS).tolist()
    assert names == ["female", "male", "female|male", "female|", "|male", None]
    both = [name if name is not None and "|" not in name else None for name in names]
    first = [None if name is None else name.partition("|")[0] or None for name in names]
    levels = (*GENDER.levels, None)
    assert both == [levels[code] for code in GENDER.of(PAIRS, "both")]
    assert first == [levels[code] for code in GENDER.of(PAIRS, "first")]


def test_columns_follow_the_file_even_where_pairs_were_left_out() -> None:
    data = VerificationSet(
        id="x",
        source="files",
        backbone="net",
        digest="d",
        images=np.array(["a", "b", "c", "d"]),
        identity=np.array([3, 5, -1, 5], dtype=np.int32),
        pairs=Pairs(PAIRS.left[1:3], PAIRS.right[1:3]),
        same=np.array([True, False]),
        fold=np.array([1, 0], dtype=np.int16),
        fold_labels=("first", "second"),
        groupings={"gender": GENDER},
        grouping="gender",
        embeddings=None,
        row=np.array([4, 9]),
    )
    frame = ScoreFrame(data.fold, data.same, np.array([2.0, -1.0]), np.array([0.9, 0.1]))
    columns = score_columns(data, np.array([0.5, 0.25]), HeldOutScores(frame, ("one", "two")))
    assert {name: values.tolist() for name, values in columns.items()} == {
        "pair": [4, 9],
        "fold": ["second", "first"],
        "split": ["two", "one"],
        "left": ["b", "a"],
        "right": ["c", "b"],
        "identity_left": [5, 3],
        "identity_right": [None, 5],
        "same": [True, False],
        "cosine": [0.5, 0.25],
        "score": [2.0, -1.0],
        "probability": [0.9, 0.1],
        "gender": ["male", "female|male"],
    }


def test_anything_a_fit_reports_can_be_written_as_json() -> None:
    report = {
        1: np.float64(0.5),
        "count": np.int64(3),
        "flag": np.bool_(True),
        "bad": [float("nan"), np.float32("inf"), -float("inf")],
        "nested": {"tuple": (1, None)},
    }
    plain = jsonable(report)
    assert json.loads(json.dumps(plain, allow_nan=False)) == {
        "1": 0.5,
        "count": 3,
        "flag": True,
        "bad": [None, None, None],
        "nested": {"tuple": [1, None]},
    }


def test_arrays_in_a_report_become_lists() -> None:
    assert jsonable({"shift": np.array([0.5, np.nan]), "levels": {"b", "a"}}) == {
        "shift": [0.5, None],
        "levels": ["a", "b"],
    }
    assert jsonable({"cache": Path("a/b")}) == {"cache": "a/b"}


def test_every_column_of_scores_parquet_is_reserved(synthetic_set: object) -> None:
    data = synthetic_set("rfw", scale=0.01)  # type: ignore[operator]
    bare = replace(data, groupings={})
    frame = ScoreFrame(data.fold, data.same, np.zeros(data.n_pairs), np.zeros(data.n_pairs))
    assert set(score_columns(bare, np.zeros(data.n_pairs), HeldOutScores(frame, data.fold_labels))) <= COLUMNS


def test_no_grouping_ever_replaces_a_column(make_set: object) -> None:
    data = make_set(np.eye(4), [0, 1], [2, 3])  # type: ignore[operator]
    half = data.groupings["half"]
    held_out = HeldOutScores(ScoreFrame(data.fold, data.same, np.zeros(2), np.zeros(2)), data.fold_labels)
    for name in ("score", "left"):
        with pytest.raises(AssertionError, match=name):
            score_columns(replace(data, groupings={name: replace(half, id=name)}), np.zeros(2), held_out)
