"""A method as an object of its own: fitted on arrays, used on new pairs, saved to a file. In scikit-learn's habits."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import MISSING, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Self, TypedDict, Unpack

import numpy as np

from fairfr.core.calibrator import Calibrator, FitContext
from fairfr.core.conform import build
from fairfr.core.errors import ConfigError, DataError, UnmetNeedError, did_you_mean
from fairfr.core.types import F64, Bool, Need, Prediction, VerificationSet
from fairfr.library import arrays
from fairfr.library.material import (
    Faces,
    Labels,
    Names,
    chosen_groups,
    data_digest,
    distinct,
    image_ids,
    verification_set,
)
from fairfr.pairs.table import PairTable
from fairfr.pairs.view import PairView

if TYPE_CHECKING:
    from fairfr.methods._beta import BetaMap


class Known(TypedDict, total=False):
    """What may be known of the images of new pairs, and how many threads may work on them."""

    groups: Mapping[str, Names] | None
    identities: Names | None
    threads: int


class Model:
    """One method of fairfr for your own pairs; ``fairfr.<Class>`` makes such a class of every method.

    Parameters are stored as given and checked by ``fit``. Fitted: ``method_`` (what the method learned), ``overlay_``
    (the map that makes its score a probability; None if it has a probability of its own), ``width_`` (of the vectors;
    None if fitted on scores), ``groups_`` (ids of the groups it was fitted with), ``training_`` (counts), ``digest_``
    (of the data), ``seed_``, ``report_`` (what the fit did) and ``classes_``. ``origin_`` is plain JSON about where a
    model comes from, kept with it: ``fairfr calibrate fit`` notes the run that held pairs out (None: nothing noted).
    """

    method_class: ClassVar[type[Any]]
    needs: ClassVar[frozenset[Need]] = frozenset()

    method_: Calibrator
    overlay_: BetaMap | None
    width_: int | None
    groups_: tuple[str, ...]
    training_: dict[str, Any]
    digest_: str
    seed_: int
    report_: dict[str, Any]
    origin_: dict[str, Any] | None = None

    # -- parameters ----------------------------------------------------------------------------------------------------

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Every parameter by its name."""
        return {field.name: getattr(self, field.name) for field in fields(self.method_class)}

    def set_params(self, **parameters: Any) -> Self:
        """Change parameters; they count from the next ``fit`` on."""
        known = self.get_params()
        for name, value in parameters.items():
            if name not in known:
                raise ValueError(f"{type(self).__name__} has no parameter '{name}'.{did_you_mean(name, known)}")
            setattr(self, name, value)
        return self

    def __repr__(self) -> str:
        default = {f.name: f.default for f in fields(self.method_class) if f.default is not MISSING}
        changed = {k: v for k, v in self.get_params().items() if k not in default or repr(v) != repr(default[k])}
        return f"{type(self).__name__}({', '.join(f'{name}={value!r}' for name, value in changed.items())})"

    # -- fitting -------------------------------------------------------------------------------------------------------

    def fit(
        self,
        embeddings: Any,
        pairs: Any,
        same: Any,
        *,
        groups: Mapping[str, Names] | None = None,
        identities: Names | None = None,
        seed: int = 0,
        threads: int = 1,
        max_references: int | None = None,
    ) -> Self:
        """Learn from labelled pairs.

        Parameters
        ----------
        embeddings : (n, d)
            One vector for each image, of any length; or a tuple (left, right) of (p, d) each, with ``pairs=None``.
        pairs : (p, 2)
            Row numbers of each pair's two images.
        same : (p,)
            Whether a pair shows one person.
        groups : mapping of id to (n,) names, optional
            For methods that need groups. Several ids: their product, such as ``asian_female``. None or NaN is unknown.
        identities : (n,), optional
            Who is on each image, for methods that ask for it. None or NaN is unknown.
        seed : int
            Of what a method draws.
        max_references : int, optional
            As the parameter of that name, for methods that have one: ``set_params(max_references=...)`` before fitting.
        """
        if max_references is not None:
            self.set_params(max_references=max_references)
        faces = Faces.of(embeddings, pairs)
        truth = arrays.labels(same, len(faces.pairs))
        given = chosen_groups(groups, None, type(self).__name__) if "groups" in self.needs else {}
        labels = Labels.of(faces, given, identities if "identities" in self.needs else None)
        faces, labels, ids = distinct(faces, labels, image_ids(faces))
        return self._fit(verification_set(faces, labels, truth, ids), tuple(given), seed, threads)

    def fit_scores(
        self,
        cosine: Any,
        same: Any,
        *,
        groups: Mapping[str, Names] | None = None,
        seed: int = 0,
    ) -> Self:
        """Learn from cosines (p,) and labels (p,) alone, where the method needs no embeddings.

        ``groups`` maps an id to (left, right), the names (p,) of the left and of the right images, or to names (p,)
        that hold for both.
        """
        self._check_scores_suffice("fit(embeddings, pairs, same)")
        faces = Faces.scored(cosine)
        truth = arrays.labels(same, len(faces.pairs))
        given = chosen_groups(groups, None, type(self).__name__) if "groups" in self.needs else {}
        data = verification_set(faces, Labels.of(faces, given, None), truth, image_ids(faces))
        return self._fit(data, tuple(given), seed, 1)

    def _fit(self, data: VerificationSet, groups: tuple[str, ...], seed: int, threads: int) -> Self:
        _check_levels(data)
        ctx = FitContext(seed, data.id, data.backbone, "all", threads, grouping=data.grouping)
        return self.fit_table(PairTable(data, threads), ctx, groups)

    def fit_table(self, table: PairTable, ctx: FitContext, groups: tuple[str, ...] = ()) -> Self:
        """Learn from all pairs of a table: the way in for data that fairfr itself has read.

        ``groups`` are the ids whose product ``ctx.grouping`` is; none: it is one grouping of that id.
        """
        from fairfr.library.state import settled
        from fairfr.methods._overlay import fit_overlay

        data = table.data
        method = self._made()
        view = PairView(table, np.arange(data.n_pairs), method.needs, type(self).__name__)
        method.fit(view, data.same, ctx)
        training = None if method.native_probability else method.predict(view)
        needs_overlay = training is not None and training.probability is None
        self.overlay_ = fit_overlay(method, training.score, data.same) if training and needs_overlay else None
        self.method_ = settled(method)
        self.width_ = None if data.embeddings is None else data.embeddings.vectors.shape[1]
        self.groups_ = (groups or (ctx.grouping,)) if "groups" in self.needs and ctx.grouping is not None else ()
        self.training_ = _counts(data, method.needs, ctx.grouping)
        self.digest_ = data_digest(data)
        self.seed_, self.report_, self.origin_ = ctx.seed, dict(ctx.report), None
        return self

    def _made(self) -> Calibrator:
        """The method itself, unfitted; wrong parameters are named as they are written here."""
        given = {name: v.item() if isinstance(v, np.generic) else v for name, v in self.get_params().items()}
        try:
            made: Calibrator = build(self.method_class, given)
        except ConfigError as error:
            message = str(error.args[0]).replace("method.estimator.", "")
            raise ConfigError(f"{type(self).__name__}: {message}") from None
        return made

    # -- using ---------------------------------------------------------------------------------------------------------

    def probability(self, embeddings: Any, pairs: Any = None, **known: Unpack[Known]) -> F64:
        """The probability that each pair shows one person, (p,). The arguments are as in ``prediction``."""
        return self.prediction(embeddings, pairs, **known)[1]

    def predict_proba(self, embeddings: Any, pairs: Any = None, **known: Unpack[Known]) -> F64:
        """Probabilities of two people and of one, (p, 2): the columns are as in ``classes_``."""
        same = self.prediction(embeddings, pairs, **known)[1]
        return np.column_stack([1 - same, same])

    def decision_function(self, embeddings: Any, pairs: Any = None, **known: Unpack[Known]) -> F64:
        """The method's score of each pair, (p,): any number, higher is more alike."""
        return self.prediction(embeddings, pairs, **known)[0]

    def prediction(
        self,
        embeddings: Any,
        pairs: Any = None,
        *,
        groups: Mapping[str, Names] | None = None,
        identities: Names | None = None,
        threads: int = 1,
    ) -> tuple[F64, F64]:
        """Score and probability of each pair, (p,) and (p,), for the price of one.

        Parameters
        ----------
        embeddings : (n, d)
            One vector for each image, of any length; or a tuple (left, right) of (p, d) each, without ``pairs``.
        pairs : (p, 2)
            Row numbers of each pair's two images.
        groups, identities
            As in ``fit``, where the method needs them. Who or what was not met in training is a stranger; the method's
            card says what becomes of strangers.
        """
        self._check_fitted()
        faces = Faces.of(embeddings, pairs)
        assert faces.vectors is not None
        if self.width_ not in (None, faces.vectors.shape[1]):
            raise DataError(
                f"{type(self).__name__} was fitted on vectors of width {self.width_}, these have "
                f"{faces.vectors.shape[1]}. A calibrator belongs to the network whose vectors it was fitted on."
            )
        return self._predict(faces, groups, identities, threads)

    def probability_scores(self, cosine: Any, *, groups: Mapping[str, Names] | None = None) -> F64:
        """The probability of each pair from its cosine (p,) alone; ``groups`` as in ``fit_scores``."""
        return self.prediction_scores(cosine, groups=groups)[1]

    def prediction_scores(self, cosine: Any, *, groups: Mapping[str, Names] | None = None) -> tuple[F64, F64]:
        """Score and probability of each pair, (p,) and (p,), from its cosine alone."""
        self._check_fitted()
        self._check_scores_suffice("probability(embeddings, pairs)")
        return self._predict(Faces.scored(cosine), groups, None, 1)

    def _predict(
        self, faces: Faces, groups: Mapping[str, Names] | None, identities: Names | None, threads: int
    ) -> tuple[F64, F64]:
        given = chosen_groups(groups, self.groups_, type(self).__name__) if "groups" in self.needs else {}
        labels = Labels.of(faces, given, identities if "identities" in self.needs else None)
        return self.predict_table(PairTable(verification_set(faces, labels, np.zeros(0, dtype=bool)), threads))

    def predict_table(self, table: PairTable) -> tuple[F64, F64]:
        """Score and probability (p,) of all pairs of a table: the way in for data that fairfr itself has read."""
        self._check_fitted()
        p = table.data.n_pairs
        if not p:
            return np.empty(0), np.empty(0)
        view = PairView(table, np.arange(p), self.method_.needs, type(self).__name__)
        found: Prediction = self.method_.predict(view)
        if found.probability is not None:
            return found.score, found.probability
        assert self.overlay_ is not None
        return found.score, self.overlay_.probability(found.score)

    # -- keeping -------------------------------------------------------------------------------------------------------

    def save(self, path: str | Path) -> None:
        """Write the fitted model to one file, to be read by ``fairfr.load``. It holds no code and no pickle."""
        from fairfr.library.file import save

        self._check_fitted()
        save(self, Path(path))

    # -- what scikit-learn asks ----------------------------------------------------------------------------------------

    @property
    def classes_(self) -> Bool:
        """The columns of ``predict_proba``: two people, one person."""
        self._check_fitted()
        return np.array([False, True])

    @property
    def n_features_in_(self) -> int | None:
        """As ``width_``."""
        self._check_fitted()
        return self.width_

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "method_")

    def __sklearn_tags__(self) -> Any:
        from sklearn.utils import ClassifierTags, InputTags, Tags, TargetTags

        return Tags(
            estimator_type="classifier",
            target_tags=TargetTags(required=True),
            classifier_tags=ClassifierTags(multi_class=False),
            input_tags=InputTags(pairwise=False),
        )

    def _check_fitted(self) -> None:
        if not hasattr(self, "method_"):
            from sklearn.exceptions import NotFittedError

            raise NotFittedError(f"this {type(self).__name__} is not fitted yet. Call fit, or fairfr.load a saved one.")

    def _check_scores_suffice(self, instead: str) -> None:
        if "embeddings" in self.needs:
            raise UnmetNeedError(f"{type(self).__name__} needs embeddings, not scores alone. Use {instead}.")


def _check_levels(data: VerificationSet) -> None:
    if data.grouping is None:
        return
    levels = data.groupings[data.grouping].levels
    if not levels:
        raise DataError(f"no image has a known group '{data.grouping}'. Pass the names of those that are known.")
    if len(set(levels)) < len(levels):
        twice = next(level for level in levels if levels.count(level) > 1)
        raise DataError(f"two different groups of {data.grouping} would both be called '{twice}'. Rename one.")


def _counts(data: VerificationSet, needs: frozenset[Need], id: str | None) -> dict[str, Any]:
    """What a model was fitted on, as far as the method saw it."""
    n_same = int(np.count_nonzero(data.same))
    counts: dict[str, Any] = {"pairs": data.n_pairs, "same": n_same, "different": data.n_pairs - n_same}
    if data.embeddings is not None:
        counts["images"] = len(data.images)
    if "identities" in needs:
        counts["identities"] = len(np.unique(data.identity[data.identity >= 0]))
    if "groups" in needs and id is not None:
        grouping = data.groupings[id]
        images = np.bincount(grouping.codes[grouping.codes >= 0], minlength=len(grouping.levels))
        counts["groups"] = {name: int(count) for name, count in zip(grouping.levels, images, strict=True)}
    return counts
