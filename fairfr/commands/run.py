"""Run one cell, or with -m a sweep: fairfr run dataset=rfw backbone=magface method=ac_density"""

import sys

import hydra
from omegaconf import DictConfig

from fairfr.core.config import CONF_DIR
from fairfr.sweep import guarded, run_job


@hydra.main(version_base="1.3", config_path=str(CONF_DIR), config_name="config")
def run(config: DictConfig) -> None:
    """Hand the composed configuration to fairfr."""
    run_job(config)


def main() -> None:
    """Hydra's command line, checked first."""
    guarded(run, sys.argv[1:], CONF_DIR)
