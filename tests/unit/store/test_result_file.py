"""What is wrong with a run folder is found and said; it is never half believed."""

from __future__ import annotations

import errno
import hashlib
import json
import os
import re
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from fairfr.core.run_key import RunKey
from fairfr.core.run_result import RunResult
from fairfr.store.result_file import RESULT_FILE, DamagedRunError, read_result, read_without_metrics, write_sealed
from fairfr.store.run_folder import RunFolders
from fairfr.stored.runs import read_runs

NAMES = {"dataset": {"id": "lfw"}, "backbone": {"id": "net"}, "method": {"id": "platt"}}
ROW = {"grouping": "all", "rule": "all", "group": "all", "metric": "auroc", "mean": 0.5}
REST = {"status": "completed", "source": "files", "finished": "2026-01-01", "identity": {}, "differs": {}}


@pytest.fixture
def out(tmp_path: Path) -> Path:
    return tmp_path / "out"


@pytest.fixture
def folder(out: Path) -> Path:
    return publish(out, "a" * 16)


def publish(out: Path, digest: str) -> Path:
    key, runs = RunKey("lfw", "net", "platt", "files", digest), RunFolders(out)
    with runs.draft(key) as draft:
        (draft / "scores.parquet").write_bytes(b"scores of " + digest.encode())
        (draft / "metrics.parquet").write_bytes(b"metrics of " + digest.encode())
        rows = [ROW]
        return runs.publish(draft, key, RunResult.from_json({**NAMES, "key": digest, **REST, "metrics": rows}))


def cut(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:-3])


def seal_again(folder: Path, **changed: object) -> None:
    """As somebody who knows how may edit a result."""
    stored = json.loads((folder / RESULT_FILE).read_text())
    del stored["seal"]
    metrics = {"metrics": stored.pop("metrics")}
    write_sealed(folder, {**stored, **metrics, **changed} if "metrics" in changed else {**stored, **changed, **metrics})


def seal_text(folder: Path, old: bytes, new: bytes) -> None:
    """The same for what ``json.dumps`` would not write."""
    opening, _, body = (folder / RESULT_FILE).read_bytes().split(b"\n", 2)
    assert old in body
    body = body.replace(old, new)
    seal = b' "seal": "' + hashlib.sha256(body).hexdigest().encode() + b'",'
    (folder / RESULT_FILE).write_bytes(b"\n".join([opening, seal, body]))


def list_file(folder: Path, name: str) -> None:
    seal_again(folder, files={name: {"bytes": 1, "sha256": ""}})


def put_beside_the_seal(folder: Path) -> None:
    path = folder / RESULT_FILE
    path.write_bytes(path.read_bytes().replace(b'",\n', b'", "status": "failed",\n', 1))


def turn_into_a_folder(path: Path) -> None:
    path.unlink()
    path.mkdir()


def link_from_outside(path: Path) -> None:
    """A link to what the file was."""
    moved = path.rename(path.parents[6] / path.name)
    path.symlink_to(moved)


def turn_into_a_pipe(path: Path) -> None:
    path.unlink()
    os.mkfifo(path)


def test_a_whole_run_is_read_with_and_without_its_metrics(folder: Path, out: Path) -> None:
    whole = read_result(folder)
    assert whole is not None and whole.metrics is not None and whole.metrics == [ROW]
    head = read_without_metrics(folder)
    assert head is not None and head.to_json() == whole.to_json()
    results, damaged = read_runs(out)
    assert [result.result.key for result in results] == ["a" * 16] and damaged == []


@pytest.mark.parametrize(
    ("damage", "says"),
    [
        (lambda f: cut(f / RESULT_FILE), "cut short or edited"),
        (lambda f: put_beside_the_seal(f), "cut short or edited"),
        (lambda f: (f / RESULT_FILE).write_text((f / RESULT_FILE).read_text().replace("0.5", "0.9")), "edited"),
        (lambda f: (f / RESULT_FILE).write_text(""), "no seal"),
        (lambda f: (f / RESULT_FILE).write_text("{"), "no seal"),
        (lambda f: (f / RESULT_FILE).write_text(json.dumps({"key": "a"})), "no seal"),
        (lambda f: (f / RESULT_FILE).write_bytes(b"\xff\xfe\n\n"), "no seal"),
        (lambda f: turn_into_a_folder(f / RESULT_FILE), "cannot be read"),
        (lambda f: link_from_outside(f / RESULT_FILE), "it is a link, or no file"),
        (lambda f: turn_into_a_pipe(f / RESULT_FILE), "it is a link, or no file"),
        (lambda f: (f / RESULT_FILE).unlink(), "no result.json"),
        (lambda f: write_sealed(f, {"key": "a" * 16}), "'status' is missing"),
        (lambda f: write_sealed(f, {"key": "a" * 16, **NAMES}), "another version"),
        (lambda f: write_sealed(f, {**NAMES, **REST, "key": "b" * 16}), "belongs to another run"),
        (lambda f: cut(f / "scores.parquet"), r"scores\.parquet is not as it was written"),
        (lambda f: (f / "metrics.parquet").unlink(), r"metrics\.parquet is missing"),
        (lambda f: link_from_outside(f / "scores.parquet"), r"scores\.parquet cannot be read: it is a link"),
        (lambda f: turn_into_a_pipe(f / "scores.parquet"), r"scores\.parquet cannot be read: it is a link, or no file"),
        (lambda f: list_file(f, "../../secret"), r"lists '\.\./\.\./secret', which is no file of a run"),
        (lambda f: list_file(f, "a\0b"), r"lists 'a\\x00b', which is no file of a run"),
    ],
)
def test_damage_is_one_line_and_the_rest_goes_on(
    folder: Path, out: Path, damage: Callable[[Path], object], says: str
) -> None:
    other = publish(out, "c" * 16)
    damage(folder)
    results, damaged = read_runs(out)
    assert [result.folder for result in results] == [other]
    (line,) = damaged
    assert str(folder) in line and "\n" not in line
    assert re.search(says, line)


def test_every_byte_of_a_result_counts(folder: Path, out: Path) -> None:
    """Whichever is another one, the run is known to be damaged, or it says the same."""
    path = folder / RESULT_FILE
    sound, before = path.read_bytes(), read_result(folder)
    assert before is not None
    believed = []
    for at in range(len(sound)):
        for flip in (0x01, 0x20, 0x80):
            path.write_bytes(sound[:at] + bytes([sound[at] ^ flip]) + sound[at + 1 :])
            for read in (read_result, read_without_metrics):
                try:
                    believed.append((at, read(folder)))
                except DamagedRunError:
                    continue
    assert [at for at, result in believed if result != before] == []
    for length in range(len(sound)):
        path.write_bytes(sound[:length])
        with pytest.raises(DamagedRunError):
            read_without_metrics(folder)


ODD_VALUES = {
    "key": ["a\0b", 5, None, "../x", ""],
    "method": [{"id": "a\0b"}, {"id": "platt", "label": 5}, {"id": "platt", "needs": 3}, [], "platt", {"id": "a/b"}],
    "dataset": [{"id": "a\0b"}, {"id": "\ud800"}],
    "backbone": [{"id": "a\0b"}],
    "train": [{"id": "a\0b", "label": "x"}, 5, {}],
    "protocol": ["a\0b", 5],
    "study": ["a\0b", 5],
    "status": ["other", None, []],
    "source": ["other", None, []],
    "finished": [5, None, "", "yesterday"],
    "rescored": ["yesterday"],
    "identity": [
        *([], "x", {"method": 5}, {"method": {"estimator": {"_target_": ["a"]}}}, {"protocol": {"splitter": 5}}),
        *({"backbone": "net"}, {"results_version": []}, {"data": {}}),
    ],
    "differs": [[], 5],
    "data": [[], {"groups": 5}, {"groups": {"kind": 5}}, {"folds": 5}, {"pairs": "many"}, {"grouping": []}],
    "seed": ["x", None],
    "seconds": ["x"],
    "warnings": [5, [5], [{"code": "x"}], [{"code": "x", "severity": "note", "text": 5}]],
    "files": [5, {"a": 5}],
    "versions": [5, {"python": 3}],
    "code": [5, {}, {"commit": []}],
    "metrics": [
        *(5, [5], [{}], [{**ROW, "mean": "high"}], [{**ROW, "group": None}], [{**ROW, "mean": True}]),
        *([{**ROW, "n_same": "../x"}], [{**ROW, "folds": -1}], [{**ROW, "n_diff": 10**30}], [{**ROW, "std": []}]),
        [{name: ROW[name] for name in ("grouping", "rule", "group", "metric")}],
    ],
}


@pytest.mark.parametrize(("name", "value"), [(name, value) for name, values in ODD_VALUES.items() for value in values])
def test_what_a_result_could_never_say_is_damage_though_it_is_sealed(folder: Path, name: str, value: object) -> None:
    """For MLflow, too, where it is not looked at in its place."""
    seal_again(folder, **{name: value})
    with pytest.raises(DamagedRunError) as found:
        read_result(folder, in_place=False)
    assert str(folder) in str(found.value) and "\0" not in str(found.value)
    with pytest.raises(DamagedRunError):
        result = read_without_metrics(folder)
        assert result is not None and result.metrics is not None
        len(result.metrics)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (b"0.5", b"NaN"),
        (b"0.5", b"1e999"),
        (b"0.5", b"0.5.5"),
        (b"0.5", b"9" * 5000),
        (b'"all"', b"[" * 100_000),
        (b"auroc", b"\xff"),
    ],
)
def test_what_is_no_json_is_damage_though_it_is_sealed(folder: Path, old: bytes, new: bytes) -> None:
    seal_text(folder, old, new)
    with pytest.raises(DamagedRunError, match=r"result\.json"):
        read_result(folder)


@pytest.mark.parametrize("name", [RESULT_FILE, "scores.parquet"])
def test_a_file_that_may_not_be_read_is_damage(
    folder: Path, out: Path, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = publish(out, "c" * 16)
    real = os.open

    def refuse(path: Path, *arguments: int) -> int:
        if Path(path) == folder / name:
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(path))
        return real(path, *arguments)

    monkeypatch.setattr(os, "open", refuse)
    results, (line,) = read_runs(out)
    assert [result.folder for result in results] == [other]
    assert f"{folder / name} cannot be read: Permission denied" in line
    key = RunKey("lfw", "net", "platt", "files", "a" * 16)
    assert RunFolders(out).completed(key) is None, "it is computed again"


def test_a_damaged_run_counts_as_not_done_and_the_reason_is_heard(folder: Path, out: Path) -> None:
    key, heard = RunKey("lfw", "net", "platt", "files", "a" * 16), []
    assert RunFolders(out).completed(key, heard.append) is not None and heard == []
    # same size, other content: the scores of another run
    shutil.copy(publish(out, "b" * 16) / "scores.parquet", folder / "scores.parquet")
    assert RunFolders(out).completed(key, heard.append) is None
    assert len(heard) == 1 and "scores.parquet" in heard[0]
