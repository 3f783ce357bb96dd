"""LFW and CelebA as they are distributed: where the pictures are, and the pairs that are made of them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path, PurePosixPath
from typing import NamedTuple

from fairfr.core.errors import DataError
from fairfr.data.importers.celeba import read_celeba
from fairfr.data.importers.imported_set import ImportedSet
from fairfr.data.importers.lfw import read_group_table, read_lfw
from fairfr.data.importers.within_groups import PairSampling, pairs_within_groups
from fairfr.faces.download import RemoteFile, fetch, list_names, sha256_of, unpack

Progress = Callable[[str, int, int], object]
"""What is done, how much of it, and of how much in all (0: not known)."""

# the addresses and checksums that scikit-learn publishes
LFW_ARCHIVE = RemoteFile(
    "https://ndownloader.figshare.com/files/5976018",
    "055f7d9c632d7370e6fb4afc7468d40f970c34a80d4c6f50ffec63f5a8d536c0",
    "lfw.tgz",
    most_bytes=2**28,
)
LFW_PAIRS = RemoteFile(
    "https://ndownloader.figshare.com/files/5976006",
    "ea42330c62c92989f9d7c03237ed5d591365e89b3e649747777b70e692dc1592",
    "pairs.txt",
    most_bytes=2**20,
)
LFW_IMAGES = 13_233
CELEBA_FIRST = 10_000  # images
CELEBA_PAIRS = PairSampling(per_person=28, folds=10, impostors_each=5)  # 28: all pairs of eight images


class Layout(NamedTuple):
    """How the pictures of a benchmark lie in their folder."""

    pattern: str
    example: str


LFW = Layout("*/*_[0-9][0-9][0-9][0-9].jpg", "AJ_Cook/AJ_Cook_0001.jpg")
CELEBA = Layout("[0-9][0-9][0-9][0-9][0-9][0-9].jpg", "000001.jpg")


def download_lfw(folder: Path, pairs: Path | None, progress: Progress) -> tuple[Path, Path]:
    """LFW's folder of pictures and its list of pairs, unless that is given. What is here already is not fetched again.

    The archive is removed when its pictures are there.
    """
    remedy = (
        f"Download {LFW_ARCHIVE.name} and {LFW_PAIRS.name} elsewhere, for example with a browser, and pass them: "
        "--images ARCHIVE-OR-FOLDER --pairs FILE."
    )
    if pairs is None:
        pairs = fetch(LFW_PAIRS, folder, remedy, lambda done, of: progress(LFW_PAIRS.name, done, of))
    unpacked = _unpacked(folder, LFW_ARCHIVE.name, LFW_ARCHIVE.sha256)
    if not unpacked.is_dir():
        archive = fetch(LFW_ARCHIVE, folder, remedy, lambda done, of: progress(LFW_ARCHIVE.name, done, of))
        unpack(archive, unpacked, lambda done: progress("unpacking", done, LFW_IMAGES))
        archive.unlink()
    pictures = find_pictures(unpacked, LFW)
    found = len(list_pictures(pictures, LFW))
    if found != LFW_IMAGES:
        raise DataError(
            f"{unpacked} has {found:,} of LFW's {LFW_IMAGES:,} images. Remove it: the same command makes it again."
        )
    return pictures, pairs


def given_pictures(
    given: Path, layout: Layout, folder: Path, progress: Progress, needs_pair_list: bool = False
) -> Path:
    """The folder of pictures that ``given`` is or holds; if it is an archive, it is unpacked in ``folder``.

    ``needs_pair_list``: an archive is not unpacked if LFW's list of pairs is neither in it nor beside it.
    """
    if given.is_dir():
        return find_pictures(given, layout)
    if not given.is_file():
        raise DataError(f"{given}: not found. --images names a folder or an archive.")
    unpacked = _unpacked(folder, given.name, sha256_of(given))
    if not unpacked.is_dir():
        if needs_pair_list and not (given.parent / LFW_PAIRS.name).is_file():
            _check_holds_pair_list(given)
        unpack(given, unpacked, lambda done: progress("unpacking", done, 0))
    return find_pictures(unpacked, layout)


def _check_holds_pair_list(archive: Path) -> None:
    if LFW_PAIRS.name not in {PurePosixPath(name).name for name in list_names(archive)}:
        raise _no_pair_list(archive)


def _unpacked(folder: Path, archive: str, sha256: str) -> Path:
    """Where an archive is unpacked to; another one of the same name goes somewhere else."""
    return folder / f"{archive.partition('.')[0]}-{sha256[:12]}"


def find_pictures(given: Path, layout: Layout) -> Path:
    """The folder of pictures that ``given`` is or holds, at most two levels down; of several the one called lfw."""
    level = [given]
    for _ in range(3):
        found = [folder for folder in level if list_pictures(folder, layout)]
        named = [folder for folder in found if folder.name == "lfw"]
        if len(found) == 1 or len(named) == 1:
            return (named or found)[0]
        if found:
            raise DataError(f"{given} holds several sets of pictures: {found[0].name} and {found[1].name}. Name one.")
        below: list[Path] = []
        for folder in level:
            below += sorted(path for path in folder.iterdir() if path.is_dir())
        level = below
    raise DataError(
        f"{given} does not hold the pictures as they are distributed ({layout.example}). Name their folder, the folder "
        "that holds it, or the archive."
    )


def list_pictures(folder: Path, layout: Layout) -> dict[str, Path]:
    """The pictures in a folder by their names, in alphabetical order."""
    return {path.name: path for path in sorted(folder.glob(layout.pattern), key=lambda path: path.name)}


def find_pair_list(given: Path, pictures: Path) -> Path:
    """LFW's pairs.txt, in or beside the pictures or beside their archive."""
    for folder in (pictures, pictures.parent, given, given.parent):
        path = folder / LFW_PAIRS.name
        if path.is_file():
            return path
    raise _no_pair_list(pictures)


def _no_pair_list(place: Path) -> DataError:
    return DataError(
        f"{LFW_PAIRS.name} is neither in {place} nor beside it. Name the list of pairs with --pairs; it can be had "
        f"from {LFW_PAIRS.address}"
    )


def lfw_set(pictures: Mapping[str, Path], pairs: Path, group_table: Path | None) -> ImportedSet:
    """All of these pictures, with the listed pairs of them, and groups if there is a table of them."""
    labels = []
    if group_table is not None:
        labels.append(read_group_table(group_table))
    return read_lfw(pairs, labels, there=tuple(pictures))


def celeba_set(pictures: Mapping[str, Path], identities: Path, attributes: Path) -> ImportedSet:
    """Pairs inside gender and age of these pictures, in folds without common people."""
    return pairs_within_groups(read_celeba(identities, attributes, pictures), CELEBA_PAIRS)
