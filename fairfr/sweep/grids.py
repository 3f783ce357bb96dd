"""From a named experiment and a command line to the cells of a sweep.

Hydra's own sweeper makes one grid, the product of ``hydra.sweeper.params`` and the command line. Two keys of an
experiment's yaml go beyond it: ``grids``, a list of grids that are run one after another, and ``experiments``, names
of other experiments whose cells belong to this one. ``repeats`` is a number that grids may refer to. In a grid,
``fixed`` are values that the command line does not replace, those of cells that others are compared with; null is the
default.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, TypeAlias

from hydra._internal.core_plugins.basic_sweeper import BasicSweeper
from hydra.core.config_loader import ConfigLoader
from hydra.core.override_parser.overrides_parser import OverridesParser
from hydra.core.override_parser.types import Override
from hydra.core.plugins import Plugins
from hydra.plugins.sweeper import Sweeper
from hydra.types import RunMode
from omegaconf import DictConfig, OmegaConf

OF_SWEEP = ("grids", "experiments", "repeats")
"""Keys that say which cells there are: no part of a cell's own configuration."""
DATA = ("dataset", "backbone")

Job: TypeAlias = list[str]
PairOf: TypeAlias = Callable[[str], Mapping[str, str]]


class Cells:
    """The jobs of a sweep. ``pair_of`` gives the data set and backbone that ``setting=`` chooses."""

    def __init__(self, loader: ConfigLoader, config_name: str | None, pair_of: PairOf) -> None:
        self._loader, self._config_name, self._pair_of = loader, config_name, pair_of
        self._parser = OverridesParser.create(config_loader=loader)

    def jobs(self, config: DictConfig, typed: Sequence[str]) -> list[Job]:
        """The overrides of every cell, each cell once, in the order of the experiment's yaml."""
        overrides = self._parser.parse_overrides(list(typed))
        found = self._of_config(config, overrides)
        return [list(job) for job in dict.fromkeys(map(tuple, found))]

    def _of_config(self, config: DictConfig, typed: list[Override]) -> list[Job]:
        params = _plain(config.hydra.sweeper, "params") or {}
        grids: list[Mapping[str, Any]] = _plain(config, "grids") or [{}]
        named: list[str] = _plain(config, "experiments") or []
        own = [] if named and not params and grids == [{}] else grids
        jobs = [job for grid in own for job in self._of_grid({**params, **grid}, typed)]
        return jobs + [job for name in named for job in self._of_experiment(name, typed)]

    def _of_experiment(self, name: str, typed: list[Override]) -> list[Job]:
        (chosen,) = self._parser.parse_overrides([f"experiment={name}"])
        rest = [override for override in typed if override.key_or_group != "experiment"]
        fixed = [override.input_line or "" for override in rest if not override.is_sweep_override()]
        config = self._loader.load_configuration(self._config_name, [f"experiment={name}", *fixed], RunMode.MULTIRUN)
        return self._of_config(config, [chosen, *rest])

    def _of_grid(self, grid: Mapping[str, Any], typed: list[Override]) -> list[Job]:
        """The product of a grid; what is typed replaces the grid's own values, and picks among its settings."""
        fixed: Mapping[str, Any] = grid.get("fixed", {})
        typed = [override for override in typed if not _is_part_of(override, fixed)]
        replaced = {_key(override) for override in typed}
        own = [f"{key}={value}" for key, value in grid.items() if key not in replaced and key != "fixed"]
        own += [f"{key}={value}" for key, value in fixed.items() if value is not None]
        params = self._parser.parse_overrides(own)
        lists = [self._settings(o, typed) if o.key_or_group == "setting" else [o] for o in params]
        overrides = [override for several in lists for override in several]
        return [list(job) for job in BasicSweeper.split_arguments([*overrides, *typed], None)[0]]

    def _settings(self, chosen: Override, typed: Iterable[Override]) -> list[Override]:
        """The settings of a grid that have the data set and backbone of the command line.

        Where it names others, they alone are meant, and there is no setting.
        """
        given = {_key(o): o.value() for o in typed if _key(o) in DATA and not o.is_sweep_override()}
        if not given:
            return [chosen]
        names = list(map(str, chosen.sweep_string_iterator())) if chosen.is_sweep_override() else [str(chosen.value())]
        fitting = [name for name in names if all(self._pair_of(name).get(k) == v for k, v in given.items())]
        return self._parser.parse_overrides([f"setting={','.join(fitting)}"]) if fitting else []


def _key(override: Override) -> str:
    """What an override sets: ``dataset``, ``dataset@train``, ``method.estimator.k``."""
    return override.key_or_group if override.package is None else f"{override.key_or_group}@{override.package}"


def _is_part_of(override: Override, keys: Iterable[str]) -> bool:
    """Whether an override sets one of ``keys``, or something inside: ``train.id`` is inside ``dataset@train``."""
    key = _key(override)
    places = [name.rpartition("@")[2] for name in keys]
    return key in keys or any(key.startswith(f"{place}.") for place in places)


def _plain(node: DictConfig, key: str) -> Any:
    """A key of a configuration as plain values, interpolations resolved; None where it is absent."""
    value = node.get(key)
    return OmegaConf.to_container(value, resolve=True) if OmegaConf.is_config(value) else value


def expand_sweep(config: DictConfig, pair_of: PairOf, arrange: Callable[[ConfigLoader, list[Job]], list[Job]]) -> None:
    """Let the next sweeper that Hydra makes run the cells of ``config``, for one sweep.

    ``arrange`` composes the jobs, which Hydra's own check would only do again, and puts them in order. Hydra takes
    sweepers only from packages of its own, so the place where it makes one is wrapped, and unwrapped at once.
    """
    plugins = Plugins.instance()
    make = plugins.instantiate_sweeper

    def instantiate_sweeper(**about: Any) -> Sweeper:
        del plugins.instantiate_sweeper  # the method of the class is there again
        sweeper: Any = make(**about)
        if type(sweeper).__name__ == BasicSweeper.__name__:  # Hydra loads its plugins a second time: another class
            loader = about["hydra_context"].config_loader
            cells = Cells(loader, config.hydra.job.config_name, pair_of)
            jobs = arrange(loader, cells.jobs(config, list(config.hydra.overrides.task)))
            chunks = BasicSweeper.split_overrides_to_chunks
            sweeper.split_arguments = lambda overrides, size: list(chunks(jobs, size))
            sweeper.validate_batch_is_legal = lambda batch: None
        return sweeper  # type: ignore[no-any-return]

    plugins.instantiate_sweeper = instantiate_sweeper  # type: ignore[method-assign]
