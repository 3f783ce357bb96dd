"""Which runs a table takes: default configurations, and variants only where they are asked for."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import chain

from fairfr.core.config import configured_targets
from fairfr.core.errors import ConfigError, did_you_mean
from fairfr.core.provenance import run_code
from fairfr.core.run_key import (
    DATASET_KEYS_OF_METHODS,
    RESULTS_VERSION,
    Parameters,
    override_text,
    shared_parameters,
    variant_text,
)
from fairfr.stored.condition import DATA, Condition
from fairfr.stored.run import Run

OF_METHOD = "method."
STUDY = "study"
OF_STUDY = (STUDY, "protocol", "train")
MAX_LISTED_VARIANTS = 5  # variants named in a message
PROTOCOL = "protocol"


@dataclass(frozen=True, slots=True)
class Selection:
    """``conditions`` on parameters of the method add variants as rows; others choose which runs count at all.

    A condition on the study asks for the runs of a named sweep: all of them, whatever they differ in, and no others.
    ``everything``: no run is left out (a sweep speaks of its own cells).
    """

    conditions: tuple[Condition, ...] = ()
    everything: bool = False

    @classmethod
    def where(cls, texts: Iterable[str]) -> Selection:
        return cls(tuple(Condition.parse(text) for text in texts))

    @classmethod
    def shared_by(cls, results: Sequence[Run], varied: Collection[str] = ()) -> Selection:
        """What these runs share beside their study and protocol: a sweep's own changes of the data or the seed.

        ``varied``: parameters of their studies, named as for ``select_ignoring``, which are no changes.
        """
        shared = shared_parameters(beyond_method(result.differs) for result in results)
        kept = {key: value for key, value in shared.items() if not _is_named(key, (*OF_STUDY, *varied))}
        return cls(tuple(Condition(key, (value,)) for key, value in kept.items()))

    def with_values(self, parameters: Parameters) -> Selection:
        """These conditions, and one for each of ``parameters``."""
        added = (Condition(key, (value,)) for key, value in parameters.items())
        return replace(self, conditions=(*self.conditions, *added))

    def select(self, results: Sequence[Run], among: Sequence[Run] = ()) -> tuple[list[Run], Parameters]:
        """The chosen runs, each with what sets it apart from the others, and in what all differ from the yaml.

        ``among``: all runs that there are, of other sources and of studies too. A condition that none of them meets is
        a mistake; one that only other runs meet chooses nothing here.
        """
        among = among or results
        known = _known_keys(among)
        if not self.everything:
            self._check_keys(known)
            self._check_values(among, known)
        admitted = [result for result in results if self.everything or self._admits(result, known)]
        shared = shared_parameters(beyond_method(result.differs) for result in admitted)
        for result in admitted:
            result.variant = {key: value for key, value in result.differs.items() if key not in shared}
        return admitted, shared

    def select_ignoring(self, varied: Collection[str], results: Sequence[Run]) -> list[Run]:
        """The chosen runs, whatever their values of ``varied`` parameters: for a study of these.

        Each is named by the whole, the first or the last part of its key.
        """
        known = _known_keys(results)
        return [result for result in results if self.everything or self._admits(result, known, varied)]

    def is_met(self, run: Run) -> bool:
        """Whether a run meets every condition, whatever it differs in besides."""
        parameters = all_parameters(run)
        return all(condition.holds(parameters) for condition in self.conditions)

    def asks_for_study_of(self, run: Run) -> bool:
        """Whether a condition names the study that the run was made for."""
        wanted = [condition for condition in self.conditions if condition.key == STUDY]
        return bool(run.result.study) and any(run.result.study in condition.values for condition in wanted)

    def can_fill_tables(self, run: Run) -> bool:
        """Whether a run can fill a row of these tables: that of a study only where its study is asked for."""
        return fills_tables(run) or (run.result.is_completed and self.asks_for_study_of(run))

    def hidden(self, results: Sequence[Run]) -> list[Run]:
        """The cells that are not chosen."""
        known = _known_keys(results)
        cells = [run for run in results if self.can_fill_tables(run)]
        if self.everything:
            return []
        return [run for run in cells if not self._admits(run, known)]

    def _admits(self, result: Run, known: Parameters, besides: Collection[str] = ()) -> bool:
        """Whether a run is chosen; ``known`` has the keys of all runs, for what this one's method has no field for."""
        parameters = all_parameters(result)
        for condition in self.conditions:
            named = condition.named(parameters) or condition.named(known) or ("",)
            of_method = all(key.startswith(OF_METHOD) for key in named)
            if not of_method and not condition.holds(parameters):
                return False
        asked_for: set[str] = set()
        for condition in self.conditions:
            if condition.holds(parameters):
                asked_for.update(condition.named(parameters))
        if self.asks_for_study_of(result):
            return True
        varied = {key for key in result.differs if _is_named(key, besides)}
        return set(result.differs) - varied <= asked_for

    def _check_values(self, results: Sequence[Run], known: Parameters) -> None:
        """A condition that no chosen run meets is a mistake: say what the runs that meet it differ in besides."""
        if not results:
            return
        # studies vary what they vary
        admitted = [run for run in results if not fills_tables(run) or self._admits(run, known)]
        for condition in chain.from_iterable(condition.single() for condition in self.conditions):
            if any(condition.holds(all_parameters(run)) for run in admitted):
                continue
            message = f"--where {condition.key}={override_text(condition.values[0])} matches no run."
            near = {variant_text(run.differs) for run in results if condition.holds(all_parameters(run))}
            if near:
                message += f" Runs that have it differ by: {'; '.join(sorted(near)[:MAX_LISTED_VARIANTS])}."
            raise ConfigError(message)

    def _check_keys(self, known: Parameters) -> None:
        for condition in self.conditions:
            if known and not condition.named(known):
                raise ConfigError(
                    f"--where {condition.key}: no run has such a key.{did_you_mean(condition.key, known)}"
                )


def fills_tables(run: Run) -> bool:
    """Whether a run can fill a row of the tables: completed, and not made for a study."""
    return run.result.is_completed and not run.result.study


def _is_named(key: str, names: Collection[str]) -> bool:
    """Whether one of ``names`` is the whole, the first or the last part of a key."""
    return bool({key, key.partition(".")[0], key.rpartition(".")[2]} & set(names))


def digest_of_data(result: Run) -> str:
    """The digest of the files, or of the stand-in, that a run was made from; empty where it is not known."""
    return str(result.result.identity.get(DATA, ""))


def all_parameters(result: Run) -> Parameters:
    """What ``--where`` can name: the parameters, the protocol by its name, and the data."""
    protocol = result.result.protocol
    return {PROTOCOL: protocol, **result.parameters, DATA: digest_of_data(result)}


def _known_keys(results: Iterable[Run]) -> Parameters:
    """The names of all parameters that any of the runs has, without values."""
    return dict.fromkeys(chain.from_iterable(all_parameters(result) for result in results))


def pick_run(results: Sequence[Run]) -> Run:
    """The run that fills a place, of ``results`` in the order in which they finished.

    What today's code made comes before what was computed before an edit; of several the newest counts.
    """
    current = [result for result in results if made_by_installed_code(result)]
    return (current or results)[-1]


def made_by_installed_code(run: Run) -> bool | None:
    """Whether a run is one that the code which is installed now would make, and name so.

    None where nothing is compared: a run may name any class, and only those that a configuration names are looked at.
    """
    identity = run.result.identity
    method = identity.get("method", {}).get("estimator", {}).get("_target_")
    splitter = identity.get("protocol", {}).get("splitter", {}).get("_target_")
    if not configured_targets(run.config_dirs).issuperset((method, splitter)):
        return None
    installed = run_code(method, run.gives_probability, splitter, bool(identity.get("training_thresholds")))
    return (
        identity.get("results_version") == RESULTS_VERSION
        and identity.get("code") == installed
        and not any(f"dataset.{key}" in DATASET_KEYS_OF_METHODS for key in identity.get("dataset", {}))
    )


def beyond_method(parameters: Parameters) -> Parameters:
    """Those of the data, the seed or the protocol, which runs of several methods can share."""
    return {key: value for key, value in parameters.items() if not key.startswith(OF_METHOD)}
