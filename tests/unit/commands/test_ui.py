"""``fairfr ui`` prints addresses when the server answers, and nothing of what the server prints unless it fails."""

from __future__ import annotations

import socket
import subprocess
import sys
from pathlib import Path
from urllib.request import urlopen

import pytest

from fairfr.commands import ui

ANSWERS_TWICE = """#!{python} -P
import http.server, sys
print("INFO: chatter", flush=True)
class Page(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(200); self.end_headers()
port = int(sys.argv[sys.argv.index("--port") + 1])
server = http.server.HTTPServer(("127.0.0.1", port), Page)
server.handle_request()
server.handle_request()
sys.exit(7)
"""


@pytest.fixture
def port(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> int:
    (tmp_path / "mlflow.db").touch()
    with socket.create_server(("127.0.0.1", 0)) as closed:
        number = int(closed.getsockname()[1])
    monkeypatch.setattr(sys, "argv", ["ui", "--out-root", str(tmp_path), "--port", str(number)])
    monkeypatch.setattr(ui, "ui_pages", lambda uri, experiment: [("every cell", "/experiments/1/runs")])
    monkeypatch.setattr(ui.signal, "signal", lambda *_: None)
    return number


def start_instead(program: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    script = tmp_path / "server"
    script.write_text(program.replace("{python}", sys.executable))
    script.chmod(0o755)
    monkeypatch.setattr(sys, "executable", str(script))


def test_addresses_appear_when_the_server_answers(
    port: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    start_instead(ANSWERS_TWICE, tmp_path, monkeypatch)
    wait = subprocess.Popen.wait

    def end_it_and_wait(server: subprocess.Popen[str], timeout: float | None = None) -> int:
        if server.poll() is None:
            urlopen(f"http://127.0.0.1:{port}/").close()  # the second request: the server ends by itself, not before
        return wait(server, timeout)

    monkeypatch.setattr(subprocess.Popen, "wait", end_it_and_wait)
    with pytest.raises(SystemExit) as ended:
        ui.main()
    shown = capfd.readouterr().out
    assert f"every cell\n      http://127.0.0.1:{port}/#/experiments/1/runs" in shown
    assert "chatter" not in shown
    assert "exit code 7" in str(ended.value), "a server that ends by itself is a failure"


def test_a_server_that_fails_shows_its_own_reason(
    port: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    start_instead('#!/bin/sh\necho "Port $0 is in use" >&2\nexit 1\n', tmp_path, monkeypatch)
    with pytest.raises(SystemExit, match="is in use"):
        ui.main()
    assert "http://" not in capfd.readouterr().out
