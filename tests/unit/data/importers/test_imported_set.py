from __future__ import annotations

import csv
import os
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from fairfr.core.errors import ConfigError, DataError
from fairfr.data.files import DataFile
from fairfr.data.images_file import read_images
from fairfr.data.importers import imported_set as module
from fairfr.data.importers.imported_set import ImportedSet, write_neutral
from fairfr.data.importers.lfw import read_lfw


@pytest.fixture
def data(tmp_path: Path) -> ImportedSet:
    (tmp_path / "pairs.txt").write_text("2 1\nAna 1 2\nAna 1 Bo 1\nCy 1 2\nCy 1 Di 3\n")
    return read_lfw(tmp_path / "pairs.txt")


def contents(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_the_files_to_the_letter(data: ImportedSet, tmp_path: Path) -> None:
    scored = replace(data, scores={"net": np.array([0.1, 1 / 3, -1.0, 0.5])})
    assert write_neutral(scored, tmp_path / "data/lfw") == "written"
    assert contents(tmp_path / "data") == {
        "lfw/images.csv": b"image,identity\nAna_0001.jpg,Ana\nAna_0002.jpg,Ana\nBo_0001.jpg,Bo\n"
        b"Cy_0001.jpg,Cy\nCy_0002.jpg,Cy\nDi_0003.jpg,Di\n",
        "lfw/pairs.csv": b"fold,left,right,same,net\n0,Ana_0001.jpg,Ana_0002.jpg,1,0.1\n"
        b"0,Ana_0001.jpg,Bo_0001.jpg,0,0.3333333333333333\n1,Cy_0001.jpg,Cy_0002.jpg,1,-1.0\n"
        b"1,Cy_0001.jpg,Di_0003.jpg,0,0.5\n",
    }


def test_names_that_csv_must_quote(tmp_path: Path) -> None:
    names = ['O"Neil', "Smith, J", "b c", "'", "#x"]
    lines = [f"{name}\t1\t2\n{name}\t1\tAna\t1\n" for name in names]
    (tmp_path / "pairs.txt").write_text("".join(lines))
    write_neutral(read_lfw(tmp_path / "pairs.txt"), tmp_path / "set")
    images = read_images(DataFile.at(tmp_path / "set/images.csv"), ())
    assert sorted(images.ids) == sorted(["Ana_0001.jpg"] + [f"{name}_000{k}.jpg" for name in names for k in (1, 2)])
    with (tmp_path / "set/pairs.csv").open(newline="") as handle:
        assert [row[1].removesuffix("_0001.jpg") for row in csv.reader(handle)][1::2] == names


def test_repeating_changes_nothing(data: ImportedSet, tmp_path: Path) -> None:
    write_neutral(data, tmp_path / "set")
    before = (tmp_path / "set/pairs.csv").stat()
    assert write_neutral(data, tmp_path / "set") == "already there, unchanged"
    assert (tmp_path / "set/pairs.csv").stat() == before


def test_another_set_is_replaced_only_by_force(data: ImportedSet, tmp_path: Path) -> None:
    write_neutral(data, tmp_path / "set")
    (tmp_path / "set/embeddings").mkdir()
    (tmp_path / "set/embeddings/net.npz").write_bytes(b"vectors")
    before = contents(tmp_path / "set")
    other = replace(data, pairs=data.pairs.keep(np.array([True, True, False, True])))
    with pytest.raises(DataError, match=r"already has another data set \(images.csv, pairs.csv\).*--force"):
        write_neutral(other, tmp_path / "set")
    assert contents(tmp_path / "set") == before
    assert write_neutral(other, tmp_path / "set", force=True) == "replaced"
    after = contents(tmp_path / "set")
    assert after["pairs.csv"].count(b"\n") == 4
    assert after["embeddings/net.npz"] == b"vectors"


def test_tables_of_the_other_ending_do_not_stay_beside(data: ImportedSet, tmp_path: Path) -> None:
    (tmp_path / "set").mkdir()
    (tmp_path / "set/pairs.parquet").write_bytes(b"PAR1")
    with pytest.raises(DataError, match=r"pairs.parquet"):
        write_neutral(data, tmp_path / "set")
    write_neutral(data, tmp_path / "set", force=True)
    assert sorted(contents(tmp_path / "set")) == ["images.csv", "pairs.csv"]


def test_vectors_that_came_first_stay(data: ImportedSet, tmp_path: Path) -> None:
    (tmp_path / "set/embeddings").mkdir(parents=True)
    (tmp_path / "set/embeddings/net.npz").write_bytes(b"vectors")
    assert write_neutral(data, tmp_path / "set") == "written"
    assert sorted(contents(tmp_path / "set")) == ["embeddings/net.npz", "images.csv", "pairs.csv"]


@pytest.mark.parametrize("interruption", [KeyboardInterrupt, MemoryError])
@pytest.mark.parametrize("existing", [False, True])
def test_interrupted_while_writing(
    interruption: type[BaseException],
    existing: bool,
    data: ImportedSet,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    out = tmp_path / "data"
    if existing:
        write_neutral(data, out / "set")
    before = contents(tmp_path)

    def stop(*_: object) -> None:
        raise interruption

    monkeypatch.setattr(module, "_pairs_table", stop)
    with pytest.raises(interruption):
        write_neutral(data, out / "set", force=True)
    assert contents(tmp_path) == before
    assert existing or os.listdir(out) == []


def test_interrupted_replacement_leaves_nothing_to_load(
    data: ImportedSet, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_neutral(data, tmp_path / "set")
    other = replace(data, pairs=data.pairs.keep(np.array([True, True, False, True])))
    rename = Path.rename

    def stop_at_pairs(path: Path, target: Path) -> Path:
        if path.name == "pairs.csv":
            raise KeyboardInterrupt
        return rename(path, target)

    monkeypatch.setattr(Path, "rename", stop_at_pairs)
    with pytest.raises(KeyboardInterrupt):
        write_neutral(other, tmp_path / "set", force=True)
    assert sorted(contents(tmp_path / "set")) == ["images.csv"]
    monkeypatch.undo()
    assert write_neutral(other, tmp_path / "set", force=True) == "replaced"


@pytest.mark.parametrize("kind", ["file", "loop"])
def test_something_in_the_way(kind: str, data: ImportedSet, tmp_path: Path) -> None:
    place = tmp_path / "set"
    place.write_text("mine") if kind == "file" else place.symlink_to(place)
    with pytest.raises(DataError, match="in the way"):
        write_neutral(data, place, force=True)
    assert os.path.lexists(place)


def test_a_data_root_that_cannot_hold_folders(data: ImportedSet, tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(DataError, match="cannot be written"):
        write_neutral(data, tmp_path / "file" / "set")


@pytest.mark.parametrize("name", ["", "..", "a/b", "a\\b", "a\nb"])
def test_names_stay_inside_the_data_root(name: str, data: ImportedSet, tmp_path: Path) -> None:
    from argparse import Namespace

    with pytest.raises(ConfigError, match="--dataset"):
        module.write_and_summarise(data, Namespace(dataset=name, data_root=tmp_path / "data", force=False))
