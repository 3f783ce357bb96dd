"""What the commands that make vectors of pictures share: options of a network, a progress bar, a report."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from fairfr.core.text import escape_control_chars
from fairfr.faces.extraction import ExtractionJob, ExtractionSummary, Network, extract
from fairfr.faces.onnx_model import Preprocessing

SHOWN = 20  # images named


def add_network_arguments(parser: argparse._ActionsContainer) -> None:
    """How pixels go into an ONNX model."""
    add = parser.add_argument
    add("--mean", type=float, default=127.5, metavar="X", help="pixels become (x - mean) / std (default: 127.5)")
    add("--std", type=float, default=127.5, metavar="X", help="see --mean (default: 127.5)")
    add("--bgr", action="store_true", help="the model takes blue first; otherwise red")
    add("--flip", action="store_true", help="add the vector of the mirrored face")
    add("--batch", type=int, default=64, metavar="N", help="images at once (default: 64)")
    add("--threads", type=int, default=0, metavar="N", help="cores (default: all)")
    add("--skip-unreadable", action="store_true", help="leave out pictures that cannot be read")


def preprocessing_of(arguments: argparse.Namespace) -> Preprocessing:
    """What these options say about pixels."""
    return Preprocessing(arguments.mean, arguments.std, arguments.bgr, arguments.flip)


def extract_with_progress(job: ExtractionJob, network: Network, made_from: str) -> ExtractionSummary:
    """Extract under a progress bar with the time that is left."""
    columns = (TextColumn("images"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, transient=True) as progress:
        task = progress.add_task("images", total=len(job.entries))
        return extract(job, network, made_from, lambda done: progress.advance(task, done))


def report_extraction(out: Path, done: ExtractionSummary) -> list[str]:
    """How many vectors there are, and the images that have none."""
    lines = [f"{out}: {done.vectors:,} vectors of {done.dims} numbers"]
    if done.skipped:
        lines.append(f"{len(done.skipped):,} images could not be read and have no vector:")
        lines += named(done.skipped)
    return lines


def named(images: Sequence[str]) -> list[str]:
    """The first of these images, one on each line."""
    lines = [f"  {escape_control_chars(name)}" for name in images[:SHOWN]]
    if len(images) > SHOWN:
        lines.append(f"  ... and {len(images) - SHOWN:,} more")
    return lines
