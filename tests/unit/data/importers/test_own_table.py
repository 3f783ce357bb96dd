"""Tables in other people's columns, and everything that may be wrong with them."""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from fairfr.core.errors import ConfigError, DataError
from fairfr.data.importers.own_table import add_arguments, run
from fairfr.data.locate import locate
from fairfr.data.settings import BackboneSettings, DatasetSettings

PAIRS = ["--left", "img_a", "--right", "img_b", "--same", "label=genuine"]
IMAGES = ["--image", "file", "--identity", "subject"]


def metadata() -> pd.DataFrame:
    """60 people with three images each."""
    rows = [(f"p{who}/{number}.jpg", f"p{who}", "fm"[who % 2], 20 + who) for who in range(60) for number in range(3)]
    return pd.DataFrame(rows, columns=["file", "subject", "sex", "age"])


def table() -> pd.DataFrame:
    """Each person with themselves, and with a neighbour; nobody with the next two."""
    rows = []
    for who in range(0, 60, 2):
        rows += [(f"p{who}/0.jpg", f"p{who}/1.jpg", "genuine"), (f"p{who + 1}/0.jpg", f"p{who + 1}/2.jpg", "genuine")]
        rows += [(f"p{who}/0.jpg", f"p{who + 1}/0.jpg", "impostor"), (f"p{who}/1.jpg", f"p{who + 1}/1.jpg", "impostor")]
    frame = pd.DataFrame(rows, columns=["img_a", "img_b", "label"])
    return frame.assign(vendor=np.where(frame["label"] == "genuine", 80.5, 20.5) + np.arange(len(frame)) / 100)


def imported(folder: Path, *options: str) -> str:
    parser = argparse.ArgumentParser()
    add_arguments(parser)
    return run(parser.parse_args(["--name", "mine", "--out", str(folder / "data"), *options]))


def written(folder: Path, name: str) -> pd.DataFrame:
    return pd.read_csv(folder / "data" / "mine" / f"{name}.csv", dtype=str, keep_default_na=False)


def refused(folder: Path, *options: str) -> str:
    """The message; nothing may be left behind."""
    with pytest.raises(DataError) as caught:
        imported(folder, *options)
    assert not (folder / "data").exists()
    return str(caught.value)


def save(frame: pd.DataFrame, path: Path) -> str:
    if path.suffix == ".parquet":
        frame.to_parquet(path, index=False)
    else:
        separator = {".tsv": "\t", ".csv": ";", ".txt": ","}[path.suffix]
        frame.to_csv(path, sep=separator, index=False, decimal="," if separator == ";" else ".")
    return str(path)


@pytest.mark.parametrize("ending", ["tsv", "csv", "txt", "parquet"])
def test_every_kind_of_table_gives_the_same_set(tmp_path: Path, ending: str) -> None:
    pairs, images = save(table(), tmp_path / f"pairs.{ending}"), save(metadata(), tmp_path / f"meta.{ending}")
    said = imported(tmp_path, "--pairs", pairs, *PAIRS, "--images", images, *IMAGES, "--folds", "5")
    found = written(tmp_path, "pairs")
    assert found["left"].tolist() == table()["img_a"].tolist() and found["right"].tolist() == table()["img_b"].tolist()
    assert found["same"].tolist() == ["1" if label == "genuine" else "0" for label in table()["label"]]
    known = written(tmp_path, "images").set_index("image")
    expected = metadata().set_index("file").astype(str)
    used = sorted({*found["left"], *found["right"]})
    assert sorted(known.index) == used, "images in no pair would lack vectors"
    assert known["identity"].tolist() == expected.loc[known.index, "subject"].tolist()
    assert known[["sex", "age"]].equals(expected.loc[known.index, ["sex", "age"]].rename_axis("image"))
    assert "sex: f, m" in said and "age: 60 values" in said and "dataset.grouping=[sex]" in said


def test_slashes_and_backslashes_name_one_image(tmp_path: Path) -> None:
    pairs = table()
    pairs[["img_a", "img_b"]] = "D:/faces/" + pairs[["img_a", "img_b"]]
    images = metadata()
    images["file"] = "D:\\faces\\" + images["file"].str.replace("/", "\\")
    files = ["--pairs", save(pairs, tmp_path / "p.csv"), "--images", save(images, tmp_path / "m.csv")]
    imported(tmp_path, *files, *PAIRS, *IMAGES)
    assert set(written(tmp_path, "pairs")["left"]) <= set(written(tmp_path, "images")["image"])
    assert written(tmp_path, "pairs")["left"].str.startswith("D:/faces/").all()


def test_a_pickled_table_is_converted_by_two_lines(tmp_path: Path) -> None:
    table().to_pickle(tmp_path / "p.csv")
    message = refused(tmp_path, "--pairs", str(tmp_path / "p.csv"), *PAIRS)
    assert "p.csv is a pickle" in message and "p.converted.csv" in message
    exec("\n".join(message.splitlines()[-2:]), {})
    imported(tmp_path, "--pairs", str(tmp_path / "p.converted.csv"), *PAIRS)


def test_new_folds_share_nobody_and_are_even(tmp_path: Path) -> None:
    pairs, images = save(table(), tmp_path / "pairs.tsv"), save(metadata(), tmp_path / "meta.csv")
    said = imported(tmp_path, "--pairs", pairs, *PAIRS, "--images", images, *IMAGES, "--folds", "5")
    found = written(tmp_path, "pairs")
    assert found.groupby("fold")["same"].agg(lambda same: sorted(same)).tolist() == [["0"] * 12 + ["1"] * 12] * 5
    folds_of: dict[str, set[str]] = {}
    for side in ("left", "right"):
        for image, fold in zip(found[side], found["fold"], strict=True):
            folds_of.setdefault(image.split("/")[0], set()).add(fold)
    assert all(len(folds) == 1 for folds in folds_of.values()) and "No two new folds share people." in said


def test_without_identities_it_says_what_takes_their_place(tmp_path: Path) -> None:
    said = imported(tmp_path, "--pairs", save(table(), tmp_path / "pairs.tsv"), *PAIRS)
    assert "genuine pairs connect count as one person" in said
    assert written(tmp_path, "pairs")["fold"].nunique() == 10


def test_people_who_are_all_linked_are_told(tmp_path: Path) -> None:
    frame = table()
    chain = [(f"p{who}/2.jpg", f"p{who + 1}/2.jpg", "impostor", 20.0) for who in range(59)]
    frame = pd.concat([frame, pd.DataFrame(chain, columns=frame.columns)])
    pairs, images = save(frame, tmp_path / "pairs.tsv"), save(metadata(), tmp_path / "meta.csv")
    said = imported(tmp_path, "--pairs", pairs, *PAIRS, "--images", images, *IMAGES)
    assert "cannot be without common people" in said and "protocol=identity_disjoint" in said


def test_a_pair_that_comes_twice_is_in_one_new_fold(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    ends = np.sort(rng.choice(60, size=(900, 2)), axis=1)
    ends = ends[ends[:, 0] < ends[:, 1]]
    rows = [(f"p{a}/0.jpg", f"p{b}/0.jpg", "impostor") for a, b in ends]
    rows += [(right, left, label) for left, right, label in rows[::3]]
    frame = pd.concat([table().iloc[:, :3], pd.DataFrame(rows, columns=["img_a", "img_b", "label"])])
    pairs, images = save(frame, tmp_path / "pairs.tsv"), save(metadata(), tmp_path / "meta.csv")
    said = imported(tmp_path, "--pairs", pairs, *PAIRS, "--images", images, *IMAGES)
    found = written(tmp_path, "pairs")
    both = ["|".join(sorted(ends)) for ends in zip(found["left"], found["right"], strict=True)]
    assert found.groupby(both)["fold"].nunique().max() == 1 and "repeat an earlier pair" in said
    assert found["fold"].nunique() == 10


def test_a_column_of_folds_is_taken(tmp_path: Path) -> None:
    frame = table().assign(part=np.where(np.arange(120) < 60, "first", "second"))
    imported(tmp_path, "--pairs", save(frame, tmp_path / "pairs.tsv"), *PAIRS, "--fold", "part")
    assert written(tmp_path, "pairs")["fold"].tolist() == frame["part"].tolist()


@pytest.mark.parametrize(
    "words", [("1", "0"), ("1.0", "0.0"), ("yes", "no"), ("Genuine", "Impostor"), ("TRUE", "FALSE")]
)
def test_usual_labels_need_no_value(tmp_path: Path, words: tuple[str, str]) -> None:
    frame = table()
    truth = frame["label"] == "genuine"
    frame = frame.assign(label=np.where(truth, *words))
    imported(tmp_path, "--pairs", save(frame, tmp_path / "pairs.tsv"), *PAIRS[:5], "label")
    assert written(tmp_path, "pairs")["same"].tolist() == [str(int(same)) for same in truth]


def test_a_named_value_may_be_any_word_where_there_are_two(tmp_path: Path) -> None:
    frame = table().replace({"label": {"genuine": "A", "impostor": "B"}})
    imported(tmp_path, "--pairs", save(frame, tmp_path / "pairs.tsv"), *PAIRS[:5], "label=B")
    assert written(tmp_path, "pairs")["same"].tolist() == [str(int(label == "B")) for label in frame["label"]]
    (tmp_path / "data").rename(tmp_path / "old")
    message = refused(tmp_path, "--pairs", str(tmp_path / "pairs.tsv"), *PAIRS[:5], "label")
    assert "Its values are: A, B" in message and "--same COL=VALUE" in message


@pytest.mark.parametrize("ending", ["csv", "parquet"])  # the csv has decimal commas
def test_scores_alone(tmp_path: Path, ending: str) -> None:
    frame = table().assign(sex_left="f", sex_right="m")
    pairs = save(frame, tmp_path / f"pairs.{ending}")
    options = ["--same", "label", "--score", "vendor", "--range", "0", "100", "--attribute", "sex"]
    said = imported(tmp_path, "--pairs", pairs, *options)
    found = written(tmp_path, "pairs")
    np.testing.assert_allclose(found["vendor"].astype(float), frame["vendor"] / 50 - 1)
    assert not (tmp_path / "data/mine/images.csv").exists() and "may be in several of the new folds" in said
    assert found.groupby("fold")["same"].agg(lambda same: sorted(same)).tolist() == [["0"] * 6 + ["1"] * 6] * 10
    data = locate(
        DatasetSettings("mine", "Mine", ("sex",)), BackboneSettings("v", "V", "vendor"), tmp_path / "data", "files"
    ).load()
    assert data.groupings["sex"].levels == ("f", "m") and data.n_pairs == len(frame)


def test_distances_become_cosines(tmp_path: Path) -> None:
    frame = table().assign(d=lambda t: np.where(t["label"] == "genuine", 0.25, 1.5))
    imported(tmp_path, "--pairs", save(frame, tmp_path / "pairs.tsv"), "--same", "label", "--distance", "d")
    np.testing.assert_allclose(written(tmp_path, "pairs")["d"].astype(float), 1 - frame["d"])


def test_a_distance_called_a_score_is_noticed(tmp_path: Path) -> None:
    frame = table().assign(d=lambda t: np.where(t["label"] == "genuine", 0.25, 0.5))
    said = imported(tmp_path, "--pairs", save(frame, tmp_path / "pairs.tsv"), "--same", "label", "--score", "d")
    assert "import table --distance" in said


def test_people_and_groups_from_columns_of_the_pairs(tmp_path: Path) -> None:
    frame = table()
    for side, column in (("1", "img_a"), ("2", "img_b")):
        frame[f"id{side}"] = frame[column].str.split("/").str[0]
        frame[f"g{side}"] = ["fm"[int(who[1:]) % 2] for who in frame[f"id{side}"]]
    pairs = save(frame, tmp_path / "pairs.tsv")
    imported(tmp_path, "--pairs", pairs, *PAIRS, "--identity", "id1,id2", "--attribute", "sex=g1,g2")
    known = written(tmp_path, "images").set_index("image")
    expected = metadata().set_index("file").loc[known.index]
    assert known["identity"].tolist() == expected["subject"].tolist()
    assert known["sex"].tolist() == expected["sex"].tolist()
    frame.loc[0, "g1"] = "m"
    (tmp_path / "data").rename(tmp_path / "old")
    message = refused(tmp_path, "--pairs", save(frame, tmp_path / "pairs.tsv"), *PAIRS, "--attribute", "sex=g1,g2")
    assert "lines 2 and 4: image 'p0/0.jpg' has several values in g1, g2" in message


def test_the_share_of_genuine_pairs_is_shown_by_group_and_told_where_it_differs(tmp_path: Path) -> None:
    rows = []
    for sex, impostors in (("f", 15), ("m", 5)):
        rows += [(f"{sex}{who}a", f"{sex}{who}b", "1", sex, sex) for who in range(15)]
        rows += [(f"{sex}{who}a", f"{sex}{(who + 1) % 15}b", "0", sex, sex) for who in range(impostors)]
    columns = ["left", "right", "same", "sex_left", "sex_right"]
    frame = pd.DataFrame(rows, columns=columns)
    said = imported(tmp_path, "--pairs", save(frame, tmp_path / "pairs.csv"), "--attribute", "sex", "--folds", "2")
    assert "  genuine pairs: f 50%, m 75%\n" in said
    assert "by more than a tenth: sex (m 75%, f 50%)" in said and "--impostors per-image" in said
    even = frame[(frame["sex_left"] == "f") | (frame["same"] == "0")]
    even = pd.concat([even, frame[(frame["sex_left"] == "m") & (frame["same"] == "1")].head(5)])
    said = imported(
        tmp_path, "--pairs", save(even, tmp_path / "pairs.csv"), "--attribute", "sex", "--folds", "2", "--force"
    )
    assert "  genuine pairs: f 50%" in said and "more than a tenth" not in said, "10 pairs inside m say little"


def test_all_problems_of_both_files_come_in_one_message_with_their_lines(tmp_path: Path) -> None:
    frame = table()
    frame.loc[1, "label"] = "maybe"
    frame.loc[5, "img_a"] = " "
    frame.loc[[7, 9], "img_b"] = ["nobody.jpg", "nobody either.jpg"]
    frame.loc[8, "img_b"] = frame.loc[8, "img_a"]
    frame["vendor"] = frame["vendor"].astype(str)
    frame.loc[11, "vendor"] = "high"
    frame.loc[len(frame)] = [frame.loc[2, "img_b"], frame.loc[2, "img_a"], "genuine", "50"]
    images = pd.concat([metadata(), metadata().iloc[[4]]])
    paths = ["--pairs", save(frame, tmp_path / "pairs.tsv"), "--images", save(images, tmp_path / "meta.csv")]
    message = refused(tmp_path, *paths, *PAIRS, "--image", "file", "--identity", "person", "--score", "vendor")
    assert message.splitlines() == [
        f"{tmp_path}/meta.csv has 2 problems:",
        "  no column 'person' (--identity). Its columns: file, subject, sex, age.",
        "  lines 6 and 182: 'p1/1.jpg' is there 2 times. Keep one row for each image.",
        f"{tmp_path}/pairs.tsv has 7 problems:",
        "  line 3: 'label' is 'maybe'. Use 1/0, yes/no or genuine/impostor, or name the value of pairs of one person: "
        "--same COL=VALUE.",
        "  line 13: 'vendor' must be a number, found 'high'.",
        "  lines 2, 3, 4, 5, 6 and 115 more: 'vendor' is 80.5, outside -1 to 1 (it goes from 20.52 to 81.67). "
        "Give its range: --score-range LOW HIGH.",
        "  line 7: 'img_a' is blank. Fill it in or remove the row.",
        f"  lines 9 and 11: 2 images of 'img_b' (nobody.jpg, nobody either.jpg) not in {tmp_path}/meta.csv, where the "
        "first is 'p0/0.jpg'.",
        "  line 10: an image is paired with itself. Remove the row or correct an id.",
        "  lines 4 and 122: one pair with two labels. Correct one.",
        "Nothing was written.",
    ]


def test_missing_columns_are_named_together_with_likely_ones(tmp_path: Path) -> None:
    message = refused(tmp_path, "--pairs", save(table(), tmp_path / "pairs.tsv"), "--left", "imga", "--same", "truth")
    assert "no column 'truth' (--same); no column 'imga' (--left; did you mean 'img_a'?); no column 'right'" in message
    assert "Its columns: img_a, img_b, label, vendor." in message


def test_rows_of_parquet_count_from_zero(tmp_path: Path) -> None:
    frame = table()
    frame.loc[[3, 6], "label"] = "maybe"
    message = refused(tmp_path, "--pairs", save(frame, tmp_path / "pairs.parquet"), *PAIRS)
    assert "rows 3 and 6 (counting from 0): 'label' is 'maybe'" in message


def test_options_that_do_not_go_together(tmp_path: Path) -> None:
    pairs = ["--pairs", save(table(), tmp_path / "pairs.tsv")]
    for options, expected in (
        ([*PAIRS, "--folds", "1"], "at least two"),
        ([*PAIRS, "--identity", "who"], "COL,COL"),
        ([*PAIRS, "--attribute", "sex", "--images", "meta.csv"], "without --image-table"),
        ([*PAIRS, "--score", "vendor", "--range", "1", "0"], "lower"),
        ([*PAIRS, "--score", "left"], "Rename the column"),
        (["--same", "label", "--score", "vendor", "--range", "0", "100", "--images", pairs[1]], "--left and --right"),
    ):
        with pytest.raises(ConfigError, match=expected):
            imported(tmp_path, *pairs, *options)
    assert not (tmp_path / "data").exists()


def test_too_few_people_for_so_many_folds(tmp_path: Path) -> None:
    frame = table().iloc[:8]
    assert "Use --folds 8" in refused(tmp_path, "--pairs", save(frame, tmp_path / "p.tsv"), *PAIRS, "--folds", "9")


def test_columns_that_cannot_be_attributes_are_left_out_aloud(tmp_path: Path) -> None:
    images = metadata().assign(score=1, quality=0.5)
    paths = ["--pairs", save(table(), tmp_path / "p.tsv"), "--images", save(images, tmp_path / "m.parquet")]
    said = imported(tmp_path, *paths, *PAIRS, *IMAGES)
    assert list(written(tmp_path, "images").columns) == ["image", "identity", "sex", "age"]
    assert "'score' is left out" in said and "'quality' is left out" in said
