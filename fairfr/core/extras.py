"""Which optional extra of the package brings a module that is not installed.

The bare package is the library. Everything else comes with an extra, and a missing one is always told in the same
sentence: ``fairfr run needs the extra: pip install 'fairfr[run]'``.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from fairfr.core.errors import FairfrError

EXTRA_OF_MODULE = {
    "pandas": "files",
    "pyarrow": "files",
    "rich": "files",
    "filelock": "files",
    "hydra": "run",
    "omegaconf": "run",
    "mlflow": "run",
    "matplotlib": "run",
    "jinja2": "run",
    "torch": "torch",
    "joblib": "parallel",
    "submitit": "submitit",
    "ray": "ray",
    "onnxruntime": "extract",
    "PIL": "extract",
    "dlib": "faces",
    "face_recognition_models": "faces",
    "mcgrad": "multicalibration",
}
"""By the name under which a module is imported."""

EXTRA_OF_COMMAND = {
    "fairfr run": "run",
    "fairfr tables": "run",
    "fairfr rescore": "run",
    "fairfr sync": "run",
    "fairfr ui": "run",
    "fairfr extract": "extract",
    "fairfr faces": "faces",
    "fairfr calibrate fit": "run",
    "fairfr calibrate score": "files",
    "fairfr calibrate threshold": "files",
}
"""Commands with the extra that brings all they need; where `files` is enough, only parts of a command are listed."""


class MissingExtraError(FairfrError, ImportError):
    """A part of fairfr was asked for whose optional packages are not installed."""


@contextmanager
def explain_missing_extra(asker: str) -> Iterator[None]:
    """Turn the failed import of an optional package into one sentence that says what to install.

    Parameters
    ----------
    asker : str
        What the user asked for, such as ``fairfr run`` or ``ACMLP.fit``.
    """
    try:
        yield
    except ModuleNotFoundError as error:
        extra = _extra_for(asker, error.name or "")
        if extra is None:
            raise
        said = f"{asker} needs the extra: pip install 'fairfr[{extra}]'"
        if not asker.startswith("fairfr "):  # in a notebook, one package may be all that is wanted
            said = f"{said} ({str(error.name).partition('.')[0]} is missing)"
        raise MissingExtraError(said) from error


def _extra_for(asker: str, module: str) -> str | None:
    extra = EXTRA_OF_MODULE.get(module.partition(".")[0])
    if extra == "files":
        return EXTRA_OF_COMMAND.get(asker, extra)
    return extra
