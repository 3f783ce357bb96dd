"""A user's face model in ONNX: pictures in, vectors out."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from fairfr.core.errors import ConfigError, DataError
from fairfr.core.extras import explain_missing_extra
from fairfr.core.text import error_summary
from fairfr.core.types import F32
from fairfr.faces.alignment import TEMPLATE_SIZE

FLOATS = {"tensor(float)": np.float32, "tensor(float16)": np.float16}


@dataclass(frozen=True, slots=True)
class Preprocessing:
    """What a model expects of pixels: (x - mean) / std of 0..255.

    Parameters
    ----------
    mean, std : float, default 127.5
        What is subtracted from pixels of 0 to 255, and what they are divided by.
    bgr : bool, default False
        Blue comes first, not red.
    flip : bool, default False
        Add the vector of the mirrored face.
    """

    mean: float = 127.5
    std: float = 127.5
    bgr: bool = False
    flip: bool = False

    def __post_init__(self) -> None:
        if not self.std > 0:
            raise ConfigError(f"--std {self.std:g}: must be above 0.")


class OnnxModel:
    """A model whose first input is pictures, NCHW or NHWC, and whose first output is one vector for each."""

    def __init__(self, path: Path, preprocessing: Preprocessing, threads: int = 0) -> None:
        self.path = path
        self._preprocessing = preprocessing
        self._session = _session(path, threads)
        entry = self._session.get_inputs()[0]
        self._input = entry.name
        self._channels_first, self.size = _layout(path, entry.shape)
        if entry.type not in FLOATS:
            raise DataError(f"{path}: its input is a {entry.type}. Export it for {' or '.join(FLOATS)}.")
        self._float = FLOATS[entry.type]
        # some models take exactly so many pictures at once; None: any number
        self._batch: int | None = None
        if isinstance(entry.shape[0], int):
            self._batch = entry.shape[0]

    def vectors(self, faces: F32) -> F32:
        """The vectors (n, d) of ``faces`` (n, size, size, 3), RGB of 0..255."""
        out = self._run(faces)
        if self._preprocessing.flip:
            out = out + self._run(faces[:, :, ::-1])
        return out

    def _run(self, faces: F32) -> F32:
        wanted = self._preprocessing
        if wanted.bgr:
            faces = faces[..., ::-1]
        pixels = ((faces - np.float32(wanted.mean)) / np.float32(wanted.std)).astype(np.float32)
        if self._channels_first:
            pixels = pixels.transpose(0, 3, 1, 2)
        step = self._batch or len(pixels)
        starts = range(0, len(pixels), step)
        return np.concatenate([self._call(pixels[start : start + step]) for start in starts])

    def _call(self, pixels: F32) -> F32:
        n = len(pixels)
        if self._batch is not None and n < self._batch:
            pixels = np.concatenate([pixels, np.zeros((self._batch - n, *pixels.shape[1:]), dtype=np.float32)])
        try:
            found = self._session.run(None, {self._input: np.ascontiguousarray(pixels, dtype=self._float)})[0]
        except Exception as error:  # its exceptions have no common class
            raise DataError(
                f"{self.path} fails on pictures of shape {pixels.shape} ({error_summary(error)})."
            ) from None
        out = np.asarray(found, dtype=np.float32)
        if out.shape[:1] != (len(pixels),):
            raise DataError(f"{self.path}: {len(pixels)} pictures gave an output of shape {out.shape}; no face model?")
        return out.reshape(len(pixels), -1)[:n]


def _session(path: Path, threads: int) -> Any:
    with explain_missing_extra("fairfr extract"):
        import onnxruntime
    if not path.is_file():
        raise DataError(f"{path}: not found, or not a file. Correct --model.")
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    options.log_severity_level = 3
    try:
        return onnxruntime.InferenceSession(str(path), options, providers=onnxruntime.get_available_providers())
    except Exception as error:  # its exceptions have no common class
        what = f"{path} is not a model that onnxruntime can read ({error_summary(error)})"
        raise DataError(f"{what}. Export it again.") from None


def _layout(path: Path, shape: list[Any]) -> tuple[bool, int]:
    """Whether channels come before rows, and the side of the picture (112 if the model leaves it open)."""
    if len(shape) != 4 or 3 not in (shape[1], shape[3]):
        raise DataError(f"{path}: its input has the shape {shape}, not pictures of three channels (NCHW or NHWC).")
    channels_first = shape[1] == 3
    sides = shape[2:] if channels_first else shape[1:3]
    known = {side for side in sides if isinstance(side, int)}
    if len(known) > 1:
        raise DataError(f"{path}: its pictures are {sides[1]} wide and {sides[0]} high; only squares can be aligned.")
    if not known:
        return channels_first, TEMPLATE_SIZE
    return channels_first, known.pop()
