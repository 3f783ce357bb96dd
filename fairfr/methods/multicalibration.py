"""Multicalibration: boosted corrections until no region that a shallow tree can name is miscalibrated.

A multicalibrated probability is calibrated at once in every region of a rich class (Hébert-Johnson et al. 2018), so no
group has to be named. MCGrad (Tax et al. 2026), from the ``mcgrad`` package, boosts small trees on [logit p, features],
round after round, and stops by cross-validated log-loss. Here p starts at Platt's probability and the features are the
cosine and the first 16 principal components of the training midpoints.

Needs embeddings, and the optional extra: pip install 'fairfr[multicalibration]'. Emits a probability; trees are steps,
so some pairs tie. Training pairs of one class only leave Platt.

Deviations: none from the package's defaults, except that its time limit is switched off (results would depend on the
machine). Features are this project's choice; no paper compares it in this form.
"""

from __future__ import annotations

import importlib
import logging
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Self, TypeAlias

import numpy as np
import numpy.typing as npt

from fairfr.core.calibrator import FitContext
from fairfr.core.config import check_above, check_min
from fairfr.core.errors import DataError
from fairfr.core.extras import explain_missing_extra
from fairfr.core.serialization import Codec, register_codec
from fairfr.core.types import F64, Bool, Need, Prediction
from fairfr.numerics.regression import fit_logistic
from fairfr.pairs.design import DenseDesign, PairDesign
from fairfr.pairs.view import PairView

if TYPE_CHECKING:
    import pandas as pd

Bytes: TypeAlias = npt.NDArray[np.uint8]


@dataclass
class Multicalibration:
    """MCGrad on [logit p_base, cosine, principal components of m].

    Parameters
    ----------
    components : int, default 16
        How many principal components of the midpoints are features.
    C : float, default 1.0
        Inverse strength of the L2 penalty of the Platt base, as in scikit-learn.
    """

    needs: ClassVar[frozenset[Need]] = frozenset({"embeddings"})
    native_probability: ClassVar[bool] = True
    imports: ClassVar[tuple[str, ...]] = ("pandas", "mcgrad.methods")

    components: int = 16
    C: float = 1.0

    def __post_init__(self) -> None:
        check_min(1, components=self.components)
        check_above(0, C=self.C)

    def fit(self, view: PairView, same: Bool, ctx: FitContext) -> Self:
        package = _mcgrad()
        self.base_ = fit_logistic(DenseDesign(view.cosine), same, self.C)
        self.axes_ = principal_axes(view.midpoints(), self.components)
        self.model_: Any = None
        if same.all() or not same.any():
            ctx.report["rounds"] = 0
            return self
        frame = self._features(view)
        features = list(frame.columns[1:])
        frame["same"] = same.astype(np.int64)
        frame = frame.iloc[view.order_by_id()].reset_index(drop=True)  # the package draws its inner folds over rows
        model = package.MCGrad(random_state=ctx.seed_for("multicalibration"), early_stopping_timeout=None)
        with _quiet():
            self.model_ = model.fit(frame, "base", "same", numerical_feature_column_names=features)
        ctx.report["rounds"] = len(model.mr)
        return self

    def predict(self, view: PairView) -> Prediction:
        frame = self._features(view)
        probability = frame["base"].to_numpy()
        if self.model_ is not None:
            features = list(frame.columns[1:])
            probability = self.model_.predict(frame, "base", numerical_feature_column_names=features)
        probability = np.asarray(probability, dtype=np.float64)
        return Prediction(score=probability, probability=probability)

    def _features(self, view: PairView) -> pd.DataFrame:
        """Base probability, cosine and components of each pair: the package takes a table."""
        import pandas as pd

        cosine = view.cosine
        design = view.midpoints()
        columns = {"base": self.base_.probability(DenseDesign(cosine)), "cosine": cosine}
        for i, axis in enumerate(self.axes_):
            columns[f"component_{i}"] = design.matvec(axis)
        return pd.DataFrame(columns)


def principal_axes(design: PairDesign, k: int) -> F64:
    """The first k principal axes of the midpoints, (k, d), those of the largest variance first."""
    p = design.shape[0]
    mean = design.rmatvec(np.ones(p)) / p
    _, axes = np.linalg.eigh(design.gram() / p - np.outer(mean, mean))
    return np.ascontiguousarray(axes.T[::-1][:k])


def _mcgrad() -> Any:
    with explain_missing_extra("Multicalibration"):
        return importlib.import_module("mcgrad.methods")


@contextmanager
def _quiet() -> Iterator[None]:
    """The package logs a line for each round of each inner fold; errors still come through."""
    logger = logging.getLogger("mcgrad")
    level = logger.level
    logger.setLevel(logging.ERROR)
    try:
        yield
    finally:
        logger.setLevel(level)


def _is_boosted(value: object) -> bool:
    return type(value).__module__ == "mcgrad.methods" and type(value).__name__ == "MCGrad"


def _text_of(model: Any) -> Bytes:
    """The package's own form of a fitted model, which is JSON."""
    return np.frombuffer(model.serialize().encode(), dtype=np.uint8)


def _boosted_of(text: object) -> Any:
    try:
        return _mcgrad().MCGrad.deserialize(np.asarray(text, dtype=np.uint8).tobytes().decode())
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise DataError(f"the boosted trees are not readable ({error})") from None


register_codec("mcgrad", Codec(_is_boosted, _text_of, _boosted_of))
