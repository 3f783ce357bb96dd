"""Five landmarks of a face: read from a table, and moved onto the 112 x 112 template that face models expect."""

from __future__ import annotations

import csv
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.ndimage import affine_transform

from fairfr.core.errors import DataError
from fairfr.core.types import F32, F64

TEMPLATE: F64 = np.array(
    [[38.2946, 51.6963], [73.5318, 51.5014], [56.0252, 71.7366], [41.5493, 92.3655], [70.7299, 92.2041]]
)
"""Left eye, right eye, nose, left and right corner of the mouth, as (x, y) in a picture of 112 x 112 pixels."""
TEMPLATE_SIZE = 112
MAX_ALIGNMENT_ERROR = 12.0  # pixels: not the landmarks of a face, or in another order


def similarity_transform(source: F64, target: F64) -> F64:
    """Find the scale, rotation and shift that bring one set of points closest to another.

    Umeyama's least squares, without reflection: with the centred points, U D V' = T' S / m gives the rotation
    R = U E V' (E turns a reflection back) and the scale tr(D E) / var(S).

    Parameters
    ----------
    source : ndarray of float, shape (n_points, 2)
        Points to move, as (x, y).
    target : ndarray of float, shape (n_points, 2)
        Where they should be.

    Returns
    -------
    ndarray of float, shape (2, 3)
        The linear part and the shift.
    """
    source_mean = source.mean(axis=0)
    target_mean = target.mean(axis=0)
    centred = source - source_mean
    variance = float((centred**2).sum()) / len(source)
    u, d, vt = np.linalg.svd((target - target_mean).T @ centred / len(source))
    signs = np.array([1.0, 1.0])
    if np.linalg.det(u @ vt) <= 0:
        signs[1] = -1.0
    rotation = (u * signs) @ vt
    scale = float(d @ signs) / variance
    return np.column_stack([scale * rotation, target_mean - scale * rotation @ source_mean])


def alignment_error(points: F64) -> float:
    """Root mean square distance, in pixels of the 112 x 112 picture, that the aligned ``points`` (5, 2) are off."""
    matrix = similarity_transform(points, TEMPLATE)
    moved = points @ matrix[:, :2].T + matrix[:, 2]
    return float(np.sqrt(((moved - TEMPLATE) ** 2).sum(axis=1).mean()))


def align(image: npt.NDArray[Any], points: F64, size: int, places: F64 = TEMPLATE) -> F32:
    """The face of ``image`` (h, w, 3) whose landmarks are ``points`` (5, 2), as a picture (size, size, 3).

    ``places`` (5, 2) are where these landmarks belong in a picture of 112 x 112 pixels.
    """
    return warp(image, similarity_transform(points, places * (size / TEMPLATE_SIZE)), size)


def warp(image: npt.NDArray[Any], matrix: F64, size: int) -> F32:
    """``image`` (h, w, c) moved by ``matrix`` (2, 3), bilinear; black outside. Pixel centres are whole numbers."""
    inverse = np.linalg.inv(matrix[:, :2])
    out = np.empty((size, size, image.shape[2]), dtype=np.float32)
    for channel in range(image.shape[2]):
        affine_transform(
            image[:, :, channel],
            inverse[::-1, ::-1],  # rows come before columns: y before x
            offset=-(inverse @ matrix[:, 2])[::-1],
            output=out[:, :, channel],
            order=1,
            mode="grid-constant",
        )
    return out


N_COORDINATES = 10


@dataclass(frozen=True, slots=True)
class Landmarks:
    """``points`` (5, 2) by the image's path as a file has it, split at its slashes; ``where`` names the files."""

    where: str
    points: dict[tuple[str, ...], F64]
    _by_ending: dict[int, dict[tuple[str, ...], list[tuple[str, ...]]]]

    def of(self, image: str) -> F64:
        """The points (5, 2) of ``image``: of the entry with this path, or of the only one that ends in it."""
        parts = _split(image)
        if parts in self.points:
            return self.points[parts]
        found = self._ending(len(parts)).get(parts, [])
        if len(found) == 1:
            return self.points[found[0]]
        if found:
            several = " and ".join("/".join(entry) for entry in found[:2])
            raise DataError(f"{self.where}: '{image}' could be {several}. List the images with longer paths.")
        first = "/".join(next(iter(self.points)))
        raise DataError(f"{self.where} has no landmarks for '{image}' (its first entry is '{first}'). Add them.")

    def _ending(self, length: int) -> dict[tuple[str, ...], list[tuple[str, ...]]]:
        """All entries by their last ``length`` parts."""
        if length not in self._by_ending:
            index: dict[tuple[str, ...], list[tuple[str, ...]]] = {}
            for parts in self.points:
                index.setdefault(parts[-length:], []).append(parts)
            self._by_ending[length] = index
        return self._by_ending[length]


def read_landmarks(*paths: Path) -> Landmarks:
    """The landmarks of one or several files, or a DataError that names the line that is wrong."""
    points: dict[tuple[str, ...], F64] = {}
    for path in paths:
        for line, fields in _lines(path):
            if line == 1 and _is_header(fields):
                continue
            name = _split(fields[0])
            if name in points:
                raise DataError(f"{path}, line {line}: '{fields[0]}' has landmarks already. Keep one of the lines.")
            points[name] = _points(path, line, fields)
    where = ", ".join(str(path) for path in paths)
    if not points:
        raise DataError(f"{where}: no landmarks. Give a line for each image: image,x1,y1,...,x5,y5.")
    return Landmarks(where, points, {})


def read_text(path: Path) -> str:
    """A text file, with or without a byte order mark."""
    try:
        return path.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError:
        raise DataError(f"{path} is not text in UTF-8. Export it again.") from None
    except OSError as error:
        raise DataError(f"{path} cannot be read ({error.strerror}). Correct the path.") from None


def _lines(path: Path) -> Iterator[tuple[int, list[str]]]:
    for number, line in enumerate(read_text(path).splitlines(), start=1):
        if not line.strip():
            continue
        if "," in line:
            fields = next(csv.reader([line]))
        elif line.count("\t") >= N_COORDINATES:
            fields = line.split("\t")
        else:
            fields = line.split()
        yield number, [field.strip() for field in fields]


def _is_header(fields: list[str]) -> bool:
    return len(fields) > N_COORDINATES and not any(_is_number(field) for field in fields[-N_COORDINATES:])


def _is_number(field: str) -> bool:
    try:
        float(field)
    except ValueError:
        return False
    return True


def _points(path: Path, line: int, fields: list[str]) -> F64:
    numbers = fields[1:]
    if len(numbers) not in (N_COORDINATES, N_COORDINATES + 1) or not all(_is_number(field) for field in numbers):
        raise DataError(
            f"{path}, line {line}: expected a name and {N_COORDINATES} numbers (x1 y1 ... x5 y5), found "
            f"{len(fields)} fields ({' '.join(fields)[:60]}). Names with spaces need csv."
        )
    points = np.array([float(field) for field in numbers[-N_COORDINATES:]]).reshape(5, 2)
    if not np.isfinite(points).all() or np.ptp(points, axis=0).max() == 0:
        raise DataError(f"{path}, line {line}: the five points of '{fields[0]}' are one, or not finite. Correct them.")
    return points


def _split(image: str) -> tuple[str, ...]:
    return tuple(part for part in image.replace("\\", "/").split("/") if part not in ("", "."))
