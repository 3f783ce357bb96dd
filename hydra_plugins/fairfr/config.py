"""The keys of ``hydra.sweeper``, which conf/config.yaml chooses with ``override hydra/sweeper: fairfr``."""

# No ``from __future__ import annotations`` here: Hydra runs a plugin's module before Python knows it by name, and a
# dataclass with postponed annotations then ends every Hydra program of the environment.

from dataclasses import dataclass, field
from typing import Any

from hydra.core.config_store import ConfigStore
from omegaconf import DictConfig, OmegaConf


@dataclass
class FairfrSweeperConf:
    """Which cells a sweep has."""

    _target_: str = "hydra_plugins.fairfr.sweeper.FairfrSweeper"
    params: dict[str, Any] = field(default_factory=dict)  # what every grid has
    grids: list[dict[str, Any]] = field(default_factory=list)  # run one after another; fixed: {...} is never replaced
    experiments: list[str] = field(default_factory=list)  # names of others whose cells belong to this one
    repeats: int = 1  # a number that grids may refer to
    dry_run: bool = False  # show the cells, and which of them are done, and run nothing


def open_groups() -> DictConfig:
    """The groups of a run, which take keys that no yaml mentions: ``method.estimator.k=50``. fairfr itself knows which
    keys exist, and refuses others. conf/config.yaml begins with them."""
    groups = ("dataset", "train", "backbone", "method", "protocol", "store")
    node = OmegaConf.create({group: {} for group in groups})
    for group in groups:
        OmegaConf.set_struct(node[group], False)
    return node


ConfigStore.instance().store(group="hydra/sweeper", name="fairfr", node=FairfrSweeperConf, provider="fairfr")
ConfigStore.instance().store(name="fairfr_open_groups", node=open_groups(), provider="fairfr")
