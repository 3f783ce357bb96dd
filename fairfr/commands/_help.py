"""One pattern for the help of every command: usage, what for, two examples, options in groups, what comes next.

The text of a command is written as it is printed: the last paragraph begins with ``next:`` and stands below the
options. An option that has several names is shown with the first; the others are older ones, which are accepted.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from typing import Any

WIDTH = 80
OPTION_WIDTH = 23  # of the column in which options stand
OF_CONTRACT = frozenset({"--root", "--out"})  # older names that stay as good as today's


class HelpText(argparse.RawDescriptionHelpFormatter):
    """80 columns in any terminal, and the first name of each option alone."""

    def __init__(self, prog: str, **more: Any) -> None:
        super().__init__(prog, **{**more, "max_help_position": OPTION_WIDTH, "width": WIDTH})
        self._action_max_length = OPTION_WIDTH  # one column in all texts, however short the options are

    def _format_action_invocation(self, action: argparse.Action) -> str:
        if not action.option_strings:
            return super()._format_action_invocation(action)
        words = [action.option_strings[0]]
        if action.nargs != 0:
            values = action.metavar or action.dest.upper()
            words += [values] if isinstance(values, str) else values
        if action.nargs == "+":
            words.append("...")
        return " ".join(words)


def pattern(usage: str, text: str) -> dict[str, Any]:
    """The parameters of a parser for this text: ``usage`` goes on after the name of the program."""
    about, _, following = text.strip().rpartition("\n\n")
    return {
        "usage": f"%(prog)s {usage}",
        "description": about,
        "epilog": following,
        "formatter_class": HelpText,
        "allow_abbrev": False,
    }


def show_help_option(parser: argparse.ArgumentParser) -> None:
    """``-h`` and ``--help``, which need no line of their own in what they print."""
    parser.add_argument("-h", "--help", action="help", help=argparse.SUPPRESS)


def parse(parser: argparse.ArgumentParser, words: Sequence[str] | None = None) -> argparse.Namespace:
    """Parse, and say on stderr which words have another name now."""
    if words is None:
        words = sys.argv[1:]
    options = parser.parse_args(words)
    note_old_names(parser, words)
    return options


def note_old_names(parser: argparse.ArgumentParser, words: Sequence[str]) -> None:
    """One line for each option that was typed by an old name."""
    typed = {word.partition("=")[0] for word in words}
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            for name in words:
                if name in action.choices:
                    note_old_names(action.choices[name], words)
        for old in action.option_strings[1:]:
            if old.startswith("--") and old in typed - OF_CONTRACT and action.dest != "help":
                now = action.option_strings[0]
                print(f"note: {old} is called {now} now. The old name goes with the next version.", file=sys.stderr)
