"""The runs of one study, found by data set, backbone, method and whatever the study varies."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import Any, TypeAlias

from fairfr.core.types import Source
from fairfr.stored.reading import Reading
from fairfr.stored.run import Run
from fairfr.stored.selection import made_by_installed_code

Setting: TypeAlias = tuple[str, str]
"""A data set and a backbone."""


class StudyRuns:
    """Completed runs that carry the name of one study, all of one data source, read in one way.

    Of runs of one configuration the one of today's code counts, and of several of these the last.
    """

    def __init__(self, name: str, source: Source, reading: Reading, runs: Iterable[Run]) -> None:
        self.name = name
        self.source = source
        self.reading = reading
        newest: dict[Any, Run] = {}
        for run in sorted(runs, key=lambda run: (made_by_installed_code(run) is True, run.result.origin.finished)):
            newest[_configuration(run)] = run
        self._runs = [run.read(reading) for run in newest.values()]

    def __len__(self) -> int:
        return len(self._runs)

    def __iter__(self) -> Iterator[Run]:
        return iter(self._runs)

    @property
    def settings(self) -> list[Setting]:
        """Data sets with backbones that have runs, by name."""
        return sorted({run.cell[:2] for run in self})

    def settings_after(self, printed: Collection[Setting]) -> list[Setting]:
        """The same, those that the paper prints first and in its order."""
        return [at for at in printed if at in self.settings] + [at for at in self.settings if at not in printed]

    def label(self, setting: Setting) -> str:
        """Data set and backbone in words."""
        result = next(run.result for run in self if run.cell[:2] == setting)
        return f"{result.dataset.label} x {result.backbone.label}"

    def find(self, setting: Setting | None = None, method: str | None = None, **parameters: Any) -> list[Run]:
        """The runs of a setting and method with these parameters, named by their last part (``size=600``)."""
        return [
            run
            for run in self
            if setting in (None, run.cell[:2])
            and method in (None, run.result.method.id)
            and all(self.value(run, name) == value for name, value in parameters.items())
        ]

    def one(self, setting: Setting, method: str, **parameters: Any) -> Run | None:
        """The run with these parameters; of several, the one that differs least from its yaml files."""
        found = self.find(setting, method, **parameters)
        return min(found, key=lambda run: len(run.differs), default=None)

    def values(self, name: str, runs: Sequence[Run] | None = None) -> list[Any]:
        """What a parameter is in these runs, each value once, in ascending order; None is left out."""
        if runs is None:
            runs = self._runs
        found = {self.value(run, name) for run in runs}
        return sorted(found - {None})

    @staticmethod
    def value(run: Run, name: str) -> Any:
        """A parameter of a run, named by the last part of its key (``size`` of ``protocol.splitter.size``)."""
        found = run.parameters
        return next((value for key, value in found.items() if key == name or key.endswith(f".{name}")), None)


def _configuration(run: Run) -> Any:
    return (*run.cell[:2], run.result.method.id, repr(sorted(run.parameters.items(), key=str)))
