"""RFW as a table: with ids and numbers, or with paths; both must give what RFW's own lists give."""

from __future__ import annotations

import csv
from argparse import ArgumentParser
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from broken_files import Refuses

from fairfr.core.errors import DataError
from fairfr.data.importers import rfw
from fairfr.data.importers.imported_set import write_neutral
from fairfr.data.importers.published_tables import ETHNICITIES, read_rfw_table
from fairfr.data.importers.rfw import read_rfw


def frame() -> pd.DataFrame:
    """Two folds of one genuine pair and one impostor in each ethnicity, in the order of the lists."""
    rows = []
    for ethnicity in ETHNICITIES:
        for fold in (0, 1):
            one, two = f"m.0{fold}a", f"m.0{fold}b"
            rows.append([fold, one, 1, one, 12, ethnicity, 1, "Genuine", 0.8 + fold / 10])
            rows.append([fold, one, 3, two, 2, ethnicity, 0, "Imposter", 0.1 + fold / 10])
    return pd.DataFrame(rows, columns=["fold", "id1", "num1", "id2", "num2", "ethnicity", "same", "pair", "facenet"])


def with_paths(whole: pd.DataFrame, start: str = "", digits: int = 4, cropped: str = "") -> pd.DataFrame:
    for side in "12":
        number = whole[f"num{side}"].map(lambda n: f"{n:0{digits}d}")
        person = whole[f"id{side}"]
        path = start + whole["ethnicity"] + cropped + "/" + person + "/" + person + "_" + number + ".jpg"
        whole = whole.assign(**{f"path{side}": path}).drop(columns=[f"num{side}", f"id{side}"])
    return whole


@pytest.fixture
def table(tmp_path: Path) -> Path:
    path = tmp_path / "rfw.csv"
    frame().to_csv(path, index=False)
    return path


def test_same_images_and_pairs_as_from_the_lists(table: Path, tmp_path: Path) -> None:
    for name, part in frame().groupby("ethnicity"):
        folder = tmp_path / "txts" / str(name)
        folder.mkdir(parents=True)
        lines = [
            f"{r.id1} {r.num1} {r.num2}" if r.same else f"{r.id1} {r.num1} {r.id2} {r.num2}" for r in part.itertuples()
        ]
        (folder / f"{name}_pairs.txt").write_text("\n".join(lines))
    write_neutral(read_rfw(tmp_path), tmp_path / "lists")
    write_neutral(read_rfw_table(table), tmp_path / "table")
    assert (tmp_path / "lists/images.csv").read_bytes() == (tmp_path / "table/images.csv").read_bytes()
    pairs = pd.read_csv(tmp_path / "table/pairs.csv")
    np.testing.assert_array_equal(pairs.pop("facenet"), frame()["facenet"])
    pd.testing.assert_frame_equal(pairs, pd.read_csv(tmp_path / "lists/pairs.csv"))


def saved(change: Callable[[pd.DataFrame], pd.DataFrame], **options: object) -> Callable[[Path], object]:
    return lambda path: change(frame()).to_csv(path, **({"index": False} | options))


def text(change: Callable[[str], str], encoding: str = "utf-8") -> Callable[[Path], object]:
    return lambda path: path.write_bytes(change(path.read_text()).encode(encoding))


def cell(name: str, value: object, at: int = 2) -> Callable[[pd.DataFrame], pd.DataFrame]:
    def change(whole: pd.DataFrame) -> pd.DataFrame:
        column = whole[name].astype(object)
        column.iloc[at] = value
        return whole.assign(**{name: column})

    return change


def replaced_by(make: Callable[[Path], object]) -> Callable[[Path], object]:
    def damage(path: Path) -> None:
        path.unlink()
        make(path)

    return damage


UNHARMED: dict[str, Callable[[Path], object]] = {
    "paths": saved(with_paths),
    "paths and no ethnicity": saved(lambda t: with_paths(t).drop(columns="ethnicity")),
    "paths with folders before": saved(lambda t: with_paths(t, "./data/rfw/data/")),
    "paths of cropped images": saved(lambda t: with_paths(t, "rfw/data/", cropped="_cropped")),
    "cropped images and no ethnicity": saved(lambda t: with_paths(t, cropped="_cropped").drop(columns="ethnicity")),
    "paths with five digits": saved(lambda t: with_paths(t, digits=5)),
    "paths without padding": saved(lambda t: with_paths(t, digits=1)),
    "ethnicity in small letters": saved(lambda t: t.assign(ethnicity=t["ethnicity"].str.lower())),
    "numbers as floats": saved(lambda t: t.assign(num1=t["num1"].astype(float), fold=t["fold"].astype(float))),
    "padded numbers": saved(lambda t: t.assign(num2=t["num2"].map("{:04d}".format))),
    "truth values": saved(lambda t: t.assign(same=t["same"].astype(bool))),
    "mixed labels": saved(cell("same", "True", 0)),
    "row numbers": saved(lambda t: t, index=True),
    "reordered and extra columns": saved(lambda t: t[t.columns[::-1]].assign(remark="x")),
    "crlf": saved(lambda t: t, lineterminator="\r\n"),
    "byte order mark": saved(lambda t: t, encoding="utf-8-sig"),
    "quotes": saved(lambda t: t, quoting=csv.QUOTE_ALL),
    "semicolons": saved(lambda t: t, sep=";"),
}
BROKEN: dict[str, tuple[Callable[[Path], object], str, str]] = {
    "truncated": (text(lambda whole: whole[:-20]), "cells-in-row", "line 17"),
    "another ethnicity": (saved(cell("ethnicity", "White")), "unknown-value", "line 4"),
    "no ethnicity": (saved(lambda t: t.drop(columns="ethnicity")), "missing-column", ""),
    "blank person": (saved(cell("id2", None)), "blank-cell", "line 4"),
    "no number": (saved(cell("num2", "x")), "unknown-value", "line 4"),
    "half a number": (saved(cell("num2", 1.5)), "unknown-value", "line 4"),
    "path for a person": (saved(cell("id1", "a/b")), "unknown-value", "line 4"),
    "no persons": (saved(lambda t: t.drop(columns="id1")), "missing-column", ""),
    "no numbers": (saved(lambda t: t.drop(columns="num2")), "missing-column", ""),
    "path of another person": (
        saved(lambda t: cell("path1", "African/m.1/m.2_0001.jpg")(with_paths(t))),
        "unknown-value",
        "line 4",
    ),
    "path of another ethnicity": (
        saved(lambda t: cell("path1", "Asian/m.1/m.1_0001.jpg")(with_paths(t))),
        "unknown-value",
        "line 4",
    ),
    "path without number": (
        saved(lambda t: cell("path2", "African/m.1/m.1.jpg")(with_paths(t))),
        "unknown-value",
        "line 4",
    ),
    "label in words": (saved(cell("same", "perhaps")), "wrong-label", "line 4"),
}


@pytest.mark.parametrize("save", UNHARMED.values(), ids=UNHARMED.keys())
def test_other_spellings_give_the_same_bytes(save: Callable[[Path], object], table: Path, tmp_path: Path) -> None:
    write_neutral(read_rfw_table(table), tmp_path / "set")
    save(table)
    assert write_neutral(read_rfw_table(table), tmp_path / "set") == "already there, unchanged"


def read_broken(folder: Path, damage: Callable[[Path], object]) -> None:
    frame().to_csv(folder / "rfw.csv", index=False)
    damage(folder / "rfw.csv")
    read_rfw_table(folder / "rfw.csv")


def test_damaged_tables_are_refused(refuses: Refuses) -> None:
    refuses("RFW as one table", BROKEN, read_broken)


def test_unknown_ending(tmp_path: Path) -> None:
    (tmp_path / "rfw.xlsx").write_bytes(b"PK\x03\x04")
    with pytest.raises(DataError, match=r"is not a csv"):
        read_rfw_table(tmp_path / "rfw.xlsx")


def test_command_line_takes_the_table(table: Path, tmp_path: Path) -> None:
    parser = ArgumentParser()
    rfw.add_arguments(parser)
    told = rfw.run(parser.parse_args(["--table", str(table), "--out", str(tmp_path / "data"), "--name", "rfw_faircal"]))
    assert "score columns: facenet" in told
    assert (tmp_path / "data/rfw_faircal/pairs.csv").is_file()
