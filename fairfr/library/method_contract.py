"""What every method promises, tried on a small synthetic set: ``fairfr check --method``, and the tests of our methods.

A check is a function of a ``Subject``. Its docstring is the promise. It raises a ``BrokenPromiseError`` that says what
came back and what to change; whatever else the method raises breaks the promise, too.
"""

from __future__ import annotations

import pickle
import tempfile
import warnings
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, is_dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any, get_args

import numpy as np

from fairfr.core.calibrator import Calibrator, FitContext, checked_prediction
from fairfr.core.errors import FairfrWarning, MethodError
from fairfr.core.extras import explain_missing_extra
from fairfr.core.types import F64, I64, Need, Prediction, VerificationSet
from fairfr.library.contract_sets import alone, copied, shuffled, with_sides_exchanged
from fairfr.library.method_state import parameters_of
from fairfr.library.model import Model
from fairfr.numerics.direction import is_reversed
from fairfr.numerics.roc import auroc_of, roc_curve
from fairfr.pairs.table import PairTable
from fairfr.pairs.view import PairView

FOLD = 1
"""The fold that is held out."""
ROUNDING = 1e-5
"""Predictions may differ so much where only sums are made in another order; networks compute in float32."""
REFITTED = 1e-4
"""And so much after a fit that met its pairs in another order."""


class BrokenPromiseError(MethodError):
    """A method does not do what methods promise."""


class NotAskedError(Exception):
    """A promise that this method need not keep; the text says why."""


@dataclass(frozen=True, slots=True)
class Fitted:
    """A method with the table that it was fitted on, and its prediction of the held-out fold."""

    method: Calibrator
    table: PairTable
    test: PairView
    prediction: Prediction


class Subject:
    """A method that is tried.

    Parameters
    ----------
    make : callable
        Returns a new, unfitted method.
    data : VerificationSet
        What it is tried on.
    rounding, refitted : float
        How far predictions may differ, as above.
    """

    def __init__(
        self,
        make: Callable[[], Calibrator],
        data: VerificationSet,
        rounding: float = ROUNDING,
        refitted: float = REFITTED,
    ) -> None:
        self.make = make
        self.data = data
        self.rounding = rounding
        self.refitted = refitted

    @cached_property
    def method(self) -> Calibrator:
        """One that is not fitted."""
        return self.make()

    @cached_property
    def fitted(self) -> Fitted:
        return self.fit(self.data)

    @cached_property
    def model(self) -> Model:
        """The method as a model, fitted on the same pairs in a set of their own."""
        from fairfr.library.method_classes import as_model

        train = alone(self.data, np.flatnonzero(self.data.fold != FOLD))
        model = as_model(type(self.method))(**parameters_of(self.method))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", FairfrWarning)
            return model.fit_table(PairTable(train), self.context(train))

    def of_new_pairs(self, model: Model) -> Prediction:
        """What a model predicts of the held-out pairs, in a set of their own."""
        return Prediction(*model.predict_table(PairTable(alone(self.data, self.held_out))))

    @property
    def name(self) -> str:
        return type(self.method).__name__

    @property
    def held_out(self) -> I64:
        """The held-out rows of the set."""
        return np.flatnonzero(self.data.fold == FOLD)

    def context(self, data: VerificationSet, seed: int = 0) -> FitContext:
        return FitContext(seed, "bfw", "magface", "2", grouping=data.grouping)

    def fit(self, data: VerificationSet, seed: int = 0) -> Fitted:
        """Fit a new method on all folds but one, on a table of its own, and predict that one."""
        method = self.make()
        table = PairTable(data)
        train = np.flatnonzero(data.fold != FOLD)
        test = PairView(table, np.flatnonzero(data.fold == FOLD), method.needs, self.name)
        with explain_missing_extra(self.name):
            method.fit(PairView(table, train, method.needs, self.name), data.same[train], self.context(data, seed))
            return Fitted(method, table, test, self.predict(method, test))

    def predict(self, method: Calibrator, view: PairView) -> Prediction:
        return checked_prediction(method, method.predict(view), view.n_pairs)


# -- the promises ------------------------------------------------------------------------------------------------------


def declares(subject: Subject) -> None:
    """is a dataclass that declares needs and native_probability"""
    cls: type[Any] = type(subject.method)
    if not is_dataclass(cls):
        raise BrokenPromiseError(f"{cls.__name__} is no dataclass. Write @dataclass above the class.")
    for name in ("fit", "predict"):
        if not callable(getattr(cls, name, None)):
            raise BrokenPromiseError(f"{cls.__name__} has no {name}. docs/methods.md has an example of a method.")
    needs = getattr(cls, "needs", None)
    known = get_args(Need)
    if not isinstance(needs, frozenset) or not needs <= set(known):
        listed = ", ".join(repr(need) for need in known)
        raise BrokenPromiseError(
            f"needs is {needs!r}. Declare a frozenset of {listed}: "
            'needs: ClassVar[frozenset[Need]] = frozenset({"embeddings"}).'
        )
    if not isinstance(getattr(cls, "native_probability", None), bool):
        raise BrokenPromiseError("native_probability must be True or False: does predict return a probability?")


def fits(subject: Subject) -> None:
    """fits, sees only what it declares, and returns itself"""
    data = subject.data
    train = np.flatnonzero(data.fold != FOLD)
    method = subject.make()
    before = repr(parameters_of(method))
    view = PairView(PairTable(data), train, method.needs, subject.name)
    with explain_missing_extra(subject.name):
        returned = method.fit(view, data.same[train], subject.context(data))
    if returned is not method:
        raise BrokenPromiseError("fit must return the method itself: end it with 'return self'.")
    after = repr(parameters_of(method))
    if before != after:
        raise BrokenPromiseError(
            f"fit changed the parameters from {before} to {after}. Keep what is learned in attributes that end in '_'."
        )


def predicts(subject: Subject) -> None:
    """predicts a finite number for each pair, and probabilities within 0..1"""
    prediction = subject.fitted.prediction
    assert prediction.score.shape == (subject.fitted.test.n_pairs,)


def ranks(subject: Subject) -> None:
    """gives genuine pairs the higher scores"""
    same = subject.data.same[subject.held_out]
    auroc = auroc_of(roc_curve(same, subject.fitted.prediction.score))
    if is_reversed(auroc, same, len(subject.data.images)):
        raise BrokenPromiseError(
            f"held-out impostors rank above genuine pairs (AUROC {auroc:.3f}). A higher score must mean more similar: "
            "is its sign wrong?"
        )


def repeats(subject: Subject) -> None:
    """gives the same numbers for the same seed"""
    advice = "Draw random numbers with ctx.rng('purpose'), which has a seed."
    _check_alike(subject.fitted.prediction, subject.fit(subject.data).prediction, 0, "a second fit", advice)


def predicts_again(subject: Subject) -> None:
    """gives the same numbers when it predicts once more"""
    again = subject.predict(subject.fitted.method, subject.fitted.test)
    advice = "predict must not change the method, nor draw without a seed."
    _check_alike(subject.fitted.prediction, again, 0, "a second call of predict", advice)


def ignores_other_pairs(subject: Subject) -> None:
    """predicts a pair by itself, whatever other pairs are there"""
    n = subject.fitted.test.n_pairs
    advice = "Take no ranks, means or other values over the pairs that are predicted, and no values by position."
    for share in (0.5, 0.01):
        index = np.sort(np.random.default_rng(1).choice(n, max(1, int(share * n)), replace=False))
        found = subject.predict(subject.fitted.method, subject.fitted.test.subset(index))
        whole = _taken(subject.fitted.prediction, index)
        _check_alike(whole, found, subject.rounding, f"{len(index):,} of {n:,} pairs alone", advice)


def ignores_the_order(subject: Subject) -> None:
    """gives the same numbers for images and pairs in any order"""
    other, rows = shuffled(subject.data, 4)
    place = np.argsort(rows[other.fold == FOLD])
    found = _taken(subject.fit(other).prediction, place)
    advice = "Draw over view.order_by_id() and the sorted view.images(); take no labels or other values by position."
    _check_alike(subject.fitted.prediction, found, subject.refitted, "other orders of images and pairs", advice)


def is_symmetric(subject: Subject) -> None:
    """gives the same numbers with left and right exchanged"""
    if not getattr(subject.method, "symmetric", True):
        raise NotAskedError("it declares symmetric = False")
    found = subject.fit(with_sides_exchanged(subject.data)).prediction
    advice = "If it matters which image is the left one, declare symmetric: ClassVar[bool] = False."
    _check_alike(subject.fitted.prediction, found, subject.refitted, "left and right exchanged", advice)


def needs_what_it_declares(subject: Subject) -> None:
    """uses no groups, identities or embeddings that it does not declare"""
    rng = np.random.default_rng(3)
    data = subject.data
    others = data
    if "groups" not in subject.method.needs:
        codes = {id: rng.permutation(grouping.codes) for id, grouping in data.groupings.items()}
        others = replace(others, groupings={id: replace(data.groupings[id], codes=codes[id]) for id in codes})
    if "identities" not in subject.method.needs:
        others = replace(others, identity=rng.permutation(data.identity))
    if "embeddings" not in subject.method.needs:
        others = replace(others, embeddings=None, cosine=subject.fitted.table.cosine)
    if others is data:
        raise NotAskedError("it declares everything")
    advice = "List in needs what it uses."
    found = subject.fit(others).prediction
    _check_alike(subject.fitted.prediction, found, 0, "other values of what needs does not list", advice)


def sees_no_labels(subject: Subject) -> None:
    """does not see the labels of the pairs that it predicts"""
    turned = subject.data.same.copy()
    turned[subject.held_out] = ~turned[subject.held_out]
    found = subject.fit(replace(subject.data, same=turned)).prediction
    advice = "fit gets the labels of its training pairs, and no other labels count."
    _check_alike(subject.fitted.prediction, found, 0, "other labels of the held-out pairs", advice)


def leaves_inputs(subject: Subject) -> None:
    """does not change what it is handed"""
    ours = copied(subject.data)
    table = subject.fit(ours).table
    before = dict(_arrays(subject.data, PairTable(subject.data)))
    for name, after in _arrays(ours, table):
        if not np.array_equal(before[name], after):
            raise BrokenPromiseError(f"it changed the {name} that it was handed. Work on a copy: values.copy().")


def leaves_its_table(subject: Subject) -> None:
    """predicts pairs of another set as those of the set it was fitted on"""
    other = alone(subject.data, subject.held_out)
    view = PairView(PairTable(other), np.arange(other.n_pairs), subject.method.needs, subject.name)
    found = subject.predict(subject.fitted.method, view)
    advice = "Keep vectors and names of groups or people, never their row numbers or codes: these are of one set."
    _check_alike(subject.fitted.prediction, found, subject.rounding, "the same pairs in a set of their own", advice)


def fits_beside_others(subject: Subject) -> None:
    """gives the same numbers while another one is fitted in another thread"""
    subject.fit(subject.data)  # what it imports is there
    with ThreadPoolExecutor(2) as pool:
        first, _, third = pool.map(lambda seed: subject.fit(subject.data, seed), (0, 1, 0))
    advice = "Keep nothing in the class or the module, and seed no global generator."
    for beside in (first, third):
        _check_alike(subject.fitted.prediction, beside.prediction, 0, "another fit in another thread", advice)


def is_saved(subject: Subject) -> None:
    """is saved to a file and loaded as it was"""
    from fairfr.library.model_file import load

    _check_names_of_state(subject)
    with warnings.catch_warnings(), tempfile.TemporaryDirectory() as folder:
        warnings.simplefilter("ignore", FairfrWarning)
        path = Path(folder) / "model.fairfr"
        subject.model.save(path, with_face_vectors=True)
        again = load(path, method=type(subject.method))
        advice = "Keep all that predict needs in attributes that end in '_': numbers, texts and arrays."
        _check_alike(subject.of_new_pairs(subject.model), subject.of_new_pairs(again), 0, "saving and loading", advice)


def is_pickled(subject: Subject) -> None:
    """is pickled as a model and comes back as it was"""
    _check_names_of_state(subject)
    try:
        again = pickle.loads(pickle.dumps(subject.model))
    except (pickle.PicklingError, TypeError, AttributeError) as error:
        raise BrokenPromiseError(
            f"it cannot be pickled ({error}). Keep functions, generators and open files out of its attributes, and the "
            "class at the top of its module, where nothing else has its name."
        ) from error
    advice = "Keep all that predict needs in attributes that end in '_'."
    _check_alike(subject.of_new_pairs(subject.model), subject.of_new_pairs(again), 0, "a pickle", advice)


BASICS: tuple[Callable[[Subject], None], ...] = (declares, fits, predicts)
"""Where one of them is broken, the others cannot be tried."""
CHECKS = (
    *BASICS,
    ranks,
    repeats,
    predicts_again,
    ignores_other_pairs,
    ignores_the_order,
    is_symmetric,
    needs_what_it_declares,
    sees_no_labels,
    leaves_inputs,
    leaves_its_table,
    fits_beside_others,
    is_saved,
    is_pickled,
)


def _check_names_of_state(subject: Subject) -> None:
    """Attributes that are no parameters, do not end in ``_`` and are needed to predict are in no file."""
    learned = set(vars(subject.fitted.method)) - set(parameters_of(subject.method))
    unsaved = sorted(name for name in learned if not name.endswith("_") and not name.startswith("_"))
    if not unsaved:
        return
    try:
        subject.of_new_pairs(subject.model)
    except Exception as error:
        renamed = ", ".join(f"{name}_" for name in unsaved)
        raise BrokenPromiseError(
            f"it cannot predict without {', '.join(unsaved)}, which is not saved, as only attributes that end in '_' "
            f"are: {renamed}."
        ) from error


def _taken(prediction: Prediction, index: I64) -> Prediction:
    if prediction.probability is None:
        return Prediction(prediction.score[index])
    return Prediction(prediction.score[index], prediction.probability[index])


def _check_alike(before: Prediction, after: Prediction, within: float, when: str, advice: str) -> None:
    """BrokenPromiseError where scores or probabilities differ by more than ``within``, in parts of 1 and of a score."""
    if (before.probability is None) != (after.probability is None):
        raise BrokenPromiseError(f"predict returns a probability in one case and none in another: with {when}.")
    values: list[tuple[str, F64, F64]] = [("score", before.score, after.score)]
    if before.probability is not None and after.probability is not None:
        values.append(("probability", before.probability, after.probability))
    for what, one, two in values:
        differs = ~np.isclose(two, one, rtol=within, atol=within)
        if differs.any():
            pair = int(np.argmax(differs))
            raise BrokenPromiseError(
                f"with {when}, {int(np.count_nonzero(differs)):,} of {len(one):,} pairs get another {what} (pair "
                f"{pair}: {one[pair]:.6g} became {two[pair]:.6g}). {advice}"
            )


def _arrays(data: VerificationSet, table: PairTable) -> Iterator[tuple[str, np.ndarray]]:
    assert data.embeddings is not None
    yield "vectors", data.embeddings.vectors
    yield "cosines", table.cosine
    yield "identities", data.identity
    yield "labels", data.same
    yield "left images", data.pairs.left
    yield "right images", data.pairs.right
    for id, grouping in data.groupings.items():
        yield f"groups '{id}'", grouping.codes
