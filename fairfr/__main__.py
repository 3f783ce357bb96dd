"""The command ``fairfr``: finds the module of fairfr.commands that is meant and hands over, importing nothing else."""

from __future__ import annotations

import ast
import importlib
import os
import re
import sys
from pathlib import Path

from fairfr.core.errors import did_you_mean
from fairfr.core.extras import EXTRA_OF_COMMAND, MissingExtraError, explain_missing_extra

FOLDER = Path(__file__).parent / "commands"
FIRST = ("import", "check", "run", "tables", "calibrate", "evaluate", "audit")  # in the order of work
OPENING = """usage: fairfr COMMAND [options]

Calibrate the scores of face matchers, and show which groups bear the errors.

  fairfr run -m dataset=lfw backbone=magface method=platt,beta source=synthetic
  fairfr audit scores.csv --group race --threshold 0.4 --out audit

commands:"""
CLOSING = """
fairfr COMMAND --help says more. Your own data goes through import, check, run,
tables and calibrate, in this order. Tab completion in this shell:
  eval "$(fairfr run -sc install=bash)"

next: fairfr run -m dataset=lfw backbone=magface method=platt source=synthetic"""


def main() -> None:
    """Run the command that ``sys.argv`` names."""
    known = commands()
    name, words = (sys.argv[1:2] or ["--help"])[0], sys.argv[2:]
    if name in ("-sc", "--shell-completion"):  # what the shell asks after `fairfr run -sc install=bash`
        complete(known, words)
    elif name in ("-h", "--help", "help"):
        sys.stdout.write(overview(known) + "\n")
    elif name == "--version":
        from fairfr import __version__

        sys.stdout.write(f"fairfr {__version__}\n")
    elif name not in known:
        sys.exit(f"fairfr: unknown command '{name}'.{did_you_mean(name, known)}")
    else:
        dispatch(known[name], words)


def commands() -> dict[str, str]:
    """Modules by the name of their command: in the order of work, then by the alphabet."""
    modules = {path.stem.rstrip("_"): path.stem for path in FOLDER.glob("*.py") if not path.stem.startswith("_")}
    first = [name for name in FIRST if name in modules]
    others = sorted(name for name in modules if name not in FIRST)
    return {name: modules[name] for name in [*first, *others]}


def overview(known: dict[str, str]) -> str:
    """Each command with its docstring's first line, which is read without importing the module."""
    lines = [f"  {name:<10} {_first_line(FOLDER / f'{module}.py')}" for name, module in known.items()]
    return "\n".join([OPENING, *lines, CLOSING])


def dispatch(module: str, words: list[str]) -> None:
    """Make ``sys.argv`` what the command would see if it were a program of its own."""
    # Hydra looks for the program's name there, to complete its arguments
    command = f"fairfr {module.rstrip('_')}"
    program = sys.argv[0] if module == "run" else command
    sys.argv = [program, *words]
    # the parts of a command may need different extras: calibrate fit, calibrate score
    part = " ".join([command, *words[:1]])
    if part in EXTRA_OF_COMMAND:
        command = part
    try:
        with explain_missing_extra(command):
            importlib.import_module(f"fairfr.commands.{module}").main()
    except MissingExtraError as error:
        sys.exit(str(error))


def complete(known: dict[str, str], words: list[str]) -> None:
    """Answer Hydra's completion: ``fairfr run ...`` is Hydra's to answer, before that the commands are."""
    line = os.environ.get("COMP_LINE", "")
    typed = re.match(r"\s*\S+\s+(\S*)(\s*)", line)
    if typed and typed[1] == "run" and typed[2]:
        os.environ["COMP_LINE"] = line[: typed.start(1)] + line[typed.end() :]
        dispatch("run", ["-sc", *words])
    elif typed and not typed[2]:
        sys.stdout.write(" ".join(known) + "\n")


def _first_line(path: Path) -> str:
    return (ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))) or "").partition("\n")[0]


if __name__ == "__main__":
    main()
