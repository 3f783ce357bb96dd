"""A small valid set; each case breaks one thing in it and reads the message."""

from __future__ import annotations

import csv
import io
import os
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from itertools import zip_longest
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from broken_files import Refuses
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from fairfr.core.errors import ConfigError, DataError
from fairfr.core.types import VerificationSet
from fairfr.data.locate import locate
from fairfr.data.settings import BackboneSettings, DatasetSettings

SETTINGS = DatasetSettings("mine", "Mine", ("ethnicity", "gender"), min_pairs=1)
NET = BackboneSettings("net", "Net")
Rows = list[list[str]]


def _images() -> Rows:
    rows = [["image", "identity", "ethnicity", "gender"]]
    return rows + [[f"{i:04d}", f"p{i // 2}", "asian" if i < 6 else "white", "fm"[i // 2 % 2]] for i in range(12)]


def _pairs() -> Rows:
    rows = [["fold", "left", "right", "same"]]
    for k in range(6):
        rows.append([str(k % 2), f"{2 * k:04d}", f"{2 * k + 1:04d}", "1"])
        rows.append([str(k % 2), f"{2 * k:04d}", f"{(2 * k + 4) % 12:04d}", "0"])
    return rows


@dataclass
class Case:
    """A set on disk, as lists that a test may change before ``load`` writes them."""

    root: Path
    images: Rows = field(default_factory=_images)
    pairs: Rows = field(default_factory=_pairs)
    ids: list[str] = field(default_factory=lambda: [f"{i:04d}" for i in range(12)])
    vectors: np.ndarray = field(default_factory=lambda: np.random.default_rng(0).normal(size=(12, 8)).astype("f4"))
    dataset: DatasetSettings = SETTINGS
    after: list[Callable[[Case], object]] = field(default_factory=list)

    def path(self, name: str) -> Path:
        return self.root / "mine" / name

    def write(self) -> None:
        self.path("embeddings").mkdir(parents=True, exist_ok=True)
        for name, rows in (("images.csv", self.images), ("pairs.csv", self.pairs)):
            text = io.StringIO()
            csv.writer(text, lineterminator="\n").writerows(rows)
            self.path(name).write_text(text.getvalue(), encoding="utf-8", newline="")
        np.savez(self.path("embeddings/net.npz"), image=np.array(self.ids), vectors=self.vectors)
        for change in self.after:
            change(self)

    def load(self) -> VerificationSet:
        self.write()
        return locate(self.dataset, NET, self.root, "files").load()

    def as_parquet(self, name: str, **types: object) -> None:
        path = self.path(f"{name}.csv")
        frame = pd.read_csv(path, dtype=str, keep_default_na=False)
        frame.astype(types).to_parquet(path.with_suffix(".parquet"), compression=None)
        path.unlink()


@pytest.fixture
def case(tmp_path: Path) -> Case:
    return Case(tmp_path)


def cosines(data: VerificationSet) -> np.ndarray:
    assert data.embeddings is not None
    vectors = data.embeddings.vectors.astype("f8")
    return np.einsum("ij,ij->i", vectors[data.pairs.left], vectors[data.pairs.right])


# --- what is wrong -----------------------------------------------------------------------------------------------


def cell(table: str, row: int, column: int, value: str) -> Callable[[Case], None]:
    def change(case: Case) -> None:
        getattr(case, table)[row][column] = value

    return change


def add(table: str, *row: str) -> Callable[[Case], None]:
    return lambda case: getattr(case, table).append(list(row))


def vector(row: int, value: float) -> Callable[[Case], None]:
    def change(case: Case) -> None:
        case.vectors[row] = 0
        case.vectors[row, 1] = value

    return change


def raw(name: str, content: bytes | Callable[[bytes], bytes]) -> Callable[[Case], None]:
    """Replace the bytes of a file after it was written."""

    def rewrite(case: Case) -> None:
        path = case.path(name)
        path.write_bytes(content if isinstance(content, bytes) else content(path.read_bytes()))

    return lambda case: case.after.append(rewrite)


def npz(**arrays: object) -> Callable[[Case], None]:
    return lambda case: case.after.append(lambda c: np.savez(c.path("embeddings/net.npz"), **arrays))  # type: ignore[arg-type]


def drop_column(table: str, column: int) -> Callable[[Case], None]:
    def change(case: Case) -> None:
        for row in getattr(case, table):
            del row[column]

    return change


def folder(name: str) -> Callable[[Case], None]:
    def replace_file(case: Case) -> None:
        case.path(name).unlink()
        case.path(name).mkdir()

    return lambda case: case.after.append(replace_file)


def renamed(old: str, new: str) -> Callable[[Case], None]:
    return lambda case: case.after.append(lambda c: c.path(old).rename(c.path(new)))


def only(column: int, value: str) -> Callable[[Case], None]:
    def change(case: Case) -> None:
        for row in case.pairs[1:]:
            row[column] = value

    return change


def one_class_without_fold_1(case: Case) -> None:
    case.pairs = [row for row in case.pairs if row[0] != "0" or row[3] == "1"]


def ids_as_objects(case: Case) -> None:
    npz(image=np.array(case.ids, dtype=object), vectors=case.vectors)(case)


def in_turn(*changes: Callable[[Case], object]) -> Callable[[Case], None]:
    def change(case: Case) -> None:
        for each in changes:
            each(case)

    return change


def parquet(name: str, **types: object) -> Callable[[Case], None]:
    return lambda case: case.after.append(lambda c: c.as_parquet(name, **types))


def one_kind(case: Case) -> None:
    case.pairs = [row for row in case.pairs if row[3] != "0"]


def column(table: str, name: str, *cells: str) -> Callable[[Case], None]:
    def change(case: Case) -> None:
        for row, text in zip_longest(getattr(case, table), (name, *cells), fillvalue=""):
            row.append(text)

    return change


def identity_of_all(name: str) -> Callable[[Case], None]:
    def change(case: Case) -> None:
        for row in case.images[1:]:
            row[1] = name

    return change


def without_last_vector(case: Case) -> None:
    case.ids = case.ids[:-1]
    case.vectors = case.vectors[:-1]


IMAGES, PAIRS, NPZ = "images.csv", "pairs.csv", "net.npz"
V = np.ones((12, 8), dtype="f4")
IDS = np.array([f"{i:04d}" for i in range(12)])

BROKEN: dict[str, tuple[Callable[[Case], object], str, str]] = {
    "image twice": (add("images", "0003", "p", "", ""), "repeated-image", "line 14"),
    "blank image": (cell("images", 3, 0, " "), "blank-cell", "line 4"),
    "pair with two labels": (add("pairs", "1", "0001", "0000", "0"), "two-labels", "line 14"),
    "image with itself": (add("pairs", "1", "0001", "0001", "1"), "self-pair", "line 14"),
    "unknown image": (cell("pairs", 5, 2, "12"), "unknown-image", "line 6"),
    "label": (cell("pairs", 2, 3, "yes"), "wrong-label", "line 3"),
    "label blank": (cell("pairs", 2, 3, ""), "blank-cell", "line 3"),
    "fold blank": (cell("pairs", 4, 0, ""), "blank-cell", "line 5"),
    "one fold": (only(0, "a"), "one-fold", ""),
    "one class": (only(3, "0"), "one-class", ""),
    "training split of one class": (one_class_without_fold_1, "one-class", ""),
    "nan": (vector(3, np.nan), "bad-vector", "row 3"),
    "inf": (vector(3, np.inf), "bad-vector", "row 3"),
    "zero": (vector(11, 0), "bad-vector", "row 11"),
    "vector twice": (npz(image=np.append(IDS[:-1], "0004"), vectors=V), "repeated-image", "row 11"),
    "vector of a blank id": (npz(image=np.append(IDS[:-1], ""), vectors=V), "blank-cell", "row 11"),
    "flat vectors": (npz(image=IDS, vectors=V[:, 0]), "wrong-shape", ""),
    "deep vectors": (npz(image=IDS, vectors=V[:, None]), "wrong-shape", ""),
    "no vectors": (npz(image=IDS[:0], vectors=V[:0]), "wrong-shape", ""),
    "whole numbers": (npz(image=IDS, vectors=V.astype(int)), "wrong-type", ""),
    "complex": (npz(image=IDS, vectors=V.astype(complex)), "wrong-type", ""),
    "ids as numbers": (npz(image=np.arange(12), vectors=V), "wrong-type", ""),
    "ids as bytes": (npz(image=IDS.astype("S"), vectors=V), "wrong-type", ""),
    "ids as objects": (ids_as_objects, "python-objects", ""),
    "vectors as objects": (npz(image=IDS, vectors=V.astype(object)), "python-objects", ""),
    "lengths": (npz(image=IDS, vectors=V[:-1]), "lengths-differ", ""),
    "key missing": (npz(image=IDS, vector=V), "missing-array", ""),
    "npz empty": (raw("embeddings/net.npz", b""), "empty-file", ""),
    "npz cut short": (raw("embeddings/net.npz", lambda b: b[: len(b) // 2]), "damaged-file", ""),
    "npz damaged": (raw("embeddings/net.npz", lambda b: b[:90] + b"\xff" * 60 + b[150:]), "damaged-file", ""),
    "npz is text": (raw("embeddings/net.npz", b"hello"), "damaged-file", ""),
    "npz is a pickle": (raw("embeddings/net.npz", b"\x80\x04K\x01."), "damaged-file", ""),
    "npz is a folder": (folder("embeddings/net.npz"), "unreadable-file", ""),
    "npz is a pointer": (raw("embeddings/net.npz", b"version https://git-lfs"), "damaged-file", ""),
    "csv empty": (raw("pairs.csv", b""), "empty-file", ""),
    "csv of empty lines": (raw("pairs.csv", b"\n\n"), "no-rows", ""),
    "csv header only": (raw("images.csv", b"image,identity,ethnicity,gender\n"), "no-rows", ""),
    "csv is a folder": (folder("images.csv"), "unreadable-file", ""),
    "csv is a zip": (raw("images.csv", b"PK\x03\x04..."), "foreign-format", ""),
    "csv in utf-16": (raw("images.csv", "image".encode("utf-16")), "foreign-format", ""),
    "csv in latin-1": (raw("images.csv", lambda b: b.replace(b"p1", b"\xe9")), "not-utf8", "line 4"),
    "csv called parquet": (renamed("images.csv", "images.parquet"), "damaged-file", ""),
    "row too short": (lambda c: c.pairs[7].pop(), "cells-in-row", "line 8"),
    "row too long": (lambda c: c.pairs[7].append("x"), "cells-in-row", "line 8"),
    "quote not closed": (raw("pairs.csv", lambda b: b + b'1,0000,0009,"0\n'), "long-cell", "line 14"),
    "line break in an id": (cell("images", 2, 0, "00\n01"), "long-cell", "line 3"),
    "NUL in an id": (raw("images.csv", lambda b: b.replace(b"0004,", b"0004\0,")), "long-cell", "line 6"),
    "endless id": (cell("images", 2, 0, "x" * 2000), "long-cell", "line 3"),
    "semicolons": (raw("pairs.csv", lambda b: b.replace(b",", b";")), "missing-column", ""),
    "column missing": (drop_column("pairs", 3), "missing-column", ""),
    "image column missing": (drop_column("images", 0), "missing-column", ""),
    "column twice": (cell("images", 0, 3, "ethnicity"), "column-twice", ""),
    "attribute missing": (drop_column("images", 2), "missing-column", ""),
    "attribute reserved": (cell("images", 4, 2, "a|b"), "reserved-name", "line 5"),
    "attribute unknown": (lambda c: [r.__setitem__(3, "") for r in c.images[1:]], "no-groups", ""),
    "csv and parquet": (raw("pairs.parquet", b"x"), "two-files", ""),
    "one class without folds": (in_turn(one_kind, drop_column("pairs", 0)), "one-class", ""),
    "several rows": (
        raw("pairs.csv", lambda b: b.replace(b"0004", b"00,04").replace(b",0009", b"")),
        "cells-in-row",
        "line 3: 5 cells",
    ),
    "row of a parquet": (in_turn(cell("pairs", 5, 3, "2"), parquet("pairs")), "wrong-label", "row 4 (counting from 0)"),
    "parquet cut short": (
        in_turn(parquet("pairs"), raw("pairs.parquet", lambda b: b[: len(b) // 2])),
        "damaged-file",
        "",
    ),
    "parquet not utf-8": (
        in_turn(parquet("pairs"), raw("pairs.parquet", lambda b: b.replace(b"0004", b"00\xff4"))),
        "damaged-file",
        "",
    ),
    "numbers without exact text": (
        in_turn(identity_of_all("0.5"), parquet("images", identity=float)),
        "no-exact-text",
        "",
    ),
    "lines as an editor counts them": (
        in_turn(
            column("images", "note", "one\ntwo"),
            add("images", "0003", "p", "", "", ""),
            raw("images.csv", lambda b: b.replace(b"0005", b"\n\r\n0005")),
        ),
        "repeated-image",
        "line 17",
    ),
    "quote in a column nobody reads": (
        in_turn(column("pairs", "note"), raw("pairs.csv", lambda b: b.replace(b"0002,0003,1,", b'0002,0003,1,"'))),
        "open-quote",
        "after line 3",
    ),
    "group names that collide": (
        in_turn(
            *(
                cell("images", row, at, text)
                for row, at, text in ((1, 2, "a_b"), (1, 3, "c"), (2, 2, "a"), (2, 3, "b_c"))
            )
        ),
        "same-group-name",
        "",
    ),
    "vectors missing": (without_last_vector, "missing-vectors", ""),
}


def read_broken(folder: Path, break_it: Callable[[Case], object]) -> None:
    case = Case(folder)
    break_it(case)
    case.load()


def test_errors_have_a_code_and_name_file_row_and_remedy(refuses: Refuses) -> None:
    refuses("The neutral layout", BROKEN, read_broken)


@pytest.mark.parametrize("word", ["unknown", "None", "N/A"])
def test_a_level_that_says_unknown_gets_a_note(case: Case, word: str) -> None:
    for row in case.images[1:5]:
        row[3] = word
    (note,) = [found for found in case.load().warnings if found.code == "level-for-unknown"]
    assert f"gender has the level '{word}'" in note.text and "Leave the cells blank" in note.text


def test_several_levels_that_say_unknown_share_a_note(case: Case) -> None:
    for row, word in zip(case.images[1:5], ("unknown", "none", "unknown", "none"), strict=True):
        row[3] = word
    (note,) = [found for found in case.load().warnings if found.code == "level-for-unknown"]
    assert "gender has the levels 'none' and 'unknown', which count as groups like any other." in note.text


def test_columns_that_could_be_groups_have_2_to_50_levels(case: Case) -> None:
    for number, row in enumerate(case.images):
        row += ["one", "row", "site_left"] if number == 0 else ["same", str(number), "x" if number % 2 else "y"]
    data = replace(case, dataset=replace(SETTINGS, grouping=())).load()
    assert data.group_columns == {"ethnicity": 2, "gender": 2, "row": 12}
    assert case.load().group_columns == {}


def test_labels_may_be_written_as_pandas_writes_whole_numbers(case: Case) -> None:
    expected = case.load().same
    for row in case.pairs[1:]:
        row[3] += ".0"
    np.testing.assert_array_equal(case.load().same, expected)


def test_pairs_need_no_folds(case: Case) -> None:
    drop_column("pairs", 0)(case)
    data = case.load()
    assert data.fold_labels == ("all",) and not data.fold.any()


def test_permission_denied(case: Case, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise PermissionError(13, "Permission denied")

    case.write()
    monkeypatch.setattr(Path, "open", refuse)
    with pytest.raises(DataError, match=r"permission denied. Allow it"):
        locate(SETTINGS, NET, case.root, "files")


def test_files_that_change_after_they_were_located(case: Case) -> None:
    case.write()
    located = locate(SETTINGS, NET, case.root, "files")
    raw("pairs.csv", lambda data: data + b"1,0000,0009,0\n")(case)
    case.write()
    with pytest.raises(DataError, match=r"pairs.csv changed while it was in use"):
        located.load()


def test_too_many_groups(case: Case, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("fairfr.data.images_file.MAX_LEVELS", 3)
    with pytest.raises(DataError, match=r"ethnicity_x_gender has 4 different values; at most 3"):
        case.load()


def test_an_attribute_twice(case: Case) -> None:
    case.dataset = replace(SETTINGS, grouping=("gender", "gender"))
    with pytest.raises(ConfigError, match="names an attribute twice"):
        case.load()


# --- missing vectors ---------------------------------------------------------------------------------------------


def test_missing_vectors_drop(case: Case) -> None:
    whole = case.load()
    without_last_vector(case)
    case.dataset = replace(SETTINGS, missing="drop")
    data = case.load()
    kept = whole.images[whole.pairs.right] != "0011"
    assert data.n_pairs == 11 and "0011" not in data.images
    np.testing.assert_array_equal(cosines(data), cosines(whole)[kept])
    assert any("dataset.missing=drop left out the 1 of 12 pairs" in warning.text for warning in data.warnings)


@pytest.mark.parametrize("missing", ["stop", "drop"])
def test_ids_that_never_match(case: Case, missing: str) -> None:
    case.ids = [f"{i}.jpg" for i in range(12)]
    case.dataset = replace(SETTINGS, missing=missing)  # type: ignore[arg-type]
    with pytest.raises(DataError, match=r"12 of 12 images .* no pair is left. Its own ids look like '0.jpg'"):
        case.load()


# --- what is fine ------------------------------------------------------------------------------------------------


def test_a_valid_set(case: Case) -> None:
    data = case.load()
    assert len(data.warnings) == 1 and data.warnings[0].text.startswith("ethnicity_x_gender: 2 of 4 groups have")
    assert (data.id, data.backbone, data.source, data.n_pairs) == ("mine", "net", "files", 12)
    assert data.images.tolist() == [f"{i:04d}" for i in range(12)]
    assert data.images[data.pairs.left].tolist() == [row[1] for row in case.pairs[1:]]
    assert data.images[data.pairs.right].tolist() == [row[2] for row in case.pairs[1:]]
    assert data.same.tolist() == [row[3] == "1" for row in case.pairs[1:]]
    assert data.fold_labels == ("0", "1") and data.fold.tolist() == [0, 0, 1, 1] * 3
    assert list(data.groupings) == ["ethnicity", "gender", "ethnicity_x_gender"]
    assert data.grouping == "ethnicity_x_gender"
    assert data.groupings["ethnicity_x_gender"].levels == ("asian_f", "asian_m", "white_f", "white_m")
    assert data.identity.tolist() == [i // 2 for i in range(12)]
    assert data.embeddings is not None and data.embeddings.images is data.images


def test_types_and_writing_switched_off(case: Case) -> None:
    data = case.load()
    assert data.embeddings is not None
    arrays = {
        "int32": (data.pairs.left, data.pairs.right, data.identity),
        "int16": (data.fold, *(grouping.codes for grouping in data.groupings.values())),
        "float32": (data.embeddings.vectors,),
        "bool": (data.same,),
    }
    for name, group in arrays.items():
        for array in (*group, data.images):
            assert not array.flags.writeable
        assert {array.dtype.name for array in group} == {name}


def test_digest_names_the_bytes(case: Case) -> None:
    first = case.load()
    assert case.load().digest == first.digest
    case.pairs[1][0] = "1"
    second = case.load()
    assert second.digest != first.digest
    assert first.embeddings is not None and second.embeddings is not None
    assert second.embeddings.digest == first.embeddings.digest != first.digest


SAME_SET: dict[str, Callable[[Case], object]] = {
    "byte order mark": raw("images.csv", lambda data: b"\xef\xbb\xbf" + data),
    "crlf": raw("pairs.csv", lambda data: data.replace(b"\n", b"\r\n")),
    "no newline at the end": raw("pairs.csv", lambda data: data.rstrip(b"\n")),
    "blank lines": raw("pairs.csv", lambda data: data.replace(b"\n", b"\n\n")),
    "quotes": raw("images.csv", lambda data: data.replace(b"0003", b'"0003"')),
    "true and false": lambda case: [row.__setitem__(3, ["False", "TRUE"][int(row[3])]) for row in case.pairs[1:]],
    "extra columns": lambda case: [row.insert(1, f'no "{i}", really') for i, row in enumerate(case.pairs)],
    "parquet": lambda case: case.after.append(lambda c: (c.as_parquet("images"), c.as_parquet("pairs"))),
    "parquet numbers": lambda case: case.after.append(lambda c: c.as_parquet("pairs", same=int, fold=float)),
    "parquet categories": lambda case: case.after.append(lambda c: c.as_parquet("pairs", left="category")),
    "float64": lambda case: setattr(case, "vectors", case.vectors.astype("f8")),
    "other byte order": lambda case: setattr(case, "vectors", case.vectors.astype(">f4")),
    "column order": lambda case: setattr(case, "vectors", np.asfortranarray(case.vectors)),
    "huge": lambda case: setattr(case, "vectors", case.vectors.astype("f8") * 1e300),
    "tiny": lambda case: setattr(case, "vectors", case.vectors.astype("f8") * 1e-300),
}


@pytest.mark.parametrize("name", SAME_SET)
def test_other_spellings_of_the_same_set(case: Case, name: str) -> None:
    expected = case.load()
    SAME_SET[name](case)
    data = case.load()
    np.testing.assert_allclose(cosines(data), cosines(expected), atol=1e-7)
    for attribute in ("images", "identity", "same", "fold"):
        np.testing.assert_array_equal(getattr(data, attribute), getattr(expected, attribute))
    assert (data.fold_labels, data.warnings) == (expected.fold_labels, expected.warnings)


def test_float16(case: Case) -> None:
    expected = cosines(case.load())
    case.vectors = case.vectors.astype("f2")
    np.testing.assert_allclose(cosines(case.load()), expected, atol=1e-2)


def test_rows_have_length_one(case: Case) -> None:
    case.vectors *= np.arange(1, 13, dtype="f4")[:, None]
    data = case.load()
    assert data.embeddings is not None
    np.testing.assert_allclose(np.linalg.norm(data.embeddings.vectors.astype("f8"), axis=1), 1, atol=1e-6)


@pytest.mark.parametrize("odd", ["NA", "null", "nan", "1e5", "True", " x", "Zoë, the 2nd", "-", "12"])
def test_ids_are_kept_to_the_letter(case: Case, odd: str) -> None:
    for rows, column in ((case.images, 0), (case.pairs, 1), (case.pairs, 2)):
        for row in rows:
            row[column] = odd if row[column] == "0004" else row[column]
    case.ids[4] = odd
    assert case.load().images[4] == odd


def test_blank_attributes_and_identities_are_unknown(case: Case) -> None:
    case.images[1][1:] = ["", "", "f"]
    data = case.load()
    assert data.identity[0] == -1 and data.groupings["ethnicity"].codes[0] == -1
    assert data.groupings["gender"].codes[0] == 0 and data.groupings["ethnicity_x_gender"].codes[0] == -1


def test_no_identity_column_and_no_groups(case: Case) -> None:
    drop_column("images", 1)(case)
    case.dataset = replace(SETTINGS, grouping=())
    data = case.load()
    assert (data.identity == -1).all()
    assert data.groupings == {} and data.grouping is None


@pytest.mark.parametrize(
    ("labels", "order"),
    [(["10", "9"], ("9", "10")), (["b", "a"], ("b", "a")), (["10", "x"], ("10", "x")), (["01", "0"], ("0", "01"))],
)
def test_folds_are_in_numeric_order_or_as_they_appear(case: Case, labels: list[str], order: tuple[str, ...]) -> None:
    for row in case.pairs[1:]:
        row[0] = labels[int(row[0])]
    data = case.load()
    assert data.fold_labels == order
    assert [data.fold_labels[code] for code in data.fold] == [row[0] for row in case.pairs[1:]]


# --- what is odd -------------------------------------------------------------------------------------------------

ODD: dict[str, tuple[Callable[[Case], object], str]] = {
    "repeated": (
        add("pairs", "1", "0001", "0000", "1"),
        "1 row repeats an earlier pair with the same label, 1 of them",
    ),
    "unused vectors": (add("ids", *"x"), "1 of 13 vectors belong to images that no pair uses"),
    "test fold of one class": (
        add("pairs", "2", "0000", "0002", "0"),
        "1 of 3 folds have only genuine or only impostor pairs",
    ),
    "same though different": (
        cell("pairs", 2, 3, "1"),
        "1 pair has same=1 though the identities differ (first: line 3)",
    ),
    "different though same": (cell("pairs", 1, 3, "0"), "1 pair has same=0 though the identities are equal"),
    "shared": (add("pairs", "1", "0000", "0002", "0"), "of 6 identities occur in more than one fold"),
    "group": (cell("images", 1, 2, "black"), "ethnicity: 2 of 3 groups have fewer than 1 pairs, or only"),
}


@pytest.mark.parametrize("name", ODD)
def test_oddities_are_kept_and_told(case: Case, name: str) -> None:
    change, sentence = ODD[name]
    change(case)
    if name == "unused vectors":
        case.ids[-1] = "x"
        case.vectors = np.vstack([case.vectors, V[:1]])
    data = case.load()
    assert data.n_pairs == len(case.pairs) - 1
    assert sum(sentence in warning.text for warning in data.warnings) == 1, data.warnings


# --- laws --------------------------------------------------------------------------------------------------------


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(images=st.permutations(range(12)), vectors=st.permutations(range(12)))
def test_order_of_images_and_vectors_is_irrelevant(tmp_path: Path, images: list[int], vectors: list[int]) -> None:
    plain = Case(tmp_path)
    expected = plain.load()
    rows = [plain.images[0], *(plain.images[1 + i] for i in images)]
    mixed = Case(tmp_path, images=rows, ids=[plain.ids[i] for i in vectors], vectors=plain.vectors[vectors]).load()
    assert mixed.images.tolist() == [row[0] for row in rows[1:]]
    np.testing.assert_array_equal(cosines(mixed), cosines(expected))
    for id, grouping in expected.groupings.items():
        np.testing.assert_array_equal(mixed.groupings[id].of(mixed.pairs, "both"), grouping.of(expected.pairs, "both"))


@pytest.mark.skipif("FAIRFR_REAL_DATA" not in os.environ, reason="needs FAIRFR_REAL_DATA")
def test_real_lfw() -> None:
    lfw = DatasetSettings("lfw", "LFW", ("ethnicity", "gender"))
    data = locate(lfw, BackboneSettings("mobileface_v3", ""), Path(os.environ["FAIRFR_REAL_DATA"]), "files").load()
    assert data.n_pairs == 6000 and data.fold_labels == tuple("0123456789")
    cosine = cosines(data)
    assert cosine[data.same].mean() > cosine[~data.same].mean() + 0.2
    assert any("ethnicity_x_gender: 3 of 8 groups" in warning.text for warning in data.warnings)
