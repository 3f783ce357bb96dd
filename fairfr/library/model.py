"""A method as an object of its own: fitted on arrays, used on new pairs, saved to a file. In scikit-learn's habits."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Mapping
from dataclasses import MISSING, fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Self, TypedDict, Unpack

import numpy as np
from numpy.typing import ArrayLike

from fairfr.core.calibrator import Calibrator, FitContext, checked_prediction
from fairfr.core.config import from_mapping
from fairfr.core.errors import ConfigError, DataError, FairfrWarning, UnmetNeedError, did_you_mean
from fairfr.core.extras import explain_missing_extra
from fairfr.core.types import F32, F64, UNKNOWN, Bool, Need, VerificationSet
from fairfr.library import arrays, face_vectors
from fairfr.library.given_pairs import (
    check_direction,
    check_training_pairs,
    warn_of_new_groups,
    warn_of_small_groups,
)
from fairfr.library.image_pairs import (
    ImageLabels,
    ImagePairs,
    PerImage,
    Vectors,
    data_digest,
    ids_from_vectors,
    merge_duplicates,
    select_groups,
    to_verification_set,
    unit_vectors,
)
from fairfr.library.out_of_distribution import Unlike
from fairfr.library.prior import check_prior, log_likelihood_ratio, with_prior
from fairfr.library.threshold import On, chosen
from fairfr.pairs.table import PairTable
from fairfr.pairs.view import PairView

if TYPE_CHECKING:
    from fairfr.numerics.beta import BetaMap

NO_IDENTITIES = (
    "fitted without identities: images are of one person only where genuine training pairs connect them, so that a "
    "person may be taken for several, and for a stranger to him- or herself"
)


class PredictOptions(TypedDict, total=False):
    """What may be known of the images of new pairs, and how many threads may work on them."""

    groups: Mapping[str, PerImage] | None
    identities: PerImage | None
    threads: int


class Model:
    """A method of fairfr, fitted and used on your own pairs.

    ``fairfr.Beta``, ``fairfr.ACLinear`` and all other methods are such classes. Parameters are stored as given and
    checked by ``fit``.

    Attributes
    ----------
    method_
        What the method learned.
    overlay_
        The map that makes its score a probability; None if the method has a probability of its own.
    width_
        Length of the vectors; None if it was fitted on scores.
    groups_
        Ids of the groups it was fitted with.
    training_
        Counts of the training data.
    digest_
        A digest of the training data.
    holds_
        ``face_vectors``: how many training vectors are in the fitted model, as rows or in midpoints of training pairs.
        These are biometric data.
    seed_
        The random seed of the fit.
    report_
        What the fit did.
    origin_
        Where the model comes from, as plain JSON. ``fairfr calibrate fit`` notes the run that held pairs out; None if
        nothing was noted.
    score_range_
        Lowest and highest possible score, if it was fitted on scores that are not cosines; otherwise None.
    thresholds_
        Thresholds with their rates that ``fairfr calibrate threshold --keep`` wrote into the model's file.
    unlike_training_
        Of the images that were last predicted: how many are ``unlike`` those of training, out of how many
        (``images``). None where the method cannot tell.
    """

    method_class: ClassVar[type[Any]]
    needs: ClassVar[frozenset[Need]] = frozenset()

    method_: Calibrator
    overlay_: BetaMap | None
    width_: int | None
    groups_: tuple[str, ...]
    training_: dict[str, Any]
    digest_: str
    holds_: dict[str, int]
    seed_: int
    report_: dict[str, Any]
    origin_: dict[str, Any] | None = None
    score_range_: tuple[float, float] | None = None
    thresholds_: tuple[dict[str, Any], ...] = ()
    unlike_training_: Unlike | None = None

    @property
    def asks_for_people(self) -> bool:
        """Whether it uses the identities of new images, not only those of training."""
        needs: frozenset[Need] = getattr(self.method_class, "needs_to_predict", self.needs)
        return "identities" in needs

    def __reduce__(self) -> Any:
        """Pickles name the method's class: a class that ``as_model`` made is under no name of its own."""
        return _unfitted, (self.method_class,), dict(self.__dict__)

    # -- parameters ----------------------------------------------------------------------------------------------------

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Every parameter by its name.

        Parameters
        ----------
        deep : bool
            Ignored: no parameter is an estimator itself.

        Returns
        -------
        dict
            Names and values.
        """
        return {field.name: getattr(self, field.name) for field in fields(self.method_class)}

    def set_params(self, **parameters: Any) -> Self:
        """Change parameters; they count from the next ``fit`` on.

        Parameters
        ----------
        **parameters
            Names of the method's parameters, with their new values.
        """
        known = self.get_params()
        for name, value in parameters.items():
            if name not in known:
                raise ValueError(unknown_parameter(type(self).__name__, name, known))
            setattr(self, name, value)
        return self

    def __repr__(self) -> str:
        default = {f.name: f.default for f in fields(self.method_class) if f.default is not MISSING}
        changed = {k: v for k, v in self.get_params().items() if k not in default or repr(v) != repr(default[k])}
        return f"{type(self).__name__}({', '.join(f'{name}={value!r}' for name, value in changed.items())})"

    # -- fitting -------------------------------------------------------------------------------------------------------

    def fit(
        self,
        embeddings: Vectors,
        pairs: ArrayLike | None,
        same: ArrayLike | None = None,
        *,
        groups: Mapping[str, PerImage] | None = None,
        identities: PerImage | None = None,
        cohort: ArrayLike | None = None,
        seed: int = 0,
        threads: int = 1,
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
        cohort : (m, d), optional
            Vectors of other, unlabelled images of the same network, for methods that take them.
        seed : int
            Random seed, for methods that draw random numbers.
        threads : int
            Number of threads to use.
        """
        if same is None:
            raise DataError(self._without_labels())
        faces = ImagePairs.of(embeddings, pairs)
        strangers = self._checked_cohort(cohort)
        truth = arrays.check_labels(same, len(faces.pairs))
        given = select_groups(groups, None, type(self).__name__) if "groups" in self.needs else {}
        labels = ImageLabels.of(faces, given, identities if "identities" in self.needs else None)
        faces, labels, ids = merge_duplicates(faces, labels, ids_from_vectors(faces))
        data = to_verification_set(faces, labels, truth, ids)
        check_training_pairs(data)
        warn_of_small_groups(data)
        return self._fit(data, tuple(given), seed, threads, cohort=strangers)

    def fit_scores(
        self,
        cosine: ArrayLike,
        same: ArrayLike,
        *,
        groups: Mapping[str, PerImage] | None = None,
        score_range: tuple[float, float] | None = None,
        seed: int = 0,
    ) -> Self:
        """Learn from cosines (p,) and labels (p,) alone, where the method needs no embeddings.

        Parameters
        ----------
        cosine : (p,)
            Cosines of the pairs, or other scores that are higher for more similar images, if ``score_range`` is given.
        same : (p,)
            Whether a pair shows one person.
        groups : mapping, optional
            An id to (left, right), the names (p,) of the left and of the right images, or to names (p,) that hold for
            both.
        score_range : (low, high), optional
            The lowest and the highest possible score, such as (0, 100). Scores are mapped linearly to -1..1, here and
            whenever the model is used; the saved file has it too.
        seed : int
            Random seed, for methods that draw random numbers.
        """
        self._check_scores_suffice("fit(embeddings, pairs, same)")
        scale = arrays.check_score_range(score_range)
        faces = ImagePairs.scored(cosine, scale)
        truth = arrays.check_labels(same, len(faces.pairs))
        given = select_groups(groups, None, type(self).__name__) if "groups" in self.needs else {}
        data = to_verification_set(faces, ImageLabels.of(faces, given, None), truth, ids_from_vectors(faces))
        return self._fit(data, tuple(given), seed, 1, scale)

    def _fit(
        self,
        data: VerificationSet,
        groups: tuple[str, ...],
        seed: int,
        threads: int,
        score_range: arrays.ScoreRange | None = None,
        cohort: F32 | None = None,
    ) -> Self:
        _check_levels(data)
        ctx = FitContext(seed, data.id, data.backbone, "all", threads, grouping=data.grouping, cohort=cohort)
        return self.fit_table(PairTable(data, threads), ctx, groups, score_range)

    def fit_table(
        self,
        table: PairTable,
        ctx: FitContext,
        groups: tuple[str, ...] = (),
        score_range: arrays.ScoreRange | None = None,
    ) -> Self:
        """Learn from all pairs of a table: the way in for data that fairfr itself has read.

        ``groups`` are the ids whose product ``ctx.grouping`` is; none: it is one grouping of that id. ``score_range``
        is that of the scores which the table's cosines were made of.
        """
        from fairfr.library.method_state import detached_copy
        from fairfr.numerics.beta import fit_overlay

        data = table.data
        check_direction(table, score_range)
        digest = data_digest(data)
        ctx = replace(ctx, salt=digest)
        method = self.new_method()
        view = PairView(table, np.arange(data.n_pairs), method.needs, type(self).__name__)
        with explain_missing_extra(type(self).__name__):
            method.fit(view, data.same, ctx)
        self.overlay_ = None
        if not method.native_probability:
            training = checked_prediction(method, method.predict(view), data.n_pairs)
            if training.probability is None:
                self.overlay_ = fit_overlay(method, training.score, data.same)
        self.method_ = detached_copy(method)
        self.width_ = None if data.embeddings is None else data.embeddings.vectors.shape[1]
        self.groups_ = (groups or (ctx.grouping,)) if "groups" in self.needs and ctx.grouping is not None else ()
        self.training_ = _counts(data, method.needs, ctx.grouping)
        self.digest_ = digest
        self.seed_, self.report_ = ctx.seed, dict(ctx.report)
        if "identities" in self.needs and (data.identity == UNKNOWN).all():
            self.report_["note"] = NO_IDENTITIES
        self.origin_, self.thresholds_ = None, ()
        self.holds_ = self._counted(data, ctx.cohort)
        self.score_range_ = score_range
        return self

    def _checked_cohort(self, cohort: ArrayLike | None) -> F32 | None:
        """Vectors of other images at length 1; ConfigError for a method that takes none."""
        if cohort is None:
            return None
        if "cohort" not in self.get_params():
            raise ConfigError(f"{type(self).__name__} takes no cohort. Leave cohort= out, or use ACCohort.")
        return unit_vectors(arrays.check_matrix(cohort, "cohort"), "cohort")

    def _counted(self, data: VerificationSet, cohort: F32 | None = None) -> dict[str, int]:
        """What is in the fitted arrays that should not leave the house unnoticed."""
        from fairfr.core.serialization import encode
        from fairfr.library.method_state import encode_method

        if data.embeddings is None:
            return {face_vectors.KEY: 0}
        try:
            _, arrays = encode_method(self.method_)
            encode(self.report_, arrays, "report")
        except DataError:  # it cannot be saved, and save will say why
            return {face_vectors.KEY: 0}
        vectors = data.embeddings.vectors if cohort is None else np.concatenate([data.embeddings.vectors, cohort])
        return {face_vectors.KEY: face_vectors.count_face_vectors(arrays.values(), vectors, data.pairs)}

    def new_method(self) -> Calibrator:
        """The method itself with these parameters, unfitted; ConfigError for a wrong one.

        Returns
        -------
        Calibrator
            An object of ``method_class``.
        """
        given = {name: v.item() if isinstance(v, np.generic) else v for name, v in self.get_params().items()}
        try:
            made: Calibrator = from_mapping(self.method_class, given)
        except ConfigError as error:
            message = str(error.args[0]).replace("method.estimator.", "")
            raise ConfigError(f"{type(self).__name__}: {message}") from None
        return made

    # -- using ---------------------------------------------------------------------------------------------------------

    def probability(
        self,
        embeddings: Vectors,
        pairs: ArrayLike | None = None,
        *,
        prior: float | None = None,
        **known: Unpack[PredictOptions],
    ) -> F64:
        """The probability that each pair shows one person.

        Parameters
        ----------
        embeddings, pairs
            As in ``prediction``.
        prior : float, optional
            The share of genuine pairs among those that are compared, if it is not that of training: 0.001 where one
            comparison in a thousand is of one person. The order of pairs stays, and so do probabilities of 0 and 1.
        **known
            ``groups``, ``identities`` and ``threads``, as in ``prediction``.

        Returns
        -------
        (p,)
            Between 0 and 1.
        """
        return self.probability_at(self.prediction(embeddings, pairs, **known)[1], prior)

    def predict_proba(
        self,
        embeddings: Vectors,
        pairs: ArrayLike | None = None,
        *,
        prior: float | None = None,
        **known: Unpack[PredictOptions],
    ) -> F64:
        """Probabilities of two people and of one, as scikit-learn has them.

        Parameters
        ----------
        embeddings, pairs
            As in ``prediction``.
        prior : float, optional
            As in ``probability``.
        **known
            ``groups``, ``identities`` and ``threads``, as in ``prediction``.

        Returns
        -------
        (p, 2)
            The columns are as in ``classes_``.
        """
        same = self.probability(embeddings, pairs, prior=prior, **known)
        return np.column_stack([1 - same, same])

    def predict(
        self,
        embeddings: Vectors,
        pairs: ArrayLike | None = None,
        threshold: float = 0.5,
        *,
        prior: float | None = None,
        **known: Unpack[PredictOptions],
    ) -> Bool:
        """Whether each pair is taken for one person: its probability reaches the threshold.

        Parameters
        ----------
        embeddings, pairs
            As in ``prediction``.
        threshold : float
            The lowest probability that is accepted. One half makes the fewest errors in all where the prior is right; a
            false match rate asks for another one (``fairfr calibrate threshold``).
        prior : float, optional
            As in ``probability``.
        **known
            ``groups``, ``identities`` and ``threads``, as in ``prediction``.

        Returns
        -------
        (p,) bool
            True: one person.
        """
        accepted: Bool = self.probability(embeddings, pairs, prior=prior, **known) >= threshold
        return accepted

    def llr(self, embeddings: Vectors, pairs: ArrayLike | None = None, **known: Unpack[PredictOptions]) -> F64:
        """The natural logarithm of each pair's likelihood ratio: how much more often one person looks like that.

        It depends on no prior.

        Parameters
        ----------
        embeddings, pairs
            As in ``prediction``.
        **known
            ``groups``, ``identities`` and ``threads``, as in ``prediction``.

        Returns
        -------
        (p,)
            Within -log(same + 1) and log(different + 1), the numbers of training pairs.
        """
        return self.llr_of(self.prediction(embeddings, pairs, **known)[1])

    def decision_function(
        self, embeddings: Vectors, pairs: ArrayLike | None = None, **known: Unpack[PredictOptions]
    ) -> F64:
        """The method's score of each pair, which need not be a probability.

        Parameters
        ----------
        embeddings, pairs
            As in ``prediction``.
        **known
            ``groups``, ``identities`` and ``threads``, as in ``prediction``.

        Returns
        -------
        (p,)
            Any numbers; higher means more similar.
        """
        return self.prediction(embeddings, pairs, **known)[0]

    def prediction(
        self,
        embeddings: Vectors,
        pairs: ArrayLike | None = None,
        *,
        groups: Mapping[str, PerImage] | None = None,
        identities: PerImage | None = None,
        threads: int = 1,
    ) -> tuple[F64, F64]:
        """Score and probability of each pair, for the price of one.

        Parameters
        ----------
        embeddings : (n, d)
            One vector for each image, of any length; or a tuple (left, right) of (p, d) each, without ``pairs``; or one
            vector (d,), and the other one in the place of ``pairs``.
        pairs : (p, 2)
            Row numbers of each pair's two images.
        groups, identities
            As in ``fit``, where the method needs them. People and groups that were not in training are strangers; the
            method's card says what becomes of strangers.
        threads : int
            Number of threads to use.

        Returns
        -------
        (p,), (p,)
            Scores and probabilities.
        """
        self._check_fitted()
        faces = ImagePairs.of(embeddings, pairs)
        assert faces.vectors is not None
        if self.width_ not in (None, faces.vectors.shape[1]):
            raise DataError(
                f"{type(self).__name__} was fitted on vectors of width {self.width_}, these have "
                f"{faces.vectors.shape[1]}. A calibrator belongs to the network whose vectors it was fitted on."
            )
        return self._predict(faces, groups, identities, threads)

    def probability_scores(
        self, cosine: ArrayLike, *, groups: Mapping[str, PerImage] | None = None, prior: float | None = None
    ) -> F64:
        """The probability that each pair shows one person, from its cosine alone.

        Parameters
        ----------
        cosine : (p,)
            As in ``fit_scores``.
        groups : mapping, optional
            As in ``fit_scores``, where the method needs them.
        prior : float, optional
            As in ``probability``.

        Returns
        -------
        (p,)
            Between 0 and 1.
        """
        return self.probability_at(self.prediction_scores(cosine, groups=groups)[1], prior)

    def llr_scores(self, cosine: ArrayLike, *, groups: Mapping[str, PerImage] | None = None) -> F64:
        """As ``llr``, from the cosine of each pair alone.

        Parameters
        ----------
        cosine : (p,)
            As in ``fit_scores``.
        groups : mapping, optional
            As in ``fit_scores``, where the method needs them.

        Returns
        -------
        (p,)
            Log likelihood ratios.
        """
        return self.llr_of(self.prediction_scores(cosine, groups=groups)[1])

    def prediction_scores(self, cosine: ArrayLike, *, groups: Mapping[str, PerImage] | None = None) -> tuple[F64, F64]:
        """Score and probability of each pair, from its cosine alone.

        Parameters
        ----------
        cosine : (p,)
            As in ``fit_scores``.
        groups : mapping, optional
            As in ``fit_scores``, where the method needs them.

        Returns
        -------
        (p,), (p,)
            Scores and probabilities.
        """
        self._check_fitted()
        self._check_scores_suffice("probability(embeddings, pairs)")
        return self._predict(ImagePairs.scored(cosine, self.score_range_), groups, None, 1)

    def _predict(
        self, faces: ImagePairs, groups: Mapping[str, PerImage] | None, identities: PerImage | None, threads: int
    ) -> tuple[F64, F64]:
        given = select_groups(groups, self.groups_, type(self).__name__) if "groups" in self.needs else {}
        labels = ImageLabels.of(faces, given, identities if self.asks_for_people else None)
        data = to_verification_set(faces, labels, np.zeros(0, dtype=bool))
        warn_of_new_groups(data, self.training_.get("groups", ()), type(self).__name__)
        found = self.predict_table(PairTable(data, threads))
        if self.unlike_training_ is not None and self.unlike_training_.is_too_many:
            warnings.warn(self.unlike_training_.warning(type(self).__name__), FairfrWarning, stacklevel=4)
        return found

    def predict_table(self, table: PairTable) -> tuple[F64, F64]:
        """Score and probability (p,) of all pairs of a table: the way in for data that fairfr itself has read."""
        self._check_fitted()
        if self.score_range_ is not None and table.data.embeddings is not None:
            low, high = self.score_range_
            raise DataError(
                f"{type(self).__name__} was fitted on scores within {low:g}..{high:g}, not on the cosines of vectors. "
                "Use probability_scores(scores)."
            )
        p = table.data.n_pairs
        if not p:
            return np.empty(0), np.empty(0)
        view = PairView(table, np.arange(p), self.method_.needs, type(self).__name__)
        found = checked_prediction(self.method_, self.method_.predict(view), p)
        if hasattr(self.method_, "unlike_training"):
            self.unlike_training_ = Unlike(*self.method_.unlike_training())
        if found.probability is not None:
            return found.score, found.probability
        assert self.overlay_ is not None
        return found.score, self.overlay_.probability(found.score)

    # -- other priors --------------------------------------------------------------------------------------------------

    def probability_at(self, probability: F64, prior: float | None) -> F64:
        """Probabilities of this model, moved to another share of genuine pairs.

        Parameters
        ----------
        probability : (p,)
            As the model gives them at the share of training.
        prior : float or None
            As in ``probability``; None leaves them as they are.

        Returns
        -------
        (p,)
            Between 0 and 1.
        """
        if prior is None:
            return probability
        check_prior(prior)
        return with_prior(probability, self.training_["same"] / self.training_["pairs"], float(prior))

    def llr_of(self, probability: F64) -> F64:
        """The log likelihood ratios behind probabilities of this model.

        Parameters
        ----------
        probability : (p,)
            As the model gives them at the share of training.

        Returns
        -------
        (p,)
            As ``llr`` gives them.
        """
        return log_likelihood_ratio(probability, self.training_["same"], self.training_["different"])

    def threshold(self, fmr: float, *, confident: bool = True, on: On = "probability") -> float:
        """The threshold for a wanted false match rate that is kept in the model's file; accept from it upwards.

        ``fairfr calibrate threshold --model FILE --fmr 1e-3 --keep`` finds it on held-out pairs and writes it there.

        Parameters
        ----------
        fmr : float
            The wanted false match rate, such as 1e-3.
        confident : bool
            The threshold that keeps the rate with the confidence that was asked for (95 % by default); without, the
            one that has the rate on the held-out pairs, which new pairs may well exceed.
        on : "probability" or "score"
            What is compared with it.

        Returns
        -------
        float
            DataError where none is kept; it says how to find one.
        """
        self._check_fitted()
        return chosen(self.thresholds_, fmr, on, confident)

    # -- keeping -------------------------------------------------------------------------------------------------------

    def save(self, path: str | Path, *, with_face_vectors: bool = False, with_faces: bool = False) -> None:
        """Write the fitted model to one file, to be read by ``fairfr.load``. It contains no code and no pickle.

        Parameters
        ----------
        path : str or Path
            Of the file. Its folder must exist.
        with_face_vectors : bool
            True says that you know of the face vectors in it (``holds_``); without, a warning names them.
        with_faces : bool
            An older name of the same.
        """
        from fairfr.library.model_file import save

        self._check_fitted()
        if self.holds_[face_vectors.KEY] and not (with_face_vectors or with_faces):
            warnings.warn(
                f"{path} has {face_vectors.holds_text(self.holds_)}. If that is known and wanted, say "
                "save(path, with_face_vectors=True).",
                FairfrWarning,
                stacklevel=2,
            )
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

    def _without_labels(self) -> str:
        """What to say where ``fit`` got two arrays, as scikit-learn passes them."""
        name = type(self).__name__
        if "embeddings" in self.needs:
            return (
                f"{name}.fit takes embeddings, pairs and same, found two of them. For tools of scikit-learn: "
                f"fairfr.PairClassifier(fairfr.{name}(), embeddings)."
            )
        return (
            f"{name}.fit takes embeddings, pairs and same, found two of them. With cosines alone: "
            f"{name}().fit_scores(cosine, same). For tools of scikit-learn: fairfr.PairClassifier(fairfr.{name}())."
        )

    def _check_scores_suffice(self, instead: str) -> None:
        if "embeddings" in self.needs:
            raise UnmetNeedError(f"{type(self).__name__} needs embeddings, not scores alone. Use {instead}.")


def _unfitted(method: type[Any]) -> Model:
    """What a pickle is filled into."""
    from fairfr.library.method_classes import as_model

    cls = as_model(method)
    return cls.__new__(cls)


def unknown_parameter(method: str, name: str, known: Iterable[str]) -> str:
    """What to say of a parameter that a method does not have."""
    if not list(known):
        return f"{method} has no parameter '{name}': it takes none."
    return f"{method} has no parameter '{name}'.{did_you_mean(name, known)}"


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
