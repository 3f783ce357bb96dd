"""Real faces by one command: fetch LFW, embed its faces, and say how to compare every method on them.

fairfr faces lfw                      downloads LFW (180 MB, no form to sign) into data/.downloads
fairfr faces lfw --images lfw.tgz     or the folder, or the folder that holds it; pairs.txt lies beside it, or --pairs
fairfr faces celeba --images img_align_celeba.zip --identities identity_CelebA.txt \
                    --attribute-table list_attr_celeba.txt

Faces are found, aligned and embedded by dlib's network (pip install 'fairfr[faces]'), or by your own ONNX model with
--model. The result is a data set below --out, like any other. Stop it at any time: the same command goes on.
"""

import argparse
import shlex
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import NamedTuple, get_args

from rich.progress import BarColumn, Progress, TaskID, TaskProgressColumn, TextColumn, TimeRemainingColumn

from fairfr.commands._extraction import (
    add_network_arguments,
    extract_with_progress,
    named,
    preprocessing_of,
    report_extraction,
)
from fairfr.commands._messages import run_and_print
from fairfr.core.run_key import check_path_name
from fairfr.core.storage import replace_text
from fairfr.core.text import plural
from fairfr.data.check import command as check_command
from fairfr.data.importers.imported_set import ImportedSet, add_output_arguments, write_and_summarise
from fairfr.faces.aligners import ListedImage
from fairfr.faces.benchmarks import (
    CELEBA,
    CELEBA_FIRST,
    LFW,
    celeba_set,
    download_lfw,
    find_pair_list,
    given_pictures,
    lfw_set,
    list_pictures,
)
from fairfr.faces.dlib_models import LANDMARKS, NETWORK, DlibAligner, DlibNetwork, Missing, dlib_version, model_file
from fairfr.faces.extraction import ExtractionJob, Network, fingerprint
from fairfr.faces.onnx_model import OnnxModel

DLIB = "dlib_resnet"
NEED_GROUPS = ("demonorm*", "gst*", "oracle*")  # methods that cannot run without groups


def main() -> None:
    """Make the data set that was named, and say what to do with it."""
    arguments = _parser().parse_args()
    run_and_print(lambda: arguments.make(arguments), "Stopped. The same command goes on where it stopped.")


class Recogniser(NamedTuple):
    """What makes vectors of pictures; ``made_from`` names all that decides them."""

    backbone: str
    aligner: DlibAligner
    network: Network
    made_from: str


def make_lfw(arguments: argparse.Namespace) -> str:
    """LFW with its official pairs."""
    recogniser = load_recogniser(arguments)  # what is not installed is said before anything is fetched
    downloads = arguments.out / ".downloads" / "lfw"
    with _progress() as progress:
        if arguments.images is None:
            folder, pairs = download_lfw(downloads, arguments.pairs, progress)
        else:
            folder = given_pictures(arguments.images, LFW, downloads, progress)
            pairs = arguments.pairs or find_pair_list(arguments.images, folder)
    pictures = list_pictures(folder, LFW)
    print(f"{folder}: {len(pictures):,} images")
    return embed(lfw_set(pictures, pairs, arguments.group_table), pictures, recogniser, arguments)


def make_celeba(arguments: argparse.Namespace) -> str:
    """CelebA with pairs inside gender and age."""
    recogniser = load_recogniser(arguments)
    with _progress() as progress:
        folder = given_pictures(arguments.images, CELEBA, arguments.out / ".downloads" / "celeba", progress)
    pictures = list_pictures(folder, CELEBA)
    print(f"{folder}: {len(pictures):,} images")
    if not arguments.all:
        pictures = dict(list(pictures.items())[:CELEBA_FIRST])
    data = celeba_set(pictures, arguments.identities, arguments.attribute_table)
    return embed(data, pictures, recogniser, arguments)


def load_recogniser(arguments: argparse.Namespace) -> Recogniser:
    """dlib's network, or the user's ONNX model on faces that dlib finds."""
    missing: Missing = arguments.missing
    finder = {"dlib": dlib_version(), "missing": missing}
    if arguments.model is None:
        backbone = arguments.backbone or DLIB
        network: Network = DlibNetwork()
        made_from = fingerprint([model_file(LANDMARKS), model_file(NETWORK)], finder)
    else:
        backbone = arguments.backbone or arguments.model.stem
        preprocessing = preprocessing_of(arguments)
        network = OnnxModel(arguments.model, preprocessing, arguments.threads)
        made_from = fingerprint([model_file(LANDMARKS), arguments.model], finder | asdict(preprocessing))
    check_path_name("--backbone", backbone)
    aligner = DlibAligner(chip=arguments.model is None, missing=missing)
    return Recogniser(backbone, aligner, network, made_from)


def embed(
    data: ImportedSet, pictures: Mapping[str, Path], recogniser: Recogniser, arguments: argparse.Namespace
) -> str:
    """Write the tables, make the vectors, check the set, and name the next command."""
    print(write_and_summarise(data, arguments), flush=True)
    out = arguments.out / arguments.name / "embeddings" / f"{recogniser.backbone}.npz"
    entries = tuple(ListedImage(image, image, pictures[image]) for image in wanted_images(data, arguments.all))
    job = ExtractionJob(entries, recogniser.aligner, out, arguments.batch, arguments.skip_unreadable, extend=True)
    done = extract_with_progress(job, recogniser.network, recogniser.made_from)
    print("\n".join([*report_extraction(out, done), *report_missing(done.no_face, recogniser.backbone, arguments)]))
    grouping = tuple(data.images.attributes)
    if set(check_command.USUAL) <= set(grouping):  # and not by eyeglasses too, which LFW's table also has
        grouping = check_command.USUAL
    print("\n" + check(recogniser.backbone, grouping, arguments))
    return next_commands(recogniser.backbone, grouping, arguments)


def wanted_images(data: ImportedSet, everything: bool) -> list[str]:
    """The images of the pairs, and then, if ``everything`` is wanted, all others."""
    in_pairs = data.pairs.used(len(data.images.ids)).tolist()
    wanted = [image for image, used in zip(data.images.ids, in_pairs, strict=True) if used]
    if everything:
        wanted += [image for image, used in zip(data.images.ids, in_pairs, strict=True) if not used]
    return wanted


def report_missing(no_face: Sequence[str], backbone: str, arguments: argparse.Namespace) -> list[str]:
    """The first images in which no face was found; a file has them all."""
    if not no_face:
        return []
    listed = arguments.out / arguments.name / f"no_face_{backbone}.txt"
    replace_text(listed, "".join(f"{name}\n" for name in no_face))
    what = "embedded from the middle of the picture"
    if arguments.missing == "drop":
        what = "left out"
    return [f"no face found in {plural(len(no_face), 'image')}, {what} ({listed}):", *named(no_face)]


def check(backbone: str, grouping: Sequence[str], arguments: argparse.Namespace) -> str:
    """What there is to know about the new set."""
    words = ["--dataset", arguments.name, "--backbone", backbone, "--data-root", str(arguments.out)]
    parser = argparse.ArgumentParser()
    check_command.add_arguments(parser)
    page, _ = check_command.check(parser.parse_args([*words, "--grouping", ",".join(grouping)]))
    return page


def next_commands(backbone: str, grouping: Sequence[str], arguments: argparse.Namespace) -> str:
    """How to compare every method on the new set."""
    methods = "method=glob(*)"
    if not grouping:
        methods = f"method=glob(*,exclude=[{','.join(NEED_GROUPS)}])"
    keys = [f"dataset={arguments.name}", f"backbone={backbone}", f"dataset.grouping=[{','.join(grouping)}]"]
    if arguments.missing == "drop" or arguments.skip_unreadable:
        keys.append("dataset.missing=drop")
    if arguments.out != Path("data"):
        keys.append(f"data_root={arguments.out}")
    command = shlex.join(["fairfr", "run", "-m", "experiment=beyond", methods, *keys])
    return f"Compare every method on these faces:\n  {command}\n  fairfr tables"


@contextmanager
def _progress() -> Iterator[Callable[[str, int, int], None]]:
    """A bar for each thing that is fetched or unpacked."""
    columns = (TextColumn("{task.description}"), BarColumn(), TaskProgressColumn(), TimeRemainingColumn())
    with Progress(*columns, transient=True) as bars:
        tasks: dict[str, TaskID] = {}

        def show(what: str, done: int, of: int) -> None:
            if what not in tasks:
                tasks[what] = bars.add_task(what, total=None)
            bars.update(tasks[what], completed=done, total=of or None)

        yield show


def _parser() -> argparse.ArgumentParser:
    whole = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    kinds = whole.add_subparsers(dest="benchmark", required=True, metavar="{lfw,celeba}")
    lfw = kinds.add_parser("lfw", help="LFW's official pairs (View 2): 7,701 images", description=make_lfw.__doc__)
    lfw.set_defaults(make=make_lfw)
    lfw.add_argument("--images", type=Path, help="the folder lfw, the folder that holds it, or the archive")
    lfw.add_argument("--pairs", type=Path, help="LFW's pairs.txt, if it is not beside the images")
    lfw.add_argument("--group-table", type=Path, help="lfw_attributes.txt, FairFace's predictions, or your own csv")
    lfw.add_argument("--all", action="store_true", help="embed all 13,233 images, those of the pairs first")
    celeba = kinds.add_parser("celeba", help="CelebA, from its files", description=make_celeba.__doc__)
    celeba.set_defaults(make=make_celeba)
    celeba.add_argument("--images", type=Path, required=True, help="the folder img_align_celeba, or the archive")
    celeba.add_argument("--identities", type=Path, required=True, help="identity_CelebA.txt")
    celeba.add_argument("--attribute-table", type=Path, required=True, help="list_attr_celeba.txt")
    celeba.add_argument("--all", action="store_true", help=f"all images, not only the first {CELEBA_FIRST:,}")
    # a folder called lfw would hide the stand-in of that name, which has other backbones
    for kind, name in ((lfw, "lfw_faces"), (celeba, "celeba")):
        kind.add_argument("--missing", choices=get_args(Missing), default="box", help=_MISSING)
        kind.add_argument("--model", type=Path, help="an ONNX model, in place of dlib's network")
        kind.add_argument("--backbone", help=f"what its vectors are called ({DLIB}, or the model's name)")
        add_output_arguments(kind, name)
        add_network_arguments(kind.add_argument_group("with --model"))
    return whole


_MISSING = "an image without a face that is found: embed its middle (box, default), or leave it out (drop)"
