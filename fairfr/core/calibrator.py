"""The contract between the runner and a method."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Protocol, Self, runtime_checkable

import numpy as np

from fairfr.core.errors import MethodError
from fairfr.core.near_misses import must_be_called
from fairfr.core.types import F32, F64, Bool, Need, Prediction

if TYPE_CHECKING:
    from fairfr.pairs.view import PairView

SEED_BYTES = 4  # of fits: some libraries take no larger seed


def seed_for(*about: object, size: int) -> int:
    """A number below 256**size for what ``about`` names: the same in any order of runs, another for any other name."""
    text = "\x1f".join(map(str, about))
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:size], "little")


def rng_for(*about: object, size: int = 8) -> np.random.Generator:
    """A generator for what ``about`` names, seeded by ``size`` bytes."""
    return np.random.default_rng(seed_for(*about, size=size))


@dataclass(frozen=True, slots=True)
class FitContext:
    """What a fit may know besides its training pairs.

    Randomness is named by purpose and seeded from (seed, dataset, backbone, fold, purpose), not from the
    method: two methods that cluster the same images get the same clusters, and run order changes nothing.

    Parameters
    ----------
    seed : int
    dataset, backbone, fold : str
        What the fit is for; they go into seeds.
    threads : int, default 1
        Threads that the fit may use.
    grouping : str or None
        The id of the grouping that group-aware methods use.
    cache : Path or None
        A folder for expensive intermediates named by their content; None: do without.
    salt : str
        Goes into the hashes by which a fitted method knows people again: their names are in no file.
    cohort : ndarray of float32, shape (m, d), or None
        Unit vectors of unlabelled images beside the pairs, for methods that take them.
    report : dict
        Collects what a fit did (iterations, fall-backs); it ends up in result.json.
    """

    seed: int
    dataset: str
    backbone: str
    fold: str
    threads: int = 1
    grouping: str | None = None
    cache: Path | None = None
    salt: str = ""
    cohort: F32 | None = None
    report: dict[str, Any] = field(default_factory=dict)

    def seed_for(self, purpose: str) -> int:
        """A 32-bit seed for libraries that take a number."""
        return seed_for(*self._about(purpose), size=SEED_BYTES)

    @must_be_called("ctx.rng('purpose')")
    def rng(self, purpose: str) -> np.random.Generator:
        return rng_for(*self._about(purpose), size=SEED_BYTES)

    def _about(self, purpose: str) -> tuple[object, ...]:
        return self.seed, self.dataset, self.backbone, self.fold, purpose


@runtime_checkable
class Calibrator(Protocol):
    """A method. Hyper-parameters are constructor fields; fitted state ends in ``_``.

    Attributes
    ----------
    needs : frozenset of {"embeddings", "groups", "identities"}
        What it reads besides scores and labels; its views show nothing else.
    native_probability : bool
        Whether it gives a probability of its own. Else the runner fits a beta map on its training scores.
    score_range : tuple of float or None, optional
        Without a probability of its own: the range of its scores over which that map is fitted (-1..1 by default;
        None: the training scores' minimum and maximum).
    imports : sequence of str, optional
        Modules that fit and predict import when they are called: the runner imports them before any thread starts.
    needs_to_predict : frozenset, optional
        For methods that need less of new pairs than of training pairs.
    unlike_training : callable, optional
        Of a method that can tell images unlike those of training: how many of those it last predicted, and of how
        many.
    """

    needs: ClassVar[frozenset[Need]]
    native_probability: ClassVar[bool]

    def fit(self, view: PairView, same: Bool, ctx: FitContext) -> Self:
        """Learn from training pairs.

        Parameters
        ----------
        view : PairView
            The p training pairs, as far as ``needs`` declares them.
        same : ndarray of bool, shape (p,)
            Whether a pair shows one person.
        ctx : FitContext

        Returns
        -------
        Calibrator
            The method itself.
        """
        ...

    def predict(self, view: PairView) -> Prediction:
        """Score pairs. No labels are passed, so none can leak.

        Parameters
        ----------
        view : PairView
            p pairs, which need not be of the table that was fitted on.

        Returns
        -------
        Prediction
            Scores (p,) and, with a probability of its own, probabilities (p,).
        """
        ...


def checked_prediction(method: Calibrator, found: object, n_pairs: int) -> Prediction:
    """What ``predict`` returned for ``n_pairs`` pairs, as float64; MethodError, with what to change, if unusable."""
    who = f"{type(method).__name__}.predict"
    if not isinstance(found, Prediction):
        raise MethodError(
            f"{who} returned {_kind(found)}. Return a Prediction: Prediction(score=..., probability=...), from "
            "fairfr.core.types."
        )
    score = _checked_values(who, "score", found.score, n_pairs)
    if found.probability is None:
        if method.native_probability:
            raise MethodError(
                f"{who} returned no probability, although {type(method).__name__} declares native_probability = True. "
                "Return one, or declare False: then a beta map makes one of the score."
            )
        return Prediction(score)
    probability = _checked_values(who, "probability", found.probability, n_pairs)
    outside = (probability < 0) | (probability > 1)
    if outside.any():
        first = int(np.argmax(outside))
        raise MethodError(
            f"{who} returned {int(np.count_nonzero(outside)):,} probabilities outside [0, 1] (pair {first}: "
            f"{probability[first]:g}). A value that is no probability is a score: Prediction(score=...)."
        )
    return Prediction(score, probability)


def _checked_values(who: str, what: str, values: object, n_pairs: int) -> F64:
    if not isinstance(values, np.ndarray) or values.dtype.kind not in "fiub":
        raise MethodError(
            f"{who} returned {_kind(values)} as {what}. Return an array of numbers, one for each pair: "
            "np.asarray(values, dtype=np.float64)."
        )
    if values.shape != (n_pairs,):
        raise MethodError(
            f"{who} returned {what} values of shape {values.shape} for {n_pairs:,} pairs. Return one for each pair of "
            f"the view, in its order: shape ({n_pairs},)."
        )
    numbers = values.astype(np.float64, copy=False)
    wrong = ~np.isfinite(numbers)
    if wrong.any():
        first = int(np.argmax(wrong))
        raise MethodError(
            f"{who} returned {int(np.count_nonzero(wrong)):,} non-finite {what} values (pair {first}: "
            f"{numbers[first]}). Look for a division by 0, a logarithm of 0, or an overflow."
        )
    return numbers


def _kind(value: object) -> str:
    if isinstance(value, np.ndarray) and value.dtype.kind == "O":
        return "an array of objects"
    if isinstance(value, np.ndarray):
        return f"an array of {value.dtype}"
    if value is None:
        return "nothing (None)"
    return f"a {type(value).__name__}"
