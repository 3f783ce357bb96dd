"""The command line of ``run``: checked, handed to Hydra, and ended in an orderly way."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from fairfr.core.errors import FairfrError
from fairfr.sweep.arguments import prepare
from fairfr.sweep.interrupt import InterruptHandler
from fairfr.sweep.job import EXIT_FAILED
from fairfr.sweep.terminal import Terminal

INTERRUPTED = "interrupted (exit code {code}). Finished runs are kept; the same command goes on from there."


def guarded(main: Callable[[], Any], arguments: Sequence[str], conf: Path) -> None:
    """Run Hydra's main so that a user's mistake ends in one message and a non-zero exit code."""
    interrupt = InterruptHandler(lambda code: Terminal().error(INTERRUPTED.format(code=code)))
    try:
        sys.argv[1:] = prepare(arguments, conf)
        main()
    except FairfrError as error:
        Terminal().error(error.named())
        sys.exit(EXIT_FAILED)
    except (SystemExit, KeyboardInterrupt) as ending:
        if isinstance(ending, SystemExit) and not interrupt.came:  # Ray turns a SIGTERM into a SystemExit
            raise
        interrupt.end()
