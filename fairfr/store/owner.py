"""Who wrote something: a process that others can prove to be dead, or else leave alone."""

from __future__ import annotations

import os
import subprocess
from dataclasses import asdict, dataclass
from functools import cache
from pathlib import Path
from typing import Any


@dataclass(frozen=True, slots=True)
class Owner:
    """One process of one boot of one machine.

    A host's name says little: two machines or containers may share it, and process ids start again in each. ``boot``
    is the kernel's own id of this boot, ``namespace`` where ``pid`` counts, ``started`` when that process began.
    """

    boot: str
    namespace: str
    pid: int
    started: str

    @classmethod
    def me(cls) -> Owner:
        return cls(_boot(), _namespace(), os.getpid(), _started(os.getpid()))

    @classmethod
    def from_dict(cls, stored: Any) -> Owner | None:
        """What ``as_dict`` gave; None for anything else."""
        try:
            return cls(str(stored["boot"]), str(stored["namespace"]), int(stored["pid"]), str(stored["started"]))
        except (TypeError, KeyError, ValueError):
            return None

    def as_dict(self) -> dict[str, Any]:
        return asdict(self)

    def is_provably_dead(self) -> bool:
        """Whether this machine can know that the process is gone: the same boot, the same numbers, no such process."""
        here = (_boot(), _namespace())
        if not self.boot or not self.started or (self.boot, self.namespace) != here:
            return False
        try:
            os.kill(self.pid, 0)
        except ProcessLookupError:
            return True
        except PermissionError:  # somebody else's: its start time can be read all the same
            pass
        now = _started(self.pid)
        return now not in ("", self.started)


@cache
def _boot() -> str:
    try:
        return Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii").strip()
    except OSError:
        return _said("sysctl", "-n", "kern.bootsessionuuid")  # macOS


@cache
def _namespace() -> str:
    """Containers share the machine's boot, but count their processes apart."""
    try:
        return os.readlink("/proc/self/ns/pid")
    except OSError:
        return ""


def _started(pid: int) -> str:
    """When a process began, in whatever unit the system has: it is only ever compared. Empty if that is not known."""
    try:
        stat = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace")
        return stat.rpartition(")")[2].split()[19]  # the name, in brackets, may itself hold blanks and brackets
    except (OSError, IndexError):
        return _said("ps", "-o", "lstart=", "-p", str(pid))


def _said(*command: str) -> str:
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=5, env={**os.environ, "LC_ALL": "C"})
    except (OSError, subprocess.SubprocessError):
        return ""
    return done.stdout.strip() if done.returncode == 0 else ""
