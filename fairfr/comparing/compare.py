"""``fairfr.compare``: several methods on the same pairs and folds, by the code that runs a cell."""

from __future__ import annotations

import tempfile
import time
import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from fairfr.comparing.compared_methods import ComparedMethods, row_ids
from fairfr.comparing.given_set import MIN_PAIRS, Folds, GivenArrays, with_folds
from fairfr.core.calibrator import FitContext
from fairfr.core.errors import ConfigError, FairfrWarning, UnmetNeedError
from fairfr.core.findings import Finding
from fairfr.core.provenance import versions
from fairfr.core.run_key import RunKey, configuration_digest
from fairfr.core.run_result import Labelled, MethodSummary, RunResult
from fairfr.core.threads import import_what_fits_use
from fairfr.core.types import F32, FoldSplit
from fairfr.library import arrays
from fairfr.library.given_pairs import check_direction, check_training_pairs
from fairfr.library.image_pairs import PerImage, Vectors, unit_vectors
from fairfr.library.model import Model
from fairfr.pairs.table import PairTable
from fairfr.runner.held_out import score_held_out, split_findings
from fairfr.runner.record import completed_result, jsonable, measure_scores
from fairfr.stored.reading import STRICT
from fairfr.stored.run import Run
from fairfr.stored.scores import ScoresInMemory

if TYPE_CHECKING:
    from fairfr.runner.cell_bar import CellProgress

COLUMNS_OF_SCORES = ("pair", "fold", "same")


def compare(
    methods: Mapping[str, Model],
    embeddings: Vectors | None = None,
    pairs: ArrayLike | None = None,
    same: ArrayLike | None = None,
    *,
    cosine: ArrayLike | None = None,
    groups: Mapping[str, PerImage] | None = None,
    identities: PerImage | None = None,
    folds: int | ArrayLike = 10,
    images: PerImage | None = None,
    cohort: ArrayLike | None = None,
    dataset: str = "arrays",
    backbone: str | None = None,
    seed: int = 0,
    n_jobs: int | None = None,
    progress: bool = True,
) -> ComparedMethods:
    """Compare methods on held-out pairs: each is fitted on all folds but one and scores that one.

    The numbers are those of ``fairfr run`` on the same data and folds, to the order of sums. Methods that draw random
    numbers agree, too, if ``dataset``, ``backbone`` and ``images`` are as in the files.

    Parameters
    ----------
    methods : mapping of str to Model
        What to compare, each under a name of yours: ``{"beta": fairfr.Beta(), "C=9": fairfr.ACLinear(C=9)}``. A method
        of your own: ``fairfr.as_model(Mine)()``. The models stay unfitted.
    embeddings : array-like of shape (n_images, n_dims), or tuple of two of shape (n_pairs, n_dims)
        A vector for each image, of any length; or those of the left and of the right images, with ``pairs=None``.
    pairs : array-like of int, shape (n_pairs, 2)
        Row numbers of each pair's two images.
    same : array-like of bool or 0/1, shape (n_pairs,)
        Whether a pair shows one person.
    cosine : array-like of float, shape (n_pairs,)
        In place of embeddings and pairs, for methods that need scores alone.
    groups : mapping of str to array-like
        The names of the groups by id: one for each image; or by pair, one for both images of each, or a tuple (left,
        right). None, NaN and blank are unknown. Methods that need groups use the product of several ids.
    identities : array-like
        Who is on each image, given as one entry of ``groups``.
    folds : int or array-like of shape (n_pairs,), default 10
        A number: folds without common people, or of pairs where identities are not given. Or the label of each
        pair's fold.
    images : array-like
        Ids of the images, given as one entry of ``groups``: random draws go over images sorted by id. Without, an image
        is known by its vector.
    cohort : array-like of shape (m, n_dims), optional
        Vectors of other, unlabelled images, for methods that take them.
    dataset, backbone : str
        Names of the data and of its vectors, for titles and seeds.
    seed : int, default 0
        Random seed, for methods that draw random numbers.
    n_jobs : int, optional
        How many cores to use, as in scikit-learn: None is 1, -1 all.
    progress : bool, default True
        Show a bar where there is a terminal.

    Returns
    -------
    ComparedMethods
        Numbers, held-out probabilities, differences with intervals, thresholds and figures; ``print`` shows the table
        and the sentences that decide.

    Raises
    ------
    DataError
        For arrays that contradict themselves or each other.
    ConfigError
        For methods, parameters or folds that cannot be used.
    UnmetNeedError
        For a method that needs what is not given.

    Examples
    --------
    >>> found = fairfr.compare({"beta": fairfr.Beta(), "platt": fairfr.Platt()}, cosine=cosine, same=same)
    ... # doctest: +SKIP
    >>> print(found)  # doctest: +SKIP
    """
    from joblib import effective_n_jobs
    from threadpoolctl import threadpool_limits

    _check_methods(methods)
    _check_number("seed", seed)
    if n_jobs is not None:
        _check_number("n_jobs", n_jobs)
    if backbone is None:
        backbone = "scores" if embeddings is None else "embeddings"
    given = GivenArrays(embeddings, pairs, same, cosine, groups, identities, images, dataset, backbone)
    data = given.verification_set()
    check_training_pairs(data)
    found = with_folds(data, folds)
    for name, model in methods.items():
        _check_needs(name, model, found)
    for model in methods.values():
        import_what_fits_use(model.new_method())
    threads = int(effective_n_jobs(n_jobs))
    with threadpool_limits(threads), _folder_of_clusters() as cache:
        table = PairTable(found.data, threads)
        check_direction(table, None)
        comparison = _Comparison(found, table, seed, threads, _checked_cohort(cohort, methods), cache)
        scores = {}
        with _bars(methods, progress) as bars:
            for name, model in methods.items():
                scores[name] = comparison.scores_of(name, model, bars[name])
    compared = ComparedMethods(found.data, scores, _findings(found, scores), row_ids(methods))
    for finding in compared.findings:
        if finding.severity != "note":
            warnings.warn(finding.text, FairfrWarning, stacklevel=2)
    return compared


@dataclass(frozen=True, slots=True)
class _Comparison:
    """What all methods share."""

    folds: Folds
    table: PairTable
    seed: int
    threads: int
    cohort: F32 | None
    cache: Path | None

    def scores_of(self, name: str, model: Model, bar: CellProgress | None) -> ScoresInMemory:
        """Held-out scores of one method, with its metrics, as a cell of a run has them."""
        started = time.perf_counter()
        data = self.folds.data
        self.table.clear_neighbours()

        def context(fold: str) -> FitContext:
            return FitContext(
                self.seed,
                data.id,
                data.backbone,
                fold,
                self.threads,
                grouping=data.grouping,
                cache=self.cache,
                cohort=self.cohort,
            )

        def scored(split: FoldSplit) -> None:
            if bar is not None:
                bar.fold_done(split.id)

        if bar is not None:
            bar.start(len(self.folds.splits))
        held_out = score_held_out(self.table, self.folds.splits, model.new_method, context, scored)
        measured = measure_scores(self.table, held_out, MIN_PAIRS, self.threads)
        begun = replace(self._begun(name, model), threads=self.threads, seconds=round(time.perf_counter() - started, 3))
        result = completed_result(begun, measured, MIN_PAIRS)
        return ScoresInMemory(Run(result, reading=STRICT), measured.columns())

    def _begun(self, name: str, model: Model) -> RunResult:
        """Whose result it is, as for a run folder."""
        data = self.folds.data
        identity = jsonable(
            {
                "dataset": {"id": data.id},
                "backbone": {"id": data.backbone},
                "method": {"id": name, "class": type(model).__name__, "estimator": model.get_params()},
                "protocol": {"id": self.folds.protocol, "folds": self.folds.digest},
                "seed": self.seed,
                "data": data.digest,
            }
        )
        key = RunKey(data.id, data.backbone, name, "files", configuration_digest(identity))
        method = model.method_class
        needs = tuple(sorted(model.needs))
        return RunResult(
            key=str(key),
            status="failed",  # until it is completed
            source="files",
            dataset=Labelled(data.id, data.id),
            backbone=Labelled(data.backbone, data.backbone),
            method=MethodSummary(name, name, needs, bool(method.native_probability)),
            identity=identity,
            differs={},
            finished="",
            versions=versions(),
            protocol=self.folds.protocol,
            seed=self.seed,
        )


def _check_methods(methods: Any) -> None:
    example = 'such as {"beta": fairfr.Beta()}'
    if not isinstance(methods, Mapping) or not methods:
        raise ConfigError(f"methods must map names to unfitted models, {example}.")
    for name, model in methods.items():
        if not isinstance(name, str) or not name.strip() or not name.isprintable():
            raise ConfigError(f"methods: {name!r} is no name. Give each method one, {example}.")
        if name in COLUMNS_OF_SCORES:
            raise ConfigError(f"methods: '{name}' is a column of scores(). Give the method another name.")
        if isinstance(model, type) and issubclass(model, Model):
            raise ConfigError(f"methods[{name!r}] is a class. Pass a model: fairfr.{model.__name__}().")
        if not isinstance(model, Model):
            raise ConfigError(
                f"methods[{name!r}] is a {type(model).__name__}, not a model of fairfr. For a class of your own: "
                "fairfr.as_model(Mine)()."
            )
        model.new_method()  # wrong parameters are told before anything is computed


def _check_number(name: str, value: Any) -> None:
    is_whole = isinstance(value, int | np.integer) and not isinstance(value, bool)
    if not is_whole or (name == "n_jobs" and value == 0):
        wanted = "a whole number"
        if name == "n_jobs":
            wanted = "a number of cores, -1 for all of them, or None for one"
        raise ConfigError(f"{name}={value!r}: must be {wanted}.")


def _check_needs(name: str, model: Model, folds: Folds) -> None:
    asker = f"methods[{name!r}] ({type(model).__name__})"
    if "embeddings" in model.needs and folds.data.embeddings is None:
        raise UnmetNeedError(f"{asker} needs embeddings, not cosines alone. Pass embeddings and pairs.")
    if "groups" in model.needs and folds.data.grouping is None:
        raise UnmetNeedError(f"{asker} needs groups: pass groups={{'gender': names}}, one name for each image.")


def _checked_cohort(cohort: Any, methods: Mapping[str, Model]) -> F32 | None:
    if cohort is None:
        return None
    if not any("cohort" in model.get_params() for model in methods.values()):
        raise ConfigError("cohort: none of the methods takes one. Leave it out, or add fairfr.ACCohort(cohort='both').")
    return unit_vectors(arrays.check_matrix(cohort, "cohort"), "cohort")


def _findings(folds: Folds, scores: Mapping[str, ScoresInMemory]) -> tuple[Finding, ...]:
    """Each thing that was found, once: of the data, of the folds, and of each method."""
    found = [*folds.data.warnings, *split_findings(folds.splits)]
    for of_method in scores.values():
        result = of_method.run.result
        found += result.warnings
        found += result.metric_warnings
    by_text = {finding.text: finding for finding in found}
    return tuple(by_text.values())


@contextmanager
def _folder_of_clusters() -> Iterator[Path | None]:
    """Where methods that share clusters of images find those of each other, as in a run; gone at the end."""
    try:
        folder = tempfile.TemporaryDirectory(prefix="fairfr-")
    except OSError:  # nowhere to write: each finds its own, which are the same
        yield None
        return
    with folder as name:
        yield Path(name)


@contextmanager
def _bars(methods: Mapping[str, Model], progress: bool) -> Iterator[dict[str, CellProgress | None]]:
    """A bar for each method where there is a terminal, and rich to draw it."""
    shown: dict[str, CellProgress | None] = dict.fromkeys(methods)
    if not progress:
        yield shown
        return
    try:
        from rich.console import Console

        from fairfr.runner.cell_bar import CellBar, make_bars
    except ModuleNotFoundError:
        yield shown
        return
    with make_bars(Console(stderr=True)) as bars:
        for name in methods:
            shown[name] = CellBar(bars, name, lambda finding: None)
        yield shown
