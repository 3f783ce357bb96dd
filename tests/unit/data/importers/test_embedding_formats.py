"""Every form of vectors gives the same keys and values; every broken form gives one clear message."""

from __future__ import annotations

import io
import os
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from broken_files import Refuses

from fairfr.core.errors import DataError
from fairfr.data.importers.embedding_formats import read_embeddings

KEYS = ["African/m.1/m.1_0001.jpg", "African/m.1/m.1_0002.jpg", "Asian/m 2/m 2_0001.jpg"]
VECTORS = np.random.default_rng(1).normal(size=(3, 6)).astype("f4")


def write_npz(folder: Path, names: np.ndarray | None = None) -> Path:
    np.savez(folder / "v.npz", image=np.array(KEYS) if names is None else names, vectors=VECTORS)
    return folder / "v.npz"


def write_npz_each(folder: Path) -> Path:
    np.savez_compressed(folder / "v.npz", **dict(zip(KEYS, VECTORS, strict=True)))
    return folder / "v.npz"


def saved(folder: Path, **arrays: object) -> Path:
    np.savez(folder / "v.npz", **arrays)  # type: ignore[arg-type]
    return folder / "v.npz"


def write_tree(folder: Path) -> Path:
    for key, row in zip(KEYS, VECTORS, strict=True):
        path = (folder / "tree" / key).with_suffix(".jpg.npy")
        path.parent.mkdir(parents=True, exist_ok=True)
        np.save(path, row[None])
    (folder / "tree" / "loop").symlink_to(folder / "tree")
    (folder / "tree" / "README.txt").write_text("not a vector")
    return folder / "tree"


FORMS: dict[str, Callable[[Path], Path]] = {
    "npz": write_npz,
    "npz with an array for each": write_npz_each,
    "an array (1, d) for each": lambda f: saved(f, **{k: v[None] for k, v in zip(KEYS, VECTORS, strict=True)}),
    "other names of the arrays": lambda f: saved(f, names=KEYS, embeddings=VECTORS),
    "npz with pixels": lambda f: saved(f, image=np.zeros((3, 2, 2)), paths=KEYS, features=VECTORS[:, None]),
    "npz of byte names": lambda folder: write_npz(folder, np.array(KEYS, "S")),
    "tree": write_tree,
}


@pytest.mark.parametrize("write", FORMS.values(), ids=FORMS.keys())
def test_each_form_gives_keys_and_vectors(tmp_path: Path, write: Callable[[Path], Path]) -> None:
    source = read_embeddings(write(tmp_path))
    assert [key.removesuffix(".npy") for key in source.keys] == KEYS
    np.testing.assert_array_equal(source.vectors, VECTORS)
    assert source.vectors.dtype == np.float32


@pytest.mark.parametrize("end", ["\n", "\r\n"])
@pytest.mark.parametrize("start", ["", "\ufeff"])
@pytest.mark.parametrize("tail", ["", "\t7", "  "])
def test_npy_with_list_of_names(tmp_path: Path, start: str, end: str, tail: str) -> None:
    np.save(tmp_path / "v.npy", VECTORS)
    (tmp_path / "names.txt").write_bytes((start + "".join(key + tail + end for key in KEYS) + end * 2).encode())
    source = read_embeddings(tmp_path / "v.npy", tmp_path / "names.txt")
    assert list(source.keys) == KEYS
    np.testing.assert_array_equal(source.vectors, VECTORS)


@pytest.mark.parametrize("dtype", ["f2", "f4", "f8"])
def test_types_are_kept(tmp_path: Path, dtype: str) -> None:
    assert read_embeddings(saved(tmp_path, a=VECTORS[0].astype(dtype))).vectors.dtype == np.dtype(dtype)


def _cut(write: Callable[[Path], Path], share: float) -> Callable[[Path], Path]:
    def broken(folder: Path) -> Path:
        path = write(folder)
        path.write_bytes(path.read_bytes()[: int(path.stat().st_size * share)])
        return path

    return broken


def _bytes(name: str, data: bytes) -> Callable[[Path], Path]:
    def write(folder: Path) -> Path:
        (folder / name).write_bytes(data)
        return folder / name

    return write


def _npy(array: object) -> bytes:
    stream = io.BytesIO()
    np.save(stream, array, allow_pickle=True)  # type: ignore[arg-type]
    return stream.getvalue()


def _loop(folder: Path) -> Path:
    (folder / "a.npz").symlink_to(folder / "b.npz")
    (folder / "b.npz").symlink_to(folder / "a.npz")
    return folder / "a.npz"


def _tree_with(name: str, data: bytes) -> Callable[[Path], Path]:
    def write(folder: Path) -> Path:
        (write_tree(folder) / name).write_bytes(data)
        return folder / "tree"

    return write


def _looped_leaf(folder: Path) -> Path:
    (write_tree(folder) / "x.npy").symlink_to(folder / "tree" / "x.npy")
    return folder / "tree"


def _objects_npz(folder: Path) -> Path:
    np.savez(folder / "v.npz", image=np.array(KEYS, dtype=object), vectors=VECTORS)
    return folder / "v.npz"


def _empty_folder(folder: Path) -> Path:
    (folder / "empty").mkdir()
    return folder / "empty"


BROKEN: dict[str, tuple[Callable[[Path], Path], str, str]] = {
    "npz cut in half": (_cut(write_npz, 0.5), "damaged-file", ""),
    "npz of a few bytes": (_cut(write_npz, 0.02), "damaged-file", ""),
    "0 bytes npz": (_bytes("v.npz", b""), "empty-file", ""),
    "not there": (lambda folder: folder / "no.npz", "missing-file", ""),
    "folder without vectors": (_empty_folder, "no-rows", ""),
    "symlink loop": (_loop, "unreadable-file", ""),
    "symlink loop in a tree": (_looped_leaf, "unreadable-file", ""),
    "broken leaf of a tree": (_tree_with("y.npy", b"\x93NUMPY\x01"), "damaged-file", ""),
    "empty leaf of a tree": (_tree_with("y.npy", b""), "damaged-file", ""),
    "wide leaf of a tree": (_tree_with("y.npy", _npy(np.ones(9, "f4"))), "wrong-shape", ""),
    "no arrays": (saved, "no-rows", ""),
    "matrix for one image": (lambda f: saved(f, a=np.ones((2, 3))), "wrong-shape", ""),
    "number for one image": (lambda f: saved(f, a=1.5), "wrong-shape", ""),
    "whole numbers": (lambda f: saved(f, a=np.arange(3)), "wrong-type", ""),
    "words": (lambda f: saved(f, a=["x", "y"]), "wrong-type", ""),
    "mixed widths": (lambda f: saved(f, a=np.ones(3), b=np.ones(4)), "wrong-shape", ""),
    "one name": (lambda f: saved(f, image=np.array("a"), vectors=VECTORS), "wrong-shape", ""),
    "objects in an npz": (_objects_npz, "python-objects", ""),
    "objects in an npy": (_bytes("v.npy", _npy(np.array([{}], dtype=object))), "python-objects", ""),
    "npy without names": (_bytes("v.npy", _npy(VECTORS)), "no-names", ""),
    "csv": (_bytes("v.csv", b"image,x\n1,2\n"), "foreign-format", ""),
    "names without vectors": (lambda f: saved(f, names=KEYS, vectors=VECTORS[:2]), "lengths-differ", ""),
}


def test_malformed_files_are_named(refuses: Refuses) -> None:
    refuses("Vectors of other forms", BROKEN, lambda folder, write: read_embeddings(write(folder)))


@pytest.mark.parametrize(
    ("names", "word"),
    [
        (b"a\nb\n", "3 vectors for 2 names"),
        (b"a\nb\nc\nd\n", "3 vectors for 4 names"),
        (b"a\n\nc\n", "line 2"),
        (b"", "0 bytes"),
        (b"a\n\xff\xfe\nc\n", "UTF-8"),
    ],
)
def test_wrong_lists_of_names(tmp_path: Path, names: bytes, word: str) -> None:
    np.save(tmp_path / "v.npy", VECTORS)
    (tmp_path / "names.txt").write_bytes(names)
    with pytest.raises(DataError, match=word):
        read_embeddings(tmp_path / "v.npy", tmp_path / "names.txt")


def test_names_for_something_else_are_refused(tmp_path: Path) -> None:
    (tmp_path / "names.txt").write_text("a\n")
    with pytest.raises(DataError, match="npy file"):
        read_embeddings(write_npz(tmp_path), tmp_path / "names.txt")


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_unreadable_file(tmp_path: Path) -> None:
    path = write_npz(tmp_path)
    path.chmod(0)
    with pytest.raises(DataError, match="permission"):
        read_embeddings(path)
