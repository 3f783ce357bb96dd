"""A small datatable in BFW's columns; each case changes its spelling or damages it."""

from __future__ import annotations

import csv
import pickle
from argparse import ArgumentParser
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from broken_files import Refuses

from fairfr.core.errors import DataError
from fairfr.data.importers.imported_set import count_import, write_neutral
from fairfr.data.importers.published_tables import add_arguments, find_bfw, read_bfw, run
from fairfr.data.locate import locate
from fairfr.data.settings import BackboneSettings, DatasetSettings

GROUPS = ("asian_females", "black_males", "indian_females", "white_males")


def row(fold: int, left: tuple[int, int, int], right: tuple[int, int, int], number: int) -> dict[str, object]:
    """One pair; an end is (group, person, image)."""
    found: dict[str, object] = {"fold": fold}
    for side, (group, person, image) in (("1", left), ("2", right)):
        att = GROUPS[group]
        letters = att[0].upper(), att.partition("_")[2][0].upper()
        found |= {
            f"p{side}": f"{att}/n0000{group}{person}/000{image}_01.jpg",
            f"id{side}": 10 * group + person,
            f"att{side}": att,
            f"a{side}": "".join(letters),
            f"g{side}": letters[1],
            f"e{side}": letters[0],
        }
    found["label"] = int(left[:2] == right[:2])
    return found | {"vgg16": round(0.9 - 0.01 * number, 3), "senet50": round(-0.3 + 0.01 * number, 3)}


def frame() -> pd.DataFrame:
    """Two folds of disjoint people: in each four genuine pairs, four impostors inside groups and three across."""
    rows = []
    for fold in (1, 2):
        first = 2 * fold
        for group in range(4):
            rows.append(row(fold, (group, first, 1), (group, first, 2), len(rows)))
            rows.append(row(fold, (group, first, 1), (group, first + 1, 1), len(rows)))
        rows += [row(fold, (0, first, 1), (group, first, 1), len(rows)) for group in (1, 2, 3)]
    paths, ids, att, *letters = ([f"{name}1", f"{name}2"] for name in ("p", "id", "att", "a", "g", "e"))
    order = ["fold", *paths, "label", *ids, *att, "vgg16", "senet50", *(name for both in letters for name in both)]
    return pd.DataFrame(rows)[order]


@pytest.fixture
def table(tmp_path: Path) -> Path:
    path = tmp_path / "bfw-v0.1.5-datatable.csv"
    frame().to_csv(path, index=False)
    return path


def test_table_becomes_images_and_pairs(table: Path, tmp_path: Path) -> None:
    write_neutral(read_bfw(table), tmp_path / "set")
    with (tmp_path / "set/pairs.csv").open(newline="") as handle:
        pairs = list(csv.DictReader(handle))
    with (tmp_path / "set/images.csv").open(newline="") as handle:
        images = {image["image"]: image for image in csv.DictReader(handle)}
    expected = frame().rename(columns={"p1": "left", "p2": "right", "label": "same"})
    expected = expected[["fold", "left", "right", "same", "vgg16", "senet50"]]
    assert pairs == [{k: str(v) for k, v in pair.items()} for pair in expected.to_dict("records")]
    assert images["indian_females/n000022/0001_01.jpg"] == {
        "image": "indian_females/n000022/0001_01.jpg",
        "identity": "indian_females/n000022",
        "ethnicity": "indian",
        "gender": "female",
    }


def test_counts(table: Path) -> None:
    found = count_import(read_bfw(table))
    assert (found.images, found.identities, found.pairs, found.genuine) == (24, 16, 22, 8)
    assert found.folds == ("1", "2")
    assert found.mixed == {"ethnicity": 6, "gender": 4}
    assert (found.duplicates, found.shared_identities) == (0, 0)


def test_scores_run_without_vectors(table: Path, tmp_path: Path) -> None:
    write_neutral(read_bfw(table), tmp_path / "bfw")
    settings = DatasetSettings("bfw", "BFW", ("ethnicity", "gender"), min_pairs=1)
    data = locate(settings, BackboneSettings("senet50", "", "senet50"), tmp_path, "files").load()
    np.testing.assert_array_equal(data.cosine, frame()["senet50"])
    assert data.groupings["ethnicity_x_gender"].levels == ("asian_female", "black_male", "indian_female", "white_male")
    assert len(np.unique(data.identity)) == 16


def saved(change: Callable[[pd.DataFrame], pd.DataFrame], **options: object) -> Callable[[Path], Path]:
    def save(path: Path) -> Path:
        change(frame()).to_csv(path, **({"index": False} | options))
        return path

    return save


def text(change: Callable[[str], str], encoding: str = "utf-8") -> Callable[[Path], Path]:
    def save(path: Path) -> Path:
        path.write_bytes(change(path.read_text()).encode(encoding))
        return path

    return save


def as_objects(values: pd.Series, *kinds: Callable[[object], object]) -> pd.Series:
    """Cells of several types in turn."""
    mixed = [kinds[k % len(kinds)](value) for k, value in enumerate(values.tolist())]
    return pd.Series(mixed, index=values.index, dtype=object)


FAIRCAL = {"p1": "path1", "p2": "path2", "label": "same"}
UNHARMED: dict[str, Callable[[Path], Path]] = {
    "faircal's names": saved(lambda t: t.rename(columns=FAIRCAL)),
    "faircal's columns": saved(lambda t: t.rename(columns=FAIRCAL).drop(columns=["id1", "id2", "a1", "a2"])),
    "paths alone": saved(lambda t: t.drop(columns=[c for c in t if c[-1] in "12" and c[0] in "aegi"])),
    "letters alone": saved(lambda t: t.drop(columns=["att1", "att2", "a1", "a2"])),
    "row numbers": saved(lambda t: t, index=True),
    "ID": saved(lambda t: t.rename_axis("ID"), index=True),
    "reordered columns": saved(lambda t: t[["vgg16", "senet50", *sorted(set(t) - {"vgg16", "senet50"})]]),
    "extra columns": saved(lambda t: t.assign(pair="Genuine", ids1=t["id1"], remark="x", age=37)),
    "labels as floats": saved(lambda t: t.assign(label=t["label"].astype(float), fold=t["fold"].astype(float))),
    "labels as truth values": saved(lambda t: t.assign(label=t["label"].astype(bool))),
    "labels of all kinds": saved(lambda t: t.assign(label=as_objects(t["label"], int, bool, float))),
    "crlf": saved(lambda t: t, lineterminator="\r\n"),
    "byte order mark": saved(lambda t: t, encoding="utf-8-sig"),
    "quotes": saved(lambda t: t, quoting=csv.QUOTE_ALL),
    "semicolons": saved(lambda t: t, sep=";"),
    "tabs": saved(lambda t: t, sep="\t"),
}


@pytest.mark.parametrize("save", UNHARMED.values(), ids=UNHARMED.keys())
def test_other_spellings_give_the_same_bytes(save: Callable[[Path], Path], table: Path, tmp_path: Path) -> None:
    write_neutral(read_bfw(table), tmp_path / "set")
    assert write_neutral(read_bfw(save(table)), tmp_path / "set") == "already there, unchanged"


def cell(name: str, value: object, at: int = 3) -> Callable[[pd.DataFrame], pd.DataFrame]:
    def change(whole: pd.DataFrame) -> pd.DataFrame:
        column = whole[name].astype(object)
        column.iloc[at] = value
        return whole.assign(**{name: column})

    return change


def replaced_by(make: Callable[[Path], object]) -> Callable[[Path], Path]:
    def damage(path: Path) -> Path:
        path.unlink()
        make(path)
        return path

    return damage


BROKEN: dict[str, tuple[Callable[[Path], Path], str, str]] = {
    "truncated": (text(lambda whole: whole[:-30]), "cells-in-row", "line 23"),
    "latin 1": (text(lambda whole: whole.replace("n000002", "n\xe9"), "latin-1"), "not-utf8", "line 2"),
    "utf 16": (text(str, "utf-16"), "foreign-format", ""),
    "label 2": (saved(cell("label", 2)), "wrong-label", "line 5"),
    "blank label": (saved(cell("label", None)), "blank-cell", "line 5"),
    "blank fold": (saved(cell("fold", None)), "blank-cell", "line 5"),
    "half a fold": (saved(cell("fold", 1.5)), "unknown-value", "line 5"),
    "fold in words": (saved(cell("fold", "test")), "unknown-value", "line 5"),
    "one fold": (saved(lambda t: t.assign(fold=1)), "one-fold", ""),
    "missing image": (saved(cell("p2", None)), "several-problems", "line 5"),
    "image with itself": (saved(cell("p2", "asian_females/n000002/0001_01.jpg", 0)), "self-pair", "line 2"),
    "another group": (saved(cell("att1", "black_males", 1)), "contradiction", "lines 2, 3, 10, 11 and 12"),
    "no group": (saved(cell("att1", "green_females")), "unknown-value", "line 5"),
    "score in words": (saved(cell("vgg16", "high")), "not-a-number", "line 5"),
    "two vocabularies": (saved(lambda t: t.assign(path1=t["p1"])), "column-twice", ""),
    "no labels": (saved(lambda t: t.drop(columns="label")), "missing-column", ""),
    "no folds": (saved(lambda t: t.drop(columns="fold")), "missing-column", ""),
    "column twice": (text(lambda whole: whole.replace("vgg16", "senet50", 1)), "column-twice", ""),
    "no rows": (saved(lambda t: t.iloc[:0]), "no-rows", ""),
    "0 bytes": (text(lambda _: ""), "empty-file", ""),
    "a folder": (replaced_by(Path.mkdir), "unreadable-file", ""),
    "symlink loop": (replaced_by(lambda path: path.symlink_to(path)), "unreadable-file", ""),
    "a pickle called csv": (replaced_by(lambda path: path.write_bytes(pickle.dumps(frame()))), "foreign-format", ""),
}


def read_broken(folder: Path, save: Callable[[Path], Path]) -> None:
    frame().to_csv(folder / "bfw.csv", index=False)
    read_bfw(save(folder / "bfw.csv"))


def test_damaged_tables_are_refused(refuses: Refuses) -> None:
    refuses("The table of BFW", BROKEN, read_broken)


def test_a_pickle_is_converted_by_the_two_lines_in_the_message(table: Path) -> None:
    expected = table.read_bytes()
    frame().to_pickle(table.with_suffix(".pkl"))
    table.unlink()
    with pytest.raises(DataError, match=r"bfw-v0\.1\.5-datatable\.pkl is a pickle") as error:
        read_bfw(find_bfw(table.parent))
    exec("\n".join(str(error.value).splitlines()[-2:]), {})
    assert table.read_bytes() == expected


def test_columns_that_are_no_cosines_are_left_out_and_named(table: Path) -> None:
    whole = frame()
    whole.assign(remark="x", age=37, twin=whole["label"], gap=np.nan, comma="0,5").to_csv(table, index=False)
    data = read_bfw(table)
    assert list(data.scores) == ["vgg16", "senet50"]
    told = " ".join(map(str, data.notes))
    assert "'remark' is left out: it does not contain numbers" in told
    assert "'age' is left out: 37 in line 2 is not a cosine" in told
    assert "'twin' is left out: it contains only 0 and 1" in told
    assert "'gap' is left out" in told and "'comma' is left out: it does not contain numbers" in told


def test_columns_that_disagree_on_groups_are_noted(table: Path) -> None:
    cell("e1", "W", 1)(frame()).to_csv(table, index=False)
    (note,) = (note for note in read_bfw(table).notes if note.code == "columns-disagree")
    assert "'e1/2' and 'att1/2' disagree on ethnicity 1 time (first: line 3)" in note.text
    assert note.counts == {"times": 1}


def test_hints_of_a_file_cut_short(table: Path) -> None:
    table.write_text(table.read_text().rstrip())
    notes = " ".join(map(str, read_bfw(table).notes))
    assert "has 22 rows; the released lists have 923,898 pairs" in notes
    assert "its last line has no line end" in notes


def test_numbers_of_people_that_contradict_their_folders(table: Path) -> None:
    assert not any("id1, id2" in note.text for note in read_bfw(table).notes)
    cell("id1", 7)(frame()).to_csv(table, index=False)
    assert any("id1, id2 do not number the people" in note.text for note in read_bfw(table).notes)


def test_paths_with_backslashes(table: Path) -> None:
    whole = frame()[["fold", "p1", "p2", "label"]].copy()
    for name in ("p1", "p2"):
        whole[name] = whole[name].str.replace("/", "\\")
    whole.to_csv(table, index=False)
    found = count_import(read_bfw(table))
    assert (found.identities, found.mixed) == (16, {"ethnicity": 6, "gender": 4})


def test_all_problems_come_in_one_message(table: Path) -> None:
    whole = cell("att1", "green_females")(cell("fold", "test", 6)(frame()))
    whole.to_csv(table, index=False)
    with pytest.raises(DataError, match=r"has 2 problems:(.*\n)+  line 8: 'fold' is 'test'") as error:
        read_bfw(table)
    assert "line 5: 'att1' is 'green_females', which names no ethnicity" in str(error.value)


def test_blank_groups_are_unknown(table: Path) -> None:
    whole = frame()
    whole.loc[whole["att1"] == "asian_females", "att1"] = None
    whole.loc[whole["att2"] == "asian_females", "att2"] = None
    whole.to_csv(table, index=False)
    assert count_import(read_bfw(table)).unknown == {"ethnicity": 6, "gender": 6}


def test_a_group_told_in_one_row_holds_where_it_is_blank(table: Path) -> None:
    last = frame().index[frame()["p1"] == frame()["p1"].iloc[0]][-1]
    cell("att1", None, int(last))(frame()).to_csv(table, index=False)
    assert count_import(read_bfw(table)).unknown == {"ethnicity": 0, "gender": 0}


def test_spaces_in_paths_stay(table: Path) -> None:
    table.write_text(table.read_text().replace("0001_01.jpg", "0001 01.jpg"))
    assert "asian_females/n000002/0001 01.jpg" in read_bfw(table).images.ids


def test_groups_that_nothing_tells(table: Path) -> None:
    whole = frame()[["fold", "p1", "p2", "label"]].replace(regex=r"^.*/n", value="n")
    whole.to_csv(table, index=False)
    with pytest.raises(DataError, match="its group is not known"):
        read_bfw(table)


def test_table_is_found_below_the_root(table: Path, tmp_path: Path) -> None:
    (tmp_path / "meta").mkdir()
    table.rename(tmp_path / "meta" / table.name)
    parser = ArgumentParser()
    add_arguments(parser)
    told = run(parser.parse_args(["--root", str(tmp_path), "--out", str(tmp_path / "data")]))
    assert "score columns: vgg16, senet50" in told
    with pytest.raises(DataError, match="has no meta/bfw"):
        find_bfw(tmp_path / "data")
