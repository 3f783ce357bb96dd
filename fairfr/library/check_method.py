"""Try every promise of the contract on a method: which it keeps, which not, and where it broke."""

from __future__ import annotations

import inspect
import traceback
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, TypeAlias

from fairfr.core.errors import FairfrError
from fairfr.core.extras import MissingExtraError
from fairfr.core.text import error_summary
from fairfr.library.method_contract import BASICS, CHECKS, BrokenPromiseError, NotAskedError, Subject

Status: TypeAlias = Literal["kept", "broken", "not asked", "not tried"]


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of one promise.

    Attributes
    ----------
    check : str
        Its name, for programs.
    promise : str
        In words.
    status : {"kept", "broken", "not asked", "not tried"}
    message : str
        What came back and what to change, or why it was not asked; blank if kept.
    where : str
        The line of the method's own file in which an error was raised; blank if none was.
    """

    check: str
    promise: str
    status: Status
    message: str = ""
    where: str = ""


def check_method(subject: Subject) -> list[Outcome]:
    """Try every promise; MissingExtraError where a method's library is not installed."""
    outcomes: list[Outcome] = []
    can_go_on = True
    for check in CHECKS:
        if not can_go_on:
            outcomes.append(Outcome(check.__name__, _promise(check), "not tried"))
            continue
        outcome = _tried(check, subject)
        outcomes.append(outcome)
        if check in BASICS and outcome.status == "broken":
            can_go_on = False
    return outcomes


def _tried(check: Callable[[Subject], None], subject: Subject) -> Outcome:
    name = check.__name__
    promise = _promise(check)
    try:
        check(subject)
    except NotAskedError as error:
        return Outcome(name, promise, "not asked", str(error))
    except BrokenPromiseError as error:
        return Outcome(name, promise, "broken", str(error))
    except MissingExtraError:
        raise
    except Exception as error:  # whatever the method does
        return Outcome(name, promise, "broken", _said(error), _place(error, type(subject.method)))
    return Outcome(name, promise, "kept")


def _said(error: Exception) -> str:
    if isinstance(error, FairfrError):
        return str(error)
    said = f"{type(error).__name__}: {error_summary(error)}"
    if "read-only" in said:
        return f"{said}. The method was handed these values: work on a copy of them, values.copy()."
    return said


def _promise(check: Callable[[Subject], None]) -> str:
    return str(check.__doc__)


def _place(error: Exception, cls: type) -> str:
    """The innermost line of the method's own file that led to an error."""
    try:
        file = inspect.getsourcefile(cls)
    except TypeError:
        return ""
    frames = [frame for frame in traceback.extract_tb(error.__traceback__) if frame.filename == file]
    if not frames:
        return ""
    return f"{Path(frames[-1].filename).name}, line {frames[-1].lineno}, in {frames[-1].name}"
