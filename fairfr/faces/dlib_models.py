"""dlib's detector, five landmarks and network, as pip brings them: `pip install 'fairfr[faces]'`.

The package of the models is never imported: it needs a part of setuptools that newer ones do not have. Only its files
are looked for. Its model of 68 landmarks is not used, because what it was trained on excludes commercial use.
"""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path
from typing import Any, Literal, TypeAlias

import numpy as np
import numpy.typing as npt

from fairfr.core.extras import explain_missing_extra
from fairfr.core.types import F32, F64
from fairfr.faces.aligners import AlignedFace, ListedImage
from fairfr.faces.alignment import align

Missing: TypeAlias = Literal["box", "drop"]

LANDMARKS = "shape_predictor_5_face_landmarks.dat"
NETWORK = "dlib_face_recognition_resnet_model_v1.dat"
MODELS = "face_recognition_models"
UPSAMPLE = 1  # without it smaller faces are missed: the cosine to the reference vectors falls to .997
CENTRAL_BOX = (0.28, 0.72)  # of the width and the height: where the face is in a picture that was cut around one
FIVE_POINTS: F64 = np.array([[80.52, 52.91], [66.65, 53.47], [31.66, 52.94], [45.43, 53.39], [55.74, 79.55]])
"""Where dlib's points (outer and inner corner of one eye and of the other, base of the nose) are in the 112 x 112
template of face models: means over 59 images of LFW, aligned by the eyes, the tip of the nose and the mouth."""


def model_file(name: str) -> Path:
    """The file of a model; MissingExtraError if its package is not installed."""
    with explain_missing_extra("fairfr faces"):
        found = find_spec(MODELS)
        if found is None or not found.submodule_search_locations:
            raise ModuleNotFoundError(f"No module named {MODELS!r}", name=MODELS)
    return Path(found.submodule_search_locations[0]) / "models" / name


def load_dlib() -> Any:
    """The module dlib."""
    with explain_missing_extra("fairfr faces"):
        import dlib
    return dlib


def dlib_version() -> str:
    """Which dlib it is: another may find other faces."""
    return str(load_dlib().__version__)


class DlibAligner:
    """Finds the face of an image: of several the most central one.

    Parameters
    ----------
    chip : bool
        Cut faces out as dlib's own network wants them. Otherwise as other face models do: eyes, nose and mouth on
        the template.
    missing : {"box", "drop"}
        What becomes of an image in which no face is found: the face is taken to be in its middle, or it is left out.
    """

    def __init__(self, chip: bool, missing: Missing) -> None:
        self._dlib = load_dlib()
        self._detector = self._dlib.get_frontal_face_detector()
        self._landmarks = self._dlib.shape_predictor(str(model_file(LANDMARKS)))
        self._chip = chip
        self._missing = missing

    def face(self, entry: ListedImage, image: npt.NDArray[Any], size: int) -> AlignedFace:
        height, width = image.shape[:2]
        boxes = self._detector(image, UPSAMPLE)
        if boxes:
            box = min(boxes, key=lambda box: _distance(box.center(), width / 2, height / 2))
        elif self._missing == "drop":
            return AlignedFace(None, found=False)
        else:
            low, high = CENTRAL_BOX
            edges = (low * width, low * height, high * width, high * height)
            box = self._dlib.rectangle(*(int(edge) for edge in edges))
        shape = self._landmarks(image, box)
        if self._chip:
            pixels = self._dlib.get_face_chip(image, shape, size).astype(np.float32)
        else:
            points = np.array([(point.x, point.y) for point in shape.parts()], dtype=np.float64)
            pixels = align(image, points, size, FIVE_POINTS)
        return AlignedFace(pixels, found=bool(boxes))


def _distance(point: Any, x: float, y: float) -> float:
    return float((point.x - x) ** 2 + (point.y - y) ** 2)


class DlibNetwork:
    """dlib's network of 2017: 128 numbers for a face of 150 x 150 pixels."""

    size = 150

    def __init__(self) -> None:
        self._network = load_dlib().face_recognition_model_v1(str(model_file(NETWORK)))

    def vectors(self, faces: F32) -> F32:
        found = [self._network.compute_face_descriptor(face.astype(np.uint8)) for face in faces]
        return np.array(found, dtype=np.float32)
