"""Reading a run's scores back."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from made_runs import results_of

from fairfr.paper.order import ORDER
from fairfr.store.parquet_files import DictionaryColumn, ScoreFile, write_scores
from fairfr.stored.reading import PAPER_READING, STRICT
from fairfr.stored.run import Run
from fairfr.stored.scores import RunScores, ScoresInMemory, setting_label


def test_groups_of_both_images_are_read_off_the_word(tmp_path: Path) -> None:
    words = ["asian", "white", "asian|white", "white|", "|white", None, "a|b", "a|b|asian", "odd"]
    wanted = [(0, 0), (1, 1), (0, 1), (1, -1), (-1, 1), (-1, -1), (2, 2), (2, 0), (-1, -1)]
    write_scores(tmp_path / "scores.parquet", {"kind": np.array(words, dtype=object)})
    left, right = ScoreFile(tmp_path / "scores.parquet").groups("kind", ("asian", "white", "a|b"))
    assert list(zip(left.tolist(), right.tolist(), strict=True)) == wanted


def test_columns_come_back_as_they_were_written(fake_run: Any) -> None:
    scores = RunScores(fake_run("ac_density"))
    frame = pd.read_parquet(scores.path)
    for name in ("pair", "same", "cosine", "score", "probability"):
        np.testing.assert_array_equal(getattr(scores, name), frame[name].to_numpy())


def test_identities_come_back_as_codes_and_blanks_as_unknown(fake_run: Any) -> None:
    scores = RunScores(fake_run("beta", known_people=50))
    frame = pd.read_parquet(scores.path)
    for side, codes in zip(("left", "right"), scores.identities, strict=True):
        column = frame[f"identity_{side}"]
        assert pd.api.types.is_integer_dtype(column.dtype) and column.isna().any() and column.notna().any()
        np.testing.assert_array_equal(codes, column.fillna(-1).to_numpy())


def test_groups_of_pairs_follow_the_rule(fake_run: Any) -> None:
    scores = RunScores(fake_run("beta"))
    words = pd.read_parquet(scores.path)["kind"].astype(object)
    for rule in ("first", "both"):
        wanted = [
            -1 if pd.isna(word) or (rule == "both" and "|" in word) else (*scores.levels, "").index(word.split("|")[0])
            for word in words
        ]
        wanted = np.where(np.array(wanted) == len(scores.levels), -1, wanted)
        np.testing.assert_array_equal(scores.pair_groups(rule), wanted)
    assert (scores.pair_groups("both") == -1).sum() > (scores.pair_groups("first") == -1).sum() > 0


def test_both_sides_number_images_alike(fake_run: Any) -> None:
    scores = RunScores(fake_run("beta"))
    frame = pd.read_parquet(scores.path)
    left, right = scores.images
    names: dict[int, set[str]] = {}
    for number, name in [*zip(left, frame["left"], strict=True), *zip(right, frame["right"], strict=True)]:
        names.setdefault(int(number), set()).add(name)
    assert all(len(of_number) == 1 for of_number in names.values())
    assert len(names) == len(set(frame["left"]) | set(frame["right"]))


def test_the_paper_ranks_a_native_probability_and_the_strict_reading_the_score(fake_run: Any) -> None:
    for reading, wanted in ((PAPER_READING, "probability"), (STRICT, "score")):
        native = RunScores(fake_run("beta").read(reading))
        assert native.ranking_values is getattr(native, wanted)
        shutil.rmtree(native.path.parent)
    plain = RunScores(fake_run("baseline").read(PAPER_READING))
    assert plain.ranking_values is plain.score


def test_data_without_a_grouping_has_no_groups(fake_run: Any) -> None:
    scores = RunScores(fake_run("beta", grouping=None))
    assert scores.levels == () and set(scores.pair_groups("first")) == {-1}


def test_missing_scores_are_told_from_present_ones(fake_run: Any) -> None:
    result = fake_run("beta")
    assert RunScores.if_available(None) is None and RunScores.if_available(Run(result.result)) is None
    assert RunScores.if_available(result) is not None
    with pytest.raises(FileNotFoundError, match=result.result.key):
        RunScores(Run(result.result))
    (result.folder / "scores.parquet").unlink()
    assert RunScores.if_available(result) is None


def test_settings_stand_in_the_papers_order_and_others_last(fake_run: Any) -> None:
    runs = results_of([fake_run("beta", dataset=dataset) for dataset in ("aaa", "lfw", "rfw")], "synthetic")
    assert ORDER.sorted(runs.settings) == (("rfw", "facenet"), ("lfw", "facenet"), ("aaa", "facenet"))


def test_only_a_stand_in_is_called_synthetic(fake_run: Any) -> None:
    assert "SYNTHETIC" in setting_label(fake_run("beta")) and "RFW x FaceNet" in setting_label(fake_run("platt"))
    assert setting_label(fake_run("baseline", source="files")) == "RFW x FaceNet"


def test_scores_in_memory_are_those_of_the_file_with_the_same_columns(fake_run: Any) -> None:
    """The columns are read as text with pandas, not through the reader under test."""
    run = fake_run("beta", known_people=50)
    stored = RunScores(run)
    frame = pd.read_parquet(stored.path)
    columns: dict[str, Any] = {}
    for name in ("pair", "same", "cosine", "score", "probability"):
        columns[name] = frame[name].to_numpy()
    images = sorted({*frame["left"], *frame["right"]}, reverse=True)  # in any order
    for name in ("left", "right"):
        columns[name] = DictionaryColumn(np.array([images.index(id) for id in frame[name]]), images)
    for name in ("fold", "split", "kind"):
        codes, values = pd.factorize(frame[name].astype(object))
        columns[name] = DictionaryColumn(codes, list(values))
    for name in ("identity_left", "identity_right"):
        columns[name] = np.ma.masked_array(frame[name].fillna(0).to_numpy(int), frame[name].isna())
    kept = ScoresInMemory(run, columns)
    for name in ("pair", "same", "cosine", "score", "probability", "ranking_values"):
        np.testing.assert_array_equal(getattr(kept, name), getattr(stored, name))
    for name in ("images", "identities"):
        for ours, theirs in zip(getattr(kept, name), getattr(stored, name), strict=True):
            np.testing.assert_array_equal(ours, theirs)
    for rule in ("first", "both"):
        np.testing.assert_array_equal(kept.pair_groups(rule), stored.pair_groups(rule))
    fits, names = kept.fits
    assert [names[fit] for fit in fits] == frame["split"].tolist()
