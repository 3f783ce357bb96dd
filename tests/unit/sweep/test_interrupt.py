"""An interruption is told once and ends the process, also one that would not listen."""

from __future__ import annotations

import signal
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.kill

ROOT = Path(__file__).parents[3]
START = """
import sys, time
from fairfr.sweep import interrupt
interrupt.GRACE = 0.2
interruption = interrupt.Interruption(lambda: print("told", flush=True))

def wait():
    print("ready", flush=True)
    time.sleep(600)
"""
DEAF = """
try:
    wait()
except KeyboardInterrupt:
    time.sleep(600)
"""
ORDERLY = """
try:
    wait()
except KeyboardInterrupt:
    interruption.tell()
    interruption.tell()
    assert interruption.came
    print("ended in order", flush=True)
    sys.exit(interruption.exit_code)
"""
WITH_WORKERS = """
import subprocess
print("ready", flush=True)
child = "import subprocess, time; subprocess.Popen(['sleep', '600']); print('child', flush=True); time.sleep(600)"
worker = subprocess.Popen([sys.executable, "-c", child], stdout=subprocess.PIPE)
apart = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE, start_new_session=True)
worker.stdout.readline()
interrupt.end_workers()
print(worker.wait(), worker.stdout.read() == b"", apart.poll(), flush=True)
apart.kill()
"""


def start(code: str) -> subprocess.Popen[str]:
    process = subprocess.Popen(
        [sys.executable, "-c", START + code], cwd=ROOT, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT
    )
    assert process.stdout is not None and process.stdout.readline() == "ready\n"
    return process


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
@pytest.mark.parametrize(("kind", "said"), [(DEAF, "told\n"), (ORDERLY, "told\nended in order\n")])
def test_it_ends_with_the_code_that_shells_know(number: signal.Signals, code: int, kind: str, said: str) -> None:
    process = start(kind)
    process.send_signal(number)
    out, _ = process.communicate(timeout=60)
    assert (out, process.returncode) == (said, code)


def test_workers_and_theirs_are_killed_but_not_what_has_a_session_of_its_own() -> None:
    out, _ = start(WITH_WORKERS).communicate(timeout=60)
    assert out == "-9 True None\n", "the pipe that the grandchild held is closed"
