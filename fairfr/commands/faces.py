"""Make a data set of real faces: LFW, which is fetched, or CelebA.

  fairfr faces lfw
  fairfr faces celeba --images img_align_celeba.zip \\
      --identities identity_CelebA.txt --celeba-attributes list_attr_celeba.txt

Faces are found, aligned and embedded by dlib's network (pip install
'fairfr[faces]'), or by an ONNX model of your own. The result is a data set like
any other. Stop it at any time: the same command goes on.

next: fairfr run -m experiment=beyond dataset=lfw_faces backbone=dlib_resnet
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
from fairfr.commands._help import parse, pattern, show_help_option
from fairfr.commands._messages import run_and_print
from fairfr.core.run_key import check_path_name
from fairfr.core.storage import replace_text
from fairfr.core.text import plural
from fairfr.data.check import command as check_command
from fairfr.data.files import DataFile
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
    arguments = parse(make_parser())
    run_and_print(lambda: arguments.make(arguments), "Stopped. The same command goes on where it stopped.")


class Recogniser(NamedTuple):
    """What makes vectors of pictures; ``made_from`` names all that decides them."""

    backbone: str
    aligner: DlibAligner
    network: Network
    made_from: str


def make_lfw(arguments: argparse.Namespace) -> str:
    """LFW with its official pairs."""
    check_files(arguments.pairs, arguments.group_table)
    recogniser = load_recogniser(arguments)  # what is not installed is said before anything is fetched
    downloads = arguments.data_root / ".downloads" / "lfw"
    with _progress() as progress:
        if arguments.images is None:
            folder, pairs = download_lfw(downloads, arguments.pairs, progress)
        else:
            needs_list = arguments.pairs is None
            folder = given_pictures(arguments.images, LFW, downloads, progress, needs_list)
            pairs = arguments.pairs or find_pair_list(arguments.images, folder)
    pictures = list_pictures(folder, LFW)
    print(f"{folder}: {len(pictures):,} images")
    return embed(lfw_set(pictures, pairs, arguments.group_table), pictures, recogniser, arguments)


def make_celeba(arguments: argparse.Namespace) -> str:
    """CelebA with pairs inside gender and age."""
    check_files(arguments.identities, arguments.celeba_attributes)
    recogniser = load_recogniser(arguments)
    with _progress() as progress:
        folder = given_pictures(arguments.images, CELEBA, arguments.data_root / ".downloads" / "celeba", progress)
    pictures = list_pictures(folder, CELEBA)
    print(f"{folder}: {len(pictures):,} images")
    if not arguments.all:
        pictures = dict(list(pictures.items())[:CELEBA_FIRST])
    data = celeba_set(pictures, arguments.identities, arguments.celeba_attributes)
    return embed(data, pictures, recogniser, arguments)


def check_files(*tables: Path | None) -> None:
    """Refuse a table that is not there before anything is fetched or unpacked."""
    for path in tables:
        if path is not None:
            DataFile.at(path)


def load_recogniser(arguments: argparse.Namespace) -> Recogniser:
    """dlib's network, or the user's ONNX model on faces that dlib finds."""
    missing: Missing = arguments.missing
    finder = {"dlib": dlib_version(), "missing": missing}
    if arguments.onnx is None:
        backbone = arguments.backbone or DLIB
        network: Network = DlibNetwork()
        made_from = fingerprint([model_file(LANDMARKS), model_file(NETWORK)], finder)
    else:
        backbone = arguments.backbone or arguments.onnx.stem
        preprocessing = preprocessing_of(arguments)
        network = OnnxModel(arguments.onnx, preprocessing, arguments.threads)
        made_from = fingerprint([model_file(LANDMARKS), arguments.onnx], finder | asdict(preprocessing))
    check_path_name("--backbone", backbone)
    aligner = DlibAligner(chip=arguments.onnx is None, missing=missing)
    return Recogniser(backbone, aligner, network, made_from)


def embed(
    data: ImportedSet, pictures: Mapping[str, Path], recogniser: Recogniser, arguments: argparse.Namespace
) -> str:
    """Write the tables, make the vectors, check the set, and name the next command."""
    print(write_and_summarise(data, arguments), flush=True)
    out = arguments.data_root / arguments.dataset / "embeddings" / f"{recogniser.backbone}.npz"
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
    listed = arguments.data_root / arguments.dataset / f"no_face_{backbone}.txt"
    replace_text(listed, "".join(f"{name}\n" for name in no_face))
    what = "embedded from the middle of the picture"
    if arguments.missing == "drop":
        what = "left out"
    return [f"no face found in {plural(len(no_face), 'image')}, {what} ({listed}):", *named(no_face)]


def check(backbone: str, grouping: Sequence[str], arguments: argparse.Namespace) -> str:
    """What there is to know about the new set."""
    words = ["--dataset", arguments.dataset, "--backbone", backbone, "--data-root", str(arguments.data_root)]
    parser = argparse.ArgumentParser()
    check_command.add_arguments(parser)
    page, _ = check_command.check(parser.parse_args([*words, "--grouping", ",".join(grouping)]))
    return page


def next_commands(backbone: str, grouping: Sequence[str], arguments: argparse.Namespace) -> str:
    """How to compare every method on the new set."""
    methods = "method=glob(*)"
    if not grouping:
        methods = f"method=glob(*,exclude=[{','.join(NEED_GROUPS)}])"
    keys = [f"dataset={arguments.dataset}", f"backbone={backbone}", f"dataset.grouping=[{','.join(grouping)}]"]
    if arguments.missing == "drop" or arguments.skip_unreadable:
        keys.append("dataset.missing=drop")
    if arguments.data_root != Path("data"):
        keys.append(f"data_root={arguments.data_root}")
    command = shlex.join(["fairfr", "run", "-m", "experiment=beyond", methods, *keys])
    return f"next: {command}\nthen: fairfr tables"


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


def make_parser() -> argparse.ArgumentParser:
    """The command line."""
    whole = argparse.ArgumentParser(**pattern("{lfw,celeba} [options]", __doc__ or ""), add_help=False)
    show_help_option(whole)
    kinds = whole.add_subparsers(dest="benchmark", required=True, prog=whole.prog, title="benchmarks", metavar="NAME")
    lfw = kinds.add_parser(
        "lfw", help="LFW's official pairs: 7,701 images", add_help=False, **pattern(LFW_USE, LFW_HELP)
    )
    lfw.set_defaults(make=make_lfw)
    add = lfw.add_argument_group("input").add_argument
    add("--images", type=Path, metavar="PATH", help="the folder lfw, the folder that holds it, or the archive")
    add("--pairs", type=Path, metavar="FILE", help="LFW's pairs.txt, if it is not beside the images")
    add("--group-table", type=Path, metavar="FILE", help="lfw_attributes.txt, FairFace's predictions, or your own csv")
    add("--all", action="store_true", help="embed all 13,233 images, those of the pairs first")
    celeba = kinds.add_parser(
        "celeba", help="CelebA, from its files", add_help=False, **pattern(CELEBA_USE, CELEBA_HELP)
    )
    celeba.set_defaults(make=make_celeba)
    add = celeba.add_argument_group("input").add_argument
    add("--images", type=Path, required=True, metavar="PATH", help="the folder img_align_celeba, or the archive")
    add("--identities", type=Path, required=True, metavar="FILE", help="identity_CelebA.txt")
    names = ("--celeba-attributes", "--attribute-table")
    add(*names, type=Path, required=True, metavar="FILE", help="list_attr_celeba.txt")
    add("--all", action="store_true", help=f"all images, not only the first {CELEBA_FIRST:,}")
    # a folder called lfw would hide the stand-in of that name, which has other backbones
    for kind, name in ((lfw, "lfw_faces"), (celeba, "celeba")):
        show_help_option(kind)
        add = kind.add_argument_group("network").add_argument
        add("--missing", choices=get_args(Missing), default="box", metavar="box|drop", help=_MISSING)
        add("--onnx", "--model", type=Path, metavar="FILE", help="an ONNX model, in place of dlib's network")
        add("--backbone", metavar="NAME", help=f"what its vectors are called (default: {DLIB}, or the model's name)")
        add_network_arguments(kind.add_argument_group("with --onnx"))
        add_output_arguments(kind, name)
    return whole


LFW_USE = "[options]"
LFW_HELP = """
Fetch LFW (180 MB, no form to sign) and embed the faces of its official pairs.

  fairfr faces lfw
  fairfr faces lfw --images lfw.tgz --group-table lfw_attributes.txt

next: fairfr run -m experiment=beyond dataset=lfw_faces backbone=dlib_resnet
"""
CELEBA_USE = "--images PATH --identities FILE ..."
CELEBA_HELP = """
Embed faces of CelebA, with pairs inside gender and age.

  fairfr faces celeba --images img_align_celeba.zip \\
      --identities identity_CelebA.txt --celeba-attributes list_attr_celeba.txt
  fairfr faces celeba --images img_align_celeba --identities ID --all \\
      --celeba-attributes ATTR --onnx mynet.onnx

next: fairfr run -m experiment=beyond dataset=celeba backbone=dlib_resnet
"""
_MISSING = "no face found: embed the middle of the picture (box, default), or leave the image out (drop)"
