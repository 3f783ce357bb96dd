"""What fairfr costs, each piece against the plain way to write it, in the same run: make bench

python tests/benchmarks/bench.py [topic ...]     a topic is a module bench_<topic>.py beside this file; all by default

Writes RESULTS.md beside this file: the measured topics anew, others as they were.
"""

from __future__ import annotations

import argparse
import importlib
import os
import platform
import re
from collections.abc import Sequence
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path

from measured import Measured
from rich.console import Console
from rich.table import Table

HERE = Path(__file__).parent
RESULTS = HERE / "RESULTS.md"
TOPICS = sorted(path.stem.removeprefix("bench_") for path in HERE.glob("bench_*.py"))
PACKAGES = ("numpy", "scipy", "scikit-learn", "faiss-cpu", "numba", "torch", "pandas", "pyarrow")
COLUMNS = ("work", "fairfr s", "plain s", "plain / fairfr", "limit", "target")
OPENING = """# What fairfr costs

Written by `make bench` (tests/benchmarks/bench.py). Each row is one piece of work, done by fairfr and, where that can
be written down, the plain way in the same run: wall times depend on the machine and on what else it does (its load is
given; above the number of cores, work had to wait), ratios hardly. *Limit* is what bounds fairfr's way, the bytes that
it moves or the operations that it needs, with the rate that was reached. All data is synthetic.
"""


def machine() -> str:
    """Processor, cores in use, memory and versions, in a line."""
    described = dict(
        re.findall(r"^(model name|MemTotal)\s*:\s*(.+?)$", _text("/proc/cpuinfo") + _text("/proc/meminfo"), re.M)
    )
    model = described.get("model name", platform.processor() or platform.machine())
    memory = f", {int(described['MemTotal'].split()[0]) / 2**20:.0f} GB" if "MemTotal" in described else ""
    versions = ", ".join(f"{name} {version(name)}" for name in PACKAGES)
    return f"{cores()} cores of {model}{memory}; Python {platform.python_version()}, {versions}"


def cores() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def busy() -> str:
    """How many processes wanted a core meanwhile."""
    return f", load {os.getloadavg()[0]:.1f}" if hasattr(os, "getloadavg") else ""


def cells(row: Measured) -> tuple[str, ...]:
    """A row as it is shown."""
    plain, ratio = ("", "") if row.plain is None else (_spelled(row.plain), f"{row.plain / row.ours:.1f}")
    return row.work, _spelled(row.ours), plain, ratio, row.limit, row.target


def section(topic: str, rows: Sequence[Measured]) -> str:
    """A topic's part of RESULTS.md."""
    lines = [" | ".join(COLUMNS), " | ".join("---" for _ in COLUMNS), *(" | ".join(cells(row)) for row in rows)]
    when = f"{datetime.now(UTC):%Y-%m-%d}{busy()}: {machine()}"
    return "\n".join([f"## {topic}", "", when, "", *(f"| {line} |" for line in lines), ""])


def write_results(measured: dict[str, str]) -> None:
    """The new sections in place of the old ones, all in the order of their names."""
    text = RESULTS.read_text(encoding="utf-8") if RESULTS.exists() else ""
    old = {part.split("\n", 1)[0]: f"## {part}" for part in re.split(r"^## ", text, flags=re.M)[1:]}
    sections = {topic: body for topic, body in sorted((old | measured).items()) if topic in TOPICS}
    RESULTS.write_text(
        "\n".join([OPENING, *(body.rstrip("\n") + "\n" for body in sections.values())]), encoding="utf-8"
    )


def main() -> None:
    """Measure the chosen topics."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("topics", nargs="*", choices=[*TOPICS, []], default=TOPICS, metavar="topic")
    console = Console(width=200, markup=False)
    console.print(machine())
    for topic in parser.parse_args().topics:
        rows = importlib.import_module(f"bench_{topic}").measure(cores())
        table = Table(*COLUMNS, title=topic)
        for row in rows:
            table.add_row(*cells(row))
        console.print(table)
        write_results({topic: section(topic, rows)})


def _spelled(seconds: float) -> str:
    return f"{seconds:.2f}" if seconds >= 0.1 else f"{seconds:.2g}"


def _text(path: str) -> str:
    return Path(path).read_text(encoding="utf-8") if Path(path).exists() else ""


if __name__ == "__main__":
    main()
