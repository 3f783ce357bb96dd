"""Read five landmarks for each image.

Either csv (``image,x1,y1,...,x5,y5``, with or without that header) or, as RFW's ``<Ethnicity>_lmk.txt``, separated by
tabs or spaces, where a number may stand between the name and the ten coordinates.
"""

from __future__ import annotations

import csv
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from fairfr.core.errors import DataError
from fairfr.core.types import F64

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
        else:
            fields = line.split("\t") if line.count("\t") >= N_COORDINATES else line.split()
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
