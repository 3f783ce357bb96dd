"""From a named experiment and a command line to the jobs of a sweep.

``hydra.sweeper`` has ``params``, values that every grid has; ``grids``, which are run one after another; and
``experiments``, names of others whose cells belong to this one. What is typed replaces the values of a grid, with two
exceptions. ``fixed`` values of a grid stay: those of cells that others are compared with. And the data sets and
backbones of ``grids`` belong together: a typed one picks the grids that contain it, and replaces them only where none
does.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, TypeAlias

from hydra.core.config_loader import ConfigLoader
from hydra.core.object_type import ObjectType
from hydra.core.override_parser.overrides_parser import OverridesParser
from hydra.core.override_parser.types import Glob, Override
from hydra.types import RunMode
from omegaconf import DictConfig, OmegaConf

from fairfr.core.errors import ConfigError

DATA = ("dataset", "backbone")

Job: TypeAlias = list[str]
Grid: TypeAlias = Mapping[str, Any]


class GridExpander:
    """Expands sweeps into jobs; ``loader`` finds what the run itself will see."""

    def __init__(self, loader: ConfigLoader, config: DictConfig) -> None:
        self._loader, self._config_name = loader, config.hydra.job.config_name
        self._hydra_overrides = list(config.hydra.overrides.hydra)
        self._parser = OverridesParser.create(config_loader=loader)

    def jobs(self, config: DictConfig, typed: Sequence[str]) -> list[Job]:
        """The overrides of every cell, each cell once; cells of one data set and backbone follow one another."""
        found = self._of_config(config, self._parser.parse_overrides(list(typed)))
        by_data: dict[tuple[str, ...], dict[tuple[str, ...], None]] = {}
        for job in found:
            by_data.setdefault(_data_of(job), {})[tuple(job)] = None
        return [list(job) for jobs in by_data.values() for job in jobs]

    def _of_config(self, config: DictConfig, typed: list[Override]) -> list[Job]:
        experiments = self._typed_experiments(typed)
        own: list[tuple[Grid, list[Override]]] = []
        if not experiments:
            keys: Any = OmegaConf.to_container(config.hydra.sweeper, resolve=True)
            experiments, params = list(keys["experiments"]), keys["params"]
            for grid, rest in self._picked(keys["grids"], typed):
                own.append(({**params, **grid}, rest))
            if not own and (params or not experiments):
                own.append((params, typed))
        jobs: list[Job] = []
        for grid, rest in own:
            jobs.extend(self._product(grid, rest))
        for name in experiments:
            jobs.extend(self._of_experiment(str(name), typed))
        return jobs

    def _typed_experiments(self, typed: Iterable[Override]) -> list[str]:
        """``experiment=a,b``: the cells of both."""
        for override in typed:
            if override.key_or_group != "experiment":
                continue
            if isinstance(override.value(), list):
                raise ConfigError(f"{override.input_line}: several experiments are typed as experiment=a,b with -m.")
            if override.is_sweep_override():
                return self._values(override)
        return []

    def _of_experiment(self, name: str, typed: list[Override]) -> list[Job]:
        (chosen,) = self._parser.parse_overrides([f"experiment={name}"])
        rest = [override for override in typed if override.key_or_group != "experiment"]
        constant = [override.input_line or "" for override in rest if not override.is_sweep_override()]
        overrides = [*self._hydra_overrides, f"experiment={name}", *constant]
        config = self._loader.load_configuration(self._config_name, overrides, RunMode.MULTIRUN)
        return self._of_config(config, [chosen, *rest])

    def _picked(self, grids: Sequence[Grid], typed: list[Override]) -> list[tuple[Grid, list[Override]]]:
        """The grids that are left after typed data sets and backbones, each with what else is typed."""
        wanted = {_key(override): self._values(override) for override in typed if _key(override) in DATA}
        if not all(self._is_held(pair, grids) for pair in _pairs(wanted)):
            return [({key: value for key, value in grid.items() if key not in DATA}, typed) for grid in grids]
        picked: list[tuple[Grid, list[Override]]] = []
        for grid in grids:
            left = dict(grid)
            both = wanted.keys() & grid.keys()
            for key in both:
                left[key] = ",".join(value for value in self._own(grid, key) if value in wanted[key])
            if all(left[key] for key in both):
                picked.append((left, [override for override in typed if _key(override) not in both]))
        return picked

    def _is_held(self, pair: Mapping[str, str], grids: Sequence[Grid]) -> bool:
        """Whether a grid contains this data set and backbone; one that names neither contains all."""
        for grid in grids:
            if all(key not in grid or value in self._own(grid, key) for key, value in pair.items()):
                return True
        return False

    def _own(self, grid: Grid, key: str) -> list[str]:
        (override,) = self._parser.parse_overrides([f"{key}={grid[key]}"])
        return self._values(override)

    def _product(self, grid: Grid, typed: list[Override]) -> list[Job]:
        """The product of a grid and of what is typed."""
        fixed: Mapping[str, Any] = grid.get("fixed", {})
        typed = [override for override in typed if not _is_part_of(override, fixed)]
        replaced = {_key(override) for override in typed}
        own = [f"{key}={value}" for key, value in grid.items() if key not in replaced and key != "fixed"]
        own += [f"{key}={value}" for key, value in fixed.items() if value is not None]
        lists = []
        for override in [*self._parser.parse_overrides(own), *typed]:
            key = override.get_key_element()
            lists.append([f"{key}={value}" for value in self._values(override)])
        return [list(job) for job in itertools.product(*lists)]

    def _values(self, override: Override) -> list[str]:
        """The values of an override, each as it is typed."""
        if not override.is_sweep_override():
            return [override.get_value_element_as_str()]
        value: Any = override.value()
        if isinstance(value, Glob):  # Hydra itself would not look into the folders of hydra.searchpath
            kind, name = ObjectType.CONFIG, self._config_name
            group = override.key_or_group
            return list(value.filter(self._loader.get_group_options(group, kind, name, self._hydra_overrides)))
        if not override.is_discrete_sweep():
            raise ConfigError(f"{override.input_line}: a sweep needs values that can be counted, as in key=a,b.")
        return list(override.sweep_string_iterator())


def _pairs(wanted: Mapping[str, list[str]]) -> list[dict[str, str]]:
    return [dict(zip(wanted, values, strict=True)) for values in itertools.product(*wanted.values())]


def _data_of(job: Job) -> tuple[str, ...]:
    """What a job says about its data."""
    return tuple(override for override in job if override.lstrip("+").startswith(("experiment", *DATA, "train")))


def _key(override: Override) -> str:
    """What an override sets: ``dataset``, ``dataset@train``, ``method.estimator.k``."""
    return override.key_or_group if override.package is None else f"{override.key_or_group}@{override.package}"


def _is_part_of(override: Override, keys: Iterable[str]) -> bool:
    """Whether an override sets one of ``keys``, or something inside: ``train.id`` is inside ``dataset@train``."""
    key = _key(override)
    places = [name.rpartition("@")[2] for name in keys]
    return key in keys or any(key.startswith(f"{place}.") for place in places)
