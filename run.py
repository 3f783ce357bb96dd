"""Run one cell, or with -m a sweep: python run.py dataset=rfw backbone=magface method=ac_density"""

import sys
from pathlib import Path

import hydra
from omegaconf import DictConfig

from fairfr.app import guarded, run_job


@hydra.main(version_base="1.3", config_path="conf", config_name="config")
def main(config: DictConfig) -> None:
    """Hand the composed configuration to fairfr."""
    run_job(config)


if __name__ == "__main__":
    guarded(main, sys.argv[1:], Path(__file__).parent / "conf")
