"""The contract between the runner and a method."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Protocol, Self, runtime_checkable

import numpy as np

from fairfr.core.types import F32, Bool, Need, Prediction

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
