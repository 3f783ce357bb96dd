"""Extract embeddings with your own ONNX face model.

  fairfr extract --images DIR --list names.txt --landmarks lmk.csv \\
      --onnx model.onnx --out data/rfw/embeddings/mynet.npz
  fairfr extract --images DIR --list names.txt --onnx model.onnx --bgr \\
      --out data/mine/embeddings/mynet.npz

The list has an image's path below DIR on each line, which is its id, or
id<TAB>path. Landmarks are five points of each image (image,x1,y1,...,x5,y5):
faces are brought to the usual 112 x 112 template. Without them, images must
have the model's size. Stop it at any time: the same command goes on.

next: fairfr check --dataset rfw --backbone mynet
"""

import argparse
from dataclasses import asdict
from pathlib import Path

from fairfr.commands._extraction import (
    add_network_arguments,
    extract_with_progress,
    preprocessing_of,
    report_extraction,
)
from fairfr.commands._help import parse, pattern, show_help_option
from fairfr.commands._messages import run_and_print
from fairfr.core.errors import DataError
from fairfr.faces.aligners import AlignedAlready, Aligner, LandmarkAligner
from fairfr.faces.alignment import read_landmarks
from fairfr.faces.extraction import ExtractionJob, fingerprint, read_list
from fairfr.faces.onnx_model import OnnxModel


def main() -> None:
    """Extract, then say what was done."""
    arguments = parse(make_parser())
    run_and_print(lambda: run(arguments), "Stopped. The same command goes on from where it stopped.")


def run(arguments: argparse.Namespace) -> str:
    """Read what was named and extract under a progress bar."""
    if arguments.out.suffix != ".npz":
        raise DataError(f"--out {arguments.out}: must end in .npz.")
    if arguments.out.exists() and not arguments.force:
        raise DataError(f"{arguments.out} is there already. Remove it, or pass --force.")
    preprocessing = preprocessing_of(arguments)
    entries = read_list(arguments.list, arguments.images)
    bad_fits = 0
    aligner: Aligner = AlignedAlready()
    if arguments.landmarks:
        by_landmarks = LandmarkAligner(read_landmarks(*arguments.landmarks), entries)
        aligner = by_landmarks
        bad_fits = by_landmarks.bad_fits
    model = OnnxModel(arguments.onnx, preprocessing, arguments.threads)
    made_from = fingerprint([arguments.onnx, *arguments.landmarks], asdict(preprocessing))
    job = ExtractionJob(entries, aligner, arguments.out, arguments.batch, arguments.skip_unreadable)
    lines = report_extraction(arguments.out, extract_with_progress(job, model, made_from))
    if bad_fits:
        lines.append(
            f"{bad_fits:,} images have landmarks that do not look like a face's. "
            "The order is left eye, right eye, nose, left and right corner of the mouth, each as x y."
        )
    return "\n".join(lines)


def make_parser() -> argparse.ArgumentParser:
    """All options."""
    usage = "--images DIR --list FILE --onnx FILE --out FILE [options]"
    parser = argparse.ArgumentParser(**pattern(usage, __doc__ or ""), add_help=False)
    show_help_option(parser)
    add = parser.add_argument_group("input").add_argument
    add("--images", type=Path, required=True, metavar="DIR", help="the folder that the list starts from")
    add("--list", type=Path, required=True, metavar="FILE", help="one image on each line")
    add("--landmarks", type=Path, nargs="+", default=[], metavar="FILE", help="csv, or separated by tabs or spaces")
    group = parser.add_argument_group("network")
    group.add_argument("--onnx", "--model", type=Path, required=True, metavar="FILE", help="an ONNX model")
    add_network_arguments(group)
    add = parser.add_argument_group("output").add_argument
    add("--out", type=Path, required=True, metavar="FILE", help="<data root>/<data set>/embeddings/<name>.npz")
    add("--force", "--overwrite", action="store_true", help="replace --out if it is there")
    return parser
