"""The one reader of run folders: a folder has a whole run, or reading it raises DamagedRunError.

result.json begins with a seal, the sha256 of everything after it, and lists size and sha256 of the run's other files.
So a file that was cut short, edited, or copied from another run is found out.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

from fairfr.core.errors import FairfrError
from fairfr.core.run_key import is_path_name
from fairfr.core.run_result import MetricSummary, RunResult, checked_rows
from fairfr.core.storage import open_regular, regular_size
from fairfr.core.text import error_summary

RESULT_FILE = "result.json"
METRICS_FOLLOW = b' "metrics": [\n'
"""The line of result.json (indented by one) after which only metrics come."""
UNSEALED = ("run.log", RESULT_FILE)  # the log may still grow while the seal is made
_OPENING = b"{\n"
_SEAL = b' "seal": "'
_CHUNK = 1 << 20


class DamagedRunError(FairfrError):
    """A folder under runs/ that is not a complete run."""


def write_result(folder: Path, result: RunResult) -> None:
    """Write result.json, sealed, with the checksums of the files that are there."""
    write_sealed(folder, replace(result, files=checksums(folder)).to_json())


def write_sealed(folder: Path, stored: Mapping[str, Any]) -> None:
    """Write result.json with this content and a seal."""
    text = json.dumps(stored, indent=1, allow_nan=False) + "\n"
    body = text.encode().removeprefix(_OPENING)
    (folder / RESULT_FILE).write_bytes(_OPENING + _seal_of(body) + body)


def checksums(folder: Path) -> dict[str, dict[str, Any]]:
    """Size and sha256 of each file of a run."""
    return {path.name: _checksum(path) for path in sorted(folder.iterdir()) if path.name not in UNSEALED}


def read_result(folder: Path, *, in_place: bool = True) -> RunResult | None:
    """The result of a run folder with its metrics; None where there is no run at all.

    ``in_place``: the folder must be where its result belongs. Raises DamagedRunError.
    """
    body = _read_sealed(folder)
    if body is None:
        return None
    return _checked(_parsed(body, folder), folder, in_place)


def try_read_result(folder: Path) -> RunResult | None:
    """The result of a run folder, wherever it was copied to; None if there is none, or a damaged one."""
    try:
        return read_result(folder, in_place=False)
    except DamagedRunError:
        return None


@dataclass(frozen=True, slots=True)
class StoredRun:
    """A run folder and its result, whose metrics, nearly all of the file, are parsed when they are asked for."""

    folder: Path
    result: RunResult


def read_without_metrics(folder: Path, *, thorough: bool = False) -> RunResult | None:
    """The result of a run folder, its metrics unread; None where there is no run at all. Raises DamagedRunError.

    Sizes of the other files are compared, and their content if ``thorough``.
    """
    body = _read_sealed(folder)
    if body is None:
        return None
    head, follows, _ = body.partition(METRICS_FOLLOW)
    if not follows:
        result = _checked(_parsed(body, folder), folder, in_place=True)
    else:
        text = head.rstrip().removesuffix(b",") + b"}"
        result = _checked(_parsed(text, folder), folder, in_place=True, read_rows=partial(_read_metrics, folder))
    check_files(folder, result.files, thorough=thorough)
    return result


def _read_metrics(folder: Path) -> list[MetricSummary]:
    return _rows_of(_parsed(_read_sealed(folder) or b"}", folder), folder)


def _rows_of(stored: Mapping[str, Any], folder: Path) -> list[MetricSummary]:
    try:
        return checked_rows(stored["metrics"])
    except (KeyError, ValueError) as error:
        raise DamagedRunError(f"{folder / RESULT_FILE} has no metrics that can be read. Remove the folder.") from error


def run_folders(out_root: Path) -> Iterator[Path]:
    """Every folder that should be a run, in order."""
    return (path for path in sorted((out_root / "runs").glob("*/*/*/*")) if path.is_dir())


def stored_runs(out_root: Path, on_damage: Callable[[str], object]) -> Iterator[StoredRun]:
    """Every whole run below ``<out_root>/runs``, in order; ``on_damage`` gets a line for each folder that is none."""
    for folder in run_folders(out_root):
        try:
            result = read_without_metrics(folder, thorough=True)
            if result is None:
                raise DamagedRunError(f"{folder} has no {RESULT_FILE}.")
        except DamagedRunError as error:
            on_damage(str(error))
        else:
            yield StoredRun(folder, result)


def check_files(
    folder: Path, listed: Mapping[str, Mapping[str, Any]], names: Iterable[str] | None = None, *, thorough: bool = True
) -> None:
    """Raise DamagedRunError unless the run's files are as they were written; ``thorough``: byte by byte.

    ``listed``: the ``files`` of the run's result. ``names``: those of them to look at, None for all.
    """
    for name in listed if names is None else names:
        if not is_path_name(name):
            raise DamagedRunError(f"{folder / RESULT_FILE} lists {name!r}, which is no file of a run.")
        path = folder / name
        wanted = listed.get(name)
        if wanted is None or not os.path.lexists(path):
            raise DamagedRunError(f"{path} is missing.")
        try:
            is_whole = regular_size(path) == wanted.get("bytes") and (not thorough or _checksum(path) == wanted)
        except OSError as error:
            raise DamagedRunError(f"{path} cannot be read: {error.strerror}.") from error
        if not is_whole:
            raise DamagedRunError(f"{path} is not as it was written: it was cut short or changed.")


def _read_sealed(folder: Path) -> bytes | None:
    """What follows the unbroken seal of result.json; None where folder or file is missing."""
    path = folder / RESULT_FILE
    if not os.path.lexists(path):
        return None
    try:
        with open_regular(path) as file:
            content = file.read()
    except OSError as error:
        raise DamagedRunError(f"{path} cannot be read: {error.strerror}.") from error
    if not content.startswith(_OPENING + _SEAL):
        raise DamagedRunError(f"{path} has no seal: it was written by an older version, or by something else.")
    end = content.find(b"\n", len(_OPENING)) + 1
    body = content[end:]
    if content[len(_OPENING) : end] != _seal_of(body):
        raise DamagedRunError(f"{path} is not as it was written: it was cut short or edited.")
    return body


def _seal_of(body: bytes) -> bytes:
    """The line above ``body``, whole: nothing else may stand in it."""
    return _SEAL + hashlib.sha256(body).hexdigest().encode() + b'",\n'


def _parsed(body: bytes, folder: Path) -> dict[str, Any]:
    """What is below the seal. What somebody may have written beside the seal is not looked at."""
    try:
        stored: dict[str, Any] = json.loads(_OPENING + body, parse_constant=_refuse)
    except (ValueError, RecursionError) as error:
        raise DamagedRunError(f"{folder / RESULT_FILE} cannot be read: {error_summary(error)}.") from error
    return stored


def _refuse(constant: str) -> None:
    raise ValueError(f"{constant} is no number")


def _checked(
    stored: Mapping[str, Any], folder: Path, in_place: bool, read_rows: Callable[[], list[MetricSummary]] | None = None
) -> RunResult:
    """A seal can be made again by whoever edits the file: every value is looked at, and its place."""
    path = folder / RESULT_FILE
    if "metrics" in stored:
        _rows_of(stored, folder)
    try:
        result = RunResult.from_json(stored, read_rows)
    except ValueError as error:
        raise DamagedRunError(f"{path} {error}.") from error
    own_place = result.run_key.path_parts
    if in_place and own_place != folder.parts[-4:]:
        raise DamagedRunError(f"{path} belongs to another run ({'/'.join(own_place)}).")
    return result


def _checksum(path: Path) -> dict[str, Any]:
    digest = hashlib.sha256()
    size = 0
    with open_regular(path) as file:
        while chunk := file.read(_CHUNK):
            digest.update(chunk)
            size += len(chunk)
    return {"bytes": size, "sha256": digest.hexdigest()}
