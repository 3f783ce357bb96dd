"""A model as a classifier of pairs, for scikit-learn's own tools."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.utils.validation import check_is_fitted

from fairfr.core.errors import ConfigError, DataError
from fairfr.core.types import F64
from fairfr.library.image_pairs import PerImage, Vectors
from fairfr.library.model import Model


class PairClassifier(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """A classifier whose X are row numbers of pairs, so that scikit-learn's tools can split, tune and draw.

    ``cross_val_predict(PairClassifier(fairfr.ACHinge(), embeddings), pairs, same, cv=GroupKFold(5), groups=people,
    method="predict_proba")``, ``GridSearchCV`` over ``model__C``, ``CalibrationDisplay.from_estimator`` and ``clone``
    work. A splitter that knows of no groups puts pairs of one person on both sides, and the numbers are too good.

    Parameters
    ----------
    model : fairfr.Model
        The method to fit, such as ``fairfr.ACLinear(C=1.0)``. It stays as it is; ``model_`` is the fitted copy.
    embeddings : array-like of shape (n_images, n_dims), optional
        One vector for each image. Without, X are the cosines of the pairs, for methods that need no embeddings.
    groups : mapping of str to array-like of shape (n_images,), optional
        As in ``Model.fit``, where the method needs them.
    identities : array-like of shape (n_images,), optional
        Who is on each image, where the method asks for it.

    Attributes
    ----------
    model_ : fairfr.Model
        The fitted model.
    classes_ : ndarray of shape (2,)
        The labels of two people and of one person, as they were given.
    """

    def __init__(
        self,
        model: Model,
        embeddings: Vectors | None = None,
        groups: Mapping[str, PerImage] | None = None,
        identities: PerImage | None = None,
    ) -> None:
        self.model = model
        self.embeddings = embeddings
        self.groups = groups
        self.identities = identities

    def __sklearn_clone__(self) -> Self:
        """The vectors are shared, not copied: a search makes many clones."""
        return type(self)(clone(self.model), self.embeddings, self.groups, self.identities)

    def fit(self, X: ArrayLike, y: ArrayLike) -> Self:
        """Fit a copy of the model.

        Parameters
        ----------
        X : array-like of shape (n_pairs, 2), or (n_pairs,) or (n_pairs, 1)
            Row numbers of each pair's two images; without embeddings, the cosine of each pair.
        y : array-like of bool or 0/1, shape (n_pairs,)
            Whether a pair shows one person.

        Returns
        -------
        PairClassifier
            Itself.
        """
        if not isinstance(self.model, Model):
            raise ConfigError(
                f"model is {self.model!r:.60}, not a model of fairfr, such as PairClassifier(fairfr.Beta()). For a "
                "class of your own: fairfr.as_model(Mine)()."
            )
        model: Model = clone(self.model)
        if self.embeddings is None:
            self.model_ = model.fit_scores(_cosines(X), y)
        else:
            self.model_ = model.fit(self.embeddings, X, y, groups=self.groups, identities=self.identities)
        self.classes_ = np.unique(np.asarray(y))
        return self

    def predict_proba(self, X: ArrayLike) -> F64:
        """Probabilities of two people and of one.

        Parameters
        ----------
        X : array-like
            As in ``fit``.

        Returns
        -------
        ndarray of shape (n_pairs, 2)
            Each row sums to 1.
        """
        same = self._prediction(X)[1]
        return np.column_stack([1 - same, same])

    def decision_function(self, X: ArrayLike) -> F64:
        """The method's score of each pair, higher for more similar images.

        Parameters
        ----------
        X : array-like
            As in ``fit``.

        Returns
        -------
        ndarray of shape (n_pairs,)
            Any numbers.
        """
        return self._prediction(X)[0]

    def predict(self, X: ArrayLike) -> Any:
        """The label of each pair: one person where its probability is one half or more.

        Parameters
        ----------
        X : array-like
            As in ``fit``.

        Returns
        -------
        ndarray of shape (n_pairs,)
            Of ``classes_``.
        """
        accepted = self._prediction(X)[1] >= 0.5
        return self.classes_[accepted.astype(np.intp)]

    def _prediction(self, X: ArrayLike) -> tuple[F64, F64]:
        check_is_fitted(self)
        model: Model = self.model_
        if self.embeddings is None:
            return model.prediction_scores(_cosines(X))
        return model.prediction(self.embeddings, X, groups=self.groups, identities=self.identities)


def _cosines(values: ArrayLike) -> Any:
    """One cosine for each pair, (p,), of a column or a row of them."""
    array = np.asarray(values)
    if array.ndim == 2 and array.shape[1] == 1:
        return array[:, 0]
    if array.ndim == 2:
        raise DataError(
            f"X has shape {array.shape}, but without embeddings it is one cosine for each pair. Pass the vectors that "
            "row numbers of pairs refer to: PairClassifier(model, embeddings)."
        )
    return array
