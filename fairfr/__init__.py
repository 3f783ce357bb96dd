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
    import importlib

    if name in _MORE:
        return getattr(importlib.import_module(_MORE[name]), name)
    if name[:1].isupper():
        from fairfr.library.catalogue import model_class, targets

        if name in targets():
            return model_class(name)
        from fairfr.core.errors import did_you_mean

        raise AttributeError(f"fairfr has no method '{name}'.{did_you_mean(name, targets())}", name=name)
    raise AttributeError(f"module 'fairfr' has no attribute '{name}'", name=name)


def __dir__() -> list[str]:
    from fairfr.library.catalogue import targets

    return sorted({*(name for name in globals() if name != "TYPE_CHECKING"), *_MORE, *targets()})
