"""Run one cell, or with -m a sweep: fairfr run dataset=rfw backbone=magface method=ac_density"""

import sys
from pathlib import Path

import hydra
from omegaconf import DictConfig

import fairfr
from fairfr.app import guarded, run_job

PACKAGE = Path(fairfr.__file__).parent
# a wheel holds the configurations inside the package, a checkout beside it
CONF = next(folder for folder in (PACKAGE / "conf", PACKAGE.parent / "conf") if (folder / "config.yaml").is_file())


@hydra.main(version_base="1.3", config_path=str(CONF), config_name="config")
def run(config: DictConfig) -> None:
    """Hand the composed configuration to fairfr."""
    run_job(config)


def main() -> None:
    """Hydra's command line, checked first."""
    guarded(run, sys.argv[1:], CONF)
