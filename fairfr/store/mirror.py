"""Which runs MLflow has already: a mark for each, so that a kill between the two is repaired by the next run."""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from pathlib import Path

from fairfr.store.folder import Result
from fairfr.store.process import MlflowMirror, default_uri
from fairfr.store.settings import StoreSettings
from fairfr.store.sweep import Sweep, SweepEnd


class Mirror:
    """Keeps MLflow in step with the run folders of one ``out_root``. The process starts on first need."""

    def __init__(self, settings: StoreSettings, out_root: Path) -> None:
        self.uri = settings.tracking_uri or default_uri(out_root)
        self._experiment = settings.experiment or "fairfr"
        self._out_root = out_root
        self._process: MlflowMirror | None = None

    def start(self) -> MlflowMirror:
        if self._process is None:
            if self._database_is_gone:  # what was marked went with it, also when it is there again
                shutil.rmtree(self._out_root / ".mirrored", ignore_errors=True)
            local = self._out_root / "mlartifacts" if self.uri.startswith("sqlite:") else None
            self._process = MlflowMirror(self.uri, self._experiment, local)
        return self._process

    def has(self, result: Result) -> bool:
        """Whether this run was logged to this store, as far as we know."""
        return self._read_mark(_mark_of_run(result)) == self._place

    def log(
        self, result: Result, folder: Path, metrics: Mapping[str, float] | None = None, sweep: Sweep | None = None
    ) -> None:
        self._unmark(_mark_of_run(result))
        self.start().log(folder, metrics, sweep)
        self._mark(_mark_of_run(result), self._place)

    def logged(self) -> dict[str, str]:
        """What MLflow itself says it has: the key of each run, the id of each sweep, and when it finished."""
        return self.start().logged()

    def has_sweep(self, sweep: Sweep, end: SweepEnd | None = None) -> bool:
        """Whether the sweep's parent run was finished in this store (and says what ``end`` says about its cells)."""
        mark = self._read_mark(_mark_of_sweep(sweep))
        return mark.startswith(f"{self._place}\n") and (end is None or mark == self._about(end))

    def close_sweep(self, sweep: Sweep, end: SweepEnd, artifacts: Path | None = None) -> None:
        self._unmark(_mark_of_sweep(sweep))
        self.start().close_sweep(sweep, end, artifacts)
        self._mark(_mark_of_sweep(sweep), self._about(end))

    def close(self) -> None:
        if self._process is not None:
            self._process.close()
            self._process = None

    @property
    def _place(self) -> str:
        return f"{self.uri} {self._experiment}"

    @property
    def _database_is_gone(self) -> bool:
        return self.uri.startswith("sqlite:///") and not Path(self.uri.removeprefix("sqlite:///")).exists()

    def _about(self, end: SweepEnd) -> str:
        return "\n".join([self._place, end.status, *end.keys])

    def _read_mark(self, name: str) -> str:
        path = self._out_root / ".mirrored" / name
        return path.read_text(encoding="utf-8") if path.exists() and not self._database_is_gone else ""

    def _mark(self, name: str, text: str) -> None:
        path = self._out_root / ".mirrored" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")

    def _unmark(self, name: str) -> None:
        (self._out_root / ".mirrored" / name).unlink(missing_ok=True)


def _mark_of_run(result: Result) -> str:
    return "-".join([*(result[noun]["id"] for noun in ("dataset", "backbone", "method")), result["key"]])


def _mark_of_sweep(sweep: Sweep) -> str:
    return f"sweep-{sweep.id}"
