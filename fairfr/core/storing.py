"""What to say when a place cannot be written: a full disk, a folder that is read-only or somebody else's."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from fairfr.core.errors import StorageError


@contextmanager
def storing(place: Path) -> Iterator[None]:
    """Meanwhile, what the system refuses is a StorageError that names the file, or else ``place``, and what to do."""
    try:
        yield
    except BrokenPipeError:  # whoever read the output has gone; that is no matter of places
        raise
    except OSError as error:
        reason = error.strerror or str(error) or type(error).__name__
        raise StorageError(
            f"{error.filename or place} cannot be written: {reason.rstrip('.').lower()}. "
            "Make room or allow writing there, or choose another place (out_root)."
        ) from error
