"""What people hand over: numpy, torch or pandas, checked and turned into plain arrays, or refused with a sentence."""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from fairfr.core.errors import DataError
from fairfr.core.types import F64, I32, Bool, StrArray
from fairfr.pairs.vectors import COSINE_RANGE, invalid_cosines

ScoreRange: TypeAlias = tuple[float, float]
"""The lowest and the highest possible score of a matcher that does not give cosines."""
DISTANCES = "a cosine distance d is 1 - d, a euclidean distance d of vectors of length 1 is 1 - d^2 / 2"


def as_numpy(values: Any) -> npt.NDArray[Any]:
    """As a numpy array, without copying where that is possible."""
    if hasattr(values, "detach"):  # a tensor of torch, which need not be imported to be recognised
        if values.device.type != "cpu":
            raise DataError(f"a tensor is on {values.device}. Move it to the processor's memory first: tensor.cpu().")
        values = values.detach()
        values = values.float() if str(values.dtype) == "torch.bfloat16" else values
        return np.asarray(values.numpy())
    return np.asarray(values)


def check_matrix(values: Any, what: str) -> npt.NDArray[Any]:
    """Vectors as rows of numbers, (n, d)."""
    array = as_numpy(values)
    if array.ndim != 2 or array.dtype.kind not in "fiu" or array.shape[1] == 0:
        raise DataError(f"{what} must be numbers of shape (n, d), found {array.dtype} of shape {array.shape}.")
    return array


def check_row_numbers(values: Any, n: int) -> I32:
    """Pairs as row numbers, (p, 2), each from 0 to n - 1."""
    array = as_numpy(values)
    if array.ndim != 2 or array.shape[1] != 2 or (array.dtype.kind not in "iu" and array.size):
        raise DataError(
            f"pairs must be whole row numbers of shape (p, 2), found {array.dtype} of shape {array.shape}. "
            "If you have two aligned arrays, pass embeddings=(left, right) and pairs=None."
        )
    outside = ((array < 0) | (array >= n)).any(axis=1)
    if outside.any():
        row = int(np.argmax(outside))
        raise DataError(f"pairs[{row}] is {array[row].tolist()}, but the embeddings have the rows 0 to {n - 1}.")
    return array.astype(np.int32)


def check_labels(values: Any, p: int) -> Bool:
    """Whether each of p pairs shows one person, (p,): True and False, or 1 and 0; both must occur."""
    array = as_numpy(values)
    if array.shape != (p,):
        raise DataError(f"same must have one label for each of the {p:,} pairs, found shape {array.shape}.")
    if array.dtype != np.bool_:
        with np.errstate(invalid="ignore"):
            strange = np.array([item not in (0, 1) for item in array.tolist()], dtype=bool)
        if strange.any():
            row = int(np.argmax(strange))
            raise DataError(
                f"same[{row}] is {array.tolist()[row]!r}. Write True or 1 for one person, False or 0 for two."
            )
        array = array.astype(bool)
    n_same = int(np.count_nonzero(array))
    if n_same in (0, p):
        found = "no pairs at all" if not p else "only pairs of one person" if n_same else "only pairs of two people"
        raise DataError(f"same has {found}. A calibrator is fitted on pairs of both kinds.")
    return array


def check_cosines(values: Any, score_range: ScoreRange | None = None) -> F64:
    """Cosines of pairs, (p,), within -1..1; scores on another scale are mapped to it linearly."""
    array = as_numpy(values)
    if array.ndim != 1 or array.dtype.kind not in "fiu":
        raise DataError(f"cosine must be numbers of shape (p,), found {array.dtype} of shape {array.shape}.")
    cosine = on_cosine_scale(array.astype(np.float64), score_range)
    wrong = invalid_cosines(cosine)
    if wrong.any():
        row = int(np.argmax(wrong))
        raise DataError(f"cosine[{row}] is {array[row]:g}{refused_score_text(array[row], score_range)}")
    return np.clip(cosine, *COSINE_RANGE, out=cosine)


def on_cosine_scale(scores: F64, score_range: ScoreRange | None) -> F64:
    """Scores (p,) with the lower end of their range at -1 and the upper at 1; None: they are cosines already."""
    if score_range is None:
        return scores
    low, high = score_range
    return (2 * scores - low - high) / (high - low)


def refused_score_text(score: float, score_range: ScoreRange | None) -> str:
    """What scores may be, and what to do with this one: the end of a sentence."""
    if np.isnan(score):
        return ", which is no score: a matcher gave none, or a calculation failed. Leave the pair out."
    if score_range is None:
        return (
            f", but a cosine lies within -1..1. Convert distances first: {DISTANCES}. Another scale is named "
            "when the model is fitted: fit_scores(scores, same, score_range=(0, 100)). For fairfr.compare, map it to "
            "-1..1: 2 * (scores - low) / (high - low) - 1."
        )
    low, high = score_range
    return f", but score_range says that scores lie within {low:g}..{high:g}."


def check_score_range(values: Any) -> ScoreRange | None:
    """(low, high) as two floats; None stays."""
    if values is None:
        return None
    try:
        low, high = (float(value) for value in values)
    except (TypeError, ValueError):
        low, high = float("nan"), float("nan")
    if not (np.isfinite([low, high]).all() and low < high):
        raise DataError(
            f"score_range is {values!r}, but it must be two numbers: the lowest and the highest possible score, such "
            "as (0, 100)."
        )
    return low, high


def check_names(values: Any, n: int, what: str, of: str = "images") -> StrArray:
    """One name for each of n images (or what they are ``of``), blank where it is unknown (None, NaN, blank).

    Whole numbers are the same name however they are stored: pandas makes 7 into 7.0 where others are missing.
    """
    array = as_numpy(values)
    if array.shape != (n,):
        raise DataError(f"{what} must have one name for each of the {n:,} {of}, found shape {array.shape}.")
    if array.dtype.kind == "U":
        return np.char.strip(array)
    return np.array([_name(item) for item in array.tolist()], dtype=np.str_)


def _name(item: Any) -> str:
    if item is None or type(item).__name__ in ("NAType", "NaTType"):
        return ""
    if isinstance(item, float):
        if item != item:
            return ""
        return str(int(item)) if item.is_integer() else repr(item)
    return str(item).strip()
