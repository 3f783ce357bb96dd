"""The one reader of run folders: a folder has a whole run, or reading it raises DamagedRunError.

result.json begins with a seal, the sha256 of everything after it, and lists size and sha256 of the run's other files.
So a file that was cut short, edited, or copied from another run is found out.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from fairfr.core.errors import FairfrError
from fairfr.core.keys import RunKey

Result = dict[str, Any]

RESULT_FILE = "result.json"
METRICS_FOLLOW = b' "metrics": [\n'
"""The line of result.json (indented by one) after which only metrics come."""
UNSEALED = ("run.log", RESULT_FILE)  # the log may still grow while the seal is made
_OPENING = b"{\n"
_SEAL = b' "seal": "'
_CHUNK = 1 << 20


class DamagedRunError(FairfrError):
    """A folder under runs/ that is not a complete run."""


def write_result(folder: Path, result: Result) -> None:
    """Write result.json, sealed, with the checksums of the files that are there."""
    files = checksums(folder)
    metrics = {"metrics": result["metrics"]} if "metrics" in result else {}
    rest = {key: value for key, value in result.items() if key not in ("metrics", "files", "seal")}
    text = json.dumps({**rest, "files": files, **metrics}, indent=1, allow_nan=False) + "\n"
    body = text.encode().removeprefix(_OPENING)
    seal = _SEAL + hashlib.sha256(body).hexdigest().encode() + b'",\n'
    (folder / RESULT_FILE).write_bytes(_OPENING + seal + body)


def checksums(folder: Path) -> dict[str, dict[str, Any]]:
    """Size and sha256 of each file of a run."""
    return {path.name: _checksum(path) for path in sorted(folder.iterdir()) if path.name not in UNSEALED}


def read_run(folder: Path, *, in_place: bool = True) -> Result | None:
    """The result of a run folder with its metrics; None where there is no run at all.

    ``in_place``: the folder must be where its result belongs. Raises DamagedRunError.
    """
    content = _read_sealed(folder)
    return None if content is None else _checked(json.loads(content), folder, in_place)


def read_result(folder: Path) -> Result | None:
    """The result of a run folder, wherever it was copied to; None if there is none, or a damaged one."""
    try:
        return read_run(folder, in_place=False)
    except DamagedRunError:
        return None


@dataclass(frozen=True, slots=True)
class StoredRun:
    """A run folder; ``head`` is the result without its metrics, which are nearly all of the file."""

    folder: Path
    head: Result
    has_metrics: bool

    def metrics(self) -> list[Any]:
        """Read the metrics."""
        stored = json.loads((self.folder / RESULT_FILE).read_bytes())["metrics"] if self.has_metrics else []
        return list(stored)

    def result(self) -> Result:
        """The whole result."""
        return {**self.head, "metrics": self.metrics()} if self.has_metrics else self.head


def read_head(folder: Path, *, thorough: bool = False) -> StoredRun | None:
    """A run without its metrics; None where there is no run at all. Raises DamagedRunError.

    Sizes of the other files are compared, and their content if ``thorough``.
    """
    content = _read_sealed(folder)
    if content is None:
        return None
    head, follows, _ = content.partition(METRICS_FOLLOW)
    text = head.rstrip().removesuffix(b",") + b"}" if follows else content
    result = _checked(json.loads(text), folder, in_place=True)
    check_files(folder, result, thorough=thorough)
    return StoredRun(folder, result, bool(follows))


def run_folders(out_root: Path) -> Iterator[Path]:
    """Every folder that should be a run, in order."""
    return (path for path in sorted((out_root / "runs").glob("*/*/*/*")) if path.is_dir())


def stored_runs(out_root: Path, on_damage: Callable[[str], object]) -> Iterator[StoredRun]:
    """Every whole run below ``<out_root>/runs``, in order; ``on_damage`` gets a line for each folder that is none."""
    for folder in run_folders(out_root):
        try:
            run = read_head(folder, thorough=True)
            if run is None:
                raise DamagedRunError(f"{folder} has no {RESULT_FILE}.")
        except DamagedRunError as error:
            on_damage(str(error))
        else:
            yield run


def key_of(result: Result) -> RunKey:
    """The key of a stored result."""
    dataset, backbone, method = (result[noun]["id"] for noun in ("dataset", "backbone", "method"))
    return RunKey.read(dataset, backbone, method, result["source"], result["key"])


def check_files(folder: Path, result: Result, names: Iterable[str] | None = None, *, thorough: bool = True) -> None:
    """Raise DamagedRunError unless the run's files are as they were written; ``thorough``: byte by byte."""
    listed = result.get("files", {})
    for name in listed if names is None else names:
        path, wanted = folder / name, listed.get(name)
        if wanted is None or not path.is_file():
            raise DamagedRunError(f"{path} is missing.")
        if path.stat().st_size != wanted["bytes"] or (thorough and _checksum(path) != wanted):
            raise DamagedRunError(f"{path} is not as it was written: it was cut short or changed.")


def _read_sealed(folder: Path) -> bytes | None:
    """The bytes of result.json, its seal unbroken; None where folder or file is missing."""
    path = folder / RESULT_FILE
    if not os.path.lexists(path):
        return None
    try:
        content = path.read_bytes()
    except OSError as error:
        raise DamagedRunError(f"{path} cannot be read: {error.strerror}.") from error
    first, seal, body = (*content.split(b"\n", 2), b"", b"")[:3]
    if first + b"\n" != _OPENING or seal[: len(_SEAL)] != _SEAL:
        raise DamagedRunError(f"{path} has no seal: it was written by an older version, or by something else.")
    if hashlib.sha256(body).hexdigest().encode() != seal[len(_SEAL) : len(_SEAL) + 64]:
        raise DamagedRunError(f"{path} is not as it was written: it was cut short or edited.")
    return content


def _checked(result: Any, folder: Path, in_place: bool) -> Result:
    """A sealed file is ours; what may be wrong is its version or its place."""
    path = folder / RESULT_FILE
    try:
        names = [result[noun]["id"] for noun in ("dataset", "backbone", "method")] + [result["key"]]
        missing = [key for key in ("status", "source", "finished", "identity", "differs") if key not in result]
    except (KeyError, TypeError) as error:
        raise DamagedRunError(f"{path} does not say whose run it is ({error} is missing).") from error
    if missing:
        raise DamagedRunError(f"{path} lacks {', '.join(missing)}: it was written by another version.")
    own: Result = result
    if in_place and key_of(own).place != folder.parts[-4:]:
        raise DamagedRunError(f"{path} belongs to another run ({'/'.join(names)}).")
    return own


def _checksum(path: Path) -> dict[str, Any]:
    digest, size = hashlib.sha256(), 0
    with path.open("rb") as file:
        while chunk := file.read(_CHUNK):
            digest.update(chunk)
            size += len(chunk)
    return {"bytes": size, "sha256": digest.hexdigest()}
