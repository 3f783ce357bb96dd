"""How a command that works on files ends: with its report, or with one message."""

from __future__ import annotations

import signal
import sys
from collections.abc import Callable

from fairfr.core.errors import FairfrError
from fairfr.core.text import escape_control_chars


def run_and_print(work: Callable[[], str], interrupted: str = "interrupted") -> None:
    """Print what ``work`` reports; a mistake of the user's is one line on stderr and exit code 1.

    ``interrupted`` is what Ctrl-C is answered with.
    """
    # a batch system's polite kill must clean up as Ctrl-C does
    signal.signal(signal.SIGTERM, lambda *_: sys.exit("terminated"))
    try:
        print(escape_control_chars(work()))  # which may show names from files
    except FairfrError as error:
        sys.exit(error.named())
    except BrokenPipeError:  # the reader of the report has gone, as with `| head`
        sys.stdout = None
    except OSError as error:
        sys.exit(f"{error.filename or 'a file'} cannot be used: {error.strerror or error}.")
    except KeyboardInterrupt:
        sys.exit(interrupted)
