"""Default configurations of one setting that compete for its rows, such as two groupings: the newest decides."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from typing import NamedTuple

from fairfr.core.run_key import DATASET_KEYS_OF_METHODS, Parameters, variant_text
from fairfr.report.condition import DATA
from fairfr.report.run import Run
from fairfr.report.selection import OF_STUDY, beyond_method, digest_of_data, options_for, parameters_of

NO_PART = ("training_thresholds",)  # adds numbers to a run and changes none
SHORT_DIGEST = 8


class SupersededRuns(NamedTuple):
    """Runs that a table does not show because a newer configuration has its setting.

    ``where``: data set and backbone. ``apart``: what sets them apart from those that it shows. ``options``: what to
    type so that tables show them instead.
    """

    where: str
    setting: tuple[str, str]
    apart: str
    runs: int
    options: str

    def __str__(self) -> str:
        several = "runs have" if self.runs > 1 else "run has"
        return f"{self.where}: {self.runs} {several} another configuration ({self.apart}), and the newest decides."


def newest_configurations(runs: Sequence[Run]) -> tuple[list[Run], list[SupersededRuns]]:
    """The runs of the newest configuration of each setting, and the others.

    A row is never shown beside one of another configuration. Variants, which are labelled, compete among themselves.
    """
    by_place: dict[tuple[str, ...], list[Run]] = defaultdict(list)
    for run in runs:
        by_place[(*run.cell[:2], variant_text(_of_setting(run, run.differs)))].append(run)
    kept: list[Run] = []
    superseded: list[SupersededRuns] = []
    for several in by_place.values():
        newest = max(several, key=lambda run: run.result.origin.finished)
        chosen = configuration_of(newest)
        others: dict[str, list[Run]] = defaultdict(list)
        for run in several:
            found = configuration_of(run)
            if not _apart(found, chosen):
                kept.append(run)
            else:
                others[repr(found)].append(run)
        superseded += [_described(other, newest) for other in others.values()]
    return kept, superseded


def configuration_of(run: Run) -> Parameters:
    """All that a setting's runs share, whatever their method: parameters that are not in its label, and the data."""
    apart = {*run.differs, *DATASET_KEYS_OF_METHODS, *NO_PART}
    parameters = {key: value for key, value in _of_setting(run, parameters_of(run)).items() if key not in apart}
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


def _described(others: Sequence[Run], newest: Run) -> SupersededRuns:
    """The others differ from the newest in parameters, or else in the content of their files alone."""
    apart = _apart(configuration_of(others[0]), configuration_of(newest))
    digest = apart.pop(DATA, "")
    if not apart:
        apart = {DATA: str(digest)[:SHORT_DIGEST]}
    return SupersededRuns(
        where=f"{newest.result.dataset.label} x {newest.result.backbone.label}",
        setting=newest.cell[:2],
        apart=variant_text(apart),
        runs=len(others),
        options=options_for({key: [value] for key, value in {**others[0].differs, **apart}.items()}),
    )
