"""The data of a cell: the set that is tested, the set to fit on where that is another one, and a cohort of images."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from fairfr.core.errors import ConfigError
from fairfr.core.run_key import RunKey
from fairfr.data.cohort_file import locate_cohort
from fairfr.data.files import DataFile
from fairfr.data.locate import LocatedData, locate
from fairfr.runner.settings import CellSettings


@dataclass(frozen=True, slots=True)
class CellData:
    """Where the data of a cell lies. All of it has one backbone: vectors of two networks have nothing in common."""

    test: LocatedData
    train: LocatedData | None = None
    cohort: DataFile | None = None

    @classmethod
    def of(cls, settings: CellSettings) -> CellData:
        root = Path(settings.data_root)
        test = locate(settings.dataset, settings.backbone, root, settings.source)
        check_cohort(settings)
        cohort = None
        if settings.cohort is not None:
            cohort = locate_cohort(settings.cohort, settings.backbone.id, root)
        if settings.train is None:
            return cls(test, None, cohort)
        train = locate(settings.train, settings.backbone, root, settings.source)
        if train.source != test.source:
            raise ConfigError(
                f"{settings.train.id} ({train.source}) and {settings.dataset.id} ({test.source}) cannot meet in one "
                "run: a result is either of files or synthetic. Set source=files or source=synthetic."
            )
        return cls(test, train, cohort)

    @property
    def sets(self) -> tuple[LocatedData, ...]:
        return (self.test,) if self.train is None else (self.test, self.train)

    def key(self, settings: CellSettings) -> RunKey:
        return settings.key(self.test.source, self.test.digest, self._train_digest, self._cohort_digest)

    def identity(self, settings: CellSettings) -> dict[str, Any]:
        return settings.identity(self.test.source, self.test.digest, self._train_digest, self._cohort_digest)

    @property
    def _train_digest(self) -> str | None:
        return None if self.train is None else self.train.digest

    @property
    def _cohort_digest(self) -> str | None:
        return None if self.cohort is None else self.cohort.digest


def check_cohort(settings: CellSettings) -> None:
    """ConfigError where the cohort that is named and the one that the method takes do not go together."""
    source = getattr(settings.method.unfitted, "cohort", None)
    if settings.cohort is not None and source in (None, "train"):
        raise ConfigError(
            f"cohort={settings.cohort} names images beside the pairs, but method={settings.method.id} does not use "
            "them. Leave it out, or set method=ac_cohort method.estimator.cohort=both (or external)."
        )
    if settings.cohort is None and source in ("external", "both"):
        raise ConfigError(
            f"method.estimator.cohort={source} needs a data set of images beside the pairs: cohort=NAME, a folder "
            "below data_root with embeddings."
        )
