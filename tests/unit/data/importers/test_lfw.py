from __future__ import annotations

import csv
from argparse import ArgumentParser
from collections.abc import Callable
from pathlib import Path

import pytest
from broken_files import Refuses

from fairfr.data.importers import lfw
from fairfr.data.importers.imported_set import write_neutral
from fairfr.data.importers.lfw import read_lfw

# two folds of two pairs of one person and two of two
LISTED = """2\t2
Abel_Pacheco\t1\t4
Amber_Tamblyn\t1\t2
Abel_Pacheco\t1\tAmber_Tamblyn\t2
Abdel_Aty\t1\tJean-Pierre_B\t12
Ana_Guevara\t2\t7
Ann_Landers\t1\t2
Ana_Guevara\t2\tAnn_Landers\t1
Ana_Guevara\t7\tBob_Dole\t3
"""


@pytest.fixture
def pairs(tmp_path: Path) -> Path:
    path = tmp_path / "lfw" / "pairs.txt"
    path.parent.mkdir()
    path.write_text(LISTED)
    return path


def imported(path: Path, *options: str) -> str:
    parser = ArgumentParser()
    lfw.add_arguments(parser)
    return lfw.run(parser.parse_args(["--pairs", str(path), "--out", str(path.parents[1] / "data"), *options]))


def rows(path: Path) -> list[list[str]]:
    with path.open(newline="") as handle:
        return list(csv.reader(handle))


def test_list_becomes_pairs(pairs: Path, tmp_path: Path) -> None:
    told = imported(pairs)
    assert rows(tmp_path / "data/lfw/pairs.csv") == [
        ["fold", "left", "right", "same"],
        ["0", "Abel_Pacheco_0001.jpg", "Abel_Pacheco_0004.jpg", "1"],
        ["0", "Amber_Tamblyn_0001.jpg", "Amber_Tamblyn_0002.jpg", "1"],
        ["0", "Abel_Pacheco_0001.jpg", "Amber_Tamblyn_0002.jpg", "0"],
        ["0", "Abdel_Aty_0001.jpg", "Jean-Pierre_B_0012.jpg", "0"],
        ["1", "Ana_Guevara_0002.jpg", "Ana_Guevara_0007.jpg", "1"],
        ["1", "Ann_Landers_0001.jpg", "Ann_Landers_0002.jpg", "1"],
        ["1", "Ana_Guevara_0002.jpg", "Ann_Landers_0001.jpg", "0"],
        ["1", "Ana_Guevara_0007.jpg", "Bob_Dole_0003.jpg", "0"],
    ]
    assert ["Jean-Pierre_B_0012.jpg", "Jean-Pierre_B"] in rows(tmp_path / "data/lfw/images.csv")
    assert "LFW itself has no groups: name a table of them with --group-table FILE" in told


def test_groups_from_a_side_table(pairs: Path, tmp_path: Path) -> None:
    side = tmp_path / "groups.csv"
    side.write_text("person,gender,ethnicity\nAbel Pacheco,male,\nAna_Guevara,female,white\nNobody,male,black\n")
    told = imported(pairs, "--groups", str(side))
    images = {row[0]: row[2:] for row in rows(tmp_path / "data/lfw/images.csv")}
    assert images["image"] == ["gender", "ethnicity"]
    assert images["Abel_Pacheco_0004.jpg"] == ["male", ""]
    assert images["Ana_Guevara_0007.jpg"] == ["female", "white"]
    assert images["Bob_Dole_0003.jpg"] == ["", ""]
    assert "gender, ethnicity, by person, for 4 of 11 images" in told


def test_the_first_table_that_has_an_attribute_counts(pairs: Path, tmp_path: Path) -> None:
    (tmp_path / "side.csv").write_text("image,gender\nAna_Guevara_0002.jpg,female\n")
    (tmp_path / "fairface.csv").write_text(
        "face_name_align,race4,gender\nfaces/Ana_Guevara_0002_face0.jpg,White,Male\nfaces/Bob_Dole_0003_face0.jpg,Asian,Male\n"
    )
    imported(pairs, "--groups", str(tmp_path / "side.csv"), "--fairface", str(tmp_path / "fairface.csv"))
    images = {row[0]: row[2:] for row in rows(tmp_path / "data/lfw/images.csv")}
    assert images["image"] == ["gender", "ethnicity"]
    assert images["Ana_Guevara_0002.jpg"] == ["female", "white"]
    assert images["Bob_Dole_0003.jpg"] == ["", "asian"]


def test_hints_of_a_list_cut_short(pairs: Path) -> None:
    pairs.write_text(LISTED.rstrip())
    notes = " ".join(map(str, read_lfw(pairs).notes))
    assert "has 2 folds of 4 pairs; published lists have 10 of 600" in notes
    assert "its last line has no line end" in notes


def test_absent_pictures_are_told(pairs: Path) -> None:
    (pairs.parent / "lfw" / "Bob_Dole").mkdir(parents=True)
    (pairs.parent / "lfw" / "Bob_Dole" / "Bob_Dole_0003.jpg").touch()
    assert "10 of 11 images are not in" in imported(pairs)


def text(change: Callable[[str], str], encoding: str = "utf-8") -> Callable[[Path], object]:
    return lambda path: path.write_bytes(change(LISTED).encode(encoding))


def replaced_by(make: Callable[[Path], object]) -> Callable[[Path], object]:
    def damage(path: Path) -> None:
        path.unlink()
        make(path)

    return damage


UNHARMED: dict[str, Callable[[Path], object]] = {
    "no header": text(lambda whole: whole.removeprefix("2\t2\n")),
    "crlf": text(lambda whole: whole.replace("\n", "\r\n")),
    "byte order mark": text(lambda whole: "\ufeff" + whole),
    "blanks": text(lambda whole: whole.replace("\t", " ")),
    "padded numbers": text(lambda whole: whole.replace("\t12", "\t0012")),
}
BROKEN: dict[str, tuple[Callable[[Path], object], str, str]] = {
    "truncated": (text(lambda whole: whole[:-60]), "not-a-pair", "line 7"),
    "a block is gone": (text(lambda whole: "\n".join(whole.split("\n")[:5])), "incomplete-list", ""),
    "commas": (text(lambda whole: whole.replace("\t", ",")), "not-a-pair", "line 1"),
    "another column": (text(lambda whole: whole.replace("\t4\n", "\t4\t0.5\n")), "not-a-pair", "line 2"),
    "reordered": (
        text(lambda whole: whole.replace("Abel_Pacheco\t1\t4", "1\tAbel_Pacheco\t4")),
        "not-a-pair",
        "line 2",
    ),
    "truth values for numbers": (text(lambda whole: whole.replace("\t4\n", "\ttrue\n")), "not-a-pair", "line 2"),
    "one pair with two labels": (
        text(lambda whole: whole.replace("Ana_Guevara\t2\tAnn_Landers\t1", "Ana_Guevara\t2\tAna_Guevara\t7")),
        "two-labels",
        "line 8",
    ),
    "view 1": (text(lambda whole: "2\n" + "\n".join(whole.split("\n")[1:5])), "one-fold", ""),
}


@pytest.mark.parametrize("damage", UNHARMED.values(), ids=UNHARMED.keys())
def test_other_spellings_give_the_same_bytes(damage: Callable[[Path], object], pairs: Path, tmp_path: Path) -> None:
    write_neutral(read_lfw(pairs), tmp_path / "set")
    damage(pairs)
    assert write_neutral(read_lfw(pairs), tmp_path / "set") == "already there, unchanged"


def read_broken(folder: Path, damage: Callable[[Path], object]) -> None:
    (folder / "pairs.txt").write_text(LISTED)
    damage(folder / "pairs.txt")
    read_lfw(folder / "pairs.txt")


def test_damaged_lists_are_refused(refuses: Refuses) -> None:
    refuses("Lists of LFW", BROKEN, read_broken)


def test_only_pairs_of_images_that_are_there_and_all_of_these_images(pairs: Path, tmp_path: Path) -> None:
    there = ["Zoe_0001.jpg", "Abel_Pacheco_0001.jpg", "Abel_Pacheco_0004.jpg", "Amber_Tamblyn_0002.jpg"]
    there += [f"Ana_Guevara_000{number}.jpg" for number in (2, 7)] + ["Ann_Landers_0001.jpg"]
    data = read_lfw(pairs, there=there)
    write_neutral(data, tmp_path / "set")
    assert rows(tmp_path / "set" / "pairs.csv")[1:] == [
        ["0", "Abel_Pacheco_0001.jpg", "Abel_Pacheco_0004.jpg", "1"],
        ["0", "Abel_Pacheco_0001.jpg", "Amber_Tamblyn_0002.jpg", "0"],
        ["1", "Ana_Guevara_0002.jpg", "Ana_Guevara_0007.jpg", "1"],
        ["1", "Ana_Guevara_0002.jpg", "Ann_Landers_0001.jpg", "0"],
    ]
    assert rows(tmp_path / "set" / "images.csv")[1:] == [[name, name.rpartition("_")[0]] for name in there]
    (left_out,) = (note for note in data.notes if note.code == "missing-images")
    assert dict(left_out.counts) == {"pairs": 4, "of": 8}
