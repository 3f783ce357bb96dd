"""Bring a face to where recognition models expect it: five landmarks onto five fixed points."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from fairfr.core.types import F32, F64

TEMPLATE: F64 = np.array(
    [[38.2946, 51.6963], [73.5318, 51.5014], [56.0252, 71.7366], [41.5493, 92.3655], [70.7299, 92.2041]]
)
"""Left eye, right eye, nose, left and right corner of the mouth, as (x, y) in a picture of 112 x 112 pixels."""
TEMPLATE_SIZE = 112
BAD_FIT = 12.0  # pixels: not the landmarks of a face, or in another order


def template(size: int) -> F64:
    """The five points (5, 2) in a picture of ``size`` x ``size`` pixels."""
    return TEMPLATE * (size / TEMPLATE_SIZE)


def similarity(source: F64, target: F64) -> F64:
    """The scale, rotation and shift that bring ``source`` (m, 2) closest to ``target`` (m, 2), as a matrix (2, 3).

    Umeyama's least squares, without reflection: with the centred points, U D V' = T' S / m gives the rotation
    R = U E V' (E turns a reflection back) and the scale tr(D E) / var(S).
    """
    middle, goal = source.mean(axis=0), target.mean(axis=0)
    centred = source - middle
    variance = float((centred**2).sum()) / len(source)
    u, d, vt = np.linalg.svd((target - goal).T @ centred / len(source))
    upright = np.array([1.0, 1.0 if np.linalg.det(u @ vt) > 0 else -1.0])
    rotation = (u * upright) @ vt
    scale = float(d @ upright) / variance
    return np.column_stack([scale * rotation, goal - scale * rotation @ middle])


def misfit(points: F64) -> float:
    """Root mean square distance, in pixels of the 112 x 112 picture, that the aligned ``points`` (5, 2) are off."""
    matrix = similarity(points, TEMPLATE)
    moved = points @ matrix[:, :2].T + matrix[:, 2]
    return float(np.sqrt(((moved - TEMPLATE) ** 2).sum(axis=1).mean()))


def align(image: npt.NDArray[Any], points: F64, size: int) -> F32:
    """The face of ``image`` (h, w, 3) whose landmarks are ``points`` (5, 2), as a picture (size, size, 3)."""
    return warp(image, similarity(points, template(size)), size)


def warp(image: npt.NDArray[Any], matrix: F64, size: int) -> F32:
    """``image`` (h, w, c) moved by ``matrix`` (2, 3), bilinear; black outside. Pixel centres are whole numbers."""
    inverse = np.linalg.inv(matrix[:, :2])
    y, x = np.mgrid[0:size, 0:size].reshape(2, -1).astype(np.float64)
    u, v = inverse @ (np.stack([x, y]) - matrix[:, 2:])
    left, top = np.floor(u), np.floor(v)
    across, down = (u - left)[:, None], (v - top)[:, None]
    out: F64 = (1 - across) * (1 - down) * _pixels(image, left, top)
    out += across * (1 - down) * _pixels(image, left + 1, top)
    out += (1 - across) * down * _pixels(image, left, top + 1)
    out += across * down * _pixels(image, left + 1, top + 1)
    return out.reshape(size, size, image.shape[2]).astype(np.float32)


def _pixels(image: npt.NDArray[Any], x: F64, y: F64) -> F64:
    """The pixels (m, c) at whole ``x``, ``y`` (m,); zeros outside."""
    height, width = image.shape[:2]
    inside = (x >= 0) & (x < width) & (y >= 0) & (y < height)
    out = np.zeros((len(x), image.shape[2]))
    out[inside] = image[y[inside].astype(np.int64), x[inside].astype(np.int64)]
    return out
