"""``fairfr check --method``: a method of one's own, tried on a small synthetic set."""

from __future__ import annotations

import argparse
import json
import sys
import textwrap
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from fairfr.core.errors import ConfigError, MethodError, did_you_mean
from fairfr.core.text import escape_control_chars, escape_json, plural
from fairfr.library.check_method import Outcome, check_method
from fairfr.library.contract_sets import small_set
from fairfr.library.method_contract import Subject

VERSION = 1
WIDTH = 80
INDENT = 11


def run(arguments: argparse.Namespace) -> str:
    """The page, or the object as text. A method that breaks a promise is a MethodError, after its page is printed."""
    subject = Subject(_maker(arguments), small_set())
    outcomes = check_method(subject)
    broken = [outcome for outcome in outcomes if outcome.status == "broken"]
    report = _page(arguments.method, subject, outcomes)
    if arguments.json:
        report = _object(arguments.method, subject, outcomes)
    if broken:
        sys.stdout.write(f"{report}\n")
        raise MethodError(f"{arguments.method} breaks {plural(len(broken), 'promise')}.")
    return report


def _maker(arguments: argparse.Namespace) -> Any:
    """What makes the unfitted method that a yaml describes."""
    from fairfr.core.config import CONF_DIR, instantiate
    from fairfr.core.extras import explain_missing_extra

    with explain_missing_extra("fairfr run"):
        from fairfr.sweep.compose import read_method
        from fairfr.sweep.own_methods import check_own_methods, method_files, method_name
    folders: list[Path] = arguments.config_dir
    for folder in folders:
        if not folder.is_dir():
            raise ConfigError(f"{folder}: no such folder of configurations.")
    check_own_methods(CONF_DIR, folders, [arguments.method])
    known: dict[str, Path] = {}
    for folder in (*folders, CONF_DIR):
        for file in method_files(folder):
            known.setdefault(method_name(file, folder), file)
    if arguments.method not in known:
        hint = "" if folders else " For one of your own, add --config-dir."
        raise ConfigError(f"unknown method '{arguments.method}'.{did_you_mean(arguments.method, known)}{hint}")
    estimator = read_method(known[arguments.method]).estimator
    return lambda: instantiate(estimator, "method.estimator")


def _page(method: str, subject: Subject, outcomes: Sequence[Outcome]) -> str:
    lines = [f"{method} ({subject.name}) on {subject.data.n_pairs:,} synthetic pairs", ""]
    for outcome in outcomes:
        lines.append(f"{outcome.status:<{INDENT}}{outcome.promise}")
        about = escape_control_chars(outcome.message)
        if outcome.where:
            about = f"{about} ({outcome.where})"
        lines += textwrap.wrap(about, WIDTH, initial_indent=" " * INDENT, subsequent_indent=" " * INDENT)
    counts = []
    for status in ("kept", "broken", "not asked", "not tried"):
        number = sum(outcome.status == status for outcome in outcomes)
        if number:
            counts.append(f"{number} {status}")
    return "\n".join([*lines, "", f"{plural(len(outcomes), 'promise')}: {', '.join(counts)}"])


def _object(method: str, subject: Subject, outcomes: Sequence[Outcome]) -> str:
    """``status`` is kept, broken, not asked or not tried; the names of checks are stable."""
    checks = []
    for outcome in outcomes:
        checks.append({name: getattr(outcome, name) for name in ("check", "promise", "status", "message", "where")})
    content = {"version": VERSION, "method": method, "class": subject.name, "checks": checks}
    return escape_json(json.dumps(content, indent=2, ensure_ascii=False))
