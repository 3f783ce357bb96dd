"""Names that results use themselves are refused on reading; names that look alike are reported; sizes are bounded."""

from __future__ import annotations

import tracemalloc
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from pyarrow import parquet

from fairfr.core.errors import DataError
from fairfr.core.names import ATTRIBUTES
from fairfr.core.types import Grouping, Pairs, VerificationSet
from fairfr.data.locate import locate
from fairfr.data.settings import BackboneSettings, DatasetSettings
from fairfr.data.validation import similar_value_findings
from fairfr.runner.record import readable_groups

SEEN = (
    *("score", "probability", "cosine", "same", "fold", "pair", "left", "right", "split"),
    *("identity_left", "identity_right", "all", "worst", "gap", "pooled", "fit"),
)


def tables() -> tuple[pd.DataFrame, pd.DataFrame]:
    images = pd.DataFrame({"image": [f"i{k}" for k in range(8)], "kind": list("aabbaabb")})
    rows = [(k % 2, f"i{2 * k}", f"i{2 * k + 1}", 1) for k in range(4)]
    rows += [(k % 2, f"i{k}", f"i{k + 4}", 0) for k in range(4)]
    return images, pd.DataFrame(rows, columns=["fold", "left", "right", "same"])


def load(root: Path, images: pd.DataFrame | None, pairs: pd.DataFrame, grouping: str = "kind") -> VerificationSet:
    folder = root / "mine"
    (folder / "embeddings").mkdir(parents=True)
    if images is not None:
        images.to_csv(folder / "images.csv", index=False)
    pairs.to_csv(folder / "pairs.csv", index=False)
    ids = [f"i{k}" for k in range(8)] if images is None else images["image"].tolist()
    vectors = np.random.default_rng(0).normal(size=(len(ids), 4)).astype("f4")
    np.savez(folder / "embeddings" / "net.npz", image=np.array(ids), vectors=vectors)
    dataset = DatasetSettings("mine", "Mine", (grouping,), min_pairs=1)
    backbone = BackboneSettings("net", "Net", None if images is not None else "cos")
    return locate(dataset, backbone, root, "files").load()


def test_the_names_that_results_use_are_reserved() -> None:
    assert set(SEEN) == ATTRIBUTES


@pytest.mark.parametrize("name", [*SEEN, "kind_left", "kind_right"])
def test_an_attribute_with_a_name_of_ours_is_refused(tmp_path: Path, name: str) -> None:
    images, pairs = tables()
    with pytest.raises(DataError) as told:
        load(tmp_path, images.rename(columns={"kind": name}), pairs, name)
    assert "images.csv" in str(told.value) and f"'{name}'" in str(told.value) and "Rename" in str(told.value).title()


@pytest.mark.parametrize("name", ["score", "cosine", "split", "all", "kind_left"])
def test_so_it_is_in_a_set_of_scores(tmp_path: Path, name: str) -> None:
    _, pairs = tables()
    pairs["cos"] = np.linspace(0.9, 0.1, len(pairs))
    pairs[name] = "a"
    with pytest.raises(DataError) as told:
        load(tmp_path, None, pairs, name)
    assert "pairs.csv" in str(told.value) and f"'{name}'" in str(told.value)


def test_columns_that_nobody_asks_for_may_bear_any_name(tmp_path: Path) -> None:
    images, pairs = tables()
    for name in SEEN:
        images[name] = "x"
    assert load(tmp_path, images, pairs).groupings["kind"].levels == ("a", "b")


@pytest.mark.parametrize(("column", "value"), [("kind", "worst"), ("kind", "gap"), ("fold", "pooled")])
def test_groups_and_folds_with_names_of_ours_are_refused_before_anything_is_computed(
    tmp_path: Path, column: str, value: str
) -> None:
    images, pairs = tables()
    table = images if column == "kind" else pairs
    table[column] = [value, *table[column].astype(str)[1:]]
    with pytest.raises(DataError, match=f"called '{value}'"):
        load(tmp_path, images, pairs)


def test_folds_and_groups_that_look_alike_are_reported(tmp_path: Path) -> None:
    images, pairs = tables()
    pairs["fold"] = ["1", "01", "1 ", "2"] * 2
    images["kind"] = ["a", "A", "a ", "b"] * 2
    data = load(tmp_path, images, pairs)
    folds, groups = (str(found) for found in data.warnings if found.code == "values-look-alike")
    assert "pairs.csv" in folds and all(repr(fold) in folds for fold in ("1", "01", "1 ")) and "'2'" not in folds
    assert "images.csv" in groups and "kind" in groups and all(repr(group) in groups for group in ("a", "A", "a "))
    assert data.fold_labels and len(data.groupings["kind"].levels) == 4  # reported, not changed


@pytest.mark.parametrize(
    ("values", "told"),
    [
        (("1", "2", "10"), 0),
        (("1", "+1"), 1),
        (("0", "-0", "00"), 1),
        (("caf\u00e9", "cafe\u0301"), 1),
        (("a b", "a  b"), 1),
        (("1.0", "1"), 0),
        (("9" * 5000, "0" + "9" * 5000), 0),
    ],
)
def test_what_looks_alike(values: tuple[str, ...], told: int) -> None:
    assert len(similar_value_findings(Path("f"), "folds", values)) == told


def test_twenty_thousand_groups_take_memory_by_groups() -> None:
    n = 20_000
    levels = tuple(f"g{k}" for k in range(n))
    grouping = Grouping("kind", levels, np.arange(n, dtype=np.int16))
    rng = np.random.default_rng(0)
    pairs = Pairs(*(rng.integers(n, size=5000).astype(np.int32) for _ in range(2)))
    tracemalloc.start()
    words = readable_groups(grouping, pairs).tolist()
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 2**25
    for at in (0, 17, 4999):
        left, right = levels[pairs.left[at]], levels[pairs.right[at]]
        assert words[at] == (left if left == right else f"{left}|{right}")


@pytest.mark.parametrize(
    ("column", "word"),
    [
        (pa.array(["a"] * 3_000_000), "3,000,000 rows"),
        (pa.array([["a"] * 100] * 30_000), "3,000,000 rows"),
        (pa.array(["a" * 900] * 400_000), "360,000,000 bytes"),
        (pa.array(["a" * 900] * 400_000, pa.large_string()), "360,000,000 bytes"),
    ],
    ids=["rows", "lists", "text", "large text"],
)
def test_a_parquet_of_repetitions_is_not_unfolded(tmp_path: Path, column: pa.Array, word: str) -> None:
    images, pairs = tables()
    load(tmp_path, images, pairs)
    (tmp_path / "mine" / "images.csv").unlink()
    parquet.write_table(pa.table({"image": column}), tmp_path / "mine" / "images.parquet")
    dataset = DatasetSettings("mine", "Mine", (), min_pairs=1)
    with pytest.raises(DataError, match=word):
        locate(dataset, BackboneSettings("net", "Net"), tmp_path, "files").load()
