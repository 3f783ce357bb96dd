"""fairfr: adaptive calibration for face verification, and the methods it competes with.

As a library: ``fairfr.ACLinear(C=1.0).fit(embeddings, pairs, same)`` and every other method likewise (``dir(fairfr)``
lists them); ``.probability(embeddings, pairs)``, ``.save(path)``, ``fairfr.load(path)``.

``fairfr.compare({"beta": fairfr.Beta(), ...}, embeddings, pairs, same)`` fits and scores several methods on held-out
pairs. ``fairfr.results()`` and ``fairfr.runs()`` are the numbers and the parameters of stored runs, as pandas data
frames. ``fairfr.metrics`` has the metrics for arrays.

A mistake in what is handed over is a ``fairfr.FairfrError``: ``DataError`` (also a ``ValueError``), ``ConfigError`` and
so on. What should be known all the same is a ``fairfr.FairfrWarning``, for Python's filters of warnings.
"""

from typing import TYPE_CHECKING

from fairfr._methods import METHODS as _METHODS
from fairfr.core.errors import ConfigError as ConfigError
from fairfr.core.errors import DataError as DataError
from fairfr.core.errors import FairfrError as FairfrError
from fairfr.core.errors import FairfrWarning as FairfrWarning
from fairfr.core.errors import MethodError as MethodError
from fairfr.core.errors import StorageError as StorageError
from fairfr.core.errors import UndeclaredInputError as UndeclaredInputError
from fairfr.core.errors import UnmetNeedError as UnmetNeedError
from fairfr.core.extras import MissingExtraError as MissingExtraError

if TYPE_CHECKING:
    from typing import Any

__version__ = "0.2.0"

_MORE = {
    "Model": "fairfr.library.model",
    "PairClassifier": "fairfr.library.pair_classifier",
    "as_model": "fairfr.library.method_classes",
    "audit": "fairfr.auditing.audit",
    "compare": "fairfr.comparing.compare",
    "evaluate": "fairfr.auditing.evaluate",
    "load": "fairfr.library.model_file",
    "results": "fairfr.stored.frame",
    "runs": "fairfr.stored.frame",
}
_ROOMS = ("metrics",)


def __getattr__(name: str) -> "Any":
    """Methods are imported when they are asked for."""
    if name in _MORE:
        return getattr(_module(_MORE[name]), name)
    if name in _ROOMS:
        return _module(f"fairfr.{name}")
    if not name[:1].isupper():
        raise AttributeError(f"module 'fairfr' has no attribute '{name}'", name=name)
    catalogue = _module("fairfr.library.method_classes")
    if name not in _METHODS and name not in catalogue.method_targets():
        known = _module("fairfr.core.errors").did_you_mean(name, catalogue.method_targets())
        raise AttributeError(f"fairfr has no method '{name}'.{known}", name=name)
    return catalogue.model_class(name)


def __dir__() -> list[str]:
    return sorted({*(name for name in globals() if name != "TYPE_CHECKING"), *_MORE, *_ROOMS, *_METHODS})


def _module(name: str) -> "Any":
    # by name: rooms that import this file do not import the library
    import importlib

    return importlib.import_module(name)
