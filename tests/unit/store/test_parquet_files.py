"""scores.parquet: what is written from codes is read as text."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from pyarrow import parquet

from fairfr.core.types import PlaceholderIds
from fairfr.store.parquet_files import DictionaryColumn, ScoreFile, read_columns, write_scores
from fairfr.store.result_file import DamagedRunError


def test_words_and_masked_numbers_are_read_by_pandas_as_such(tmp_path: Path) -> None:
    columns = {
        "left": DictionaryColumn(np.array([2, 0, 0, -1]), ["a", "never", "c"]),
        "identity_left": np.ma.masked_array(np.array([7, 8, 9, 7], dtype=np.int32), [False, True, False, False]),
    }
    write_scores(tmp_path / "scores.parquet", columns)
    frame = pd.read_parquet(tmp_path / "scores.parquet")
    assert str(frame["left"].dtype) == "category" and str(frame["identity_left"].dtype) == "Int32"
    assert [None if pd.isna(v) else v for v in frame["left"]] == ["c", "a", "a", None] == columns["left"].tolist()
    assert [None if pd.isna(v) else v for v in frame["identity_left"]] == [7, None, 9, 7]


@pytest.mark.parametrize("ids", [PlaceholderIds(150), tuple(f"image{k}" for k in range(300))])
def test_texts_that_hardly_repeat_are_written_without_a_dictionary(
    tmp_path: Path, ids: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("fairfr.store.parquet_files.MAX_DICTIONARY_TEXTS", 100)
    path, codes = tmp_path / "scores.parquet", np.random.default_rng(0).permutation(300).astype(np.int32)
    write_scores(path, {"left": DictionaryColumn(codes, ids), "fold": DictionaryColumn(codes % 3, ("a", "b", "c"))})
    assert "dictionary" not in str(parquet.read_schema(path).field("left").type)
    assert pd.read_parquet(path)["left"].tolist() == [ids[code] for code in codes.tolist()]
    numbers, names = ScoreFile(path).words("left")
    assert [names[number] for number in numbers] == [ids[code] for code in codes.tolist()]


def test_a_table_that_claims_more_rows_than_it_can_have_values_for_is_damage(tmp_path: Path) -> None:
    """A value that repeats takes no room."""
    path = tmp_path / "scores.parquet"
    pd.DataFrame({"score": np.zeros(3_000_000)}).to_parquet(path)
    assert path.stat().st_size < 20_000
    with pytest.raises(DamagedRunError, match="3,000,000 rows"):
        read_columns(path, ["score"])


def test_a_table_without_the_column_is_damage(tmp_path: Path) -> None:
    path = tmp_path / "scores.parquet"
    pd.DataFrame({"score": np.zeros(3)}).to_parquet(path)
    with pytest.raises(DamagedRunError, match="no column cosine"):
        read_columns(path, ["cosine"])
