"""Where an MLflow store is: a tracking server, or a sqlite database beside the runs."""

from __future__ import annotations

from pathlib import Path

EXPERIMENT = "fairfr"
_SQLITE = "sqlite:///"


def default_uri(out_root: Path) -> str:
    """The sqlite database beside the runs."""
    return f"{_SQLITE}{(out_root / 'mlflow.db').resolve()}"


def database_file(uri: str) -> Path | None:
    """The file of a sqlite store; None for any other."""
    return Path(uri.removeprefix(_SQLITE)) if uri.startswith(_SQLITE) else None


def is_missing(uri: str) -> bool:
    """Whether the store is a sqlite file that does not exist (a client would create an empty one)."""
    file = database_file(uri)
    return file is not None and not file.exists()
