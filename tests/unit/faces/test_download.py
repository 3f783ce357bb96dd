"""Against a server on this machine, which can break off, refuse, or give something else."""

from __future__ import annotations

import bz2
import gzip
import hashlib
import io
import lzma
import re
import socket
import tarfile
import threading
import zipfile
from collections.abc import Callable, Iterator
from contextlib import suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from fairfr.core.errors import DataError
from fairfr.faces import download
from fairfr.faces.download import RemoteFile, fetch, unpack

CONTENT = np.random.default_rng(0).bytes(5_000_000)
REMEDY = "Pass it with --images."


class Server(ThreadingHTTPServer):
    """Serves CONTENT; ``breaks_after`` bytes of each answer the connection ends."""

    status = 200
    kind = "application/octet-stream"
    content = CONTENT
    breaks_after = 10**9
    knows_ranges = True
    says_length = True
    never_ends = False
    ranges: list[str | None]


class Handler(BaseHTTPRequestHandler):
    server: Server

    def do_GET(self) -> None:
        server = self.server
        wanted = self.headers["Range"]
        server.ranges.append(wanted)
        start, status = 0, server.status
        if wanted and server.knows_ranges and status == 200:
            start, status = int(re.findall(r"\d+", wanted)[0]), 206
        if start >= len(server.content):
            self.send_error(416)
            return
        self.send_response(status)
        self.send_header("Content-Type", server.kind)
        if server.says_length:
            self.send_header("Content-Length", str(len(server.content) - start))
        self.end_headers()
        with suppress(ConnectionError):  # whoever asked may have seen enough
            self.wfile.write(server.content[start : start + server.breaks_after])
            while server.never_ends:
                self.wfile.write(server.content)

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture
def server() -> Iterator[Server]:
    made = Server(("127.0.0.1", 0), Handler)
    made.ranges = []
    thread = threading.Thread(target=made.serve_forever, daemon=True)
    thread.start()
    yield made
    made.shutdown()
    made.server_close()
    thread.join()


def remote(server: Server, sha256: str = "") -> RemoteFile:
    digest = sha256 or hashlib.sha256(CONTENT).hexdigest()
    address = f"http://127.0.0.1:{server.server_address[1]}/lfw.tgz"
    return RemoteFile(address, digest, "lfw.tgz", most_bytes=len(CONTENT))


def ignore(*_: int) -> None:
    pass


def test_a_file_is_fetched_once(server: Server, tmp_path: Path) -> None:
    seen: list[tuple[int, int]] = []
    path = fetch(remote(server), tmp_path / "new", REMEDY, lambda done, of: seen.append((done, of)))
    assert path == tmp_path / "new" / "lfw.tgz"
    assert path.read_bytes() == CONTENT
    assert seen[-1] == (len(CONTENT), len(CONTENT))
    fetch(remote(server), tmp_path / "new", REMEDY, ignore)
    assert server.ranges == [None]
    assert [file.name for file in (tmp_path / "new").iterdir()] == ["lfw.tgz"]


def test_broken_connections_go_on_where_they_ended(server: Server, tmp_path: Path) -> None:
    server.breaks_after = 2_000_000
    assert fetch(remote(server), tmp_path, REMEDY, ignore).read_bytes() == CONTENT
    assert server.ranges == [None, "bytes=2000000-", "bytes=4000000-"]


def test_a_killed_download_goes_on_in_the_next_call(server: Server, tmp_path: Path) -> None:
    server.breaks_after = 1_000_000
    with pytest.raises(DataError, match=r"breaks off again and again .*what is here is kept.*--images"):
        fetch(remote(server), tmp_path, REMEDY, ignore)
    assert fetch(remote(server), tmp_path, REMEDY, ignore).read_bytes() == CONTENT
    assert server.ranges[-1] == "bytes=4000000-"


def test_a_server_without_ranges_sends_it_all_again(server: Server, tmp_path: Path) -> None:
    (tmp_path / "lfw.tgz.partial").write_bytes(b"old")
    server.knows_ranges = False
    assert fetch(remote(server), tmp_path, REMEDY, ignore).read_bytes() == CONTENT


def test_a_download_that_was_killed_at_its_very_end_is_complete(server: Server, tmp_path: Path) -> None:
    (tmp_path / "lfw.tgz.partial").write_bytes(CONTENT)
    assert fetch(remote(server), tmp_path, REMEDY, ignore).read_bytes() == CONTENT


def test_what_is_not_the_published_file_is_not_kept(server: Server, tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"something else than the published lfw\.tgz.*--images"):
        fetch(remote(server, "0" * 64), tmp_path, REMEDY, ignore)
    assert not list(tmp_path.iterdir())


def test_a_server_that_never_ends_is_left(server: Server, tmp_path: Path) -> None:
    server.never_ends = True
    server.says_length = False
    with pytest.raises(DataError, match=r"gives more than the 5,000,000 bytes that lfw\.tgz has at most\. Pass it"):
        fetch(remote(server), tmp_path, REMEDY, ignore)
    assert not list(tmp_path.iterdir())


def test_more_than_there_can_be_is_not_even_begun(server: Server, tmp_path: Path) -> None:
    server.content = CONTENT + b"1"
    received: list[int] = []
    with pytest.raises(DataError, match=r"gives more than the 5,000,000 bytes"):
        fetch(remote(server), tmp_path, REMEDY, lambda done, _: received.append(done))
    assert received == [] and not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("status", "kind", "message"),
    [
        (403, "text/plain", r"answers 403 \(Forbidden\)\. Pass it with --images"),
        (202, "text/plain", r"answers 202 \(Accepted\)"),
        (200, "text/html; charset=utf-8", r"gave a web page in place of lfw\.tgz\. Pass it"),
    ],
)
def test_refusals_name_the_other_road(server: Server, tmp_path: Path, status: int, kind: str, message: str) -> None:
    server.status = status
    server.kind = kind
    with pytest.raises(DataError, match=message):
        fetch(remote(server), tmp_path, REMEDY, ignore)
    assert not list(tmp_path.iterdir())


def test_without_a_network_it_is_said_in_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert download.PATIENCE < 5
    with socket.socket() as bound:  # and nothing listens there
        bound.bind(("127.0.0.1", 0))
        nobody = RemoteFile(f"http://127.0.0.1:{bound.getsockname()[1]}/lfw.tgz", "", "lfw.tgz", 1)
        with pytest.raises(DataError, match=r"cannot be reached \(.*refused.*\)\. Pass it with --images"):
            fetch(nobody, tmp_path, REMEDY, ignore)
    answered = threading.Event()
    monkeypatch.setattr(download, "PATIENCE", 0.01)
    monkeypatch.setattr(download, "urlopen", lambda *_, **__: answered.wait())  # as a name that is looked up forever
    with pytest.raises(DataError, match=r"cannot be reached \(no answer within 0\.01 seconds\)"):
        fetch(nobody, tmp_path, REMEDY, ignore)
    answered.set()


def tar(path: Path, *members: tuple[tarfile.TarInfo, bytes]) -> Path:
    with tarfile.open(path, "w:gz") as archive:
        for member, content in members:
            member.size = len(content)
            archive.addfile(member, io.BytesIO(content))
    return path


def member(name: str, kind: bytes = tarfile.REGTYPE, link: str = "") -> tarfile.TarInfo:
    made = tarfile.TarInfo(name)
    made.type = kind
    made.linkname = link
    return made


def zipped(path: Path, **contents: bytes) -> Path:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in contents.items():
            archive.writestr(name, content)
    return path


def test_archives_are_unpacked(tmp_path: Path) -> None:
    counted: list[int] = []
    archive = tar(
        tmp_path / "a.tgz", (member("lfw", tarfile.DIRTYPE), b""), (member("lfw/A/1.jpg"), b"1"), (member("b"), b"2")
    )
    unpack(archive, tmp_path / "deep" / "tar", counted.append)
    assert (tmp_path / "deep" / "tar" / "lfw" / "A" / "1.jpg").read_bytes() == b"1"
    assert counted == [1, 2]
    unpack(zipped(tmp_path / "a.zip", **{"lfw/": b"", "lfw/A/1.jpg": b"1"}), tmp_path / "zip", ignore)
    assert (tmp_path / "zip" / "lfw" / "A" / "1.jpg").read_bytes() == b"1"


LINK = zipfile.ZipInfo("link")
LINK.external_attr = 0o120777 << 16
NAMES = ["../out.jpg", "/out.jpg", "a/../../out.jpg", "..\\out.jpg", "C:\\out.jpg"]


@pytest.mark.parametrize("name", NAMES)
def test_nothing_is_written_outside(tmp_path: Path, name: str) -> None:
    inside = tmp_path / "inside"
    inside.mkdir()
    for archive in (
        tar(tmp_path / "a.tgz", (member("fine"), b"1"), (member(name), b"2")),
        zipped(tmp_path / "a.zip", **{"fine": b"1", name: b"2"}),
    ):
        with pytest.raises(DataError, match="leads out of the folder"):
            unpack(archive, inside / "new", ignore)
        assert not list(inside.iterdir())
    assert {path.name for path in tmp_path.iterdir()} == {"inside", "a.tgz", "a.zip"}


@pytest.mark.parametrize("kind", [tarfile.SYMTYPE, tarfile.LNKTYPE, tarfile.FIFOTYPE, tarfile.CHRTYPE])
def test_links_and_devices_are_refused(tmp_path: Path, kind: bytes) -> None:
    archive = tar(tmp_path / "a.tgz", (member("link", kind, "/etc"), b""), (member("link/x"), b"2"))
    with pytest.raises(DataError, match="'link' is a link or a device"):
        unpack(archive, tmp_path / "new", ignore)
    assert not (tmp_path / "new").exists()


def test_links_in_zip_archives_are_refused(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "a.zip", "w") as archive:
        archive.writestr(LINK, "/etc")
    with pytest.raises(DataError, match="'link' is a link"):
        unpack(tmp_path / "a.zip", tmp_path / "new", ignore)


def cut(path: Path) -> Path:
    path.write_bytes(path.read_bytes()[: len(path.read_bytes()) // 2])
    return path


def test_what_is_no_archive_or_a_damaged_one_is_one_message(tmp_path: Path) -> None:
    (tmp_path / "page.tgz").write_text("<!doctype html><title>Forbidden</title>")
    (tmp_path / "text.tgz").write_text("lfw")
    (tmp_path / "nothing.tgz").write_bytes(b"")
    zipped(tmp_path / "empty.zip")
    cases = {
        tmp_path / "page.tgz": "is a web page, not a tar or zip archive",
        tmp_path / "text.tgz": "is something else, not a tar or zip archive",
        tmp_path / "nothing.tgz": "not a tar or zip archive|has no files in it",
        tmp_path / "empty.zip": "has no files in it",
        cut(tar(tmp_path / "cut.tgz", (member("a"), CONTENT))): "damaged or cut short",
        cut(zipped(tmp_path / "cut.zip", a=CONTENT)): "something else|zip archive|damaged",
    }
    for path, message in cases.items():
        with pytest.raises(DataError, match=message):
            unpack(path, tmp_path / "new", ignore)
        assert not (tmp_path / "new").exists()


def test_an_archive_that_would_fill_the_disk_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(download, "ALWAYS_ALLOWED", 1000)
    with pytest.raises(DataError, match="expands to far more than pictures do"):
        unpack(zipped(tmp_path / "a.zip", a=bytes(5_000_000)), tmp_path / "new", ignore)


def test_an_archive_of_very_many_empty_files_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(download, "ALWAYS_ALLOWED", 100_000)
    monkeypatch.setattr(download, "MOST_UNFOLDING", 0)
    few = tar(tmp_path / "few.tgz", *((member(str(number)), b"") for number in range(20)))
    unpack(few, tmp_path / "few", ignore)
    many = tar(tmp_path / "many.tgz", *((member(str(number)), b"") for number in range(40)))
    with pytest.raises(DataError, match="expands to far more than pictures do"):
        unpack(many, tmp_path / "many", ignore)


@pytest.mark.parametrize("kind", [tarfile.XHDTYPE, tarfile.XGLTYPE, tarfile.GNUTYPE_LONGNAME, tarfile.GNUTYPE_LONGLINK])
@pytest.mark.parametrize("first", [True, False])
@pytest.mark.parametrize("opener", [gzip.open, bz2.open, lzma.open, Path.open])
def test_a_header_that_claims_gigabytes_is_not_read(
    tmp_path: Path, kind: bytes, first: bool, opener: Callable[..., Any]
) -> None:
    """The module that reads tar archives would read it at once, and a compressed one can be a thousandth as long."""
    huge = member("x", kind)
    huge.size = 2**32
    path = tmp_path / "a.tar"
    with opener(path, "wb") as file:
        if not first:
            file.write(member("fine").tobuf())
        file.write(huge.tobuf() + bytes(2**12))
    with pytest.raises(DataError, match=r"damaged or cut short \(it claims a header of 4,294,967,296"):
        unpack(path, tmp_path / "new", ignore)
    assert not (tmp_path / "new").exists()


def test_every_compression_of_tar_archives_is_read(tmp_path: Path) -> None:
    for opener in (gzip.open, bz2.open, lzma.open, Path.open):
        with opener(tmp_path / "a.tar", "wb") as file, tarfile.open(fileobj=file, mode="w") as archive:
            archive.addfile(member("a" * 150))
        unpack(tmp_path / "a.tar", tmp_path / opener.__module__, ignore)
        assert (tmp_path / opener.__module__ / ("a" * 150)).is_file()


def test_a_name_that_is_a_file_and_a_folder_is_damage(tmp_path: Path) -> None:
    names = ("a", "a/b")
    for order in (names, names[::-1]):
        archive = tar(tmp_path / "a.tgz", *((member(name), b"") for name in order))
        with pytest.raises(DataError, match="damaged"):
            unpack(archive, tmp_path / "new", ignore)


def test_an_unpacking_that_was_killed_starts_again(tmp_path: Path) -> None:
    leftover = tmp_path / ".new.unpacking"
    leftover.mkdir()
    (leftover / "old.jpg").touch()
    unpack(tar(tmp_path / "a.tgz", (member("fine"), b"1")), tmp_path / "new", ignore)
    assert [path.name for path in (tmp_path / "new").iterdir()] == ["fine"]
    assert not leftover.exists()
