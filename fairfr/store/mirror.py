"""Which runs MLflow has already: a mark for each, so that a kill between the two is repaired by the next run."""

from __future__ import annotations

from pathlib import Path

from fairfr.core.keys import RunKey
from fairfr.store.mlflow import MlflowMirror, default_uri
from fairfr.store.settings import StoreSettings


class Mirror:
    """Keeps MLflow in step with the run folders of one ``out_root``. The process starts on first need."""

    def __init__(self, settings: StoreSettings, out_root: Path) -> None:
        self.uri = settings.tracking_uri or default_uri(out_root)
        self._experiment = settings.experiment or "fairfr"
        self._out_root = out_root
        self._process: MlflowMirror | None = None

    def start(self) -> MlflowMirror:
        if self._process is None:
            local = self._out_root / "mlartifacts" if self.uri.startswith("sqlite:") else None
            self._process = MlflowMirror(self.uri, self._experiment, local)
        return self._process

    def has(self, key: RunKey) -> bool:
        """Whether this key was logged to this store, as far as we know."""
        if self.uri.startswith("sqlite:///") and not Path(self.uri.removeprefix("sqlite:///")).exists():
            return False
        mark = self._mark(key)
        return mark.exists() and mark.read_text(encoding="utf-8") == self.uri

    def log(self, key: RunKey, folder: Path) -> None:
        self._mark(key).unlink(missing_ok=True)
        self.start().log(folder)
        self._mark(key).parent.mkdir(parents=True, exist_ok=True)
        self._mark(key).write_text(self.uri, encoding="utf-8")

    def close(self) -> None:
        if self._process is not None:
            self._process.close()
            self._process = None

    def _mark(self, key: RunKey) -> Path:
        return self._out_root / ".mirrored" / f"{key.dataset}-{key.backbone}-{key.method}-{key}"
