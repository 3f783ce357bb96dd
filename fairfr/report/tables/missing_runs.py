"""What to type: the sweeps that run what is missing, so that it can be compared with what has run."""

from __future__ import annotations

import shlex
from collections import defaultdict
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any, TypeAlias

from fairfr.core.run_key import override_text
from fairfr.core.storage import open_regular
from fairfr.stored.order import Setting
from fairfr.stored.results import Results
from fairfr.stored.run import Run

DEFAULT_DATA_ROOT = "data"
Absent: TypeAlias = Mapping[Setting, Sequence[str]]
"""The methods that have not run, by data set and backbone."""


def missing_run_commands(absent: Absent, results: Results) -> tuple[str, ...]:
    """As few sweeps as run exactly the absent methods: equal lists of methods share a command."""
    by_dataset: dict[tuple[str, tuple[str, ...], tuple[str, ...]], list[str]] = defaultdict(list)
    for setting, methods in absent.items():
        if methods:
            by_dataset[setting[0], tuple(methods), _options(setting, results)].append(_backbone(setting, results))
    together: dict[tuple[tuple[str, ...], tuple[str, ...], tuple[str, ...]], list[str]] = defaultdict(list)
    for (dataset, wanted, options), backbones in by_dataset.items():
        together[tuple(backbones), wanted, options].append(dataset)
    commands = []
    for (shared, wanted, options), datasets in together.items():
        choices = [
            f"dataset={','.join(datasets)}",
            f"backbone={','.join(shared)}",
            f"method={','.join(wanted)}",
        ]
        commands.append(shlex.join(["fairfr", "run", "-m", *choices, *options]))
    return tuple(commands)


def experiment_command(results: Results, experiment: str, setting: Setting) -> str:
    """A named sweep that has this setting, on files below the same root as the runs."""
    return shlex.join(["fairfr", "run", "-m", f"experiment={experiment}", *_options(setting, results)])


def _backbone(setting: Setting, results: Results) -> str:
    """Its name; ``scores`` for a matcher with scores only, which is chosen by its column."""
    if _column(results.find({"setting": setting})) is None:
        return setting[1]
    return "scores"


def _column(run: Run | None) -> str | None:
    column: str | None = _identity(run, "backbone").get("column")
    return column


def _options(setting: Setting, results: Results) -> tuple[str, ...]:
    """What must be typed beside names so that a new run can be compared with those that exist."""
    run = results.find({"setting": setting})
    options = {key: override_text(value) for key, value in results.shared.items()}
    grouping = _identity(run, "dataset").get("grouping")
    column = _column(run)
    if setting[0] not in results.order.datasets and grouping:
        options.setdefault("dataset.grouping", override_text(grouping))
    if column is not None:
        options["backbone.column"] = column
    root = _data_root(run or next(iter(results), None))
    if results.source == "files" and root != DEFAULT_DATA_ROOT:
        options["data_root"] = root
    return (*(f"{key}={value}" for key, value in options.items()), f"source={results.source}")


def _identity(run: Run | None, noun: str) -> dict[str, Any]:
    if run is None:
        return {}
    found: dict[str, Any] = run.result.identity.get(noun, {})
    return found


def _data_root(run: Run | None) -> str:
    """Where the files of a run lie, as its configuration says; the default where there is no folder."""
    if run is None or run.folder is None:
        return DEFAULT_DATA_ROOT
    return _configured_root(run.folder)


@cache
def _configured_root(folder: Path) -> str:
    import yaml

    try:
        with open_regular(folder / "config.yaml") as file:
            config = yaml.safe_load(file)
        return str(config["data_root"])
    except (OSError, ValueError, KeyError, TypeError, yaml.YAMLError):
        return DEFAULT_DATA_ROOT
