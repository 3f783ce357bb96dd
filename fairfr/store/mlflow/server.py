"""The other side of ``MlflowProcess``: answers requests with a ``MlflowWriter``."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from fairfr.core.parent import end_with_parent
from fairfr.store.mlflow.client import MlflowError
from fairfr.store.mlflow.log import MlflowWriter
from fairfr.store.settings import StoreSettings
from fairfr.store.sweep import Sweep, SweepEnd

_FROM_JSON: dict[str, Callable[[Any], Any]] = {
    "folder": Path,
    "artifacts": Path,
    "sweep": Sweep.from_dict,
    "end": SweepEnd.from_dict,
}
CALLS = ("ready", "log", "logged", "tidy", "open_sweep", "close_sweep")


def serve() -> None:
    """Answer each line of JSON on standard input with one on standard output; the first says what to open."""
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # whatever libraries print must not stand between the answers
    place = json.loads(sys.stdin.readline() or "null")
    if place is None:
        return
    end_with_parent(place.pop("parent"), grace=place["patience"])
    writer = _opened(place)
    for line in sys.stdin:
        answers.write(json.dumps(_answer(writer, json.loads(line))) + "\n")
        answers.flush()


def _opened(place: dict[str, Any]) -> MlflowWriter | str:
    """The writer, or why there is none: that is the answer to every request."""
    try:
        store = StoreSettings("mlflow", place["uri"], place["experiment"], patience=place["patience"])
        return MlflowWriter(store, Path(place["artifact_root"]).parent)
    except Exception as error:
        return f"{type(error).__name__}: {error}".removeprefix("MlflowError: ")


def _answer(writer: MlflowWriter | str, request: dict[str, Any]) -> dict[str, Any]:
    answer: dict[str, Any] = {"number": request["number"]}
    try:
        if isinstance(writer, str):
            raise MlflowError(writer)
        answer["ok"] = call(writer, request["call"], request["arguments"])
    except Exception as error:
        answer["error"] = str(error)
    return answer


def call(writer: MlflowWriter, name: str, arguments: dict[str, Any]) -> Any:
    """Call a method of the writer with arguments that came as JSON."""
    assert name in CALLS, name
    if name == "ready":
        return True
    given = {
        key: value if value is None else _FROM_JSON.get(key, lambda plain: plain)(value)
        for key, value in arguments.items()
    }
    return getattr(writer, name)(**given)
