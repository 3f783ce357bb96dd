"""Read keys and vectors from the forms in which people keep them; which image a key means is decided elsewhere."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from fairfr.core import npz
from fairfr.core.errors import DataError
from fairfr.data.files import DataFile, sniff_format
from fairfr.data.importers.conversion import START, refuse_foreign_vectors

KEY_NAMES = ("image", "images", "img_path", "path", "paths", "key", "keys", "name", "names", "file", "files", "ids")
VECTOR_NAMES = ("vectors", "vector", "embedding", "embeddings", "features", "feature", "emb", "embs")
FORMS = "npz, npy with --names, and folders of .npy files"


def read_embeddings(path: Path, names: Path | None = None) -> KeyedVectors:
    """The keys and vectors at ``path``, recognised by content."""
    if path.is_dir():
        return read_folder(path)
    read = _reader_of(path, names)
    try:
        return read(path)
    except MemoryError:
        raise DataError(
            f"{path} needs more memory than there is. Save the vectors with "
            "np.savez(path, image=ids, vectors=vectors).",
            code="too-large",
        ) from None


def _reader_of(path: Path, names: Path | None) -> Callable[[Path], KeyedVectors]:
    start = _first_bytes(path)
    refuse_foreign_vectors(path, start)
    if names is not None and not start.startswith(b"\x93NUMPY"):
        raise DataError(
            f"{path}: --names goes with an npy file, and this is {sniff_format(start) or 'something else'}.",
            code="foreign-format",
        )
    if start.startswith(b"\x93NUMPY"):
        return partial(read_npy, names=names)
    if start.startswith(b"PK"):
        return read_npz
    raise DataError(
        f"{path} is {sniff_format(start) or 'of no known form'}. Vectors are read from {FORMS}.", code="foreign-format"
    )


def read_npz(path: Path) -> KeyedVectors:
    """One array of names and one of vectors, or one array for each image."""
    try:
        with path.open("rb") as handle:
            return _from_arrays(path, npz.read_npz(handle))
    except npz.ObjectArrayError as error:
        raise DataError(f"{path}: {error}. Save it as numbers or text.", code="python-objects") from None
    except (npz.UnreadableArrayError, OSError) as error:
        raise DataError(
            f"{path} is not a readable npz: it is damaged, cut short or something else ({error}). "
            "Copy or export it again.",
            code="damaged-file",
        ) from None


def read_npy(path: Path, names: Path | None) -> KeyedVectors:
    """A matrix of vectors (n, d); ``names`` lists their keys, one in each line."""
    vectors = _read_file(path)
    if names is None:
        raise DataError(
            f"{path} has vectors without names. Give their list with --names, one name in each line.", code="no-names"
        )
    return KeyedVectors(path, *pair_with_names(path, read_names(names), vectors))


def read_names(path: Path) -> list[str]:
    """The first tab-separated cell of each line; empty lines only at the end."""
    try:
        lines = DataFile.at(path).read().decode("utf-8-sig").rstrip().split("\n")
    except UnicodeDecodeError:
        raise DataError(f"{path} is not UTF-8 text. Save the list of names as UTF-8.", code="not-utf8") from None
    except OSError as error:
        raise DataError(f"{path} cannot be read ({error.strerror}).", code="unreadable-file") from None
    keys = [line.split("\t")[0].strip() for line in lines]
    if not all(keys):
        raise DataError(f"{path}, line {keys.index('') + 1}: no name. Write one name in each line.", code="blank-cell")
    return keys


def read_folder(path: Path) -> KeyedVectors:
    """One .npy for each image; its path inside the folder is its key. Links to folders are not followed."""
    files: list[Path] = []
    for folder, _, names in os.walk(path, onerror=_stop):
        files.extend(Path(folder, name) for name in names if name.endswith(".npy"))
    files.sort()
    if not files:
        raise DataError(f"{path} is a folder without .npy files. Vectors are read from {FORMS}.", code="no-rows")
    return stack_vectors(path, ((file.relative_to(path).as_posix(), _read_file(file)) for file in files))


def _first_bytes(path: Path) -> bytes:
    try:
        with DataFile.at(path).open() as handle:
            return handle.read(START)
    except OSError as error:
        raise DataError(
            f"{path} cannot be read ({error.strerror}). Put the file in its place.", code="unreadable-file"
        ) from None


def _stop(error: OSError) -> None:
    raise DataError(
        f"{error.filename} cannot be read ({error.strerror}). Allow it, or leave it out.", code="unreadable-file"
    )


def _read_file(path: Path) -> npt.NDArray[Any]:
    try:
        with path.open("rb") as handle:
            return npz.read_npy(handle)
    except OSError as error:
        raise DataError(
            f"{path} cannot be read ({error.strerror}). Compute or copy it again.", code="unreadable-file"
        ) from None
    except npz.ObjectArrayError:
        raise DataError(
            f"{path}: an array of Python objects. Save it as numbers or text.", code="python-objects"
        ) from None
    except npz.UnreadableArrayError as error:
        raise DataError(
            f"{path} is not a readable npy file ({error}). Copy or export it again.", code="damaged-file"
        ) from None


def _from_arrays(path: Path, content: Mapping[str, npt.NDArray[Any]]) -> KeyedVectors:
    """Names and vectors under their own keys, or a vector under each key."""
    names = _first_names(content)
    vectors = next((content[name] for name in VECTOR_NAMES if name in content), None)
    if names is not None and vectors is not None:
        return KeyedVectors(path, *pair_with_names(path, names, vectors))
    return stack_vectors(path, content.items())


def _first_names(content: Mapping[str, npt.NDArray[Any]]) -> list[str] | None:
    """The names under the first of the usual keys that has some."""
    for key in KEY_NAMES:
        names = _texts(content.get(key))
        if names:
            return names
    return None


def _texts(values: npt.NDArray[Any] | None) -> list[str] | None:
    """A list of names, or None: 'image' may also be pixels."""
    if values is None or values.ndim != 1 or values.dtype.kind not in "SU":
        return None
    if values.dtype.kind == "S":
        return [value.decode("utf-8", "replace") for value in values.tolist()]
    return [*values.tolist()]


@dataclass(frozen=True, slots=True)
class KeyedVectors:
    """What one file or folder contains: ``keys`` and ``vectors`` (n, d) of float16, float32 or float64."""

    path: Path
    keys: tuple[str, ...]
    vectors: npt.NDArray[Any]


def stack_vectors(path: Path, items: Iterable[tuple[str, npt.NDArray[Any]]]) -> KeyedVectors:
    """A vector for each key."""
    keys: list[str] = []
    rows: list[npt.NDArray[Any]] = []
    for key, value in items:
        row = _row(path, key, value)
        if rows and len(row) != len(rows[0]):
            raise DataError(
                f"{path}: the vector of '{key}' has {len(row)} values, that of '{keys[0]}' has {len(rows[0])}. "
                "All must have the same width.",
                code="wrong-shape",
            )
        keys.append(key)
        rows.append(row)
    if not rows:
        raise DataError(f"{path} has no vectors. Export it again.", code="no-rows")
    return KeyedVectors(path, tuple(keys), np.stack(rows))


def _row(path: Path, key: str, row: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """One vector (d,) from (d,) or (1, d)."""
    if row.ndim == 2 and len(row) == 1:
        row = row[0]
    if row.ndim != 1 or not row.size:
        raise DataError(
            f"{path}: the vector of '{key}' has the shape {row.shape}; it must be (d,) or (1, d).", code="wrong-shape"
        )
    return _floats(path, row, f"the vector of '{key}'")


def pair_with_names(
    path: Path, keys: Sequence[str], vectors: npt.NDArray[Any]
) -> tuple[tuple[str, ...], npt.NDArray[Any]]:
    """Keys and vectors (n, d), given that they belong together in this order."""
    if vectors.ndim == 3 and vectors.shape[1] == 1:
        vectors = vectors[:, 0]
    if vectors.ndim != 2 or not vectors.size:
        raise DataError(f"{path}: the vectors have the shape {vectors.shape}; they must be (n, d).", code="wrong-shape")
    if len(keys) != len(vectors):
        raise DataError(
            f"{path} has {len(vectors):,} vectors for {len(keys):,} names. Each vector needs its own name.",
            code="lengths-differ",
        )
    return tuple(keys), _floats(path, vectors, "the array of vectors")


def _floats(path: Path, values: npt.NDArray[Any], what: str) -> npt.NDArray[Any]:
    if values.dtype.kind != "f" or values.dtype.itemsize > 8:
        raise DataError(f"{path}: {what} is {values.dtype}; it must be float16, float32 or float64.", code="wrong-type")
    return values
