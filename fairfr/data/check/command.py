"""One page about a data set before anything is computed with it: what is suspicious first, then the facts.

A set that ``fairfr run`` refuses (images without vectors, no folds) gives exit code 1, after the page.

``--json`` prints one object. ``version`` changes when a key changes its name or meaning; keys may be added.

``version``, ``dataset``, ``backbone``, ``column``, ``min_pairs``
    what was checked; ``backbone`` is null if only the tables were, ``column`` unless they bring the scores.
``findings``
    list of {``code``, ``severity``: serious | warning | note, ``message``, ``counts``: {name: number}}, most severe
    first; codes are stable.
``counts``
    ``images``, ``images_without_identity``, ``identities``, ``pairs``, ``same``, ``different``, ``folds``,
    ``pairs_left_out`` (no vector for an image).
``shared``
    ``images_between_folds``, ``identities_between_folds``, ``repeated_pairs``, ``repeated_pairs_between_folds``.
``groupings``
    list of {``grouping``, ``used_by_methods``, ``groups``, ``images`` (for each group), ``images_without_group``,
    ``mixed_pairs``, ``mixed_same``, ``pairs_without_group``}.
``cells``
    list of {``fold`` (a label, or ``pooled``), ``grouping`` and ``group`` (or ``all``), ``same``, ``different``,
    ``enough`` (metrics have a value here), ``false_matches``: {``1e-2``, ``1e-3``}}; a pair belongs to a group if both
    its images do.
``cosine``
    {``mean_same``, ``mean_different``, ``different_above_095``}, or null without vectors and scores.
``stored_cosines``
    list of {``column``, ``largest_difference``, ``mean_difference``, ``differing_pairs`` (by more than 0.01),
    ``correlation``}: columns of the pairs file against the cosines of the vectors.
"""

from __future__ import annotations

import argparse
import json
import shlex
import sys
from collections.abc import Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import numpy as np

from fairfr.core.errors import ConfigError, DataError
from fairfr.core.findings import Finding
from fairfr.core.readings import DATASETS
from fairfr.core.text import escape_json
from fairfr.core.types import VerificationSet
from fairfr.data.check.facts import Facts, collect_facts
from fairfr.data.check.page import show_page
from fairfr.data.check.rules import find_suspicious
from fairfr.data.files import DataFile, find_table, import_hint, table_path_text
from fairfr.data.images_file import read_images
from fairfr.data.locate import locate
from fairfr.data.neutral_layout import (
    STRUCTURE,
    DatasetSpec,
    attribute_columns,
    build_set,
    drop_unused_images,
    read_pairs,
)
from fairfr.data.settings import BackboneSettings, DatasetSettings
from fairfr.data.text_table import read_table
from fairfr.data.validation import check_pairs

VERSION = 1
SCORES = "scores"  # the backbone of sets without vectors, as in backbone=scores backbone.column=...
USUAL = ("ethnicity", "gender")  # the attributes looked for if none are named
REFUSED = {  # by fairfr run, unless it is told otherwise
    "missing-vectors": "images without a vector (import them, or run with dataset.missing=drop)",
    "no-folds": "no folds (run with protocol=identity_disjoint, or import the pairs with --folds)",
}


def add_arguments(parser: argparse.ArgumentParser, needs_dataset: bool = True) -> None:
    """The options of ``check``."""
    group = parser.add_argument_group("input")
    add = group.add_argument
    add("--dataset", required=needs_dataset, metavar="NAME", help="a folder in the data root, such as rfw")
    add("--backbone", metavar="NAME", help="its vectors are checked too; without it only the tables are")
    add("--score", "--column", metavar="COL", help="a column of scores in the pairs file, for a set without vectors")
    add("--grouping", metavar="A,B", help="attributes (default: none; of RFW, BFW and LFW those of a run)")
    add("--data-root", type=Path, default=Path("data"), metavar="DIR", help="folder of all data sets (default: data)")
    group = parser.add_argument_group("output")
    add = group.add_argument
    add("--min-pairs", type=int, default=20, metavar="N", help="pairs that a group needs to be measured (default: 20)")
    add("--json", action="store_true", help="one object for programs instead of a page for people")


def run(arguments: argparse.Namespace) -> str:
    """The page, or the object as text. A set that ``fairfr run`` refuses is a DataError, after its page is printed."""
    report, findings = check(arguments)
    reasons = [REFUSED[finding.code] for finding in findings if finding.code in REFUSED]
    if reasons:
        sys.stdout.write(f"{report}\n")
        raise DataError(f"fairfr run refuses this set as it is: {'; '.join(reasons)}.", code="refused-set")
    if arguments.json:
        return report
    return f"{report.rstrip()}\n\nnext: {_next_command(arguments)}"


def _next_command(arguments: argparse.Namespace) -> str:
    """How the set is run."""
    words = ["fairfr", "run", f"dataset={arguments.dataset}"]
    if arguments.score is not None:
        words += [f"backbone={SCORES}", f"backbone.column={arguments.score}", "method=beta"]
    else:
        words += [f"backbone={arguments.backbone or 'mynet'}", "method=ac_hinge"]
    if arguments.grouping is not None:
        words.append(f"dataset.grouping=[{arguments.grouping}]")
    if arguments.data_root != Path("data"):
        words.append(f"data_root={arguments.data_root}")
    return shlex.join(words)


def check(arguments: argparse.Namespace) -> tuple[str, list[Finding]]:
    """The page, or the object as text, and its findings; DataError for data that cannot be read at all."""
    if arguments.min_pairs < 1:
        raise ConfigError(f"--min-pairs {arguments.min_pairs}: must be at least 1.")
    folder = arguments.data_root / arguments.dataset
    pairs = _table(folder, "pairs")
    images = _table(folder, "images")
    if pairs is None:
        remedy = import_hint(folder) or "Import the set, or correct --data-root."
        raise DataError(f"{table_path_text(folder / 'pairs')}: not found. {remedy}", code="missing-file")
    grouping = _attributes(arguments, pairs, images)
    # what is missing is a finding here, not a reason to stop
    dataset = DatasetSettings(
        arguments.dataset, arguments.dataset, grouping, min_pairs=arguments.min_pairs, missing="drop"
    )
    data = _load(arguments, dataset, pairs, images)
    facts = collect_facts(data, pairs, arguments.min_pairs)
    findings = find_suspicious(data, facts, arguments.min_pairs)
    if arguments.json:
        head = {"version": VERSION, "dataset": dataset.id, "backbone": arguments.backbone, "column": arguments.score}
        body = {"min_pairs": arguments.min_pairs, "findings": [_as_object(finding) for finding in findings]}
        content = head | body | _facts_as_object(facts)
        return escape_json(json.dumps(content, indent=2, ensure_ascii=False)) + "\n", findings
    return show_page(_title(arguments, grouping), findings, facts, arguments.min_pairs), findings


def _facts_as_object(facts: Facts) -> dict[str, Any]:
    """The facts by their documented keys."""
    content = {}
    for name, value in asdict(facts).items():
        key = "cells" if name == "fold_groups" else name
        content[key] = value
    return content


def _as_object(finding: Finding) -> dict[str, Any]:
    return {
        "code": finding.code,
        "severity": finding.severity,
        "message": finding.text,
        "counts": dict(finding.counts),
    }


def _table(folder: Path, name: str) -> DataFile | None:
    path = find_table(folder / name)
    if path is None:
        return None
    return DataFile.at(path)


def _attributes(arguments: argparse.Namespace, pairs: DataFile, images: DataFile | None) -> tuple[str, ...]:
    """Those that are named. A run of one's own data has no others; the yamls of the benchmarks name some."""
    if arguments.grouping is not None:
        return tuple(part.strip() for part in arguments.grouping.split(",") if part.strip())
    if arguments.dataset not in DATASETS:
        return ()
    _, columns = _described_in(pairs, images)
    return tuple(name for name in USUAL if name in columns or f"{name}_left" in columns)


def _described_in(pairs: DataFile, images: DataFile | None) -> tuple[DataFile, Sequence[str]]:
    """The file that describes the images, and its columns."""
    columns = read_table(pairs, {"fold"}).names
    if images is not None and {"left", "right"} <= set(columns):
        return images, read_table(images, {"image"}).names
    return pairs, columns


def _load(
    arguments: argparse.Namespace, dataset: DatasetSettings, pairs: DataFile, images: DataFile | None
) -> VerificationSet:
    if arguments.score is None and (images is None or arguments.backbone == SCORES):
        raise ConfigError(_no_column(dataset, pairs, images))
    name = arguments.backbone or arguments.score
    if name is not None:
        backbone = BackboneSettings(name, name, arguments.score)
        return locate(dataset, backbone, arguments.data_root, "files").load()
    assert images is not None
    return _tables_alone(dataset, pairs, images)


def _no_column(dataset: DatasetSettings, pairs: DataFile, images: DataFile | None) -> str:
    """What to say if a set without vectors comes without the name of its scores."""
    known = {*STRUCTURE, *attribute_columns(dataset.grouping)}
    others = [name for name in read_table(pairs, {"fold"}).names if name not in known]
    named = f"Other columns of {pairs.path}: {', '.join(others) or 'none'}."
    if images is not None:
        return f"--backbone {SCORES} goes with --score: name the column of cosines. {named}"
    missing = table_path_text(pairs.path.with_name("images"))
    return f"{missing}: not found. For a set without vectors, name the column of cosines with --score. {named}"


def _tables_alone(dataset: DatasetSettings, pairs: DataFile, images: DataFile) -> VerificationSet:
    """The set that the two tables describe, without vectors and without scores."""
    image_table = read_images(images, dataset.grouping)
    labelled = read_pairs(pairs, image_table)
    found = check_pairs(labelled, image_table.ids)
    spec = DatasetSpec(dataset, BackboneSettings("", ""), "")
    data = build_set(spec, *drop_unused_images(image_table, labelled), np.zeros(len(labelled)), found)
    return replace(data, cosine=None)


def _title(arguments: argparse.Namespace, grouping: tuple[str, ...]) -> str:
    if arguments.score is not None:
        content = f"scores in column {arguments.score}"
    elif arguments.backbone is not None:
        content = f"vectors of {arguments.backbone}"
    else:
        content = "tables only"
    groups = f"groups by {', '.join(grouping)}" if grouping else "no groups"
    return f"{arguments.data_root / arguments.dataset}: {content}; {groups}"
