"""Which runs a table takes: default configurations, and variants only where they are asked for."""

from __future__ import annotations

import shlex
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from fairfr.core.code import code_digest
from fairfr.core.errors import ConfigError, FairfrError, did_you_mean
from fairfr.core.keys import RESULTS_VERSION
from fairfr.core.variants import CARRIED, Parameters, common, flatten, typed, variant_text
from fairfr.report.readings import Run

OF_METHOD = "method."
OF_STUDY = ("study", "protocol", "train")
LISTED = 5  # variants named in a message
NOT_CHOSEN = ("code", "data", "source", "results_version")


class AmbiguousRunsError(FairfrError):
    """Several runs could fill one place of a table."""


@dataclass(frozen=True, slots=True)
class Condition:
    """``key=value`` of ``--where``; the key may leave out what stands before its last parts (``k=500``).

    A data set's key that methods carry (``dataset.max_references``) means the methods' field.
    """

    key: str
    value: Any

    @classmethod
    def parse(cls, text: str) -> Condition:
        import yaml

        key, equals, value = text.partition("=")
        if not equals or not key.strip():
            raise ConfigError(f"--where {text} is not key=value, such as --where method.estimator.k=500.")
        try:
            read = yaml.safe_load(value)
        except yaml.YAMLError as error:
            raise ConfigError(f"--where {text}: the value cannot be read.") from error
        key = key.strip()
        return cls(CARRIED.get(key, key), _number(read) if isinstance(read, str) else read)

    def named(self, parameters: Parameters) -> Parameters:
        """The parameters that the key means: the one of exactly that name, else those that end in it."""
        if self.key in parameters:
            return {self.key: parameters[self.key]}
        return {key: value for key, value in parameters.items() if key.endswith(f".{self.key}")}

    def holds(self, parameters: Parameters) -> bool:
        return any(value == self.value for value in self.named(parameters).values())


@dataclass(frozen=True, slots=True)
class Selection:
    """``conditions`` on parameters of the method add variants as rows; others choose which runs count at all.

    ``everything``: no run is left out (a sweep speaks of its own cells).
    """

    conditions: tuple[Condition, ...] = ()
    everything: bool = False

    @classmethod
    def where(cls, texts: Iterable[str]) -> Selection:
        return cls(tuple(Condition.parse(text) for text in texts))

    @classmethod
    def like(cls, results: Sequence[Run], varied: Collection[str] = ()) -> Selection:
        """What these runs share beside their study and protocol: a sweep's own changes of the data or the seed.

        ``varied``: parameters of their studies, named as for ``whatever``, which are no changes.
        """
        shared = common(_beyond_method(result.differs) for result in results)
        kept = {key: value for key, value in shared.items() if not _is_named(key, (*OF_STUDY, *varied))}
        return cls(tuple(Condition(key, value) for key, value in kept.items()))

    def of(self, results: Sequence[Run], among: Sequence[Run] = ()) -> tuple[list[Run], Parameters]:
        """The chosen runs, each with what sets it apart from the others, and in what all differ from the yaml.

        ``among``: all runs that there are, of other sources and of studies too. A condition that none of them meets is
        a mistake; one that holds only elsewhere chooses nothing here.
        """
        among = among or results
        known = _known_keys(among)
        if not self.everything:
            self._check_keys(known)
            self._check_values(among, known)
        admitted = [result for result in results if self.everything or self._admits(result, known)]
        shared = common(_beyond_method(result.differs) for result in admitted)
        for result in admitted:
            result.variant = {key: value for key, value in result.differs.items() if key not in shared}
        return admitted, shared

    def whatever(self, varied: Collection[str], results: Sequence[Run]) -> list[Run]:
        """The chosen runs, whatever their values of ``varied`` parameters: for a study of these.

        Each is named by the whole, the first or the last part of its key.
        """
        known = _known_keys(results)
        return [result for result in results if self.everything or self._admits(result, known, varied)]

    def left_out(self, results: Iterable[Run]) -> dict[str, int]:
        """How many variants are not chosen, by the options that would show them (``--where k=500``).

        Nothing where conditions are given: whoever asks for some runs does not ask for the others.
        """
        if self.conditions or self.everything:
            return {}
        return dict(Counter(_options(run) for run in results if is_cell(run) and run.differs).most_common())

    def _admits(self, result: Run, known: Parameters, besides: Collection[str] = ()) -> bool:
        """Whether a run is chosen; ``known`` has the keys of all runs, for what this one's method has no field for."""
        parameters = parameters_of(result)
        for condition in self.conditions:
            named = condition.named(parameters) or condition.named(known) or ("",)
            of_method = all(key.startswith(OF_METHOD) for key in named)
            if not of_method and not condition.holds(parameters):
                return False
        asked_for = {key for c in self.conditions if c.holds(parameters) for key in c.named(parameters)}
        varied = {key for key in result.differs if _is_named(key, besides)}
        return set(result.differs) - varied <= asked_for

    def _check_values(self, results: Sequence[Run], known: Parameters) -> None:
        """A condition that no chosen run meets is a mistake: say what the runs that meet it differ in besides."""
        admitted = [
            run for run in results if not is_cell(run) or self._admits(run, known)
        ]  # studies vary what they vary
        for condition in self.conditions:
            if results and not any(condition.holds(parameters_of(run)) for run in admitted):
                near = {variant_text(run.differs) for run in results if condition.holds(parameters_of(run))}
                besides = f" Runs that have it differ by: {'; '.join(sorted(near)[:LISTED])}." if near else ""
                raise ConfigError(f"--where {condition.key}={condition.value}: no run is chosen by it.{besides}")

    def _check_keys(self, known: Parameters) -> None:
        for condition in self.conditions:
            if known and not condition.named(known):
                raise ConfigError(
                    f"--where {condition.key}: no run has such a key.{did_you_mean(condition.key, known)}"
                )


def is_cell(run: Run) -> bool:
    """Whether a run can fill a row of the tables: completed, and not made for a study."""
    return run.stored["status"] == "completed" and not run.stored.get("study")


def _options(run: Run) -> str:
    """What to type so that the tables show a variant."""
    return " ".join(f"--where {shlex.quote(f'{key}={typed(value)}')}" for key, value in run.differs.items())


def _is_named(key: str, names: Collection[str]) -> bool:
    """Whether one of ``names`` is the whole, the first or the last part of a key."""
    return bool({key, key.partition(".")[0], key.rpartition(".")[2]} & set(names))


def parameters_of(result: Run) -> Parameters:
    """Every parameter of a run by its name on the command line."""
    identity = result.stored.get("identity", {})
    chosen = {key: value for key, value in identity.items() if key not in NOT_CHOSEN}
    return {**flatten(chosen), **result.differs}


def _known_keys(results: Iterable[Run]) -> Parameters:
    """The names of all parameters that any of the runs has, without values."""
    return dict.fromkeys(key for result in results for key in parameters_of(result))


def one_of(results: Sequence[Run]) -> tuple[Run, bool]:
    """The run that fills a place, and whether runs of older code were passed over.

    Of several with one key, the last. Of others, the one that today's code made: what was computed before an edit does
    not compete. If that does not decide it, nobody but the user can: AmbiguousRunsError lists them with what sets them
    apart.
    """
    results = list({result.stored["key"]: result for result in results}.values())
    if len(results) == 1:
        return results[0], False
    current = [result for result in results if is_current(result)]
    if len(current) == 1:
        return current[0], True
    raise AmbiguousRunsError(_ambiguity(current or results))


def is_current(result: Run) -> bool:
    """Whether a run is one that the code which is installed now would make, and name so."""
    identity = result.stored.get("identity", {})
    target = identity.get("method", {}).get("estimator", {}).get("_target_")
    return (
        identity.get("results_version") == RESULTS_VERSION
        and target is not None
        and identity.get("code", {}).get("method") == code_digest(target)
        and identity.get("code", {}).get("protocol") == _protocol_code(identity)
        and not any(f"dataset.{key}" in CARRIED for key in identity.get("dataset", {}))
    )


def _protocol_code(identity: Mapping[str, Any]) -> str | None:
    target = identity.get("protocol", {}).get("splitter", {}).get("_target_")
    return None if target is None else code_digest(target)


def _ambiguity(results: Sequence[Run]) -> str:
    described = [flatten(result.stored.get("identity", {})) for result in results]
    same = common(described)
    lines = []
    for result, all_of_it in zip(results, described, strict=True):
        apart = {key: value for key, value in all_of_it.items() if key not in same}
        place = result.folder or f"run {result.stored['key']}"
        lines.append(
            f"  {place}  finished {result.stored['finished']}: {variant_text(apart) or 'nothing else differs'}"
        )
    where = " x ".join(results[0].cell)
    return (
        f"{len(results)} runs could fill one place of the tables, {where}:\n" + "\n".join(lines) + "\n"
        "Choose with --where key=value, or remove the folders of those that no longer count."
    )


def _beyond_method(differs: Parameters) -> Parameters:
    return {key: value for key, value in differs.items() if not key.startswith(OF_METHOD)}


def _number(value: str) -> Any:
    """yaml takes 1e6 for a text."""
    try:
        return float(value)
    except ValueError:
        return value
