"""Who computes a cell: people who run the same sweep on one disk, network disks included, compute each cell once.

A claim is a small file below ``<out_root>/.claims/`` that only one process can create, and in which it counts. Another
process that watches the count stand still for long enough, by its own clock, takes over: clocks of two machines differ,
and the process ids of another machine or container prove nothing. Of a process of this machine it is known at once
whether it is gone.
"""

from __future__ import annotations

import contextlib
import getpass
import json
import os
import socket
import threading
import time
from collections.abc import Callable
from datetime import datetime
from pathlib import Path
from typing import Any

from fairfr.core.visible import visible
from fairfr.store.owner import Owner

FOLDER = ".claims"
BEAT = 10.0  # seconds between two counts
STALE = 90.0  # seconds without one, after which nobody is expected to count again
_WIDTH = 9  # digits of the count: the file keeps its length


class ClaimedError(Exception):
    """Another process computes the run; the message says which."""


class Claim:
    """The claim on the run called ``run``, a name that holds its key.

    Files are numbered, and the highest number has the claim. Whoever takes over creates the next number, which only
    one of several can do, on network disks too; nothing is renamed, and the file that was given up stays as it is.
    """

    def __init__(
        self,
        out_root: Path,
        run: str,
        beat: float = BEAT,
        stale: float = STALE,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._folder, self._run = out_root / FOLDER, run
        self._beat, self._stale, self._clock = beat, stale, clock
        self._seen: tuple[int, bytes, float] = (0, b"", 0.0)  # number and content of a claim, and since when
        self._file: int | None = None
        self._counter: threading.Thread | None = None
        self._released = threading.Event()

    def take(self) -> str | None:
        """Take the claim: None if it is this process's now, else who has it, in words."""
        self._folder.mkdir(parents=True, exist_ok=True)
        while True:
            number = max(self._numbers(), default=0)
            content = self._read(number)
            if number and content is not None and not self._is_given_up(number, content):
                return _in_words(content)
            if content is not None and self._create(number + 1) and self._is_alone(number, content):
                self._counter = threading.Thread(target=self._keep_counting, daemon=True, name="claim")
                self._counter.start()
                return None

    def release(self) -> None:
        """Let others have the claim: when the run is stored, or has failed."""
        if self._file is None:
            return
        self._released.set()
        if self._counter is not None:
            self._counter.join()  # before the file is closed, whose number another one may get
        if self._is_ours():
            for number in [*(n for n in self._numbers() if n < self._number), self._number]:
                self._path(number).unlink(missing_ok=True)
        os.close(self._file)
        self._file = None
        with contextlib.suppress(OSError):
            self._folder.rmdir()  # only if it is empty

    def _path(self, number: int) -> Path:
        return self._folder / f"{self._run}.{number}"

    def _numbers(self) -> list[int]:
        """The numbers of the files that there are, ascending."""
        endings = (path.name.removeprefix(f"{self._run}.") for path in self._folder.glob(f"{self._run}.*"))
        return sorted(int(ending) for ending in endings if ending.isdigit())

    def _read(self, number: int) -> bytes | None:
        """The content of a claim; None if it has just gone, nothing for number 0: there is no claim."""
        try:
            return self._path(number).read_bytes() if number else b""
        except FileNotFoundError:
            return None

    def _is_given_up(self, number: int, content: bytes) -> bool:
        owner = Owner.from_dict(_parsed(content).get("owner"))
        if owner is not None and owner.is_provably_dead():
            return True
        now = self._clock()
        if self._seen[:2] != (number, content):
            self._seen = (number, content, now)
        return now - self._seen[2] >= self._stale

    def _create(self, number: int) -> bool:
        """Whether this process could create the file: of several that try, one can."""
        try:
            self._file = os.open(self._path(number), os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o644)
        except (FileExistsError, FileNotFoundError):  # somebody was faster; or has just removed the empty folder
            self._folder.mkdir(parents=True, exist_ok=True)
            return False
        self._number, self._count = number, 0
        self._about = {"who": _me(), "since": _now(), "owner": Owner.me().as_dict()}
        self._write()
        return True

    def _is_alone(self, number: int, content: bytes) -> bool:
        """Whether nobody created a higher file, and the claim that was given up is still the one that was watched.

        Otherwise its process came back to life and released it: somebody else may have begun with a low number.
        """
        if max(self._numbers(), default=0) == self._number and self._read(number) == content:
            return True
        assert self._file is not None
        self._path(self._number).unlink(missing_ok=True)
        os.close(self._file)
        self._file = None
        return False

    def _keep_counting(self) -> None:
        while not self._released.wait(self._beat):
            try:
                self._count += 1
                self._write()
            except OSError:  # the file is gone: another process has taken over
                return

    def _write(self) -> None:
        """Into the file that this process created, whatever has its name now; others see it once it is synced."""
        content = json.dumps({**self._about, "count": f"{self._count:0{_WIDTH}d}"}).encode()
        os.pwrite(self._file, content, 0)  # type: ignore[arg-type]
        os.fsync(self._file)  # type: ignore[arg-type]

    def _is_ours(self) -> bool:
        """Whether the file of our number is the one that we created."""
        try:
            return os.path.samestat(os.fstat(self._file or 0), os.stat(self._path(self._number)))
        except OSError:
            return False


def _parsed(content: bytes) -> dict[str, Any]:
    try:
        parsed = json.loads(content)
    except ValueError:  # of a process that was killed before it could write
        return {}
    return parsed if isinstance(parsed, dict) else {}


def _in_words(content: bytes) -> str:
    about = _parsed(content)
    return visible(f"{about.get('who', 'an unknown process')} since {about.get('since', 'just now')}")


def _me() -> str:
    try:
        user = getpass.getuser()
    except (KeyError, OSError):  # a container may run under a number without a name
        user = str(os.getuid())
    return f"{user}@{socket.gethostname()} (process {os.getpid()})"


def _now() -> str:
    return datetime.now().astimezone().strftime("%Y-%m-%d %H:%M:%S %Z")
