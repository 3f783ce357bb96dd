"""The data of a cell: the set that is tested and, for protocols that fit on another one, the set to fit on."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from fairfr.core.errors import ConfigError
from fairfr.core.run_key import RunKey
from fairfr.data.locate import LocatedData, locate
from fairfr.runner.settings import CellSettings


@dataclass(frozen=True, slots=True)
class CellData:
    """Where the data of a cell lies. Both sets have one backbone: vectors of two networks have nothing in common."""

    test: LocatedData
    train: LocatedData | None = None

    @classmethod
    def of(cls, settings: CellSettings) -> CellData:
        root = Path(settings.data_root)
        test = locate(settings.dataset, settings.backbone, root, settings.source)
        if settings.train is None:
            return cls(test)
        train = locate(settings.train, settings.backbone, root, settings.source)
        if train.source != test.source:
            raise ConfigError(
                f"{settings.train.id} ({train.source}) and {settings.dataset.id} ({test.source}) cannot meet in one "
                "run: a result is either of files or synthetic. Set source=files or source=synthetic."
            )
        return cls(test, train)

    @property
    def sets(self) -> tuple[LocatedData, ...]:
        return (self.test,) if self.train is None else (self.test, self.train)

    def key(self, settings: CellSettings) -> RunKey:
        return settings.key(self.test.source, self.test.digest, self._train_digest)

    def identity(self, settings: CellSettings) -> dict[str, Any]:
        return settings.identity(self.test.source, self.test.digest, self._train_digest)

    @property
    def _train_digest(self) -> str | None:
        return None if self.train is None else self.train.digest
