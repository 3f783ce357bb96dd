"""Ctrl-C and SIGTERM: whatever runs ends within two seconds. Workers end with the conductor's lock."""

from __future__ import annotations

import contextlib
import os
import signal
import socket
import sys
import threading
import time
from collections.abc import Callable
from types import FrameType
from typing import NoReturn

GRACE = 1.5  # seconds for an orderly end: a summary, and MLflow's record of it
SIGNALS = (signal.SIGINT, signal.SIGTERM)


class InterruptHandler:
    """Turns the first SIGINT or SIGTERM into a KeyboardInterrupt, and ends the process when that takes too long.

    ``say`` tells the user, once, with the exit code. Python handles a signal only between two steps of the main thread,
    which may be in the middle of a long computation: so a second thread gets the signal's number too, at once.
    """

    def __init__(self, say: Callable[[int], object]) -> None:
        self._say = say
        self._lock = threading.Lock()
        self._number: int | None = None
        for number in SIGNALS:
            signal.signal(number, self._raise)
        wake, woken = socket.socketpair()
        woken.setblocking(False)
        signal.set_wakeup_fd(woken.fileno(), warn_on_full_buffer=False)
        self._sockets = wake, woken  # open as long as the process
        threading.Thread(target=self._limit, args=(wake,), daemon=True, name="interrupt").start()

    @property
    def came(self) -> bool:
        """Whether there was a signal."""
        return self._number is not None

    @property
    def exit_code(self) -> int:
        """As shells give it."""
        return 128 + (self._number or signal.SIGINT)

    def end(self) -> NoReturn:
        """Say it, unless it was said, and end the process.

        At once: Python's own way stops daemon threads wherever they are, and one that is in C++ code, as while MLflow
        is being imported, would abort the process. Ray would print what it knows of the workers that have gone.
        """
        with self._lock:
            say = self._say
            self._say = lambda code: None
        say(self.exit_code)
        for stream in (sys.stdout, sys.stderr):
            with contextlib.suppress(OSError, ValueError):  # whoever read it has gone
                stream.flush()
        os._exit(self.exit_code)

    def _raise(self, number: int, frame: FrameType | None) -> None:
        self._number = number
        for again in SIGNALS:
            signal.signal(again, signal.SIG_IGN)  # it ends already
        raise KeyboardInterrupt

    def _limit(self, wake: socket.socket) -> None:
        number = wake.recv(1)[0]
        while number not in SIGNALS:
            number = wake.recv(1)[0]
        self._number = number
        time.sleep(GRACE)
        self.end()
