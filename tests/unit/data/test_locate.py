"""Which data a run gets, and what it is told when there is none."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Literal

import numpy as np
import pytest

from fairfr.core.errors import ConfigError, DataError
from fairfr.data.locate import available_names, locate
from fairfr.data.settings import BackboneSettings, DatasetSettings
from fairfr.data.synthetic import BackboneModel, StandIn, standin_digest

STANDIN = StandIn(
    structure="rfw",
    seed=1,
    difficulty={"african": 0.3, "asian": 1.0, "caucasian": -1.0, "indian": -0.3},
    backbones={"magface": BackboneModel(44.3, 1.0, 0.4, 0.01, 0.14, 0.3, 0.1, 0.4)},
    scale=0.02,
)
RFW = DatasetSettings("rfw", "RFW", ("ethnicity",), standin=STANDIN)
CUSTOM = DatasetSettings("rfw", "Mine", ("ethnicity",))
MAGFACE = BackboneSettings("magface", "MagFace")
Choice = Literal["auto", "files", "synthetic"]


def write(root: Path) -> Path:
    folder = root / "rfw"
    (folder / "embeddings").mkdir(parents=True)
    folder.joinpath("images.csv").write_text("image,ethnicity\na,x\nb,x\nc,x\nd,x\n")
    folder.joinpath("pairs.csv").write_text("fold,left,right,same\n0,a,b,1\n0,a,c,0\n1,c,d,1\n1,b,d,0\n")
    np.savez(folder / "embeddings/magface.npz", image=np.array(list("abcd")), vectors=np.eye(4, dtype="f4"))
    return folder


def test_auto_takes_files_that_are_there(tmp_path: Path) -> None:
    write(tmp_path)
    located = locate(RFW, MAGFACE, tmp_path, "auto")
    assert (located.source, located.warning) == ("files", None)
    assert located.digest == located.load().digest == locate(RFW, MAGFACE, tmp_path, "files").digest


def test_auto_falls_back_with_a_warning(tmp_path: Path) -> None:
    located = locate(RFW, MAGFACE, tmp_path, "auto")
    assert located.source == "synthetic"
    assert located.warning is not None and located.warning.code == "stand-in-used"
    for part in ("images.csv", "pairs.csv", "magface.npz", "not found", "SYNTHETIC"):
        assert part in located.warning.text
    assert located.digest == standin_digest("rfw", "magface", STANDIN)
    data = located.load()
    assert (data.source, data.digest) == ("synthetic", located.digest)


def test_a_folder_without_these_vectors_is_no_reason_for_the_standin(tmp_path: Path) -> None:
    write(tmp_path).joinpath("embeddings/magface.npz").unlink()
    with pytest.raises(DataError, match=r"magface\.npz: not found.*contains: embeddings, images\.csv") as caught:
        locate(RFW, MAGFACE, tmp_path, "auto")
    assert "source=synthetic" in str(caught.value) and "pairs.csv (or" not in str(caught.value)


def test_an_empty_folder_or_a_link_to_nothing_is_no_reason_either(tmp_path: Path) -> None:
    (tmp_path / "rfw").symlink_to(tmp_path / "unmounted")
    with pytest.raises(DataError, match="not found"):
        locate(RFW, MAGFACE, tmp_path, "auto")
    (tmp_path / "unmounted").mkdir()
    with pytest.raises(DataError, match="contains: nothing"):
        locate(RFW, MAGFACE, tmp_path, "auto")


@pytest.mark.parametrize("kind", ["loop", "file"])
def test_what_cannot_be_looked_at_is_an_error(tmp_path: Path, kind: str) -> None:
    """As a folder without permission is to others than root."""
    root = tmp_path / "data"
    if kind == "loop":
        root.symlink_to(root)
    else:
        root.write_text("")
    with pytest.raises(DataError, match=r"data/rfw/images\.csv cannot be opened: .*data_root"):
        locate(RFW, MAGFACE, root, "auto")


def test_names_of_what_is_stored(tmp_path: Path) -> None:
    folder = write(tmp_path)
    for name in ("net.v2.npz", "two words.npz", ".hidden.npz", "notes.txt"):
        (folder / "embeddings" / name).touch()
    (tmp_path / "other" / "embeddings").mkdir(parents=True)
    (tmp_path / "other" / "embeddings" / "magface.npz").touch()
    (tmp_path / "a file").touch()
    assert available_names(tmp_path) == {"dataset": ["other", "rfw"], "backbone": ["magface", "net.v2"]}
    assert available_names(tmp_path / "nowhere") == {"dataset": [], "backbone": []}


@pytest.mark.parametrize("broken", ["pairs.csv", "embeddings/magface.npz"])
def test_auto_never_hides_broken_files(tmp_path: Path, broken: str) -> None:
    write(tmp_path).joinpath(broken).write_bytes(b"")
    with pytest.raises(DataError, match="0 bytes"):
        locate(RFW, MAGFACE, tmp_path, "auto").load()


def test_a_link_to_nothing_is_not_a_missing_file(tmp_path: Path) -> None:
    path = write(tmp_path) / "pairs.csv"
    path.unlink()
    path.symlink_to(tmp_path / "nowhere")
    with pytest.raises(DataError, match=r"pairs.csv does not exist, or is a link to"):
        locate(RFW, MAGFACE, tmp_path, "auto")


def test_synthetic_ignores_files(tmp_path: Path) -> None:
    write(tmp_path)
    located = locate(RFW, MAGFACE, tmp_path, "synthetic")
    assert (located.source, located.warning) == ("synthetic", None)


@pytest.mark.parametrize(
    ("dataset", "backbone", "reason"),
    [
        (CUSTOM, MAGFACE, "dataset rfw has no synthetic stand-in"),
        (RFW, BackboneSettings("scores", "", "column"), r"scores \(column\) has no synthetic stand-in"),
        (RFW, BackboneSettings("magfase", ""), "Did you mean 'magface'"),
    ],
)
def test_synthetic_without_a_standin(
    tmp_path: Path, dataset: DatasetSettings, backbone: BackboneSettings, reason: str
) -> None:
    with pytest.raises(ConfigError, match=reason):
        locate(dataset, backbone, tmp_path, "synthetic")


@pytest.mark.parametrize(
    ("dataset", "backbone", "source"),
    [
        (CUSTOM, BackboneSettings("magfase", ""), "auto"),
        (RFW, BackboneSettings("magfase", ""), "auto"),
        (RFW, BackboneSettings("magfase", ""), "files"),
    ],
)
def test_missing_vectors_file(
    tmp_path: Path, dataset: DatasetSettings, backbone: BackboneSettings, source: Choice
) -> None:
    write(tmp_path)
    with pytest.raises(DataError) as caught:
        locate(dataset, backbone, tmp_path, source)
    for part in ("magfase.npz: not found", "images.csv", "Did you mean 'magface'", "data_root"):
        assert part in str(caught.value)


@pytest.mark.parametrize("source", ["auto", "files"])
def test_missing_scores(tmp_path: Path, source: Choice) -> None:
    with pytest.raises(DataError, match=r"pairs.csv \(or .parquet\): not found"):
        locate(RFW, BackboneSettings("scores", "", "column"), tmp_path, source)


def test_missing_folder_suggests_a_neighbour(tmp_path: Path) -> None:
    write(tmp_path)
    with pytest.raises(DataError, match=r"has no folder 'rwf'. Did you mean 'rfw'"):
        locate(DatasetSettings("rwf", ""), MAGFACE, tmp_path, "auto")


def test_a_table_with_another_ending_is_told_the_command_that_converts_it(tmp_path: Path) -> None:
    folder = write(tmp_path)
    (folder / "pairs.csv").rename(folder / "pairs.tsv")
    command = f"fairfr import table --dataset rfw --data-root {tmp_path} --pairs {folder}/pairs.tsv"
    command += f" --image-table {folder}/images.csv"
    with pytest.raises(DataError, match=rf"convert it with: {command} --force$"):
        locate(CUSTOM, MAGFACE, tmp_path, "files")
    (folder / "images.csv").rename(folder / "images.tsv")
    with pytest.raises(DataError, match=rf"--image-table {folder}/images.tsv$"):
        locate(CUSTOM, MAGFACE, tmp_path, "files")


def test_files_mentions_the_standin(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="source=synthetic"):
        locate(RFW, MAGFACE, tmp_path / "nowhere", "files")


CLIMBING = ["", ".", "..", "../x", "/etc", "a/b", "a\\b", "a\0b", "a\nb", " ", "x" * 300, "\udcff"]


@pytest.mark.parametrize("source", ["auto", "files", "synthetic"])
@pytest.mark.parametrize("name", CLIMBING)
def test_ids_stay_inside_data_root(tmp_path: Path, name: str, source: Choice) -> None:
    root = tmp_path / "data"
    with pytest.raises(ConfigError, match=r"dataset\.id="):
        locate(DatasetSettings(name, ""), MAGFACE, root, source)
    with pytest.raises(ConfigError, match=r"backbone\.id="):
        locate(RFW, BackboneSettings(name, ""), root, source)
    with pytest.raises(ConfigError, match=r"backbone\.column="):
        locate(RFW, BackboneSettings("scores", "", name), root, source)


def test_ids_may_contain_dots(tmp_path: Path) -> None:
    folder = write(tmp_path)
    folder.joinpath("embeddings/magface.npz").rename(folder / "embeddings/net.v1.2.npz")
    assert locate(RFW, BackboneSettings("net.v1.2", ""), tmp_path, "auto").load().backbone == "net.v1.2"


def test_images_count_for_scores_only_if_they_are_there(tmp_path: Path) -> None:
    folder = write(tmp_path)
    scores = BackboneSettings("scores", "", "cosine")
    before = locate(RFW, scores, tmp_path, "files").digest
    folder.joinpath("images.csv").write_text("image,ethnicity\na,y\n")
    assert locate(RFW, scores, tmp_path, "files").digest != before
    folder.joinpath("images.csv").unlink()
    assert locate(RFW, scores, tmp_path, "files").source == "files"


def test_locating_imports_nothing_heavy() -> None:
    code = "import sys, fairfr.data.locate; print({'pandas', 'pyarrow', 'scipy', 'torch'} & set(sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "set()"
