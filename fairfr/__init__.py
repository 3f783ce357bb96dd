"""fairfr: adaptive calibration for face verification, and the methods it competes with.

As a library: ``fairfr.ACLinear(C=1.0).fit(embeddings, pairs, same)`` and every other method likewise (``dir(fairfr)``
lists them); ``.probability(embeddings, pairs)``, ``.save(path)``, ``fairfr.load(path)``.
"""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from typing import Any

__version__ = "0.1.0"

_MORE = {"Model": "fairfr.library.model", "as_model": "fairfr.library.catalogue", "load": "fairfr.library.file"}


def __getattr__(name: str) -> "Any":
    """Methods are imported when they are asked for."""
    if name in _MORE:
        return getattr(_module(_MORE[name]), name)
    if not name[:1].isupper():
        raise AttributeError(f"module 'fairfr' has no attribute '{name}'", name=name)
    catalogue = _module("fairfr.library.catalogue")
    if name not in catalogue.targets():
        known = _module("fairfr.core.errors").did_you_mean(name, catalogue.targets())
        raise AttributeError(f"fairfr has no method '{name}'.{known}", name=name)
    return catalogue.model_class(name)


def __dir__() -> list[str]:
    methods = _module("fairfr.library.catalogue").targets()
    return sorted({*(name for name in globals() if name != "TYPE_CHECKING"), *_MORE, *methods})


def _module(name: str) -> "Any":
    # by name: rooms that import this file do not import the library
    import importlib

    return importlib.import_module(name)
