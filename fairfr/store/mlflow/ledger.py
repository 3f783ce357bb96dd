"""What MLflow has taken, in ``<out_root>/.mirrored``: who repeats a command need not import MLflow to ask.

Each line is the store's address without its password, the experiment, the key of a run or the id of a sweep, the state
in which it was taken, and MLflow's id. A line that is lost or cut short costs a question; ``fairfr sync`` asks anyway.
"""

from __future__ import annotations

import contextlib
import json
import os
import sqlite3
from pathlib import Path

from fairfr.core.storage import open_regular
from fairfr.store.mlflow.client import EXPERIMENT, database_file, store_uri
from fairfr.store.secrets import mask_passwords
from fairfr.store.settings import StoreSettings

LEDGER = ".mirrored"


class Ledger:
    """The lines of one store and experiment."""

    def __init__(self, store: StoreSettings, out_root: Path) -> None:
        uri = store_uri(store, out_root)
        self._path = out_root / LEDGER
        self._database = database_file(uri)
        self._place = [mask_passwords(uri), store.experiment or EXPERIMENT]
        self._taken: dict[tuple[str, str], str] | None = None

    def has(self, name: str, state: str) -> bool:
        """Whether MLflow took this run or sweep in this state. A database beside the runs must still have it."""
        if self._taken is None:
            self._taken = self._read()
        run_id = self._taken.get((name, state))
        if run_id is None or self._database is None:
            return run_id is not None
        return _is_in(self._database, run_id)

    def add(self, name: str, state: str, run_id: str) -> None:
        """MLflow has it now, under this id."""
        if self.has(name, state) and self._taken is not None and self._taken[name, state] == run_id:
            return
        line = json.dumps([*self._place, name, state, run_id]) + "\n"
        # neither follow a link nor wait for who reads a pipe
        flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_NOFOLLOW | os.O_NONBLOCK
        with contextlib.suppress(OSError):  # on a full disk MLflow is asked again next time
            file = os.open(self._path, flags, 0o666)
            try:
                os.write(file, line.encode())  # at once: other processes write here too
            finally:
                os.close(file)
        assert self._taken is not None
        self._taken[name, state] = run_id

    def _read(self) -> dict[tuple[str, str], str]:
        taken: dict[tuple[str, str], str] = {}
        try:
            with open_regular(self._path) as file:
                lines = file.read().splitlines()
        except OSError:  # there is none, or it may not be read
            return taken
        for line in lines:
            try:
                address, experiment, name, state, run_id = json.loads(line)
            except (ValueError, TypeError, RecursionError):  # cut short by a kill or a full disk
                continue
            if [address, experiment] == self._place:
                taken[str(name), str(state)] = str(run_id)
        return taken


def _is_in(database: Path, run_id: str) -> bool:
    """Whether a sqlite database of MLflow's has a run that nobody has deleted.

    Without MLflow's own code, which takes seconds to import. Should its tables change, MLflow is asked.
    """
    query = "SELECT 1 FROM runs WHERE run_uuid = ? AND lifecycle_stage = 'active'"
    try:
        with contextlib.closing(sqlite3.connect(f"{database.resolve().as_uri()}?mode=ro", timeout=1, uri=True)) as db:
            return db.execute(query, (run_id,)).fetchone() is not None
    except sqlite3.Error:
        return False
