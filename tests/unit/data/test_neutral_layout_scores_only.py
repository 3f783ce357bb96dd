"""Scores-only sets: with ids and without, attributes by pair, by side or by image."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from broken_files import Refuses

from fairfr.core.errors import ConfigError
from fairfr.core.types import VerificationSet
from fairfr.data.locate import locate
from fairfr.data.settings import BackboneSettings, DatasetSettings

DATASET = DatasetSettings("vendor", "Vendor", ("ethnicity",), min_pairs=1)


def frame(**columns: list[object]) -> pd.DataFrame:
    """Eight pairs in two folds, two groups."""
    plain: dict[str, list[object]] = {
        "fold": [0, 0, 0, 0, 1, 1, 1, 1],
        "same": [1, 0] * 4,
        "cosine": [0.9, 0.1, 0.8, -0.2, 0.7, 0.3, 0.95, 0.05],
    }
    return pd.DataFrame(plain | columns)


BY_PAIR: list[object] = ["asian", "asian", "white", "white"] * 2
IDS: dict[str, list[object]] = {
    "left": ["001", "001", "003", "003", "005", "005", "007", "007"],
    "right": ["002", "005", "004", "007", "006", "002", "008", "004"],
}


def load(
    root: Path,
    pairs: pd.DataFrame,
    images: pd.DataFrame | None = None,
    column: str = "cosine",
    dataset: DatasetSettings = DATASET,
) -> VerificationSet:
    folder = root / "vendor"
    folder.mkdir(exist_ok=True)
    pairs.to_csv(folder / "pairs.csv", index=False)
    if images is not None:
        images.to_csv(folder / "images.csv", index=False)
    return locate(dataset, BackboneSettings("scores", "Scores", column), root, "files").load()


def test_without_ids_each_row_is_two_images_of_its_own(tmp_path: Path) -> None:
    data = load(tmp_path, frame(ethnicity=BY_PAIR))
    assert data.embeddings is None and data.warnings == ()
    assert data.cosine is not None and data.cosine.tolist() == frame()["cosine"].tolist()
    assert len(data.images) == 16
    assert data.images[data.pairs.left[3]] == "row3_left" and data.images[data.pairs.right[3]] == "row3_right"
    assert data.groupings["ethnicity"].of(data.pairs, "both").tolist() == [0, 0, 1, 1] * 2
    assert (data.identity == -1).all() and not data.cosine.flags.writeable


def test_attributes_by_side(tmp_path: Path) -> None:
    right = ["asian", "white", "white", ""] * 2
    data = load(tmp_path, frame(ethnicity_left=BY_PAIR, ethnicity_right=list(right)))
    grouping = data.groupings["ethnicity"]
    assert grouping.levels == ("asian", "white")
    assert grouping.of(data.pairs, "both").tolist() == [0, -1, 1, -1] * 2
    assert grouping.of(data.pairs, "first").tolist() == [0, 0, 1, 1] * 2


def test_with_ids_images_are_shared(tmp_path: Path) -> None:
    data = load(tmp_path, frame(ethnicity=BY_PAIR, **IDS))
    assert sorted(data.images) == [f"00{i}" for i in range(1, 9)]
    assert data.images[data.pairs.left].tolist() == IDS["left"]
    assert data.images[data.pairs.right].tolist() == IDS["right"]
    assert data.groupings["ethnicity"].of(data.pairs, "both").tolist() == [0, 0, 1, 1] * 2


def test_with_ids_and_images_attributes_come_from_the_images(tmp_path: Path) -> None:
    ids = [f"00{i}" for i in range(9)]
    images = pd.DataFrame({"image": ids, "identity": [i // 2 for i in range(1, 10)], "ethnicity": ["a", *"bc" * 4]})
    data = load(tmp_path, frame(ethnicity=BY_PAIR, **IDS), images)
    assert data.images.tolist() == ids[1:]
    assert data.groupings["ethnicity"].levels == ("b", "c")
    assert (data.identity >= 0).all()


def test_a_blank_attribute_is_no_contradiction(tmp_path: Path) -> None:
    data = load(tmp_path, frame(ethnicity=["", *BY_PAIR[1:]], **IDS))
    assert data.groupings["ethnicity"].of(data.pairs, "first").tolist() == [0, 0, 1, 1] * 2


def test_columns_that_could_be_groups_are_those_of_the_pairs(tmp_path: Path) -> None:
    pairs = frame(sex_left=list("fm") * 4, sex_right=list("f") * 8, other=[0.5] * 8)
    assert load(tmp_path, pairs, dataset=replace(DATASET, grouping=())).group_columns == {"sex": 2}


def test_rounding_beyond_one_is_clipped(tmp_path: Path) -> None:
    data = load(tmp_path, frame(ethnicity=BY_PAIR, cosine=[1 + 5e-7, 0.1, 0.8, -1 - 5e-7, 0.7, 0.3, 0.95, 0.05]))
    assert data.cosine is not None
    assert data.cosine[0] == 1 and data.cosine[3] == -1


def test_a_distance_is_suspected_unless_it_may_be_chance(tmp_path: Path) -> None:
    pairs = frame(ethnicity=BY_PAIR)
    distances = pairs.assign(cosine=1 - pairs["cosine"].clip(lower=0))
    many = pd.concat([distances] * 4, ignore_index=True)
    (warning,) = [found for found in load(tmp_path, many).warnings if found.code == "reversed-scores"]
    assert warning.severity == "serious" and "AUROC 0.000" in warning.text
    for advice in ("distance d is written 1 - d (", "1 - d^2 / 2", "labels swapped"):
        assert advice in warning.text
    assert not [found for found in load(tmp_path, distances).warnings if found.code == "reversed-scores"]


Change = Callable[[pd.DataFrame], pd.DataFrame]


def cell(column: str, row: int, value: object) -> Change:
    def change(pairs: pd.DataFrame) -> pd.DataFrame:
        values: list[object] = pairs[column].tolist()
        values[row] = value
        return pairs.assign(**{column: values})

    return change


BROKEN: dict[str, tuple[Change, str, str]] = {
    "above one": (cell("cosine", 2, 87.5), "not-a-cosine", "line 4"),
    "nan": (cell("cosine", 2, "nan"), "not-a-number", "line 4"),
    "inf": (cell("cosine", 2, "-inf"), "not-a-number", "line 4"),
    "blank": (cell("cosine", 5, ""), "not-a-number", "line 7"),
    "decimal comma": (cell("cosine", 7, "0,5"), "not-a-number", "line 9"),
    "no column": (lambda p: p.rename(columns={"cosine": "cosines"}), "missing-column", ""),
    "left alone": (lambda p: p.drop(columns="right"), "missing-column", ""),
    "no attribute": (lambda p: p.drop(columns="ethnicity"), "missing-column", ""),
    "attribute by pair and side": (lambda p: p.assign(ethnicity_left="a"), "column-twice", ""),
    "blank id": (cell("left", 1, ""), "blank-cell", "line 3"),
    "itself": (cell("left", 0, "002"), "self-pair", "line 2"),
    "two labels": (cell("right", 1, "002"), "two-labels", "line 3"),
    "two groups": (cell("ethnicity", 1, "black"), "contradiction", "line 2"),
}


def test_errors_have_a_code_and_name_file_row_and_remedy(refuses: Refuses) -> None:
    refuses("Scores alone", BROKEN, lambda folder, change: load(folder, change(frame(ethnicity=BY_PAIR, **IDS))))


@pytest.mark.parametrize("column", ["same", "fold", "ethnicity"])
def test_labels_cannot_pass_for_scores(tmp_path: Path, column: str) -> None:
    with pytest.raises(ConfigError, match=f"backbone.column={column} is not a score"):
        load(tmp_path, frame(ethnicity=BY_PAIR), column=column)


def test_parquet(tmp_path: Path) -> None:
    expected = load(tmp_path, frame(ethnicity=BY_PAIR, **IDS))
    path = tmp_path / "vendor" / "pairs.csv"
    path.unlink()
    frame(ethnicity=BY_PAIR, **IDS).astype({"same": bool, "cosine": "f4"}).to_parquet(path.with_suffix(".parquet"))
    data = locate(DATASET, BackboneSettings("scores", "", "cosine"), tmp_path, "files").load()
    assert data.cosine is not None and expected.cosine is not None
    np.testing.assert_allclose(data.cosine, expected.cosine, atol=1e-7)
    np.testing.assert_array_equal(data.same, expected.same)


@pytest.mark.skipif("FAIRFR_REAL_DATA" not in os.environ, reason="needs FAIRFR_REAL_DATA")
def test_real_rfw_scores() -> None:
    dataset = DatasetSettings("rfw_scores", "RFW", ("ethnicity",))
    scores = BackboneSettings("scores", "", "iresnet50_global")
    data = locate(dataset, scores, Path(os.environ["FAIRFR_REAL_DATA"]), "files").load()
    assert data.n_pairs == 24_000 and data.warnings == () and len(data.fold_labels) == 10
    assert data.groupings["ethnicity"].levels == ("African", "Asian", "Caucasian", "Indian")
