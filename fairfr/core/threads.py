"""One number of threads for numpy, torch, faiss, numba and scikit-learn, and imports before threads start."""

from __future__ import annotations

import os
import sys
from contextlib import suppress
from importlib import import_module
from typing import Any

from fairfr.core.calibrator import Calibrator
from fairfr.core.errors import ConfigError

# what most methods import, and the beta map of methods without a probability of their own
SHARED_IMPORTS = ("scipy.linalg", "scipy.optimize", "scipy.sparse", "scipy.special")

VARIABLES = (
    "OMP_NUM_THREADS",
    "OPENBLAS_NUM_THREADS",
    "MKL_NUM_THREADS",
    "NUMEXPR_NUM_THREADS",
    "VECLIB_MAXIMUM_THREADS",
)
# As the process was started: limit_threads writes the variable, and one cell of a sweep must not decide for the next.
_AT_START = os.environ.get("OMP_NUM_THREADS", "")


def resolve_threads(threads: int | None) -> int:
    """The number asked for; else OMP_NUM_THREADS (parallel launchers set it); else all cores this process may use."""
    if threads is not None:
        if threads < 1:
            raise ConfigError(f"threads must be at least 1, found {threads}.")
        return threads
    if _AT_START.isdigit() and int(_AT_START) > 0:
        return int(_AT_START)
    if sys.platform == "darwin":
        return 1  # torch and faiss bring an OpenMP each there, and crash when both run threads
    return available_cores()


def available_cores() -> int:
    """The cores that this process may use; of a Slurm job those that it was given, where Slurm does not bind it."""
    mine = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    given = os.environ.get("SLURM_CPUS_PER_TASK", "")
    return min(mine, int(given)) if given.isdigit() and int(given) > 0 else mine


def loaded(name: str) -> Any | None:
    """The module of that name; None if it was not imported, or if a thread is still importing it.

    ``sys.modules`` has a module from the beginning of its import, when most of its functions do not exist yet.
    """
    module = sys.modules.get(name)
    is_initialising = getattr(getattr(module, "__spec__", None), "_initializing", False)
    return None if is_initialising else module


def limit_threads(threads: int) -> None:
    """Set it in libraries that are loaded already; those loaded later read the environment."""
    from threadpoolctl import threadpool_limits

    for variable in VARIABLES:
        os.environ[variable] = str(threads)
    # On a busy machine OpenMP's threads wait for one that has no core just then, and would spin on the core that it
    # needs. AC-MLP on two cores beside one busy process: 32 s, with spinning 49 s.
    os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")
    threadpool_limits(threads)
    torch = loaded("torch")
    if torch is not None:
        torch.set_num_threads(threads)
    faiss = loaded("faiss")
    if faiss is not None:
        faiss.omp_set_num_threads(threads)


def import_what_fits_use(method: Calibrator) -> None:
    """Import what the method's ``fit`` and ``predict`` import when they are called: in one thread, before others start.

    Threads that import the same libraries at the same time may meet modules that are not complete yet. A library that
    is missing is left to the fit, which may say how to get it.
    """
    for name in (*SHARED_IMPORTS, *getattr(method, "imports", ())):
        with suppress(ModuleNotFoundError):
            import_module(name)
