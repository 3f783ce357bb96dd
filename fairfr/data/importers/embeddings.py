"""Vectors from wherever they are kept, into ``<out>/<dataset>/embeddings/<backbone>.npz`` under the set's image ids.

Keys of vectors are paths, written from wherever their writer stood. Two paths mean one image if, freed of known folders
and of their ending, they are equal, or one is the end of the other and no other image fits. Numbers count as numbers
only where nothing fits otherwise.
"""

from __future__ import annotations

import argparse
import re
import zipfile
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from fairfr.core.errors import ConfigError, DataError
from fairfr.core.run_key import check_path_name
from fairfr.core.storage import replacing
from fairfr.core.text import escape_control_chars, plural, shorten_list
from fairfr.core.types import I64, UNKNOWN, Bool
from fairfr.data.files import DataFile, find_table
from fairfr.data.images_file import read_images
from fairfr.data.importers.embedding_formats import KeyedVectors, read_embeddings
from fairfr.data.importers.imported_set import add_data_root

_DATE = (1980, 1, 1, 0, 0, 0)  # the same in every archive: equal vectors give equal bytes
ROWS_PER_CHUNK = 4096


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The options of ``fairfr import embeddings``."""
    group = parser.add_argument_group("input")
    group.add_argument("--from", dest="sources", type=Path, nargs="+", required=True, metavar="FILE", help=_FROM)
    group.add_argument("--names", type=Path, metavar="FILE", help="the names for an npy file, one in each line")
    group.add_argument("--missing", type=_missing, default="stop", metavar="stop|drop", help=_MISSING)
    group = parser.add_argument_group("output")
    group.add_argument("--dataset", required=True, metavar="NAME", help="a set that is in the data root already")
    group.add_argument("--backbone", required=True, metavar="NAME", help="what the vectors are called, such as arcface")
    add_data_root(group)


USAGE = "--dataset NAME --backbone NAME --from FILE ..."
HELP = """
Add the embeddings of a network to a data set: vectors are found by image name.

  fairfr import embeddings --dataset mine --backbone mynet --from vectors.npz
  fairfr import embeddings --dataset mine --backbone mynet --from all.npy \\
      --names names.txt --missing drop

images.csv of the set is read from the data root, and the vectors of its images
are written to DIR/NAME/embeddings/<backbone>.npz. Other images are left out.

next: fairfr check --dataset mine --backbone mynet
"""
_FROM = "npz, npy (with --names), or a folder of .npy files; one or several"
_MISSING = "images without a usable vector: stop (default), or drop them and write the others"


def _missing(text: str) -> str:
    """``stop`` or ``drop``; ``report`` is an older word for the second."""
    if text == "report":
        return "drop"
    if text not in ("stop", "drop"):
        raise argparse.ArgumentTypeError(f"{text!r} is neither stop nor drop")
    return text


def run(arguments: argparse.Namespace) -> str:
    """Import; returns what was found and written, for people."""
    for option in ("dataset", "backbone"):
        check_path_name(f"--{option}", getattr(arguments, option))
    folder: Path = arguments.data_root / arguments.dataset
    if arguments.names is not None and len(arguments.sources) > 1:
        raise ConfigError("--names goes with one npy file. Import one file, or put the vectors into npz files.")
    images = _images(folder)
    sources = [read_embeddings(path, arguments.names) for path in arguments.sources]
    chosen = match_vectors(sources, images)
    found = _describe(sources, chosen, images)
    if chosen.absent(images) and arguments.missing == "stop":
        raise DataError(
            f"{found}\n  Nothing was written. Add the files that have the others, or write what is there with "
            "--missing drop; runs then need dataset.missing=drop.",
            code="missing-vectors",
        )
    path = folder / "embeddings" / f"{arguments.backbone}.npz"
    write_vectors(path, [images[row] for row in chosen.images.tolist()], chosen.vectors)
    written = f"{plural(len(chosen.images), 'vector')} of width {chosen.vectors.shape[1]} written"
    return escape_control_chars(f"{path}: {written}\n{found}")


@dataclass(frozen=True, slots=True)
class MatchedVectors:
    """The ``vectors`` (k, d) of the images with rows ``images`` (k,), ascending; how keys matched; what was left out.

    ``repeats`` counts vectors that were there again, ``unusable`` the images whose vector is zero or not finite.
    """

    images: I64
    vectors: npt.NDArray[np.floating[Any]]
    matches: Matches
    repeats: int
    unusable: tuple[str, ...]

    def absent(self, images: Sequence[str]) -> list[str]:
        """The images that got no vector."""
        there = np.zeros(len(images), bool)
        there[self.images] = True
        return [images[row] for row in np.flatnonzero(~there).tolist()]


def match_vectors(sources: Sequence[KeyedVectors], images: Sequence[str]) -> MatchedVectors:
    """One vector for each image that has one; two different ones for one image are an error."""
    for source in sources[1:]:
        if source.vectors.shape[1] != sources[0].vectors.shape[1]:
            raise DataError(
                f"{source.path} has vectors of width {source.vectors.shape[1]}, {sources[0].path} of width "
                f"{sources[0].vectors.shape[1]}. Import the vectors of one backbone at a time.",
                code="wrong-shape",
            )
    keys: tuple[str, ...] = ()
    for source in sources:
        keys += source.keys
    matches = match_keys(keys, images)
    first = _first_of_each(sources, matches, images)
    stacked = _one_type(sources)
    rows = first[first != UNKNOWN]
    usable = _usable(stacked, rows)
    unusable = tuple(keys[row] for row in rows[~usable].tolist())
    if not usable.any():
        raise DataError(
            f"{sources[0].path}: no usable vector belongs to an image of the data set. Keys look like '{keys[0]}', "
            f"images like '{images[0]}'.\n  {matches.report()}",
            code="missing-vectors",
        )
    here = np.flatnonzero(first != UNKNOWN)[usable]
    repeats = int(np.count_nonzero(matches.row != UNKNOWN)) - len(rows)
    return MatchedVectors(here, stacked[rows[usable]], matches, repeats, unusable)


def write_vectors(path: Path, images: Sequence[str], vectors: npt.NDArray[np.floating[Any]]) -> None:
    """Write ``images`` and ``vectors`` (n, d) as an npz: whole or not at all, and the same bytes every time."""
    arrays = {"image": np.array(images, dtype=np.str_), "vectors": np.ascontiguousarray(vectors)}
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with replacing(path) as draft, zipfile.ZipFile(draft, "w", zipfile.ZIP_STORED) as archive:
            for name, array in arrays.items():
                entry = zipfile.ZipInfo(f"{name}.npy", _DATE)
                entry.create_system = 3  # otherwise it depends on the platform
                with archive.open(entry, "w", force_zip64=True) as member:
                    np.lib.format.write_array(member, array, allow_pickle=False)
    except OSError as error:
        raise DataError(
            f"{path} cannot be written ({error.strerror}). Choose another place with --data-root.", code="cannot-write"
        ) from None


def _images(folder: Path) -> tuple[str, ...]:
    table = find_table(folder / "images")
    if table is None:
        raise DataError(
            f"{folder / 'images.csv'}: not found. Import the data set itself first (fairfr import rfw, bfw, lfw "
            "or table): vectors are kept under its image ids.",
            code="missing-file",
        )
    return tuple(read_images(DataFile.at(table), ()).ids)


def _first_of_each(sources: Sequence[KeyedVectors], matches: Matches, images: Sequence[str]) -> I64:
    """For each image (n,) the row of its first vector among all sources' (-1 = none); repeats must be identical."""
    origin = np.repeat(np.arange(len(sources)), [len(source.keys) for source in sources])
    start = np.cumsum([0, *(len(source.keys) for source in sources)])
    first = np.full(len(images), UNKNOWN, np.int64)
    for row, image in enumerate(matches.row.tolist()):
        if image == UNKNOWN:
            continue
        if first[image] == UNKNOWN:
            first[image] = row
            continue
        a, b = (sources[origin[at]].vectors[at - start[origin[at]]] for at in (first[image], row))
        if not np.array_equal(a, b, equal_nan=True):
            raise DataError(
                f"image '{images[image]}' has two different vectors: under '{matches.keys[first[image]]}' in "
                f"{sources[origin[first[image]]].path} and under '{matches.keys[row]}' in {sources[origin[row]].path}. "
                "Keep one of them.",
                code="contradiction",
            )
    return first


def _one_type(sources: Sequence[KeyedVectors]) -> npt.NDArray[np.floating[Any]]:
    """All vectors (m, d), in float16 if all are, else in float32."""
    narrow = all(source.vectors.dtype.name == "float16" for source in sources)
    kind: npt.DTypeLike = np.float16 if narrow else np.float32
    with np.errstate(over="ignore"):  # what leaves the range becomes infinite, and is found as such
        parts = [source.vectors.astype(kind) for source in sources]
    return np.concatenate(parts)


def _usable(vectors: npt.NDArray[np.floating[Any]], rows: I64) -> Bool:
    """Which of the ``rows`` (k,) are finite and not zero."""
    usable = np.ones(len(rows), bool)
    for start in range(0, len(rows), ROWS_PER_CHUNK):
        chunk = vectors[rows[start : start + ROWS_PER_CHUNK]]
        usable[start : start + ROWS_PER_CHUNK] = np.isfinite(chunk).all(axis=1) & chunk.any(axis=1)
    return usable


def _describe(sources: Sequence[KeyedVectors], chosen: MatchedVectors, images: Sequence[str]) -> str:
    """What was found, one line each."""
    lines = [f"{source.path}: {plural(len(source.keys), 'vector')}" for source in sources]
    lines.append(chosen.matches.report())
    if chosen.repeats:
        lines.append(f"{plural(chosen.repeats, 'vector')} repeated, identical; kept once")
    absent = chosen.absent(images)
    for names, what in (
        (chosen.unusable, "with a vector that is zero or not finite (nan or inf)"),
        (absent, f"of {len(images):,} without a usable vector"),
    ):
        if names:
            lines.append(f"{plural(len(names), 'image')} {what} (first: {shorten_list(names, MAX_NAMED_KEYS)})")
    return "\n".join(lines)


HOW = ("exact", "by suffix", "by zero-padding", "ambiguous", "unmatched")
EXACT, SUFFIX, PADDING, AMBIGUOUS, UNMATCHED = range(5)
MAX_NAMED_KEYS = 5  # keys named in a report
MAX_NAMED_FOLDERS = 3  # folders named in a report

_SEVERAL = -2
_ROOTS = re.compile(r"^(?:.*/)?(?:rfw/data|bfw-cropped-aligned|uncropped-face-samples|face-samples)/")
_ENDING = re.compile(r"\.(?:jpe?g|png|npy)$", re.IGNORECASE)
_CROPPED = re.compile(r"_cropped(?=/)")
_NUMBER = re.compile(r"_0*(\d+)$")


def normalised(key: str) -> str:
    """``key`` without known roots, ``_cropped``, leading ``./``, backslashes and the ending of an image."""
    path = "/".join(part for part in key.strip().replace("\\", "/").split("/") if part not in ("", "."))
    return _ENDING.sub("", _CROPPED.sub("", _ROOTS.sub("", path)))


def without_padding(path: str) -> str:
    """The normalised ``path`` with its last number unpadded: ``_0012`` and ``_00012`` both become ``_12``."""
    return _NUMBER.sub(r"_\1", path)


@dataclass(frozen=True, slots=True)
class Matches:
    """For each of m keys the row (m,) of its image (-1 = none) and ``how`` (m,) it was found, an index into HOW.

    ``stripped`` counts the folders that had to be left out of a key, or of its image's id, for both to be the same.
    """

    keys: Sequence[str]
    row: I64
    how: I64
    stripped: Mapping[str, int] = field(default_factory=dict)

    def report(self) -> str:
        """Counts of what matched how, and the first keys that did not."""
        counts = Counter(self.how.tolist())
        text = "keys: " + ", ".join(f"{counts[i]:,} {name}" for i, name in enumerate(HOW) if counts[i])
        if self.stripped:
            folders = [f"{folder} ({times:,})" for folder, times in self.stripped.items()]
            text += f"\n  left out: {shorten_list(folders, MAX_NAMED_FOLDERS, '; ')}"
        for code in (AMBIGUOUS, UNMATCHED):
            if counts[code]:
                keys = [self.keys[i] for i in np.flatnonzero(self.how == code).tolist()]
                text += f"\n  {HOW[code]}: {shorten_list(keys, MAX_NAMED_KEYS)}"
        return text


def match_keys(keys: Sequence[str], images: Sequence[str]) -> Matches:
    """The image (its row in ``images``) that each key means."""
    given = [normalised(key) for key in keys]
    known = [normalised(image) for image in images]
    find = _finder(known)
    find_number = _finder([without_padding(path) for path in known])
    literal = {image: row for row, image in enumerate(images)}
    row = np.full(len(keys), UNKNOWN, np.int64)
    how = np.full(len(keys), UNMATCHED, np.int64)
    for i, path in enumerate(given):
        if keys[i] in literal:
            row[i] = literal[keys[i]]
            how[i] = EXACT
        else:
            row[i], how[i] = _resolve(path, find, find_number)
    return Matches(keys, row, how, _stripped(given, known, row, how))


def _stripped(given: Sequence[str], known: Sequence[str], row: I64, how: I64) -> dict[str, int]:
    """How often which folders were left out of a key or of an id, most often first."""
    counts: Counter[str] = Counter()
    for key in np.flatnonzero(how == SUFFIX).tolist():
        path = given[key]
        image = known[row[key]]
        if path.endswith(image):
            counts[f"'{path.removesuffix(image)}' of keys"] += 1
        else:
            counts[f"'{image.removesuffix(path)}' of image ids"] += 1
    return dict(counts.most_common())


_Find = Callable[[str], tuple[int, int]]


def _resolve(path: str, find: _Find, find_number: _Find) -> tuple[int, int]:
    row, how = find(path)
    if how == UNMATCHED:
        row, how = find_number(without_padding(path))
        how = PADDING if how in (EXACT, SUFFIX) else how
    return row, how


def _finder(known: Sequence[str]) -> _Find:
    """Looks a path up among ``known`` paths; where several fit, none is taken."""
    whole: dict[str, int] = {}
    ends: dict[str, int] = {}
    for row, path in enumerate(known):
        whole[path] = row if path not in whole else _SEVERAL
        for end in _ends(path):
            ends[end] = row if end not in ends else _SEVERAL

    def find(path: str) -> tuple[int, int]:
        if path in whole:
            return _found(whole[path], EXACT)
        # an image's id is the end of the key; else the key is the end of an image's id
        longest = next((end for end in _ends(path) if end in whole), None)
        if longest is not None:
            return _found(whole[longest], SUFFIX)
        return _found(ends[path], SUFFIX) if path in ends else (UNKNOWN, UNMATCHED)

    return find


def _ends(path: str) -> list[str]:
    """The proper ends of a path, longest first: ``a/b/c`` has ``b/c`` and ``c``."""
    parts = path.split("/")
    return ["/".join(parts[i:]) for i in range(1, len(parts))]


def _found(row: int, how: int) -> tuple[int, int]:
    return (UNKNOWN, AMBIGUOUS) if row == _SEVERAL else (row, how)
