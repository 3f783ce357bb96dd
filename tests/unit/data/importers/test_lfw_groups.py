from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from broken_files import Refuses

from fairfr.core.errors import DataError
from fairfr.data.importers.lfw import (
    GroupLabels,
    image_key,
    read_attribute_scores,
    read_fairface,
    read_group_table,
    read_side_table,
)

COLUMNS = ["person", "imagenum", "Male", "Asian", "White", "Black", "Baby", "Eyeglasses"]

REORDERED = ["Black", "White", "Asian", "Male", "Eyeglasses", "person", "imagenum"]


def attribute_file(*rows: str, names: list[str] = COLUMNS) -> str:
    return "\n".join(["# lfw_attributes.txt v1.1", "#\t" + "\t".join(names), *(row.replace(" ", "\t") for row in rows)])


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "side.csv"


@pytest.mark.parametrize(
    ("male", "gender"), [("0.5", "male"), ("0.49", ""), ("-0.5", "female"), ("-0.49", ""), ("0", "")]
)
def test_gender_needs_half(male: str, gender: str, path: Path) -> None:
    path.write_text(attribute_file(f"Bob 1 {male} 0 0 0 9 0"))
    assert read_attribute_scores(path).of("gender", "Bob_0001.jpg", "Bob") == gender


@pytest.mark.parametrize(("score", "told"), [("0.3", "yes"), ("0.29", ""), ("-0.3", "no"), ("-0.29", "")])
def test_eyeglasses_need_three_tenths(score: str, told: str, path: Path) -> None:
    path.write_text(attribute_file(f"Bob 1 0 0 0 0 9 {score}"))
    assert read_attribute_scores(path).of("eyeglasses", "Bob_0001.jpg", "Bob") == told


@pytest.mark.parametrize(
    ("scores", "ethnicity"),
    [("0.2 0.1 -1", "asian"), ("-3 0 -1", "white"), ("-1 -2 4", "black"), ("-0.1 -0.2 -0.3", "")],
)
def test_ethnicity_is_the_largest_unless_negative(scores: str, ethnicity: str, path: Path) -> None:
    path.write_text(attribute_file(f"Bob 1 0 {scores} 9 0"))
    assert read_attribute_scores(path).of("ethnicity", "Bob_0001.jpg", "Bob") == ethnicity


def test_scores_are_averaged_per_person_whose_name_has_blanks(path: Path) -> None:
    path.write_text(
        attribute_file("AJ_Cook 1 -2 0 0 0 9 0", "AJ_Cook 2 0.8 0 0 0 9 0", "Bob 1 1 0 0 0 9 0").replace("AJ_", "AJ ")
    )
    labels = read_attribute_scores(path)
    assert (
        labels.of("gender", "AJ_Cook_0002.jpg", "AJ_Cook") == "female"
    )  # mean -0.6, though the second image says male


def test_many_weak_scores_are_not_a_strong_one(path: Path) -> None:
    path.write_text(attribute_file("Bob 1 0.3 0 0 0 9 0", "Bob 2 0.3 0 0 0 9 0"))
    assert read_attribute_scores(path).of("gender", "Bob_0001.jpg", "Bob") == ""


def test_reordered_columns_of_scores(path: Path) -> None:
    path.write_text(attribute_file("1 0 0 0 0.9 Bob -2 0", names=REORDERED))
    with pytest.raises(DataError, match="cells where there are"):
        read_attribute_scores(path)
    path.write_text(attribute_file("0.4 0.1 0.2 -2 0.9 Bob 1", names=REORDERED))
    labels = read_attribute_scores(path)
    assert [labels.of(name, "", "Bob") for name in ("ethnicity", "gender", "eyeglasses")] == ["black", "female", "yes"]


def test_side_table_by_image_with_unknowns(path: Path) -> None:
    path.write_text("gender,image,note\nmale,lfw/AJ_Cook/AJ_Cook_0001.jpg,x\nUnknown,AJ_Cook_2,\n,Bob_0001,\n")
    labels = read_side_table(path)
    told = [
        labels.of("gender", f"{image}.jpg", "") for image in ("AJ_Cook_0001", "AJ_Cook_0002", "Bob_0001", "Zoe_0001")
    ]
    assert told == ["male", "", "", ""]
    assert labels.of("note", "AJ_Cook_0001.jpg", "") == "x"


def test_side_table_of_another_data_set(path: Path) -> None:
    path.write_text("image,gender\nn000009/0010_01.jpg,male\n")
    with pytest.raises(DataError, match="none of its 1 image names occurs in the pairs"):
        read_side_table(path).report(["gender"], ["Bob_0001.jpg"], ["Bob"])


def test_fairface_faces(path: Path) -> None:
    path.write_text(
        "face_name_align,race,race4,gender,age,race_scores_fair\n"
        'detected_faces/Ann_0001_face0.jpg,Latino_Hispanic,White,Female,20-29,"[0.1 0.2\n 0.7]"\n'
        'detected_faces/Bob_0002_face0.jpg,East Asian,Asian,Male,20-29,"[0.1 0.2\n 0.7]"\n'
        'detected_faces/Bob_0002_face1.jpg,Indian,Indian,Male,20-29,"[0.1 0.2\n 0.7]"\n'
    )
    labels = read_fairface(path)
    assert [labels.of(name, "Ann_0001.jpg", "") for name in ("ethnicity", "gender")] == ["white", "female"]
    assert [labels.of(name, "Bob_0002.jpg", "") for name in ("ethnicity", "gender")] == ["", "male"]
    (note,) = labels.notes
    assert str(note) == f"{path}: 1 images have faces of different ethnicity; there it is unknown."


def test_image_keys() -> None:
    for name in ("lfw/AJ_Cook/AJ_Cook_0012.jpg", "AJ_Cook_0012", "AJ Cook_12.PNG", "a\\b\\AJ_Cook_00012.jpeg"):
        assert image_key(name) == "AJ_Cook_0012"


SIDE, FACES = "image,gender\nBob_0001.jpg,male\n", "face_name_align,race4,gender\nBob_0001_face0.jpg,White,Male\n"
SCORES = attribute_file("Bob 1 1 0 0 0 9 0")
BROKEN: dict[str, tuple[tuple[Callable[[Path], GroupLabels], bytes], str, str]] = {
    "side: two answers": ((read_side_table, (SIDE + "Bob_1,female\n").encode()), "contradiction", "line 3"),
    "side: no attribute": ((read_side_table, b"image\nBob_0001.jpg\n"), "missing-column", ""),
    "side: no key": ((read_side_table, b"photo,gender\nBob_0001.jpg,male\n"), "missing-column", ""),
    "side: blank key": ((read_side_table, b"image,gender\n,male\n"), "blank-cell", "line 2"),
    "side: truncated": ((read_side_table, b"image,gender\nBob_0001.jpg"), "cells-in-row", "line 2"),
    "side: reserved": ((read_side_table, b"image,gender\nBob_0001.jpg,a|b\n"), "reserved-name", "line 2"),
    "fairface: 7 races only": ((read_fairface, FACES.replace("race4", "race").encode()), "missing-column", ""),
    "fairface: other words": ((read_fairface, FACES.replace("White", "Latino").encode()), "unknown-value", "line 2"),
    "fairface: no names": ((read_fairface, FACES.replace("face_name", "x").encode()), "missing-column", ""),
    "scores: no names": ((read_attribute_scores, b"Bob\t1\t0.3\n"), "missing-column", ""),
    "scores: lacking": ((read_attribute_scores, SCORES.replace("Asian", "x").encode()), "missing-column", "line 2"),
    "scores: truncated": ((read_attribute_scores, SCORES[:-5].encode()), "cells-in-row", "line 3"),
    "scores: words": ((read_attribute_scores, SCORES.replace("\t0\t0", "\tx\t0").encode()), "not-a-number", "line 3"),
    "scores: nan": ((read_attribute_scores, SCORES.replace("\t0\t0", "\tnan\t0").encode()), "not-a-number", "line 3"),
    "scores: commas": ((read_attribute_scores, SCORES.replace("\t", ",").encode()), "missing-column", ""),
    "scores: no rows": ((read_attribute_scores, attribute_file().encode()), "no-rows", ""),
    "scores: latin 1": (
        (read_attribute_scores, SCORES.replace("Bob", "B\xe9").encode("latin-1")),
        "not-utf8",
        "line 3",
    ),
}


def read_broken(folder: Path, table: tuple[Callable[[Path], GroupLabels], bytes]) -> None:
    read, content = table
    (folder / "side.csv").write_bytes(content)
    read(folder / "side.csv")


def test_damaged_tables_are_refused(refuses: Refuses) -> None:
    refuses("Groups for LFW", BROKEN, read_broken)


@pytest.mark.parametrize("read", [read_side_table, read_fairface, read_attribute_scores])
def test_no_file_at_all(read: Callable[[Path], GroupLabels], path: Path) -> None:
    with pytest.raises(DataError, match="does not exist"):
        read(path)
    path.symlink_to(path)
    with pytest.raises(DataError, match="cannot be read"):
        read(path)
    path.unlink()
    path.mkdir()
    with pytest.raises(DataError, match="is a folder"):
        read(path)


@pytest.mark.parametrize(
    ("read", "content"), [(read_side_table, SIDE), (read_fairface, FACES), (read_attribute_scores, SCORES)]
)
def test_windows_files(read: Callable[[Path], GroupLabels], content: str, path: Path) -> None:
    path.write_bytes(b"\xef\xbb\xbf" + content.replace("\n", "\r\n").encode())
    assert read(path).of("gender", "Bob_0001.jpg", "Bob") == "male"


@pytest.mark.parametrize(
    "content",
    [
        attribute_file("AJ_Cook 1 -2 -1 1 -1 9 0"),
        "face_name_align,race4,gender\nAJ_Cook_0001_face0.jpg,White,Female\n",
        "person,gender,ethnicity\nAJ Cook,female,white\n",
        "image,gender,ethnicity\nAJ_Cook_0001.jpg,female,white\n",
    ],
)
def test_the_kind_of_a_side_table_is_told_by_its_columns(content: str, path: Path) -> None:
    path.write_text(content)
    labels = read_group_table(path)
    assert labels.of("gender", "AJ_Cook_0001.jpg", "AJ_Cook") == "female"
    assert labels.of("ethnicity", "AJ_Cook_0001.jpg", "AJ_Cook") == "white"
