"""Errors a user can act on: what is wrong, what was found, what to do."""

from __future__ import annotations

import difflib
from collections.abc import Iterable

from fairfr.core.visible import visible


class FairfrError(Exception):
    """A mistake in the input. Shown as one message, without a traceback."""

    def __str__(self) -> str:
        return visible(f"{type(self).__name__}: {super().__str__()}")


class DataError(FairfrError):
    """A data file is missing, malformed or contradicts itself."""


class ConfigError(FairfrError):
    """A configuration key or value is unknown or of the wrong type."""


class StorageError(FairfrError):
    """Results cannot be written where they belong."""


class UndeclaredInputError(FairfrError):
    """A method asked for an input that its ``needs`` does not list."""


class UnmetNeedError(FairfrError):
    """A method needs an input that this data set does not have."""


def no_groups(asker: str, dataset: str) -> UnmetNeedError:
    """A method needs groups, and the data set is evaluated without any."""
    return UnmetNeedError(
        f"{asker} needs groups, but '{dataset}' is evaluated without any. "
        "Name the attribute columns of its images table: 'dataset.grouping=[ethnicity,gender]'."
    )


def did_you_mean(wrong: str, known: Iterable[str]) -> str:
    """``" Did you mean 'x'? Known: ..."``, for the end of an unknown-name message."""
    names = sorted(known)
    close = difflib.get_close_matches(wrong, names, n=1)
    hint = f" Did you mean '{close[0]}'?" if close else ""
    return f"{hint} Known: {', '.join(names)}."
