"""The app: Hydra's command line, the running sweep, and what the terminal shows."""

from fairfr.app.main import SweepReport, default_settings, guarded, read_settings, run_job

__all__ = ["SweepReport", "default_settings", "guarded", "read_settings", "run_job"]
