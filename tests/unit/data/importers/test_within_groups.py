"""New pairs inside groups."""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from fairfr.core.errors import DataError
from fairfr.data.importers.within_groups import add_arguments, run


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """60 people of two groups, some of them with one image, some of unknown group or name."""
    rows = []
    for person in range(60):
        for number in range(1 + person % 5):
            group = "" if person == 7 else ("old", "young")[person % 2]
            rows.append((f"{person:02d}_{number}", "" if person == 8 else f"p{person}", group))
    folder = tmp_path / "data" / "faces"
    (folder / "embeddings").mkdir(parents=True)
    pd.DataFrame(rows, columns=["image", "identity", "age"]).to_csv(folder / "images.csv", index=False)
    np.savez(folder / "embeddings" / "net.npz", image=np.array([row[0] for row in rows]), vectors=np.eye(len(rows)))
    return folder


def drawn(root: Path, *options: str, name: str = "within") -> tuple[pd.DataFrame, str]:
    parser = argparse.ArgumentParser()
    add_arguments(parser)
    out = root.parent
    said = run(parser.parse_args(["--root", str(root), "--by", "age", "--out", str(out), "--name", name, *options]))
    images = pd.read_csv(out / name / "images.csv", keep_default_na=False).set_index("image")
    pairs = pd.read_csv(out / name / "pairs.csv")
    for side in ("left", "right"):
        for column in ("identity", "age"):
            pairs[f"{column}_{side}"] = images.loc[pairs[side], column].to_numpy()
    return pairs, said


def test_pairs_lie_inside_groups_and_folds_share_nobody(root: Path) -> None:
    pairs, said = drawn(root, "--folds", "4", "--per-person", "3")
    assert (pairs["age_left"] == pairs["age_right"]).all() and set(pairs["age_left"]) == {"old", "young"}
    assert ((pairs["identity_left"] == pairs["identity_right"]) == (pairs["same"] == 1)).all()
    people = pd.concat([pairs[["fold", f"identity_{s}"]].set_axis(["fold", "who"], axis=1) for s in ("left", "right")])
    assert not people.drop_duplicates()["who"].duplicated().any() and {"p7", "p8", ""}.isdisjoint(people["who"])
    assert pairs["fold"].nunique() == 4
    counts = pairs.groupby(["fold", "age_left"])["same"].agg(["sum", "size"])
    assert (counts["size"] == 2 * counts["sum"]).all(), "as many impostors as genuine pairs, in every group and fold"
    assert pairs[pairs["same"] == 1].groupby("identity_left").size().max() == 3
    assert not pairs[["left", "right"]].apply(lambda row: tuple(sorted(row)), axis=1).duplicated().any()
    assert "identities in several folds  0" in said and (root.parent / "within" / "embeddings" / "net.npz").is_file()


def test_the_order_of_the_images_file_means_nothing_and_a_seed_does(root: Path) -> None:
    before, _ = drawn(root, name="a")
    path = root / "images.csv"
    pd.read_csv(path, dtype=str, keep_default_na=False).sample(frac=1, random_state=1).to_csv(path, index=False)
    after, _ = drawn(root, name="b")
    other, _ = drawn(root, "--seed", "1", name="c")
    assert before["left"].tolist() == after["left"].tolist() and before["right"].tolist() == after["right"].tolist()
    assert before["right"].tolist() != other["right"].tolist()


def test_mistakes(root: Path) -> None:
    with pytest.raises(DataError, match=r"images.csv .*not found.*--root"):
        drawn(root.parent)
    with pytest.raises(DataError, match="--folds at least 2"):
        drawn(root, "--folds", "1")
    (root / "images.csv").write_text("image,identity,age\na,p,old\nb,q,old\n")
    with pytest.raises(DataError, match="nothing to pair"):
        drawn(root)


def test_each_genuine_pairs_left_image_gets_one_impostor(root: Path) -> None:
    pairs, _ = drawn(root, "--folds", "3", "--impostors", "per-image")
    genuine, impostors = pairs[pairs["same"] == 1], pairs[pairs["same"] == 0]
    assert len(genuine) == len(impostors)
    assert (impostors["identity_left"] != impostors["identity_right"]).all()
    assert (impostors["age_left"] == impostors["age_right"]).all()
    assert not _short_of_impostors(pairs)
    assert not impostors[["left", "right"]].apply(lambda row: tuple(sorted(row)), axis=1).duplicated().any()
    other, _ = drawn(root, "--folds", "3", name="per_group")
    assert _short_of_impostors(other), "what the other rule does not see to"


def _short_of_impostors(pairs: pd.DataFrame) -> bool:
    """Whether an image is the left one of more genuine pairs than it has impostor pairs."""
    impostors = pairs[pairs["same"] == 0]
    met = pd.concat([impostors["left"], impostors["right"]]).value_counts()
    wanted = pairs.loc[pairs["same"] == 1, "left"].value_counts()
    return bool((met.reindex(wanted.index).fillna(0) < wanted).any())
