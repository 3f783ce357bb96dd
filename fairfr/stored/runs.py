"""The completed runs that a report speaks about, found by data set, backbone and method.

Default configurations of one setting, such as two groupings, compete for its rows: the newest decides.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import NamedTuple

from fairfr.core.run_key import DATASET_KEYS_OF_METHODS, Parameters, variant_text
from fairfr.core.types import Source
from fairfr.store.result_file import stored_runs
from fairfr.stored.aside import LeftAside, not_chosen, other_configuration
from fairfr.stored.condition import DATA
from fairfr.stored.run import Run
from fairfr.stored.selection import (
    OF_STUDY,
    Selection,
    beyond_method,
    digest_of_data,
    pick_run,
)

NO_PART = ("training_thresholds",)  # adds numbers to a run and changes none


class Chosen(NamedTuple):
    """What of several runs is shown, by cell, and what is left aside; ``shared``: as in Results."""

    shown: dict[tuple[str, str, str], Run]
    aside: list[LeftAside]
    shared: Parameters


def choose(runs: Sequence[Run], among: Sequence[Run], selection: Selection) -> Chosen:
    """One run for each cell. Runs that failed are not shown, nor those of a study that ``selection`` does not ask for.

    ``among``: all runs that there are, for conditions that only others of them meet.
    """
    cells = [run for run in runs if selection.can_fill_tables(run)]
    admitted, shared = selection.select(cells, [run for run in among if run.result.is_completed])
    newest, others = newest_configurations(admitted)
    newest.sort(key=lambda run: (run.result.finished, run.result.key))
    newest = list({(run.cell, run.result.key): run for run in newest}.values())  # those of one key are one run
    places: dict[tuple[str, str, str], list[Run]] = defaultdict(list)
    for run in newest:
        places[run.cell].append(run)
    shown = {cell: pick_run(candidates) for cell, candidates in places.items()}
    aside = [*not_chosen(cells, _without(cells, admitted)), *others]
    older = _without(newest, shown.values())
    if older:
        aside.append(LeftAside("older", tuple(older)))
    return Chosen(shown, aside, shared)


def _without(runs: Iterable[Run], others: Iterable[Run]) -> list[Run]:
    left = set(map(id, others))
    return [run for run in runs if id(run) not in left]


def runs_of_page(results: Iterable[Run], source: Source, belongs: Callable[[Run], bool] | None) -> list[Run]:
    """The runs that one page of the report is about: of a source, and those that belong there (None: all)."""
    of_source = [run for run in results if run.result.source == source]
    return [run for run in of_source if belongs is None or belongs(run)]


def read_runs(out_root: Path, config_dirs: tuple[Path, ...] = ()) -> tuple[list[Run], list[str]]:
    """Every run below ``<out_root>/runs``, each without its metrics until they are asked for.

    Also a line for each folder there that is not a complete run. ``config_dirs``: as for ``Run``.
    """
    damaged: list[str] = []
    results = [Run(run.result, run.folder, config_dirs=config_dirs) for run in stored_runs(out_root, damaged.append)]
    return results, damaged


def newest_configurations(runs: Sequence[Run]) -> tuple[list[Run], list[LeftAside]]:
    """The runs of the newest configuration of each setting, and those of each other one.

    A row is never shown beside one of another configuration. Variants, which are labelled, compete among themselves.
    """
    by_place: dict[tuple[str, ...], list[Run]] = defaultdict(list)
    for run in runs:
        by_place[(*run.cell[:2], variant_text(_of_setting(run, run.differs)))].append(run)
    kept: list[Run] = []
    aside: list[LeftAside] = []
    for several in by_place.values():
        newest = max(several, key=lambda run: run.result.finished)
        chosen = configuration_of(newest)
        others: dict[str, list[Run]] = defaultdict(list)
        for run in several:
            found = configuration_of(run)
            if not _apart(found, chosen):
                kept.append(run)
            else:
                others[repr(found)].append(run)
        for other in others.values():
            aside.append(other_configuration(other, _apart(configuration_of(other[0]), chosen)))
    return kept, aside


def configuration_of(run: Run) -> Parameters:
    """All that a setting's runs share, whatever their method: parameters that are not in its label, and the data."""
    apart = {*run.differs, *DATASET_KEYS_OF_METHODS, *NO_PART}
    parameters = {key: value for key, value in _of_setting(run, run.parameters).items() if key not in apart}
    digest = digest_of_data(run)
    if digest:
        return {**parameters, DATA: digest}
    return parameters


def _of_setting(run: Run, parameters: Parameters) -> Parameters:
    """Those that are not the method's, nor what a study varies: its protocol and its training set."""
    found = beyond_method(parameters)
    if not run.result.study:
        return found
    return {key: value for key, value in found.items() if key.partition(".")[0] not in OF_STUDY}


def _apart(configuration: Parameters, other: Parameters) -> Parameters:
    """The values that differ; what one of them does not know, such as a key of a later version, does not count."""
    return {key: value for key, value in configuration.items() if key in other and other[key] != value}
