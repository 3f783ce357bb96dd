"""Read one backbone's vectors: an npz with ``image`` (n,) and ``vectors`` (n, d), never a pickle."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from fairfr.core.errors import DataError, did_you_mean
from fairfr.core.npz import ObjectArrayError, UnreadableArrayError, npz_names, read_npz
from fairfr.data.files import DataFile, sniff_format

KEYS = ("image", "vectors")
FLOATS = ("float16", "float32", "float64")
ROWS_PER_CHUNK = 4096  # rows at a time, so that no float64 copy of the whole exists


@dataclass(frozen=True, slots=True)
class RawVectors:
    """What an npz contains, checked but not normalised: ids ``images`` and finite, non-zero rows ``vectors`` (n, d)."""

    file: DataFile
    images: tuple[str, ...]
    vectors: npt.NDArray[np.floating[Any]]


def read_vectors(file: DataFile) -> RawVectors:
    """The vectors of ``file``, or a DataError that says what is wrong with it."""
    image, vectors = _arrays(file)
    _check_layout(file.path, image, vectors)
    images = tuple(image.tolist())
    _check_ids(file.path, images)
    _check_values(file.path, images, vectors)
    return RawVectors(file, images, vectors)


def _arrays(file: DataFile) -> tuple[npt.NDArray[Any], npt.NDArray[Any]]:
    """``image`` and ``vectors`` as stored."""
    with file.open() as handle:
        start = handle.read(64)
        try:
            names = npz_names(handle)
            for key in KEYS:
                if key not in names:
                    raise _no_key(file.path, key, names)
            arrays = read_npz(handle, KEYS)
        except ObjectArrayError as error:
            key = next(key for key in KEYS if str(error).startswith(f"'{key}'"))
            raise DataError(
                f"{file.path}: {error}, which would have to be unpickled. Save it again with {_REMEDY[key]}.",
                code="python-objects",
            ) from None
        except UnreadableArrayError as error:
            found = sniff_format(start) or "something else"
            if start.startswith(b"PK"):
                found = "damaged or cut short"
            raise DataError(
                f"{file.path} is not a readable npz: it is {found} ({error}). "
                "Save it again with np.savez(path, image=ids, vectors=vectors).",
                code="damaged-file",
            ) from None
    return arrays["image"], arrays["vectors"]


_REMEDY = {"image": "image=np.array(ids, dtype=str)", "vectors": "vectors=np.array(vectors, dtype=np.float32)"}


def _no_key(path: Path, key: str, names: list[str]) -> DataError:
    return DataError(
        f"{path} has no array '{key}'.{did_you_mean(key, names)} "
        "Save it again with np.savez(path, image=ids, vectors=vectors).",
        code="missing-array",
    )


def _check_layout(path: Path, image: npt.NDArray[Any], vectors: npt.NDArray[Any]) -> None:
    if image.dtype.kind != "U" or image.ndim != 1:
        raise DataError(
            f"{path}: 'image' must be text of shape (n,), found {image.dtype} of shape {image.shape}. "
            f"Save it again with {_REMEDY['image']}.",
            code="wrong-type",
        )
    if vectors.dtype.name not in FLOATS:
        raise DataError(
            f"{path}: 'vectors' must be float16, float32 or float64, found {vectors.dtype}. "
            f"Save it again with {_REMEDY['vectors']}.",
            code="wrong-type",
        )
    if vectors.ndim != 2 or vectors.size == 0:
        raise DataError(
            f"{path}: 'vectors' must have the shape (n, d), found {vectors.shape}. "
            "Save one row for each image, flattened to one dimension.",
            code="wrong-shape",
        )
    if len(image) != len(vectors):
        raise DataError(
            f"{path} has {len(image):,} image ids for {len(vectors):,} vectors. Save one id for each row of 'vectors'.",
            code="lengths-differ",
        )


def _check_ids(path: Path, images: tuple[str, ...]) -> None:
    seen: dict[str, int] = {}
    for row, image in enumerate(images):
        if not image.strip():
            raise DataError(
                f"{path}, row {row} (counting from 0): the image id is blank. Save it again with its id.",
                code="blank-cell",
            )
        if seen.setdefault(image, row) != row:
            raise DataError(
                f"{path}, row {row} (counting from 0): image '{image}' was already in row {seen[image]}. "
                "Keep one vector for each image.",
                code="repeated-image",
            )


def _check_values(path: Path, images: tuple[str, ...], vectors: npt.NDArray[Any]) -> None:
    for start, chunk in _chunks(vectors):
        finite = np.isfinite(chunk).all(axis=1)
        fine = finite & chunk.any(axis=1)
        if not fine.all():
            row = int(np.argmin(fine))
            what = "has only zeros" if finite[row] else "has a value that is not finite (nan or inf)"
            raise DataError(
                f"{path}, row {start + row} (counting from 0): the vector of image '{images[start + row]}' {what}. "
                "Compute it again, or remove the row and treat the image as missing (dataset.missing=drop).",
                code="bad-vector",
            )


def _chunks(vectors: npt.NDArray[Any]) -> Iterator[tuple[int, npt.NDArray[Any]]]:
    for start in range(0, len(vectors), ROWS_PER_CHUNK):
        yield start, vectors[start : start + ROWS_PER_CHUNK]
