"""What ``--where key=value`` means: a condition on the parameters of a run."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

from fairfr.core.errors import ConfigError
from fairfr.core.run_key import DATASET_KEYS_OF_METHODS, Parameters

DATA = "data"
COMMA = re.compile(r",(?![^\[\]]*\])")  # outside of brackets


@dataclass(frozen=True, slots=True)
class Condition:
    """``key=value`` of ``--where``, or ``key=value,value``; the key may leave out its first parts (``k=500``).

    A data set's key that methods carry (``dataset.max_references``) means the methods' field. ``data`` is the digest of
    the files, or its first digits. ``null`` is met by runs that have no such key.
    """

    key: str
    values: tuple[Any, ...]

    @classmethod
    def parse(cls, text: str) -> Condition:
        import yaml

        key, equals, value = text.partition("=")
        if not equals or not key.strip():
            raise ConfigError(f"--where {text} is not key=value, such as --where method.estimator.k=500.")
        key = key.strip()
        parts = tuple(COMMA.split(value))
        if key == DATA:
            return cls(key, parts)
        try:
            read = [yaml.safe_load(part) for part in parts]
        except yaml.YAMLError as error:
            raise ConfigError(f"--where {text}: the value cannot be read.") from error
        return cls(
            DATASET_KEYS_OF_METHODS.get(key, key), tuple(_number(one) if isinstance(one, str) else one for one in read)
        )

    def named(self, parameters: Parameters) -> Parameters:
        """The parameters that the key means: the one of exactly that name, else those that end in it."""
        if self.key in parameters:
            return {self.key: parameters[self.key]}
        return {key: value for key, value in parameters.items() if key.endswith(f".{self.key}")}

    def holds(self, parameters: Parameters) -> bool:
        """Whether a run's parameter has one of the values."""
        named = self.named(parameters)
        if self.key == DATA:
            return any(str(parameters[DATA]).startswith(digits) for digits in self.values)
        return any(value in self.values for value in named.values()) or (not named and None in self.values)

    def single(self) -> list[Condition]:
        """One condition for each value."""
        return [Condition(self.key, (value,)) for value in self.values]


def _number(value: str) -> Any:
    """yaml takes 1e6 for a text."""
    try:
        return float(value)
    except ValueError:
        return value
