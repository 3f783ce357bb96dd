"""Which runs MLflow has already: a mark for each, so that a kill between the two is repaired by the next run."""

from __future__ import annotations

import shutil
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TypeVar

from fairfr.store.folder import Result
from fairfr.store.mlflow.process import MlflowEndedError, MlflowError, MlflowMirror, default_uri
from fairfr.store.secrets import masked
from fairfr.store.settings import StoreSettings
from fairfr.store.sweep import Sweep, SweepEnd

T = TypeVar("T")


class Mirror:
    """Keeps MLflow in step with the run folders of one ``out_root``. The process starts on first need.

    MLflow may be slow, silent or gone: in all it costs ``settings.patience`` seconds without an answer, or with a
    refusal. Then ``has_given_up``, and every further request is an MlflowError at once. An answer restores patience.
    """

    def __init__(self, settings: StoreSettings, out_root: Path) -> None:
        self._uri = settings.tracking_uri or default_uri(out_root)
        self._experiment = settings.experiment or "fairfr"
        self._out_root = out_root
        self._process: MlflowMirror | None = None
        self._patience = self._left = settings.patience
        self._refusal: str | None = None

    @property
    def uri(self) -> str:
        """Where MLflow is, as it may be shown."""
        return masked(self._uri)

    @property
    def has_given_up(self) -> bool:
        return self._left <= 0

    def start(self) -> MlflowMirror:
        if self._process is None:
            if self._database_is_gone:  # what was marked went with it, also when it is there again
                shutil.rmtree(self._out_root / ".mirrored", ignore_errors=True)
            local = self._out_root / "mlartifacts" if self._uri.startswith("sqlite:") else None
            self._process = MlflowMirror(self._uri, self._experiment, local, self._patience)
        return self._process

    def has(self, result: Result) -> bool:
        """Whether this run was logged to this store, as far as we know."""
        return self._read_mark(_mark_of_run(result)) == self._place

    def log(
        self, result: Result, folder: Path, metrics: Mapping[str, float] | None = None, sweep: Sweep | None = None
    ) -> None:
        self._unmark(_mark_of_run(result))
        self._ask(lambda process: process.log(folder, metrics, sweep))
        self._mark(_mark_of_run(result), self._place)

    def logged(self) -> dict[str, list[str]]:
        """What MLflow itself says it has: the key of each run, the id of each sweep, and when they finished."""
        return self._ask(lambda process: process.logged())

    def tidy(self) -> int:
        """Remove runs from MLflow that were never finished; returns how many."""
        return self._ask(lambda process: process.tidy())

    def open_sweep(self, sweep: Sweep) -> None:
        """Make the sweep's parent run, if there is none."""
        self._ask(lambda process: process.open_sweep(sweep))

    def has_sweep(self, sweep: Sweep, end: SweepEnd | None = None) -> bool:
        """Whether the sweep's parent run was finished in this store (and says what ``end`` says about its cells)."""
        mark = self._read_mark(_mark_of_sweep(sweep))
        return mark.startswith(f"{self._place}\n") and (end is None or mark == self._about(end))

    def close_sweep(self, sweep: Sweep, end: SweepEnd, artifacts: Path | None = None) -> None:
        self._unmark(_mark_of_sweep(sweep))
        self._ask(lambda process: process.close_sweep(sweep, end, artifacts))
        self._mark(_mark_of_sweep(sweep), self._about(end))

    def close(self) -> None:
        if self._process is not None:
            self._process.close()
            self._process = None

    def _ask(self, request: Callable[[MlflowMirror], T]) -> T:
        """Within what is left of the patience; a process that has died is started again, once."""
        if self.has_given_up:
            raise MlflowError(self._refusal or f"{self.uri}: given up.")
        deadline = time.monotonic() + self._left
        try:
            try:
                answer = self._try(request, deadline)
            except MlflowEndedError:
                answer = self._try(request, deadline)
        except MlflowError as error:
            self._left, self._refusal = deadline - time.monotonic(), error.args[0]
            raise
        self._left = self._patience
        return answer

    def _try(self, request: Callable[[MlflowMirror], T], deadline: float) -> T:
        process = self.start()
        process.patience = max(0.0, deadline - time.monotonic())
        try:
            return request(process)
        except MlflowError:
            self.close()  # one that could not open its store never will: the next request starts another
            raise

    @property
    def _place(self) -> str:
        return f"{self.uri} {self._experiment}"

    @property
    def _database_is_gone(self) -> bool:
        return self._uri.startswith("sqlite:///") and not Path(self._uri.removeprefix("sqlite:///")).exists()

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
