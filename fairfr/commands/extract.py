"""Extract embeddings with your own ONNX face model.

fairfr extract --images DIR --list names.txt --landmarks lmk.csv --model model.onnx --out data/rfw/embeddings/mynet.npz

The list has one image on each line: its path below DIR, which becomes its id, or id<TAB>path. Landmarks are five
points of each image (csv: image,x1,y1,...,x5,y5; or such lines separated by tabs or spaces): faces are brought to the
usual 112 x 112 template. Without landmarks, images must have the model's size. Needs pip install 'fairfr[extract]'.
Stop it at any time: the same command goes on where it stopped.
From a checkout: python scripts/extract_embeddings.py
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
from fairfr.commands._messages import run_and_print
from fairfr.core.errors import DataError
from fairfr.faces.aligners import AlignedAlready, Aligner, LandmarkAligner
from fairfr.faces.alignment import read_landmarks
from fairfr.faces.extraction import ExtractionJob, fingerprint, read_list
from fairfr.faces.onnx_model import OnnxModel


def main() -> None:
    """Extract, then say what was done."""
    arguments = _parser().parse_args()
    run_and_print(lambda: run(arguments), "Stopped. The same command goes on from where it stopped.")


def run(arguments: argparse.Namespace) -> str:
    """Read what was named and extract under a progress bar."""
    if arguments.out.suffix != ".npz":
        raise DataError(f"--out {arguments.out}: must end in .npz.")
    if arguments.out.exists() and not arguments.overwrite:
        raise DataError(f"{arguments.out} is there already. Remove it, or pass --overwrite.")
    preprocessing = preprocessing_of(arguments)
    entries = read_list(arguments.list, arguments.images)
    bad_fits = 0
    aligner: Aligner = AlignedAlready()
    if arguments.landmarks:
        by_landmarks = LandmarkAligner(read_landmarks(*arguments.landmarks), entries)
        aligner = by_landmarks
        bad_fits = by_landmarks.bad_fits
    model = OnnxModel(arguments.model, preprocessing, arguments.threads)
    made_from = fingerprint([arguments.model, *arguments.landmarks], asdict(preprocessing))
    job = ExtractionJob(entries, aligner, arguments.out, arguments.batch, arguments.skip_unreadable)
    lines = report_extraction(arguments.out, extract_with_progress(job, model, made_from))
    if bad_fits:
        lines.append(
            f"{bad_fits:,} images have landmarks that do not look like a face's. "
            "The order is left eye, right eye, nose, left and right corner of the mouth, each as x y."
        )
    return "\n".join(lines)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--images", type=Path, required=True, help="the folder that the list starts from")
    parser.add_argument("--list", type=Path, required=True, help="one image on each line")
    parser.add_argument("--landmarks", type=Path, nargs="+", default=[], help="one or several files")
    parser.add_argument("--model", type=Path, required=True, help="an ONNX file")
    parser.add_argument("--out", type=Path, required=True, help="<data root>/<data set>/embeddings/<name>.npz")
    add_network_arguments(parser)
    parser.add_argument("--overwrite", action="store_true", help="replace --out if it is there")
    return parser
