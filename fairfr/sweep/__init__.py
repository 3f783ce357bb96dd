"""From a command line to cells: Hydra's command line, the running sweep, and what the terminal shows."""

from fairfr.sweep.cli import guarded
from fairfr.sweep.compose import default_settings, read_settings
from fairfr.sweep.job import run_job

__all__ = ["default_settings", "guarded", "read_settings", "run_job"]
