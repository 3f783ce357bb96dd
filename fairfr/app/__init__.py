"""The app: Hydra's command line, the running sweep, and what the terminal shows."""

from fairfr.app.config import default_settings, read_settings
from fairfr.app.main import SweepReport, guarded, run_job

__all__ = ["SweepReport", "default_settings", "guarded", "read_settings", "run_job"]
