"""New pairs inside groups."""

from __future__ import annotations

import argparse
from itertools import combinations
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from fairfr.core.errors import ConfigError, DataError
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
    with pytest.raises(DataError, match=r"images.csv .*not found.*--from-dataset"):
        drawn(root.parent)  # --root, the older name of --from-dataset
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


def _listed_impostors(root: Path, pairs: pd.DataFrame) -> dict[str, set[tuple[str, str]]]:
    """By group, every pair of images of two people of the group and of one fold, as the pairs say who is in which."""
    images = pd.read_csv(root / "images.csv", dtype=str, keep_default_na=False)
    fold_of: dict[str, int] = {}
    for side in ("left", "right"):
        fold_of |= dict(zip(pairs[f"identity_{side}"], pairs["fold"], strict=True))
    found: dict[str, set[tuple[str, str]]] = {"old": set(), "young": set()}
    usable = [row for row in images.itertuples() if row.identity in fold_of and row.age]
    for a, b in combinations(usable, 2):
        if a.age == b.age and a.identity != b.identity and fold_of[a.identity] == fold_of[b.identity]:
            found[a.age].add((min(a.image, b.image), max(a.image, b.image)))
    return found


def _impostors(pairs: pd.DataFrame) -> dict[str, set[tuple[str, str]]]:
    """The impostor pairs by group, given that none comes twice."""
    found: dict[str, set[tuple[str, str]]] = {"old": set(), "young": set()}
    for row in pairs[pairs["same"] == 0].itertuples():
        key = (min(row.left, row.right), max(row.left, row.right))
        assert key not in found[row.age_left] and row.age_left == row.age_right
        found[row.age_left].add(key)
    return found


def test_all_impostors_are_those_of_a_list(root: Path) -> None:
    pairs, said = drawn(root, "--folds", "4", "--impostors", "all")
    people = set(pairs["identity_left"]) | set(pairs["identity_right"])
    assert people == {f"p{number}" for number in range(60)} - {"p7", "p8"}
    expected = _listed_impostors(root, pairs)
    assert _impostors(pairs) == expected
    old, young = len(expected["old"]), len(expected["young"])
    assert f"old {old:,} of {old:,}, young {young:,} of {young:,}" in said
    fewer, _ = drawn(root, "--folds", "4", name="fewer")
    assert pairs["same"].sum() == fewer["same"].sum() == (fewer["same"] == 0).sum()


def test_a_number_of_impostors_for_each_group(root: Path) -> None:
    pairs, said = drawn(root, "--folds", "4", "--impostors", "300")
    expected = _listed_impostors(root, drawn(root, "--folds", "4", "--impostors", "all", name="all")[0])
    found = _impostors(pairs)
    assert {group: len(some) for group, some in found.items()} == {"old": 300, "young": 300}
    assert found["old"] < expected["old"] and found["young"] < expected["young"]
    assert f"old 300 of {len(expected['old']):,}" in said
    again = _impostors(drawn(root, "--folds", "4", "--impostors", "300", name="again")[0])
    other = _impostors(drawn(root, "--folds", "4", "--impostors", "300", "--seed", "1", name="other")[0])
    assert found == again != other


def test_max_pairs_leaves_the_small_group_whole(root: Path) -> None:
    images = pd.read_csv(root / "images.csv", keep_default_na=False)
    few = images["identity"].isin([f"p{number}" for number in range(0, 60, 6)])  # even numbers: old people
    images[few | (images["age"] == "young")].to_csv(root / "images.csv", index=False)
    every, _ = drawn(root, "--folds", "2", "--impostors", "all", name="every")
    pairs, _ = drawn(root, "--folds", "2", "--impostors", "all", "--max-pairs", "800", name="some")
    assert len(every) > 800 == len(pairs)
    old, young = _impostors(pairs).values()
    assert old == _impostors(every)["old"] and young < _impostors(every)["young"]


def test_mistakes_about_impostors(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        drawn(root, "--impostors", "every")
    assert "'every' is neither a number nor one of per-group, per-image, all" in capsys.readouterr().err
    with pytest.raises(ConfigError, match="--max-pairs goes with --impostors all or a number"):
        drawn(root, "--max-pairs", "10")
    with pytest.raises(ConfigError, match=r"--max-pairs 10: there are \d+ genuine pairs already"):
        drawn(root, "--impostors", "all", "--max-pairs", "10")
