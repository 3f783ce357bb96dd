"""From a picture to the face that a network takes: it is one already, or landmarks say where the face is."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple, Protocol

import numpy as np
import numpy.typing as npt

from fairfr.core.errors import DataError
from fairfr.core.types import F32
from fairfr.faces.alignment import MAX_ALIGNMENT_ERROR, Landmarks, align, alignment_error


class ListedImage(NamedTuple):
    """An image: the id it gets, its path as listed (which landmarks go by), and its file."""

    id: str
    listed: str
    file: Path


class AlignedFace(NamedTuple):
    """``pixels`` (size, size, 3), RGB of 0..255; None if the image is left out.

    ``found`` is False where a detector saw no face.
    """

    pixels: F32 | None
    found: bool = True


class Aligner(Protocol):
    """Brings the face of an image to the size that a network takes."""

    def face(self, entry: ListedImage, image: npt.NDArray[Any], size: int) -> AlignedFace:
        """The face of ``image`` (h, w, 3), the pixels of ``entry``."""
        ...


class AlignedAlready:
    """Images that are faces of the network's size."""

    def face(self, entry: ListedImage, image: npt.NDArray[Any], size: int) -> AlignedFace:
        if image.shape[:2] != (size, size):
            raise DataError(
                f"{entry.file} has {image.shape[1]} x {image.shape[0]} pixels, but the model takes {size} x {size}. "
                "Give --landmarks, so that faces can be aligned."
            )
        return AlignedFace(image.astype(np.float32))


class LandmarkAligner:
    """Faces moved onto the template by five points of each of the ``entries``.

    ``bad_fits`` counts images whose points do not look like a face's.
    """

    def __init__(self, landmarks: Landmarks, entries: Sequence[ListedImage]) -> None:
        # what is missing is said now, not after hours
        self._points = {entry.listed: landmarks.of(entry.listed) for entry in entries}
        errors = [alignment_error(points) for points in self._points.values()]
        self.bad_fits = sum(error > MAX_ALIGNMENT_ERROR for error in errors)

    def face(self, entry: ListedImage, image: npt.NDArray[Any], size: int) -> AlignedFace:
        return AlignedFace(align(image, self._points[entry.listed], size))
