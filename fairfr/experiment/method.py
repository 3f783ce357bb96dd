"""The method that a configuration names."""

from __future__ import annotations

from fairfr.core.calibrator import Calibrator
from fairfr.core.conform import instantiate
from fairfr.core.errors import ConfigError
from fairfr.experiment.settings import Settings


def make_method(settings: Settings) -> Calibrator:
    """A new, unfitted one."""
    method = instantiate(settings.method.estimator, "method.estimator")
    if not isinstance(method, Calibrator):
        target = settings.method.estimator["_target_"]
        raise ConfigError(f"method.estimator._target_={target} is no method: it lacks needs, fit or predict.")
    return method
