"""An interruption is told once and ends the process, also one that would not listen, before Python tears it down."""

from __future__ import annotations

import signal
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.kill

ROOT = Path(__file__).parents[3]
START = """
import atexit, sys, time
from fairfr.sweep import interrupt
interrupt.GRACE = 0.2
interruption = interrupt.InterruptHandler(lambda code: print("told", code))
atexit.register(print, "threads are stopped wherever they are", flush=True)

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
    assert interruption.came
    print("ended in order")
    interruption.end()
"""


def start(code: str) -> subprocess.Popen[str]:
    process = subprocess.Popen(
        [sys.executable, "-c", START + code], cwd=ROOT, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT
    )
    assert process.stdout is not None and process.stdout.readline() == "ready\n"
    return process


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
@pytest.mark.parametrize(("kind", "said"), [(DEAF, "told {}\n"), (ORDERLY, "ended in order\ntold {}\n")])
def test_it_ends_with_the_code_that_shells_know(number: signal.Signals, code: int, kind: str, said: str) -> None:
    process = start(kind)
    process.send_signal(number)
    out, _ = process.communicate(timeout=60)
    assert (out, process.returncode) == (said.format(code), code)
