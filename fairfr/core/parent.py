"""Ending with the process that started this one, however that one ended."""

from __future__ import annotations

import multiprocessing
import os
import threading
import time

POLL = 1.0


def end_with_parent(parent: int | None = None, grace: float = 0.0) -> None:
    """End this process when its parent is gone, ``grace`` seconds later. Without a parent to watch, do nothing.

    ``parent``: its process id; None for the one that multiprocessing (joblib's workers) knows. A parent that is gone
    already is noticed too, because an orphan's ``getppid`` is never its parent's number again.

    A thread that looks at ``getppid`` and not Linux's PR_SET_PDEATHSIG: that signal is sent when the *thread* that
    started the child ends, and joblib starts workers from threads that end earlier; it is also lost when the parent
    dies before the call. A look costs nothing, works on every Unix, and long computations release the interpreter.
    """
    if parent is None:
        known = multiprocessing.parent_process()
        if known is None or known.pid is None:
            return
        parent = known.pid
    threading.Thread(target=_watch, args=(parent, grace), daemon=True, name="end-with-parent").start()


def _watch(parent: int, grace: float) -> None:
    while os.getppid() == parent:
        time.sleep(POLL)
    time.sleep(grace)
    os._exit(1)  # without clean-up: drafts of the dead are cleared by the next run, as after a kill
