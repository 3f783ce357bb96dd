"""The command with a network of three numbers, the mean colours; tests/unit/faces runs dlib's."""

from __future__ import annotations

import re
import shlex
import tarfile
import threading
from collections.abc import Callable, Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import yaml
from hydra.core.override_parser.overrides_parser import OverridesParser
from made_pictures import make_celeba, make_lfw, pack

from fairfr.commands import faces
from fairfr.faces import benchmarks, extraction
from fairfr.faces.aligners import AlignedFace
from fairfr.faces.download import sha256_of

Run = Callable[..., str]


class Colours:
    """Aligner and network in one; counts the images that it saw, and finds no face in those of ``unseen``."""

    size = 20

    def __init__(self) -> None:
        self.asked: list[str] = []
        self.unseen: set[str] = set()
        self.missing = "box"

    def face(self, entry: Any, image: np.ndarray, size: int) -> AlignedFace:
        self.asked.append(entry.id)
        if entry.id not in self.unseen:
            return AlignedFace(image.astype(np.float32))
        if self.missing == "drop":
            return AlignedFace(None, found=False)
        return AlignedFace(image.astype(np.float32), found=False)

    def vectors(self, pictures: np.ndarray) -> np.ndarray:
        return pictures.mean(axis=(1, 2)) - 128


@pytest.fixture
def colours(monkeypatch: pytest.MonkeyPatch) -> Colours:
    made = Colours()

    def load(arguments: Any) -> faces.Recogniser:
        made.missing = arguments.missing
        return faces.Recogniser(arguments.backbone or "colours", made, made, f"colours {arguments.missing}")

    monkeypatch.setattr(faces, "load_recogniser", load)
    return made


@pytest.fixture
def home(tmp_path: Path) -> Path:
    return make_lfw(tmp_path / "lfw_home")


@pytest.fixture
def run(tmp_path: Path, colours: Colours, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Run:
    """``run("lfw", "--images", path)`` in ``tmp_path``; returns what is printed."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("signal.signal", lambda *_: None)

    def command(*words: object) -> str:
        monkeypatch.setattr("sys.argv", ["fairfr faces", *map(str, words)])
        faces.main()
        return capsys.readouterr().out

    return command


def vectors_of(path: Path) -> dict[str, np.ndarray]:
    with np.load(path) as stored:
        return dict(zip(stored["image"].tolist(), stored["vectors"], strict=True))


def test_folder_parent_and_archive_give_the_same_set(run: Run, home: Path, tmp_path: Path) -> None:
    archive = pack(home, home / "lfw.tgz")
    files: list[list[bytes]] = []
    for number, images in enumerate((home / "lfw", home, archive)):
        said = run("lfw", "--images", images, "--out", f"data{number}")
        assert "39 images" in said
        made = tmp_path / f"data{number}" / "lfw_faces"
        tables = [(made / name).read_bytes() for name in ("images.csv", "pairs.csv")]
        with np.load(made / "embeddings" / "colours.npz") as stored:
            files.append([*tables, stored["image"].tobytes(), stored["vectors"].tobytes()])
    assert files[0] == files[1] == files[2]
    pairs = pd.read_csv(tmp_path / "data0" / "lfw_faces" / "pairs.csv")
    assert pairs["fold"].tolist() == [0] * 12 + [1] * 12
    assert pairs["same"].tolist() == 2 * ([1] * 6 + [0] * 6)
    assert pairs.iloc[0].tolist() == [0, "A_Person_0001.jpg", "A_Person_0002.jpg", 1]


def test_the_set_is_checked_and_the_next_command_named(run: Run, home: Path) -> None:
    said = run("lfw", "--images", home)
    assert "data/lfw_faces/embeddings/colours.npz: 36 vectors of 3 numbers" in said
    assert re.search(r"pairs +24 +12 genuine, 12 impostor", said)  # the page of fairfr check
    words = shlex.split(said.splitlines()[-2].removeprefix("next: "))
    assert words[:3] == ["fairfr", "run", "-m"]
    parsed = {override.key_or_group: override for override in OverridesParser.create().parse_overrides(words[3:])}
    assert parsed["dataset"].value() == "lfw_faces"
    assert parsed["backbone"].value() == "colours"
    assert parsed["dataset.grouping"].value() == []
    assert set(parsed) == {"experiment", "method", "dataset", "backbone", "dataset.grouping"}
    assert said.splitlines()[-1] == "then: fairfr tables"
    assert "data_root=elsewhere" in run("lfw", "--images", home, "--out", "elsewhere")


def test_without_groups_exactly_the_methods_that_need_them_are_left_out(conf: Path) -> None:
    needing = set()
    for path in (conf / "method").glob("*.yaml"):
        target = yaml.safe_load(path.read_text())["estimator"]["_target_"]
        module, _, name = target.rpartition(".")
        if "groups" in getattr(import_module(module), name).needs:
            needing.add(path.stem)
    excluded: set[str] = set()
    for pattern in faces.NEED_GROUPS:
        excluded.update(path.stem for path in (conf / "method").glob(f"{pattern}.yaml"))
    assert excluded == needing and needing


def test_pairs_without_their_images_are_left_out_and_counted(run: Run, home: Path, tmp_path: Path) -> None:
    (home / "lfw" / "A_Person" / "A_Person_0002.jpg").unlink()
    said = run("lfw", "--images", home)
    assert "38 images" in said
    assert "1 of 24 pairs are left out, because an image is not there" in said
    assert len(pd.read_csv(tmp_path / "data" / "lfw_faces" / "pairs.csv")) == 23


def test_it_stops_if_no_pair_is_left(run: Run, home: Path) -> None:
    for person in (home / "lfw").iterdir():
        if person.name != "M_Person":
            (person / f"{person.name}_0001.jpg").unlink()
    with pytest.raises(SystemExit, match=r"pairs\.txt: of none of its 24 pairs both images are there"):
        run("lfw", "--images", home)


def test_images_of_pairs_come_first_and_the_others_later_without_loss(run: Run, home: Path, colours: Colours) -> None:
    run("lfw", "--images", home)
    first = list(colours.asked)
    assert len(first) == 36 and not any(name.startswith("M_") for name in first)
    said = run("lfw", "--images", home, "--all")
    assert colours.asked[36:] == ["M_Person_0001.jpg", "M_Person_0002.jpg", "M_Person_0003.jpg"]
    assert "39 vectors" in said
    run("lfw", "--images", home, "--all")
    assert len(colours.asked) == 39


def test_an_interrupted_command_goes_on(
    run: Run, home: Path, colours: Colours, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(extraction, "IMAGES_PER_PART", 10)
    run("lfw", "--images", home, "--out", "whole")
    colours.asked.clear()
    with monkeypatch.context() as patch:
        patch.setattr(colours, "vectors", interrupt_after(2, colours.vectors))
        with pytest.raises(SystemExit, match="The same command goes on where it stopped"):
            run("lfw", "--images", home)
    assert len(colours.asked) == 30
    run("lfw", "--images", home)
    assert len(colours.asked) == 46  # ten of them twice: the part that was under way
    whole = (tmp_path / "whole" / "lfw_faces" / "embeddings" / "colours.npz").read_bytes()
    assert (tmp_path / "data" / "lfw_faces" / "embeddings" / "colours.npz").read_bytes() == whole


def interrupt_after(calls: int, work: Callable[..., Any]) -> Callable[..., Any]:
    left = iter(range(calls))

    def interrupted(*given: Any) -> Any:
        if next(left, None) is None:
            raise KeyboardInterrupt
        return work(*given)

    return interrupted


@pytest.mark.parametrize("missing", ["box", "drop"])
def test_images_without_a_face_are_named(run: Run, home: Path, colours: Colours, tmp_path: Path, missing: str) -> None:
    colours.unseen = {"B_Person_0001.jpg"}
    said = run("lfw", "--images", home, "--missing", missing)
    assert re.search(r"no face found in 1 image, .*:\n  B_Person_0001\.jpg", said)
    assert (tmp_path / "data" / "lfw_faces" / "no_face_colours.txt").read_text() == "B_Person_0001.jpg\n"
    kept = vectors_of(tmp_path / "data" / "lfw_faces" / "embeddings" / "colours.npz")
    assert ("B_Person_0001.jpg" in kept) == (missing == "box")
    assert ("dataset.missing=drop" in said) == (missing == "drop")
    assert said == run("lfw", "--images", home, "--missing", missing).replace("already there, unchanged", "written")
    with pytest.raises(SystemExit, match="vectors of another network, or made with other options"):
        run("lfw", "--images", home, "--missing", {"box": "drop", "drop": "box"}[missing])


ATTRIBUTES = "# lfw_attributes.txt\n#\tperson\timagenum\tMale\tAsian\tWhite\tBlack\tEyeglasses\n"


@pytest.mark.parametrize("kind", ["attributes", "fairface", "own"])
def test_a_table_gives_groups(run: Run, home: Path, tmp_path: Path, kind: str) -> None:
    table = tmp_path / "groups.txt"
    people = sorted(path.name for path in (home / "lfw").iterdir())
    if kind == "attributes":
        rows = [f"{name.replace('_', ' ')}\t1\t1\t-1\t1\t-1\t1" for name in people]
        table.write_text(ATTRIBUTES + "\n".join(rows))
    elif kind == "fairface":
        rows = [f"faces/{name}_{number:04d}_face0.jpg,White,Male" for name in people for number in (1, 2, 3)]
        table = table.rename(tmp_path / "groups.csv") if table.exists() else tmp_path / "groups.csv"
        table.write_text("face_name_align,race4,gender\n" + "\n".join(rows))
    else:
        table = tmp_path / "groups.csv"
        table.write_text("person,ethnicity,gender\n" + "\n".join(f"{name},white,male" for name in people))
    said = run("lfw", "--images", home, "--group-table", table)
    assert "'dataset.grouping=[ethnicity,gender]'" in said
    assert "'method=glob(*)'" in said
    images = pd.read_csv(tmp_path / "data" / "lfw_faces" / "images.csv")
    assert set(images["gender"]) == {"male"} and set(images["ethnicity"]) == {"white"}


def test_the_list_of_pairs_may_be_elsewhere(run: Run, home: Path, tmp_path: Path) -> None:
    (home / "pairs.txt").rename(tmp_path / "mine.txt")
    with pytest.raises(SystemExit, match=r"pairs\.txt is neither in .* Name the list of pairs with --pairs"):
        run("lfw", "--images", home)
    assert "36 vectors" in run("lfw", "--images", home, "--pairs", tmp_path / "mine.txt")


def test_lists_that_are_not_there_are_told_before_an_archive_is_unpacked(run: Run, home: Path, tmp_path: Path) -> None:
    archive = pack(home, tmp_path / "lfw.tgz")
    (home / "pairs.txt").rename(tmp_path / "mine.txt")
    with pytest.raises(SystemExit, match=r"pairs\.txt is neither in .*lfw\.tgz nor beside it"):
        run("lfw", "--images", archive)
    for option in ("--pairs", "--group-table"):
        with pytest.raises(SystemExit, match=r"none\.txt"):
            run("lfw", "--images", archive, "--pairs", tmp_path / "mine.txt", option, tmp_path / "none.txt")
    with pytest.raises(SystemExit, match=r"none\.txt"):
        run("celeba", "--images", archive, "--identities", tmp_path / "none.txt", "--celeba-attributes", archive)
    assert not list(tmp_path.glob("data*/.downloads/**/*.jpg"))
    assert "36 vectors" in run("lfw", "--images", archive, "--pairs", tmp_path / "mine.txt")


def test_the_list_of_pairs_may_be_in_the_archive(run: Run, home: Path, tmp_path: Path) -> None:
    with tarfile.open(tmp_path / "lfw.tgz", "w:gz") as archive:
        archive.add(home, "home")
    assert "36 vectors" in run("lfw", "--images", tmp_path / "lfw.tgz")


class Quiet(SimpleHTTPRequestHandler):
    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture
def published(home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The archive and the list on a server of this machine, in place of the published ones."""
    folder = tmp_path / "published"
    folder.mkdir()
    pack(home, folder / "lfw.tgz")
    (home / "pairs.txt").rename(folder / "pairs.txt")
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=str(folder)))
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    for name in ("LFW_ARCHIVE", "LFW_PAIRS"):
        remote = getattr(benchmarks, name)
        address = f"http://127.0.0.1:{server.server_address[1]}/{remote.name}"
        monkeypatch.setattr(benchmarks, name, remote._replace(address=address, sha256=sha256_of(folder / remote.name)))
    yield folder
    server.shutdown()
    server.server_close()
    thread.join()


def test_lfw_is_downloaded_once(run: Run, published: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(benchmarks, "LFW_IMAGES", 39)
    assert "36 vectors" in run("lfw")
    downloads = tmp_path / "data" / ".downloads" / "lfw"
    assert not (downloads / "lfw.tgz").exists()  # its pictures are there
    (published / "lfw.tgz").unlink()
    (published / "pairs.txt").unlink()
    assert "39 vectors" in run("lfw", "--all")


def test_a_downloaded_set_must_be_complete(run: Run, published: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(benchmarks, "LFW_IMAGES", 40)
    with pytest.raises(SystemExit, match=r"has 39 of LFW's 40 images\. Remove it"):
        run("lfw")


def test_without_the_server_the_other_road_is_named(run: Run, published: Path) -> None:
    (published / "lfw.tgz").unlink()
    with pytest.raises(SystemExit, match=r"answers 404 .*--images ARCHIVE-OR-FOLDER --pairs FILE"):
        run("lfw")


def test_celeba_gets_pairs_inside_groups(run: Run, tmp_path: Path) -> None:
    folder = make_celeba(tmp_path / "celeba")
    files = ("--identities", folder / "identity_CelebA.txt", "--attribute-table", folder / "list_attr_celeba.txt")
    said = run("celeba", "--images", folder, *files)
    assert "'dataset.grouping=[gender,age]'" in said
    images = pd.read_csv(tmp_path / "data" / "celeba" / "images.csv", dtype=str).set_index("image")
    pairs = pd.read_csv(tmp_path / "data" / "celeba" / "pairs.csv", dtype={"left": str, "right": str})
    for column in ("gender", "age"):
        left, right = (images.loc[pairs[side], column].to_numpy() for side in ("left", "right"))
        assert (left == right).all()
    assert (pairs["same"] == 0).sum() == 5 * pairs["same"].sum()
    people = [pairs[["fold"]].assign(who=images.loc[pairs[side], "identity"].to_numpy()) for side in ("left", "right")]
    assert pairs["fold"].nunique() == 10 and not pd.concat(people).drop_duplicates()["who"].duplicated().any()
    assert images.loc["000003.jpg"].tolist() == ["2001", "male", "old"]


def test_of_celeba_the_first_images_are_taken_unless_all_are_wanted(
    run: Run, tmp_path: Path, colours: Colours, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(faces, "CELEBA_FIRST", 300)
    folder = make_celeba(tmp_path / "celeba")
    files = ("--identities", folder / "identity_CelebA.txt", "--attribute-table", folder / "list_attr_celeba.txt")
    run("celeba", "--images", folder / "img_align_celeba", *files)
    assert max(colours.asked) == "000300.jpg"
    run("celeba", "--images", folder / "img_align_celeba", *files, "--all", "--name", "whole")
    assert max(colours.asked) == "000320.jpg"
