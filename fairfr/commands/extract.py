"""Extract embeddings with your own ONNX face model.

fairfr extract --images DIR --list names.txt --landmarks lmk.csv --model model.onnx --out data/rfw/embeddings/mynet.npz

The list has one image on each line: its path below DIR, which becomes its id, or id<TAB>path. Landmarks are five
points of each image (csv: image,x1,y1,...,x5,y5; or such lines separated by tabs or spaces): faces are brought to the
usual 112 x 112 template. Without landmarks, images must have the model's size. Needs pip install 'fairfr[extract]'.
Stop it at any time: the same command goes on where it stopped.
From a checkout: python scripts/extract_embeddings.py
"""

import argparse
import sys
from pathlib import Path

from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from fairfr.core.errors import DataError, FairfrError
from fairfr.faces.alignment import read_landmarks
from fairfr.faces.extraction import ExtractionJob, ExtractionSummary, extract, job_fingerprint, read_list
from fairfr.faces.onnx_model import OnnxModel, Preprocessing

SHOWN = 20  # skipped images named


def main() -> None:
    """Extract, then say what was done."""
    arguments = _parser().parse_args()
    try:
        print(_report(arguments.out, run(arguments)))
    except FairfrError as error:
        sys.exit(error.named())
    except OSError as error:  # a full disk, a folder that cannot be written
        sys.exit(f"{error.filename or arguments.out}: {error.strerror}. Correct this, and the same command continues.")
    except KeyboardInterrupt:
        sys.exit(f"Stopped. The same command goes on from {arguments.out}.partial.")


def run(arguments: argparse.Namespace) -> ExtractionSummary:
    """Read what was named and extract under a progress bar."""
    if arguments.out.suffix != ".npz":
        raise DataError(f"--out {arguments.out}: must end in .npz.")
    if arguments.out.exists() and not arguments.overwrite:
        raise DataError(f"{arguments.out} is there already. Remove it, or pass --overwrite.")
    preprocessing = Preprocessing(arguments.mean, arguments.std, arguments.bgr, arguments.flip)
    entries = read_list(arguments.list, arguments.images)
    landmarks = read_landmarks(*arguments.landmarks) if arguments.landmarks else None
    model = OnnxModel(arguments.model, preprocessing, arguments.threads)
    fingerprint = job_fingerprint(entries, [arguments.model, *arguments.landmarks], preprocessing)
    job = ExtractionJob(entries, landmarks, arguments.out, arguments.batch, arguments.skip_unreadable)
    columns = (TextColumn("images"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, transient=True) as progress:
        task = progress.add_task("images", total=len(entries))
        return extract(job, model, fingerprint, lambda done: progress.advance(task, done))


def _report(out: Path, done: ExtractionSummary) -> str:
    lines = [f"{out}: {done.vectors:,} vectors of {done.dims} numbers"]
    if done.bad_fits:
        lines.append(
            f"{done.bad_fits:,} images have landmarks that do not look like a face's. "
            "The order is left eye, right eye, nose, left and right corner of the mouth, each as x y."
        )
    if done.skipped:
        more = [f"  ... and {len(done.skipped) - SHOWN} more"] if len(done.skipped) > SHOWN else []
        lines += [f"{len(done.skipped):,} images could not be read and have no vector:"]
        lines += [f"  {name}" for name in done.skipped[:SHOWN]] + more
    return "\n".join(lines)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--images", type=Path, required=True, help="the folder that the list starts from")
    parser.add_argument("--list", type=Path, required=True, help="one image on each line")
    parser.add_argument("--landmarks", type=Path, nargs="+", default=[], help="one or several files")
    parser.add_argument("--model", type=Path, required=True, help="an ONNX file")
    parser.add_argument("--out", type=Path, required=True, help="<data root>/<data set>/embeddings/<name>.npz")
    parser.add_argument("--mean", type=float, default=127.5, help="pixels become (x - mean) / std (%(default)s)")
    parser.add_argument("--std", type=float, default=127.5, help="(%(default)s)")
    parser.add_argument("--bgr", action="store_true", help="the model takes blue first; otherwise red")
    parser.add_argument("--flip", action="store_true", help="add the vector of the mirrored face")
    parser.add_argument("--batch", type=int, default=64, help="images at once (%(default)s)")
    parser.add_argument("--threads", type=int, default=0, help="0: as many as onnxruntime likes")
    parser.add_argument("--skip-unreadable", action="store_true", help="leave out pictures that cannot be read")
    parser.add_argument("--overwrite", action="store_true", help="replace --out if it is there")
    return parser
