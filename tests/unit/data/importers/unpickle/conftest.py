"""Reading bytes as a pickle, and the message if they are refused; values that pickle as they are asked to."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from fairfr.core.errors import DataError
from fairfr.data.importers.unpickle.restricted import load_restricted


class Reduces:
    """Pickles as a call of anything."""

    def __init__(self, *parts: object) -> None:
        self.parts = parts

    def __reduce__(self) -> tuple[object, ...]:
        return self.parts


@pytest.fixture
def reduces() -> type[Reduces]:
    """Makes values that pickle as a call of anything."""
    return Reduces


@pytest.fixture
def load(tmp_path: Path) -> Callable[[bytes], object]:
    """Puts the bytes into a file and reads it."""

    def read(data: bytes) -> object:
        path = tmp_path / "file.pickle"
        path.write_bytes(data)
        return load_restricted(path)

    return read


@pytest.fixture
def refusal(load: Callable[[bytes], object]) -> Callable[[bytes], str]:
    """The message of a DataError, which there must be."""

    def read(data: bytes) -> str:
        with pytest.raises(DataError) as error:
            load(data)
        return str(error.value)

    return read
