"""Run one configuration, or with -m a sweep of many.

  fairfr run dataset=rfw backbone=magface method=ac_density
  fairfr run -m dataset=mine backbone=mynet 'method=glob(*)' source=files

{choices}

keys:
  data_root=data       folder of your data sets (docs/own_data.md)
  out_root=outputs     folder of runs, tables and MLflow's database
  source=auto          files | synthetic; auto: synthetic if there are no files
  dataset.grouping=[ethnicity,gender]   groups (default: none for your own data)
  dataset.min_pairs=20  dataset.missing=stop|drop  dataset.max_references=null
  dataset@train=NAME   another data set to fit on, with protocol=transfer
  cohort=NAME          images without pairs, for method=ac_cohort
  method.estimator.KEY=VALUE   (fairfr run -c job -p method method=X lists them)
  seed=0 threads=null  random seed; number of threads (null: all)
  force=false          true: run again what is done
  on_error=continue    what a failed run does to a sweep: continue | stop

flags:
  -m                   a sweep: method=platt,beta, or 'method=glob(*)'
  hydra.sweeper.dry_run=true   with -m: show the runs, and which are done
  -c job               show the configuration instead of running it
  --config-dir DIR     your own DIR/method/mine.yaml counts like ours
  --hydra-help         everything else that Hydra can do

Exit code 1: a run has no result. 3: MLflow does not have it yet (fairfr sync).

next: fairfr tables
"""

import argparse
import sys
from pathlib import Path
from textwrap import fill

import hydra
from omegaconf import DictConfig

from fairfr.commands._help import OPTION_WIDTH, WIDTH
from fairfr.core.config import CONF_DIR
from fairfr.sweep import guarded, run_job

USAGE = "usage: fairfr run [-m] [KEY=VALUE ...]"
CHOICES = "choices (docs/commands.md also has networks, protocols and experiments):"


@hydra.main(version_base="1.3", config_path=str(CONF_DIR), config_name="config")
def run(config: DictConfig) -> None:
    """Hand the composed configuration to fairfr."""
    run_job(config)


def main() -> None:
    """Hydra's command line, checked first."""
    flags = argparse.ArgumentParser(add_help=False, allow_abbrev=False)
    flags.add_argument("-h", "--help", action="store_true")
    flags.add_argument("-cd", "--config-dir", type=Path)
    known, _ = flags.parse_known_args()
    if known.help:
        print(help_text(known.config_dir))
        return
    guarded(run, sys.argv[1:], CONF_DIR)


def help_text(config_dir: Path | None = None) -> str:
    """What ``--help`` says, with the choices of ``conf`` and of the user's own folder."""
    lines = [CHOICES]
    for group in ("dataset", "method", "store"):
        names = choices(CONF_DIR, group)
        if config_dir is not None:
            names = sorted({*names, *choices(config_dir, group)})
        indent = " " * OPTION_WIDTH
        lines.append(fill(f"  {group:<{OPTION_WIDTH - 2}}{', '.join(names)}", WIDTH, subsequent_indent=indent))
    return f"{USAGE}\n\n{(__doc__ or '').strip().format(choices=chr(10).join(lines))}"


def choices(folder: Path, group: str) -> list[str]:
    """The yamls of one group, without ablations and extras."""
    return sorted(path.stem for path in (folder / group).glob("*.yaml"))
