"""Ctrl-C and SIGTERM: whatever runs ends within two seconds, its workers with it."""

from __future__ import annotations

import contextlib
import os
import signal
import socket
import subprocess
import threading
import time
from collections.abc import Callable
from pathlib import Path
from types import FrameType

GRACE = 1.5  # seconds for an orderly end: a summary, and MLflow's record of it
SIGNALS = (signal.SIGINT, signal.SIGTERM)


class Interruption:
    """Turns the first SIGINT or SIGTERM into a KeyboardInterrupt, and ends the process when that took too long.

    ``say`` tells the user, once. Python handles a signal only between two steps of the main thread, which may be in the
    middle of a long computation: so a second thread gets the signal's number too, at once.
    """

    def __init__(self, say: Callable[[], None]) -> None:
        self._say, self._lock = say, threading.Lock()
        self._number: int | None = None
        for number in SIGNALS:
            signal.signal(number, self._raise)
        wake, woken = socket.socketpair()
        woken.setblocking(False)
        signal.set_wakeup_fd(woken.fileno(), warn_on_full_buffer=False)
        self._sockets = wake, woken  # open as long as the process
        threading.Thread(target=self._limit, args=(wake,), daemon=True, name="interruption").start()

    @property
    def came(self) -> bool:
        return self._number is not None

    @property
    def exit_code(self) -> int:
        """As shells give it."""
        return 128 + (self._number or signal.SIGINT)

    def tell(self) -> None:
        """Say it, unless it was said."""
        with self._lock:
            say, self._say = self._say, lambda: None
        say()

    def _raise(self, number: int, frame: FrameType | None) -> None:
        self._number = number
        for again in SIGNALS:
            signal.signal(again, signal.SIG_IGN)  # it ends already
        raise KeyboardInterrupt

    def _limit(self, wake: socket.socket) -> None:
        while (number := wake.recv(1)[0]) not in SIGNALS:
            pass
        self._number = number
        time.sleep(GRACE)
        self.tell()
        end_workers()
        os._exit(self.exit_code)


def end_workers() -> None:
    """Kill what this process started, and what that started.

    What has a session of its own ends by itself; so does joblib's clean-up.
    """
    session = os.getsid(0)
    for pid, command in _descendants(os.getpid()):
        with contextlib.suppress(OSError):
            if os.getsid(pid) == session and "resource_tracker" not in command:
                os.kill(pid, signal.SIGKILL)


def _descendants(parent: int) -> list[tuple[int, str]]:
    """Number and command of each."""
    children: dict[int, list[tuple[int, str]]] = {}
    for pid, its_parent, command in _processes():
        children.setdefault(its_parent, []).append((pid, command))
    found, new = [], children.get(parent, [])
    while new:
        found += new
        new = [child for pid, _ in new for child in children.get(pid, [])]
    return found


def _processes() -> list[tuple[int, int, str]]:
    """Number, parent and command of every process."""
    if not Path("/proc/self/stat").exists():  # macOS
        said = subprocess.run(["ps", "-A", "-o", "pid=,ppid=,args="], capture_output=True, text=True, timeout=1).stdout
        lines = [line.split(None, 2) for line in said.splitlines()]
        return [(int(line[0]), int(line[1]), line[-1]) for line in lines]
    found = []
    for path in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError, IndexError):
            after_name = (path / "stat").read_text(encoding="utf-8", errors="replace").rpartition(")")[2].split()
            command = (path / "cmdline").read_text(encoding="utf-8", errors="replace")
            found.append((int(path.name), int(after_name[1]), command))
    return found
