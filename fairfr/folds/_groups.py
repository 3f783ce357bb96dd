"""The groups that a protocol's configuration names."""

from __future__ import annotations

from fairfr.core.errors import ConfigError, did_you_mean, no_groups
from fairfr.core.types import Grouping, VerificationSet


def grouping_of(data: VerificationSet, name: str | None, protocol: str) -> Grouping:
    """The grouping called ``name`` of a data set; None: the one that group-aware methods use."""
    if data.grouping is None:
        raise no_groups(f"protocol={protocol}", data.id)
    if name is not None and name not in data.groupings:
        raise ConfigError(
            f"protocol.splitter.grouping={name}: {data.id} has no such grouping.{did_you_mean(name, data.groupings)}"
        )
    return data.groupings[name or data.grouping]


def level_of(grouping: Grouping, group: str, dataset: str) -> int:
    """The code of a group; capitals do not matter."""
    names = [level.casefold() for level in grouping.levels]
    if group.casefold() not in names:
        raise ConfigError(
            f"protocol.splitter.group={group}: {dataset} has no such group by {grouping.id}."
            f"{did_you_mean(group, grouping.levels)}"
        )
    return names.index(group.casefold())
