"""A small tree in RFW's form; each case damages one list and reads what the importer makes of it."""

from __future__ import annotations

import csv
from collections.abc import Callable
from pathlib import Path

import pytest
from broken_files import Refuses

from fairfr.commands.import_ import main
from fairfr.core.errors import DataError
from fairfr.data.files import DataFile
from fairfr.data.images_file import read_images
from fairfr.data.importers.imported_set import count_import, summarise_import, write_neutral
from fairfr.data.importers.pair_lists import read_pair_list
from fairfr.data.importers.published_tables import ETHNICITIES
from fairfr.data.importers.rfw import read_rfw
from fairfr.data.neutral_layout import read_pairs

FOLDS, PER_KIND = 3, 4


def lines() -> list[str]:
    """A list whose people are the same in every ethnicity; number 12 needs two digits."""
    found = []
    for fold in range(FOLDS):
        people = [f"m.0{fold}{k}" for k in range(PER_KIND)]
        found += [f"{person}\t1\t12" for person in people]
        found += [f"{person}\t1\t{people[k - 1]}\t2" for k, person in enumerate(people)]
    return found


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    return write_tree(tmp_path / "rfw")


def write_tree(root: Path) -> Path:
    for name in ETHNICITIES:
        folder = root / "txts" / name
        folder.mkdir(parents=True)
        (folder / f"{name}_pairs.txt").write_text("\n".join(lines()) + "\n")
    return root


def asian(tree: Path) -> Path:
    return tree / "txts" / "Asian" / "Asian_pairs.txt"


def rows(path: Path) -> list[dict[str, str]]:
    with path.open(newline="") as handle:
        return list(csv.DictReader(handle))


def test_lists_become_images_and_pairs(tree: Path, tmp_path: Path) -> None:
    write_neutral(read_rfw(tree), tmp_path / "data" / "rfw")
    pairs, images = rows(tmp_path / "data/rfw/pairs.csv"), rows(tmp_path / "data/rfw/images.csv")
    per_list = FOLDS * 2 * PER_KIND
    assert len(pairs) == 4 * per_list
    assert pairs[0] == {
        "fold": "0",
        "left": "African/m.000/m.000_0001.jpg",
        "right": "African/m.000/m.000_0012.jpg",
        "same": "1",
    }
    expected = [(str(k // (2 * PER_KIND)), str(int(k // PER_KIND % 2 == 0))) for k in range(per_list)] * 4
    assert [(pair["fold"], pair["same"]) for pair in pairs] == expected
    assert {image["image"]: image for image in images}["Indian/m.021/m.021_0002.jpg"] == {
        "image": "Indian/m.021/m.021_0002.jpg",
        "identity": "Indian/m.021",
        "ethnicity": "indian",
    }
    assert len(images) == 4 * FOLDS * PER_KIND * 3


def test_what_is_written_can_be_loaded(tree: Path, tmp_path: Path) -> None:
    write_neutral(read_rfw(tree), tmp_path / "rfw_out")
    images = read_images(DataFile.at(tmp_path / "rfw_out/images.csv"), ("ethnicity",))
    assert len(read_pairs(DataFile.at(tmp_path / "rfw_out/pairs.csv"), images)) == 4 * FOLDS * 2 * PER_KIND


def test_counts(tree: Path) -> None:
    asian(tree).write_text(asian(tree).read_text().replace("m.010\t1\t12", "m.000\t1\t12"))  # a pair of fold 0, again
    found = count_import(read_rfw(tree))
    assert (found.identities, found.pairs, found.genuine) == (4 * FOLDS * PER_KIND, 96, 48)
    assert found.folds == ("0", "1", "2")
    assert found.mixed == {"ethnicity": 0}
    assert (found.duplicates, found.shared_identities) == (1, 1)
    assert "repeats an earlier pair" in summarise_import(read_rfw(tree))


def test_absent_pictures_are_told(tree: Path) -> None:
    data = read_rfw(tree)
    for image in data.images.ids[1:]:
        path = tree / "data" / image
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()
    note = read_rfw(tree).notes[-1].text
    assert note.startswith(f"1 of {len(data.images.ids)} images are not in") and data.images.ids[0] in note


def test_header_tells_folds_and_sizes(tmp_path: Path) -> None:
    path = tmp_path / "pairs.txt"
    path.write_text(f"{FOLDS}\t{PER_KIND}\n" + "\n".join(lines()))
    assert read_pair_list(path).n_folds == FOLDS
    path.write_text(f"10\t{PER_KIND}\n" + "\n".join(lines()))
    with pytest.raises(DataError, match=r"announces 10 x \(4 \+ 4\) pairs, but it has 3 x \(4 \+ 4\)"):
        read_pair_list(path)


def edit(change: Callable[[str], str], encoding: str = "utf-8") -> Callable[[Path], object]:
    return lambda path: path.write_bytes(change(path.read_text()).encode(encoding))


def drop_line(number: int) -> Callable[[str], str]:
    return lambda text: "\n".join(line for k, line in enumerate(text.split("\n")) if k != number)


def replaced_by(make: Callable[[Path], object]) -> Callable[[Path], object]:
    def damage(path: Path) -> None:
        path.unlink()
        make(path)

    return damage


UNHARMED: dict[str, Callable[[Path], object]] = {
    "crlf": edit(lambda text: text.replace("\n", "\r\n")),
    "old mac line ends": edit(lambda text: text.replace("\n", "\r")),
    "byte order mark": edit(lambda text: "\ufeff" + text),
    "blanks instead of tabs": edit(lambda text: text.replace("\t", "  ")),
    "blanks at the ends": edit(lambda text: text.replace("\n", " \t\n")),
    "empty lines": edit(lambda text: text.replace("\n", "\n\n")),
    "no last line end": edit(str.rstrip),
    "padded numbers": edit(lambda text: text.replace("\t1\t", "\t0001\t")),
}
BROKEN: dict[str, tuple[Callable[[Path], object], str, str]] = {
    "truncated in a line": (edit(lambda text: text[: len(text) // 2]), "not-a-pair", "line 13"),
    "a lost line": (edit(drop_line(9)), "incomplete-list", "lines 9 to 11"),
    "a lost last line": (edit(drop_line(23)), "incomplete-list", "lines 21 to 23"),
    "a lost block": (edit(lambda text: "\n".join(text.split("\n")[:16])), "incomplete-list", ""),
    "half a block": (edit(lambda text: "\n".join(text.split("\n")[:20])), "incomplete-list", "line 20"),
    "impostors first": (edit(lambda text: "\n".join(text.split("\n")[4:])), "incomplete-list", "line 1"),
    "commas": (edit(lambda text: text.replace("\t", ",")), "not-a-pair", "line 1"),
    "semicolons": (edit(lambda text: text.replace("\t", ";")), "not-a-pair", "line 1"),
    "latin 1": (edit(lambda text: text.replace("m.0", "é"), "latin-1"), "not-utf8", "line 1"),
    "utf 16": (edit(str, "utf-16"), "foreign-format", ""),
    "blanks in names and between": (
        edit(lambda text: text.replace("\t", " ").replace("m.", "m ")),
        "not-a-pair",
        "line 5",
    ),
    "another column": (edit(lambda text: text.replace("\n", "\t0.5\n")), "not-a-pair", "line 1"),
    "a column of whole numbers": (edit(lambda text: text.replace("\n", "\t7\n")), "not-a-pair", "line 5"),
    "two more columns": (edit(lambda text: text.replace("\n", "\t7\t7\n")), "not-a-pair", "line 1"),
    "reordered columns": (edit(lambda text: text.replace("m.000\t1\t12", "1\tm.000\t12")), "not-a-pair", "line 1"),
    "words for numbers": (edit(lambda text: text.replace("\t12", "\ttwelve")), "not-a-pair", "line 1"),
    "negative number": (edit(lambda text: text.replace("\t12", "\t-12")), "not-a-pair", "line 1"),
    "image with itself": (edit(lambda text: text.replace("\t12", "\t1")), "self-pair", "line 1"),
    "nul": (edit(lambda text: text.replace("m.0", "m\0")), "not-a-pair", "line 1"),
    "0 bytes": (edit(lambda _: ""), "empty-file", ""),
    "only empty lines": (edit(lambda _: "\n\n"), "no-rows", ""),
    "a folder": (replaced_by(Path.mkdir), "unreadable-file", ""),
    "gone": (Path.unlink, "missing-file", ""),
    "symlink loop": (replaced_by(lambda path: path.symlink_to(path)), "unreadable-file", ""),
    "a pickle": (replaced_by(lambda path: path.write_bytes(b"\x80\x04N.")), "foreign-format", ""),
}


@pytest.mark.parametrize("damage", UNHARMED.values(), ids=UNHARMED.keys())
def test_other_spellings_give_the_same_bytes(damage: Callable[[Path], object], tree: Path, tmp_path: Path) -> None:
    write_neutral(read_rfw(tree), tmp_path / "clean")
    damage(asian(tree))
    assert write_neutral(read_rfw(tree), tmp_path / "clean") == "already there, unchanged"


def read_broken(folder: Path, damage: Callable[[Path], object]) -> None:
    damage(asian(write_tree(folder)))
    read_rfw(folder)


def test_damaged_lists_are_refused(refuses: Refuses) -> None:
    refuses("Lists of RFW", BROKEN, read_broken)


def test_names_with_blanks_between_tabs(tree: Path) -> None:
    asian(tree).write_text(asian(tree).read_text().replace("m.0", "m 0"))
    data = read_rfw(tree)
    assert "Asian/m 000/m 000_0012.jpg" in data.images.ids
    assert "Asian/m 000" in data.people


def test_folder_without_lists(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"has no txts/African/African_pairs\.txt"):
        read_rfw(tmp_path)


@pytest.mark.parametrize("inner", ["txts", "test/txts", "RFW/test/txts"])
def test_lists_are_found_below_the_named_folder(inner: str, tree: Path, tmp_path: Path) -> None:
    place = tmp_path / "other" / inner
    place.parent.mkdir(parents=True)
    (tree / "txts").rename(place)
    assert len(read_rfw(tmp_path / "other").pairs) == 96


def command_line(*words: str) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("sys.argv", ["fairfr import", *words])
        patch.setattr("signal.signal", lambda *_: None)  # the process is the test's
        main()


def test_command_line(tree: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    command_line("rfw", "--root", str(tree), "--out", str(tmp_path / "data"))
    told = capsys.readouterr().out
    assert (tmp_path / "data/rfw/pairs.csv").is_file()
    assert "96 (48 genuine, 48 impostor)" in told and "african, asian, caucasian, indian; 0 mixed pairs" in told


@pytest.mark.parametrize(
    "words", [("rfw", "--root", "nowhere"), ("rfw", "--table", "nowhere.csv"), ("lfw", "--root", "nowhere"), ("lfw",)]
)
def test_command_line_errors_are_one_message(words: tuple[str, ...], tmp_path: Path) -> None:
    with pytest.raises(SystemExit, match=r"^DataError: ") as stop:
        command_line(*words, "--out", str(tmp_path / "data"))
    assert isinstance(stop.value.code, str)  # python prints it and exits with 1
    assert not (tmp_path / "data").exists()
