"""The sweeper that Hydra finds: it hands the sweep to fairfr.sweep.conductor."""

from typing import Any

from hydra.plugins.sweeper import Sweeper
from hydra.types import HydraContext, TaskFunction
from omegaconf import DictConfig


class FairfrSweeper(Sweeper):
    """Runs every cell of a sweep; ``keys`` are those of ``FairfrSweeperConf``, read from the configuration."""

    def __init__(self, **keys: Any) -> None:
        self._task_function: TaskFunction | None = None

    def setup(self, *, hydra_context: HydraContext, task_function: TaskFunction, config: DictConfig) -> None:
        self.hydra_context, self.config, self._task_function = hydra_context, config, task_function

    def sweep(self, arguments: list[str]) -> None:
        """Run the cells that the configuration and ``arguments``, the typed overrides, ask for."""
        from fairfr.sweep.conductor import run_sweep  # here: every Hydra program imports this module

        assert self.hydra_context is not None and self.config is not None and self._task_function is not None
        run_sweep(self.config, self.hydra_context, self._task_function, arguments)
