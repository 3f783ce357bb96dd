"""Errors a user can act on: what is wrong, what was found, what to do."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Mapping

from fairfr.core.text import escape_control_chars


class FairfrError(Exception):
    """A mistake in the input. Shown as one message, without a traceback."""

    def __str__(self) -> str:
        return escape_control_chars(super().__str__())

    def named(self) -> str:
        """``DataError: ...``, for a screen, where no traceback says which kind of mistake it is."""
        return f"{type(self).__name__}: {self}"


class FairfrWarning(UserWarning):
    """What a person should know about data or a model that can be used all the same."""


class DataError(FairfrError, ValueError):
    """A data file, or an array, is missing, malformed or contradicts itself.

    ``code`` is the kind of mistake, for programs: codes are stable, messages are not. Blank where there is none yet.
    """

    def __init__(self, text: str, *, code: str = "") -> None:
        super().__init__(text)
        self.code = code


class ConfigError(FairfrError):
    """A configuration key or value is unknown or of the wrong type."""


class StorageError(FairfrError):
    """Results cannot be written where they belong."""


class UndeclaredInputError(FairfrError):
    """A method asked for an input that its ``needs`` does not list."""


class UnmetNeedError(FairfrError):
    """A method needs an input that this data set does not have."""


class MethodError(FairfrError):
    """A method does not keep what methods promise: its prediction cannot be used."""


def missing_groups_error(asker: str, dataset: str, columns: Mapping[str, int] | None = None) -> UnmetNeedError:
    """A method needs groups, and the data set is evaluated without any; ``columns`` as for ``name_groups``."""
    return UnmetNeedError(
        f"{asker} needs groups, but '{dataset}' is evaluated without any. {name_groups(columns or {})}"
    )


def name_groups(columns: Mapping[str, int]) -> str:
    """How to name groups, given the ``columns`` that a set has for them, with their numbers of levels."""
    if not columns:
        return "Add a column of groups to its table of images, and name it: 'dataset.grouping=[COLUMN]'."
    listed = ", ".join(f"{name} ({levels})" for name, levels in columns.items())
    return f"Its columns with 2 to 50 levels: {listed}. Name one or several: 'dataset.grouping=[{next(iter(columns))}]'"


def did_you_mean(wrong: str, known: Iterable[str]) -> str:
    """``" Did you mean 'x'? Known: ..."``, for the end of an unknown-name message."""
    names = sorted(known)
    if not names:
        return " There are none."
    otherwise_spelled = [name for name in names if name.lower() == wrong.lower()]  # C and c are not close to difflib
    close = otherwise_spelled or difflib.get_close_matches(wrong, names, n=1)
    hint = f" Did you mean '{close[0]}'?" if close else ""
    return f"{hint} Known: {', '.join(names)}."
